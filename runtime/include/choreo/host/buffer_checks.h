// What Buffer checks on both targets: element counts and the sizes of copies and views.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "choreo/host/status.h"

namespace choreo::host {

// Bytes of n elements; n must be 0 or more and the bytes must fit.
inline size_t buffer_bytes(int64_t n, size_t element_bytes) {
  if (n < 0 || static_cast<uint64_t>(n) >
                   static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / element_bytes) {
    throw error(status::invalid_argument, "Buffer: size is " + std::to_string(n) +
                                              " elements, but must be 0 or more and fit");
  }
  return static_cast<size_t>(n) * element_bytes;
}

inline void check_copy_size(const char* operation, size_t elements, int64_t size) {
  if (elements <= static_cast<size_t>(size)) return;
  throw error(status::invalid_argument,
              std::string("Buffer::") + operation + ": the span has " + std::to_string(elements) +
                  " elements, but the buffer has " + std::to_string(size));
}

template <size_t R>
void check_view_extents(const std::array<int64_t, R>& extents, int64_t size) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (extent < 0) {
      throw error(status::invalid_argument,
                  "Buffer::view: an extent is " + std::to_string(extent) + ", but is negative");
    }
    if (extent == 0) return;
  }
  for (int64_t extent : extents) {
    if (extent > size / count) {
      throw error(status::invalid_argument, "Buffer::view: the extents need more than the " +
                                                std::to_string(size) + " elements of the buffer");
    }
    count *= extent;
  }
}

}  // namespace choreo::host
