#include "sim/expr_ops.h"

#include <type_traits>

#include "sim/cta.h"
#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

// Calls f with a value of the register type of `elem`.
template <class F>
InstrFn DispatchMachine(Elem elem, F&& f) {
  switch (MachineOf(elem)) {
    case Machine::I32:
      return f(int32_t{});
    case Machine::U32:
      return f(uint32_t{});
    case Machine::I64:
      return f(int64_t{});
    case Machine::U64:
      return f(uint64_t{});
    case Machine::F32:
      return f(float{});
    case Machine::F64:
      return f(double{});
  }
  CHOREO_UNREACHABLE();
}

template <class T, class R, auto kOp>
void Map1(Warp& w, const Instr& in) {
  const T* a = w.regs.At<T>(in.a);
  R* d = w.regs.At<R>(in.dst);
  for (int l = 0; l < kLanes; ++l) d[l] = kOp(a[l]);
  w.regs.poison[in.dst] = w.regs.poison[in.a];
}
template <class T, class R, auto kOp>
void Map2(Warp& w, const Instr& in) {
  const T* a = w.regs.At<T>(in.a);
  const T* b = w.regs.At<T>(in.b);
  R* d = w.regs.At<R>(in.dst);
  for (int l = 0; l < kLanes; ++l) d[l] = kOp(a[l], b[l]);
  w.regs.poison[in.dst] = w.regs.poison[in.a] | w.regs.poison[in.b];
}

// Signed arithmetic wraps: it is done unsigned.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;
template <class T>
constexpr auto kAdd = [](T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
};
template <class T>
constexpr auto kSub = [](T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
};
template <class T>
constexpr auto kMul = [](T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
};
template <class T>
constexpr auto kShl = [](T a, T b) {
  const bool fits = b >= 0 && b < static_cast<T>(sizeof(T) * 8);
  return static_cast<T>(fits ? static_cast<Wrapping<T>>(a) << b : 0);
};
template <class T>
constexpr auto kShr = [](T a, T b) {
  const bool fits = b >= 0 && b < static_cast<T>(sizeof(T) * 8);
  return static_cast<T>(fits ? a >> b : (a < 0 ? -1 : 0));
};

enum class Division { Quotient, Remainder, Ceiling };
template <class T, Division kWhat>
void Divide(Warp& w, const Instr& in) {
  const T* a = w.regs.At<T>(in.a);
  const T* b = w.regs.At<T>(in.b);
  T* d = w.regs.At<T>(in.dst);
  uint32_t zero = 0;
  for (int l = 0; l < kLanes; ++l) {
    zero |= static_cast<uint32_t>(b[l] == 0) << l;
    const T divisor = b[l] == 0 ? T{1} : b[l];
    if (std::is_signed_v<T> && divisor == static_cast<T>(-1)) {  // the one quotient that overflows
      d[l] = kWhat == Division::Remainder ? T{0} : kSub<T>(T{0}, a[l]);
    } else if constexpr (kWhat == Division::Ceiling) {
      d[l] = CeilDiv(a[l], divisor);
    } else {
      d[l] = kWhat == Division::Quotient ? a[l] / divisor : a[l] % divisor;
    }
  }
  const uint32_t poison = w.regs.poison[in.a] | w.regs.poison[in.b];
  zero &= w.active & ~poison;
  if (zero != 0) ReportDivisionByZero(w, zero);
  w.regs.poison[in.dst] = poison | zero;
}

// A false left operand of `&&` (a true one of `||`) decides, whatever the right one is.
template <bool kAnd>
void Logic(Warp& w, const Instr& in) {
  const int32_t* a = w.regs.At<int32_t>(in.a);
  const int32_t* b = w.regs.At<int32_t>(in.b);
  int32_t* d = w.regs.At<int32_t>(in.dst);
  uint32_t decided = 0;
  for (int l = 0; l < kLanes; ++l) {
    decided |= static_cast<uint32_t>((a[l] != 0) != kAnd) << l;
    d[l] = kAnd ? (a[l] != 0) & (b[l] != 0) : (a[l] != 0) | (b[l] != 0);
  }
  const uint32_t left = w.regs.poison[in.a];
  w.regs.poison[in.dst] = left | (w.regs.poison[in.b] & ~decided);
}

