// Votes mean the same in tile state and in lowered state, and what the language says: a vote of the
// warpgroup is one value for its 64 rows, one of a warp for its 16.
#include "differential.h"

namespace choreo {
namespace {

// Runs the lowered kernel alone and gives argument `which`.
Tensor Result(const Compiled& compiled, const std::string& kernel, std::vector<Argument> arguments,
              size_t which) {
  const sim::Report report = sim::Run(compiled.lowered, kernel, Borrow(arguments), {});
  EXPECT_EQ(sim::RenderFindings(compiled.lowered, report.findings), "");
  return std::get<Tensor>(arguments[which]);
}

// x and y of [128, 64] (two tiles), one integer a row.
std::string OneWarpgroup(const std::string& body) {
  return R"(
__co__ void f(global f32 [N, 64] x, global f32 [N, 64] y, global s32 [N] z) {
  parallel b by N / 64 : block, wg by 1 : group-4 {
    frag f32 [64, 64] s;
    frag f32 [64] m;
    apply {i, j} in s.span s.at(i, j) = x.at(b * 64 + i, j);
    apply {i} in m.span m.at(i) = x.at(b * 64 + i, 3);
)" + body +
         R"(
    apply {i, j} in s.span y.at(b * 64 + i, j) = s.at(i, j);
  }
}
)";
}

void ExpectSameVotes(const std::string& body) {
  const auto compiled = Compile("votes.co", OneWarpgroup(body));
  ASSERT_TRUE(compiled) << body;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    ExpectSame(*compiled, "f",
               {MakeTensor(Elem::kF32, {128, 64}, seed),
                MakeTensor(Elem::kF32, {128, 64}, seed + 9), MakeTensor(Elem::kS32, {128}, seed)},
               0, 4);
  }
}

