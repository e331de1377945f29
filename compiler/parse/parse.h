// Parser: the tokens of a Unit in, an ast::File out. Recursive descent with recovery at statement
// and declaration boundaries: each independent mistake gives one diagnostic, and parsing goes on.
#pragma once

#include "ast/ast.h"
#include "diag/diag.h"
#include "lex/token.h"

namespace choreo::parse {

// Where errors were reported the tree holds ErrorExpr/ErrorStmt nodes; later phases stay silent on
// them.
ast::File Parse(const lex::Unit& unit, diag::Emitter& diags);

}  // namespace choreo::parse
