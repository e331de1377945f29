// What a tensor map asks of its tensor: each limit once broken, with the whole message, and once
// kept.
#include "choreo/host/map_checks.h"

#include <string>

#include "choreo/host/half.h"
#include "gtest/gtest.h"

namespace choreo::host {
namespace {

alignas(16) bf16 storage[4096];

std::string MessageOf(const view<const bf16, 3>& v) {
  try {
    check_tensor_map(describe("f", "Q", v));
  } catch (const error& e) {
    EXPECT_EQ(e.code, status::invalid_argument);
    return e.what();
  }
  return "no error";
}

view<const bf16, 3> Shd(int64_t s, int64_t h, int64_t d) {
  return row_major(static_cast<const bf16*>(storage), s, h, d);
}

TEST(MapChecks, RowMajorIsFine) {
  EXPECT_EQ(MessageOf(Shd(3, 5, 64)), "no error");
  // The innermost extent may be anything, as long as rows start at multiples of 16 bytes.
  auto v = Shd(3, 5, 64);
  v.extent[2] = 41;
  EXPECT_EQ(MessageOf(v), "no error");
}

TEST(MapChecks, BaseAlignment) {
  auto v = Shd(3, 5, 64);
  v.data = storage + 4;
  EXPECT_EQ(MessageOf(v),
            "f: argument `Q`: data is at an address 8 bytes past a multiple of 16, but must be "
            "aligned to 16 bytes");
  v.extent[0] = 0;  // nothing to describe
  EXPECT_EQ(MessageOf(v), "no error");
}

TEST(MapChecks, StridesAreMultiplesOf16Bytes) {
  auto v = Shd(3, 5, 64);
  v.stride[1] = 68;
  EXPECT_EQ(MessageOf(v),
            "f: argument `Q`: stride 1 is 68 elements of 2 bytes, but a tensor map needs a "
            "multiple of 16 bytes");
  v.extent[1] = 1;  // never stepped along
  EXPECT_EQ(MessageOf(v), "no error");
}

TEST(MapChecks, StridesAreBelow2To40Bytes) {
  auto v = Shd(3, 5, 64);
  v.stride[0] = int64_t{1} << 39;
  EXPECT_EQ(MessageOf(v),
            "f: argument `Q`: stride 0 is 549755813888 elements of 2 bytes, but a tensor map "
            "needs 0 to below 1099511627776 bytes");
  v.stride[0] = (int64_t{1} << 39) - 8;
  EXPECT_EQ(MessageOf(v), "no error");
  v.stride[0] = -320;
  EXPECT_EQ(MessageOf(v),
            "f: argument `Q`: stride 0 is -320 elements of 2 bytes, but a tensor map needs 0 to "
            "below 1099511627776 bytes");
  v.stride[0] = INT64_MAX;  // no overflow on the way to bytes
  EXPECT_NE(MessageOf(v), "no error");
}

TEST(MapChecks, ExtentsAndRank) {
  auto v = Shd(3, 5, 64);
  v.extent[0] = (int64_t{1} << 32) + 1;
  EXPECT_EQ(MessageOf(v),
            "f: argument `Q`: extent 0 is 4294967297, but a tensor map takes up to 4294967296");
  Tensor t = describe("f", "Q", v);
  t.rank = 6;
  EXPECT_THROW(check_tensor_map(t), error);
}

TEST(MapChecks, StridesAreInnermostFirstAndLegalForSingletons) {
  auto v = Shd(3, 5, 64);
  EXPECT_EQ(map_strides(describe("f", "Q", v))[0], 128u);
  EXPECT_EQ(map_strides(describe("f", "Q", v))[1], 640u);
  v.extent = {1, 1, 41};
  v.stride = {-3, 7, 1};
  EXPECT_EQ(map_strides(describe("f", "Q", v))[0], 96u);
  EXPECT_EQ(map_strides(describe("f", "Q", v))[1], 96u);
}

}  // namespace
}  // namespace choreo::host
