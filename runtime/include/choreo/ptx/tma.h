// Bulk tensor copies (the Tensor Memory Accelerator), their groups, and L2 cache policies.
// Coordinates are in elements, innermost axis first; tensor maps are generic addresses of 64-byte
// aligned `__grid_constant__` parameters; shared tiles are 128-byte aligned (or to their swizzle
// atom). One thread issues. Source: PTX ISA, "cp.async.bulk.tensor", "cp.async.bulk.commit_group",
// "cp.async.bulk.wait_group", "prefetch", "createpolicy".
#pragma once

#include <cuda.h>

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "cp.async.bulk.tensor.1d": global -> shared; completes transaction bytes on `mbar`.
__device__ __forceinline__ void cp_async_bulk_tensor_1d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, uint32_t mbar) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3}], [%2];"
      :
      : "r"(dst), "l"(map), "r"(mbar), "r"(c0)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_1d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, uint32_t mbar,
                                                                      uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "l"(policy), "r"(c0)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.1d": shared -> global, in the current bulk group.
__device__ __forceinline__ void cp_async_bulk_tensor_1d_global_shared(const CUtensorMap* map,
                                                                      int32_t c0, uint32_t src) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
               :
               : "l"(map), "r"(src), "r"(c0)
               : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.2d": global -> shared; completes transaction bytes on `mbar`.
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      uint32_t mbar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];"
      :
      : "r"(dst), "l"(map), "r"(mbar), "r"(c0), "r"(c1)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, uint32_t mbar, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "l"(policy), "r"(c0), "r"(c1)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.2d": shared -> global, in the current bulk group.
__device__ __forceinline__ void cp_async_bulk_tensor_2d_global_shared(const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      uint32_t src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
               :
               : "l"(map), "r"(src), "r"(c0), "r"(c1)
               : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.3d": global -> shared; completes transaction bytes on `mbar`.
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, uint32_t mbar) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];"
      :
      : "r"(dst), "l"(map), "r"(mbar), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, uint32_t mbar,
                                                                      uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "l"(policy), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.3d": shared -> global, in the current bulk group.
__device__ __forceinline__ void cp_async_bulk_tensor_3d_global_shared(const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, uint32_t src) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
      :
      : "l"(map), "r"(src), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.4d": global -> shared; completes transaction bytes on `mbar`.
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, int32_t c3,
                                                                      uint32_t mbar) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];"
      :
      : "r"(dst), "l"(map), "r"(mbar), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    uint32_t mbar, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.4d": shared -> global, in the current bulk group.
__device__ __forceinline__ void cp_async_bulk_tensor_4d_global_shared(const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, int32_t c3,
                                                                      uint32_t src) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];"
      :
      : "l"(map), "r"(src), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.5d": global -> shared; completes transaction bytes on `mbar`.
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_global(uint32_t dst,
                                                                      const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, int32_t c3,
                                                                      int32_t c4, uint32_t mbar) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
      :
      : "r"(dst), "l"(map), "r"(mbar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    int32_t c4, uint32_t mbar, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.5d": shared -> global, in the current bulk group.
__device__ __forceinline__ void cp_async_bulk_tensor_5d_global_shared(const CUtensorMap* map,
                                                                      int32_t c0, int32_t c1,
                                                                      int32_t c2, int32_t c3,
                                                                      int32_t c4, uint32_t src) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];"
      :
      : "l"(map), "r"(src), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// PTX ISA, "cp.async.bulk.commit_group".
__device__ __forceinline__ void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// PTX ISA, "cp.async.bulk.wait_group": at most N of the latest groups are incomplete.
template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group() {
  static_assert(N >= 0, "a count of groups");
  asm volatile("cp.async.bulk.wait_group %0;" : : "n"(N) : "memory");
}

// The same, but waits only until the sources have been read, so that shared memory may be reused.
template <int N>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
  static_assert(N >= 0, "a count of groups");
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(N) : "memory");
}

// PTX ISA, "prefetch.tensormap".
__device__ __forceinline__ void prefetch_tensormap(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(map) : "memory");
}

// PTX ISA, "createpolicy.fractional": all accesses evict first / evict last. Not volatile: the
// value depends on nothing, so that the compiler may make it where it is used, in the issuing role.
__device__ __forceinline__ uint64_t createpolicy_evict_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

__device__ __forceinline__ uint64_t createpolicy_evict_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

}  // namespace choreo::ptx