template <class T>
InstrFn IntegerOnly(ir::BinaryOp op) {
  using ir::BinaryOp;
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case BinaryOp::Mod:
        return Divide<T, Division::Remainder>;
      case BinaryOp::Shl:
        return Map2<T, T, kShl<T>>;
      case BinaryOp::Shr:
        return Map2<T, T, kShr<T>>;
      case BinaryOp::BitAnd:
        return Map2<T, T, [](T a, T b) { return static_cast<T>(a & b); }>;
      case BinaryOp::BitOr:
        return Map2<T, T, [](T a, T b) { return static_cast<T>(a | b); }>;
      case BinaryOp::BitXor:
        return Map2<T, T, [](T a, T b) { return static_cast<T>(a ^ b); }>;
      default:
        break;
    }
  }
  CHOREO_UNREACHABLE("operator {} on floats", ir::Spelling(op));
}

template <class T>
InstrFn BinaryOf(ir::BinaryOp op) {
  using ir::BinaryOp;
  switch (op) {
    case BinaryOp::Add:
      return Map2<T, T, kAdd<T>>;
    case BinaryOp::Sub:
      return Map2<T, T, kSub<T>>;
    case BinaryOp::Mul:
      return Map2<T, T, kMul<T>>;
    case BinaryOp::Div:
      if constexpr (std::is_integral_v<T>) {
        return Divide<T, Division::Quotient>;
      } else {
        return Map2<T, T, [](T a, T b) { return a / b; }>;
      }
    case BinaryOp::Lt:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a < b); }>;
    case BinaryOp::Le:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a <= b); }>;
    case BinaryOp::Gt:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a > b); }>;
    case BinaryOp::Ge:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a >= b); }>;
    case BinaryOp::Eq:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a == b); }>;
    case BinaryOp::Ne:
      return Map2<T, int32_t, [](T a, T b) { return static_cast<int32_t>(a != b); }>;
    case BinaryOp::And:
      return Logic<true>;
    case BinaryOp::Or:
      return Logic<false>;
    default:
      return IntegerOnly<T>(op);
  }
}

template <class From, class To>
void Convert(Warp& w, const Instr& in) {
  const From* a = w.regs.At<From>(in.a);
  To* d = w.regs.At<To>(in.dst);
  for (int l = 0; l < kLanes; ++l) d[l] = ConvertValue<To>(a[l]);
  w.regs.poison[in.dst] = w.regs.poison[in.a];
}

template <class T>
void Select(Warp& w, const Instr& in) {
  const int32_t* c = w.regs.At<int32_t>(in.a);
  const T* x = w.regs.At<T>(in.b);
  const T* y = w.regs.At<T>(in.c);
  T* d = w.regs.At<T>(in.dst);
  uint32_t chosen = 0;
  for (int l = 0; l < kLanes; ++l) {
    chosen |= static_cast<uint32_t>(c[l] != 0) << l;
    d[l] = c[l] != 0 ? x[l] : y[l];
  }
  w.regs.poison[in.dst] =
      w.regs.poison[in.a] | (w.regs.poison[in.b] & chosen) | (w.regs.poison[in.c] & ~chosen);
}

template <Elem E>
void Round(Warp& w, const Instr& in) {
  using T = ElemTraits<E>;
  const auto* a = w.regs.At<typename T::Reg>(in.a);
  auto* d = w.regs.At<typename T::Reg>(in.dst);
  for (int l = 0; l < kLanes; ++l) {
    unsigned char bytes[8];
    T::Store(bytes, a[l]);
    d[l] = T::Load(bytes);
  }
  w.regs.poison[in.dst] = w.regs.poison[in.a];
}

template <class T>
void Fma(Warp& w, const Instr& in) {
  const T* a = w.regs.At<T>(in.a);
  const T* b = w.regs.At<T>(in.b);
  const T* c = w.regs.At<T>(in.c);
  T* d = w.regs.At<T>(in.dst);
  for (int l = 0; l < kLanes; ++l) {
    if constexpr (std::is_floating_point_v<T>) {
      d[l] = std::fma(a[l], b[l], c[l]);
    } else {
      d[l] = kAdd<T>(kMul<T>(a[l], b[l]), c[l]);
    }
  }
  w.regs.poison[in.dst] = w.regs.poison[in.a] | w.regs.poison[in.b] | w.regs.poison[in.c];
}

