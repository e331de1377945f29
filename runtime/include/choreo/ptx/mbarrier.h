// mbarrier objects: 8 bytes of shared memory, 8-byte aligned, given by shared-window address.
// A phase completes when pending arrivals and pending transaction bytes are both zero.
// Source: PTX ISA, "Parallel Synchronization and Communication: mbarrier".
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "mbarrier.init": 1 <= count < 2^20.
__device__ __forceinline__ void mbarrier_init(uint32_t mbar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(mbar), "r"(count) : "memory");
}

// PTX ISA, "mbarrier.inval".
__device__ __forceinline__ void mbarrier_inval(uint32_t mbar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(mbar) : "memory");
}

// PTX ISA, "mbarrier.arrive" (release, one arrival).
__device__ __forceinline__ void mbarrier_arrive(uint32_t mbar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(mbar) : "memory");
}

// PTX ISA, "mbarrier.arrive.expect_tx": adds tx_bytes (< 2^20) to the phase, then arrives once.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(uint32_t mbar, uint32_t tx_bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(mbar), "r"(tx_bytes)
               : "memory");
}

// PTX ISA, "mbarrier.try_wait.parity": one attempt, which may suspend the thread for a while.
__device__ __forceinline__ bool mbarrier_try_wait_parity(uint32_t mbar, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(done)
      : "r"(mbar), "r"(parity)
      : "memory");
  return done != 0;
}

// The same until the phase of that parity is complete. The loop is inside the asm so that the
// compiler cannot unroll or duplicate it (a WGMMA in flight across a C++ loop gets serialised).
__device__ __forceinline__ void mbarrier_wait_parity(uint32_t mbar, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "CHOREO_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra CHOREO_DONE;\n"
      "bra CHOREO_WAIT;\n"
      "CHOREO_DONE:\n"
      "}"
      :
      : "r"(mbar), "r"(parity)
      : "memory");
}

// The same for `nanoseconds` of %globaltimer; then stores `failure` to host-visible memory and
// traps. Everything is in the asm for the same reason.
__device__ __forceinline__ void mbarrier_wait_parity_or_trap(uint32_t mbar, uint32_t parity,
                                                             uint64_t nanoseconds, void* word,
                                                             uint64_t failure) {
  asm volatile(
      "{\n"
      ".reg .pred p, q;\n"
      ".reg .u64 start, now;\n"
      "mov.u64 start, %%globaltimer;\n"
      "CHOREO_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra CHOREO_DONE;\n"
      "mov.u64 now, %%globaltimer;\n"
      "sub.u64 now, now, start;\n"
      "setp.lt.u64 q, now, %2;\n"
      "@q bra CHOREO_WAIT;\n"
      "st.volatile.u64 [%3], %4;\n"
      "fence.acq_rel.sys;\n"
      "trap;\n"
      "CHOREO_DONE:\n"
      "}"
      :
      : "r"(mbar), "r"(parity), "l"(nanoseconds), "l"(word), "l"(failure)
      : "memory");
}

}  // namespace choreo::ptx
