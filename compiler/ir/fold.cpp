#include "ir/fold.h"

#include <bit>
#include <cmath>
#include <limits>

namespace choreo::ir {
namespace {

uint64_t U(int64_t v) { return static_cast<uint64_t>(v); }

std::optional<int64_t> Divide(BinaryOp op, Elem elem, int64_t a, int64_t b) {
  if (b == 0) return std::nullopt;
  if (elem == Elem::kU64) {
    return static_cast<int64_t>(op == BinaryOp::Div ? U(a) / U(b) : U(a) % U(b));
  }
  // The one signed quotient that does not exist: the lowest value by -1.
  if (b == -1 && a != 0 && WrapToElem(static_cast<int64_t>(0 - U(a)), elem) == a) {
    return std::nullopt;
  }
  return op == BinaryOp::Div ? a / b : a % b;
}

std::optional<int64_t> Shift(BinaryOp op, Elem elem, int64_t a, int64_t b) {
  if (b < 0 || b >= Bits(elem)) return std::nullopt;
  if (op == BinaryOp::Shl) return WrapToElem(static_cast<int64_t>(U(a) << b), elem);
  return elem == Elem::kU64 ? static_cast<int64_t>(U(a) >> b) : a >> b;
}

template <class T>
bool Compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Lt:
      return a < b;
    case BinaryOp::Le:
      return a <= b;
    case BinaryOp::Gt:
      return a > b;
    case BinaryOp::Ge:
      return a >= b;
    case BinaryOp::Eq:
      return a == b;
    default:
      return a != b;
  }
}

}  // namespace

int64_t WrapToElem(int64_t value, Elem elem) {
  if (elem == Elem::kBool) return value != 0;
  const int bits = Bits(elem);
  if (bits == 64) return value;
  const uint64_t low = U(value) & ((uint64_t{1} << bits) - 1);
  if (IsUnsigned(elem)) return static_cast<int64_t>(low);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>((low ^ sign) - sign);
}

bool FitsElem(int64_t value, Elem elem) { return WrapToElem(value, elem) == value; }

std::optional<int64_t> FoldInt(BinaryOp op, Elem elem, int64_t a, int64_t b) {
  switch (op) {
    case BinaryOp::Add:
      return WrapToElem(static_cast<int64_t>(U(a) + U(b)), elem);
    case BinaryOp::Sub:
      return WrapToElem(static_cast<int64_t>(U(a) - U(b)), elem);
    case BinaryOp::Mul:
      return WrapToElem(static_cast<int64_t>(U(a) * U(b)), elem);
    case BinaryOp::Div:
    case BinaryOp::Mod:
      return Divide(op, elem, a, b);
    case BinaryOp::Shl:
    case BinaryOp::Shr:
      return Shift(op, elem, a, b);
    case BinaryOp::BitAnd:
      return a & b;
    case BinaryOp::BitOr:
      return a | b;
    case BinaryOp::BitXor:
      return a ^ b;
    case BinaryOp::And:
      return a != 0 && b != 0;
    case BinaryOp::Or:
      return a != 0 || b != 0;
    default:
      return elem == Elem::kU64 ? Compare(op, U(a), U(b)) : Compare(op, a, b);
  }
}

std::optional<double> FoldFloat(BinaryOp op, Elem elem, double a, double b) {
  if (elem != Elem::kF32 && elem != Elem::kF64) return std::nullopt;
  double result = 0;
  const auto apply = [&](auto x, auto y) -> bool {
    switch (op) {
      case BinaryOp::Add:
        result = x + y;
        return true;
      case BinaryOp::Sub:
        result = x - y;
        return true;
      case BinaryOp::Mul:
        result = x * y;
        return true;
      case BinaryOp::Div:
        if (y == 0) return false;
        result = x / y;
        return true;
      default:
        return false;
    }
  };
  const bool folded =
      elem == Elem::kF32 ? apply(static_cast<float>(a), static_cast<float>(b)) : apply(a, b);
  if (!folded || std::isnan(result)) return std::nullopt;
  return result;
}

std::optional<bool> FoldFloatCompare(BinaryOp op, double a, double b) {
  if (!IsComparison(op) || std::isnan(a) || std::isnan(b)) return std::nullopt;
  return Compare(op, a, b);
}

std::optional<int64_t> FoldCDiv(Elem elem, int64_t a, int64_t b) {
  const auto quotient = FoldInt(BinaryOp::Div, elem, a, b);
  const auto rest = FoldInt(BinaryOp::Mod, elem, a, b);
  if (!quotient || !rest) return std::nullopt;
  const bool same_side = IsUnsigned(elem) || (*rest > 0) == (b > 0);
  return WrapToElem(*quotient + (*rest != 0 && same_side ? 1 : 0), elem);
}

std::optional<double> FoldToFloat(double value, Elem to) {
  switch (to) {
    case Elem::kF64:
      return value;
    case Elem::kF32:
      return static_cast<float>(value);
    case Elem::kBf16: {
      const float f = static_cast<float>(value);
      if (f != value || (std::bit_cast<uint32_t>(f) & 0xffffu) != 0) return std::nullopt;
      return value;
    }
    case Elem::kF16: {
      if (std::isinf(value)) return value;
      // Eleven significant bits, in the range of normal numbers.
      int exponent = 0;
      const double scaled = std::ldexp(std::frexp(value, &exponent), 11);
      if (scaled != std::trunc(scaled) || (value != 0 && (exponent < -13 || exponent > 16))) {
        return std::nullopt;
      }
      return value;
    }
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> FoldToInt(double value, Elem to) {
  if (to == Elem::kBool) return value != 0 ? 1 : 0;
  if (!std::isfinite(value) || std::fabs(value) >= 9.2e18) return std::nullopt;
  const int64_t truncated = static_cast<int64_t>(value);
  if (!FitsElem(truncated, to) || (to == Elem::kU64 && truncated < 0)) return std::nullopt;
  return truncated;
}

}  // namespace choreo::ir
