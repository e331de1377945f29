// Votes: whether a condition holds for any thread of a warp, or of those that share a named
// barrier.
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "vote.sync": all 32 lanes take part.
__device__ __forceinline__ bool vote_any(bool holds) { return __any_sync(0xffffffffu, holds); }

// PTX ISA, "bar.red.or.pred": arrive, wait until `threads` threads have arrived, and learn whether
// the condition held for any of them. `id` is uniform over the warp.
template <int threads>
__device__ __forceinline__ bool bar_red_or(uint32_t id, bool holds) {
  static_assert(threads > 0 && threads <= 1024 && threads % 32 == 0, "a multiple of 32 up to 1024");
  uint32_t any;
  asm volatile(
      "{\n"
      ".reg .pred p, q;\n"
      "setp.ne.u32 p, %3, 0;\n"
      "bar.red.or.pred q, %1, %2, p;\n"
      "selp.u32 %0, 1, 0, q;\n"
      "}\n"
      : "=r"(any)
      : "r"(id), "n"(threads), "r"(static_cast<uint32_t>(holds))
      : "memory");
  return any != 0;
}

}  // namespace choreo::ptx
