// The verification harness of the GEMM kernels, tested by kernels that are wrong in one way each.
#define CHOREO_TARGET_SIM
#include "gemm/harness.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace gemm {
namespace {

using choreo::bf16;
using View = choreo::view<bf16, 2>;
using Damage = std::function<void(View, int)>;

bf16& Element(View c, int64_t row, int64_t column) { return c.data[row * c.stride[0] + column]; }

void Multiply(View a, View b, View c) {
  for (int64_t row = 0; row < c.extent[0]; ++row) {
    for (int64_t column = 0; column < c.extent[1]; ++column) {
      float sum = 0;
      for (int64_t k = 0; k < a.extent[1]; ++k) {
        sum += float(Element(a, row, k)) * float(Element(b, column, k));
      }
      Element(c, row, column) = bf16(sum);
    }
  }
}

// `damage(c, launch)` may spoil the finished output.
int RunMain(std::vector<std::string> arguments, const Damage& damage = {}) {
  arguments.insert(arguments.begin(), "test");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int launches = 0;
  return Main<bf16>(
      "test", int(argv.size()), argv.data(),
      [&](View a, View b, View c, int, choreo::Stream) {
        Multiply(a, b, c);
        if (damage) damage(c, launches);
        ++launches;
      },
      [](View x, uint32_t seed, uint32_t tensor, float limit, choreo::Stream) {
        for (int64_t row = 0; row < x.extent[0]; ++row) {
          harness::GenerateRow<bf16>(
              seed, {tensor, limit}, row, x.extent[1],
              [&](int64_t column, bf16 value) { Element(x, row, column) = value; });
        }
      });
}

const std::vector<std::string> kSmall = {"--m", "70", "--n", "131", "--k", "37"};
// Too large for every element to be compared.
const std::vector<std::string> kLarge = {"--m", "2100", "--n", "260", "--k", "260"};

TEST(GemmHarness, AcceptsARightKernel) {
  EXPECT_EQ(RunMain(kSmall), 0);
  EXPECT_EQ(RunMain({"--m", "1", "--n", "1", "--k", "1"}), 0);
  EXPECT_EQ(RunMain(kLarge), 0);
}

TEST(GemmHarness, AcceptsNothingToCompute) {
  EXPECT_EQ(RunMain({"--m", "0"}), 0);
  EXPECT_EQ(RunMain({"--n", "0"}), 0);
}

TEST(GemmHarness, RefusesAnElementThatWasNotWritten) {
  for (const int64_t row : {5, 1033, 2099}) {
    EXPECT_EQ(RunMain(kLarge, [&](View c, int) { Element(c, row, 77) = bf16::from_bits(0xffff); }),
              1);
  }
}

TEST(GemmHarness, RefusesATileOfALargeOneThatIsWrong) {
  const auto spoil = [](View c, int) {
    for (int64_t row = 1024; row < 1088; ++row) {
      for (int64_t column = 128; column < 256; ++column) Element(c, row, column) = bf16(1.0f);
    }
  };
  EXPECT_EQ(RunMain(kLarge, spoil), 1);
}

TEST(GemmHarness, RefusesAWrongElement) {
  EXPECT_EQ(RunMain(kSmall, [](View c, int) { Element(c, 69, 130) = bf16(40.0f); }), 1);
}

TEST(GemmHarness, RefusesWhatIsSlightlyWrongThroughout) {
  const auto scale = [](View c, int) {
    for (int64_t row = 0; row < c.extent[0]; ++row) {
      for (int64_t column = 0; column < c.extent[1]; ++column) {
        Element(c, row, column) = bf16(float(Element(c, row, column)) * 1.003f);
      }
    }
  };
  EXPECT_EQ(RunMain(kSmall, scale), 1);
}

TEST(GemmHarness, RefusesWritesBesideTheOutput) {
  EXPECT_EQ(RunMain(kSmall, [](View c, int) { c.data[-1] = bf16(0.0f); }), 1);
  // Between the rows, and after the last.
  EXPECT_EQ(RunMain(kSmall, [](View c, int) { Element(c, 3, 131) = bf16(0.0f); }), 1);
  EXPECT_EQ(RunMain(kSmall, [](View c, int) { Element(c, 70, 0) = bf16(0.0f); }), 1);
}

TEST(GemmHarness, RefusesOutputsThatDifferBitwise) {
  std::vector<std::string> arguments = kSmall;
  arguments.insert(arguments.end(), {"--check-repeat", "3"});
  EXPECT_EQ(RunMain(arguments), 0);
  const auto last_bit = [](View c, int launch) {
    if (launch == 2) Element(c, 3, 4).bits ^= 1;
  };
  EXPECT_EQ(RunMain(arguments, last_bit), 1);
}

TEST(GemmHarness, AnswersErrorsAndMisuse) {
  EXPECT_EQ(RunMain(kSmall,
                    [](View, int) { throw choreo::error(choreo::status::no_device, "no device"); }),
            harness::kExitNoDevice);
  EXPECT_EQ(RunMain({"--k", "0"}), 2);
  EXPECT_EQ(RunMain({"--mm", "3"}), 2);
  EXPECT_EQ(RunMain({"--json", "/nonexistent/rows"}), 2);
  EXPECT_EQ(RunMain({"--help"}), 0);
}

}  // namespace
}  // namespace gemm
