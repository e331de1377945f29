// Lowering of the typed AST to tile-state IR. One file a construct; Lowering (context.h) holds what
// they share. Takes an error-free analysis. Mistakes that only show here get diagnostics, and the
// module must then not be used.
#pragma once

#include "ast/ast.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "lex/token.h"
#include "sema/sema.h"
#include "support/source.h"

namespace choreo::lower {

ir::Module Lower(const lex::Unit& unit, const ast::File& file, const sema::Result& sema,
                 const SourceManager& sources, diag::Emitter& diags);

}  // namespace choreo::lower
