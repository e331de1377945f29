#include "lex/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "lex/dump.h"
#include "lex/macro_note.h"
#include "lex/test_support.h"
#include "support/file.h"

namespace choreo::lex {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Preprocess, CutsTheFile) {
  const Source source(
      "#include <cuda.h>\nint a;\n__co__ void f(int n) { x = {n}; }\nint main() {}\n");
  EXPECT_EQ(source.Segments(),
            "<#include <cuda.h>\nint a;\n>(__co__ void f(int n) { x = {n}; })<\nint main() {}\n>");
  EXPECT_EQ(source.Tokens(), "__co__ void f ( int n ) { x = { n } ; }");
  EXPECT_EQ(source.Kinds(), "");
  EXPECT_EQ(Source("__co__ void f() {}__co__ void g() {}").Segments(),
            "(__co__ void f() {})(__co__ void g() {})");
}

TEST(Preprocess, EndOfFileStandsAfterTheBrace) {
  const Source source("int a; __co__ void f() {} int b;");
  const Token& end = source.unit.functions[0].tokens.back();
  EXPECT_EQ(end.range.begin.offset, 25u);
  EXPECT_EQ(end.range.end, 25u);
}

TEST(Preprocess, TakesTileFunctionsInNamespaces) {
  EXPECT_EQ(Source("namespace a::b { inline namespace c { __co__ void f() {} } }\n").Kinds(), "");
  EXPECT_EQ(Source("namespace { __co__ void f() {} }\nextern \"C\" { __co__ void g() {} }").Kinds(),
            "");
  EXPECT_EQ(
      Source("void g() { if (a) { b; } }\nstruct S { int x = {1}; };\n__co__ void f() {}").Kinds(),
      "");
}

TEST(Preprocess, RefusesTileFunctionsElsewhere) {
  for (const char* text : {"struct S {\n__co__ void f() {} };", "void g() {\n__co__ void f() {} }",
                           "WRAP(\n__co__ void f() {})", "static\n__co__ void f() {}",
                           "inline\n__co__ void f() {}", "template <int N>\n__co__ void f() {}",
                           "extern \"C\"\n__co__ void f() {}", "__global__\n__co__ void f() {}"}) {
    const Source source(text);
    EXPECT_EQ(source.Kinds(true), "2 [MisplacedTileFunction]") << text;
    EXPECT_TRUE(source.unit.functions.empty());
  }
  EXPECT_EQ(Source("MACRO\n__co__ void f() {}").Kinds(), "");
  EXPECT_EQ(Source("MACRO(a)\nnamespace x {\nMACRO(b)\n__co__ void f() {}\n}").Kinds(), "");
}

TEST(Preprocess, WantsATileFunction) {
  EXPECT_EQ(Source("").Kinds(true), "1 [NoTileFunction]");
  EXPECT_EQ(Source("int main() {}").Kinds(), "[NoTileFunction]");
  EXPECT_EQ(Source("// __co__ void f() {}\nauto s = \"__co__\";").Kinds(), "[NoTileFunction]");
  EXPECT_THAT(Source("#if 0\n__co__ void f() {}\n#endif\n").Text(),
              HasSubstr("test.co:2:1: note: this one stands in an inactive branch"));
}

TEST(Preprocess, ExpandsMacrosThatMakeTileFunctions) {
  const std::string fill = "#define FILL(name, T) __co__ void name(global T [N] x) { x = 1; }\n";
  const Source one(fill + "FILL(fill_bf16, bf16)\nint main() {}\n");
  EXPECT_EQ(one.Segments(), "<" + fill + ">(FILL(fill_bf16, bf16))<\nint main() {}\n>");
  EXPECT_EQ(one.Tokens(), "__co__ void fill_bf16 ( global bf16 [ N ] x ) { x = 1 ; }");
  EXPECT_EQ(one.Kinds(), "");

  const Source two(fill + "#define BOTH FILL(a, f16); FILL(b, f32)\nBOTH;\n" + Function("") +
                   "BOTH");
  EXPECT_EQ(two.unit.functions.size(), 5u);
  EXPECT_EQ(two.Kinds(), "");
  EXPECT_THAT(two.Segments(), HasSubstr("(BOTH)()<;\n>(__co__ void f() {})<\n>(BOTH)()"));
  EXPECT_EQ(two.Tokens(1), "__co__ void b ( global f32 [ N ] x ) { x = 1 ; }");

  const Source head("#define KERNEL(name) __co__ void name(int n)\nKERNEL(f) { x = n; }\n");
  EXPECT_EQ(head.Tokens(), "__co__ void f ( int n ) { x = n ; }");
  EXPECT_THAT(head.Segments(), HasSubstr("(KERNEL(f) { x = n; })"));

  const Source unused(fill + "int x = FILL;\n" + Function(""));
  EXPECT_EQ(unused.Kinds(), "") << "without arguments it is host text";

  EXPECT_EQ(Source("#define TWO __co__ void f() {} int lost;\nTWO\n").Kinds(),
            "[HostTextInTileMacro]");
  EXPECT_EQ(Source("#define END } int lost;\n__co__ void f() { END\n").Kinds(),
            "[HostTextInTileMacro]");
}

