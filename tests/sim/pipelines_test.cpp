// Pipelines of roles, events, TMA and futures: what the tile evaluator computes sequentially, the
// machine computes from lowered state under several schedules, without a finding, at every trip
// count around the number of stages.
#include "differential.h"

namespace choreo {
namespace {

std::string SourcePath(const std::string& name) {
  return std::string(CROQTILE_SOURCE_DIR) + "/" + name;
}

std::optional<Compiled> CompileFile(const std::string& name,
                                    std::vector<lex::CommandLineDefine> defines = {}) {
  const std::string path = SourcePath(name);
  return Compile(path, ReadText(path), std::move(defines));
}

class AttentionPipelineTest
    : public testing::TestWithParam<std::tuple<std::string, std::string, std::string, int>> {};
TEST_P(AttentionPipelineTest, LoweredAsMeant) {
  const auto& [file, kernel, elem, dim] = GetParam();
  const auto compiled = CompileFile("kernels/attention/" + file + ".co",
                                    {{"ELEM", elem}, {"DIM", std::to_string(dim)}});
  ASSERT_TRUE(compiled);
  const Elem e = *ElemFromSpelling(elem);
  for (const int64_t length : {128, 384}) {
    std::vector<Argument> arguments;
    for (uint64_t i = 0; i < 4; ++i) arguments.push_back(MakeTensor(e, {1, length, 2, dim}, i));
    ExpectSame(*compiled, kernel, arguments, 0.02, 3);
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, AttentionPipelineTest,
                         testing::Values(std::tuple{"v2_manual_s2_1p2c_tma", "mha_v2", "bf16", 128},
                                         std::tuple{"v2_manual_s2_1p2c_tma", "mha_v2", "f16", 64},
                                         std::tuple{"v4_nonpersistent_fa", "mha_v4", "bf16", 128},
                                         std::tuple{"v4_nonpersistent_fa", "mha_v4", "f16", 80}));

TEST(PipelinesTest, GemmAtEveryTripCount) {
  for (const char* stages : {"2", "3"}) {
    const auto compiled = CompileFile("tests/kernels/gemm.co", {{"STAGES", stages}});
    ASSERT_TRUE(compiled);
    for (const int64_t k : {64, 128, 192, 256, 448, 200}) {
      ExpectSame(*compiled, "gemm",
                 {MakeTensor(Elem::kBf16, {136, k}, 1), MakeTensor(Elem::kBf16, {160, k}, 2),
                  MakeTensor(Elem::kBf16, {136, 160}, 3)},
                 0.01, 2);
    }
  }
}

// Clusters: parts that the CTAs load for each other, slots that all of them give back.
TEST(PipelinesTest, GemmInClusters) {
  for (const char* ctas : {"1", "2", "4"}) {
    const auto compiled = CompileFile("tests/kernels/gemm_cluster.co", {{"CLUSTER", ctas}});
    ASSERT_TRUE(compiled);
    for (const int64_t k : {64, 128, 192, 448, 200}) {
      ExpectSame(*compiled, "gemm",
                 {MakeTensor(Elem::kBf16, {400, k}, 1), MakeTensor(Elem::kBf16, {160, k}, 2),
                  MakeTensor(Elem::kBf16, {400, 160}, 3)},
                 0.01, 3);
    }
  }
}

TEST(PipelinesTest, ProductsInClusters) {
  for (const char* ctas : {"2", "8"}) {
    const auto compiled = CompileFile("tests/kernels/products_cluster.co", {{"CLUSTER", ctas}});
    ASSERT_TRUE(compiled);
    for (const int64_t columns : {64, 128, 320}) {
      ExpectSame(*compiled, "products",
                 {MakeTensor(Elem::kF32, {200, columns}, 1),
                  MakeTensor(Elem::kF32, {8, columns}, 2), MakeTensor(Elem::kF32, {8, 200}, 3)},
                 1e-3, 3);
    }
  }
}

// A consumer that stops releasing after `limit` tiles, which no analysis can know, blocks both
// roles.
TEST(PipelinesTest, DeadlocksAreFoundInBothStates) {
  const auto compiled = Compile("stops.co", R"(
__co__ void stops(global f32 [N, 128] x, global f32 [N, 128] y, int limit) {
  parallel b by 1 : block {
    shared f32 [128] buf;
    shared event full[1], empty[1] = ready;
    parallel p by 2 : group-4, t by 128 : thread {
      inthreads.async (p == 0) {
        foreach {n} in [N] {
          wait empty.at(n);
          buf.at(t) = x.at(n, t);
          trigger full.at(n);
        }
      }
      inthreads.async (p == 1) {
        foreach {n} in [N] {
          wait full.at(n);
          y.at(n, t) = buf.at(t);
          if (n < limit) trigger empty.at(n);
        }
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  std::vector<Argument> arguments{MakeTensor(Elem::kF32, {5, 128}, 1),
                                  MakeTensor(Elem::kF32, {5, 128}, 2), Scalar{2, 0}};
  const sim::Report tile = sim::RunTile(compiled->tile, "stops", Borrow(arguments));
  const sim::Report lowered = sim::Run(compiled->lowered, "stops", Borrow(arguments));
  for (const sim::Report& report : {tile, lowered}) {
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].kind, diag::DiagKind::SimDeadlock);
    EXPECT_THAT(report.findings[0].message, testing::HasSubstr("generation 3 of"));
  }
}

// Two warps of one role fill a ring each at their own speed; the consumers take turns.
TEST(PipelinesTest, PathsOfOneRoleRunAtTheirOwnSpeed) {
  const auto compiled = Compile("turns.co", R"(
__co__ void turns(global f32 [N, 32, 64] x, global f32 [N, 32, 64] y, global f32 [N, 2, 128] out) {
  parallel b by 1 : block {
    shared f32 [32, 64] x_buf[2], y_buf[2];
    shared f32 [128] last;
    shared event xf[2], yf[2], xe[2] = ready, ye[2] = ready;
    shared event first = ready, second;
    parallel p by 3 : group-4, t by 128 : thread {
      inthreads.async (p == 0 && t < 64) {
        inthreads (t == 0) {
          mutable u32 order = 0;
          foreach {n} in [N] {
            wait xe.at(order);
            f = tma.load.async x.subspan(1, _, _).at(n, 0, 0).sqz() => x_buf[order % 2];
            trigger xf.at(order++) after f;
          }
        }
        inthreads (t == 32) {
          mutable u32 order = 0;
          foreach {n} in [N] {
            wait ye.at(order);
            f = tma.load.async y.subspan(1, _, _).at(n, 0, 0).sqz() => y_buf[order % 2];
            trigger yf.at(order++) after f;
          }
        }
      }
      inthreads.async (p > 0) {
        mutable u32 order = 0;
        mutable f32 sum = 0.0f;
        foreach {n} in [N] {
          wait xf.at(order);
          sum = sum + x_buf[order % 2].at(t / 4, t % 4);
          trigger xe.at(order);
          inthreads (p == 1) {
            wait first;
            last.at(t) = sum;
            out.at(n, 0, t) = sum;
            trigger second;
          }
          inthreads (p == 2) {
            wait second;
            out.at(n, 1, t) = sum + last.at(t);
            trigger first;
          }
          wait yf.at(order);
          sum = sum * 0.5f + y_buf[order % 2].at(t / 4, t % 4);
          trigger ye.at(order++);
        }
      }
    }
  }
}
)");
  ASSERT_TRUE(compiled);
  for (const int64_t n : {1, 2, 3, 7}) {
    ExpectSame(*compiled, "turns",
               {MakeTensor(Elem::kF32, {n, 32, 64}, 1), MakeTensor(Elem::kF32, {n, 32, 64}, 2),
                MakeTensor(Elem::kF32, {n, 2, 128}, 3)},
               1e-5, 4);
  }
}

TEST(PipelinesTest, OrdinaryCopiesAndElements) {
  const auto sums = CompileFile("tests/kernels/row_sum.co");
  ASSERT_TRUE(sums);
  const auto transpose = CompileFile("tests/kernels/transpose.co");
  ASSERT_TRUE(transpose);
  for (const int64_t columns : {0, 32, 64, 96, 224}) {
    ExpectSame(*sums, "row_sum",
               {MakeTensor(Elem::kF32, {200, columns}, 1), MakeTensor(Elem::kF32, {200}, 2)}, 1e-5);
  }
  for (const int64_t rows : {64, 128, 192, 300}) {
    ExpectSame(*transpose, "transpose",
               {MakeTensor(Elem::kF32, {rows, 132}, 1), MakeTensor(Elem::kF32, {132, rows}, 2)});
  }
}

}  // namespace
}  // namespace choreo
