// The place a person should look at for a token that a macro made. Policy: a phase emits at the
// token's `range`, where the text is spelled, and calls this to say where the macro is used.
#pragma once

#include "diag/diag.h"
#include "lex/token.h"

namespace choreo::lex {

inline diag::Builder NoteMacroUse(diag::Builder builder, const Token& token) {
  if (!(token.use == token.range) && token.use.valid()) {
    builder.Note(token.use, "from this macro use");
  }
  return builder;
}

}  // namespace choreo::lex
