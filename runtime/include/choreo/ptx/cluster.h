// Clusters of CTAs: ranks, the barrier of all threads, arrivals at mbarriers of other CTAs, and
// bulk tensor copies that arrive in every CTA. Addresses are those of the shared window of the
// executing CTA, which mapa moves to that of another one. Source: PTX ISA, "%cluster_ctarank",
// "mapa", "barrier.cluster", "mbarrier.arrive", "mbarrier.try_wait", "cp.async.bulk.tensor".
#pragma once

#include <cuda.h>

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "%cluster_ctarank": of this CTA in its cluster, from 0.
__device__ __forceinline__ uint32_t cluster_ctarank() {
  uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// PTX ISA, "barrier.cluster.arrive", "barrier.cluster.wait": all threads of the cluster that have
// not exited; lanes of a warp need not have met.
__device__ __forceinline__ void barrier_cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;"
      :
      :
      : "memory");
}

// PTX ISA, "mapa": the address of the same place in the CTA of that rank.
__device__ __forceinline__ uint32_t mapa_shared_cluster(uint32_t address, int rank) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

// PTX ISA, "mbarrier.arrive" at an address of the cluster. What it releases, it releases to its own
// CTA: enough where others wait to let an asynchronous copy follow asynchronous reads.
__device__ __forceinline__ void mbarrier_arrive_cluster(uint32_t mbar) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" : : "r"(mbar) : "memory");
}

// The same with release for the whole cluster, which costs a fence of the device.
__device__ __forceinline__ void mbarrier_arrive_cluster_release(uint32_t mbar) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
               :
               : "r"(mbar)
               : "memory");
}

// PTX ISA, "mbarrier.try_wait.parity" with acquire from the whole cluster, in a loop.
__device__ __forceinline__ void mbarrier_wait_parity_acquire_cluster(uint32_t mbar,
                                                                     uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "CHOREO_WAIT:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
      "@p bra CHOREO_DONE;\n"
      "bra CHOREO_WAIT;\n"
      "CHOREO_DONE:\n"
      "}"
      :
      : "r"(mbar), "r"(parity)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.1d" with ".multicast::cluster": global -> the same shared address
// in each CTA whose bit is set in `ctas`; completes transaction bytes on the mbarrier at the same
// address in each of them.
__device__ __forceinline__ void cp_async_bulk_tensor_1d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, uint32_t mbar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "r"(c0)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_1d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, uint32_t mbar, uint16_t ctas,
    uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5}], [%2], %3, %4;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "l"(policy), "r"(c0)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.2d" with ".multicast::cluster".
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, uint32_t mbar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "r"(c0), "r"(c1)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_2d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, uint32_t mbar, uint16_t ctas,
    uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6}], [%2], %3, %4;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "l"(policy), "r"(c0), "r"(c1)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.3d" with ".multicast::cluster".
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, uint32_t mbar,
    uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_3d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, uint32_t mbar,
    uint16_t ctas, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7}], [%2], %3, %4;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "l"(policy), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.4d" with ".multicast::cluster".
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    uint32_t mbar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_4d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    uint32_t mbar, uint16_t ctas, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7, %8}], [%2], %3, %4;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}

// PTX ISA, "cp.async.bulk.tensor.5d" with ".multicast::cluster".
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    int32_t c4, uint32_t mbar, uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// The same with an L2 cache policy from createpolicy.
__device__ __forceinline__ void cp_async_bulk_tensor_5d_shared_cluster_global(
    uint32_t dst, const CUtensorMap* map, int32_t c0, int32_t c1, int32_t c2, int32_t c3,
    int32_t c4, uint32_t mbar, uint16_t ctas, uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%5, %6, %7, %8, %9}], [%2], %3, %4;"
      :
      : "r"(dst), "l"(map), "r"(mbar), "h"(ctas), "l"(policy), "r"(c0), "r"(c1), "r"(c2), "r"(c3),
        "r"(c4)
      : "memory");
}

}  // namespace choreo::ptx
