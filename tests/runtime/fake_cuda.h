// A stand-in for the CUDA runtime library, so that the host part of the runtime is tested without a
// device: memory is host memory, work is done at once, kernels are whatever `kernel` does, and
// errors come when a test asks for them. Needs CUDA's headers and no library.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace choreo::host {

struct FakeCuda {
  // What cuTensorMapEncodeTiled was given.
  struct Encoded {
    CUtensorMapDataType type;
    void* data;
    std::vector<uint64_t> extent, stride;
    std::vector<uint32_t> box;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
  };
  std::vector<Encoded> encoded;
  CUresult encode_result = CUDA_SUCCESS;
  int capability_major = 9, capability_minor = 0;
  int device = 0;  // the current one
  int allocations = 0;
  // Streams in the order of copies and of synchronisations, the latter negated.
  std::vector<int64_t> stream_calls;
  // Called with the arguments of a launch.
  std::function<void(void** arguments)> kernel = [](void**) {};
  // Sticky, like that of a context whose kernel faulted: everything that waits returns it.
  cudaError_t fault = cudaSuccess;
  bool busy = false;  // events are not done
};
inline FakeCuda fake;

}  // namespace choreo::host
