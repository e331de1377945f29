// The verification harness of the attention kernels, tested by kernels that are wrong in one way
// each: what it accepts means nothing unless it refuses those.
#define CHOREO_TARGET_SIM
#include "attention/harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace attention {
namespace {

using choreo::bf16;
using ::testing::HasSubstr;

// Causal attention in f32 on the host; `damage(o, launch)` may spoil the finished output.
using Damage = std::function<void(choreo::view<bf16, 4>, int)>;

void Attend(choreo::view<const bf16, 4> q, choreo::view<const bf16, 4> k,
            choreo::view<const bf16, 4> v, choreo::view<bf16, 4> o) {
  const auto [batch, seq, heads, dim] = q.extent;
  const int64_t group = heads / k.extent[2];
  const auto at = [](const auto& x, int64_t b, int64_t s, int64_t h) {
    return x.data + b * x.stride[0] + s * x.stride[1] + h * x.stride[2];
  };
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t s = 0; s < seq; ++s) {
        std::vector<float> sum(dim, 0.0f);
        float total = 0;
        for (int64_t t = 0; t <= s; ++t) {
          float score = 0;
          for (int64_t d = 0; d < dim; ++d) {
            score += float(at(q, b, s, h)[d]) * float(at(k, b, t, h / group)[d]);
          }
          const float weight = std::exp(score / std::sqrt(float(dim)));
          total += weight;
          for (int64_t d = 0; d < dim; ++d) sum[d] += weight * float(at(v, b, t, h / group)[d]);
        }
        for (int64_t d = 0; d < dim; ++d) at(o, b, s, h)[d] = bf16(sum[d] / total);
      }
    }
  }
}

int RunMain(std::vector<std::string> arguments, const Damage& damage = {}) {
  arguments.insert(arguments.begin(), "test");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int launches = 0;
  return Main<bf16, 32>(
      "test", int(argv.size()), argv.data(),
      [&](auto q, auto k, auto v, auto o, choreo::Stream) {
        Attend(q, k, v, o);
        if (damage) damage(o, launches);
        ++launches;
      },
      [](auto x, uint32_t seed, uint32_t tensor, float limit, choreo::Stream) {
        for (int64_t row = 0; row < x.extent[0]; ++row) {
          GenerateRow<bf16>(seed, {tensor, limit}, row, x.extent[1], [&](int64_t col, bf16 value) {
            x.data[row * x.stride[0] + col] = value;
          });
        }
      });
}

bf16& Element(choreo::view<bf16, 4> o, int64_t b, int64_t s, int64_t h, int64_t d) {
  return o.data[b * o.stride[0] + s * o.stride[1] + h * o.stride[2] + d];
}

const std::vector<std::string> kSmall = {"--batch", "2", "--heads", "2", "--seq", "70"};

TEST(Harness, AcceptsARightKernel) {
  EXPECT_EQ(RunMain(kSmall), 0);
  EXPECT_EQ(RunMain({"--batch", "1", "--heads", "4", "--kv-heads", "2", "--seq", "1,33"}), 0);
}

TEST(Harness, VerifiesWhatIsCapturedInAGraph) {
  std::vector<std::string> arguments = kSmall;
  arguments.push_back("--graph");
  EXPECT_EQ(RunMain(arguments), 0);
  // The first launch comes before the capture, and its output is not judged.
  const auto wrong_from = [](int first) {
    return [=](auto o, int launch) {
      if (launch >= first) Element(o, 1, 69, 1, 31) = bf16(0.5f);
    };
  };
  EXPECT_EQ(RunMain(arguments, wrong_from(1)), 1);
  EXPECT_EQ(RunMain(arguments, wrong_from(2)), 0);
}

TEST(Harness, AcceptsNothingToCompute) {
  EXPECT_EQ(RunMain({"--batch", "0"}), 0);
  EXPECT_EQ(RunMain({"--seq", "0"}), 0);
}

TEST(Harness, RefusesAnElementThatWasNotWritten) {
  // In a row that is not among the compared ones of a longer sequence.
  EXPECT_EQ(RunMain({"--heads", "1", "--seq", "1100"},
                    [](auto o, int) { Element(o, 0, 517, 0, 5) = bf16::from_bits(0xffff); }),
            1);
}

TEST(Harness, RefusesAWrongElement) {
  EXPECT_EQ(RunMain(kSmall, [](auto o, int) { Element(o, 1, 69, 1, 31) = bf16(0.5f); }), 1);
}

