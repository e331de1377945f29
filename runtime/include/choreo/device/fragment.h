// Fragments: tiles spread over the registers of a warpgroup (128 threads), one C array a lane.
// A 2-D fragment [64, N] holds N/2 elements a lane in the accumulator's order; 16-bit fragments
// hold the same elements as N/4 pairs, which is also the order of WGMMA's register operand A: slice
// k (16 columns) is pairs 4k to 4k+3. A row fragment [64] holds two values a lane (rows r and r+8),
// replicated over the four lanes of a quad. Indices must be constant after unrolling.
// Source: PTX ISA, "wgmma.mma_async: Register Fragments".
#pragma once

#include <cstdint>

#include "choreo/device/convert.h"
#include "choreo/ptx/misc.h"

namespace choreo {

// Row of element 0 of a lane (0 to 55) for the thread's index in its warpgroup.
__device__ __forceinline__ int frag_row(int thread) {
  return (thread / 32) * 16 + (thread % 32) / 4;
}

// Column of element 0 of a lane (0, 2, 4, 6).
__device__ __forceinline__ int frag_column(int thread) { return (thread % 4) * 2; }

// What element i adds to the lane's first row and column; its index in a row fragment.
__host__ __device__ __forceinline__ constexpr int frag_row_step(int i) {
  return ((i >> 1) & 1) * 8;
}
__host__ __device__ __forceinline__ constexpr int frag_column_step(int i) {
  return (i >> 2) * 8 + (i & 1);
}
__host__ __device__ __forceinline__ constexpr int frag_row_slot(int i) { return (i >> 1) & 1; }

// The larger of two floats of which one at least is not negative, by their bits as integers: there
// is an instruction for the maximum of three integers, and none for three floats. NaN without a
// sign wins.
__device__ __forceinline__ float max_bits(float a, float b) {
  return __int_as_float(max(__float_as_int(a), __float_as_int(b)));
}

template <class T, int N>
__device__ __forceinline__ void fill(T (&fragment)[N], T value) {
#pragma unroll
  for (int i = 0; i < N; ++i) fragment[i] = value;
}

template <class T, int N>
__device__ __forceinline__ void copy(T (&to)[N], const T (&from)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = from[i];
}

// Element i of a 16-bit fragment of T as f32, and its assignment.
template <class T, int N>
__device__ __forceinline__ float get(const uint32_t (&fragment)[N], int i) {
  return unpack<T>(fragment[i >> 1], i & 1);
}

template <class T, int N>
__device__ __forceinline__ void set(uint32_t (&fragment)[N], int i, float value) {
  const uint32_t bits = pack<T>(value, 0.0f) & 0xffffu;
  fragment[i >> 1] = (i & 1) == 0 ? (fragment[i >> 1] & 0xffff0000u) | bits
                                  : (fragment[i >> 1] & 0x0000ffffu) | (bits << 16);
}

// A whole f32 fragment as pairs of T, and back.
template <class T, int N>
__device__ __forceinline__ void pack(uint32_t (&to)[N], const float (&from)[2 * N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = pack<T>(from[2 * i], from[2 * i + 1]);
}

template <class T, int N>
__device__ __forceinline__ void unpack(float (&to)[2 * N], const uint32_t (&from)[N]) {
#pragma unroll
  for (int i = 0; i < 2 * N; ++i) to[i] = unpack<T>(from[i >> 1], i & 1);
}

// A 16-bit fragment as an array of its elements, for functions that take one, and back.
template <class T, int N>
__device__ __forceinline__ void to_elements(T (&to)[2 * N], const uint32_t (&from)[N]) {
  static_assert(sizeof(T) == 2);
#pragma unroll
  for (int i = 0; i < 2 * N; ++i) {
    const auto bits = static_cast<uint16_t>(from[i >> 1] >> (16 * (i & 1)));
    __builtin_memcpy(&to[i], &bits, 2);
  }
}

template <class T, int N>
__device__ __forceinline__ void from_elements(uint32_t (&to)[N], const T (&from)[2 * N]) {
  static_assert(sizeof(T) == 2);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    uint16_t low, high;
    __builtin_memcpy(&low, &from[2 * i], 2);
    __builtin_memcpy(&high, &from[2 * i + 1], 2);
    to[i] = low | static_cast<uint32_t>(high) << 16;
  }
}

// Combines the values of the four lanes that own a row; all four get the result.
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, ptx::shfl_sync_bfly<1>(x));
  return fmaxf(x, ptx::shfl_sync_bfly<2>(x));
}

__device__ __forceinline__ float quad_sum(float x) {
  x = x + ptx::shfl_sync_bfly<1>(x);
  return x + ptx::shfl_sync_bfly<2>(x);
}

template <int N>
__device__ __forceinline__ void all_reduce_max(float (&row)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) row[i] = quad_max(row[i]);
}

template <int N>
__device__ __forceinline__ void all_reduce_sum(float (&row)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) row[i] = quad_sum(row[i]);
}

// reduce_max: the running maximum in `row` with every element of its row; reduce_sum replaces it.
template <int N>
__device__ __forceinline__ void reduce_max(float (&row)[2], const float (&fragment)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) row[frag_row_slot(i)] = fmaxf(row[frag_row_slot(i)], fragment[i]);
  all_reduce_max(row);
}

template <int N>
__device__ __forceinline__ void reduce_sum(float (&row)[2], const float (&fragment)[N]) {
  fill(row, 0.0f);
#pragma unroll
  for (int i = 0; i < N; ++i) row[frag_row_slot(i)] = row[frag_row_slot(i)] + fragment[i];
  all_reduce_sum(row);
}

}  // namespace choreo
