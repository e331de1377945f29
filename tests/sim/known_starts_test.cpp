// Windows whose start a scalar names: a ring in one tile, a user's row, a running cursor; moved by
// TMA and multiplied. What the tile evaluator computes, the machine computes from lowered state.
#include "differential.h"

namespace choreo {
namespace {

TEST(KnownStartsTest, RowsMovedByTma) {
  const auto compiled = Compile("rows.co", R"(
__co__ void ring(global bf16 [M, 64] x, global bf16 [M, 64] y) {
  parallel b by 1 : block {
    shared bf16 [256, 64] s;
    parallel p by 1 : group-4, t by 128 : thread {
      mutable u32 o = 0;
      foreach {i} in [M / 64] {
        l = tma.load.async.swiz<128> x.subspan(64, 64).at(i, 0) => s.subspan(64, 64).at(o % 4, 0);
        wait l;
        tma.copy s.subspan(64, 64).at(o % 4, 0) => y.subspan(64, 64).at(i, 0);
        o++;
      }
    }
  }
}
__co__ void row(global bf16 [M, 64] x, global bf16 [M, 64] y) {
  parallel b by 1 : block {
    shared bf16 [256, 64] s;
    parallel p by 1 : group-4, t by 128 : thread {
      foreach {i} in [M / 64] {
        r = i % 4 * 64;
        l = tma.load.async.swiz<128> x.subspan(64, 64).at(i, 0) => s.view(64, 64).from(r, 0);
        wait l;
        tma.copy s.view(64, 64).from(r, 0) => y.subspan(64, 64).at(i, 0);
      }
    }
  }
}
// Unaligned to the windows, though not to the swizzle; a column that is a panel's.
__co__ void cursor(global bf16 [M, 64] x, global bf16 [M, 64] y, int first) {
  assert(first % 8 == 0 && first >= 0, "whole atoms");
  parallel b by 1 : block {
    shared bf16 [256, 128] s;
    parallel p by 1 : group-4, t by 128 : thread {
      mutable int at = first;
      foreach {i} in [M / 64] {
        panel = i & 1;
        column = panel * 64;
        tma.load.swiz<128> x.subspan(64, 64).at(i, 0) => s.view(64, 64).from(at, column);
        tma.copy s.view(64, 64).from(at, column) => y.subspan(64, 64).at(i, 0);
        at += 24;
        if (at > 192) at -= 192;
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  for (const char* kernel : {"ring", "row"}) {
    ExpectSame(*compiled, kernel,
               {MakeTensor(Elem::kBf16, {448, 64}, 1), MakeTensor(Elem::kBf16, {448, 64}, 2)}, 0,
               2);
  }
  for (const int64_t first : {0, 40}) {
    ExpectSame(*compiled, "cursor",
               {MakeTensor(Elem::kBf16, {704, 64}, 1), MakeTensor(Elem::kBf16, {704, 64}, 2),
                Scalar{first, 0}},
               0, 2);
  }
}

TEST(KnownStartsTest, OperandsOfMmas) {
  const auto compiled = Compile("operands.co", R"(
__co__ void product(global bf16 [M, 64] x, global bf16 [64, N] w, global f32 [M, 64] y) {
  parallel b by 1 : block {
    shared bf16 [128, 128] a;
    shared bf16 [64, 192] b_s;
    parallel wg by 1 : group-4 {
      mutable u32 order = 0;
      dma.copy.swiz<128> w => b_s;
      foreach i in M / 64 {
        row = i % 2 * 64;
        column = i / 2 % 2 * 64;
        dma.copy.swiz<128> x.subspan(64, 64).at(i, 0) => a.view(64, 64).from(row, column);
        acc = mma.fill.f32 0.0f;
        right = __to<int>(order % 3) * 64;
        mma.row.col acc, a.view(64, 64).from(row, column), b_s.view(64, 64).from(0, right);
        mma.row.row acc, a.view(64, 64).from(row, column), b_s.view(64, 64).from(0, right);
        mma.store acc, y.subspan(64, 64).at(i, 0);
        order++;
      }
    }
  }
}
)",
                                {{"N", "192"}});
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "product",
             {MakeTensor(Elem::kBf16, {448, 64}, 1), MakeTensor(Elem::kBf16, {64, 192}, 2),
              MakeTensor(Elem::kF32, {448, 64}, 3)},
             0.01, 2);
}

}  // namespace
}  // namespace choreo
