// bf16 and f16 for host programs: plain 16-bit structs, bit-compatible with __nv_bfloat16 and
// __half. Conversions are explicit; to 16 bits they round to nearest even, NaN becomes 0x7fff as on
// the GPU. Identical on both targets; no CUDA header is needed.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define CHOREO_HOST_DEVICE __host__ __device__
#else
#define CHOREO_HOST_DEVICE
#endif

namespace choreo {

namespace detail {

CHOREO_HOST_DEVICE inline uint32_t float_bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

CHOREO_HOST_DEVICE inline float float_from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

CHOREO_HOST_DEVICE inline uint16_t bf16_bits(float x) {
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  // Adding half of the last kept place, less one if that place is even, carries exactly when
  // needed.
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

CHOREO_HOST_DEVICE inline uint16_t f16_bits(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more
  if (magnitude < 0x38800000u) {                                               // below 2^-14
    if (magnitude < 0x33000000u) return static_cast<uint16_t>(sign);           // below 2^-25
    const uint32_t exponent = magnitude >> 23;                                 // 102 to 112
    const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    const uint32_t shift = 126u - exponent;  // places of the mantissa below 2^-24
    const uint32_t kept = mantissa >> shift;
    const uint32_t rest = mantissa & ((1u << shift) - 1u);
    const uint32_t half = 1u << (shift - 1u);
    const uint32_t up = rest > half || (rest == half && (kept & 1u) != 0) ? 1u : 0u;
    return static_cast<uint16_t>(sign | (kept + up));
  }
  const uint32_t rebased = magnitude - 0x38000000u;  // exponent bias 127 to 15
  return static_cast<uint16_t>(sign | ((rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13));
}

CHOREO_HOST_DEVICE inline float f16_value(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1fu) return float_from_bits(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return float_from_bits(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 5.9604644775390625e-8f;  // 2^-24, exact
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace detail

struct bf16 {
  uint16_t bits;

  bf16() = default;
  CHOREO_HOST_DEVICE explicit bf16(float x) : bits(detail::bf16_bits(x)) {}
  CHOREO_HOST_DEVICE explicit operator float() const {
    return detail::float_from_bits(static_cast<uint32_t>(bits) << 16);
  }
  CHOREO_HOST_DEVICE static bf16 from_bits(uint16_t bits) {
    bf16 x;
    x.bits = bits;
    return x;
  }
};

struct f16 {
  uint16_t bits;

  f16() = default;
  CHOREO_HOST_DEVICE explicit f16(float x) : bits(detail::f16_bits(x)) {}
  CHOREO_HOST_DEVICE explicit operator float() const { return detail::f16_value(bits); }
  CHOREO_HOST_DEVICE static f16 from_bits(uint16_t bits) {
    f16 x;
    x.bits = bits;
    return x;
  }
};

static_assert(sizeof(bf16) == 2 && sizeof(f16) == 2, "device memory holds 16 bits an element");

}  // namespace choreo
