// Collects the tokens of one tile function, from `__co__` to the brace that closes it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "lex/expand.h"
#include "lex/token.h"
#include "lex/token_stream.h"

namespace choreo::lex {

struct TileFunctionRead {
  std::vector<Token> tokens;  // with EndOfFile, fit to be parsed; empty: give it up
  std::vector<SourceRange> definitions;
  std::optional<PpToken> next;  // the `__co__` that ended it too early
  bool is_regular = true;       // its head and braces are as they should be
};

// `first` is the `__co__`. A function that is not closed is diagnosed, cut where it seems to end,
// and closed; the tokens then are not what the text says, but can be parsed without another
// complaint.
TileFunctionRead ReadTileFunction(const PpToken& first, TokenStream& stream, Expander& expander,
                                  ExpansionState& state);

}  // namespace choreo::lex
