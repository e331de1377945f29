#include <gtest/gtest.h>

#include "parse/parse_testing.h"

namespace choreo::parse::testing {
namespace {

struct Case {
  std::string_view text, tree;
};

class Expressions : public ::testing::TestWithParam<Case> {};

TEST_P(Expressions, HaveTheirTree) { EXPECT_EQ(DumpExpression(GetParam().text), GetParam().tree); }

INSTANTIATE_TEST_SUITE_P(
    Precedence, Expressions,
    ::testing::Values(
        Case{"a + b * c", "(a + (b * c))"}, Case{"a * b + c", "((a * b) + c)"},
        Case{"a - b - c", "((a - b) - c)"}, Case{"a << 1 + 2", "(a << (1 + 2))"},
        Case{"a < b == c > d", "((a < b) == (c > d))"}, Case{"a & b == c", "(a & (b == c))"},
        Case{"a | b ^ c & d", "(a | (b ^ (c & d)))"}, Case{"a || b && !c", "(a || (b && (!c)))"},
        Case{"-a * ~b", "((-a) * (~b))"}, Case{"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
        Case{"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"}, Case{"x # y * 2", "((x # y) * 2)"},
        Case{"2 * x # y", "(2 * (x # y))"}, Case{"x # y # z", "((x # y) # z)"},
        Case{"#x * #y", "((#x) * (#y))"}, Case{"#x # y", "((#x) # y)"},
        Case{"(a + b) * c", "((a + b) * c)"}, Case{"x.at(i)++ + --y", "((x.at(i)++) + (--y))"},
        Case{"a - -b", "(a - (-b))"}));

INSTANTIATE_TEST_SUITE_P(
    Operands, Expressions,
    ::testing::Values(
        Case{"3", "3"}, Case{"0x10u", "16:u32"}, Case{"0.5", "0.5:f64"}, Case{"1.0f", "1:f32"},
        Case{"true", "true"}, Case{"-inf", "(-inf:f32)"}, Case{"'a'", "97"},
        Case{"{n, 7} + {1, 1}", "({n, 7} + {1, 1})"}, Case{"[n, 2 * n]", "[n, (2 * n)]"},
        Case{"|x.span| + |n|", "(|x.span| + |n|)"}, Case{"a | |x.span|", "(a | |x.span|)"},
        Case{"|x.span| | a", "(|x.span| | a)"}, Case{"|a + b * c|", "|(a + (b * c))|"},
        Case{"__to<bf16>(a) >> 3u", "(__to<bf16>(a) >> 3:u32)"},
        Case{"__to<unsigned long long>(a)", "__to<u64>(a)"},
        Case{"__max(a, __exp2f(b))", "__max(a, __exp2f(b))"},
        Case{"any_of({i} in m.span, m.at(i) > 8.0f)", "any_of({i} in m.span, (m.at(i) > 8:f32))"},
        Case{"any_of.warp({i, j} in m.span, true)", "any_of.warp({i, j} in m.span, true)"},
        Case{"any_of.parts({i} in l.span, true)", "any_of.parts({i} in l.span, true)"},
        Case{"any_of.warp.parts({i} in l.span, true)", "any_of.warp.parts({i} in l.span, true)"},
        Case{"any_of.parts.warp({i} in l.span, true)", "any_of.warp.parts({i} in l.span, true)"}));

INSTANTIATE_TEST_SUITE_P(
    Views, Expressions,
    ::testing::Values(
        Case{"x.subspan(1, _, D).at(b, 0, h).sqz()", "x.subspan(1, _, D).at(b, 0, h).sqz()"},
        Case{"x.view(2, 3 : N, 1).from(0, i)", "x.view(2, 3 : N, 1).from(0, i)"},
        Case{"x.view(2, 3).from(o)", "x.view(2, 3).from(o)"},
        Case{"q.chunkat(wgm, _)", "q.chunkat(wgm, _)"},
        Case{"x.span_as([2, 3])", "x.span_as([2, 3])"}, Case{"x.span(0)", "x.span(0)"},
        Case{"x.subspan(2, 2).step(1, 2).at(i, j)", "x.subspan(2, 2).step(1, 2).at(i, j)"},
        Case{"k_buf[k % 2].at(i, j)", "k_buf[(k % 2)].at(i, j)"}, Case{"f.data", "f.data"},
        Case{"x.span(0)(1)", "x.span(0)(1)"}));

// Words that mean something in one construct only are names everywhere else.
INSTANTIATE_TEST_SUITE_P(
    ContextualWords, Expressions,
    ::testing::Values(Case{"block + group * thread", "(block + (group * thread))"},
                      Case{"load.at(row, col)", "load.at(row, col)"},
                      Case{"half / in + by", "((half / in) + by)"},
                      Case{"x.event(wait_order).shared", "x.event(wait_order).shared"},
                      Case{"ready ? after : unroll", "(ready ? after : unroll)"}));

INSTANTIATE_TEST_SUITE_P(
    Operations, Expressions,
    ::testing::Values(Case{"dma.copy x => shared", "dma.copy x => shared"},
                      Case{"dma.swiz<64>.async.copy x => y", "dma.copy.async.swiz<64> x => y"},
                      Case{"dma.copy.swiz<2 * 64> x => local", "dma.copy.swiz<128> x => local"},
                      Case{"tma.load.async.evict_first.swiz<128> x.at(i) => y[s]",
                           "tma.load.async.evict_first.swiz<128> x.at(i) => y[s]"},
                      Case{"tma.evict_last.load.swiz<(32)> x => y",
                           "tma.load.evict_last.swiz<32> x => y"},
                      Case{"tma.copy.async<full[s]> x => y", "tma.copy.async<full[s]> x => y"},
                      Case{"mma.fill.f32 0.0f", "mma.fill.f32 0:f32"},
                      Case{"mma.row.row.async acc, q.chunkat(w, _), k",
                           "mma.row.row.async acc, q.chunkat(w, _), k"},
                      Case{"mma.async.row.col acc, a, b[i]", "mma.row.col.async acc, a, b[i]"},
                      Case{"mma.load.swiz<128> q", "mma.load.swiz<128> q"}));

TEST(Expressions, TupleElementIsToldFromCall) {
  const auto parsed = ParseStatements("pair = {n, 7};\na = pair(0);\nb = cdiv(n, 2);");
  EXPECT_EQ(parsed->Report(), "");
  int elements = 0, calls = 0;
  for (const ast::Expr& expr : parsed->file.exprs) {
    if (const auto* call = std::get_if<ast::MethodCall>(&expr.node))
      elements += call->name.text.empty();
    calls += std::holds_alternative<ast::Call>(expr.node);
  }
  EXPECT_EQ(elements, 1);
  EXPECT_EQ(calls, 1);
}

TEST(Expressions, ParenthesesAreRemembered) {
  const auto parsed = ParseStatements("v = (n);");
  ASSERT_EQ(parsed->file.exprs.size(), 4u);  // N twice, v, n
  EXPECT_TRUE(parsed->file.exprs[ast::ExprId(3)].parenthesized);
  EXPECT_EQ(parsed->sources.Text(parsed->file.exprs[ast::ExprId(3)].range), "(n)");
}

TEST(Expressions, RangesCoverWhatWasWritten) {
  const auto parsed = ParseStatements("v = n + x.at(n, 0) * 2;");
  bool found = false;
  for (const ast::Expr& expr : parsed->file.exprs) {
    found = found || parsed->sources.Text(expr.range) == "n + x.at(n, 0) * 2";
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace choreo::parse::testing
