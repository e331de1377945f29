// Macro definition, expansion and conditions, seen through tile functions.
#include <gtest/gtest.h>

#include "lex/test_support.h"

namespace choreo::lex {
namespace {

// What `use` becomes in a tile function after `definitions`.
std::string Expand(const std::string& definitions, const std::string& use) {
  const Source source(definitions + "\n" + Function(use));
  return source.diags.has_errors() ? source.Kinds() : source.Body();
}

TEST(Macro, ObjectAndFunctionLike) {
  EXPECT_EQ(Expand("#define N 64\n#define M N*2", "N M"), "64 64 * 2");
  EXPECT_EQ(Expand("#define ADD(a, b) (a + b)", "ADD(1, ADD(2, 3)) ADD"), "( 1 + ( 2 + 3 ) ) ADD");
  EXPECT_EQ(Expand("#define F(x) x", "F((1, 2)) F()"), "( 1 , 2 )");
  EXPECT_EQ(Expand("#define F() 1\n#define G (2)", "F() G F( )"), "1 ( 2 ) 1");
  EXPECT_EQ(Expand("#define F(x) <x>\n", "F\n(1)"), "< 1 >") << "the list may be on the next line";
}

TEST(Macro, NeverExpandsInsideItself) {
  EXPECT_EQ(Expand("#define A A + 1", "A"), "A + 1");
  EXPECT_EQ(Expand("#define A B\n#define B A", "A B"), "A B");
  EXPECT_EQ(Expand("#define F(x) F(x + 1)", "F(F(1))"), "F ( F ( 1 + 1 ) + 1 )");
  // The examples of the C standard, 6.10.3.5.
  EXPECT_EQ(
      Expand("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
             "#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a",
             "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);"),
      "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) "
      ";");
  EXPECT_EQ(Expand("#define f(a) a*g\n#define g(a) f(a)", "f(2)(9)"), "2 * 9 * g");
}

TEST(Macro, StringsAndPastes) {
  EXPECT_EQ(Expand("#define S(x) #x\n#define X S(N)\n#define N 1", "S(a  +\t\"b\\n\") X S()"),
            "\"a + \\\"b\\\\n\\\"\" \"N\" \"\"");
  EXPECT_EQ(Expand("#define CAT(a, b) a##b\n#define N 1", "CAT(k_, N) CAT(1, 2) CAT(, y) CAT(x,)"),
            "k_N 12 y x");
  EXPECT_EQ(Expand("#define C(a, b, c) a ## b ## c", "C(<, <, =) C(,,z) C(x,,)"), "<<= z x");
  EXPECT_EQ(Expand("#define O tile ## 1", "O"), "tile1") << "without parameters too";
  EXPECT_EQ(
      Expand("#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n"
             "#define join(c, d) in_between(c hash_hash d)",
             "join(x, y)"),
      "\"x ## y\"");
  EXPECT_EQ(Expand("#define J(a, b) a ## b", "J(a +, + b)"), "a ++ b");
  EXPECT_EQ(Expand("#define BAD(a, b) a ## b", "BAD(+, 1)"), "[InvalidPaste]");
  EXPECT_EQ(Expand("#define BAD(a, b) a ## b", "BAD(/, *)"), "[InvalidPaste]");
}

TEST(Macro, Variadic) {
  EXPECT_EQ(Expand("#define V(...) f(__VA_ARGS__)", "V() V(1) V(1, 2)"),
            "f ( ) f ( 1 ) f ( 1 , 2 )");
  EXPECT_EQ(Expand("#define V(a, ...) f(a, ##__VA_ARGS__)", "V(1) V(1, 2, 3)"),
            "f ( 1 ) f ( 1 , 2 , 3 )");
  EXPECT_EQ(Expand("#define V(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)", "V(1) V(1, 2)"),
            "f ( 1 ) f ( 1 , 2 )");
  EXPECT_EQ(Expand("#define V(rest...) #rest", "V(a, b)"), "\"a, b\"");
}

TEST(Macro, LinesAndFiles) {
  EXPECT_EQ(Expand("#define HERE __LINE__", "\nHERE\n__LINE__ __FILE__"), "3 4 \"test.co\"");
}

TEST(Macro, ArgumentMistakes) {
  EXPECT_EQ(Expand("#define F(a, b) a", "F(1)"), "[MacroArgumentCount]");
  EXPECT_EQ(Expand("#define F() a", "F(1)"), "[MacroArgumentCount]");
  EXPECT_EQ(Expand("#define F(a, ...) a", "F(1) F(1, 2, 3)"), "1 1");
  EXPECT_EQ(Expand("#define F(a) a", "F(1"), "[UnterminatedMacroUse]");
}

TEST(Macro, DefinitionMistakes) {
  for (const char* line :
       {"#define", "#define 3", "#define defined", "#define F(a", "#define F(a,", "#define F(1)",
        "#define F(a, a)", "#define F(..., a)", "#define F(a) #b", "#define F(a) ## a",
        "#define F(a) a ##", "#define G ## x", "#undef", "#define F(...) __VA_OPT__ x",
        "#define F(...) __VA_OPT__(__VA_OPT__(x))"}) {
    const Source source(std::string(line) + "\n" + Function(""));
    EXPECT_EQ(source.Kinds(true), "1 [InvalidMacroDefinition]") << line;
  }
}

TEST(Macro, PlacesOfTokens) {
  const Source source("#define N 64\n#define TWO(x) (x * N)\n" + Function(" TWO(i);"));
  const auto describe = [&](size_t i) {
    const Token& token = source.unit.functions[0].tokens[6 + i];
    return std::string(token.text) + " " + source.sources.Describe(token.range.begin) + " " +
           source.sources.Describe(token.use.begin);
  };
  EXPECT_EQ(describe(0), "( test.co:2:16 test.co:3:19");
  EXPECT_EQ(describe(1), "i test.co:3:23 test.co:3:23") << "an argument stands where it is written";
  EXPECT_EQ(describe(3), "64 test.co:1:11 test.co:3:19") << "the outermost use";
}

// Whether `#if condition` is taken.
std::string If(const std::string& condition) {
  return Expand("#define N 64\n#define F(x) (x)\n#define D defined(N)",
                "\n#if " + condition + "\nyes\n#else\nno\n#endif\n");
}

TEST(Condition, Evaluates) {
  for (const char* yes : {"1",
                          "N == 64",
                          "defined N",
                          "defined(N) && !defined(M)",
                          "M == 0",
                          "F(3) > 2",
                          "D",
                          "1 + 2 * 3 == 7",
                          "(1 + 2) * 3 == 9",
                          "-1 < 0",
                          "-1 > 0u",
                          "~0 == -1",
                          "1 ? 2 : 0",
                          "0 ? 0 : 1 ? 3 : 0",
                          "1 || 1 / 0",
                          "!(0 && 1 % 0)",
                          "7 / 2 == 3 && -7 / 2 == -3 && -7 % 2 == -1",
                          "1 << 4 == 16",
                          "-8 >> 1 == -4",
                          "(6 & 3) == 2 && (6 | 3) == 7 && (6 ^ 3) == 5",
                          "'a' == 97",
                          "true && !false",
                          "0x10 == 16 && 010 == 8 && 0b11 == 3 && 1'0 == 10",
                          "201703L >= 201703",
                          "18446744073709551615u == -1",
                          "1 << 70 == 0",
                          "-9223372036854775807 - 1 < 0",
                          "(-9223372036854775807 - 1) / -1 != 0",
                          "__CHOREO__ == 1"}) {
    EXPECT_EQ(If(yes), "yes") << yes;
  }
  for (const char* no : {"0", "N != 64", "!N", "M", "N > 64 || M", "D && 0", "unknown + 0"}) {
    EXPECT_EQ(If(no), "no") << no;
  }
}

TEST(Condition, Mistakes) {
  for (const char* wrong :
       {"", "1 +", "(1", "1)", "1 / 0", "1 % 0", "defined", "defined(", "defined(N", "1 2", "1 ? 2",
        "\"a\"", "1.5", "N(1)", "unknown(1)", "= 1"}) {
    EXPECT_EQ(If(wrong), "[InvalidCondition]") << wrong;
  }
  EXPECT_EQ(If("08"), "[InvalidNumber]");
  EXPECT_EQ(If(std::string(10'000, '(')), "[InvalidCondition]");
  EXPECT_EQ(If(std::string(10'000, '-') + "1"), "[InvalidCondition]");
  EXPECT_EQ(Expand("", "\n#ifdef\n#endif\n"), "[InvalidCondition]");
}

}  // namespace
}  // namespace choreo::lex
