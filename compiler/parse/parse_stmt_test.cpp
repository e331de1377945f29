#include <gtest/gtest.h>

#include "parse/parse_testing.h"

namespace choreo::parse::testing {
namespace {

struct Case {
  std::string_view text, tree;
};

class Statements : public ::testing::TestWithParam<Case> {};

TEST_P(Statements, HaveTheirTree) { EXPECT_EQ(DumpStatements(GetParam().text), GetParam().tree); }

INSTANTIATE_TEST_SUITE_P(
    Declarations, Statements,
    ::testing::Values(Case{"mutable u32 k = 0, v = 1;", "scalar mutable u32 k = 0, v = 1\n"},
                      Case{"unsigned int a = 1; long b = 2; auto c = 3;",
                           "scalar u32 a = 1\nscalar s64 b = 2\nscalar auto c = 3\n"},
                      Case{"half h = n; bool b = true; long long l = 0;",
                           "scalar f16 h = n\nscalar bool b = true\nscalar s64 l = 0\n"},
                      Case{"half = n / 2;", "assign half = (n / 2)\n"},
                      Case{"shared bf16 [128, 128] k_buf[2], q;",
                           "storage shared bf16 [128, 128] k_buf[2], q\n"},
                      Case{"frag f32 [64] m {-inf}, l {0.0f};",
                           "storage frag f32 [64] m {(-inf:f32)}, l {0:f32}\n"},
                      Case{"bf16 [16] t; local half [4] u;",
                           "storage local bf16 [16] t\nstorage local f16 [4] u\n"},
                      Case{"shared event e; shared event kf[S], ke[S] = ready;",
                           "storage shared event e\nstorage shared event kf[S], ke[S] = ready\n"},
                      Case{"auto f = dma.copy.async x => shared;",
                           "scalar auto f = dma.copy.async x => shared\n"}));

INSTANTIATE_TEST_SUITE_P(
    Atomics, Statements,
    ::testing::Values(
        Case{"atomic.add n.at(0), 1;", "do atomic.add n.at(0), 1\n"},
        Case{"old = atomic.max n.at(i), a + b;", "assign old = atomic.max n.at(i), (a + b)\n"},
        Case{"next.at(0) = atomic.add n.at(0), 1;", "assign next.at(0) = atomic.add n.at(0), 1\n"},
        Case{"u32 a = atomic.min n.at(0), 1, b = 2;",
             "scalar u32 a = atomic.min n.at(0), 1, b = 2\n"},
        Case{"s32 atomic = 1; atomic = 2;", "scalar s32 atomic = 1\nassign atomic = 2\n"}));

INSTANTIATE_TEST_SUITE_P(
    Simple, Statements,
    ::testing::Values(
        Case{"v = n; v += 2; v <<= 1; x.at(0, 0) = 1.0f; a[i] ^= 3;",
             "assign v = n\nassign v += 2\nassign v <<= 1\nassign x.at(0, 0) = 1:f32\n"
             "assign a[i] ^= 3\n"},
        Case{"i++; --j; copy(a, b);", "do (i++)\ndo (--j)\ndo copy(a, b)\n"},
        Case{"wait f, e.at(o); trigger e; trigger e.at(o++) after f, g;",
             "wait f, e.at(o)\ntrigger e\ntrigger e.at((o++)) after f, g\n"},
        Case{"call croq::cuda::setreg_dec(40); setreg_inc(232); call g();",
             "call croq::cuda::setreg_dec(40)\ncall setreg_inc(232)\ncall g()\n"},
        Case{"sync.shared; return; break; continue;", "sync.shared\nreturn\nbreak\ncontinue\n"},
        Case{"sync = 3; after = sync;", "assign sync = 3\nassign after = sync\n"},
        Case{"assert(n > 0, \"a \" \"b\"); __cpp__(\"x();\");",
             "assert (n > 0), \"a b\"\ncpp, 4 bytes\n"},
        Case{"mma.store acc, o; dma.copy a => b; tma.copy o => x;",
             "mma.store acc, o\ndo dma.copy a => b\ndo tma.copy o => x\n"},
        Case{"[[schedule(k_tiles(1, 0))]] mma.row.row acc, a, b;",
             "do mma.row.row acc, a, b\n  attribute schedule(k_tiles(1, 0))\n"},
        Case{";; { }", "block\n"}));

INSTANTIATE_TEST_SUITE_P(
    Scopes, Statements,
    ::testing::Values(
        Case{"parallel p by 3 : group-4, t by 128 : thread { }",
             "parallel {p} by [3] : group-4, {t} by [128] : thread\n  block\n"},
        Case{"parallel {x, y} by [n, 2] : block { }",
             "parallel {x, y} by [n, 2] : block\n  block\n"},
        Case{"parallel by n : group { }", "parallel by [n] : group\n  block\n"},
        Case{"parallel by by by : block { }", "parallel {by} by [by] : block\n  block\n"},
        Case{"[[launch_bounds(_, 1), maxnreg(n)]] [[a]] parallel.async b by n > 1 ? 2 : 1 : block "
             "{ }",
             "parallel.async {b} by [((n > 1) ? 2 : 1)] : block\n"
             "  attribute launch_bounds(_, 1)\n  attribute maxnreg(n)\n  attribute a()\n  block\n"},
        Case{"inthreads (p == 0 && t < 64) i++;",
             "inthreads ((p == 0) && (t < 64))\n  block\n    do (i++)\n"},
        Case{"inthreads.async (p > 0) { }", "inthreads.async (p > 0)\n  block\n"},
        Case{"apply {i, j} in acc.span acc.at(i, j) = 0.0f;",
             "apply {i, j} in acc.span\n  block\n    assign acc.at(i, j) = 0:f32\n"}));

INSTANTIATE_TEST_SUITE_P(
    ControlFlow, Statements,
    ::testing::Values(
        Case{"foreach {i, j} in [n, 2] { }", "foreach i in n, j in 2\n  block\n"},
        Case{"foreach i in n - 1 a += i;", "foreach i in (n - 1)\n  block\n    assign a += i\n"},
        Case{"foreach i in [n] : unroll(2) { }", "foreach i in n : unroll(2)\n  block\n"},
        Case{"foreach in in in { }", "foreach in in in\n  block\n"},
        Case{"foreach y(1 : -2 : 3), x( : 4), z(::2), w(2:) : unroll(4) { }",
             "foreach y(1 : (-2) : 3), x(_ : 4 : _), z(_ : _ : 2), w(2 : _ : _) : unroll(4)\n  "
             "block\n"},
        Case{"foreach x, y { }", "foreach x, y\n  block\n"},
        Case{"with idx = {a, b} in [n, 6] { }", "with idx = {a, b} in [n, 6]\n  block\n"},
        Case{"with {a} in [n] { } with b in n { }",
             "with {a} in [n]\n  block\nwith {b} in [n]\n  block\n"},
        Case{"if (n) i++; else if (n > 1) { } else j++;",
             "if n\n  block\n    do (i++)\nelse\n  if (n > 1)\n    block\n  else\n    block\n      "
             "do (j++)\n"},
        Case{"while (n > 0) { }", "while (n > 0)\n  block\n"}, Case{"if (n);", "if n\n  block\n"}));

// The first token of the statement is the argument, which stands at column 8.
TEST(Statements, PlacesAreThoseOfTheMacroUse) {
  const auto parsed =
      ParseText("#define BUMP(v) v = v + 1\n__co__ void f(int n) {\n  BUMP(n);\n}\n");
  EXPECT_EQ(parsed->Dump(),
            "function f @2:1\n  param n: s32 @2:15\n  block @2:22\n    assign n = (n + 1) @3:8\n");
}

TEST(Functions, Parameters) {
  const auto parsed = ParseText(
      "__co__ void f(bf16 [B, 2] q, global unsigned char [N] in, int n, float limit) {}\n"
      "__co__ void g() {}\n__co__ void h(void) {}\n");
  EXPECT_EQ(parsed->Report(), "");
  EXPECT_EQ(parsed->Dump(),
            "function f @1:1\n"
            "  param q: bf16 [B, 2] @1:15\n"
            "  param in: global u8 [N] @1:30\n"
            "  param n: s32 @1:59\n"
            "  param limit: f32 @1:66\n"
            "  block @1:79\n"
            "function g @2:1\n  block @2:17\n"
            "function h @3:1\n  block @3:21\n");
  EXPECT_EQ(parsed->file.functions[ast::FunctionId(2)].unit_index, 2u);
}

}  // namespace
}  // namespace choreo::parse::testing