TEST(Preprocess, FindsFunctionsThatAreNotClosed) {
  const std::string open = "__co__ void f() {\n  if (a) {\n    b;\n}\n";
  const Source last(open + "int main() {\n  return 0;\n}\n");
  EXPECT_EQ(last.Kinds(true), "1 [UnterminatedTileFunction]");
  EXPECT_THAT(last.Text(), HasSubstr("test.co:2:10: note: this `{` is not closed"));
  EXPECT_THAT(last.Text(), HasSubstr("test.co:4:1: note: the function seems to end here"));
  EXPECT_EQ(last.Tokens(), "__co__ void f ( ) { if ( a ) { b ; } }") << "can be parsed";

  const Source before(open + "__co__ void g() { c; }\n");
  EXPECT_EQ(before.Kinds(true), "1 [UnterminatedTileFunction]");
  EXPECT_EQ(before.Tokens(1), "__co__ void g ( ) { c ; }");

  EXPECT_EQ(Source("__co__").Kinds(), "[UnterminatedTileFunction]");
  EXPECT_EQ(Source("__co__ void f(").Kinds(), "[UnterminatedTileFunction]");
  EXPECT_EQ(Source("__co__ void f() {").Kinds(), "[UnterminatedTileFunction]");
  EXPECT_EQ(Source("__co__ __co__ __co__ void f() {}").Kinds(),
            "[UnterminatedTileFunction] [UnterminatedTileFunction]");
}

TEST(Preprocess, FindsBracesTooMany) {
  EXPECT_EQ(Source("__co__ void f() {\n  a;\n }\n b;\n}\nint main() {}\n").Kinds(true),
            "5 [UnmatchedBrace]");
  EXPECT_EQ(Source("} int a;\n" + Function("")).Kinds(), "") << "no tile function before it";
  EXPECT_EQ(Source("#if UNKNOWN\nvoid g() {\n#endif\n" + Function("") + "}\n").Kinds(), "")
      << "the host compiler may see other braces";
}

TEST(Preprocess, WantsABody) {
  EXPECT_EQ(Source("__co__ void f(int n);\n").Kinds(), "[TileFunctionWithoutBody]");
  EXPECT_EQ(Source("__co__ }\n").Kinds(), "[TileFunctionWithoutBody]");
}

TEST(Preprocess, ChoosesBranches) {
  const Source source(
      "#define D 64\n#if D == 64\n#define K 4\n#elif D == 128\n#define K 8\n#else\n#error "
      "no\n#endif\n" +
      Function("\n#if K > 4\n  a;\n#elif K == 4\n  b;\n#else\n  c;\n#endif\n"));
  EXPECT_EQ(source.Kinds(), "");
  EXPECT_EQ(source.Body(), "b ;");
  EXPECT_EQ(
      Source("#ifdef A\n#elifndef B\n#define X 1\n#elifdef C\n#endif\n" + Function("X")).Body(),
      "1");
  EXPECT_EQ(
      Source("#if 1\n#elif 1 /\n#else\n#if garbage (\n#endif\n#endif\n" + Function("")).Kinds(), "")
      << "what is not chosen is not looked at";
  EXPECT_EQ(Source("#if 0\n'unclosed \" \x60\n#endif\n" + Function("")).Kinds(), "");
}

TEST(Preprocess, LeavesInactiveTileFunctionsToTheHost) {
  const std::string hidden = "#if 0\n__co__ void g() {}\n#endif\n";
  EXPECT_EQ(Source(hidden + "__co__ void f() {}").Segments(),
            "<" + hidden + ">(__co__ void f() {})");
}

