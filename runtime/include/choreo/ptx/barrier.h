// Named CTA barriers: 16 a CTA, id 0 is the one of __syncthreads().
// Source: PTX ISA, "bar, barrier": thread counts are multiples of the warp size.
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "bar.sync a, b": arrive and wait until `threads` threads have arrived.
template <int id, int threads>
__device__ __forceinline__ void bar_sync() {
  static_assert(id >= 0 && id < 16, "barrier ids are 0 to 15");
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0, "a multiple of 32 up to 1024");
  asm volatile("bar.sync %0, %1;" : : "n"(id), "n"(threads) : "memory");
}

// PTX ISA, "bar.arrive a, b": arrive without waiting.
template <int id, int threads>
__device__ __forceinline__ void bar_arrive() {
  static_assert(id >= 0 && id < 16, "barrier ids are 0 to 15");
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0, "a multiple of 32 up to 1024");
  asm volatile("bar.arrive %0, %1;" : : "n"(id), "n"(threads) : "memory");
}

// The same with an id that is uniform over the warp but known only at run time (one a warpgroup).
template <int threads>
__device__ __forceinline__ void bar_sync(uint32_t id) {
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0, "a multiple of 32 up to 1024");
  asm volatile("bar.sync %0, %1;" : : "r"(id), "n"(threads) : "memory");
}

template <int threads>
__device__ __forceinline__ void bar_arrive(uint32_t id) {
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0, "a multiple of 32 up to 1024");
  asm volatile("bar.arrive %0, %1;" : : "r"(id), "n"(threads) : "memory");
}

}  // namespace choreo::ptx
