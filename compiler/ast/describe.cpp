// How diagnostics name nodes.
#include "ast/ast.h"

namespace choreo::ast {
namespace {

struct ExprNames {
  std::string_view operator()(const ErrorExpr&) { return "a broken expression"; }
  std::string_view operator()(const IntLiteral&) { return "an integer literal"; }
  std::string_view operator()(const FloatLiteral&) { return "a floating-point literal"; }
  std::string_view operator()(const BoolLiteral&) { return "a boolean literal"; }
  std::string_view operator()(const StringLiteral&) { return "a string literal"; }
  std::string_view operator()(const NameRef&) { return "a name"; }
  std::string_view operator()(const Wildcard&) { return "the placeholder `_`"; }
  std::string_view operator()(const Unary& n) {
    return n.op == UnaryOp::BoundOf ? "the bound of a variable" : "a unary expression";
  }
  std::string_view operator()(const Binary& n) {
    return n.op == BinaryOp::Compose ? "a composed index" : "a binary expression";
  }
  std::string_view operator()(const Conditional&) { return "a conditional expression"; }
  std::string_view operator()(const IncDec& n) {
    return n.increment ? "an increment" : "a decrement";
  }
  std::string_view operator()(const Call& n) {
    return n.type_arg ? "a conversion" : "a function call";
  }
  std::string_view operator()(const Member&) { return "a member"; }
  std::string_view operator()(const MethodCall& n) {
    if (n.name.text.empty()) return "a tuple element";
    return n.name.text == "at" ? "an element or tile" : "a method call";
  }
  std::string_view operator()(const Index&) { return "an element of an array"; }
  std::string_view operator()(const TupleLiteral&) { return "an index tuple"; }
  std::string_view operator()(const ShapeLiteral&) { return "a shape"; }
  std::string_view operator()(const SpanSize&) { return "the size of a span"; }
  std::string_view operator()(const AnyOf&) { return "an `any_of` vote"; }
  std::string_view operator()(const DmaCopy&) { return "a `dma.copy`"; }
  std::string_view operator()(const TmaCopy& n) {
    return n.is_load ? "a `tma.load`" : "a `tma.copy`";
  }
  std::string_view operator()(const MmaFill&) { return "an `mma.fill`"; }
  std::string_view operator()(const Mma&) { return "an MMA"; }
  std::string_view operator()(const MmaLoad&) { return "an `mma.load`"; }
  std::string_view operator()(const Atomic&) { return "an atomic operation"; }
  std::string_view operator()(const std::monostate&) { return "nothing"; }
};

struct StmtNames {
  std::string_view operator()(const ErrorStmt&) { return "a broken statement"; }
  std::string_view operator()(const Block&) { return "a block"; }
  std::string_view operator()(const ScalarDecl&) { return "a scalar declaration"; }
  std::string_view operator()(const StorageDecl& n) {
    return n.is_event ? "an event declaration" : "a storage declaration";
  }
  std::string_view operator()(const Assign&) { return "an assignment"; }
  std::string_view operator()(const ExprStmt&) { return "an expression statement"; }
  std::string_view operator()(const Parallel&) { return "a `parallel`"; }
  std::string_view operator()(const InThreads&) { return "an `inthreads`"; }
  std::string_view operator()(const Foreach&) { return "a `foreach`"; }
  std::string_view operator()(const With&) { return "a `with`"; }
  std::string_view operator()(const If&) { return "an `if`"; }
  std::string_view operator()(const While&) { return "a `while`"; }
  std::string_view operator()(const Return&) { return "a `return`"; }
  std::string_view operator()(const Break&) { return "a `break`"; }
  std::string_view operator()(const Continue&) { return "a `continue`"; }
  std::string_view operator()(const Assert&) { return "an `assert`"; }
  std::string_view operator()(const Apply&) { return "an `apply`"; }
  std::string_view operator()(const Wait&) { return "a `wait`"; }
  std::string_view operator()(const Trigger&) { return "a `trigger`"; }
  std::string_view operator()(const MmaStore&) { return "an `mma.store`"; }
  std::string_view operator()(const SyncShared&) { return "a `sync.shared`"; }
  std::string_view operator()(const CallStmt&) { return "a `call`"; }
  std::string_view operator()(const RawCpp&) { return "a `__cpp__` insertion"; }
  std::string_view operator()(const std::monostate&) { return "nothing"; }
};

}  // namespace

std::string_view Describe(const Expr& expr) { return std::visit(ExprNames(), expr.node); }
std::string_view Describe(const Stmt& stmt) { return std::visit(StmtNames(), stmt.node); }

}  // namespace choreo::ast