TEST(Preprocess, LeavesUnknownConditionsOfHostTextAlone) {
  const std::string unknown =
      "#if __has_include(<x.h>) && CUDA_AT_LEAST(12, 0) || 1 / CUDA_VERSION\n#endif\n"
      "#ifndef CUDA_VERSION\n#error \"needs CUDA\"\n#endif\n#foo bar\n#pragma unroll\n";
  EXPECT_EQ(Source(unknown + Function("")).Kinds(), "");
  EXPECT_EQ(Source(Function("\n#if unknown(1)\n#endif\n")).Kinds(), "[InvalidCondition]");
  EXPECT_EQ(Source(Function("\n#ifndef X\n#error no X\n#endif\n")).Kinds(), "[ErrorDirective]");
}

TEST(Preprocess, ReportsErrorDirectives) {
  const Source source("#define D 3\n#if D % 2\n#error \"D\" is odd, isn't it\n#endif\n" +
                      Function(""));
  EXPECT_EQ(source.Kinds(true), "3 [ErrorDirective]");
  EXPECT_EQ(source.diags.diagnostics()[0].message, "#error: \"D\" is odd, isn't it");
  EXPECT_EQ(Source("#ifndef G\n#define G\n#error x\n#endif\n" + Function("")).Kinds(),
            "[ErrorDirective]")
      << "an include guard leaves nothing unknown";
}

TEST(Preprocess, ChecksConditionals) {
  EXPECT_EQ(Source("#if 1\n" + Function("")).Kinds(true), "1 [UnterminatedConditional]");
  EXPECT_EQ(Source(Function("") + "#endif\n#else\n#elif 1\n").Kinds(true),
            "2 [UnmatchedConditional] 3 [UnmatchedConditional] 4 [UnmatchedConditional]");
  EXPECT_EQ(Source("#if 1\n#else\n#else\n#elif 1\n#endif\n" + Function("")).Kinds(true),
            "3 [BranchAfterElse] 4 [BranchAfterElse]");
}

TEST(Preprocess, KeepsFunctionsInOneBranch) {
  EXPECT_EQ(Source("#ifdef A\n__co__ void f(int a) {\n#else\n__co__ void f(int b) {\n#endif\n}\n")
                .Kinds(true),
            "4 [TileFunctionAcrossConditional]");
  EXPECT_EQ(Source("__co__ void f() {\n#if 1\n}\n#endif\n").Kinds(),
            "[TileFunctionAcrossConditional]");
  EXPECT_EQ(Source("#if 1\n__co__ void f() {\n#if 1\n#endif\n}\n#endif\n").Kinds(), "");
}

TEST(Preprocess, DirectivesInTileFunctions) {
  const Source source(Function("\n#define T 64\n  x = T;\n#undef T\n#pragma unroll\n#line 7\n#\n"));
  EXPECT_EQ(source.Kinds(), "");
  EXPECT_EQ(source.Body(), "x = 64 ;");
  ASSERT_EQ(source.unit.functions[0].definitions.size(), 2u);
  EXPECT_EQ(source.sources.Text(source.unit.functions[0].definitions[0]), "#define T 64");
  EXPECT_EQ(Source(Function("\n x = a\n   # b;\n")).Kinds(true), "3 [UnknownDirective]");
  EXPECT_EQ(Source(Function("\n#include <math.h>\n")).Kinds(), "[IncludeInTileFunction]");
}

TEST(Preprocess, CommandLineDefines) {
  PreprocessOptions options;
  options.defines = {{"D", "128"}, {"F(x)", "(x + D)"}};
  const Source source(Function("F(1)"), options);
  EXPECT_EQ(source.Body(), "( 1 + 128 )");
  EXPECT_EQ(source.unit.command_line_defines.size(), 2u);
  options.defines = {{"1", "2"}};
  const Source wrong(Function(""), options);
  EXPECT_EQ(wrong.Kinds(), "[InvalidMacroDefinition]");
  EXPECT_THAT(wrong.Text(), HasSubstr("<command line>:1:9: error"));
}

TEST(Preprocess, DumpsTokens) {
  const Source source("int a;\n#define N 64\n__co__ void f() { N }\n");
  EXPECT_EQ(DumpTokens(source.sources, source.unit),
            "host 1:1 3:1\n"
            "function 3:1 3:22\n"
            "  3:1 KwCo __co__\n  3:8 KwVoid void\n  3:13 Identifier f\n  3:14 LParen (\n"
            "  3:15 RParen )\n  3:17 LBrace {\n  3:19 Integer 64 from test.co:2:11\n"
            "  3:21 RBrace }\n  3:22 EndOfFile\nhost 3:22 4:1\n");
}

