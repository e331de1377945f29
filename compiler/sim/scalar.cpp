#include "sim/scalar.h"

#include <cmath>
#include <type_traits>

#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

template <class T>
T Get(Value v) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v.f);
  return static_cast<T>(v.i);
}
template <class T>
Value Make(T x) {
  Value v;
  if constexpr (std::is_floating_point_v<T>) {
    v.f = static_cast<double>(x);
  } else {
    v.i = static_cast<int64_t>(x);
  }
  return v;
}

// What a type narrower than its register holds.
template <Elem E>
Value Narrow(typename ElemTraits<E>::Reg x) {
  unsigned char bytes[8];
  ElemTraits<E>::Store(bytes, x);
  return Make(ElemTraits<E>::Load(bytes));
}

template <class T>
std::optional<Value> Compare(ir::BinaryOp op, T a, T b) {
  using ir::BinaryOp;
  switch (op) {
    case BinaryOp::Lt:
      return Make(int64_t{a < b});
    case BinaryOp::Le:
      return Make(int64_t{a <= b});
    case BinaryOp::Gt:
      return Make(int64_t{a > b});
    case BinaryOp::Ge:
      return Make(int64_t{a >= b});
    case BinaryOp::Eq:
      return Make(int64_t{a == b});
    case BinaryOp::Ne:
      return Make(int64_t{a != b});
    case BinaryOp::And:
      return Make(int64_t{a != T{} && b != T{}});
    case BinaryOp::Or:
      return Make(int64_t{a != T{} || b != T{}});
    default:
      return std::nullopt;
  }
}

// Integers wrap to 64 bits here and to their type in Narrow.
template <Elem E>
std::optional<Value> Integer(ir::BinaryOp op, Value x, Value y) {
  using ir::BinaryOp;
  using Reg = typename ElemTraits<E>::Reg;
  const auto a = Get<Reg>(x);
  const auto b = Get<Reg>(y);
  const auto ua = static_cast<uint64_t>(x.i);
  const auto ub = static_cast<uint64_t>(y.i);
  const auto wrap = [](uint64_t v) { return Narrow<E>(static_cast<Reg>(v)); };
  const bool fits = y.i >= 0 && y.i < static_cast<int64_t>(sizeof(Reg) * 8);
  switch (op) {
    case BinaryOp::Add:
      return wrap(ua + ub);
    case BinaryOp::Sub:
      return wrap(ua - ub);
    case BinaryOp::Mul:
      return wrap(ua * ub);
    case BinaryOp::Div:
    case BinaryOp::Mod:
      if (b == 0) return std::nullopt;
      if (std::is_signed_v<Reg> && b == static_cast<Reg>(-1)) {
        return op == BinaryOp::Div ? wrap(0 - ua) : wrap(0);
      }
      return Narrow<E>(op == BinaryOp::Div ? static_cast<Reg>(a / b) : static_cast<Reg>(a % b));
    case BinaryOp::Shl:
      return wrap(fits ? ua << ub : 0);
    case BinaryOp::Shr:
      return Narrow<E>(fits ? static_cast<Reg>(a >> b) : static_cast<Reg>(a < 0 ? -1 : 0));
    case BinaryOp::BitAnd:
      return wrap(ua & ub);
    case BinaryOp::BitOr:
      return wrap(ua | ub);
    case BinaryOp::BitXor:
      return wrap(ua ^ ub);
    default:
      return Compare(op, a, b);
  }
}

template <Elem E>
std::optional<Value> Float(ir::BinaryOp op, Value x, Value y) {
  using ir::BinaryOp;
  using Reg = typename ElemTraits<E>::Reg;
  const auto a = Get<Reg>(x);
  const auto b = Get<Reg>(y);
  switch (op) {
    case BinaryOp::Add:
      return Narrow<E>(a + b);
    case BinaryOp::Sub:
      return Narrow<E>(a - b);
    case BinaryOp::Mul:
      return Narrow<E>(a * b);
    case BinaryOp::Div:
      return Narrow<E>(a / b);
    default:
      return Compare(op, a, b);
  }
}

