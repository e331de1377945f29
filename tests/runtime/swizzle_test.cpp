// Tile storage on the host: the device header's constexpr functions against a table built by hand,
// and the properties that the simulator and the code generator rely on.
// The device qualifiers mean nothing to a host compiler, so they are defined away here.
#define __host__
#define __device__
#define __forceinline__ inline
#include <cstdint>
static inline uint64_t __cvta_generic_to_shared(const void*) { return 0; }
#include <set>

#include "choreo/device/shared.h"
#include "gtest/gtest.h"

namespace {

// PTX ISA, "Swizzling Modes": in an atom of 8 rows the 16-byte chunk c of row r moves to c ^ f(r).
template <int width>
uint32_t ExpectedOffset(uint32_t row, uint32_t column, uint32_t rows) {
  constexpr uint32_t kChunks = width / 16;
  const uint32_t panel = column / (width / 2), within = column % (width / 2);
  const uint32_t line = row * width / 128;  // 128-byte line within the panel
  const uint32_t chunk = (within / 8) ^ (line % kChunks);
  return panel * rows * width + row * width + chunk * 16 + (within % 8) * 2;
}

template <int width>
void ExpectTile(uint32_t rows, uint32_t columns) {
  std::set<uint32_t> seen;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t offset = choreo::tile_offset<width>(row, column, rows);
      EXPECT_EQ(offset, ExpectedOffset<width>(row, column, rows)) << row << " " << column;
      EXPECT_TRUE(seen.insert(offset).second);
      EXPECT_LT(offset, rows * columns * 2);
    }
  }
}

TEST(Swizzle, TilesAreStoredInSwizzledPanels) {
  ExpectTile<128>(128, 128);
  ExpectTile<64>(64, 96);
  ExpectTile<32>(24, 80);
  ExpectTile<16>(16, 24);
}

TEST(Swizzle, IsAnInvolutionWithinItsAtom) {
  for (uint32_t offset = 0; offset < 4096; ++offset) {
    EXPECT_EQ(choreo::swizzle<128>(choreo::swizzle<128>(offset)), offset);
    EXPECT_EQ(choreo::swizzle<128>(offset) / 128, offset / 128);
    EXPECT_EQ(choreo::swizzle<64>(offset) / 64, offset / 64);
    EXPECT_EQ(choreo::swizzle<32>(offset) / 32, offset / 32);
    EXPECT_EQ(choreo::swizzle<16>(offset), offset);
  }
}

TEST(Swizzle, EightRowsOfAColumnUseEveryBankGroup) {
  std::set<uint32_t> groups;
  for (uint32_t row = 0; row < 8; ++row) {
    groups.insert(choreo::tile_offset<128>(row, 0, 64) / 16 % 8);
  }
  EXPECT_EQ(groups.size(), 8u);
}

TEST(Descriptor, FieldsAreWhereTheManualPutsThem) {
  const uint64_t k = choreo::make_smem_desc_k_major<128>(0x8400, 128);
  EXPECT_EQ(k & 0x3fff, 0x840u);
  EXPECT_EQ((k >> 16) & 0x3fff, 1u);
  EXPECT_EQ((k >> 32) & 0x3fff, 64u);
  EXPECT_EQ(k >> 62, 1u);
  const uint64_t mn = choreo::make_smem_desc_mn_major<64>(0x400, 48);
  EXPECT_EQ((mn >> 16) & 0x3fff, 48u * 64 / 16);
  EXPECT_EQ((mn >> 32) & 0x3fff, 32u);
  EXPECT_EQ(mn >> 62, 2u);
  const uint64_t plain = choreo::make_smem_desc_mn_major<16>(0x400, 48);
  EXPECT_EQ((plain >> 16) & 0x3fff, 8u);
  EXPECT_EQ((plain >> 32) & 0x3fff, 48u);
  EXPECT_EQ(plain >> 62, 0u);
  EXPECT_EQ(choreo::make_smem_desc_k_major<32>(0, 8) >> 62, 3u);
  EXPECT_EQ(choreo::advance_smem_desc(k, 8192) & 0x3fff, 0x840u + 512);
}

// A slice starts at the element (0, 16k), or (16k, 0), of the tile before swizzling.
TEST(Descriptor, SlicesStartAtTheirFirstElement) {
  for (uint32_t k = 0; k < 8; ++k) {
    const uint32_t in_panel128 = (16 * k % 64) * 2;
    EXPECT_EQ(choreo::k_major_slice<128>(k, 64), (16 * k / 64) * 64 * 128 + in_panel128);
    EXPECT_EQ(choreo::k_major_slice<64>(k, 64), (16 * k / 32) * 64 * 64 + (16 * k % 32) * 2);
    EXPECT_EQ(choreo::k_major_slice<32>(k, 64), k * 64 * 32);
    EXPECT_EQ(choreo::k_major_slice<16>(k, 64), 2 * k * 64 * 16);
    EXPECT_EQ(choreo::mn_major_slice<128>(k), 16 * k * 128);
    EXPECT_EQ(choreo::mn_major_slice<16>(k), 16 * k * 16);
  }
}

}  // namespace
