// The body of a macro with its arguments put in: `#`, `##`, `__VA_OPT__` and plain parameters.
#pragma once

#include <functional>
#include <vector>

#include "lex/expand.h"
#include "lex/macro.h"

namespace choreo::lex {

struct MacroArgument {
  std::vector<PpToken> raw;
  std::optional<std::vector<PpToken>> expanded;  // made when first asked for
};

// `expand` gives the full expansion of an argument. Tokens of the body get the `use` of `name`;
// those of an argument keep theirs.
std::vector<PpToken> Substitute(
    const Macro& macro, const PpToken& name, std::vector<MacroArgument>& arguments,
    ExpansionState& state,
    const std::function<std::vector<PpToken>(const std::vector<PpToken>&)>& expand);

}  // namespace choreo::lex
