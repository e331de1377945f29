// view<T, R>: a typed pointer with R extents and R strides, counted in elements; owns nothing.
// It converts to view<const T, R>. `span` is std::span, or a small stand-in before C++20.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if __cplusplus >= 202002L
#include <span>
#endif

namespace choreo {

#if __cplusplus >= 202002L
template <class T>
using span = std::span<T>;
#else
// The part of std::span that Buffer needs: built from a pointer and a size or from a container.
template <class T>
class span {
 public:
  span() = default;
  span(T* data, size_t size) : data_(data), size_(size) {}
  template <class C, class = std::enable_if_t<
                         !std::is_same<std::decay_t<C>, span>::value &&
                         std::is_convertible<decltype(std::declval<C&>().data()), T*>::value>>
  span(C&& container) : data_(container.data()), size_(container.size()) {}

  T* data() const { return data_; }
  size_t size() const { return size_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};
#endif

template <class T, int R>
struct view {
  T* data;
  std::array<int64_t, R> extent, stride;

  template <class U,
            class = std::enable_if_t<std::is_same<U, const T>::value && !std::is_const<T>::value>>
  operator view<U, R>() const {
    return view<U, R>{data, extent, stride};
  }
};

// A row-major view of contiguous data.
template <class T, class... E>
view<T, static_cast<int>(sizeof...(E))> row_major(T* data, E... extents) {
  constexpr int kRank = static_cast<int>(sizeof...(E));
  view<T, kRank> result{data, {static_cast<int64_t>(extents)...}, {}};
  int64_t stride = 1;
  for (int axis = kRank - 1; axis >= 0; --axis) {
    result.stride[axis] = stride;
    stride *= result.extent[axis];
  }
  return result;
}

}  // namespace choreo