template <class T>
InstrFn FloatFunction(ir::Intrinsic callee) {
  using ir::Intrinsic;
  [[maybe_unused]] constexpr bool kSingle = std::is_same_v<T, float>;
  if constexpr (std::is_floating_point_v<T>) {
    switch (callee) {
      case Intrinsic::Exp2:
        return Map1<T, T, [](T x) { return kSingle ? T(Exp2Approx(float(x))) : std::exp2(x); }>;
      case Intrinsic::Exp:
        return Map1<T, T, [](T x) { return kSingle ? T(ExpApprox(float(x))) : std::exp(x); }>;
      case Intrinsic::Log2:
        return Map1<T, T, [](T x) { return kSingle ? T(Log2Approx(float(x))) : std::log2(x); }>;
      case Intrinsic::Log:
        return Map1<T, T, [](T x) { return kSingle ? T(LogApprox(float(x))) : std::log(x); }>;
      case Intrinsic::MaxBits:
        return Map2<T, T, [](T a, T b) { return T(MaxBits(float(a), float(b))); }>;
      case Intrinsic::Rsqrt:
        return Map1<T, T,
                    [](T x) { return kSingle ? T(RsqrtApprox(float(x))) : 1 / std::sqrt(x); }>;
      default:
        break;
    }
  }
  CHOREO_UNREACHABLE("`{}` in an expression", ir::Spelling(callee));
}

template <class T>
InstrFn CallOf(ir::Intrinsic callee) {
  using ir::Intrinsic;
  switch (callee) {
    case Intrinsic::Min:
      return Map2<T, T, [](T a, T b) { return MinValue(a, b); }>;
    case Intrinsic::Max:
      return Map2<T, T, [](T a, T b) { return MaxValue(a, b); }>;
    case Intrinsic::Pin:
      return Map1<T, T, [](T x) { return x; }>;
    case Intrinsic::Abs:
      return Map1<T, T, [](T a) {
        if constexpr (std::is_floating_point_v<T>) return std::fabs(a);
        return a < 0 ? kSub<T>(T{0}, a) : a;
      }>;
    case Intrinsic::Fma:
      return Fma<T>;
    case Intrinsic::CDiv:
      if constexpr (std::is_integral_v<T>) return Divide<T, Division::Ceiling>;
      [[fallthrough]];
    default:
      return FloatFunction<T>(callee);
  }
}

template <class T>
void Shuffle(Warp& w, const Instr& in) {
  RequireFullWarp(w, "shfl");
  const T* a = w.regs.At<T>(in.a);
  T* d = w.regs.At<T>(in.dst);
  const int mask = static_cast<int>(in.imm);
  uint32_t poison = 0;
  const uint32_t source_poison = w.regs.poison[in.a] | ~w.active;
  for (int l = 0; l < kLanes; ++l) {
    const int from = (l ^ mask) & 31;
    d[l] = a[from];
    poison |= ((source_poison >> from) & 1u) << l;
  }
  w.regs.poison[in.dst] = poison;
}

// The storage's first element is at slot c; `dst` gets the element named by index a (s32).
template <class T>
void IndexedElement(Warp& w, const Instr& in) {
  const int32_t* index = w.regs.At<int32_t>(in.a);
  const int32_t count = w.cta->program().elements[static_cast<size_t>(in.imm)];
  T* d = w.regs.At<T>(in.dst);
  constexpr uint32_t kWidth = sizeof(T) / 4;
  const uint32_t lanes = w.active & ~CheckPoison(w, in.a, w.active, "an index");
  uint32_t poison = ~lanes;
  for (int l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    if (index[l] < 0 || index[l] >= count) {
      w.cta->findings().Add(diag::kinds::SimOutOfBounds, w.cta->Loc(w), {}, index[l],
                            w.cta->launch->kernel->storages[ir::StorageId(in.imm)].name, 0,
                            count - 1);
      poison |= 1u << l;
      d[l] = T{};
      continue;
    }
    const Slot slot = in.c + static_cast<uint32_t>(index[l]) * kWidth;
    d[l] = w.regs.At<T>(slot)[l];
    poison |= w.regs.poison[slot] & (1u << l);
  }
  w.regs.poison[in.dst] = poison;
  if ((poison & lanes) != 0) {
    w.poison_op = w.pc + 1;
    w.poison_storage = static_cast<uint32_t>(in.imm);
  }
}

void Swizzle(Warp& w, const Instr& in) {
  const int32_t* a = w.regs.At<int32_t>(in.a);
  int32_t* d = w.regs.At<int32_t>(in.dst);
  const int32_t mask = static_cast<int32_t>(in.imm) - 16;
  for (int l = 0; l < kLanes; ++l) d[l] = a[l] ^ ((a[l] >> 3) & mask);
  w.regs.poison[in.dst] = w.regs.poison[in.a];
}

