// What Analyze leaves for lowering: entities, types, constants and the meaning of assignments.
#include <gtest/gtest.h>

#include <string>

#include "sema/sema_testing.h"
#include "support/file.h"

namespace choreo::sema {
namespace {

using testing::Analyzed;
using testing::AnalyzeStatements;
using testing::AnalyzeText;

std::vector<AssignKind> Assigns(const Analyzed& analyzed) {
  std::vector<AssignKind> kinds;
  for (size_t i = 0; i < analyzed.file.stmts.size(); ++i) {
    const auto it = analyzed.result.assigns.find(analyzed.file.stmts.IdAt(i));
    if (it != analyzed.result.assigns.end()) kinds.push_back(it->second);
  }
  return kinds;
}

TEST(CommonType, FollowsCpp) {
  EXPECT_EQ(CommonType(Elem::kS8, Elem::kU16), Elem::kS32);
  EXPECT_EQ(CommonType(Elem::kU32, Elem::kS32), Elem::kU32);
  EXPECT_EQ(CommonType(Elem::kU32, Elem::kS64), Elem::kS64);
  EXPECT_EQ(CommonType(Elem::kU64, Elem::kS64), Elem::kU64);
  EXPECT_EQ(CommonType(Elem::kBf16, Elem::kBf16), Elem::kF32);
  EXPECT_EQ(CommonType(Elem::kBf16, Elem::kF64), Elem::kF64);
  EXPECT_EQ(CommonType(Elem::kS64, Elem::kF16), Elem::kF32);
}

TEST(Analyze, TheSequentialKernelIsTyped) {
  const std::string folder = std::string(CROQTILE_SOURCE_DIR) + "/kernels/attention";
  const FileText text = ReadFile(folder + "/v1_manual_baseline.co");
  ASSERT_TRUE(text.ok()) << text.error;
  const auto analyzed = AnalyzeText(text.text, {folder});
  EXPECT_EQ(analyzed->Report(), "");
  EXPECT_EQ(analyzed->TypeOf("acc_s"), "`f32 [64, 128]` fragment");
  EXPECT_EQ(analyzed->TypeOf("acc_o"), "`f32 [64, 128]` fragment");
  EXPECT_EQ(analyzed->TypeOf("Q_head"), "`bf16 [S, 128]` global view");
  EXPECT_EQ(analyzed->TypeOf("k_s"), "the data future of `bf16 [128, 128]`");
  EXPECT_EQ(analyzed->TypeOf("tile"), "a variable bounded by `cdiv(S, 128)`");
  EXPECT_TRUE(analyzed->Find("O")->written);
  EXPECT_FALSE(analyzed->Find("Q")->written);
  const auto function = analyzed->file.functions.IdAt(0);
  std::string dims;
  for (const EntityId dim : analyzed->result.dims.at(function)) {
    dims += analyzed->result.entities[dim].name + " ";
  }
  EXPECT_EQ(dims, "B S H H_KV ");
  EXPECT_EQ(analyzed->result.params.at(function).size(), 4u);
}

TEST(Analyze, EveryExpressionHasAType) {
  const auto analyzed = AnalyzeStatements(
      "shared bf16 [64, 128] a, k[2];\n"
      "acc = mma.fill.f32 0.0f;\n"
      "foreach i in n {\n"
      "  f = mma.row.row.async acc, a, k[i % 2];\n"
      "  wait f;\n"
      "  apply {r, c} in acc.span acc.at(r, c) = acc.at(r, c) * 2.0f;\n"
      "}\n"
      "mma.store acc, y.subspan(64, 64).at(b, 0);");
  EXPECT_EQ(analyzed->Report(), "");
  for (size_t i = 0; i < analyzed->file.exprs.size(); ++i) {
    const auto id = analyzed->file.exprs.IdAt(i);
    EXPECT_NE(analyzed->result.types[id].kind, TypeKind::Error)
        << analyzed->sources.Text(analyzed->file.exprs[id].range);
  }
}

TEST(Analyze, AssignmentsMeanWhatTheirTargetsAre) {
  const auto analyzed = AnalyzeStatements(
      "shared bf16 [64, 128] a, k;\n"
      "mutable s32 m = 0;\n"
      "acc = mma.fill.f32 0.0f;\n"          // Declare
      "m = 1;\n"                            // SetScalar
      "m += 1;\n"                           // SetScalar
      "y.at(0, 0) = 1.0f;\n"                // SetElement
      "f = mma.row.row.async acc, a, k;\n"  // Declare
      "wait f;\n"
      "acc = mma.fill.f32 0.0f;\n"          // RefillFragment
      "f = mma.row.row.async acc, a, k;\n"  // RebindFuture
      "wait f;\n"
      "tile = x.subspan(64, _).at(b, _);\n");  // Declare
  EXPECT_EQ(analyzed->Report(), "");
  EXPECT_EQ(Assigns(*analyzed),
            (std::vector<AssignKind>{AssignKind::Declare, AssignKind::SetScalar,
                                     AssignKind::SetScalar, AssignKind::SetElement,
                                     AssignKind::Declare, AssignKind::RefillFragment,
                                     AssignKind::RebindFuture, AssignKind::Declare}));
}

TEST(Analyze, ShapesOfAccumulatorsComeFromBelow) {
  const auto analyzed = AnalyzeStatements(
      "shared bf16 [64, 128] a;\n"
      "shared bf16 [96, 128] k;\n"
      "acc = mma.fill.f32 0.0f;\n"
      "apply {i, j} in acc.span acc.at(i, j) = 1.0f;\n"
      "foreach i in n { if (n > 1) mma.row.row acc, a, k; }");
  EXPECT_EQ(analyzed->Report(), "");
  EXPECT_EQ(analyzed->TypeOf("acc"), "`f32 [64, 96]` fragment");
}

TEST(Analyze, ConstantsFold) {
  const auto analyzed = AnalyzeStatements(
      "a = 3 * 4 - 1;\n"
      "c = cdiv(a, 2);\n"
      "u32 wrapped = 0u - 1u;\n"
      "d = -7 / 2;\n"
      "e = -7 % 3;\n"
      "f = 1 << 4 | 1;\n"
      "g = x.span(1) / 2;\n"
      "h = a > 10 ? 1 : 2;\n"
      "t = {1, 2} + {3, 4};\n"
      "i = t(1);\n"
      "j = |x.subspan(2, _).at(0, _).span|;");
  EXPECT_EQ(analyzed->Report(), "");
  const auto constant = [&](std::string_view name) { return analyzed->Find(name)->constant; };
  EXPECT_EQ(constant("a"), 11);
  EXPECT_EQ(constant("c"), 6);
  EXPECT_EQ(constant("wrapped"), 4294967295);
  EXPECT_EQ(constant("d"), -3);
  EXPECT_EQ(constant("e"), -1);
  EXPECT_EQ(constant("f"), 17);
  EXPECT_EQ(constant("g"), 64);
  EXPECT_EQ(constant("h"), 1);
  EXPECT_EQ(constant("i"), 6);
  EXPECT_EQ(constant("j"), 256);
}

TEST(Analyze, LoopOverABoundedVariableKnowsIt) {
  const auto analyzed = AnalyzeStatements("with {u, v} in [8, n] { foreach u(1 : -1) m = #u; }");
  EXPECT_EQ(analyzed->Report(), "");
  const Entity* loop = analyzed->Find("u", 1);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->kind, EntityKind::LoopVar);
  ASSERT_TRUE(loop->over.valid());
  EXPECT_EQ(analyzed->result.entities[loop->over].kind, EntityKind::WithVar);
  EXPECT_EQ(analyzed->Find("m")->constant, 8);
}

TEST(Analyze, BrokenStatementsDoNotCascade) {
  const auto analyzed = AnalyzeStatements(
      "q = dma.copy x.subspan(64, 128).at(b, 0 => shared;\n"
      "z = q.data.at(0, 0) + q.at(1, 1);\n"
      "acc = mma.fill.f32 0.0f;\n"
      "mma.row.row acc, q, q;\n"
      "apply {i, j} in acc.span acc.at(i, j) = z;");
  EXPECT_EQ(analyzed->Found().size(), 1u) << analyzed->Report();
}

TEST(Analyze, TheSameTextGivesTheSameDiagnostics) {
  constexpr std::string_view kText = "m = nn; k = n / 0; y.at(0) = 1; wait k; s8 v = 999;";
  EXPECT_EQ(AnalyzeStatements(kText)->Report(), AnalyzeStatements(kText)->Report());
}

}  // namespace
}  // namespace choreo::sema
