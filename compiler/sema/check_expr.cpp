// Expressions: dispatch, literals, unary operators, conditionals, tuples, shapes and votes.
#include <fmt/format.h>

#include <cmath>

#include "sema/checker.h"

namespace choreo::sema {

Value Checker::Plain(Elem elem) const {
  Value value;
  value.type.kind = TypeKind::Scalar;
  value.type.elem = elem;
  return value;
}

const Value& Checker::Check(ast::ExprId id) {
  static const Value kError;
  if (!id.valid()) return kError;
  Value value = CheckNode(id);
  if (value.constant && !value.poly) value.poly = Poly::Constant(*value.constant);
  if (!value.constant && value.poly && value.type.kind == TypeKind::Scalar) {
    if (const auto constant = value.poly->constant()) value.constant = constant;
  }
  result_.types.Grow(id) = value.type;
  result_.constants.Grow(id) = value.constant;
  values_[id.value] = std::move(value);
  return values_[id.value];
}

Value Checker::CheckNode(ast::ExprId id) {
  const ast::ExprNode& node = file_.exprs[id].node;
  if (const auto* x = std::get_if<ast::IntLiteral>(&node)) {
    Value value = Plain(x->type);
    value.constant = static_cast<int64_t>(x->value);
    return value;
  }
  if (const auto* x = std::get_if<ast::FloatLiteral>(&node)) {
    Value value = Plain(x->type);
    value.real = x->value;
    return value;
  }
  if (const auto* x = std::get_if<ast::BoolLiteral>(&node)) {
    Value value = Plain(Elem::kBool);
    value.constant = x->value;
    return value;
  }
  Value special;
  if (std::holds_alternative<ast::StringLiteral>(node)) {
    special.type.kind = TypeKind::String;
    return special;
  }
  if (std::holds_alternative<ast::Wildcard>(node)) {
    special.type.kind = TypeKind::Wildcard;
    return special;
  }
  if (const auto* x = std::get_if<ast::NameRef>(&node)) return CheckName(id, *x);
  if (const auto* x = std::get_if<ast::Unary>(&node)) return CheckUnary(id, *x);
  if (const auto* x = std::get_if<ast::Binary>(&node)) return CheckBinary(id, *x);
  if (const auto* x = std::get_if<ast::Conditional>(&node)) return CheckConditional(id, *x);
  if (const auto* x = std::get_if<ast::IncDec>(&node)) return CheckIncDec(id, *x);
  if (const auto* x = std::get_if<ast::Call>(&node)) return CheckCall(id, *x);
  if (const auto* x = std::get_if<ast::Member>(&node)) return CheckMember(id, *x);
  if (const auto* x = std::get_if<ast::MethodCall>(&node)) return CheckMethod(id, *x);
  if (const auto* x = std::get_if<ast::Index>(&node)) return CheckIndex(id, *x);
  if (const auto* x = std::get_if<ast::TupleLiteral>(&node)) {
    return CheckList(x->elements, TypeKind::Tuple);
  }
  if (const auto* x = std::get_if<ast::ShapeLiteral>(&node)) {
    return CheckList(x->extents, TypeKind::Shape);
  }
  if (const auto* x = std::get_if<ast::SpanSize>(&node)) return CheckSpanSize(id, *x);
  if (const auto* x = std::get_if<ast::AnyOf>(&node)) return CheckAnyOf(id, *x);
  if (const auto* x = std::get_if<ast::DmaCopy>(&node)) return CheckDmaCopy(id, *x);
  if (const auto* x = std::get_if<ast::TmaCopy>(&node)) return CheckTmaCopy(id, *x);
  if (const auto* x = std::get_if<ast::MmaFill>(&node)) return CheckMmaFill(id, *x);
  if (const auto* x = std::get_if<ast::Mma>(&node)) return CheckMma(id, *x);
  if (const auto* x = std::get_if<ast::MmaLoad>(&node)) return CheckMmaLoad(id, *x);
  if (const auto* x = std::get_if<ast::Atomic>(&node)) return CheckAtomic(id, *x);
  return ErrorValue();
}

std::string Checker::Spelled(ast::ExprId id) const {
  std::string text(sources_.Text(file_.exprs[id].range));
  if (text.find('\n') != std::string::npos || text.size() > 48) return "this expression";
  return fmt::format("`{}`", text);
}

// An expression made by a macro has the place of the macro's use, as have its parts.
bool Checker::SpelledInPlace(ast::ExprId id) const {
  const SourceRange range = file_.exprs[id].range;
  const ast::ExprNode& node = file_.exprs[id].node;
  const auto apart = [&](ast::ExprId part) {
    return !part.valid() || !(file_.exprs[part].range == range);
  };
  if (const auto* x = std::get_if<ast::NameRef>(&node)) return sources_.Text(range) == x->name;
  if (const auto* x = std::get_if<ast::Binary>(&node)) return apart(x->left) && apart(x->right);
  if (const auto* x = std::get_if<ast::Unary>(&node)) return apart(x->operand);
  if (const auto* x = std::get_if<ast::MethodCall>(&node)) return apart(x->base);
  if (const auto* x = std::get_if<ast::Call>(&node)) return !(x->callee.range == range);
  if (const auto* x = std::get_if<ast::Conditional>(&node)) return apart(x->condition);
  return true;
}

bool Checker::NeedArithmetic(ast::ExprId id, const Value& value, std::string_view op) {
  if (value.is_error()) return false;
  if (value.type.kind == TypeKind::Scalar || value.type.kind == TypeKind::Bounded) return true;
  diag::Builder builder =
      Report(diag::kinds::OperandType, file_.exprs[id].range, op, Describe(value.type));
  if (value.type.kind == TypeKind::Fragment) {
    builder.Note(
        {}, "elements of a fragment are reached in `apply {i, j} in F.span …` as `F.at(i, j)`");
  } else if (value.type.kind == TypeKind::View || value.type.kind == TypeKind::DataFuture) {
    builder.Note({}, "an element of a tile is `x.at(i, j)`");
  }
  return false;
}

bool Checker::NeedCondition(ast::ExprId id, const Value& value) {
  if (value.is_error()) return false;
  if (value.type.kind == TypeKind::Scalar || value.type.kind == TypeKind::Bounded) return true;
  Report(diag::kinds::ConditionType, file_.exprs[id].range, Describe(value.type));
  return false;
}

bool Checker::NeedInteger(ast::ExprId id, const Value& value, std::string_view what) {
  if (value.is_error()) return false;
  const bool scalar = value.type.kind == TypeKind::Scalar || value.type.kind == TypeKind::Bounded;
  if (scalar && IsInteger(value.type.elem)) return true;
  Report(diag::kinds::NotAnInteger, file_.exprs[id].range, what, Describe(value.type));
  return false;
}

std::optional<int64_t> Checker::NeedConstant(ast::ExprId id, std::string_view what) {
  const Value& value = Check(id);
  if (!NeedInteger(id, value, what)) return std::nullopt;
  if (value.constant) return value.constant;
  Report(diag::kinds::NotConstant, file_.exprs[id].range, what, Spelled(id));
  return std::nullopt;
}

Value Checker::CheckUnary(ast::ExprId id, const ast::Unary& node) {
  if (node.op == ast::UnaryOp::BoundOf) return CheckBoundOf(id, node);
  const Value operand = Check(node.operand);
  const std::string_view op = node.op == ast::UnaryOp::Plus    ? "+"
                              : node.op == ast::UnaryOp::Minus ? "-"
                              : node.op == ast::UnaryOp::Not   ? "!"
                                                               : "~";
  if (!NeedArithmetic(node.operand, operand, op)) return ErrorValue();
  if (node.op == ast::UnaryOp::Not) {
    Value value = Plain(Elem::kBool);
    if (operand.constant) value.constant = *operand.constant == 0;
    return value;
  }
  if (node.op == ast::UnaryOp::BitNot && IsFloat(operand.type.elem)) {
    Report(diag::kinds::OperandType, file_.exprs[id].range, op, Describe(operand.type));
    return ErrorValue();
  }
  const Elem elem = CommonType(operand.type.elem, operand.type.elem);
  if (node.op == ast::UnaryOp::Plus) {
    Value value = operand;
    value.type.kind = TypeKind::Scalar;
    value.type.elem = elem;
    value.is_element = false;
    return value;
  }
  Value zero = Plain(elem);
  zero.constant = node.op == ast::UnaryOp::Minus ? 0 : -1;
  zero.poly = Poly::Constant(*zero.constant);
  if (IsFloat(elem)) {
    Value value = Plain(elem);
    if (operand.real) value.real = -*operand.real;
    return value;
  }
  // -x is 0 - x and ~x is -1 - x.
  Value value = Fold(ast::BinaryOp::Sub, elem, elem, zero, operand);
  if (!value.constant && IsSigned(elem)) value.poly = FoldPoly(ast::BinaryOp::Sub, zero, operand);
  return value;
}

// #p
Value Checker::CheckBoundOf(ast::ExprId id, const ast::Unary& node) {
  const Value& operand = Check(node.operand);
  if (operand.is_error()) return ErrorValue();
  if (operand.type.kind != TypeKind::Bounded || !operand.type.bound) {
    Report(diag::kinds::NoBound, file_.exprs[id].range, Spelled(node.operand),
           Describe(operand.type));
    return ErrorValue();
  }
  return IntegerOf(*operand.type.bound);
}

Value Checker::CheckConditional(ast::ExprId, const ast::Conditional& node) {
  const Value& condition = Check(node.condition);
  NeedCondition(node.condition, condition);
  const Guards saved = guards_;
  bool unknown = false;
  for (const Atom atom : ConditionSources(node.condition, &unknown)) guards_.atoms.insert(atom);
  guards_.all = guards_.all || unknown;
  const Value a = Check(node.then_value), b = Check(node.else_value);
  guards_ = saved;
  if (!NeedArithmetic(node.then_value, a, "?:") || !NeedArithmetic(node.else_value, b, "?:")) {
    return ErrorValue();
  }
  WarnF64(node.then_value, a, node.else_value, b);
  const Elem elem = a.type.elem == b.type.elem ? a.type.elem : CommonType(a.type.elem, b.type.elem);
  const Value& chosen = condition.constant && *condition.constant == 0 ? b : a;
  Value value = Plain(elem);
  if (condition.constant) {
    value.constant = chosen.constant;
    value.real = chosen.real;
    value.poly = chosen.poly;
  } else if (a.poly && b.poly && *a.poly == *b.poly) {
    value.poly = a.poly;
  } else if (a.poly && b.poly && IsSigned(elem)) {
    const Bounds x = syms_.BoundsOf(*a.poly), y = syms_.BoundsOf(*b.poly);
    std::optional<int64_t> low;
    std::optional<Poly> high;
    if (x.low && y.low) low = std::min(*x.low, *y.low);
    if (x.high && y.high) high = Poly::Constant(std::max(*x.high, *y.high));
    value.poly = Opaque(fmt::format("?{}", ++name_uses_["?"]), a.poly, b.poly, low, high);
  }
  return value;
}

Value Checker::CheckIncDec(ast::ExprId id, const ast::IncDec& node) {
  const Value operand = Check(node.operand);
  const std::string_view op = node.increment ? "++" : "--";
  if (!NeedArithmetic(node.operand, operand, op)) return ErrorValue();
  const auto entity = EntityOf(node.operand);
  if (!operand.is_element &&
      !(entity && result_.entities[*entity].kind == EntityKind::MutableScalar)) {
    diag::Builder builder =
        Report(diag::kinds::AssignImmutable, file_.exprs[id].range, Spelled(node.operand), op);
    if (entity) {
      builder.Note(result_.entities[*entity].declared, "it is declared here, without `mutable`");
    }
    return ErrorValue();
  }
  if (Class(operand.type.elem) == ElemClass::Bool) {
    Report(diag::kinds::OperandType, file_.exprs[id].range, op, Describe(operand.type));
    return ErrorValue();
  }
  if (operand.is_element) MarkWritten(operand);
  return Plain(operand.type.elem);
}

// {a, b} and [n, m]: tuples and shapes inside count as their elements.
Value Checker::CheckList(const std::vector<ast::ExprId>& items, TypeKind kind) {
  const std::string_view what =
      kind == TypeKind::Tuple ? "an element of an index tuple" : "an extent of a shape";
  Value list;
  list.type.kind = kind;
  bool failed = false;
  for (const Argument& argument : Arguments(items)) {
    if (!NeedInteger(argument.expr, argument.value, what)) {
      failed = true;
      continue;
    }
    list.type.extents.push_back(ExtentOf(argument.value));
    list.elements.push_back(argument.value);
  }
  return failed ? ErrorValue() : list;
}

// |span|
Value Checker::CheckSpanSize(ast::ExprId id, const ast::SpanSize& node) {
  const Value& shape = Check(node.operand);
  if (shape.is_error()) return ErrorValue();
  if (shape.type.kind != TypeKind::Shape && shape.type.kind != TypeKind::Tuple) {
    Report(diag::kinds::NotAShape, file_.exprs[id].range, "`|span|`", Describe(shape.type));
    return ErrorValue();
  }
  std::optional<Poly> product = Poly::Constant(1);
  for (const Extent& extent : shape.type.extents) {
    const auto factor = PolyOf(extent);
    product = product && factor ? Mul(*product, *factor) : std::nullopt;
  }
  Value value = Plain(Elem::kS32);
  value.poly = product;
  return value;
}

Value Checker::CheckAnyOf(ast::ExprId id, const ast::AnyOf& node) {
  const SourceRange range = file_.exprs[id].range;
  const auto frag = CheckElementSpan(node.span, node.vars.size(), range);
  scopes_.Push();
  Type none;
  result_.any_of_vars[id] = DeclareElementVars(node.vars, frag ? *frag : none);
  const std::optional<Apply> saved = apply_;
  apply_ = Apply{result_.any_of_vars[id], frag ? *frag : none};
  const Value& condition = Check(node.condition);
  NeedCondition(node.condition, condition);
  apply_ = saved;
  scopes_.Pop();
  const bool inside = node.warp ? threads_.scope() != ast::Level::Block : InWarpgroup();
  if (frag && !inside) {
    Report(diag::kinds::OutsideWarpgroup, range, "`any_of`");
    return ErrorValue();
  }
  return Plain(Elem::kBool);
}

}  // namespace choreo::sema
