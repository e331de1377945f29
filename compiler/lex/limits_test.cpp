// Inputs that no one writes: each ends in diagnostics, soon, with segments that are the file.
#include <gtest/gtest.h>

#include <ctime>
#include <random>

#include "lex/encoding.h"
#include "lex/test_support.h"

namespace choreo::lex {
namespace {

// A generous bound: the point is that nothing is quadratic or exponential.
void ExpectSoon(const std::string& text, const std::string& kinds) {
  const std::clock_t begin = std::clock();  // of the processor: other tests run beside this one
  const Source source(text);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(source.Kinds(), kinds) << text.substr(0, 60);
  EXPECT_LT(seconds, 5.0) << text.substr(0, 60);
}

std::string Repeat(const std::string& text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Limits, Files) {
  ExpectSoon(std::string("int a;\0int b;", 13), "[NulByte]");
  ExpectSoon("int a; // \xff\xfe", "[InvalidUtf8]");
  ExpectSoon(std::string("\xff\0", 2), "[NulByte] [InvalidUtf8]");
  ExpectSoon(std::string(50 << 20, 'a'), "[FileTooLarge]");
  ExpectSoon(std::string(kMaxFileBytes, 'a'), "[NoTileFunction]");
  ExpectSoon(std::string(kMaxFileBytes, '{'), "[NoTileFunction]");
  ExpectSoon(Repeat("a+", 2 << 20), "[NoTileFunction]");
  ExpectSoon(Repeat("\n", 4 << 20), "[NoTileFunction]");
  ExpectSoon(Repeat("R\"", 2 << 20), "[NoTileFunction]");
  ExpectSoon(Repeat("\\ ", 4 << 20), "[NoTileFunction]");
  ExpectSoon(Repeat("/*", kMaxFileBytes / 2), "[UnterminatedComment]");
}

TEST(Limits, TileFunctions) {
  ExpectSoon("__co__ void f() {" + Repeat("(", 10'000) + Repeat(")", 10'000) + "}", "");
  ExpectSoon("__co__ void f() {" + Repeat("{", 10'000) + Repeat("}", 10'000) + "}", "");
  ExpectSoon("__co__ void f() {" + Repeat("{", 10'000), "[UnterminatedTileFunction]");
  ExpectSoon("__co__ void f() {" + Repeat("a ", 4 << 20) + "}", "[PreprocessingLimit]");
  ExpectSoon(Repeat("__co__ void f() {}\n", 100'000), "");
}

TEST(Limits, ManyMistakes) {
  const Source endifs(Repeat("#endif\n", 1 << 20));
  EXPECT_LE(endifs.diags.diagnostics().size(), 110u);
  const Source opens(Repeat("__co__ void f() {\n", 100'000));
  EXPECT_LE(opens.diags.diagnostics().size(), 110u);
  const Source braces(Function("") + Repeat("}\n", 1 << 20));
  EXPECT_LE(braces.diags.diagnostics().size(), 110u);
  const Source characters("__co__ void f() {" + Repeat("` a ", 1 << 20) + "}");
  EXPECT_LE(characters.diags.diagnostics().size(), 110u);
  const Source conditionals(Repeat("#if 1\n", 1 << 20));
  EXPECT_LE(conditionals.diags.diagnostics().size(), 110u);
}

TEST(Limits, MacroBombs) {
  std::string doubling = "#define A0 +1\n";
  for (int i = 1; i < 60; ++i) {
    doubling += fmt::format("#define A{} A{} A{}\n", i, i - 1, i - 1);
  }
  ExpectSoon(doubling + Function("A59"), "[PreprocessingLimit]");
  ExpectSoon(doubling + "#if A59\n#endif\n" + Function(""), "[PreprocessingLimit]");

  std::string pasting = "#define C_(x) x##x\n#define C(x) C_(x)\n";
  ExpectSoon(pasting + Function(Repeat("C(", 60) + "a" + Repeat(")", 60)), "[PreprocessingLimit]");
  std::string quoting = "#define Q_(x) #x\n#define Q(x) Q_(x)\n";
  ExpectSoon(quoting + Function(Repeat("Q(", 60) +
                                "\""
                                "\"" +
                                Repeat(")", 60)),
             "[PreprocessingLimit]");
  ExpectSoon("#define F(x) x x\n" + Function(Repeat("F(", 40) + "a" + Repeat(")", 40)),
             "[PreprocessingLimit]");
  ExpectSoon("#define F(x) x\n" + Function(Repeat("F(", 100'000) + Repeat(")", 100'000)),
             "[PreprocessingLimit]");
  ExpectSoon("#define A" + Repeat(" x", 4 << 20) + "\n" + Function("A"), "[PreprocessingLimit]");
  ExpectSoon("#define F(" + Repeat("a,", 4 << 20) + "\n" + Function(""), "[PreprocessingLimit]");
  ExpectSoon("#define F(x) [x]\n" + Function("F(" + Repeat("a,", 1000) + "a)"),
             "[MacroArgumentCount]");

  std::string chain;
  for (int i = 0; i < 50'000; ++i) chain += fmt::format("#define B{} B{}\n", i, i + 1);
  ExpectSoon(chain + Function("B0"), "");
  std::string tile_chain = "#define K50000 __co__\n";
  for (int i = 0; i < 50'000; ++i) tile_chain += fmt::format("#define K{} K{}\n", i, i + 1);
  ExpectSoon(tile_chain + "K0 void f() {}", "");
}

TEST(Limits, RandomBytesAndPieces) {
  std::mt19937 random(20240607);
  const std::vector<std::string> pieces = {"__co__ ",
                                           "void f() {",
                                           "}",
                                           "{",
                                           "(",
                                           ")",
                                           "\n#if ",
                                           "\n#else\n",
                                           "\n#endif\n",
                                           "\n#define A(x) ",
                                           "\n#define B A(B)",
                                           "A(",
                                           "B",
                                           "#",
                                           "##",
                                           "\"",
                                           "'",
                                           "R\"(",
                                           ")\"",
                                           "/*",
                                           "*/",
                                           "//",
                                           "\\\n",
                                           "\n",
                                           "1.5e+",
                                           "0x",
                                           "\xe4\xb8\xad",
                                           "，",
                                           ";",
                                           ",",
                                           "namespace x {",
                                           "defined(",
                                           "1",
                                           "__VA_ARGS__",
                                           "..."};
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const size_t length = random() % 60;
    for (size_t i = 0; i < length; ++i) text += pieces[random() % pieces.size()];
    const Source source(text);
  }
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 4096, '\0');
    for (char& c : text) c = static_cast<char>(random());
    const Source source(text);
    EXPECT_TRUE(source.diags.has_errors());
  }
}

TEST(Limits, TruncatedFiles) {
  const std::string text =
      "#define F(x, ...) #x x##1 __VA_ARGS__\n#if defined(F) && 1\nnamespace a {\n/* c */ // d\n"
      "__co__ void f(global bf16 [N] x) {\n  y = F(1, \"s\\n\", 'c') + 1.5e-3f;\n}\n}\n#endif\n";
  for (size_t i = 0; i <= text.size(); ++i) {
    const Source source(text.substr(0, i));
    EXPECT_TRUE(i == text.size() || i + 1 == text.size() || source.diags.has_errors()) << i;
  }
}

}  // namespace
}  // namespace choreo::lex