void Descriptor(Warp& w, const Instr& in) {
  const int32_t* offset = w.regs.At<int32_t>(in.a);
  uint64_t* d = w.regs.At<uint64_t>(in.dst);
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t address = kSharedBase + static_cast<uint32_t>(offset[l]);
    d[l] = static_cast<uint64_t>(in.imm) | ((address & 0x3ffffu) >> 4);
  }
  w.regs.poison[in.dst] = w.regs.poison[in.a];
}

void Touch(Warp& w, const Instr& in) { TouchFrag(w, ir::StorageId(in.imm), false); }

template <bool kInverse>
void PushMask(Warp& w, const Instr& in) {
  const int32_t* c = w.regs.At<int32_t>(in.a);
  uint32_t lanes = 0;
  for (int l = 0; l < kLanes; ++l) lanes |= static_cast<uint32_t>((c[l] != 0) != kInverse) << l;
  CHOREO_CHECK(w.eval_depth < w.eval_masks.size(), "nesting of conditional expressions");
  w.eval_masks[w.eval_depth++] = w.active;
  w.active &= lanes;
}
void PopMask(Warp& w, const Instr&) { w.active = w.eval_masks[--w.eval_depth]; }

}  // namespace

InstrFn BinaryFn(ir::BinaryOp op, Elem elem) {
  return DispatchMachine(elem, [op]<class T>(T) -> InstrFn { return BinaryOf<T>(op); });
}

InstrFn UnaryFn(ir::UnaryOp op, Elem elem) {
  return DispatchMachine(elem, [op]<class T>(T) -> InstrFn {
    if (op == ir::UnaryOp::Neg) {
      if constexpr (std::is_floating_point_v<T>) return Map1<T, T, [](T a) { return -a; }>;
      return Map1<T, T, [](T a) { return kSub<T>(T{0}, a); }>;
    }
    if (op == ir::UnaryOp::Not) {
      return Map1<T, int32_t, [](T a) { return static_cast<int32_t>(a == T{}); }>;
    }
    if constexpr (std::is_integral_v<T>) {
      return Map1<T, T, [](T a) { return static_cast<T>(~a); }>;
    }
    CHOREO_UNREACHABLE("~ on floats");
  });
}

InstrFn SelectFn(Elem elem) {
  return DispatchMachine(elem, []<class T>(T) -> InstrFn { return Select<T>; });
}
InstrFn MoveFn(Elem elem) {
  return DispatchMachine(elem,
                         []<class T>(T) -> InstrFn { return Map1<T, T, [](T a) { return a; }>; });
}

InstrFn CastFn(Elem from, Elem to) {
  return DispatchMachine(from, [to]<class From>(From) -> InstrFn {
    if (to == Elem::kBool) {
      return Map1<From, int32_t, [](From a) { return static_cast<int32_t>(a != From{}); }>;
    }
    return DispatchMachine(to, []<class To>(To) -> InstrFn { return Convert<From, To>; });
  });
}

InstrFn RoundFn(Elem elem) {
  switch (elem) {
    case Elem::kS32:
    case Elem::kU32:
    case Elem::kS64:
    case Elem::kU64:
    case Elem::kF32:
    case Elem::kF64:
    case Elem::kBool:
      return nullptr;
    default:
      return DispatchElem(elem, []<Elem E>() -> InstrFn { return Round<E>; });
  }
}

InstrFn CallFn(ir::Intrinsic callee, Elem elem) {
  return DispatchMachine(elem, [callee]<class T>(T) -> InstrFn { return CallOf<T>(callee); });
}
InstrFn ShuffleFn(Elem elem) {
  return DispatchMachine(elem, []<class T>(T) -> InstrFn { return Shuffle<T>; });
}
InstrFn SwizzleFn() { return Swizzle; }
InstrFn DescriptorFn() { return Descriptor; }
InstrFn IndexedElementFn(Elem elem) {
  return DispatchMachine(elem, []<class T>(T) -> InstrFn { return IndexedElement<T>; });
}
InstrFn TouchFn() { return Touch; }
InstrFn PushMaskFn() { return PushMask<false>; }
InstrFn PushInverseMaskFn() { return PushMask<true>; }
InstrFn PopMaskFn() { return PopMask; }

}  // namespace choreo::sim
