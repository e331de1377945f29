// Loops over tasks whose bounds and words stand in tensors, early exits, and raw named barriers:
// what the tile evaluator computes, the machine computes from lowered state under several
// schedules, without a finding, for lists of every short length.
#include "differential.h"

namespace choreo {
namespace {

constexpr int64_t kCtas = 2;

template <class T>
Tensor Integers(Elem elem, std::vector<int64_t> extents, const std::vector<T>& values) {
  Tensor t = MakeTensor(elem, std::move(extents), 0);
  std::memcpy(t.bytes.data(), values.data(), values.size() * sizeof(T));
  return t;
}

// Task i of all: its tile (each once) in bits 0-23, a number of repetitions in 24-43, a flag in
// 44-63.
struct Lists {
  Tensor tasks, bins;
  int64_t count;
};
Lists MakeLists(int first, int second) {
  const int count = first + second;
  std::vector<uint64_t> words;
  for (int i = 0; i < count; ++i) {
    const auto tile = static_cast<uint64_t>(count - 1 - i);
    const auto repetitions = static_cast<uint64_t>((i * 5 + 3) % 4);
    const uint64_t flag = i % 3 == 1 ? 1 : 0;
    words.push_back(tile | repetitions << 24 | flag << 44);
  }
  words.resize(static_cast<size_t>(std::max(count, 1)));
  return {Integers(Elem::kU64, {static_cast<int64_t>(words.size())}, words),
          Integers<int32_t>(Elem::kS32, {kCtas, 2}, {0, first, first, count}), count};
}

class TaskLoopTest : public testing::TestWithParam<std::pair<const char*, const char*>> {};
TEST_P(TaskLoopTest, SameInBothStates) {
  const auto compiled = Compile(GetParam().first, GetParam().second);
  ASSERT_TRUE(compiled);
  for (const auto& [first, second] : {std::pair{0, 0}, {1, 0}, {2, 3}, {7, 1}}) {
    SCOPED_TRACE(testing::Message() << first << " and " << second << " tasks");
    const Lists lists = MakeLists(first, second);
    const int64_t rows = std::max<int64_t>(lists.count, 1) * 64;
    ExpectSame(*compiled, "k",
               {MakeTensor(Elem::kBf16, {rows, 64}, 1), MakeTensor(Elem::kBf16, {64, 64}, 2),
                MakeTensor(Elem::kF32, {rows, 64}, 3), lists.tasks, lists.bins},
               0.01, 3);
  }
}

// The next word is fetched while the tile of this one is worked on; flagged tasks are skipped.
constexpr const char* kPrefetch = R"(
__co__ void k(global bf16 [M, 64] a, global bf16 [64, 64] b, global f32 [M, 64] c,
              global u64 [TASKS] tasks, global s32 [CTAS, 2] bins) {
  parallel.async cta by CTAS : block {
    shared bf16 [64, 64] s[2];
    shared event full[2], empty[2] = ready;
    parallel p by 2 : group-4, t by 128 : thread {
      inthreads.async (p == 0 && t < 64) {
        mutable u32 order = 0;
        mutable s32 i = bins.at(cta, 0);
        end = bins.at(cta, 1);
        if (i >= end) return;
        mutable u64 word = tasks.at(i);
        while (i < end) {
          tile = __to<s32>(word & 0xffffff);
          skipped = (word >> 44) != 0;
          i++;
          if (i < end) word = tasks.at(i);
          if (skipped) continue;
          inthreads (t == 32) {
            wait empty.at(order);
            f = tma.load.async a.subspan(64, 64).at(tile, 0) => s[order % 2];
            trigger full.at(order++) after f;
          }
        }
      }
      inthreads.async (p == 1) {
        mutable u32 order = 0;
        mutable s32 i = bins.at(cta, 0);
        while (i < bins.at(cta, 1)) {
          word = tasks.at(i++);
          tile = __to<s32>(word & 0xffffff);
          if ((word >> 44) != 0) continue;
          wait full.at(order);
          c.at(tile * 64 + t % 64, t / 64 * 32) = __to<f32>(s[order % 2].at(t % 64, t / 64 * 32)) * 2.0f;
          trigger empty.at(order++);
        }
      }
    }
  }
}
)";

// MMAs in a loop with a condition, a `break`, and an MMA in flight over the back edge.
constexpr const char* kMmas = R"(
__co__ void k(global bf16 [M, 64] a, global bf16 [64, 64] b, global f32 [M, 64] c,
              global u64 [TASKS] tasks, global s32 [CTAS, 2] bins) {
  parallel.async cta by CTAS : block {
    shared bf16 [64, 64] a_s[2], b_s;
    shared event full[2], b_full, empty[2] = ready;
    parallel p by 2 : group-4, t by 128 : thread {
      inthreads.async (p == 0) {
        lb = tma.load.async b => b_s;
        trigger b_full after lb;
        mutable u32 order = 0;
        mutable s32 i = bins.at(cta, 0);
        while (true) {
          if (i >= bins.at(cta, 1)) break;
          word = tasks.at(i);
          mutable s32 left = __to<s32>((word >> 24) & 0xfffff) + 1;
          while (left > 0) {
            wait empty.at(order);
            f = tma.load.async a.subspan(64, 64).at(__to<s32>(word & 0xffffff), 0) => a_s[order % 2];
            trigger full.at(order++) after f;
            left -= 1;
          }
          ++i;
        }
      }
      inthreads.async (p == 1) {
        wait b_full;
        mutable u32 order = 0, done = 0;
        mutable s32 i = bins.at(cta, 0);
        mutable bool more = i < bins.at(cta, 1);
        if (!more) return;
        mutable u64 word = tasks.at(i);
        while (more) {
          tile = __to<s32>(word & 0xffffff);
          mutable s32 left = __to<s32>((word >> 24) & 0xfffff);
          i++;
          more = i < bins.at(cta, 1);
          if (more) word = tasks.at(i);
          acc = mma.fill.f32 0.0f;
          wait full.at(order);
          f = mma.row.row.async acc, a_s[order % 2], b_s;
          order++;
          while (left > 0) {
            wait full.at(order);
            g = mma.row.row.async acc, a_s[order % 2], b_s;
            order++;
            wait f;
            trigger empty.at(done++);
            f = g;
            left--;
          }
          wait f;
          trigger empty.at(done++);
          frag f32 [64] sum {0.0f};
          apply {r, j} in acc.span sum.at(r) = sum.at(r) + acc.at(r, j);
          all_reduce_sum(sum);
          apply {r, j} in acc.span acc.at(r, j) = acc.at(r, j) + sum.at(r);
          mma.store acc, c.subspan(64, 64).at(tile, 0);
        }
      }
    }
  }
}
)";

