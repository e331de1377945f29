// What a TMA tensor map asks of the tensor behind it, shared by both targets. In: a described
// argument. Out: nothing, or choreo::error naming argument, field, value and limit.
// What the compiler decides (rank up to 5, box up to 256 an axis, inner box a multiple of 16 bytes
// and within the swizzle) was checked when it made the map.
// Source: CUDA driver API, "cuTensorMapEncodeTiled".
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "choreo/host/checks.h"

namespace choreo::host {

constexpr int kMaxMapRank = 5;

// The base is 16-byte aligned, extents are up to 2^32, and outer strides are multiples of 16 bytes
// from 0 to below 2^40. Axes of extent 1 may have any stride; an empty tensor has no limits.
inline void check_tensor_map(const Tensor& t) {
  constexpr int kAlignment = 16;
  constexpr int64_t kMaxExtent = int64_t{1} << 32, kStrideLimit = int64_t{1} << 40;
  if (t.rank < 1 || t.rank > kMaxMapRank) {
    fail(t, "rank is " + std::to_string(t.rank) + ", but a tensor map has 1 to 5 axes");
  }
  if (is_empty(t)) return;
  check_base_alignment(t, kAlignment);
  for (int axis = 0; axis < t.rank; ++axis) {
    if (t.extent[axis] <= kMaxExtent) continue;
    fail(t, extent_name(axis) + " is " + std::to_string(t.extent[axis]) +
                ", but a tensor map takes up to 4294967296");
  }
  for (int axis = 0; axis + 1 < t.rank; ++axis) {
    const int64_t stride = t.stride[axis];
    if (t.extent[axis] <= 1) continue;
    const auto refuse = [&](const char* rule) {
      fail(t, stride_name(axis) + " is " + std::to_string(stride) + " elements of " +
                  std::to_string(t.element_bytes) + " bytes, but a tensor map needs " + rule);
    };
    if (stride < 0 || stride > (kStrideLimit - 1) / t.element_bytes) {
      refuse("0 to below 1099511627776 bytes");
    }
    if (stride * t.element_bytes % kAlignment != 0) refuse("a multiple of 16 bytes");
  }
}

// The strides in bytes of all axes but the innermost, innermost first, as the map takes them. An
// axis of extent 1 is never stepped along: it gets a stride that is legal.
inline std::array<uint64_t, kMaxMapRank> map_strides(const Tensor& t) {
  std::array<uint64_t, kMaxMapRank> strides{};
  const uint64_t row = static_cast<uint64_t>(t.extent[t.rank - 1]) * t.element_bytes;
  uint64_t legal = (row + 15) / 16 * 16;
  for (int i = 0; i + 1 < t.rank; ++i) {
    const int axis = t.rank - 2 - i;
    if (t.extent[axis] > 1) legal = static_cast<uint64_t>(t.stride[axis]) * t.element_bytes;
    strides[i] = legal;
  }
  return strides;
}

}  // namespace choreo::host