template <class T>
T FloatFunction(ir::Intrinsic callee, T x) {
  using ir::Intrinsic;
  constexpr bool kSingle = std::is_same_v<T, float>;
  switch (callee) {
    case Intrinsic::Exp2:
      return kSingle ? T(Exp2Approx(float(x))) : std::exp2(x);
    case Intrinsic::Exp:
      return kSingle ? T(ExpApprox(float(x))) : std::exp(x);
    case Intrinsic::Log2:
      return kSingle ? T(Log2Approx(float(x))) : std::log2(x);
    case Intrinsic::Log:
      return kSingle ? T(LogApprox(float(x))) : std::log(x);
    case Intrinsic::Rsqrt:
      return kSingle ? T(RsqrtApprox(float(x))) : 1 / std::sqrt(x);
    default:
      CHOREO_UNREACHABLE("`{}` in tile state", ir::Spelling(callee));
  }
}

template <Elem E>
std::optional<Value> Call(ir::Intrinsic callee, const Value* args) {
  using ir::Intrinsic;
  using Reg = typename ElemTraits<E>::Reg;
  const auto a = Get<Reg>(args[0]);
  switch (callee) {
    case Intrinsic::Min:
      return Make(MinValue(a, Get<Reg>(args[1])));
    case Intrinsic::Max:
      return Make(MaxValue(a, Get<Reg>(args[1])));
    case Intrinsic::Pin:
      return args[0];
    case Intrinsic::MaxBits:
      if constexpr (std::is_same_v<Reg, float>) return Make(MaxBits(a, Get<Reg>(args[1])));
      [[fallthrough]];
    case Intrinsic::Abs:
      return a < 0 ? EvalUnary(ir::UnaryOp::Neg, E, args[0]) : Narrow<E>(a);
    case Intrinsic::Fma:
      if constexpr (std::is_floating_point_v<Reg>) {
        return Narrow<E>(std::fma(a, Get<Reg>(args[1]), Get<Reg>(args[2])));
      } else {
        const std::optional<Value> product = Integer<E>(ir::BinaryOp::Mul, args[0], args[1]);
        return Integer<E>(ir::BinaryOp::Add, *product, args[2]);
      }
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<Reg>) {
    return Narrow<E>(FloatFunction(callee, a));
  } else {
    CHOREO_CHECK(callee == Intrinsic::CDiv, "`{}` of integers", ir::Spelling(callee));
    const auto b = Get<Reg>(args[1]);
    if (b == 0) return std::nullopt;
    return Narrow<E>(CeilDiv(a, b));
  }
}

}  // namespace

Value LoadValue(Elem elem, const void* from) {
  return DispatchElem(elem, [&]<Elem E>() { return Make(ElemTraits<E>::Load(from)); });
}
void StoreValue(Elem elem, void* to, Value value) {
  DispatchElem(
      elem, [&]<Elem E>() { ElemTraits<E>::Store(to, Get<typename ElemTraits<E>::Reg>(value)); });
}

std::optional<Value> EvalBinary(ir::BinaryOp op, Elem operands, Value a, Value b) {
  return DispatchElem(operands, [&]<Elem E>() -> std::optional<Value> {
    if constexpr (std::is_floating_point_v<typename ElemTraits<E>::Reg>) {
      return Float<E>(op, a, b);
    } else {
      return Integer<E>(op, a, b);
    }
  });
}

Value EvalUnary(ir::UnaryOp op, Elem elem, Value a) {
  return DispatchElem(elem, [&]<Elem E>() {
    using Reg = typename ElemTraits<E>::Reg;
    if (op == ir::UnaryOp::Not) return Make(int64_t{Get<Reg>(a) == Reg{}});
    if constexpr (std::is_floating_point_v<Reg>) {
      return Narrow<E>(-Get<Reg>(a));
    } else {
      const auto bits = static_cast<uint64_t>(a.i);
      return Narrow<E>(static_cast<Reg>(op == ir::UnaryOp::Neg ? 0 - bits : ~bits));
    }
  });
}

Value EvalCast(Elem from, Elem to, Value a) {
  return DispatchElem(from, [&]<Elem From>() {
    const auto x = Get<typename ElemTraits<From>::Reg>(a);
    return DispatchElem(to, [&]<Elem To>() {
      using ToReg = typename ElemTraits<To>::Reg;
      if (To == Elem::kBool) return Make(int64_t{x != 0});
      return Narrow<To>(ConvertValue<ToReg>(x));
    });
  });
}

std::optional<Value> EvalCall(ir::Intrinsic callee, Elem elem, const Value* args) {
  return DispatchElem(elem, [&]<Elem E>() { return Call<E>(callee, args); });
}

}  // namespace choreo::sim