// Both sides hand a tile over by barriers whose numbers the program chooses; copies have their own.
constexpr const char* kBarriers = R"(
__co__ void k(global bf16 [M, 64] a, global bf16 [64, 64] b, global f32 [M, 64] c,
              global u64 [TASKS] tasks, global s32 [CTAS, 2] bins) {
  parallel cta by CTAS : block {
    shared bf16 [64, 64] s;
    count = bins.at(cta, 1) - bins.at(cta, 0);
    parallel p by 2 : group-4, t by 128 : thread {
      inthreads.async (p == 0) {
        foreach n in count {
          tile = __to<s32>(tasks.at(bins.at(cta, 0) + n) & 0xffffff);
          __bar_sync(1, 256);
          dma.copy a.subspan(64, 64).at(tile, 0) => s;
          __bar_arrive(2, 256);
        }
      }
      inthreads.async (p == 1) {
        foreach n in count {
          tile = __to<s32>(tasks.at(bins.at(cta, 0) + n) & 0xffffff);
          __bar_arrive(1, 256);
          __bar_sync(2, 256);
          c.at(tile * 64 + t % 64, t / 64) = __to<f32>(s.at(63 - t % 64, t / 64));
        }
      }
    }
  }
}
)";

// Two consumers take turns at the tensor core by raw barriers; events hand the tiles over.
constexpr const char* kPingPong = R"(
__co__ void k(global bf16 [M, 64] a, global bf16 [64, 64] b, global f32 [M, 64] c,
              global u64 [TASKS] tasks, global s32 [CTAS, 2] bins) {
  parallel.async cta by CTAS : block {
    shared bf16 [64, 64] a_s[2], b_s;
    shared event full[2], b_full, empty[2] = ready;
    parallel p by 3 : group-4, t by 128 : thread {
      inthreads.async (p == 0) {
        lb = tma.load.async b => b_s;
        trigger b_full after lb;
        mutable u32 order = 0;
        foreach n in bins.at(cta, 1) - bins.at(cta, 0) {
          word = tasks.at(bins.at(cta, 0) + n);
          wait empty.at(order);
          f = tma.load.async a.subspan(64, 64).at(__to<s32>(word & 0xffffff), 0) => a_s[order % 2];
          trigger full.at(order++) after f;
        }
      }
      inthreads.async (p > 0) {
        wait b_full;
        mutable u32 order = 0;
        mutable s32 i = bins.at(cta, 0);
        inthreads (p == 2) { __bar_arrive(2, 256); }
        while (i < bins.at(cta, 1)) {
          tile = __to<s32>(tasks.at(i++) & 0xffffff);
          wait full.at(order);
          inthreads (p == 1) { __bar_sync(2, 256); }
          inthreads (p == 2) { __bar_sync(3, 256); }
          acc = mma.fill.f32 0.0f;
          f = mma.row.row.async acc, a_s[order % 2], b_s.subspan(32, 64).at(p - 1, 0);
          inthreads (p == 1) { __bar_arrive(3, 256); }
          inthreads (p == 2) { __bar_arrive(2, 256); }
          wait f;
          trigger empty.at(order++);
          mma.store acc, c.subspan(64, 32).at(tile, p - 1);
        }
        inthreads (p == 1) { __bar_sync(2, 256); }
      }
    }
  }
}
)";

