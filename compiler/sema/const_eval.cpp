// Folding of constants with the wrap-around of their types, and of symbolic integers.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

int64_t Wrap(int64_t value, Elem elem) {
  const int bits = Bits(elem);
  if (bits == 64) return value;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  uint64_t low = static_cast<uint64_t>(value) & mask;
  if (IsSigned(elem) && (low >> (bits - 1)) != 0) low |= ~mask;
  return static_cast<int64_t>(low);
}

template <class T>
bool Compare(ast::BinaryOp op, T a, T b) {
  switch (op) {
    case ast::BinaryOp::Less:
      return a < b;
    case ast::BinaryOp::LessEqual:
      return a <= b;
    case ast::BinaryOp::Greater:
      return a > b;
    case ast::BinaryOp::GreaterEqual:
      return a >= b;
    case ast::BinaryOp::Equal:
      return a == b;
    default:
      return a != b;
  }
}

bool IsComparison(ast::BinaryOp op) {
  return op >= ast::BinaryOp::Less && op <= ast::BinaryOp::NotEqual;
}

std::optional<int64_t> FoldInteger(ast::BinaryOp op, Elem elem, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (op) {
    case ast::BinaryOp::Add:
      return Wrap(static_cast<int64_t>(ua + ub), elem);
    case ast::BinaryOp::Sub:
      return Wrap(static_cast<int64_t>(ua - ub), elem);
    case ast::BinaryOp::Mul:
      return Wrap(static_cast<int64_t>(ua * ub), elem);
    case ast::BinaryOp::Div:
      if (b == 0) return std::nullopt;
      if (elem == Elem::kU64) return static_cast<int64_t>(ua / ub);
      return b == -1 ? Wrap(static_cast<int64_t>(0 - ua), elem) : Wrap(a / b, elem);
    case ast::BinaryOp::Mod:
      if (b == 0) return std::nullopt;
      if (elem == Elem::kU64) return static_cast<int64_t>(ua % ub);
      return b == -1 ? 0 : Wrap(a % b, elem);
    case ast::BinaryOp::Shl:
      if (b < 0 || b >= Bits(elem)) return std::nullopt;
      return Wrap(static_cast<int64_t>(ua << b), elem);
    case ast::BinaryOp::Shr:
      if (b < 0 || b >= Bits(elem)) return std::nullopt;
      return IsUnsigned(elem) ? static_cast<int64_t>(ua >> b) : a >> b;
    case ast::BinaryOp::BitAnd:
      return a & b;
    case ast::BinaryOp::BitOr:
      return a | b;
    case ast::BinaryOp::BitXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

std::optional<double> Real(const Value& value) {
  if (value.real) return value.real;
  if (!value.constant) return std::nullopt;
  return value.type.elem == Elem::kU64 ? static_cast<double>(static_cast<uint64_t>(*value.constant))
                                       : static_cast<double>(*value.constant);
}

std::optional<double> FoldReal(ast::BinaryOp op, double a, double b) {
  switch (op) {
    case ast::BinaryOp::Add:
      return a + b;
    case ast::BinaryOp::Sub:
      return a - b;
    case ast::BinaryOp::Mul:
      return a * b;
    case ast::BinaryOp::Div:
      return b == 0 ? std::nullopt : std::optional(a / b);
    default:
      return std::nullopt;
  }
}

}  // namespace

// The value of `a op b`, of type `elem`; `operands` is the type both sides are converted to.
Value Checker::Fold(ast::BinaryOp op, Elem elem, Elem operands, const Value& a,
                    const Value& b) const {
  Value value = Plain(elem);
  if (op == ast::BinaryOp::And || op == ast::BinaryOp::Or) {
    const auto left = Real(a), right = Real(b);
    const bool decides = op == ast::BinaryOp::Or;
    if (left && (*left != 0) == decides) value.constant = decides;
    if (left && right && !value.constant) value.constant = (*right != 0);
    return value;
  }
  if (IsFloat(operands)) {
    const auto left = Real(a), right = Real(b);
    if (!left || !right) return value;
    if (IsComparison(op)) {
      value.constant = Compare(op, *left, *right);
    } else if (const auto folded = FoldReal(op, *left, *right)) {
      value.real = elem == Elem::kF64 ? *folded : static_cast<double>(static_cast<float>(*folded));
    }
    return value;
  }
  if (!a.constant || !b.constant) return value;
  const bool shift = op == ast::BinaryOp::Shl || op == ast::BinaryOp::Shr;
  const int64_t left = Wrap(*a.constant, operands);
  const int64_t right = shift ? *b.constant : Wrap(*b.constant, operands);
  if (IsComparison(op)) {
    value.constant = operands == Elem::kU64
                         ? Compare(op, static_cast<uint64_t>(left), static_cast<uint64_t>(right))
                         : Compare(op, left, right);
  } else {
    value.constant = FoldInteger(op, elem, left, right);
  }
  return value;
}

// The symbolic value of `a op b` on signed integers, which are taken not to wrap.
std::optional<Poly> Checker::FoldPoly(ast::BinaryOp op, const Value& a, const Value& b) {
  if (!a.poly || !b.poly) return std::nullopt;
  const auto divisor = b.poly->constant();
  const Bounds range = syms_.BoundsOf(*a.poly);
  switch (op) {
    case ast::BinaryOp::Add:
      return Add(*a.poly, *b.poly);
    case ast::BinaryOp::Sub:
      return Sub(*a.poly, *b.poly);
    case ast::BinaryOp::Mul:
      return Mul(*a.poly, *b.poly);
    case ast::BinaryOp::Div: {
      if (auto exact = DivideExactly(*a.poly, *b.poly); exact && divisor) return exact;
      const bool ordered = divisor && *divisor > 0 && range.low && *range.low >= 0;
      std::optional<Poly> high;
      if (ordered && range.high) high = Poly::Constant(*range.high / *divisor);
      return Opaque(fmt::format("(({}) / ({}))", syms_.Text(*a.poly), syms_.Text(*b.poly)), a.poly,
                    b.poly, ordered ? std::optional(*range.low / *divisor) : std::nullopt, high);
    }
    case ast::BinaryOp::Mod: {
      if (divisor && *divisor > 0 && DivideExactly(*a.poly, *b.poly)) return Poly::Constant(0);
      const bool positive = divisor && *divisor > 0;
      const bool natural = range.low && *range.low >= 0;
      if (positive && natural && range.high && *range.high < *divisor) return a.poly;
      return Opaque(fmt::format("(({}) % ({}))", syms_.Text(*a.poly), syms_.Text(*b.poly)), a.poly,
                    b.poly,
                    positive ? std::optional<int64_t>(natural ? 0 : 1 - *divisor) : std::nullopt,
                    positive ? std::optional(Poly::Constant(*divisor - 1)) : std::nullopt);
    }
    default:
      return std::nullopt;
  }
}

// cdiv(a, b)
Value Checker::DivideUp(const Value& a, const Value& b, Elem elem) {
  Value value = Plain(elem);
  if (a.constant && b.constant && *b.constant > 0) {
    const int64_t quotient = *a.constant / *b.constant;
    value.constant = quotient + (*a.constant % *b.constant > 0 ? 1 : 0);
    value.poly = Poly::Constant(*value.constant);
    return value;
  }
  if (!a.poly || !b.poly) return value;
  value.poly = DivideExactly(*a.poly, *b.poly);
  if (value.poly) return value;
  const Bounds range = syms_.BoundsOf(*a.poly);
  const auto divisor = b.poly->constant();
  std::optional<Poly> high;
  if (range.high && divisor && *divisor > 0) {
    high = Poly::Constant(*range.high / *divisor + (*range.high % *divisor > 0 ? 1 : 0));
  }
  const bool natural = range.low && *range.low >= 0;
  value.poly = Opaque(fmt::format("cdiv({}, {})", syms_.Text(*a.poly), syms_.Text(*b.poly)), a.poly,
                      b.poly, natural ? std::optional<int64_t>(0) : std::nullopt, high);
  return value;
}

}  // namespace choreo::sema