TEST(VotesTest, OneValueForAWarpgroupAndOneForAWarp) {
  const auto compiled = Compile("values.co", OneWarpgroup(R"(
    all = any_of({i} in m.span, m.at(i) > 1.5f);
    warp = any_of.warp({i} in m.span, m.at(i) > 1.5f);
    apply {i} in m.span z.at(b * 64 + i) = (all ? 1 : 0) + (warp ? 2 : 0);
)"));
  ASSERT_TRUE(compiled);
  // Of the first tile one row of the third warp holds, of the second none.
  Tensor x = MakeTensor(Elem::kF32, {128, 64}, 1);
  const auto set = [&](size_t row, float value) {
    std::memcpy(&x.bytes[(row * 64 + 3) * sizeof(float)], &value, sizeof value);
  };
  for (size_t row = 0; row < 128; ++row) set(row, 1.0f);
  set(41, 2.0f);
  const Tensor z =
      Result(*compiled, "f",
             {x, MakeTensor(Elem::kF32, {128, 64}, 2), MakeTensor(Elem::kS32, {128}, 3)}, 2);
  for (size_t row = 0; row < 128; ++row) {
    EXPECT_EQ(At(z, row), row >= 64 ? 0 : row / 16 == 2 ? 3 : 1) << row;
  }
}

TEST(VotesTest, DecideOverBranchesAndLoops) {
  ExpectSameVotes(R"(
    if (any_of.warp({i} in m.span, m.at(i) > 1.5f)) {
      if (any_of.warp({i, j} in s.span, s.at(i, j) > 1.9f && i % 2 == 0)) {
        apply {i, j} in s.span s.at(i, j) = s.at(i, j) + 1.0f;
      } else {
        apply {i, j} in s.span s.at(i, j) = s.at(i, j) - 1.0f;
      }
    }
    mutable s32 n = 0;
    while (any_of({i, j} in s.span, s.at(i, j) > 0.5f)) {
      apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 0.75f;
      n++;
    }
    apply {i} in m.span z.at(b * 64 + i) = n;)");
  ExpectSameVotes(R"(
    mutable s32 n = 0;
    while (any_of.warp({i, j} in s.span, s.at(i, j) > 1.5f) && n < 3 + b) {
      apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 0.9375f;
      n++;
    }
    foreach k in any_of({i} in m.span, m.at(i) > 1.9f) ? 2 : 1 {
      if (!any_of({i, j} in s.span, s.at(i, j) > 1.0f)) break;
      apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 0.5f;
    }
    apply {i} in m.span z.at(b * 64 + i) = n;)");
}

TEST(VotesTest, CarriedOverIterations) {
  ExpectSameVotes(R"(
    mutable bool first = true;
    mutable bool low = false;
    frag f32 [64] old {0.0f};
    foreach k in 4 {
      apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 1.25f;
      reduce_max(m, s, 1);
      if (first || any_of({i} in m.span, m.at(i) - old.at(i) > 0.5f)) {
        apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 0.5f;
        copy(old, m);
      }
      if (low) apply {i, j} in s.span s.at(i, j) = s.at(i, j) + 1.0f;
      low = any_of.warp({i, j} in s.span, s.at(i, j) < -1.25f);
      first = false;
    }
    apply {i} in m.span z.at(b * 64 + i) = low ? 1 : 0;)");
}

// What stands right of `&&`, `||` or `?` is not looked at where the left side has decided: here it
// would be outside of `x`.
TEST(VotesTest, ShortCircuitsGuardThem) {
  ExpectSameVotes(R"(
    mutable s32 n = 0;
    if (b < 1 && any_of({i} in m.span, x.at((b + 1) * 64 + i, 0) > 0.9f)) n = 1;
    if (b == 1 || any_of.warp({i} in m.span, x.at((b + 1) * 64 + i, 0) > 1.5f)) n = n + 2;
    v = b < 1 ? any_of({i} in m.span, x.at((b + 1) * 64 + i, 0) > 1.9f) ? 3.0f : 2.0f : 1.0f;
    apply {i, j} in s.span s.at(i, j) = s.at(i, j) + v;
    apply {i} in m.span z.at(b * 64 + i) = n;)");
}

TEST(VotesTest, ShortCircuitsGuardCounters) {
  const auto compiled = Compile("counters.co", R"(
__co__ void f(global s32 [N] z) {
  parallel b by N : block, t by 32 : thread {
    mutable s32 n = 0, k = 0;
    if (b > 0 && n++ > 0) k = 100;
    if (b > 1 || ++n > 5) k = 200;
    v = b > 2 ? k++ : --n;
    while (n < 3 && k++ < 400) n++;
    z.at(b) = n * 1000 + k * 10 + v;
  }
}
)");
  ASSERT_TRUE(compiled);
  const std::vector<Argument> arguments = {MakeTensor(Elem::kS32, {4}, 1)};
  ExpectSame(*compiled, "f", arguments);
  const Tensor z = Result(*compiled, "f", arguments, 0);
  const auto expected = [](int b) {
    int n = 0, k = 0;
    if (b > 0 && n++ > 0) k = 100;
    if (b > 1 || ++n > 5) k = 200;
    const int v = b > 2 ? k++ : --n;
    while (n < 3 && k++ < 400) n++;
    return n * 1000 + k * 10 + v;
  };
  for (int b = 0; b < 4; ++b) EXPECT_EQ(At(z, static_cast<size_t>(b)), expected(b)) << b;
}

// Barriers of votes, of copies, of events and of the source do not meet.
TEST(VotesTest, SeveralWarpgroupsAndRoles) {
  const auto compiled = Compile("roles.co", R"(
__co__ void f(global f32 [128, 64] x, global f32 [128, 64] y, global s32 [128] z) {
  parallel b by 1 : block {
    shared event full[2], empty[2] = ready, even = ready, odd;
    shared f32 [64, 64] buf[2];
    shared f32 [128, 64] own;
    parallel p by 3 : group-4, t by 128 : thread {
      inthreads.async (p == 0) {
        mutable u32 order = 0;
        foreach k in 6 {
          wait empty.at(order);
          f = tma.load.async x.subspan(64, 64).at(k % 2, 0) => buf[order % 2];
          trigger full.at(order++) after f;
        }
      }
      inthreads.async (p > 0) {
        mutable u32 order = 0;
        mutable s32 n = 0;
        cid = p - 1;
        frag f32 [64, 64] s {0.0f};
        foreach k in 6 {
          wait full.at(order);
          apply {i, j} in s.span s.at(i, j) = s.at(i, j) + buf[order % 2].at(i, j);
          trigger empty.at(order++);
          while (any_of({i, j} in s.span, s.at(i, j) > 2.0f + __to<f32>(cid))) {
            apply {i, j} in s.span s.at(i, j) = s.at(i, j) * 0.75f;
            n++;
          }
          __bar_sync(1, 256);
          if (any_of({i, j} in s.span, s.at(i, j) < -2.0f)) {
            dma.copy x.subspan(64, 64).at(cid, 0) => own.subspan(64, 64).at(cid, 0);
            apply {i, j} in s.span s.at(i, j) = s.at(i, j) + own.at(cid * 64 + i, j);
          }
        }
        apply {i, j} in s.span y.at(cid * 64 + i, j) = s.at(i, j);
        if (t < 64) z.at(cid * 64 + t) = n;
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "f",
             {MakeTensor(Elem::kF32, {128, 64}, 1), MakeTensor(Elem::kF32, {128, 64}, 2),
              MakeTensor(Elem::kS32, {128}, 3)},
             0, 6);
}

}  // namespace
}  // namespace choreo