INSTANTIATE_TEST_SUITE_P(Programs, TaskLoopTest,
                         testing::Values(std::pair{"prefetch.co", kPrefetch},
                                         std::pair{"mmas.co", kMmas},
                                         std::pair{"barriers.co", kBarriers},
                                         std::pair{"ping_pong.co", kPingPong}),
                         [](const auto& info) {
                           const std::string name = info.param.first;
                           return name.substr(0, name.find('.'));
                         });

// A side that does not arrive is waited for without end: a finding of both, at the line of the
// wait.
TEST(RawBarriersTest, MissingArrivalIsFound) {
  std::string text = kBarriers;
  const size_t at = text.find("__bar_arrive(1, 256);");
  ASSERT_NE(at, std::string::npos);
  text.erase(at, std::string_view("__bar_arrive(1, 256);").size());
  const auto compiled = Compile("forgets.co", text);
  ASSERT_TRUE(compiled);
  const Lists lists = MakeLists(2, 0);
  std::vector<Argument> arguments = {MakeTensor(Elem::kBf16, {128, 64}, 1),
                                     MakeTensor(Elem::kBf16, {64, 64}, 2),
                                     MakeTensor(Elem::kF32, {128, 64}, 3), lists.tasks, lists.bins};
  const std::string tile = sim::RenderFindings(
      compiled->tile, sim::RunTile(compiled->tile, "k", Borrow(arguments)).findings);
  const std::string lowered = sim::RenderFindings(
      compiled->lowered, sim::Run(compiled->lowered, "k", Borrow(arguments)).findings);
  for (const std::string& findings : {tile, lowered}) {
    EXPECT_THAT(findings, testing::HasSubstr("11:11"));
    EXPECT_THAT(findings, testing::HasSubstr("[SimDeadlock]"));
  }
}

}  // namespace
}  // namespace choreo
