// Binary operators on scalars, tuples and bounded variables.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

std::string_view Spelling(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add:
      return "+";
    case ast::BinaryOp::Sub:
      return "-";
    case ast::BinaryOp::Mul:
      return "*";
    case ast::BinaryOp::Div:
      return "/";
    case ast::BinaryOp::Mod:
      return "%";
    case ast::BinaryOp::Shl:
      return "<<";
    case ast::BinaryOp::Shr:
      return ">>";
    case ast::BinaryOp::BitAnd:
      return "&";
    case ast::BinaryOp::BitOr:
      return "|";
    case ast::BinaryOp::BitXor:
      return "^";
    case ast::BinaryOp::And:
      return "&&";
    case ast::BinaryOp::Or:
      return "||";
    case ast::BinaryOp::Less:
      return "<";
    case ast::BinaryOp::LessEqual:
      return "<=";
    case ast::BinaryOp::Greater:
      return ">";
    case ast::BinaryOp::GreaterEqual:
      return ">=";
    case ast::BinaryOp::Equal:
      return "==";
    case ast::BinaryOp::NotEqual:
      return "!=";
    case ast::BinaryOp::Compose:
      return "#";
  }
  CHOREO_UNREACHABLE();
}

bool IsComparison(ast::BinaryOp op) {
  return op >= ast::BinaryOp::Less && op <= ast::BinaryOp::NotEqual;
}
bool IsShift(ast::BinaryOp op) { return op == ast::BinaryOp::Shl || op == ast::BinaryOp::Shr; }
bool IsIntegerOnly(ast::BinaryOp op) {
  return IsShift(op) || op == ast::BinaryOp::Mod || op == ast::BinaryOp::BitAnd ||
         op == ast::BinaryOp::BitOr || op == ast::BinaryOp::BitXor;
}
bool IsIndexing(ast::BinaryOp op) {
  return op == ast::BinaryOp::Add || op == ast::BinaryOp::Sub || op == ast::BinaryOp::Mul ||
         op == ast::BinaryOp::Div || op == ast::BinaryOp::Mod;
}
bool IsList(const Value& value) {
  return value.type.kind == TypeKind::Tuple || value.type.kind == TypeKind::Shape;
}

}  // namespace

Value Checker::CheckBinary(ast::ExprId id, const ast::Binary& node) {
  const Value a = Check(node.left);
  // What stands right of `&&` and `||` is only evaluated if the left says so.
  const Guards saved = guards_;
  if (node.op == ast::BinaryOp::And || node.op == ast::BinaryOp::Or) {
    bool unknown = false;
    for (const Atom atom : ConditionSources(node.left, &unknown)) guards_.atoms.insert(atom);
    guards_.all = guards_.all || unknown;
  }
  const Value b = Check(node.right);
  guards_ = saved;
  if (a.is_error() || b.is_error()) return ErrorValue();
  if (node.op == ast::BinaryOp::Compose) return CheckCompose(node, a, b);
  if (IsList(a) || IsList(b)) return CheckTupleArithmetic(id, node, a, b);
  const std::string_view op = Spelling(node.op);
  const bool left = NeedArithmetic(node.left, a, op);
  const bool right = NeedArithmetic(node.right, b, op);
  if (!left || !right) return ErrorValue();
  return CheckArithmetic(id, node, a, b);
}

