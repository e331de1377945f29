// The host API on the CUDA target: Stream, Event, Buffer, Device over the CUDA runtime.
// Every CUDA call is checked; an error names the call and carries CUDA's message. Can be included
// by plain C++ files too (it needs cuda_runtime_api.h and libcudart, not nvcc).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "choreo/host/buffer_checks.h"
#include "choreo/host/cuda_error.h"
#include "choreo/host/deferred.h"
#include "choreo/host/half.h"
#include "choreo/host/status.h"
#include "choreo/host/view.h"

namespace choreo {

// A CUDA stream: the legacy default one, a borrowed one, or an owned one shared by its copies.
class Stream {
 public:
  Stream() = default;
  Stream(cudaStream_t borrowed) : stream_(borrowed) {}

  // A new stream that does not synchronise with the legacy default stream.
  static Stream create() {
    cudaStream_t stream = nullptr;
    host::check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                     "cudaStreamCreateWithFlags");
    Stream result(stream);
    result.owner_.reset(stream, [](cudaStream_t s) { (void)cudaStreamDestroy(s); });
    return result;
  }

  void sync() const {
    host::check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    host::DeferredErrors::instance().raise();
  }

  cudaStream_t native() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  std::shared_ptr<std::remove_pointer_t<cudaStream_t>> owner_;
};

class Event {
 public:
  Event() {
    cudaEvent_t event = nullptr;
    host::check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    event_.reset(event);
  }

  void record(Stream stream = {}) {
    host::check_cuda(cudaEventRecord(event_.get(), stream.native()), "cudaEventRecord");
  }

  void sync() const {
    host::check_cuda(cudaEventSynchronize(event_.get()), "cudaEventSynchronize");
    host::DeferredErrors::instance().raise();
  }

  // Whether everything before the record has run; never waits.
  bool done() const {
    const cudaError_t result = cudaEventQuery(event_.get());
    if (result == cudaErrorNotReady) return false;
    host::check_cuda(result, "cudaEventQuery");
    return true;
  }

  cudaEvent_t native() const { return event_.get(); }

  // Milliseconds between two recorded events; waits for both.
  float ms_since(const Event& start) const {
    float ms = 0.0f;
    host::check_cuda(cudaEventSynchronize(start.event_.get()), "cudaEventSynchronize");
    sync();
    host::check_cuda(cudaEventElapsedTime(&ms, start.event_.get(), event_.get()),
                     "cudaEventElapsedTime");
    return ms;
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

// n elements of device memory on the device that was current when it was made.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable<T>::value && !std::is_const<T>::value,
                "device memory holds plain values");

 public:
  explicit Buffer(int64_t n) : size_(n) {
    const size_t bytes = host::buffer_bytes(n, sizeof(T));
    if (bytes == 0) return;
    void* memory = nullptr;
    host::check_cuda(cudaMalloc(&memory, bytes), "cudaMalloc", bytes);
    data_.reset(static_cast<T*>(memory));
  }
  Buffer(Buffer&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::move(other.data_)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    data_ = std::move(other.data_);
    return *this;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  int64_t size() const { return size_; }

  // Both copies return when the host memory is free (upload) or filled (download).
  void upload(span<const T> from, Stream stream = {}) {
    host::check_copy_size("upload", from.size(), size_);
    if (from.size() == 0) return;
    host::check_cuda(cudaMemcpyAsync(data_.get(), from.data(), from.size() * sizeof(T),
                                     cudaMemcpyHostToDevice, stream.native()),
                     "cudaMemcpyAsync (upload)");
    stream.sync();
  }

  void download(span<T> to, Stream stream = {}) const {
    host::check_copy_size("download", to.size(), size_);
    if (to.size() == 0) return;
    host::check_cuda(cudaMemcpyAsync(to.data(), data_.get(), to.size() * sizeof(T),
                                     cudaMemcpyDeviceToHost, stream.native()),
                     "cudaMemcpyAsync (download)");
    stream.sync();
  }

  void fill_byte(int value, Stream stream = {}) {
    if (size_ == 0) return;
    host::check_cuda(cudaMemsetAsync(data_.get(), value, static_cast<size_t>(size_) * sizeof(T),
                                     stream.native()),
                     "cudaMemsetAsync");
  }

  template <class... E>
  choreo::view<T, static_cast<int>(sizeof...(E))> view(E... extents) {
    host::check_view_extents(std::array<int64_t, sizeof...(E)>{static_cast<int64_t>(extents)...},
                             size_);
    return row_major(data(), extents...);
  }

  template <class... E>
  choreo::view<const T, static_cast<int>(sizeof...(E))> view(E... extents) const {
    host::check_view_extents(std::array<int64_t, sizeof...(E)>{static_cast<int64_t>(extents)...},
                             size_);
    return row_major(data(), extents...);
  }

 private:
  struct Free {
    void operator()(T* pointer) const { (void)cudaFree(pointer); }
  };

  int64_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

struct Device {
  std::string name;
  int sm_count, major, minor;
  bool simulated;
};

inline Device current_device() {
  int device = 0;
  host::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  cudaDeviceProp properties;
  host::check_cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  return Device{properties.name, properties.multiProcessorCount, properties.major, properties.minor,
                false};
}

}  // namespace choreo
