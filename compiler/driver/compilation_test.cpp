#include "driver/compilation.h"

#include <gmock/gmock.h>

#include "driver/arguments.h"
#include "driver/execute.h"
#include "ir/printer.h"

namespace choreo::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kScale = R"(int before;
__co__ void scale(global f32 [N] x, float factor) {
  parallel b by cdiv(N, THREADS) : block, t by THREADS : thread {
    if (b * THREADS + t < N)
      x.at(b * THREADS + t) = x.at(b * THREADS + t) * factor;
  }
}
int after;
)";

CompileOptions WithThreads(const char* count = "128") {
  CompileOptions options;
  options.defines = {{"THREADS", count}};
  return options;
}

std::string Messages(const Compilation& c) {
  std::string text;
  for (const diag::Diagnostic& d : c.diags.diagnostics()) {
    text += c.sources.Describe(d.range.begin) + ": " + d.message + "\n";
  }
  return text;
}

TEST(Compilation, KeepsHostTextAndMakesAKernel) {
  const Compilation c = Compile("scale.co", kScale, WithThreads());
  ASSERT_TRUE(c.ok()) << Messages(c);
  EXPECT_THAT(c.output, HasSubstr("int before;"));
  EXPECT_THAT(c.output, HasSubstr("int after;"));
  EXPECT_THAT(c.output, HasSubstr("__global__"));
  EXPECT_THAT(c.output, Not(HasSubstr("__co__ void scale(global")));
  ASSERT_TRUE(c.lowered.has_value());
  EXPECT_EQ(c.lowered->state, ir::State::Lowered);
}

TEST(Compilation, IsDeterministic) {
  for (const Target target : {Target::Cuda, Target::Sim}) {
    CompileOptions options = WithThreads();
    options.target = target;
    EXPECT_EQ(Compile("scale.co", kScale, options).output,
              Compile("scale.co", kScale, options).output);
  }
}

TEST(Compilation, TheHashCoversMacros) {
  EXPECT_NE(Compile("scale.co", kScale, WithThreads("128")).output,
            Compile("scale.co", kScale, WithThreads("64")).output);
}

TEST(Compilation, IrTextTakesUpWhereItWasPrinted) {
  CompileOptions options = WithThreads();
  options.emit = Emit::Ir;
  const Compilation tile = Compile("scale.co", kScale, options);
  ASSERT_TRUE(tile.ok()) << Messages(tile);
  options.emit = Emit::Lowered;
  const Compilation lowered = Compile("scale.co", kScale, options);
  ASSERT_TRUE(lowered.ok()) << Messages(lowered);
  options.from = InputKind::Ir;
  const Compilation again = Compile("scale.ir", tile.output, options);
  ASSERT_TRUE(again.ok()) << Messages(again);
  EXPECT_EQ(again.output, lowered.output);
  options.from = InputKind::Lowered;
  EXPECT_EQ(Compile("scale.ir", lowered.output, options).output, lowered.output);
}

TEST(Compilation, IrInAnotherStateIsRefused) {
  CompileOptions options = WithThreads();
  options.emit = Emit::Ir;
  const Compilation tile = Compile("scale.co", kScale, options);
  options.from = InputKind::Lowered;
  options.emit = std::nullopt;
  const Compilation c = Compile("scale.ir", tile.output, options);
  ASSERT_EQ(c.diags.error_count(), 1u);
  EXPECT_EQ(c.diags.diagnostics()[0].kind, diag::DiagKind::WrongIrState);
}

TEST(Compilation, StopsWhereItIsTold) {
  for (const PhaseInfo& phase : Phases()) {
    CompileOptions options = WithThreads();
    options.stop_after = phase.name;
    const Compilation c = Compile("scale.co", kScale, options);
    EXPECT_TRUE(c.ok()) << Messages(c);
    EXPECT_FALSE(c.output.empty()) << phase.name;
    EXPECT_EQ(c.times.back().name, phase.name);
  }
}

TEST(Compilation, AfterPassSeesEachPassOnce) {
  CompileOptions options = WithThreads();
  std::vector<std::string> seen, expected;
  options.after_pass = [&](std::string_view name, const ir::Module&) { seen.emplace_back(name); };
  Compile("scale.co", kScale, options);
  expected.emplace_back("lower");
  for (const PhaseInfo& phase : Phases()) {
    if (phase.is_pass) expected.emplace_back(phase.name);
  }
  EXPECT_EQ(seen, expected);
}

TEST(Compilation, ErrorsLeaveNoOutput) {
  const Compilation c = Compile("bad.co", "__co__ void f(global f32 [N] x) { y = ; }\n", {});
  EXPECT_FALSE(c.ok());
  EXPECT_EQ(c.output, "");
  EXPECT_FALSE(c.lowered.has_value());
}

TEST(Compilation, StopProblems) {
  EXPECT_EQ(StopProblem("", Emit::Cuda, InputKind::Co), "");
  EXPECT_EQ(StopProblem("lower", Emit::Ast, InputKind::Co), "");
  EXPECT_THAT(StopProblem("lowr", {}, InputKind::Co), HasSubstr("did you mean `lower`"));
  EXPECT_NE(StopProblem("parse", Emit::Ir, InputKind::Co), "");
  EXPECT_NE(StopProblem("parse", {}, InputKind::Ir), "");
}

