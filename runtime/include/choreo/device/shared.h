// Shared-memory tiles: addresses, swizzle, and the matrix descriptors that WGMMA reads.
// A 16-bit tile [R, C] is stored as panels of `width` bytes a row, R rows each, one panel after the
// other; width is the swizzle width (128, 64, 32), or 16 for no swizzle. Tiles are aligned to
// 8 * width bytes, so that swizzling the offset in the tile equals swizzling the address.
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix: Matrix Descriptor", "Strides".
#pragma once

#include <cstdint>

namespace choreo {

// The 32-bit shared-window address of a generic pointer into shared memory.
__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// XORs the 16-byte chunk index with the row in its 8-row atom: 3, 2, 1 or 0 bits.
template <int width>
__host__ __device__ __forceinline__ constexpr uint32_t swizzle(uint32_t byte_offset) {
  static_assert(width == 128 || width == 64 || width == 32 || width == 16, "swizzle widths");
  return byte_offset ^ ((byte_offset >> 3) & (width - 16));
}

// Swizzled byte offset of element (row, column) of a 16-bit tile with `rows` rows.
template <int width>
__host__ __device__ __forceinline__ constexpr uint32_t tile_offset(uint32_t row, uint32_t column,
                                                                   uint32_t rows) {
  constexpr uint32_t kColumns = width / 2;
  return swizzle<width>((column / kColumns) * rows * width + row * width + (column % kColumns) * 2);
}

// A matrix descriptor; `leading` and `stride` are the byte offsets of the PTX manual. Advance it
// by whole bytes with advance_smem_desc: a plain add, because the start address is its low field.
template <int width>
__device__ __forceinline__ uint64_t make_smem_desc(uint32_t address, uint32_t leading,
                                                   uint32_t stride) {
  static_assert(width == 128 || width == 64 || width == 32 || width == 16, "swizzle widths");
  constexpr uint64_t kLayout = width == 128 ? 1 : width == 64 ? 2 : width == 32 ? 3 : 0;
  return (static_cast<uint64_t>(address & 0x3ffff) >> 4) |
         (static_cast<uint64_t>((leading & 0x3ffff) >> 4) << 16) |
         (static_cast<uint64_t>((stride & 0x3ffff) >> 4) << 32) | (kLayout << 62);
}

// K-major operand (A stored [M, K], B stored [N, K]) of a tile with `rows` rows.
template <int width>
__device__ __forceinline__ uint64_t make_smem_desc_k_major(uint32_t address, uint32_t rows) {
  return make_smem_desc<width>(address, width == 16 ? rows * 16 : 16, 8 * width);
}

// MN-major operand (B stored [K, N], A stored [K, M]) of a tile with `rows` rows of K.
template <int width>
__device__ __forceinline__ uint64_t make_smem_desc_mn_major(uint32_t address, uint32_t rows) {
  return width == 16 ? make_smem_desc<width>(address, 128, rows * 16)
                     : make_smem_desc<width>(address, rows * width, 8 * width);
}

__device__ __forceinline__ uint64_t advance_smem_desc(uint64_t desc, uint32_t bytes) {
  return desc + (bytes >> 4);
}

// Byte offset of the K slice `k` (16 elements) of a K-major tile with `rows` rows.
template <int width>
__host__ __device__ __forceinline__ constexpr uint32_t k_major_slice(uint32_t k, uint32_t rows) {
  if (width == 16) return 2 * k * rows * 16;
  constexpr uint32_t kSlices = width >= 32 ? width / 32 : 1;
  return (k / kSlices) * rows * width + (k % kSlices) * 32;
}

// Byte offset of the K slice `k` (16 rows) of an MN-major tile.
template <int width>
__host__ __device__ __forceinline__ constexpr uint32_t mn_major_slice(uint32_t k) {
  return k * 16 * width;
}

}  // namespace choreo
