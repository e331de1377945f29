// The algebra of ExprBuilder: integer identities, and structural equality.
#include <algorithm>
#include <cmath>

#include "ir/builder.h"
#include "ir/fold.h"

namespace choreo::ir {

ExprId ExprBuilder::SimplifyInt(BinaryOp op, ExprId a, ExprId b) {
  const Elem type = TypeOf(a);
  const auto x = AsInt(a), y = AsInt(b);
  switch (op) {
    case BinaryOp::Add:
      if (y) return SimplifySum(type, a, *y);
      return x ? SimplifySum(type, b, *x) : ExprId();
    case BinaryOp::Sub:
      if (Same(a, b)) return Int(0, type);
      return y ? SimplifySum(type, a, static_cast<int64_t>(0 - static_cast<uint64_t>(*y)))
               : ExprId();
    case BinaryOp::Mul:
      if (y) return SimplifyProduct(type, a, *y);
      return x ? SimplifyProduct(type, b, *x) : ExprId();
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return y ? SimplifyQuotient(op, type, a, *y) : ExprId();
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return y == 0 ? a : ExprId();
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
      if (y == 0) return a;
      return x == 0 ? b : ExprId();
    case BinaryOp::BitAnd:
      return x == 0 || y == 0 ? Int(0, type) : ExprId();
    case BinaryOp::And:
    case BinaryOp::Or:
      return SimplifyLogic(op, a, b);
    case BinaryOp::Eq:
    case BinaryOp::Le:
    case BinaryOp::Ge:
      return Same(a, b) ? Bool(true) : ExprId();
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Gt:
      return Same(a, b) ? Bool(false) : ExprId();
  }
  return {};
}

// One constant, on the right, positive where that is possible.
ExprId ExprBuilder::SimplifySum(Elem type, ExprId a, int64_t addend) {
  if (type == Elem::kBool) return {};
  if (const auto inner = AsBinary(a);
      inner && (inner->op == BinaryOp::Add || inner->op == BinaryOp::Sub)) {
    if (const auto c = AsInt(inner->right)) {
      // (x + c) + d = x + (d + c); (x - c) + d = x + (d - c).
      const int64_t sum = *FoldInt(inner->op, type, addend, *c);
      return SimplifySum(type, inner->left, sum);
    }
  }
  addend = WrapToElem(addend, type);
  if (addend == 0) return a;
  const int64_t negated = *FoldInt(BinaryOp::Sub, type, 0, addend);
  if (IsSigned(type) && addend < 0 && negated != addend) {  // the lowest value has no negative
    return RawBin(BinaryOp::Sub, a, Int(negated, type));
  }
  return RawBin(BinaryOp::Add, a, Int(addend, type));
}

ExprId ExprBuilder::SimplifyProduct(Elem type, ExprId a, int64_t factor) {
  if (type == Elem::kBool) return {};
  if (factor == 0) return Int(0, type);
  if (factor == 1) return a;
  if (const auto inner = AsBinary(a); inner && inner->op == BinaryOp::Mul) {
    if (const auto c = AsInt(inner->right)) {
      return SimplifyProduct(type, inner->left, *FoldInt(BinaryOp::Mul, type, *c, factor));
    }
  }
  return RawBin(BinaryOp::Mul, a, Int(factor, type));
}

ExprId ExprBuilder::SimplifyQuotient(BinaryOp op, Elem type, ExprId a, int64_t divisor) {
  if (divisor == 1) return op == BinaryOp::Div ? a : Int(0, type);
  if (divisor <= 0) return {};
  if (const ExprId exact = DivideExactly(a, divisor)) {
    return op == BinaryOp::Div ? exact : Int(0, type);
  }
  const auto inner = AsBinary(a);
  if (!inner) return {};
  const auto c = AsInt(inner->right);
  // (x / c) / d = x / (c·d); (x % c) % c = x % c.
  if (op == BinaryOp::Div && inner->op == BinaryOp::Div && c && *c > 0 && *c <= INT32_MAX &&
      divisor <= INT32_MAX && FitsElem(*c * divisor, type)) {
    return RawBin(BinaryOp::Div, inner->left, Int(*c * divisor, type));
  }
  if (op == BinaryOp::Mod && inner->op == BinaryOp::Mod && c == divisor) return a;
  return {};
}

ExprId ExprBuilder::DivideExactly(ExprId a, int64_t divisor) {
  // Unsigned arithmetic wraps by rule, so a product of it need not be a multiple.
  if (!IsSigned(TypeOf(a))) return {};
  if (const auto v = AsInt(a)) return *v % divisor == 0 ? Int(*v / divisor, TypeOf(a)) : ExprId();
  const auto node = AsBinary(a);
  if (!node) return {};
  if (node->op == BinaryOp::Mul) {
    const ExprId right = DivideExactly(node->right, divisor);
    if (right) return Mul(node->left, right);
    const ExprId left = DivideExactly(node->left, divisor);
    return left ? Mul(left, node->right) : ExprId();
  }
  if (node->op == BinaryOp::Add || node->op == BinaryOp::Sub) {
    const ExprId left = DivideExactly(node->left, divisor);
    const ExprId right = left ? DivideExactly(node->right, divisor) : ExprId();
    return right ? Bin(node->op, left, right) : ExprId();
  }
  return {};
}

ExprId ExprBuilder::SimplifyLogic(BinaryOp op, ExprId a, ExprId b) {
  const int64_t absorbing = op == BinaryOp::And ? 0 : 1;
  for (const auto& [constant, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto v = AsInt(constant)) return *v == absorbing ? Bool(absorbing != 0) : other;
  }
  return Same(a, b) ? a : ExprId();
}

// ---- questions --------------------------------------------------------------------------------

std::optional<int64_t> AsInt(const Kernel& kernel, ExprId id) {
  const auto* constant = std::get_if<IntConst>(&kernel.exprs[id].node);
  return constant ? std::optional(constant->value) : std::nullopt;
}

namespace {

bool SameList(const Kernel& kernel, const std::vector<ExprId>& a, const std::vector<ExprId>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](ExprId x, ExprId y) { return Same(kernel, x, y); });
}