TEST(Arguments, ShapeSyntax) {
  std::string problem;
  const auto shape = ParseShape("B=1,x=0.5", problem);
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ((*shape)[1].name, "x");
  EXPECT_EQ((*shape)[1].text, "0.5");
  for (const char* bad : {"B", "B=", "=1", "B=1,B=2", "B=1,,C=2"}) {
    problem.clear();
    EXPECT_FALSE(ParseShape(bad, problem).has_value()) << bad;
    EXPECT_NE(problem, "") << bad;
  }
}

TEST(Arguments, NamesAndEqualDimensions) {
  const Compilation c = Compile("two.co", R"(
__co__ void two(global f32 [N, K] x, global f32 [M, K] y, s32 count) {
  assert(N == M && count > 0, "same");
  parallel b by N : block, t by 32 : thread {
    if (t < K) x.at(b, t) = y.at(b, t) + __to<f32>(count);
  }
}
)",
                                {});
  ASSERT_TRUE(c.ok()) << Messages(c);
  const ir::Kernel& kernel = c.lowered->kernels[0];
  EXPECT_THAT(ShapeNames(kernel), ElementsAre("N", "K", "M", "count"));
  std::string problem;
  EXPECT_THAT(MissingNames(kernel, *ParseShape("M=2", problem)), ElementsAre("K", "count"));
  diag::Emitter diags;
  const auto shape = ParseShape("M=2,K=3,count=7", problem);
  const auto values = MakeArguments(kernel, *shape, diags);
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT((*values)[0].extents, ElementsAre(2, 3));
  EXPECT_THAT((*values)[0].strides, ElementsAre(3, 1));
  EXPECT_EQ((*values)[0].bytes.size(), 24u);
  EXPECT_EQ((*values)[2].scalar, 7u);
  EXPECT_NE((*values)[0].bytes, (*values)[1].bytes);
  for (const char* bad : {"M=-1,K=3,count=7", "M=2,K=2147483648,count=7", "M=2,K=3,count=1.5",
                          "M=2,K=3,count=3000000000", "M=100000,K=1000000,count=1"}) {
    diag::Emitter refused;
    EXPECT_FALSE(MakeArguments(kernel, *ParseShape(bad, problem), refused).has_value()) << bad;
    EXPECT_EQ(refused.error_count(), 1u) << bad;
  }
}

TEST(Arguments, DimensionsThatAnAssertDetermines) {
  const Compilation c = Compile("tasks.co", R"(
__co__ void tasks(global f32 [B, S] x, global f32 [T] y, global f32 [H, U] z) {
  tiles = cdiv(S, 128);
  assert(T == B * tiles && 2 * H == S, "tasks");
  assert(U == T + 1, "one more");
  parallel b by T : block, t by 32 : thread {
    if (t == 0) y.at(b) = x.at(0, b) + z.at(0, b);
  }
}
)",
                                {});
  ASSERT_TRUE(c.ok()) << Messages(c);
  const ir::Kernel& kernel = c.lowered->kernels[0];
  std::string problem;
  // `2 * H == S` does not say what H is.
  EXPECT_THAT(MissingNames(kernel, *ParseShape("B=3,S=300", problem)), ElementsAre("H"));
  EXPECT_THAT(MissingNames(kernel, *ParseShape("T=3,H=4", problem)), ElementsAre("B"));
  diag::Emitter diags;
  const auto shape = ParseShape("B=3,S=300,H=150", problem);
  const auto values = MakeArguments(kernel, *shape, diags);
  ASSERT_TRUE(values.has_value());
  EXPECT_THAT((*values)[1].extents, ElementsAre(9));
  EXPECT_THAT((*values)[2].extents, ElementsAre(150, 10));
  EXPECT_EQ(Determined(kernel, *shape).size(), 5u);
}

TEST(Execute, ComputesTheSameUnderEverySchedule) {
  const Compilation c = Compile("scale.co", kScale, WithThreads());
  ASSERT_TRUE(c.ok()) << Messages(c);
  std::string problem;
  const auto shape = ParseShape("N=1000,factor=3", problem);
  diag::Emitter diags;
  const auto execution =
      Execute(*c.lowered, c.lowered->kernels[0], *shape, {3, 1}, c.sources, c.file, diags);
  ASSERT_TRUE(execution.has_value());
  EXPECT_EQ(execution->ctas, 8u);
  EXPECT_EQ(execution->schedules, 3u);
  EXPECT_EQ(execution->findings, 0u);
  const auto before = MakeArguments(c.lowered->kernels[0], *shape, diags);
  const auto* in = reinterpret_cast<const float*>((*before)[0].bytes.data());
  const auto* out = reinterpret_cast<const float*>(execution->arguments[0].bytes.data());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(out[i], 3.0f * in[i]) << i;
}

}  // namespace
}  // namespace choreo::driver
