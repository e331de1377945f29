// Fix-its: what they give is accepted.
#include <gtest/gtest.h>

#include "diag/fixit.h"
#include "sema/sema_testing.h"

namespace choreo::sema {
namespace {

using testing::AnalyzeStatements;
using testing::AnalyzeText;

// The statements after all fix-its were applied, if that leaves nothing to report.
std::string Fixed(std::string_view statements) {
  const auto analyzed = AnalyzeStatements(statements);
  const diag::Fixes fixes = diag::ApplyFixIts(analyzed->sources, analyzed->diags.diagnostics());
  if (fixes.files.size() != 1) return "no fix: " + analyzed->Report();
  const std::string& text = fixes.files[0].text;
  const auto again = AnalyzeText(text);
  if (!again->diags.diagnostics().empty()) return text + again->Report();
  const size_t begin = text.find('\n', text.find('\n') + 1) + 1;
  return text.substr(begin, text.rfind("\n}}") - begin);
}

TEST(FixIt, NarrowingBecomesAConversion) {
  EXPECT_EQ(Fixed("x.at(0, 0) = y.at(0, 0) * 2.0f;"),
            "x.at(0, 0) = __to<bf16>(y.at(0, 0) * 2.0f);");
  EXPECT_EQ(Fixed("x.at(0, 0) = (y.at(0, 0));"), "x.at(0, 0) = __to<bf16>(y.at(0, 0));");
}

TEST(FixIt, ALiteralBesideF32) {
  EXPECT_EQ(Fixed("if (y.at(0, 0) > 0.5) {}"), "if (y.at(0, 0) > 0.5f) {}");
}

TEST(FixIt, TmaLoadIsItsName) {
  EXPECT_EQ(Fixed("shared bf16 [64, 128] s;\n"
                  "f = tma.copy.async x.subspan(64, 128).at(b, 0) => s; wait f;"),
            "shared bf16 [64, 128] s;\n"
            "f = tma.load.async x.subspan(64, 128).at(b, 0) => s; wait f;");
}

TEST(FixIt, AnOrderIsNotReduced) {
  const auto fixed = AnalyzeText(
      "__co__ void f(int n) { parallel b by n : block { shared event e[2]; mutable u32 o = 0;\n"
      "parallel p by 1 : group-4 { wait e.at(o % 2); slot = o % 2; trigger e.at(slot); } } }");
  const diag::Fixes fixes = diag::ApplyFixIts(fixed->sources, fixed->diags.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u);
  EXPECT_NE(fixes.files[0].text.find("wait e.at(o);"), std::string::npos);
  EXPECT_NE(fixes.files[0].text.find("trigger e.at(o);"), std::string::npos);
  EXPECT_EQ(AnalyzeText(fixes.files[0].text)->Report(), "");
}

TEST(FixIt, PrimingBecomesReady) {
  const auto primed = AnalyzeText(
      "__co__ void f(int n) { parallel b by n : block { shared event e[2], g[3];\n"
      "foreach i in 2 trigger e[i];\n"
      "foreach i in 3 { trigger g[i]; }\n"
      "parallel p by 1 : group-4 { wait e.at(0), g.at(0); } } }");
  const diag::Fixes fixes = diag::ApplyFixIts(primed->sources, primed->diags.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u);
  EXPECT_NE(fixes.files[0].text.find("shared event e[2] = ready, g[3] = ready;"), std::string::npos)
      << fixes.files[0].text;
  EXPECT_EQ(AnalyzeText(fixes.files[0].text)->Report(), "");
}

TEST(FixIt, AnMmaIsWaitedForBeforeItsTrigger) {
  const std::string head =
      "__co__ void f(int n) { parallel b by n : block { shared event e; shared bf16 [64, 64] a, "
      "k;\n"
      "parallel p by 1 : group-4 { acc = mma.fill.f32 0.0f;\n"
      "qk = mma.row.row.async acc, a, k; ";
  for (const std::string tail :
       {"trigger e after qk; } } }", "if (n > 1) trigger e after qk; } } }"}) {
    const auto old = AnalyzeText(head + tail);
    const diag::Fixes fixes = diag::ApplyFixIts(old->sources, old->diags.diagnostics());
    ASSERT_EQ(fixes.files.size(), 1u) << old->Report();
    EXPECT_NE(fixes.files[0].text.find("wait qk; trigger e;"), std::string::npos);
    EXPECT_EQ(AnalyzeText(fixes.files[0].text)->Report(), "");
  }
}

TEST(FixIt, AnInlineEventIsAStatementOfItsOwn) {
  const auto old = AnalyzeText(
      "__co__ void f(global bf16 [S, 64] x) { parallel b by 1 : block {\n"
      "shared event full; shared bf16 [64, 64] t;\n"
      "tma.copy.async<full> x.subspan(64, 64).at(0, 0) => t;\n"
      "wait full; } }");
  const diag::Fixes fixes = diag::ApplyFixIts(old->sources, old->diags.diagnostics());
  ASSERT_EQ(fixes.files.size(), 1u) << old->Report();
  EXPECT_NE(fixes.files[0].text.find("full_load = tma.load.async x.subspan(64, 64).at(0, 0) => t;\n"
                                     "    trigger full after full_load;"),
            std::string::npos)
      << fixes.files[0].text;
  EXPECT_EQ(AnalyzeText(fixes.files[0].text)->Report(), "");
}

TEST(FixIt, ALoadedOperandBIsNamed) {
  EXPECT_EQ(Fixed("shared bf16 [64, 128] a, k;\nacc = mma.fill.f32 0.0f;\n"
                  "kr = mma.load k;\nmma.row.row acc, a, kr;"),
            "shared bf16 [64, 128] a, k;\nacc = mma.fill.f32 0.0f;\n"
            "kr = mma.load k;\nmma.row.row acc, a, k;");
}

}  // namespace
}  // namespace choreo::sema
