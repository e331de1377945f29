// The synchronisation of asynchronous warpgroup MMAs; the MMAs themselves are in
// wgmma/m64n<N>k16.h. All warps of the warpgroup execute each of these. Source: PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate: wgmma.fence, wgmma.commit_group,
// wgmma.wait_group".
#pragma once

namespace choreo::ptx {

// PTX ISA, "wgmma.fence": earlier accesses of accumulator and operand registers happen before MMAs.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// PTX ISA, "wgmma.commit_group": the MMAs issued since the last commit become one group.
__device__ __forceinline__ void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// PTX ISA, "wgmma.wait_group": waits until at most N of the latest groups are pending.
template <int N>
__device__ __forceinline__ void wgmma_wait_group() {
  static_assert(N >= 0 && N <= 7, "wgmma.wait_group takes 0 to 7");
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(N) : "memory");
}

}  // namespace choreo::ptx