TEST(Preprocess, NotesMacroUses) {
  Source source("#define N 64\n" + Function("N M"));
  const std::vector<Token>& tokens = source.unit.functions[0].tokens;
  NoteMacroUse(source.diags.Emit(diag::kinds::IntegerTooLarge, tokens[6].range, "64"), tokens[6]);
  NoteMacroUse(source.diags.Emit(diag::kinds::IntegerTooLarge, tokens[7].range, "M"), tokens[7]);
  EXPECT_THAT(source.Text(), HasSubstr("test.co:2:18: note: from this macro use"));
  EXPECT_TRUE(source.diags.diagnostics()[1].notes.empty());
}

class IncludeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "choreo_include_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directories(folder_ / "inc");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_FALSE(WriteFileAtomically((folder_ / name).string(), text));
  }
  Source Main(const std::string& text) {
    PreprocessOptions options;
    options.include_dirs = {(folder_ / "inc").string()};
    return Source(text, options, (folder_ / "main.co").string());
  }
  fs::path folder_;
};

TEST_F(IncludeTest, SharesMacros) {
  Write("a.co.h",
        "#pragma once\n#include \"b.co.h\"\n#include <vector>\n#define N (M * 2)\nint host() { "
        "return 1; }\n");
  Write("inc/b.co.h", "#ifndef B\n#define B\n#include \"../a.co.h\"\n#define M 32\n#endif\n");
  const Source source =
      Main("#include \"a.co.h\"\n#include <b.co.h>\n#include \"missing.h\"\n" + Function("N"));
  EXPECT_EQ(source.Text(), "");
  EXPECT_EQ(source.Body(), "( 32 * 2 )");
  EXPECT_EQ(source.included, (std::vector<std::string>{(folder_ / "a.co.h").string(),
                                                       (folder_ / "inc/b.co.h").string()}));
}

TEST_F(IncludeTest, NamesMayBeMacrosAndStatements) {
  Write("body.co.h", "x = 1;\n");
  const Source source =
      Main("#define BODY \"body.co.h\"\n" + Function("\n#include BODY\n#include BODY\n"));
  EXPECT_EQ(source.Text(), "");
  EXPECT_EQ(source.Body(), "x = 1 ; x = 1 ;");
}

TEST_F(IncludeTest, Mistakes) {
  EXPECT_EQ(Main("#include \"no.co.h\"\n" + Function("")).Kinds(true), "1 [IncludeNotFound]");
  Write("tile.co.h", "int a;\n__co__ void g() {}\n");
  EXPECT_EQ(Main("#include \"tile.co.h\"\n" + Function("")).Kinds(), "[TileFunctionInHeader]");
  Write("end.co.h", "}\n");
  EXPECT_EQ(Main("__co__ void f() {\n#include \"end.co.h\"\n").Kinds(),
            "[TileFunctionAcrossFiles]");
  Write("if.co.h", "#if 1\n");
  EXPECT_EQ(Main("#include \"if.co.h\"\n" + Function("")).Kinds(), "[UnterminatedConditional]");
  Write("nul.co.h", std::string("a\0b\xff", 4));
  EXPECT_EQ(Main("#include \"nul.co.h\"\n" + Function("")).Kinds(), "[NulByte] [InvalidUtf8]");
  fs::create_symlink("/proc/self/mem", folder_ / "unreadable.co.h");
  EXPECT_EQ(Main("#include \"unreadable.co.h\"\n" + Function("")).Kinds(), "[IncludeNotReadable]");
}

