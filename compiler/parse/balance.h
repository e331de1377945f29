// Brackets before parsing: the tokens of one tile function in, the same tokens with every bracket
// paired out. Missing closers are inserted where the statement or its header must end, stray ones
// are dropped, and each such mistake is reported once. The parser can then skip a group without
// looking for its end.
#pragma once

#include <cstdint>
#include <vector>

#include "diag/diag.h"
#include "lex/token.h"

namespace choreo::parse {

struct Balanced {
  std::vector<lex::Token> tokens;  // ends with EndOfFile
  std::vector<uint32_t>
      partner;  // of a bracket the index of the other one; of any other token its own
  std::vector<bool> is_block;  // a `{` that holds statements, not values
  std::vector<bool> damaged;   // near a reported bracket: further complaints would be cascades
};

Balanced Balance(const std::vector<lex::Token>& tokens, diag::Emitter& diags);

}  // namespace choreo::parse