Value Checker::CheckArithmetic(ast::ExprId id, const ast::Binary& node, const Value& a,
                               const Value& b) {
  const SourceRange range = file_.exprs[id].range;
  if (IsIntegerOnly(node.op) && (IsFloat(a.type.elem) || IsFloat(b.type.elem))) {
    const Value& wrong = IsFloat(a.type.elem) ? a : b;
    Report(diag::kinds::OperandType, range, Spelling(node.op), Describe(wrong.type));
    return ErrorValue();
  }
  if (node.op == ast::BinaryOp::And || node.op == ast::BinaryOp::Or) {
    return Fold(node.op, Elem::kBool, Elem::kBool, a, b);
  }
  WarnF64(node.left, a, node.right, b);
  const Elem common =
      IsShift(node.op) ? CommonType(a.type.elem, Elem::kS32) : CommonType(a.type.elem, b.type.elem);
  if (IsShift(node.op)) {
    const Elem promoted = CommonType(a.type.elem, a.type.elem);
    if (b.constant && (*b.constant < 0 || *b.constant >= Bits(promoted))) {
      Report(diag::kinds::ShiftCount, file_.exprs[node.right].range, *b.constant,
             choreo::Spelling(promoted));
      return ErrorValue();
    }
    return Fold(node.op, promoted, promoted, a, b);
  }
  const bool divides = node.op == ast::BinaryOp::Div || node.op == ast::BinaryOp::Mod;
  if (divides && b.constant && *b.constant == 0 && !IsFloat(common)) {
    Report(diag::kinds::DivisionByZero, range, Spelling(node.op));
    return ErrorValue();
  }
  if (IsComparison(node.op)) return Fold(node.op, Elem::kBool, common, a, b);
  Value value = Fold(node.op, common, common, a, b);
  if (value.constant || IsFloat(common)) return value;
  if (IsSigned(common)) value.poly = FoldPoly(node.op, a, b);
  if (!value.poly && node.op == ast::BinaryOp::Mod && b.constant && *b.constant > 0) {
    // A remainder is bounded even if nothing is known of what is divided.
    const bool natural = IsUnsigned(common);
    value.poly = Opaque(fmt::format("?{}", ++name_uses_["?"]), a.poly, b.poly,
                        natural ? 0 : 1 - *b.constant, Poly::Constant(*b.constant - 1));
  }
  return value;
}

Value Checker::CheckTupleArithmetic(ast::ExprId id, const ast::Binary& node, const Value& a,
                                    const Value& b) {
  const SourceRange range = file_.exprs[id].range;
  if (!IsIndexing(node.op) || !IsList(a) || !IsList(b)) {
    const Value& wrong = IsList(a) ? (IsIndexing(node.op) ? b : a) : (IsIndexing(node.op) ? a : b);
    Report(diag::kinds::TupleOperand, range, Spelling(node.op), Describe(wrong.type));
    return ErrorValue();
  }
  if (!NeedRank(range, fmt::format("the operands of `{}`", Spelling(node.op)), b.elements.size(),
                a.elements.size())) {
    return ErrorValue();
  }
  Value list;
  list.type.kind = a.type.kind;
  for (size_t i = 0; i < a.elements.size(); ++i) {
    Value element = CheckArithmetic(id, node, a.elements[i], b.elements[i]);
    if (element.is_error()) return ErrorValue();
    if (element.constant) element.poly = Poly::Constant(*element.constant);
    list.type.extents.push_back(ExtentOf(element));
    list.elements.push_back(std::move(element));
  }
  return list;
}

// a # b is a * #b + b, bounded by #a * #b
Value Checker::CheckCompose(const ast::Binary& node, const Value& a, const Value& b) {
  if (!NeedInteger(node.left, a, "the left side of `#`")) return ErrorValue();
  if (b.type.kind != TypeKind::Bounded || !b.type.bound) {
    Report(diag::kinds::NoBound, file_.exprs[node.right].range, Spelled(node.right),
           Describe(b.type));
    return ErrorValue();
  }
  Value value = Plain(Elem::kS32);
  const auto bound = PolyOf(*b.type.bound);
  if (a.poly && b.poly && bound) {
    const auto scaled = Mul(*a.poly, *bound);
    if (scaled) value.poly = Add(*scaled, *b.poly);
  }
  if (a.type.kind != TypeKind::Bounded || !a.type.bound) return value;
  value.type.kind = TypeKind::Bounded;
  const auto outer = PolyOf(*a.type.bound);
  const auto product = outer && bound ? Mul(*outer, *bound) : std::nullopt;
  value.type.bound =
      product
          ? ExtentOf(*product)
          : Extent{std::nullopt, fmt::format("{} * {}", a.type.bound->text, b.type.bound->text)};
  return value;
}

}  // namespace choreo::sema
