#include "ast/ast.h"

namespace choreo::ast {

Expr::Expr(const Expr&) = default;
Expr::Expr(Expr&&) noexcept = default;
Expr& Expr::operator=(const Expr&) = default;
Expr& Expr::operator=(Expr&&) noexcept = default;
Expr::~Expr() = default;

Stmt::Stmt(const Stmt&) = default;
Stmt::Stmt(Stmt&&) noexcept = default;
Stmt& Stmt::operator=(const Stmt&) = default;
Stmt& Stmt::operator=(Stmt&&) noexcept = default;
Stmt::~Stmt() = default;

}  // namespace choreo::ast
