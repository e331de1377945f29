// Lowering preserves meaning: what the tile evaluator computes from tile state, the machine
// computes from lowered state, under the default schedule and random ones, without a finding.
#include "differential.h"

namespace choreo {
namespace {

TEST(DifferentialTest, ElementsAndScalars) {
  const auto compiled = Compile("elements.co", R"(
__co__ void saxpy(float a, global f32 [N] x, global f32 [N] y, global s64 [N] z) {
  parallel blk by cdiv(N, 64) : block, t by 64 : thread {
    i = blk # t;
    if (i < N) {
      y.at(i) = a * x.at(i) + (i > 2 && x.at(i - 1) > 0.0f ? y.at(i) : 3.0f);
      s64 wide = __to<s64>(i) * 1000003;
      z.at(i) = wide - (i % 7 == 0 ? 5 : i / 3);
    }
  }
}
__co__ void stencil(f32 [N] x, f32 [ROWS, 8] sorted) {
  assert(N == ROWS * 8, "sizes");
  parallel b by cdiv(ROWS, 32) : block, t by 32 : thread {
    row = b # t;
    if (row < ROWS) {
      local f32 [8] v;
      local f32 [3] weights[2] {0.25f}, seen {0.0f};
      weights[1].at(1) = 0.5f;
      foreach i in 3 seen.at(i) = seen.at(i) + weights[1].at(i);
      foreach i in 8 v.at(i) = x.at(row * 8 + i) + seen.at(i % 3);
      foreach i in 7 {
        foreach j in 7 {
          lo = __min(v.at(j), v.at(j + 1));
          hi = __max(v.at(j), v.at(j + 1));
          v.at(j) = lo;
          v.at(j + 1) = hi;
        }
      }
      foreach i in 8 sorted.at(row, i) = v.at(i);
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "saxpy",
             {Scalar{0, 1.5}, MakeTensor(Elem::kF32, {150}, 1), MakeTensor(Elem::kF32, {150}, 2),
              MakeTensor(Elem::kS64, {150}, 3)});
  ExpectSame(*compiled, "stencil",
             {MakeTensor(Elem::kF32, {560}, 1), MakeTensor(Elem::kF32, {70, 8}, 2)});
}

TEST(DifferentialTest, SharedScratchAndNarrowedScopes) {
  const auto compiled = Compile("sums.co", R"(
__co__ void block_sums(global s32 [N] x, global s32 [BLOCKS] sums, global s32 [BLOCKS] firsts) {
  assert(N == BLOCKS * 128, "x must hold 128 elements a block");
  parallel b by BLOCKS : block {
    shared s32 [4] partial;
    shared s32 [128] staged;
    parallel w by 4 : group, lane by 32 : thread {
      staged.at(w * 32 + lane) = x.at(b * 128 + (w # lane));
      sync.shared;
      inthreads (lane == 0) {
        mutable s32 s = 0;
        foreach i in 32 s += staged.at(w * 32 + i);
        partial.at(w) = s;
      }
      inthreads (w == 3 || (w == 2 && lane < 16)) {
        inthreads (lane == 5 && !(w == 2)) firsts.at(b) = staged.at(0);
      }
    }
    parallel t by 128 : thread {
      inthreads (t == 0) { sums.at(b) = partial.at(0) + partial.at(1) + partial.at(2) + partial.at(3); }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "block_sums",
             {MakeTensor(Elem::kS32, {384}, 1), MakeTensor(Elem::kS32, {3}, 2),
              MakeTensor(Elem::kS32, {3}, 3)});
}

TEST(DifferentialTest, SoftmaxOfRowsWithATail) {
  const auto compiled = Compile("softmax.co", R"(
__co__ void row_softmax(global f32 [M, 96] x, global f32 [M, 96] y, global bf16 [M, 96] h) {
  parallel tile by cdiv(M, 64) : block {
    parallel wg by 1 : group-4 {
      x_s = dma.copy x.subspan(64, 96).at(tile, 0) => shared;
      frag f32 [64, 96] v;
      frag f32 [64] row_max {-inf};
      frag f32 [64] row_sum, own {1.0f};
      apply {i, j} in v.span v.at(i, j) = x_s.data.at(i, j);
      reduce_max(row_max, v, 1);
      apply {i, j} in v.span v.at(i, j) = __exp2f((v.at(i, j) - row_max.at(i)) * 1.44269504f);
      reduce_sum(row_sum, v, 1);
      apply {i} in own.span own.at(i) = own.at(i) / row_sum.at(i);
      apply {i, j} in v.span { if (j % 3 != 0 || i > 40) v.at(i, j) = v.at(i, j) * own.at(i); }
      mma.store v, y.subspan(64, 96).at(tile, 0);
      mma.store v, h.subspan(64, 96).at(tile, 0);
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "row_softmax",
             {MakeTensor(Elem::kF32, {150, 96}, 1), MakeTensor(Elem::kF32, {150, 96}, 2),
              MakeTensor(Elem::kBf16, {150, 96}, 3)},
             0.004);
}

TEST(DifferentialTest, ViewsOfEveryKind) {
  const auto compiled = Compile("views.co", R"(
__co__ void views(global f32 [1, 64, 96] X, global f32 [5, 16, 32] Y) {
  parallel b by 1 : block {
    m = X.sqz();
    shared f32 [16, 32] buf[2];
    dma.copy m.subspan(16, 32).step(8, 16).at(3, 2) => buf[1];
    dma.copy buf[1] => Y.subspan(1, _, _).at(0, _, _).sqz();
    dma.copy m.view(16, 32 : 192, 1).from(3, 4) => buf[0];
    dma.copy buf[0] => Y.subspan(1, _, _).at(1, 0, 0).sqz();
    dma.copy m.span_as([6144]).subspan(512).at(0).span_as([16, 32]) => buf[1];
    dma.copy buf[1] => Y.subspan(1, _, _).at(2, 0, 0).sqz();
    window = m.view(32, 64).from(40, 40);
    foreach {p, q} in [2, 2] {
      dma.copy window.chunkat(p, q) => buf[0];
      dma.copy buf[0] => Y.subspan(1, _, _).at(3, 0, 0).sqz();
    }
    out = Y.subspan(1, _, _).at(4, 0, 0).sqz();
    foreach {p} in [4] {
      quarter = out.chunkat(p, _);
      parallel t by 128 : thread {
        quarter.at(t / 32, t % 32) = m.at(p * 4 + t / 32, t % 32) + 1.0f;
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  ExpectSame(*compiled, "views",
             {MakeTensor(Elem::kF32, {1, 64, 96}, 1), MakeTensor(Elem::kF32, {5, 16, 32}, 2)});
}

const char* const kGemm = R"(
__co__ void gemm_nt(global ELEM [M, K] A, global ELEM [N, K] B, global f32 [M, N] C) {
  parallel {bx, by} by [cdiv(M, 128), cdiv(N, TILE_N)] : block {
    parallel wgm by 2 : group-4 {
      acc = mma.fill.f32 0.0f;
      foreach k in cdiv(K, TILE_K) {
        a_s = dma.copy.swiz<SWIZ> A.subspan(128, TILE_K).at(bx, k) => shared;
        b_s = dma.copy.swiz<SWIZ> B.subspan(TILE_N, TILE_K).at(by, k) => shared;
        mma.row.row acc, a_s.chunkat(wgm, _), b_s;
      }
      mma.store acc, C.subspan(128, TILE_N).at(bx, by).chunkat(wgm, _);
    }
  }
}
__co__ void gemm_nn(global ELEM [M, K] A, global ELEM [K, N] B, global f32 [M, N] C) {
  parallel {bx, by} by [cdiv(M, 128), cdiv(N, TILE_N)] : block {
    parallel wgm by 2 : group-4 {
      acc = mma.fill.f32 0.0f;
      foreach k in cdiv(K, TILE_K) {
        a_s = dma.copy.swiz<SWIZ> A.subspan(128, TILE_K).at(bx, k) => shared;
        b_s = dma.copy.swiz<SWIZ> B.subspan(TILE_K, TILE_N).at(k, by) => shared;
        mma.row.col acc, a_s.chunkat(wgm, _), b_s;
      }
      mma.store acc, C.subspan(128, TILE_N).at(bx, by).chunkat(wgm, _);
    }
  }
}
)";

class GemmTest : public testing::TestWithParam<std::tuple<std::string, int, int, int>> {};
TEST_P(GemmTest, LoweredAsMeant) {
  const auto& [elem, tile_n, tile_k, swizzle] = GetParam();
  const auto compiled = Compile("gemm.co", kGemm,
                                {{"ELEM", elem},
                                 {"TILE_N", std::to_string(tile_n)},
                                 {"TILE_K", std::to_string(tile_k)},
                                 {"SWIZ", std::to_string(swizzle)}});
  ASSERT_TRUE(compiled);
  const Elem e = *ElemFromSpelling(elem);
  constexpr int kM = 200, kN = 136, kK = 104;  // tails in all three
  ExpectSame(
      *compiled, "gemm_nt",
      {MakeTensor(e, {kM, kK}, 1), MakeTensor(e, {kN, kK}, 2), MakeTensor(Elem::kF32, {kM, kN}, 3)},
      1e-4, 2);
  ExpectSame(
      *compiled, "gemm_nn",
      {MakeTensor(e, {kM, kK}, 1), MakeTensor(e, {kK, kN}, 2), MakeTensor(Elem::kF32, {kM, kN}, 3)},
      1e-4, 2);
}
INSTANTIATE_TEST_SUITE_P(Shapes, GemmTest,
                         testing::Values(std::tuple{"bf16", 96, 64, 64},
                                         std::tuple{"f16", 64, 64, 128},
                                         std::tuple{"bf16", 128, 64, 128},
                                         std::tuple{"bf16", 64, 32, 64},
                                         std::tuple{"bf16", 32, 16, 32}));

class AttentionTest : public testing::TestWithParam<std::tuple<std::string, int>> {};
TEST_P(AttentionTest, V1) {
  const auto& [elem, dim] = GetParam();
  const std::string path =
      std::string(CROQTILE_SOURCE_DIR) + "/kernels/attention/v1_manual_baseline.co";
  const auto compiled =
      Compile(path, ReadText(path), {{"ELEM", elem}, {"DIM", std::to_string(dim)}});
  ASSERT_TRUE(compiled);
  const Elem e = *ElemFromSpelling(elem);
  std::vector<Argument> arguments;
  for (uint64_t i = 0; i < 4; ++i) arguments.push_back(MakeTensor(e, {1, 256, 2, dim}, i));
  ExpectSame(*compiled, "mha_v1", arguments, 0.02, 2);
}
INSTANTIATE_TEST_SUITE_P(Heads, AttentionTest,
                         testing::Values(std::tuple{"bf16", 128}, std::tuple{"f16", 64},
                                         std::tuple{"bf16", 80}));

}  // namespace
}  // namespace choreo