TEST(Harness, RefusesARowThatIsSlightlyWrongThroughout) {
  EXPECT_EQ(RunMain(kSmall,
                    [](auto o, int) {
                      for (int64_t d = 0; d < 32; ++d) {
                        bf16& x = Element(o, 1, 63, 0, d);
                        x = bf16(float(x) * 1.03f);
                      }
                    }),
            1);
}

TEST(Harness, RefusesAWriteBeyondTheOutput) {
  EXPECT_EQ(RunMain(kSmall, [](auto o, int) { o.data[-1] = bf16(0.0f); }), 1);
  EXPECT_EQ(RunMain(kSmall, [](auto o, int) { Element(o, 1, 69, 1, 32) = bf16(0.0f); }), 1);
}

TEST(Harness, RefusesOutputsThatDifferBitwise) {
  std::vector<std::string> arguments = kSmall;
  arguments.insert(arguments.end(), {"--check-repeat", "3"});
  EXPECT_EQ(RunMain(arguments), 0);
  const auto last_bit = [](auto o, int launch) {
    if (launch == 2) Element(o, 0, 3, 1, 4).bits ^= 1;
  };
  EXPECT_EQ(RunMain(arguments, last_bit), 1);
}

TEST(Harness, AnswersAnErrorOfTheHostFunction) {
  EXPECT_EQ(RunMain(kSmall,
                    [](auto, int) {
                      throw choreo::error(choreo::status::assertion_failed, "seq must be even");
                    }),
            1);
  EXPECT_EQ(RunMain(kSmall,
                    [](auto, int) { throw choreo::error(choreo::status::no_device, "no device"); }),
            kExitNoDevice);
}

TEST(Inputs, AreFixed) {
  // Figures are comparable between versions only while these stay.
  const auto q = GenerateTensor<bf16>(42, kQ, 3, 4, 0);
  const auto v = GenerateTensor<bf16>(42, kV, 3, 4, 0);
  std::vector<uint16_t> bits;
  for (const bf16 x : q) bits.push_back(x.bits);
  for (const bf16 x : v) bits.push_back(x.bits);
  EXPECT_THAT(bits, ::testing::ElementsAreArray<uint16_t>(
                        {0x3ff1, 0x3fb1, 0xbf00, 0xbf6b, 0xbf32, 0x3fff, 0xbf3b, 0xbecf,
                         0x3ffd, 0x3f8f, 0x3fc0, 0xbf13, 0xbf7e, 0xbf73, 0xbf11, 0xbf3f,
                         0xbba6, 0x3e8f, 0xbf2c, 0xbf2c, 0x3dfe, 0x3f80, 0xbf6f, 0x3e83}));
}

TEST(Inputs, AreUniform) {
  const auto k = GenerateTensor<bf16>(7, kK, 4096, 32, 0);
  double sum = 0, squares = 0, products = 0, low = 0, high = 0;
  for (size_t i = 0; i < k.size(); ++i) {
    const double x = float(k[i]), next = float(k[(i + 32) % k.size()]);
    sum += x;
    squares += x * x;
    products += x * next;
    low = std::min(low, x);
    high = std::max(high, x);
  }
  const double n = double(k.size());
  EXPECT_NEAR(sum / n, 0.0, 0.015);
  EXPECT_NEAR(squares / n, 4.0 / 3.0, 0.02);
  EXPECT_NEAR(products / n, 0.0, 0.02);
  EXPECT_GE(low, -2.0);
  EXPECT_LE(high, 2.0);  // values just below 2 round up to it
}

TEST(Inputs, SpreadAsFarAsAsked) {
  float high = 0;
  const auto usual = GenerateTensor<bf16>(42, kQ, 64, 32, 0);
  const auto wide = GenerateTensor<bf16>(42, Within(kQ, 8.0f), 64, 32, 0);
  for (size_t i = 0; i < wide.size(); ++i) {
    EXPECT_EQ(float(wide[i]), 4 * float(usual[i]));
    high = std::max(high, float(wide[i]));
  }
  EXPECT_LE(high, 8.0f);
  EXPECT_GT(high, 7.9f);
}

TEST(Inputs, DifferBySeedAndTensor) {
  const auto bits = [](uint32_t seed, Tensor tensor) {
    std::string text;
    for (const bf16 x : GenerateTensor<bf16>(seed, tensor, 2, 32, 0))
      text += std::to_string(x.bits);
    return text;
  };
  EXPECT_NE(bits(42, kQ), bits(42, kK));
  EXPECT_NE(bits(42, kQ), bits(43, kQ));
}

