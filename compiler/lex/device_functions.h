// The functions that the host text of a file declares, as far as `call` of a tile function needs to
// know them: names, specifiers and numbers of arguments. Host text is C++ that is passed through;
// this looks at the heads of its declarations only, in the main file and the `.co.h` files it
// includes. Specifiers that stand in object-like macros of the same text are seen.
#pragma once

#include <string>
#include <vector>

#include "lex/token.h"
#include "support/source.h"

namespace choreo::lex {

struct HostFunction {
  std::string name;  // without namespaces
  SourceRange range;
  SourceRange text;  // from its first word to its `;` or closing brace
  bool device = false;
  bool host = false;  // `__host__` too
  bool force_inline = false;
  SourceRange device_word;            // `__device__`, if it is spelled here
  int least_args = 0, most_args = 0;  // a variadic one: most_args < 0
  std::vector<bool> to_const;         // by parameter: a pointer to const
};

std::vector<HostFunction> FindHostFunctions(const SourceManager& sources, const Unit& unit);

// Whether host text includes headers that only the host compiler reads and that may declare device
// functions: any but the runtime's and those of the C++ standard.
bool IncludesOtherHeaders(const SourceManager& sources, const Unit& unit);

}  // namespace choreo::lex
