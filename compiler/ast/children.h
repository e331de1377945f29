// The children of an expression node, for walks that treat all nodes alike. In: an expression; out:
// a call of `visit(role, ExprId)` for each child that is present, in source order. Roles are short
// names
// ("left", "arg") for dumps.
#pragma once

#include <string_view>
#include <type_traits>
#include <variant>

#include "ast/ast.h"

namespace choreo::ast {

template <class Visit>
class ChildVisitor {
 public:
  explicit ChildVisitor(Visit& visit) : visit_(visit) {}

  void operator()(const Unary& n) { One("operand", n.operand); }
  void operator()(const Binary& n) { One("left", n.left), One("right", n.right); }
  void operator()(const Conditional& n) {
    One("condition", n.condition), One("then", n.then_value), One("else", n.else_value);
  }
  void operator()(const IncDec& n) { One("operand", n.operand); }
  void operator()(const Call& n) { All("arg", n.args); }
  void operator()(const Member& n) { One("base", n.base); }
  void operator()(const MethodCall& n) {
    One("base", n.base), All("arg", n.args), All("stride", n.strides);
  }
  void operator()(const Index& n) { One("base", n.base), One("index", n.index); }
  void operator()(const TupleLiteral& n) { All("element", n.elements); }
  void operator()(const ShapeLiteral& n) { All("extent", n.extents); }
  void operator()(const SpanSize& n) { One("operand", n.operand); }
  void operator()(const AnyOf& n) { One("span", n.span), One("condition", n.condition); }
  void operator()(const DmaCopy& n) { One("source", n.source), One("target", n.target.view); }
  void operator()(const TmaCopy& n) { One("source", n.source), One("target", n.target.view); }
  void operator()(const MmaFill& n) { One("value", n.value); }
  void operator()(const Mma& n) { One("acc", n.acc), One("a", n.a), One("b", n.b); }
  void operator()(const MmaLoad& n) { One("source", n.source); }
  void operator()(const Atomic& n) { One("element", n.element), One("value", n.value); }
  // Leaves are listed, so that a new node does not compile before it is handled here.
  void operator()(const ErrorExpr&) {}
  void operator()(const IntLiteral&) {}
  void operator()(const FloatLiteral&) {}
  void operator()(const BoolLiteral&) {}
  void operator()(const StringLiteral&) {}
  void operator()(const NameRef&) {}
  void operator()(const Wildcard&) {}
  void operator()(const std::monostate&) {}

 private:
  void One(std::string_view role, ExprId id) {
    if (id.valid()) visit_(role, id);
  }
  void All(std::string_view role, const std::vector<ExprId>& ids) {
    for (ExprId id : ids) One(role, id);
  }
  Visit& visit_;
};

template <class Visit>
void ForEachChild(const ExprNode& node, Visit visit) {
  std::visit(ChildVisitor<Visit>(visit), node);
}

}  // namespace choreo::ast