TEST(Rows, CoverHeadsTilesAndTail) {
  const Shape shape{4, 32, 32, 4096, 128};
  int64_t total = 0;
  bool first = false, last = false, tile_first = false, tile_last = false;
  for (int64_t head = 0; head < 128; ++head) {
    const auto rows = internal::ChooseRows(shape, head);
    EXPECT_GE(rows.size(), 2u);
    total += int64_t(rows.size());
    for (const int64_t row : rows) {
      ASSERT_GE(row, 0);
      ASSERT_LT(row, shape.seq);
      first |= row == 0;
      last |= row == shape.seq - 1;
      tile_first |= row != 0 && row % 128 == 0;
      tile_last |= row != shape.seq - 1 && row % 128 == 127;
    }
  }
  EXPECT_GE(total, 256);
  EXPECT_TRUE(first && last && tile_first && tile_last);
}

TEST(Rows, AreAllOfASmallProblem) {
  EXPECT_EQ(internal::ChooseRows({2, 2, 2, 256, 64}, 3).size(), 256u);
  EXPECT_EQ(internal::ChooseRows({1, 1, 1, 1, 64}, 0).size(), 1u);
  EXPECT_EQ(internal::ChooseRows({3000, 1, 1, 1, 64}, 2999).size(), 1u);
}

Options Parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "test");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  return ParseOptions(int(argv.size()), argv.data());
}

std::string Refusal(std::vector<std::string> arguments) {
  try {
    Parse(std::move(arguments));
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Options, TakeBothSpellings) {
  const Options options =
      Parse({"--batch=3", "--heads", "5", "--seq", "128,640", "--json=x.jsonl"});
  EXPECT_EQ(options.batch, 3);
  EXPECT_EQ(options.heads, 5);
  EXPECT_EQ(options.seqs, (std::vector<int64_t>{128, 640}));
  EXPECT_EQ(options.json, "x.jsonl");
  EXPECT_EQ(options.seed, 42u);
  EXPECT_EQ(options.spread, 2.0f);
  EXPECT_EQ(Parse({"--spread", "0.5"}).spread, 0.5f);
  EXPECT_EQ(MakeShape(Parse({"--spread=8"}), DefaultShapes(true), 64, 128).spread, 8.0f);
}

TEST(Options, RefuseEachMistakeByName) {
  EXPECT_THAT(Refusal({"--seq", "12x"}), HasSubstr("`--seq`: `12x` is not an integer"));
  EXPECT_THAT(Refusal({"--seq", "1,,2"}), HasSubstr("`--seq`: `` is not an integer"));
  EXPECT_THAT(Refusal({"--rounds", "0"}), HasSubstr("`--rounds`: `0` is not an integer from 1"));
  EXPECT_THAT(Refusal({"--heads"}), HasSubstr("`--heads` needs a value"));
  EXPECT_THAT(Refusal({"--hedas", "3"}), HasSubstr("unknown option `--hedas`"));
  EXPECT_THAT(Refusal({"3"}), HasSubstr("unexpected argument `3`"));
  EXPECT_THAT(Refusal({"--seed", "4294967296"}), HasSubstr("`--seed`"));
  for (const std::string bad : {"0", "-2", "65", "nan", "2x"}) {
    EXPECT_THAT(Refusal({"--spread", bad}),
                HasSubstr("`--spread`: `" + bad + "` is not a number above 0, up to 64"));
  }
  EXPECT_THAT(Refusal({"--spread"}), HasSubstr("`--spread` needs a value"));
  EXPECT_EQ(RunMain({"--heads", "3", "--kv-heads", "2"}), 2);
  EXPECT_EQ(RunMain({"--json", "/nonexistent/rows"}), 2);
  EXPECT_EQ(RunMain({"--help"}), 0);
}

TEST(Options, ReadTheEnvironment) {
  setenv("MHA_SEQ", "256", 1);
  setenv("CHOREO_DISABLE_TIMING", "1", 1);
  EXPECT_EQ(Parse({}).seqs, (std::vector<int64_t>{256}));
  EXPECT_FALSE(Parse({}).timing);
  EXPECT_EQ(Parse({"--seq", "64"}).seqs, (std::vector<int64_t>{64}));
  EXPECT_THAT(Refusal({"--no-verify"}), HasSubstr("nothing to do"));
  setenv("MHA_SEQ", "-1", 1);
  EXPECT_THAT(Refusal({}), HasSubstr("`MHA_SEQ`: `-1`"));
  unsetenv("MHA_SEQ");
  unsetenv("CHOREO_DISABLE_TIMING");
}

}  // namespace
}  // namespace attention
