// Staged<T, R>: device memory for one host-memory argument during a call.
// In: the caller's view, any strides. The data is packed row-major on the device when it is built;
// copy_back() returns it for a written argument, element by element into the caller's strides.
// Works on both targets over Buffer; frees its memory when it goes out of scope.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

namespace choreo::host {

template <class T, int R>
class Staged {
  using Element = std::remove_const_t<T>;

 public:
  // copy_in false: the kernel writes every element before any is read.
  explicit Staged(const view<T, R>& argument, Stream stream = {}, bool copy_in = true)
      : argument_(argument), stream_(stream), buffer_(count(argument)) {
    if (!copy_in || buffer_.size() == 0) return;
    if (is_packed()) {
      buffer_.upload(span<const Element>(argument_.data, size()), stream_);
      return;
    }
    std::vector<Element> packed(size());
    for_each([&](int64_t i, int64_t offset) {
      packed[static_cast<size_t>(i)] = argument_.data[offset];
    });
    buffer_.upload(packed, stream_);
  }

  view<T, R> device() {
    view<T, R> result{buffer_.data(), argument_.extent, {}};
    int64_t stride = 1;
    for (int axis = R - 1; axis >= 0; --axis) {
      result.stride[axis] = stride;
      stride *= argument_.extent[axis];
    }
    return result;
  }

  void copy_back() {
    static_assert(!std::is_const<T>::value, "a const argument is never written");
    if (buffer_.size() == 0) return;
    if (is_packed()) {
      buffer_.download(span<Element>(argument_.data, size()), stream_);
      return;
    }
    std::vector<Element> packed(size());
    buffer_.download(packed, stream_);
    for_each([&](int64_t i, int64_t offset) {
      argument_.data[offset] = packed[static_cast<size_t>(i)];
    });
  }

 private:
  static int64_t count(const view<T, R>& argument) {
    int64_t n = 1;
    for (int64_t extent : argument.extent) n *= extent;
    return n;
  }

  size_t size() const { return static_cast<size_t>(buffer_.size()); }

  bool is_packed() const {
    int64_t expected = 1;
    for (int axis = R - 1; axis >= 0; --axis) {
      if (argument_.extent[axis] > 1 && argument_.stride[axis] != expected) return false;
      expected *= argument_.extent[axis];
    }
    return true;
  }

  // f(row-major index, offset in the caller's strides) for every element.
  template <class F>
  void for_each(F f) const {
    std::array<int64_t, R> at{};
    int64_t offset = 0;
    for (int64_t i = 0; i < buffer_.size(); ++i) {
      f(i, offset);
      for (int axis = R - 1; axis >= 0; --axis) {
        offset += argument_.stride[axis];
        if (++at[axis] < argument_.extent[axis]) break;
        offset -= argument_.stride[axis] * argument_.extent[axis];
        at[axis] = 0;
      }
    }
  }

  view<T, R> argument_;
  Stream stream_;
  Buffer<Element> buffer_;
};

template <class T, int R>
Staged(const view<T, R>&, Stream, bool) -> Staged<T, R>;
template <class T, int R>
Staged(const view<T, R>&, Stream) -> Staged<T, R>;
template <class T, int R>
Staged(const view<T, R>&) -> Staged<T, R>;

}  // namespace choreo::host
