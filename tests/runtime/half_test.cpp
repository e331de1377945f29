// bf16 and f16: every bit pattern, ties, the edges of the subnormal range, NaN and infinity.
#include "choreo/host/half.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace {

using choreo::bf16;
using choreo::f16;

// The neighbours of x among the finite values of T, found by search; the conversion must pick the
// nearer one, on a tie the one with an even last bit.
template <class T>
uint16_t NearestBySearch(double x, uint16_t infinity) {
  const bool negative = std::signbit(x);
  const double magnitude = std::fabs(x);
  uint16_t low = 0, high = infinity;  // magnitudes are ordered like their bits
  const auto value = [&](uint16_t bits) {
    // Infinity stands for the first value out of range: rounding is the same as for a next number.
    if (bits == infinity) {
      const double last = static_cast<float>(T::from_bits(static_cast<uint16_t>(infinity - 1)));
      const double before = static_cast<float>(T::from_bits(static_cast<uint16_t>(infinity - 2)));
      return last + (last - before);
    }
    return static_cast<double>(static_cast<float>(T::from_bits(bits)));
  };
  while (high - low > 1) {
    const auto middle = static_cast<uint16_t>((low + high) / 2);
    (value(middle) <= magnitude ? low : high) = middle;
  }
  const double below = magnitude - value(low), above = value(high) - magnitude;
  const bool up = above < below || (above == below && (low & 1) != 0);
  return static_cast<uint16_t>((up ? high : low) | (negative ? 0x8000 : 0));
}

template <class T>
void ExpectRoundTrip(uint16_t infinity) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const T x = T::from_bits(static_cast<uint16_t>(bits));
    const T back(static_cast<float>(x));
    if ((bits & 0x7fff) > infinity) {
      EXPECT_TRUE(std::isnan(static_cast<float>(x))) << bits;
      EXPECT_EQ(back.bits, 0x7fff) << bits;
    } else {
      EXPECT_EQ(back.bits, bits);
    }
  }
}

template <class T>
void ExpectNearestBetweenNeighbours(uint16_t infinity) {
  for (uint32_t bits = 0; bits < static_cast<uint32_t>(infinity) - 1; ++bits) {
    const float a = static_cast<float>(T::from_bits(static_cast<uint16_t>(bits)));
    const float b = static_cast<float>(T::from_bits(static_cast<uint16_t>(bits + 1)));
    const float middle = a / 2 + b / 2;
    for (const float x : {middle, std::nextafterf(middle, a), std::nextafterf(middle, b)}) {
      EXPECT_EQ(T(x).bits, NearestBySearch<T>(x, infinity)) << bits << " " << x;
      EXPECT_EQ(T(-x).bits, NearestBySearch<T>(-x, infinity)) << bits << " " << -x;
    }
  }
}

TEST(Half, EveryBf16RoundTrips) { ExpectRoundTrip<bf16>(0x7f80); }
TEST(Half, EveryF16RoundTrips) { ExpectRoundTrip<f16>(0x7c00); }

TEST(Half, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16(1.0f + 1.0f / 256).bits, 0x3f80);  // tie, down to even
  EXPECT_EQ(bf16(1.0f + 3.0f / 256).bits, 0x3f82);  // tie, up to even
  ExpectNearestBetweenNeighbours<bf16>(0x7f80);
}

TEST(Half, F16RoundsToNearestEven) {
  EXPECT_EQ(f16(1.0f + 1.0f / 2048).bits, 0x3c00);
  EXPECT_EQ(f16(1.0f + 3.0f / 2048).bits, 0x3c02);
  ExpectNearestBetweenNeighbours<f16>(0x7c00);
}

TEST(Half, OutOfRangeBecomesInfinity) {
  EXPECT_EQ(f16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(f16(-1e9f).bits, 0xfc00);
  EXPECT_EQ(bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bf16(infinity).bits, 0x7f80);
  EXPECT_EQ(bf16(-infinity).bits, 0xff80);
  EXPECT_EQ(f16(infinity).bits, 0x7c00);
  EXPECT_EQ(f16(-infinity).bits, 0xfc00);
}

TEST(Half, TinyValuesKeepTheirSign) {
  EXPECT_EQ(f16(2.98023223876953125e-8f).bits, 0x0000);  // 2^-25: tie between 0 and the least
  EXPECT_EQ(f16(std::nextafterf(2.98023223876953125e-8f, 1.0f)).bits, 0x0001);
  EXPECT_EQ(f16(-1e-30f).bits, 0x8000);
  EXPECT_EQ(bf16(-0.0f).bits, 0x8000);
  EXPECT_EQ(f16(-0.0f).bits, 0x8000);
}

TEST(Half, NanBecomesTheCanonicalNan) {
  EXPECT_EQ(bf16(std::numeric_limits<float>::quiet_NaN()).bits, 0x7fff);
  EXPECT_EQ(f16(-std::numeric_limits<float>::quiet_NaN()).bits, 0x7fff);
}

}  // namespace
