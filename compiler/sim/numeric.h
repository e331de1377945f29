// Element types as memory holds them, and as registers do (see regs.h): decoding, encoding,
// rounding. Narrow floats round to nearest even; 8-bit floats saturate, as the hardware's
// conversions do.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "choreo/host/half.h"
#include "support/elem_type.h"

namespace choreo::sim {

// 8-bit floats with `kMantissa` bits of mantissa. E4M3 has no infinity (S.1111.111 is NaN).
template <int kMantissa>
struct Float8 {
  static constexpr int kExponentBits = 7 - kMantissa;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr bool kHasInfinity = kMantissa == 2;

  static float Decode(uint8_t bits) {
    const int exponent = (bits >> kMantissa) & ((1 << kExponentBits) - 1);
    const int mantissa = bits & ((1 << kMantissa) - 1);
    const float sign = (bits & 0x80) ? -1.0f : 1.0f;
    if (exponent == (1 << kExponentBits) - 1) {
      if (kHasInfinity)
        return mantissa ? std::nanf("") : sign * std::numeric_limits<float>::infinity();
      if (mantissa == (1 << kMantissa) - 1) return std::nanf("");
    }
    if (exponent == 0)
      return sign * std::ldexp(static_cast<float>(mantissa), 1 - kBias - kMantissa);
    return sign *
           std::ldexp(1.0f + static_cast<float>(mantissa) / (1 << kMantissa), exponent - kBias);
  }
  static uint8_t Encode(float x) {
    const uint8_t sign = std::signbit(x) ? 0x80 : 0;
    if (std::isnan(x)) return 0x7f;
    const float magnitude = std::fabs(x);
    // The largest finite value: E5M2 has the all-ones exponent for infinity, E4M3 only one NaN.
    const uint8_t largest = kHasInfinity ? 0x7b : 0x7e;
    if (magnitude >= Decode(largest)) return sign | largest;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int lowest = 1 - kBias;
    const int place = std::max(exponent - 1, lowest) - kMantissa;  // weight of the last kept bit
    const float kept = std::nearbyint(std::ldexp(magnitude, -place));
    // The kept integer, with its implicit bit, added to the exponent field less that bit.
    const int field = place + kMantissa - lowest;
    return sign | static_cast<uint8_t>((field << kMantissa) + static_cast<int>(kept));
  }
};
using E4M3 = Float8<3>;
using E5M2 = Float8<2>;

// `Reg` is the register type; Load reads an element from memory, Store rounds and writes one.
template <Elem E>
struct ElemTraits;

template <class Memory, class Register>
struct PlainElem {
  using Reg = Register;
  static constexpr int kBytes = sizeof(Memory);
  static Reg Load(const void* p) {
    Memory m;
    std::memcpy(&m, p, sizeof m);
    return static_cast<Reg>(m);
  }
  static void Store(void* p, Reg value) {
    const Memory m = static_cast<Memory>(value);
    std::memcpy(p, &m, sizeof m);
  }
};
template <>
struct ElemTraits<Elem::kBool> : PlainElem<uint8_t, int32_t> {
  static int32_t Load(const void* p) { return *static_cast<const uint8_t*>(p) != 0; }
};
template <>
struct ElemTraits<Elem::kS8> : PlainElem<int8_t, int32_t> {};
template <>
struct ElemTraits<Elem::kU8> : PlainElem<uint8_t, int32_t> {};
template <>
struct ElemTraits<Elem::kS16> : PlainElem<int16_t, int32_t> {};
template <>
struct ElemTraits<Elem::kU16> : PlainElem<uint16_t, int32_t> {};
template <>
struct ElemTraits<Elem::kS32> : PlainElem<int32_t, int32_t> {};
template <>
struct ElemTraits<Elem::kU32> : PlainElem<uint32_t, uint32_t> {};
template <>
struct ElemTraits<Elem::kS64> : PlainElem<int64_t, int64_t> {};
template <>
struct ElemTraits<Elem::kU64> : PlainElem<uint64_t, uint64_t> {};
template <>
struct ElemTraits<Elem::kF32> : PlainElem<float, float> {};
template <>
struct ElemTraits<Elem::kF64> : PlainElem<double, double> {};

template <class Bits, Bits (*kEncode)(float), float (*kDecode)(Bits)>
struct NarrowFloat {
  using Reg = float;
  static constexpr int kBytes = sizeof(Bits);
  static float Load(const void* p) {
    Bits bits;
    std::memcpy(&bits, p, sizeof bits);
    return kDecode(bits);
  }
  static void Store(void* p, float value) {
    const Bits bits = kEncode(value);
    std::memcpy(p, &bits, sizeof bits);
  }
};
inline uint16_t EncodeBf16(float x) { return detail::bf16_bits(x); }
inline float DecodeBf16(uint16_t b) {
  return detail::float_from_bits(static_cast<uint32_t>(b) << 16);
}
inline uint16_t EncodeF16(float x) { return detail::f16_bits(x); }
inline float DecodeF16(uint16_t b) { return detail::f16_value(b); }
template <>
struct ElemTraits<Elem::kBf16> : NarrowFloat<uint16_t, EncodeBf16, DecodeBf16> {};
template <>
struct ElemTraits<Elem::kF16> : NarrowFloat<uint16_t, EncodeF16, DecodeF16> {};
template <>
struct ElemTraits<Elem::kF8E4M3> : NarrowFloat<uint8_t, E4M3::Encode, E4M3::Decode> {};
template <>
struct ElemTraits<Elem::kF8E5M2> : NarrowFloat<uint8_t, E5M2::Encode, E5M2::Decode> {};

// Calls f.template operator()<E>() for the element type `elem`.
template <class F>
auto DispatchElem(Elem elem, F&& f) {
  switch (elem) {
#define CHOREO_ELEM(id, spelling, bits, cls) \
  case Elem::id:                             \
    return f.template operator()<Elem::id>();
#include "support/elem_type.def"
  }
  return f.template operator()<Elem::kS32>();
}

// A 16-bit float element as its bits, and back.
inline uint16_t EncodeHalf(Elem elem, float x) {
  return elem == Elem::kBf16 ? EncodeBf16(x) : EncodeF16(x);
}
inline float DecodeHalf(Elem elem, uint16_t bits) {
  return elem == Elem::kBf16 ? DecodeBf16(bits) : DecodeF16(bits);
}

// ---- arithmetic with the meaning of generated code ----

// Flush to zero, as the hardware's approximations do with subnormals.
inline float Ftz(float x) {
  return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0f, x) : x;
}
inline float Exp2Approx(float x) { return Ftz(std::exp2(Ftz(x))); }
inline float ExpApprox(float x) { return Exp2Approx(x * 1.4426950408889634f); }
inline float Log2Approx(float x) { return std::log2(Ftz(x)); }
inline float LogApprox(float x) { return Log2Approx(x) * 0.6931471805599453f; }
inline float RsqrtApprox(float x) { return 1.0f / std::sqrt(Ftz(x)); }

// The operand that is a number wins over NaN.
template <class T>
T MaxValue(T a, T b) {
  return a > b || b != b ? a : b;
}
template <class T>
T MinValue(T a, T b) {
  return a < b || b != b ? a : b;
}

// The operand whose bits are the larger signed integer.
inline float MaxBits(float a, float b) {
  return std::bit_cast<int32_t>(a) > std::bit_cast<int32_t>(b) ? a : b;
}

// Float to integer truncates and saturates; NaN gives 0.
template <class To, class From>
To ConvertValue(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr double kHigh = static_cast<double>(std::numeric_limits<To>::max());
    if (static_cast<double>(x) <= kLow) return std::numeric_limits<To>::min();
    if (static_cast<double>(x) >= kHigh) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(x);
}

// Division rounded up; the divisor is not zero.
template <class T>
T CeilDiv(T a, T b) {
  const T q = a / b;
  return a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
}

}  // namespace choreo::sim
