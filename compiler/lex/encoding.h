// What a source file must be before it is cut into tokens: UTF-8 without NUL bytes, of bounded
// size.
#pragma once

#include <cstddef>

#include "diag/diag.h"
#include "support/source.h"

namespace choreo::lex {

inline constexpr size_t kMaxFileBytes = size_t{16} << 20;

// Emits one error for each rule that `file` breaks; false if there was any.
bool CheckEncoding(const SourceManager& sources, FileId file, diag::Emitter& diags);

}  // namespace choreo::lex
