// The host API on the simulator target: device memory is host memory, streams run in order at once.
// Same names and behaviour as host/cuda.h; no CUDA header.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "choreo/host/buffer_checks.h"
#include "choreo/host/half.h"
#include "choreo/host/status.h"
#include "choreo/host/view.h"

namespace choreo {

// Launches on the simulator return when they are done, so that a stream has no state.
struct Stream {
  Stream() = default;
  static Stream create() { return Stream(); }
  void sync() const {}
};

class Event {
 public:
  Event() = default;
  Event(Event&&) = default;
  Event& operator=(Event&&) = default;

  void record(Stream = {}) {
    time_ = std::chrono::steady_clock::now();
    recorded_ = true;
  }

  void sync() const {}

  float ms_since(const Event& start) const {
    if (!recorded_ || !start.recorded_) {
      throw error(status::invalid_argument, "Event::ms_since: an event was never recorded");
    }
    return std::chrono::duration<float, std::milli>(time_ - start.time_).count();
  }

 private:
  std::chrono::steady_clock::time_point time_{};
  bool recorded_ = false;
};

// Aligned as cudaMalloc aligns, so that alignment checks agree between targets.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable<T>::value && !std::is_const<T>::value,
                "device memory holds plain values");

 public:
  explicit Buffer(int64_t n) : size_(n) {
    const size_t bytes = host::buffer_bytes(n, sizeof(T));
    if (bytes == 0) return;
    data_.reset(static_cast<T*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256)));
    if (data_ == nullptr) {
      throw error(status::out_of_memory,
                  "Buffer: cannot allocate " + std::to_string(bytes) + " bytes");
    }
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

  void upload(span<const T> from, Stream = {}) {
    host::check_copy_size("upload", from.size(), size_);
    if (from.size() != 0) std::memcpy(data_.get(), from.data(), from.size() * sizeof(T));
  }

  void download(span<T> to, Stream = {}) const {
    host::check_copy_size("download", to.size(), size_);
    if (to.size() != 0) std::memcpy(to.data(), data_.get(), to.size() * sizeof(T));
  }

  void fill_byte(int value, Stream = {}) {
    if (size_ != 0) {
      std::memset(static_cast<void*>(data_.get()), value, static_cast<size_t>(size_) * sizeof(T));
    }
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
    void operator()(T* pointer) const { std::free(pointer); }
  };

  int64_t size_ = 0;
  std::unique_ptr<T, Free> data_;
};

struct Device {
  std::string name;
  int sm_count, major, minor;
  bool simulated;
};

inline Device current_device() { return Device{"choreo simulator (sm_90a)", 132, 9, 0, true}; }

}  // namespace choreo
