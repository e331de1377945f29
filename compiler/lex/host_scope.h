// Where in the host text a token stands: at namespace scope, where a tile function may be, or
// inside something else. Follows braces and statement heads, knows nothing else of C++.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lex/token.h"

namespace choreo::lex {

class HostScope {
 public:
  // The next token of host text. False: a `}` that closes nothing.
  bool Feed(const Token& token);
  // A tile function stood here: what follows starts a new declaration.
  void EndDeclaration();

  bool in_namespace() const { return !braces_.empty(); }
  // Why no tile function may start at this place, or nothing.
  std::string_view Objection() const;

 private:
  std::vector<bool> braces_;  // of each open brace: does it open a namespace (or `extern "C"`)?
  size_t other_braces_ = 0;   // that do not
  size_t parentheses_ = 0;
  // What the declaration so far has in it.
  bool namespace_head_ = false;
  bool linkage_head_ = false;
  bool template_head_ = false;
  std::string_view previous_;  // the last token of the declaration
};

}  // namespace choreo::lex
