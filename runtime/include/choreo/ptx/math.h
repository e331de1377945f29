// Approximate transcendental functions and packed conversions of the special function and ALU
// pipes. .ftz flushes subnormals to zero. Source: PTX ISA, "Floating Point Instructions" and "cvt".
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "ex2": 2^x; ex2(-inf) = +0.
__device__ __forceinline__ float ex2_approx_ftz_f32(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// PTX ISA, "lg2": log2(x); lg2(+0) = -inf.
__device__ __forceinline__ float lg2_approx_ftz_f32(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// PTX ISA, "rsqrt".
__device__ __forceinline__ float rsqrt_approx_ftz_f32(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// PTX ISA, "rcp": 1/x within one unit in the last place.
__device__ __forceinline__ float rcp_approx_ftz_f32(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// PTX ISA, "cvt.rn.bf16x2.f32 d, a, b": a goes to the upper half of d, b to the lower half.
__device__ __forceinline__ uint32_t cvt_rn_bf16x2_f32(float upper, float lower) {
  uint32_t d;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

// PTX ISA, "cvt.rn.f16x2.f32 d, a, b": the same for f16.
__device__ __forceinline__ uint32_t cvt_rn_f16x2_f32(float upper, float lower) {
  uint32_t d;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(upper), "f"(lower));
  return d;
}

}  // namespace choreo::ptx
