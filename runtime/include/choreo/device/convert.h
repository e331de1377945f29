// Conversions between f32 and the 16-bit types, scalar and in packed pairs; round to nearest even.
// A pair is a uint32_t: element 0 in the low half, element 1 in the high half.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "choreo/ptx/math.h"

namespace choreo {

__device__ __forceinline__ float to_f32(float x) { return x; }
__device__ __forceinline__ float to_f32(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_f32(__half x) { return __half2float(x); }

// from_f32<T>(x): x as T.
template <class T>
__device__ __forceinline__ T from_f32(float x);
template <>
__device__ __forceinline__ float from_f32<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_f32<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ __forceinline__ __half from_f32<__half>(float x) {
  return __float2half_rn(x);
}

// pack<T>(first, second): two values as a pair of T.
template <class T>
__device__ __forceinline__ uint32_t pack(float first, float second);
template <>
__device__ __forceinline__ uint32_t pack<__nv_bfloat16>(float first, float second) {
  return ptx::cvt_rn_bf16x2_f32(second, first);
}
template <>
__device__ __forceinline__ uint32_t pack<__half>(float first, float second) {
  return ptx::cvt_rn_f16x2_f32(second, first);
}

// unpack<T>(pair, which): element 0 or 1 of a pair of T.
template <class T>
__device__ __forceinline__ float unpack(uint32_t pair, int which);
template <>
__device__ __forceinline__ float unpack<__nv_bfloat16>(uint32_t pair, int which) {
  return __uint_as_float(which == 0 ? pair << 16 : pair & 0xffff0000u);
}
template <>
__device__ __forceinline__ float unpack<__half>(uint32_t pair, int which) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(pair >> (16 * which))));
}

}  // namespace choreo
