// The host checks: each rule once broken, with the whole message, and once kept.
#include "choreo/host/checks.h"

#include <cstdint>
#include <limits>
#include <string>

#include "choreo/host/half.h"
#include "gtest/gtest.h"

namespace choreo::host {
namespace {

template <class F>
std::string MessageOf(F&& body, status expected = status::invalid_argument) {
  try {
    body();
  } catch (const error& e) {
    EXPECT_EQ(e.code, expected);
    return e.what();
  }
  return "no error";
}

alignas(16) bf16 storage[4096];

view<const bf16, 4> Bshd(int64_t b, int64_t s, int64_t h, int64_t d) {
  return row_major(static_cast<const bf16*>(storage), b, s, h, d);
}

TEST(Checks, ExtentRange) {
  auto v = Bshd(1, 2, 3, 4);
  v.extent[1] = -1;
  EXPECT_EQ(MessageOf([&] { check_extent_range(describe("f", "Q", v)); }),
            "f: argument `Q`: extent 1 is -1, but is negative");
  v.extent[1] = int64_t{1} << 31;
  EXPECT_EQ(MessageOf([&] { check_extent_range(describe("f", "Q", v)); }),
            "f: argument `Q`: extent 1 is 2147483648, but must be below 2147483648");
  v.extent[1] = (int64_t{1} << 31) - 1;
  check_extent_range(describe("f", "Q", v));
}

TEST(Checks, ConstantExtent) {
  const auto v = Bshd(1, 2, 3, 64);
  check_extent_constant(describe("f", "Q", v), 3, 64);
  EXPECT_EQ(MessageOf([&] { check_extent_constant(describe("f", "Q", v), 3, 128); }),
            "f: argument `Q`: extent 3 is 64, but is declared as 128");
}

TEST(Checks, BoundDimension) {
  const auto q = Bshd(1, 2, 1, 128), k = Bshd(1, 2, 1, 64);
  const Tensor tq = describe("attention_v1", "Q", q), tk = describe("attention_v1", "K", k);
  check_extent_bound(tk, 1, "S", tq, 1);
  EXPECT_EQ(MessageOf([&] { check_extent_bound(tk, 3, "D", tq, 3); }),
            "attention_v1: argument `K`: extent 3 is 64, but dimension `D` was bound to 128 by "
            "`Q` extent 3");
}

TEST(Checks, InnermostStride) {
  auto v = Bshd(1, 2, 3, 4);
  v.stride[3] = 2;
  EXPECT_EQ(MessageOf([&] { check_innermost_stride(describe("f", "Q", v)); }),
            "f: argument `Q`: stride 3 (innermost) is 2, but must be 1");
  v.extent[3] = 1;
  check_innermost_stride(describe("f", "Q", v));
}

TEST(Checks, NullData) {
  view<const float, 2> v{nullptr, {2, 3}, {3, 1}};
  EXPECT_EQ(MessageOf([&] { check_data(describe("f", "x", v)); }),
            "f: argument `x`: data is null, but the tensor is not empty");
  v.extent[0] = 0;
  check_data(describe("f", "x", v));
}

TEST(Checks, BaseAlignment) {
  auto v = Bshd(1, 2, 3, 4);
  check_base_alignment(describe("f", "Q", v), 16);
  v.data += 1;
  EXPECT_EQ(MessageOf([&] { check_base_alignment(describe("f", "Q", v), 16); }),
            "f: argument `Q`: data is at an address 2 bytes past a multiple of 16, but must be "
            "aligned to 16 bytes");
  v.extent[0] = 0;
  check_base_alignment(describe("f", "Q", v), 16);
}

TEST(Checks, StrideAlignment) {
  auto v = Bshd(2, 2, 3, 8);
  check_stride_alignment(describe("f", "Q", v), 8);
  v.stride[1] = 25;
  EXPECT_EQ(MessageOf([&] { check_stride_alignment(describe("f", "Q", v), 8); }),
            "f: argument `Q`: stride 1 is 25, but must be a multiple of 8 elements (16 bytes)");
  v.extent[1] = 1;
  check_stride_alignment(describe("f", "Q", v), 8);
}

TEST(Checks, Contiguous) {
  auto v = Bshd(2, 2, 3, 8);
  check_contiguous(describe("f", "Q", v));
  v.stride[0] = 96;
  EXPECT_EQ(MessageOf([&] { check_contiguous(describe("f", "Q", v)); }),
            "f: argument `Q`: stride 0 is 96, but must be 48 (contiguous, row-major)");
  v.extent[0] = 1;
  check_contiguous(describe("f", "Q", v));
}

TEST(Checks, Overlap) {
  view<float, 1> o{nullptr, {8}, {1}};
  float memory[32];
  o.data = memory;
  view<const float, 1> before{memory + 8, {8}, {1}}, inside{memory + 7, {8}, {1}};
  check_no_overlap(describe("f", "O", o), describe("f", "Q", before));
  EXPECT_EQ(MessageOf([&] { check_no_overlap(describe("f", "O", o), describe("f", "Q", inside)); }),
            "f: argument `O`: overlaps argument `Q`, but a written argument may share memory with "
            "no other");
  // Negative strides span bytes below the base; an empty tensor spans none.
  view<const float, 1> down{memory + 15, {9}, {-1}};
  EXPECT_NE(MessageOf([&] { check_no_overlap(describe("f", "O", o), describe("f", "Q", down)); }),
            "no error");
  down.extent[0] = 8;
  check_no_overlap(describe("f", "O", o), describe("f", "Q", down));
  inside.extent[0] = 0;
  check_no_overlap(describe("f", "O", o), describe("f", "Q", inside));
}

TEST(Checks, OverlapOfHugeStridesDoesNotOverflow) {
  float memory[2];
  view<float, 3> o{memory, {1 << 30, 1 << 30, 1}, {std::numeric_limits<int64_t>::max(), 1, 1}};
  view<const float, 1> q{memory + 1, {1}, {1}};
  EXPECT_NE(MessageOf([&] { check_no_overlap(describe("f", "O", o), describe("f", "Q", q)); }),
            "no error");
}

TEST(Checks, DistinctElements) {
  float memory[64];
  view<float, 2> o{memory, {4, 4}, {4, 1}};
  check_distinct_elements(describe("f", "O", o));
  o.stride = {1, 4};
  check_distinct_elements(describe("f", "O", o));
  o.stride = {0, 1};
  EXPECT_EQ(MessageOf([&] { check_distinct_elements(describe("f", "O", o)); }),
            "f: argument `O`: stride 0 is 0, but the elements of a written argument must not "
            "overlap");
  o.extent[0] = 1;
  check_distinct_elements(describe("f", "O", o));
  o = view<float, 2>{memory, {4, 4}, {3, 1}};
  EXPECT_NE(MessageOf([&] { check_distinct_elements(describe("f", "O", o)); }), "no error");
}

TEST(Checks, Assert) {
  check_assert(true, "f", "whole tiles", "v1.co", 12);
  EXPECT_EQ(MessageOf([&] { check_assert(false, "f", "S must be a multiple of 128", "v1.co", 12); },
                      status::assertion_failed),
            "f: assertion failed: S must be a multiple of 128 (v1.co:12)");
}

TEST(Checks, Grid) {
  check_grid("f", 'x', 2147483647);
  check_grid("f", 'y', 65535);
  EXPECT_EQ(MessageOf([&] { check_grid("f", 'y', 65536); }),
            "f: grid axis y is 65536, but must be 0 to 65535");
  EXPECT_EQ(MessageOf([&] { check_grid("f", 'x', int64_t{1} << 31); }),
            "f: grid axis x is 2147483648, but must be 0 to 2147483647");
}

TEST(Status, ToStatus) {
  EXPECT_EQ(to_status([] {}), status::ok);
  EXPECT_EQ(to_status([] { throw error(status::no_device, "no CUDA device"); }), status::no_device);
  EXPECT_EQ(to_status([] { throw std::bad_alloc(); }), status::out_of_memory);
  EXPECT_EQ(to_status([] { throw 1; }), status::internal);
}

TEST(Status, EveryCodeHasAName) {
  for (int code = 0; code <= static_cast<int>(status::internal); ++code) {
    EXPECT_STRNE(status_name(static_cast<status>(code)), "unknown status");
  }
}

}  // namespace
}  // namespace choreo::host