struct SameNode {
  const Kernel& kernel;

  bool operator()(const IntConst& a, const IntConst& b) const { return a.value == b.value; }
  bool operator()(const FloatConst& a, const FloatConst& b) const {
    return a.value == b.value && std::signbit(a.value) == std::signbit(b.value);
  }
  bool operator()(const VarRef& a, const VarRef& b) const { return a.var == b.var; }
  bool operator()(const Unary& a, const Unary& b) const {
    return a.op == b.op && Same(kernel, a.operand, b.operand);
  }
  bool operator()(const Binary& a, const Binary& b) const {
    return a.op == b.op && Same(kernel, a.left, b.left) && Same(kernel, a.right, b.right);
  }
  bool operator()(const Select& a, const Select& b) const {
    return Same(kernel, a.condition, b.condition) && Same(kernel, a.then_value, b.then_value) &&
           Same(kernel, a.else_value, b.else_value);
  }
  bool operator()(const Cast& a, const Cast& b) const { return Same(kernel, a.operand, b.operand); }
  bool operator()(const Call& a, const Call& b) const {
    return a.callee == b.callee && SameList(kernel, a.args, b.args);
  }
  bool operator()(const FragElem& a, const FragElem& b) const {
    return a.frag == b.frag && SameList(kernel, a.index, b.index);
  }
  bool operator()(const ViewElem& a, const ViewElem& b) const { return a.view == b.view; }
  bool operator()(const MemElem& a, const MemElem& b) const {
    return a.storage == b.storage && Same(kernel, a.index, b.index);
  }
  bool operator()(const SmemDesc& a, const SmemDesc& b) const {
    return a.storage == b.storage && a.leading_bytes == b.leading_bytes &&
           a.stride_bytes == b.stride_bytes && a.swizzle == b.swizzle &&
           Same(kernel, a.byte_offset, b.byte_offset);
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

}  // namespace

bool Same(const Kernel& kernel, ExprId a, ExprId b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const Expr& x = kernel.exprs[a];
  const Expr& y = kernel.exprs[b];
  return x.type == y.type && x.node.index() == y.node.index() &&
         std::visit(SameNode{kernel}, x.node, y.node);
}

}  // namespace choreo::ir
