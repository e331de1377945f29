// What a generated CUDA host function does once its arguments are checked: find and select the
// device, require sm_90, prepare the kernel once a device, launch, and report what went wrong.
// In: described arguments and a stream. Thread-safe; the caller's current device is restored.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "choreo/host/checks.h"
#include "choreo/host/cuda.h"
#include "choreo/host/error_slot.h"

namespace choreo::host {

// Remembers on which devices a kernel's attributes are set: one static object a generated function.
class KernelCache {
 public:
  // Allows `shared_bytes` of dynamic shared memory. Two threads may both set it: it is idempotent.
  void prepare(const void* kernel, const char* function, int device, int shared_bytes) {
    const uint64_t bit = device < 64 ? uint64_t{1} << device : 0;
    if ((prepared_.load(std::memory_order_acquire) & bit) != 0) return;
    int limit = 0;
    check_cuda(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "cudaDeviceGetAttribute");
    if (shared_bytes > limit) {
      throw error(status::unsupported_device,
                  std::string(function) + ": the kernel needs " + std::to_string(shared_bytes) +
                      " bytes of shared memory, but device " + std::to_string(device) + " offers " +
                      std::to_string(limit));
    }
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "cudaFuncSetAttribute");
    prepared_.fetch_or(bit, std::memory_order_release);
  }

 private:
  std::atomic<uint64_t> prepared_{0};
};

// The grid and block of a launch; 64-bit, because the values come from the caller's extents.
struct Geometry {
  int64_t grid_x, grid_y, grid_z;
  int threads;
  int shared_bytes;
};

// One launch: selects the device for its lifetime.
class Launch {
 public:
  Launch(const char* function, Stream stream, std::initializer_list<Tensor> arguments)
      : function_(function), stream_(stream) {
    const cudaError_t result = cudaGetDevice(&previous_);
    if (result != cudaSuccess) {
      (void)cudaGetLastError();
      throw error(status_of(result) == status::internal ? status::no_device : status_of(result),
                  std::string(function) + ": no CUDA device: " + cudaGetErrorString(result));
    }
    device_ = device_of(arguments);
    require_sm90();
    if (device_ != previous_) check_cuda(cudaSetDevice(device_), "cudaSetDevice");
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    if (device_ != previous_) (void)cudaSetDevice(previous_);
  }

  int device() const { return device_; }
  Stream stream() const { return stream_; }

  // Launches; nothing happens for an empty grid.
  template <class... P, class... A>
  void run(KernelCache& cache, const Geometry& geometry, void (*kernel)(P...), A&&... arguments) {
    check_grid(function_, 'x', geometry.grid_x);
    check_grid(function_, 'y', geometry.grid_y);
    check_grid(function_, 'z', geometry.grid_z);
    if (geometry.grid_x == 0 || geometry.grid_y == 0 || geometry.grid_z == 0) return;
    cache.prepare(reinterpret_cast<const void*>(kernel), function_, device_, geometry.shared_bytes);
    cudaLaunchConfig_t config{};
    config.gridDim =
        dim3(static_cast<unsigned>(geometry.grid_x), static_cast<unsigned>(geometry.grid_y),
             static_cast<unsigned>(geometry.grid_z));
    config.blockDim = dim3(static_cast<unsigned>(geometry.threads));
    config.dynamicSmemBytes = static_cast<size_t>(geometry.shared_bytes);
    config.stream = stream_.native();
    fail_if(cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...), "launch");
  }

  // Waits for the kernel, as every function does whose `parallel` is not `.async`.
  void wait() { fail_if(cudaStreamSynchronize(stream_.native()), "kernel"); }
  // The same for a kernel with an error word: what the kernel says of itself comes first.
  void wait(const ErrorSlot& errors) {
    const cudaError_t result = cudaStreamSynchronize(stream_.native());
    errors.check();
    fail_if(result, "kernel");
  }

 private:
  void fail_if(cudaError_t result, const char* what) const {
    if (result == cudaSuccess) return;
    (void)cudaGetLastError();
    const status code = status_of(result);
    if (code == status::kernel_fault) DeferredErrors::instance().raise();
    throw error(code == status::internal ? status::launch_failed : code,
                std::string(function_) + ": " + what + " failed on device " +
                    std::to_string(device_) + ": " + cudaGetErrorString(result) + " (" +
                    cudaGetErrorName(result) + ")");
  }

  // The device that holds the arguments; all must be on one. Without any, the current one.
  int device_of(std::initializer_list<Tensor> arguments) const {
    const Tensor* first = nullptr;
    int device = previous_;
    for (const Tensor& t : arguments) {
      if (t.data == nullptr || is_empty(t)) continue;
      cudaPointerAttributes attributes{};
      check_cuda(cudaPointerGetAttributes(&attributes, t.data), "cudaPointerGetAttributes");
      if (attributes.type == cudaMemoryTypeUnregistered) {
        int pageable = 0;
        check_cuda(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device),
                   "cudaDeviceGetAttribute");
        if (pageable == 0)
          fail(t, "data is host memory, but a `global` parameter needs device memory");
      }
      if (attributes.type != cudaMemoryTypeDevice) continue;
      if (first != nullptr && attributes.device != device) {
        fail(t, "data is on device " + std::to_string(attributes.device) + ", but `" + first->name +
                    "` is on device " + std::to_string(device));
      }
      first = &t;
      device = attributes.device;
    }
    return device;
  }

  void require_sm90() const {
    int major = 0, minor = 0;
    check_cuda(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_),
               "cudaDeviceGetAttribute");
    check_cuda(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device_),
               "cudaDeviceGetAttribute");
    if (major == 9 && minor == 0) return;
    cudaDeviceProp properties;
    check_cuda(cudaGetDeviceProperties(&properties, device_), "cudaGetDeviceProperties");
    throw error(status::unsupported_device,
                std::string(function_) + ": needs compute capability 9.0 (sm_90a), but device " +
                    std::to_string(device_) + " (" + properties.name + ") has " +
                    std::to_string(major) + "." + std::to_string(minor));
  }

  const char* function_;
  Stream stream_;
  int previous_ = 0;
  int device_ = 0;
};

}  // namespace choreo::host
