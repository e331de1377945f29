// The maximum of the bits of floats is their maximum where the row held no negative number before:
// of rows that are negative, zeros of both signs, infinities, ties, in every width.
#include "differential.h"

namespace choreo {
namespace {

// `start`: what the row holds before, in two ways of which one is an integer's maximum.
std::string Kernel(const std::string& start) {
  return R"(
__co__ void f(global f32 [64, N] x, global f32 [64] y, global f32 [64] z, float v) {
  parallel by 1 : block, wg by 1 : group-4 {
    frag f32 [64, N] s;
    frag f32 [64] of_bits {)" +
         start + R"(};
    frag f32 [64] of_floats {v};
    apply {i, j} in s.span s.at(i, j) = x.at(i, j);
    reduce_max(of_bits, s, 1);
    reduce_max(of_floats, s, 1);
    reduce_max(of_bits, s, 1);
    apply {i} in of_bits.span {
      y.at(i) = of_bits.at(i);
      z.at(i) = of_floats.at(i);
    }
  }
}
)";
}

// Row i of x, from what it is to be like.
Tensor Rows(int64_t columns, uint64_t seed) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor x = MakeTensor(Elem::kF32, {64, columns}, seed);
  const auto width = static_cast<size_t>(columns);
  for (size_t row = 0; row < 64; ++row) {
    for (size_t column = 0; column < width; ++column) {
      const auto value = static_cast<float>(At(x, row * width + column));
      const bool here = column == row * 7 % width;
      float to = value;
      switch (row % 12) {
        case 0:
          to = -std::fabs(value) - 0.5f;
          break;
        case 1:
          to = -0.0f;
          break;
        case 2:
          to = column % 2 == 0 ? 0.0f : -0.0f;
          break;
        case 3:
          to = here ? kInf : value;
          break;
        case 4:
          to = -kInf;
          break;
        case 5:
          to = here ? 1.25f : -kInf;
          break;
        case 6:
          to = 1.75f;  // all of them the largest
          break;
        case 7:
          to = here ? 1e-42f : -1.0f;  // subnormal
          break;
        case 8:
          to = here ? 3.4e38f : -3.4e38f;
          break;
        case 9:
          to = here ? 1.5000001f : 1.5f;
          break;
        default:
          break;
      }
      std::memcpy(&x.bytes[(row * width + column) * sizeof to], &to, sizeof to);
    }
  }
  return x;
}

class MaxBitsTest : public testing::TestWithParam<int64_t> {};

TEST_P(MaxBitsTest, IsTheMaximumOfFloats) {
  const int64_t columns = GetParam();
  for (const auto& [text, start] : std::vector<std::pair<std::string, double>>{
           {"0.0f", 0.0}, {"1.5f", 1.5}, {"inf", std::numeric_limits<double>::infinity()}}) {
    const auto compiled = Compile("max.co", Kernel(text), {{"N", std::to_string(columns)}});
    ASSERT_TRUE(compiled);
    for (const uint64_t seed : {1u, 2u}) {
      const std::vector<Argument> arguments = {Rows(columns, seed), MakeTensor(Elem::kF32, {64}, 2),
                                               MakeTensor(Elem::kF32, {64}, 3), Scalar{0, start}};
      ExpectSame(*compiled, "f", arguments);
      std::vector<Argument> got = arguments;
      sim::Run(compiled->lowered, "f", Borrow(got), {});
      const Tensor& x = std::get<Tensor>(got[0]);
      for (size_t row = 0; row < 64; ++row) {
        double largest = start;
        for (size_t j = 0; j < static_cast<size_t>(columns); ++j) {
          largest = std::max(largest, At(x, row * static_cast<size_t>(columns) + j));
        }
        const double of_bits = At(std::get<Tensor>(got[1]), row);
        EXPECT_EQ(of_bits, largest) << "row " << row << " from " << text;
        EXPECT_EQ(of_bits, At(std::get<Tensor>(got[2]), row)) << "row " << row << " from " << text;
        EXPECT_FALSE(std::signbit(of_bits)) << "row " << row << " from " << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, MaxBitsTest, testing::Values(8, 24, 40, 64, 128, 256));

}  // namespace
}  // namespace choreo
