// Proxy fences and the fence that publishes initialised mbarriers.
// A proxy fence orders the executing thread's own generic accesses before later async-proxy
// accesses of the same bytes; it is no barrier: the issuer still has to be told. Source: PTX ISA,
// "membar / fence".
#pragma once

#include <cstdint>

namespace choreo::ptx {

// PTX ISA, "fence.proxy.async": generic and async proxy, all state spaces.
__device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

// PTX ISA, "fence.proxy.async.shared::cta": the same, for the shared memory of this CTA.
__device__ __forceinline__ void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// PTX ISA, "fence.acq_rel.cluster": among the threads of the cluster.
__device__ __forceinline__ void fence_acq_rel_cluster() {
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

// PTX ISA, "fence.mbarrier_init": earlier mbarrier.init are seen by the async proxy and the
// cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

}  // namespace choreo::ptx
