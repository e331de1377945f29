// Non-bulk asynchronous copies, global -> shared (Ampere style), and their groups.
// Addresses in shared memory are 32-bit shared-window addresses; sources are generic global
// pointers. A copy reads `src_size` bytes and fills the rest of its `cp_size` bytes with zeros;
// both addresses must be aligned to cp_size. Source: PTX ISA, "Data Movement: Asynchronous copy
// (non-bulk)".
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "cp.async" (.ca caches at all levels; 4, 8 or 16 bytes).
template <int cp_size>
__device__ __forceinline__ void cp_async_ca(uint32_t dst, const void* src, uint32_t src_size) {
  static_assert(cp_size == 4 || cp_size == 8 || cp_size == 16,
                "cp.async.ca copies 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(dst), "l"(src), "n"(cp_size), "r"(src_size)
               : "memory");
}

template <int cp_size>
__device__ __forceinline__ void cp_async_ca(uint32_t dst, const void* src) {
  static_assert(cp_size == 4 || cp_size == 8 || cp_size == 16,
                "cp.async.ca copies 4, 8 or 16 bytes");
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(dst), "l"(src), "n"(cp_size)
               : "memory");
}

// PTX ISA, "cp.async" (.cg caches in L2 only; 16 bytes only).
template <int cp_size>
__device__ __forceinline__ void cp_async_cg(uint32_t dst, const void* src, uint32_t src_size) {
  static_assert(cp_size == 16, "cp.async.cg copies 16 bytes");
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(dst), "l"(src), "n"(cp_size), "r"(src_size)
               : "memory");
}

template <int cp_size>
__device__ __forceinline__ void cp_async_cg(uint32_t dst, const void* src) {
  static_assert(cp_size == 16, "cp.async.cg copies 16 bytes");
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;"
               :
               : "r"(dst), "l"(src), "n"(cp_size)
               : "memory");
}

// PTX ISA, "cp.async.commit_group".
__device__ __forceinline__ void cp_async_commit_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// PTX ISA, "cp.async.wait_group / cp.async.wait_all": at most N of the latest groups stay pending.
template <int N>
__device__ __forceinline__ void cp_async_wait_group() {
  static_assert(N >= 0, "cp.async.wait_group takes a count of groups");
  asm volatile("cp.async.wait_group %0;" : : "n"(N) : "memory");
}

__device__ __forceinline__ void cp_async_wait_all() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace choreo::ptx
