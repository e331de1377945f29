// Rows of 16-bit floats are reduced as those of f32 are: computed in f32, kept as what they are.
#include "differential.h"

namespace choreo {
namespace {

class HalfRowsTest : public testing::TestWithParam<std::string> {};

TEST_P(HalfRowsTest, AreReduced) {
  const std::string text = R"(
__co__ void largest(global E [64, N] x, global E [64] y) {
  parallel by 1 : block, wg by 1 : group-4 {
    frag E [64, N] s;
    frag E [64] row {0.0f};
    apply {i, j} in s.span s.at(i, j) = x.at(i, j);
    reduce_max(row, s, 1);
    apply {i} in row.span y.at(i) = row.at(i);
  }
}
__co__ void sum(global E [64, N] x, global E [64] y) {
  parallel by 1 : block, wg by 1 : group-4 {
    frag E [64, N] s;
    frag E [64] row;
    apply {i, j} in s.span s.at(i, j) = x.at(i, j);
    reduce_sum(row, s, 1);
    apply {i} in row.span y.at(i) = row.at(i);
  }
}
)";
  const Elem elem = GetParam() == "f16" ? Elem::kF16 : Elem::kBf16;
  for (const int columns : {8, 24, 64}) {
    const auto compiled =
        Compile("rows.co", text, {{"N", std::to_string(columns)}, {"E", GetParam()}});
    ASSERT_TRUE(compiled);
    const auto arguments = [&] {
      return std::vector<Argument>{MakeTensor(elem, {64, columns}, 1), MakeTensor(elem, {64}, 2)};
    };
    ExpectSame(*compiled, "largest", arguments(), 0);
    // A sum is rounded after each element, in an order that is not told.
    ExpectSame(*compiled, "sum", arguments(), elem == Elem::kF16 ? 0.02 : 0.15);
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, HalfRowsTest, testing::Values("f16", "bf16"));

}  // namespace
}  // namespace choreo