TEST_F(IncludeTest, AProgramGivesItsTileFunctions) {
  Write("inc/width.co.h", "#define WIDTH 64\n");
  Write(
      "p.co",
      "#include \"inc/width.co.h\"\n#ifndef N\n#define N 1\n#endif\nnamespace { int host = 1; }\n" +
          Function("N + WIDTH") +
          "#define TWO(a, b) __co__ void a() { 2; } __co__ void b() { N; }\n" +
          "TWO(g, h)\nint main() { return 0; }\n");
  const Source source = Main(
      "int a;\n#include \"p.co\"  // once\nint b;\n#undef N\n#define N 7\n#define f e\n"
      "#include <../p.co>\n__co__ void last() { N; }\n");
  EXPECT_EQ(source.Text(), "");
  EXPECT_EQ(
      source.Segments(),
      "<int a;\n>(#include \"p.co\")()()<  // once\nint b;\n#undef N\n#define N 7\n#define f e\n>"
      "(#include <../p.co>)()()<\n>(__co__ void last() { N; })<\n>");
  ASSERT_EQ(source.unit.functions.size(), 7u);
  EXPECT_EQ(source.Tokens(0), "__co__ void f ( ) { 1 + 64 }");
  EXPECT_EQ(source.Tokens(2), "__co__ void h ( ) { 1 ; }");
  EXPECT_EQ(source.Tokens(3), "__co__ void e ( ) { 7 + 64 }");
  EXPECT_EQ(source.Tokens(5), "__co__ void h ( ) { 7 ; }");
  EXPECT_EQ(source.included, (std::vector<std::string>{(folder_ / "p.co").string(),
                                                       (folder_ / "inc/width.co.h").string()}));
}

TEST_F(IncludeTest, ProgramsIncludeProgramsAndMayChooseByConditions) {
  Write("leaf.co", "#ifdef LEAF\n" + Function("1") + "#else\n" + Function("2") + "#endif\n");
  Write("middle.co", "#define LEAF\n#include \"leaf.co\"\n__co__ void m() { 3 }\n");
  const Source source =
      Main("#if 1\n#include \"middle.co\"\n#endif\n#if 0\n#include \"no.co\"\n#endif\n");
  EXPECT_EQ(source.Text(), "");
  EXPECT_EQ(source.Segments(),
            "<#if 1\n>(#include \"middle.co\")()<\n#endif\n#if 0\n#include \"no.co\"\n#endif\n>");
  EXPECT_EQ(source.Body(0), "1");
  EXPECT_EQ(source.Body(1), "3");
}

TEST_F(IncludeTest, MistakesWithPrograms) {
  Write("p.co", Function("1"));
  Write("once.co", "#pragma once\n" + Function("1"));
  Write("host.co", "int a;\n");
  Write("open.co", "__co__ void g() {\n");
  Write("across.co", "#if 1\n__co__ void g() {\n#endif\n}\n");
  Write("inside.co", "namespace n {\n" + Function("1") + "}\n");
  Write("member.co", "struct S {\n" + Function("1") + "};\n");
  Write("self.co", "#include \"self.co\"\n");
  Write("header.co.h", "#include \"p.co\"\n");
  const auto kinds = [&](const std::string& include) {
    return Main(include + "\n__co__ void own() {}\n").Kinds(true);
  };
  EXPECT_EQ(kinds("#include \"no.co\""), "1 [IncludeNotFound]");
  EXPECT_EQ(kinds("#include \"host.co\""), "1 [NoTileFunction]");
  EXPECT_EQ(kinds("#include \"once.co\"\n#include \"once.co\""), "2 [NoTileFunction]");
  EXPECT_EQ(kinds("#include \"open.co\""), "1 [UnterminatedTileFunction]");
  EXPECT_EQ(kinds("#include \"across.co\""), "2 [TileFunctionAcrossConditional]");
  EXPECT_EQ(kinds("#include \"inside.co\""), "2 [MisplacedTileFunction]");
  EXPECT_EQ(kinds("#include \"member.co\""), "2 [MisplacedTileFunction]");
  EXPECT_EQ(kinds("struct T {\n#include \"p.co\"\n};"), "1 [MisplacedTileFunction]");
  EXPECT_EQ(kinds("#include \"self.co\""), "1 [PreprocessingLimit]");
  EXPECT_EQ(kinds("#include \"header.co.h\""), "1 [TileFunctionInHeader]");
  EXPECT_EQ(Main(Function("\n#include \"p.co\"\n")).Kinds(), "[IncludeInTileFunction]");
}

TEST_F(IncludeTest, Recursion) {
  Write("self.co.h", "#include \"self.co.h\"\n#include \"self.co.h\"\n");
  EXPECT_EQ(Main("#include \"self.co.h\"\n" + Function("")).Kinds(), "[PreprocessingLimit]");
  for (int i = 0; i < 30; ++i) {
    const std::string next = "#include \"n" + std::to_string(i + 1) + ".co.h\"\n";
    Write("n" + std::to_string(i) + ".co.h", next + next);
  }
  Write("n30.co.h", "");
  EXPECT_EQ(Main("#include \"n0.co.h\"\n" + Function("")).Kinds(), "[PreprocessingLimit]");
}

}  // namespace
}  // namespace choreo::lex
