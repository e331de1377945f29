// Atomic operations mean the same in tile state and in lowered state, and tasks that are taken from
// a counter are each done once, however the schedule deals them.
#include <numeric>

#include "differential.h"

namespace choreo {
namespace {

Tensor Zeros(Elem elem, std::vector<int64_t> extents) {
  Tensor t = MakeTensor(elem, std::move(extents), 0);
  std::fill(t.bytes.begin(), t.bytes.end(), uint8_t{0});
  return t;
}

// What does not depend on the order that threads come in.
TEST(AtomicsTest, EachTypeAndOperation) {
  for (const char* elem : {"s32", "u32", "u64"}) {
    const auto compiled = Compile("atomics.co", fmt::format(R"(
__co__ void f(global {0} [4] sums, global {0} [4] tops, global {0} [4] lows, global s32 [N] seen,
              global u32 [1] next) {{
  parallel b by 5 : block {{
    shared {0} [2] own {{0}};
    parallel t by 96 : thread {{
      i = b * 96 + t;
      atomic.add sums.at(i % 4), i;
      atomic.max tops.at(i % 4), i * 3;
      atomic.min lows.at(i % 4), i * 3;
      u32 turn = atomic.add next.at(0), 1;
      seen.at(turn) = 1;
      atomic.add own.at(t % 2), t;
      sync.shared;
      inthreads (t == 0) {{
        atomic.add sums.at(0), own.at(0);
        atomic.add sums.at(1), own.at(1);
      }}
    }}
  }}
}}
)",
                                                            elem));
    ASSERT_TRUE(compiled);
    const Elem e = *ElemFromSpelling(elem);
    std::vector<Argument> arguments = {Zeros(e, {4}), Zeros(e, {4}), MakeTensor(e, {4}, 3),
                                       Zeros(Elem::kS32, {480}), Zeros(Elem::kU32, {1})};
    ExpectSame(*compiled, "f", arguments, 0, 5);
    const sim::Report report = sim::Run(compiled->lowered, "f", Borrow(arguments), {});
    EXPECT_EQ(sim::RenderFindings(compiled->lowered, report.findings), "");
    double sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += At(std::get<Tensor>(arguments[0]), i);
    EXPECT_EQ(sum, 479 * 480 / 2 + 5 * (95 * 96 / 2));
    EXPECT_EQ(At(std::get<Tensor>(arguments[1]), 3), 479 * 3);
    for (size_t i = 0; i < 480; ++i) EXPECT_EQ(At(std::get<Tensor>(arguments[3]), i), 1) << i;
    EXPECT_EQ(At(std::get<Tensor>(arguments[4]), 0), 480);
  }
}

TEST(AtomicsTest, UnsignedAndSignedCompareDifferently) {
  const auto compiled = Compile("signs.co", R"(
__co__ void f(global s32 [2] s, global u32 [2] u) {
  parallel b by 1 : block, t by 1 : thread {
    atomic.max s.at(0), -1;  atomic.min s.at(1), -1;
    atomic.max u.at(0), 0xffffffffu;  atomic.min u.at(1), 0xffffffffu;
  }
}
)");
  ASSERT_TRUE(compiled);
  std::vector<Argument> arguments = {Zeros(Elem::kS32, {2}), Zeros(Elem::kU32, {2})};
  ExpectSame(*compiled, "f", arguments);
  sim::Run(compiled->lowered, "f", Borrow(arguments), {});
  EXPECT_EQ(At(std::get<Tensor>(arguments[0]), 0), 0);
  EXPECT_EQ(At(std::get<Tensor>(arguments[0]), 1), -1);
  EXPECT_EQ(At(std::get<Tensor>(arguments[1]), 0), 4294967295.0);
  EXPECT_EQ(At(std::get<Tensor>(arguments[1]), 1), 0);
}

TEST(AtomicsTest, DynamicGemm) {
  const std::string path = std::string(CROQTILE_SOURCE_DIR) + "/tests/kernels/gemm_dynamic.co";
  const auto compiled = Compile(path, ReadText(path));
  ASSERT_TRUE(compiled);
  for (const int64_t m : {64, 128, 400}) {
    for (const int64_t ctas : {1, 3, 11}) {
      const int64_t n = 136;
      std::vector<Argument> arguments = {
          MakeTensor(Elem::kBf16, {m, m}, 1), MakeTensor(Elem::kBf16, {n, m}, 2),
          MakeTensor(Elem::kBf16, {m, n}, 3), Zeros(Elem::kU32, {1}), Scalar{ctas, 0}};
      ExpectSame(*compiled, "gemm_dynamic", arguments, 0.01, 4);
      if (m != 400) continue;
      const sim::Report report = sim::Run(compiled->lowered, "gemm_dynamic", Borrow(arguments), {});
      EXPECT_EQ(sim::RenderFindings(compiled->lowered, report.findings), "");
      const auto& l = std::get<Tensor>(arguments[0]);
      const auto& b = std::get<Tensor>(arguments[1]);
      const auto at = [](const Tensor& t, int64_t i) { return At(t, static_cast<size_t>(i)); };
      for (int64_t i = 0; i < m; i += 37) {
        for (int64_t j = 0; j < n; j += 19) {
          double want = 0;
          for (int64_t k = 0; k < std::min(m, (i / 128 + 1) * 128); ++k) {
            want += at(l, i * m + k) * at(b, j * m + k);
          }
          const double got = at(std::get<Tensor>(arguments[2]), i * n + j);
          EXPECT_NEAR(got, want, 0.01 * std::max(1.0, std::fabs(want))) << i << ", " << j;
        }
      }
    }
  }
}

// Which CTA does what differs between schedules.
TEST(AtomicsTest, SchedulesDealTasksDifferently) {
  const auto compiled = Compile("deal.co", R"(
__co__ void deal(global s32 [N] by, global u32 [1] next) {
  [[covers(by)]]
  parallel cta by 4 : block, t by 32 : thread {
    inthreads (t == 0) {
      mutable u32 task = 0;
      while (task < N) {
        task = atomic.add next.at(0), 1;
        if (task < N) by.at(task) = cta;
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  std::vector<std::vector<double>> deals;
  bool one_takes_all = false, several_take = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::vector<Argument> arguments = {Zeros(Elem::kS32, {40}), Zeros(Elem::kU32, {1})};
    sim::RunOptions options;
    options.schedule_seed = seed;
    const sim::Report report = sim::Run(compiled->lowered, "deal", Borrow(arguments), options);
    EXPECT_EQ(sim::RenderFindings(compiled->lowered, report.findings), "");
    std::vector<double> by;
    for (size_t i = 0; i < 40; ++i) by.push_back(At(std::get<Tensor>(arguments[0]), i));
    EXPECT_EQ(At(std::get<Tensor>(arguments[1]), 0), 44);
    const auto first = static_cast<size_t>(std::count(by.begin(), by.end(), by[0]));
    one_takes_all = one_takes_all || first == by.size();
    several_take = several_take || first != by.size();
    if (std::find(deals.begin(), deals.end(), by) == deals.end()) deals.push_back(by);
  }
  EXPECT_GE(deals.size(), 4u);
  EXPECT_TRUE(one_takes_all);
  EXPECT_TRUE(several_take);
}

}  // namespace
}  // namespace choreo
