// Warp and register control: elect.sync, setmaxnreg, shuffles, a tie of registers to a program
// point. Source: PTX ISA, "elect.sync", "setmaxnreg", "shfl.sync".
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "elect.sync": true in exactly one lane of the member mask; all its lanes execute it.
__device__ __forceinline__ bool elect_sync(uint32_t member_mask = 0xffffffffu) {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "elect.sync _|p, %1;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(elected)
      : "r"(member_mask));
  return elected != 0;
}

// PTX ISA, "setmaxnreg": executed by all warps of a warpgroup; inc blocks until registers are free.
template <int registers>
__device__ __forceinline__ void setmaxnreg_inc() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes a multiple of 8 in 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(registers));
}

template <int registers>
__device__ __forceinline__ void setmaxnreg_dec() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes a multiple of 8 in 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(registers));
}

// PTX ISA, "nanosleep": suspends the thread for up to twice the time.
__device__ __forceinline__ void nanosleep(uint32_t nanoseconds) {
  asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds));
}

// PTX ISA, "shfl.sync.bfly": the value of lane (own ^ lane_mask), whole warp.
template <int lane_mask>
__device__ __forceinline__ float shfl_sync_bfly(float value) {
  static_assert(lane_mask >= 1 && lane_mask < 32, "a butterfly within a warp");
  float result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=f"(result)
               : "f"(value), "n"(lane_mask));
  return result;
}

template <int lane_mask>
__device__ __forceinline__ uint32_t shfl_sync_bfly(uint32_t value) {
  static_assert(lane_mask >= 1 && lane_mask < 32, "a butterfly within a warp");
  uint32_t result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(result)
               : "r"(value), "n"(lane_mask));
  return result;
}

// PTX ISA, "shfl.sync.idx": lane 0's value, which makes a warp-constant value provably uniform.
__device__ __forceinline__ uint32_t shfl_sync_idx_lane0(uint32_t value) {
  uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, 0, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
}

// No instruction: the same value, but nothing that follows from it is computed outside of a loop
// that this stands in.
__device__ __forceinline__ uint64_t pin(uint64_t value) {
  asm volatile("" : "+l"(value));
  return value;
}

// No instruction: pins registers that a WGMMA reads or writes asynchronously to this program point,
// so that the compiler neither moves accesses across it nor gives the registers to something else.
template <int N>
__device__ __forceinline__ void tie(float (&registers)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

template <int N>
__device__ __forceinline__ void tie(uint32_t (&registers)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

}  // namespace choreo::ptx
