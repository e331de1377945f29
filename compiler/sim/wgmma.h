// WGMMA operands in shared memory: decoding of matrix descriptors, and where each 16-byte chunk of
// an operand lies. Nothing but the 64 bits of the descriptor is trusted. Source: PTX ISA,
// "Asynchronous Warpgroup Level Matrix: Matrix Descriptor", "Canonical Layouts".
#pragma once

#include <cstdint>

namespace choreo::sim {

struct Descriptor {
  uint32_t start;    // shared-window address
  uint32_t leading;  // byte offsets
  uint32_t stride;
  uint32_t base_offset;  // phase of the swizzle pattern, in rows
  uint32_t width;        // swizzle width in bytes; 16: none
};
Descriptor DecodeDescriptor(uint64_t bits);

// Chunks are 8 elements of 16 bits. K-major (a row holds consecutive k): chunk `c` (k = 8c …) of
// row `row`. MN-major (tnsp): chunk `c` (rows 8c …) of k.
uint32_t KMajorChunk(const Descriptor& d, uint32_t row, uint32_t c);
uint32_t MnMajorChunk(const Descriptor& d, uint32_t k, uint32_t c);

}  // namespace choreo::sim
