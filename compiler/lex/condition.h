// The expression of an `#if` or `#elif` line, evaluated by the rules of C: 64-bit integers,
// `defined`, every operator but assignment and comma; a name that is no macro is 0.
#pragma once

#include <string>
#include <vector>

#include "lex/expand.h"
#include "lex/macro.h"

namespace choreo::lex {

struct ConditionValue {
  bool value = false;
  // A name without a definition was asked for. The host compiler may know it (from a header that
  // only it reads), so it may see another value.
  bool is_certain = true;
  std::string error;        // what is wrong with the expression, if anything is
  SourceRange error_range;  // where
};

// `tokens`: the line after the directive's name; `line`: the place of the directive.
ConditionValue EvaluateCondition(const std::vector<PpToken>& tokens, SourceRange line,
                                 const MacroTable& macros, ExpansionState& state);

}  // namespace choreo::lex
