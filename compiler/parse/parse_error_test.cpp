// One program for each diagnostic of the parser: exactly that one is reported, at the right line.
// The last test compares the table with the registry.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "parse/parse_testing.h"

namespace choreo::parse::testing {
namespace {

struct Case {
  std::string_view kind;
  std::string_view statements;  // the mistake stands on their first line, which is line 2
};

const Case kCases[] = {
    {"UnexpectedToken", "foreach i on n { }"},
    {"UnexpectedToken", "v = n n;"},
    {"UnexpectedToken", "v = n ? 1;"},
    {"UnexpectedToken", "dma.copy x -> y;"},
    {"UnexpectedToken", "sync.all;"},
    {"UnexpectedToken", "copy(a b);"},
    {"UnexpectedToken", "v = arr[1, 2];"},
    {"UnexpectedToken", "v = x.at(1 : 2);"},
    {"UnexpectedToken", "foreach i(3) { }"},
    {"UnexpectedToken", "foreach i in n : roll(2) { }"},
    {"UnexpectedToken", "apply i in x.span { }"},
    {"UnexpectedToken", "v = any_of.block({i} in x.span, true);"},
    {"UnexpectedToken", "v = any_of.warp.warp({i} in x.span, true);"},
    {"UnexpectedToken", "v = any_of.parts.warp.parts({i} in x.span, true);"},
    {"UnexpectedToken", "v = any_of.warp.({i} in x.span, true);"},
    {"UnexpectedToken", "v = __to(n);"},
    {"ExpectedExpression", "v = n + ;"},
    {"ExpectedExpression", "v = n + * 2;"},
    {"ExpectedExpression", "v = {};"},
    {"ExpectedExpression", "wait ;"},
    {"ExpectedExpression", "frag f32 [] m;"},
    {"ExpectedStatement", "{ if (n) }"},
    {"ExpectedStatement", "=> n;"},
    {"ExpectedName", "mutable u32 wait = 0;"},
    {"ExpectedName", "call 3;"},
    {"ExpectedName", "parallel 3 by 4 : block { }"},
    {"MissingSemicolon", "v = n\nw = 3;"},
    {"MissingSemicolon", "wait f\nwait g;"},
    {"MissingSemicolon", "if (n) { v = n }"},
    {"MissingSemicolon", "v = n wait f;"},
    {"UnknownStatement", "foreech i in n { v = i; }"},
    {"UnknownStatement", "wiat f;"},
    {"UnknownStatement", "iff (n) { v = 1; }"},
    {"NotAStatement", "n + 1;"},
    {"NotAStatement", "x.at(0, 0);"},
    {"ElseWithoutIf", "else { v = 1; }"},
    {"UnclosedBracket", "v = x.at(n = 3;"},
    {"UnclosedBracket", "if (n > 3 { v = 1; }"},
    {"UnclosedBracket", "v = k[n;"},
    {"UnclosedBracket", "v = cdiv(n, 2\nforeach i in n { }"},
    {"StrayBracket", "v = (n + 1));"},
    {"StrayBracket", "frag f32 64] m;"},
    {"MismatchedBracket", "v = k[n);"},
    {"MismatchedBracket", "v = k(n];"},
    {"UnknownType", "flaot v = n;"},
    {"UnknownType", "uint32_t v = n;"},
    {"UnknownType", "long float v = n;"},
    {"UnknownType", "v = __to<foo>(n);"},
    {"UnknownType", "shared foo [2] v;"},
    {"UnknownType", "bf17 [2] v;"},
    {"TypeAsValue", "v = f32(n);"},
    {"ReservedName", "mutable f32 inf = 0.0f;"},
    {"ReservedName", "f32 = n;"},
    {"ReservedName", "foreach _ in n { }"},
    {"MissingType", "mutable v = 3;"},
    {"MissingShape", "shared f32 v;"},
    {"MissingShape", "frag f32 v[64];"},
    {"EventStorage", "event e;"},
    {"EventStorage", "local event e;"},
    {"EventStorage", "shared event [2] e;"},
    {"BadInitializer", "frag f32 [64] m = -inf;"},
    {"BadInitializer", "frag f32 [64] m {1, 2};"},
    {"BadInitializer", "frag f32 [64] m = {1};"},
    {"BadInitializer", "shared f32 [64] m = ready;"},
    {"BadInitializer", "shared event e = 1;"},
    {"BadInitializer", "shared event e {0};"},
    {"BadInitializer", "u32 v {3};"},
    {"BadInitializer", "u32 v(3);"},
    {"ReturnValue", "return n;"},
    {"AssignmentInExpression", "if (n = 3) { }"},
    {"AssignmentInExpression", "v = w = 3;"},
    {"AssignmentInExpression", "v = cdiv(n += 1, 2);"},
    {"NotAssignable", "n + 1 = 3;"},
    {"OperationInExpression", "wait tma.load.async x => y;"},
    {"OperationInExpression", "v = 1 + mma.load q;"},
    {"OperationInExpression", "v = 1 + atomic.add x.at(0), 1;"},
    {"UnsupportedConstruct", "shared cluster s32 [2] next;"},
    {"NoValue", "v = mma.store acc, x;"},
    {"RangeMismatch", "foreach {i, j} in [n] { }"},
    {"RangeMismatch", "parallel by [n, 2] : block { }"},
    {"RangeMismatch", "with {i, j} in n { }"},
    {"MissingMessage", "assert(n > 0);"},
    {"UnknownLevel", "parallel p by 3 : warp { }"},
    {"UnknownLevel", "parallel p by 3 : group-8 { }"},
    {"MissingLevel", "parallel p by 3 { }"},
    {"UnknownSuffix", "dma.copy.evict_last x => y;"},
    {"UnknownSuffix", "parallel.sync p by 3 : block { }"},
    {"UnknownSuffix", "mma.foo a, b, c;"},
    {"UnknownSuffix", "mma.fill.f33 0.0f;"},
    {"RepeatedSuffix", "tma.load.async.async x => y;"},
    {"ConflictingSuffixes", "tma.load.evict_first.evict_last x => y;"},
    {"ConflictingSuffixes", "tma.load.copy x => y;"},
    {"SuffixArgument", "dma.copy.swiz x => y;"},
    {"SuffixArgument", "tma.load.evict_last<3> x => y;"},
    {"SuffixArgument", "dma.copy.async<e> x => y;"},
    {"BadSwizzle", "dma.copy.swiz<256> x => y;"},
    {"BadSwizzle", "dma.copy.swiz<n> x => y;"},
    {"IncompleteOperation", "dma x => y;"},
    {"IncompleteOperation", "tma.async x => y;"},
    {"IncompleteOperation", "mma.row a, b, c;"},
    {"IncompleteOperation", "acc = mma.fill 0.0f;"},
    {"AnonymousTile", "v = dma.copy x => frag;"},
    {"OperandCount", "mma.row.row a, b;"},
    {"OperandCount", "mma.store acc;"},
    {"OperandCount", "atomic.add x.at(0);"},
    {"UnknownAtomic", "v = atomic.exchange x.at(0), 1;"},
    {"UnknownAtomic", "atomic.inc x.at(0), 1;"},
    {"ObsoleteMmaWait", "mma.wait<0>;"},
    {"BadAttribute", "[[]] v = n;"},
    {"BadAttribute", "[[gnu::x]] v = n;"},
    {"BadAttribute", "[[x]];"},
    {"UnsupportedConstruct", "for (int i = 0; i < n; ++i) { v = n; }"},
    {"UnsupportedConstruct", "do { v = n; } while (n > 0);"},
    {"UnsupportedConstruct", "switch (n) { case 1: break; default: v = 3; }"},
    {"UnsupportedConstruct", "goto end;"},
    {"UnsupportedConstruct", "end: v = n;"},
    {"UnsupportedConstruct", "struct S { int a; };"},
    {"UnsupportedConstruct", "using T = int;"},
    {"UnsupportedConstruct", "const u32 v = 3;"},
    {"UnsupportedConstruct", "int* p = 0;"},
    {"UnsupportedConstruct", "int& r = n;"},
    {"UnsupportedConstruct", "float v[4] = {1, 2};"},
    {"UnsupportedConstruct", "v = (float)n;"},
    {"UnsupportedConstruct", "v = static_cast<float>(n);"},
    {"UnsupportedConstruct", "v = sizeof(n);"},
    {"UnsupportedConstruct", "v = *n;"},
    {"UnsupportedConstruct", "v = &n;"},
    {"UnsupportedConstruct", "v = p->q;"},
    {"UnsupportedConstruct", "v = ns::f(n);"},
    {"UnsupportedConstruct", "ns::f(n);"},
    {"UnsupportedConstruct", "auto g = [&](int a) { return a; };"},
    {"UnsupportedConstruct", "each(n, [](int a) { b = a; return a; });"},
    {"UnsupportedConstruct", "call f<3>(n);"},
    {"UnsupportedConstruct", "global f32 [4] v;"},
    {"UnsupportedConstruct", "if constexpr (n) { }"},
    {"UnsupportedConstruct", "shared f32 [4][4] v;"},
    {"UnsupportedConstruct", "void g(int a) { }"},
};

class Errors : public ::testing::TestWithParam<Case> {};

TEST_P(Errors, AreReportedOnceAndAlone) {
  const Case& c = GetParam();
  // What follows must be parsed as if nothing had happened.
  const auto parsed = ParseStatements(fmt::format("{}\nafterwards = n;", c.statements));
  EXPECT_EQ(parsed->Found(), std::vector<std::string>{fmt::format("{}@2", c.kind)})
      << c.statements << "\n"
      << parsed->Report();
  EXPECT_NE(parsed->Dump().find("assign afterwards = n"), std::string::npos) << parsed->Dump();
}

INSTANTIATE_TEST_SUITE_P(Table, Errors, ::testing::ValuesIn(kCases));

struct FunctionCase {
  std::string_view kind, text;
};

const FunctionCase kFunctionCases[] = {
    {"ReturnType", "__co__ int f(int n) { v = n; }"},
    {"ReturnType", "__co__ f32 [n] f(int n) { v = n; }"},
    {"ReturnType", "__co__ auto f(int n) { v = n; }"},
    {"UnexpectedToken", "__co__ f(int n) { v = n; }"},
    {"UnexpectedToken", "__co__ void f(int n float m) { v = n; }"},
    {"ExpectedName", "__co__ void f(int) { v = 1; }"},
    {"ExpectedName", "__co__ void f(int n, 3) { v = n; }"},
    {"UnknownType", "__co__ void f(foo n) { v = n; }"},
    {"UnknownType", "__co__ void f(global auto [N] n) { v = n; }"},
    {"UnknownType", "__co__ void f(foo n, foo m) { foo v = n; }"},
    {"MissingShape", "__co__ void f(global f32 x) { v = x; }"},
    {"MissingShape", "__co__ void f(f32 x[N]) { v = x; }"},
    {"ReservedName", "__co__ void f(int new) { v = 1; }"},
    {"UnsupportedConstruct", "__co__ void f(float* p, int n) { v = n; }"},
    {"UnsupportedConstruct", "__co__ void f(const int n) { v = n; }"},
    {"UnsupportedConstruct", "__co__ void f(int n = 3) { v = n; }"},
    {"UnsupportedConstruct", "__co__ void f(shared f32 [4] n) { v = n; }"},
    {"UnclosedBracket", "__co__ void f(int n { v = n; }"},
};

class FunctionErrors : public ::testing::TestWithParam<FunctionCase> {};

TEST_P(FunctionErrors, AreReportedOnceAndAlone) {
  const auto parsed = ParseText(fmt::format("{}\n", GetParam().text));
  EXPECT_EQ(parsed->Found(), std::vector<std::string>{fmt::format("{}@1", GetParam().kind)})
      << GetParam().text << "\n"
      << parsed->Report();
  EXPECT_NE(parsed->Dump().find(" v = "), std::string::npos) << parsed->Dump();
}

INSTANTIATE_TEST_SUITE_P(Table, FunctionErrors, ::testing::ValuesIn(kFunctionCases));

TEST(Errors, EveryKindIsTested) {
  std::set<std::string_view> tested = {"NestingTooDeep",
                                       "TooManySyntaxErrors"};  // recovery_test.cpp
  for (const Case& c : kCases) tested.insert(c.kind);
  for (const FunctionCase& c : kFunctionCases) tested.insert(c.kind);
#define CHOREO_DIAG(kind, ...) EXPECT_TRUE(tested.contains(#kind)) << #kind;
#include "diag/parse_diags.def"
#undef CHOREO_DIAG
}

// ---- fix-its
// --------------------------------------------------------------------------------------

// The text with the fix-its applied that `--fix` would apply.
std::string Fixed(std::string_view statements) {
  const auto parsed = ParseStatements(statements);
  std::string text(parsed->sources.Text(parsed->unit.file));
  const auto& all = parsed->diags.diagnostics();
  for (auto d = all.rbegin(); d != all.rend(); ++d) {
    for (const diag::FixIt& fix : d->fixits) {
      if (fix.is_hint) continue;
      text.replace(fix.range.begin.offset, fix.range.end - fix.range.begin.offset, fix.text);
    }
  }
  const size_t begin = text.find('\n') + 1;
  return text.substr(
      begin, statements.size() + text.size() - parsed->sources.Text(parsed->unit.file).size());
}

TEST(FixIts, RepairTheText) {
  EXPECT_EQ(Fixed("v = n\nwait f"), "v = n;\nwait f;");
  EXPECT_EQ(Fixed("uint32_t v = 3;"), "u32 v = 3;");
  EXPECT_EQ(Fixed("const u32 v = 3;"), "u32 v = 3;");
  EXPECT_EQ(Fixed("event e;"), "shared event e;");
  EXPECT_EQ(Fixed("frag f32 [4] v = {0};"), "frag f32 [4] v  {0};");
}

TEST(FixIts, HintsShowTheKeyword) {
  const auto parsed = ParseStatements("foreech i in n { }");
  ASSERT_EQ(parsed->diags.diagnostics().size(), 1u);
  ASSERT_EQ(parsed->diags.diagnostics()[0].fixits.size(), 1u);
  EXPECT_TRUE(parsed->diags.diagnostics()[0].fixits[0].is_hint);
  EXPECT_EQ(parsed->diags.diagnostics()[0].fixits[0].text, "foreach");
}

TEST(Notes, ShowTheMacro) {
  const auto parsed = ParseText("#define BAD n + ;\n__co__ void f(int n) {\n  v = BAD;\n}\n");
  ASSERT_EQ(parsed->diags.diagnostics().size(), 1u) << parsed->Report();
  const diag::Diagnostic& d = parsed->diags.diagnostics()[0];
  EXPECT_EQ(parsed->sources.Position(d.range.begin).line, 3u);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(parsed->sources.Position(d.notes[0].range.begin).line, 1u);
}

TEST(Notes, ShowWhereTheBracketWasOpened) {
  const auto parsed = ParseStatements("v = x.at(n, 2;");
  ASSERT_EQ(parsed->diags.diagnostics().size(), 1u);
  const diag::Diagnostic& d = parsed->diags.diagnostics()[0];
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(parsed->sources.Text(d.notes[0].range), "(");
  EXPECT_EQ(d.notes[0].message, "`(` was opened here");
}

}  // namespace
}  // namespace choreo::parse::testing
