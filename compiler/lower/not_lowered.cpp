// What the language has and this compiler does not lower yet: parsed, typed, and refused by name.
#include "lower/context.h"

namespace choreo::lower {

void Lowering::NotLowered(SourceRange range, std::string_view construct) {
  in_.diags.Emit(diag::kinds::NotLoweredYet, range, construct);
}

}  // namespace choreo::lower
