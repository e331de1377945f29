// The checks a generated host function makes before it launches, shared by both targets.
// In: a Tensor made by describe() for each shaped argument. Out: nothing, or choreo::error whose
// message names function, argument, field, value and rule. Nothing here needs CUDA.
// Axes of extent 1 never constrain their stride, and an empty tensor never constrains its pointer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "choreo/host/status.h"
#include "choreo/host/view.h"

namespace choreo::host {

// One shaped argument without its types.
struct Tensor {
  const char* function;
  const char* name;
  const void* data;
  int rank;
  int element_bytes;
  bool written;
  const int64_t* extent;  // of the described view, which must outlive this
  const int64_t* stride;
};

template <class T, int R>
Tensor describe(const char* function, const char* name, const view<T, R>& argument,
                bool written = !std::is_const<T>::value) {
  return Tensor{function,  name,    argument.data,          R,
                sizeof(T), written, argument.extent.data(), argument.stride.data()};
}

[[noreturn]] inline void fail(const Tensor& t, const std::string& what) {
  throw error(status::invalid_argument,
              std::string(t.function) + ": argument `" + t.name + "`: " + what);
}

inline std::string extent_name(int axis) { return "extent " + std::to_string(axis); }
inline std::string stride_name(int axis) { return "stride " + std::to_string(axis); }

inline bool is_empty(const Tensor& t) {
  return std::any_of(t.extent, t.extent + t.rank, [](int64_t e) { return e == 0; });
}

// Extents are 0 to 2^31 - 1.
inline void check_extent_range(const Tensor& t) {
  for (int axis = 0; axis < t.rank; ++axis) {
    const int64_t value = t.extent[axis];
    if (value < 0)
      fail(t, extent_name(axis) + " is " + std::to_string(value) + ", but is negative");
    if (value >= (int64_t{1} << 31)) {
      fail(t,
           extent_name(axis) + " is " + std::to_string(value) + ", but must be below 2147483648");
    }
  }
}

// The extent of an axis that the declaration gives as a number.
inline void check_extent_constant(const Tensor& t, int axis, int64_t declared) {
  if (t.extent[axis] == declared) return;
  fail(t, extent_name(axis) + " is " + std::to_string(t.extent[axis]) + ", but is declared as " +
              std::to_string(declared));
}

// The extent of an axis whose dimension was bound before, by `by` extent `by_axis`.
inline void check_extent_bound(const Tensor& t, int axis, const char* dimension, const Tensor& by,
                               int by_axis) {
  if (t.extent[axis] == by.extent[by_axis]) return;
  fail(t, extent_name(axis) + " is " + std::to_string(t.extent[axis]) + ", but dimension `" +
              dimension + "` was bound to " + std::to_string(by.extent[by_axis]) + " by `" +
              by.name + "` extent " + std::to_string(by_axis));
}

// The extent of an axis that is declared as the value of a scalar parameter.
inline void check_extent_value(const Tensor& t, int axis, const char* parameter, int64_t value) {
  if (t.extent[axis] == value) return;
  fail(t, extent_name(axis) + " is " + std::to_string(t.extent[axis]) + ", but `" + parameter +
              "` is " + std::to_string(value));
}

// Elements of a row lie next to each other.
inline void check_innermost_stride(const Tensor& t) {
  const int axis = t.rank - 1;
  if (axis < 0 || t.extent[axis] <= 1 || t.stride[axis] == 1) return;
  fail(t,
       stride_name(axis) + " (innermost) is " + std::to_string(t.stride[axis]) + ", but must be 1");
}

// A null pointer is fine only where there is nothing to point at.
inline void check_data(const Tensor& t) {
  if (t.data == nullptr && !is_empty(t)) fail(t, "data is null, but the tensor is not empty");
}

// Vector accesses need an aligned base …
inline void check_base_alignment(const Tensor& t, int bytes) {
  const auto address = reinterpret_cast<uintptr_t>(t.data);
  if (is_empty(t) || address % static_cast<uintptr_t>(bytes) == 0) return;
  fail(t, "data is at an address " + std::to_string(address % static_cast<uintptr_t>(bytes)) +
              " bytes past a multiple of " + std::to_string(bytes) + ", but must be aligned to " +
              std::to_string(bytes) + " bytes");
}

// … and rows that start at a multiple of the vector's elements.
inline void check_stride_alignment(const Tensor& t, int elements) {
  if (is_empty(t)) return;
  for (int axis = 0; axis + 1 < t.rank; ++axis) {
    if (t.extent[axis] <= 1 || t.stride[axis] % elements == 0) continue;
    fail(t, stride_name(axis) + " is " + std::to_string(t.stride[axis]) +
                ", but must be a multiple of " + std::to_string(elements) + " elements (" +
                std::to_string(elements * t.element_bytes) + " bytes)");
  }
}

// The same for one axis.
inline void check_stride_multiple(const Tensor& t, int axis, int elements) {
  if (is_empty(t) || t.extent[axis] <= 1 || t.stride[axis] % elements == 0) return;
  fail(t, stride_name(axis) + " is " + std::to_string(t.stride[axis]) +
              ", but must be a multiple of " + std::to_string(elements) + " elements (" +
              std::to_string(int64_t{elements} * t.element_bytes) + " bytes)");
}

// A TMA store writes whole chunks of 16 bytes: a row that ends inside one would be overrun.
inline void check_extent_multiple(const Tensor& t, int axis, int elements) {
  if (is_empty(t) || t.extent[axis] % elements == 0) return;
  fail(t, extent_name(axis) + " is " + std::to_string(t.extent[axis]) +
              ", but a TMA store needs a multiple of " + std::to_string(elements) + " elements (" +
              std::to_string(int64_t{elements} * t.element_bytes) + " bytes)");
}

// Row-major without gaps.
inline void check_contiguous(const Tensor& t) {
  if (is_empty(t)) return;
  int64_t expected = 1;
  for (int axis = t.rank - 1; axis >= 0; --axis) {
    if (t.extent[axis] > 1 && t.stride[axis] != expected) {
      fail(t, stride_name(axis) + " is " + std::to_string(t.stride[axis]) + ", but must be " +
                  std::to_string(expected) + " (contiguous, row-major)");
    }
    expected *= t.extent[axis];
  }
}

// The bytes [first, last) that a tensor's elements span; 128 bits, so that no stride overflows.
__extension__ typedef __int128 WideInt;
struct ByteRange {
  WideInt first, last;
};

inline ByteRange byte_range(const Tensor& t) {
  const WideInt base = static_cast<WideInt>(reinterpret_cast<uintptr_t>(t.data));
  ByteRange range{base, base};
  if (is_empty(t)) return range;
  for (int axis = 0; axis < t.rank; ++axis) {
    const WideInt reach =
        static_cast<WideInt>(t.extent[axis] - 1) * t.stride[axis] * t.element_bytes;
    (reach < 0 ? range.first : range.last) += reach;
  }
  range.last += t.element_bytes;
  return range;
}

// A written tensor shares no bytes with another argument. Spans are compared, so that two
// interleaved views of one allocation are refused too.
inline void check_no_overlap(const Tensor& written, const Tensor& other) {
  const ByteRange a = byte_range(written);
  const ByteRange b = byte_range(other);
  if (a.first >= a.last || b.first >= b.last || a.last <= b.first || b.last <= a.first) return;
  fail(written, std::string("overlaps argument `") + other.name +
                    "`, but a written argument may share memory with no other");
}

// No two elements of a written tensor are one address (a broadcast view cannot be written).
inline void check_distinct_elements(const Tensor& t) {
  if (is_empty(t)) return;
  int order[16];
  int count = 0;
  for (int axis = 0; axis < t.rank && count < 16; ++axis) {
    if (t.extent[axis] > 1) order[count++] = axis;
  }
  const auto magnitude = [&](int axis) {
    return t.stride[axis] < 0 ? -static_cast<WideInt>(t.stride[axis])
                              : static_cast<WideInt>(t.stride[axis]);
  };
  std::sort(order, order + count, [&](int a, int b) { return magnitude(a) < magnitude(b); });
  WideInt reach = 1;
  for (int k = 0; k < count; ++k) {
    const int axis = order[k];
    if (magnitude(axis) < reach) {
      fail(t, stride_name(axis) + " is " + std::to_string(t.stride[axis]) +
                  ", but the elements of a written argument must not overlap");
    }
    reach += magnitude(axis) * (t.extent[axis] - 1);
  }
}

// An assert of the tile function outside `parallel`.
inline void check_assert(bool holds, const char* function, const char* message, const char* file,
                         int line) {
  if (holds) return;
  throw error(status::assertion_failed, std::string(function) + ": assertion failed: " + message +
                                            " (" + file + ":" + std::to_string(line) + ")");
}

// A launch consists of whole clusters, which lie along x.
inline void check_cluster(const char* function, int64_t ctas, int cluster) {
  if (ctas % cluster == 0) return;
  throw error(status::invalid_argument, std::string(function) + ": the grid has " +
                                            std::to_string(ctas) + " CTAs, but clusters of " +
                                            std::to_string(cluster) + " need a multiple of it");
}

// The number of CTAs of a grid axis: x below 2^31, y and z up to 65,535.
inline void check_grid(const char* function, char axis, int64_t ctas) {
  const int64_t limit = axis == 'x' ? (int64_t{1} << 31) - 1 : 65535;
  if (ctas >= 0 && ctas <= limit) return;
  throw error(status::invalid_argument, std::string(function) + ": grid axis " + axis + " is " +
                                            std::to_string(ctas) + ", but must be 0 to " +
                                            std::to_string(limit));
}

}  // namespace choreo::host
