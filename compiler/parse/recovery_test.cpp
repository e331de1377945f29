// Mistakes among others, and text that is no program at all: each mistake is reported once, and the
// parser ends quickly on anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "diag/verify.h"
#include "parse/parse_testing.h"

namespace choreo::parse::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string Repeat(std::string_view text, int n) {
  std::string repeated;
  for (int i = 0; i < n; ++i) repeated += text;
  return repeated;
}

TEST(Recovery, EachMistakeIsReportedOnce) {
  const auto parsed = ParseStatements(
      "v = n + ;\n"
      "foreach i on n {\n"
      "  w = x.at(i;\n"
      "  if (i = 3) { w = 1 }\n"
      "}\n"
      "parallel p by 3 : cta {\n"
      "  frag f32 [64] m = 3;\n"
      "  mma.wait<0>;\n"
      "  wait f g;\n"
      "  dma.copy.foo.swiz<100> x => y;\n"
      "}\n"
      "else { }\n");
  EXPECT_THAT(
      parsed->Found(),
      UnorderedElementsAre("ExpectedExpression@2", "UnexpectedToken@3", "UnclosedBracket@4",
                           "AssignmentInExpression@5", "MissingSemicolon@5", "UnknownLevel@7",
                           "BadInitializer@8", "ObsoleteMmaWait@9", "UnexpectedToken@10",
                           "UnknownSuffix@11", "BadSwizzle@11", "ElseWithoutIf@13"))
      << parsed->Report();
}

TEST(Recovery, BrokenHeaderKeepsItsBody) {
  const auto parsed = ParseStatements(
      "foreach {i, } in [n] { a = 1; }\n"
      "parallel p bye 3 : block { b = 2; }\n"
      "if n > 3 { c = 3; }\n"
      "inthreads p == 0 { d = 4; }\n"
      "with idx {u} in [3] { e = 5; }\n"
      "apply {i} acc.span { g = 6; }\n"
      "while () h = 7;\n");
  EXPECT_EQ(parsed->diags.error_count(), 7u) << parsed->Report();
  for (const char* name : {"a = 1", "b = 2", "c = 3", "d = 4", "e = 5", "g = 6", "h = 7"}) {
    EXPECT_NE(parsed->Dump().find(fmt::format("assign {}", name)), std::string::npos)
        << name << "\n"
        << parsed->Dump();
  }
}

TEST(Recovery, NamesOfABrokenStatementAreKept) {
  const auto parsed = ParseStatements("q = n +;\nflaot [3 w;\n");
  std::vector<std::string> names;
  for (const ast::Stmt& stmt : parsed->file.stmts) {
    if (const auto* error = std::get_if<ast::ErrorStmt>(&stmt.node)) {
      for (const ast::Name& name : error->names) names.push_back(name.text);
    }
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"q", "w"}));
}

TEST(Recovery, FunctionsOfABrokenStatementStayFunctions) {
  for (const char* text : {"reduce_max(n, , 1);\nreduce_max(n, n, 1);\n",
                           "reduce_max n, n, 1);\nreduce_max(n, n, 1);\n"}) {
    const auto parsed = ParseStatements(text);
    EXPECT_EQ(parsed->diags.error_count(), 1u) << text << "\n" << parsed->Report();
  }
  const auto tuple = ParseStatements("t = {n, n;\nv = t(0);\n");
  EXPECT_EQ(tuple->diags.error_count(), 1u) << tuple->Report();
}

TEST(Recovery, OneMistakeOfTheLexerIsOneMessage) {
  for (const char* text :
       {"v = \"abc;\nw = 3;", "assert(n > 0, \"abc);\nw = 3;", "v = 'a;\nw = 3;",
        "foreach {i in [n] { w = 3; }", "frag f32 [64] m {-inf;\nw = 3;", "if (n) { w = 3;"}) {
    const auto parsed = ParseStatements(text);
    EXPECT_EQ(parsed->diags.error_count(), 1u) << text << "\n" << parsed->Report();
  }
}

TEST(Recovery, UnclosedBracketEndsWithItsLine) {
  const auto parsed = ParseStatements("v = cdiv(n, (n + 1\nforeach i in n { w = i; }\nu = ;");
  EXPECT_THAT(parsed->Found(), ElementsAre("UnclosedBracket@2", "ExpectedExpression@4"))
      << parsed->Report();
}

TEST(Recovery, FunctionsAreIndependent) {
  const auto parsed = ParseText(
      "__co__ void f(int n { v = ; }\n__co__ void g(int n) { v = n }\n__co__ h(int n) { v = n; "
      "}\n");
  EXPECT_THAT(parsed->Found(), UnorderedElementsAre("UnclosedBracket@1", "ExpectedExpression@1",
                                                    "MissingSemicolon@2", "UnexpectedToken@3"))
      << parsed->Report();
  EXPECT_EQ(parsed->file.functions.size(), 3u);
}

TEST(Limits, DeepNestingIsOneDiagnostic) {
  constexpr int kDeep = 10'000;
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
           {"v = " + Repeat("(", kDeep) + "n", ")"},
           {"v = " + Repeat("[", kDeep) + "n", "]"},
           {"v = " + Repeat("f(", kDeep) + "n", ")"},
           {"v = " + Repeat("x.at(", kDeep) + "n", ")"},
           {"v = " + Repeat("a[", kDeep) + "n", "]"},
           {"v = " + Repeat("{", kDeep) + "n", "}"}}) {
    const auto parsed = ParseStatements(open + Repeat(close, kDeep) + ";\nw = 3;");
    EXPECT_THAT(parsed->Found(), ElementsAre("NestingTooDeep@2")) << open.substr(0, 20);
    EXPECT_NE(parsed->Dump().find("assign w = 3"), std::string::npos);
  }
  for (const std::string& text :
       {"v = " + Repeat("- ", kDeep) + "n;", "v = n" + Repeat(" + n", kDeep) + ";",
        "v = n" + Repeat(".m", kDeep) + ";", "v = " + Repeat("n ? n : ", kDeep) + "n;",
        Repeat("{", kDeep) + Repeat("}", kDeep), Repeat("if (n) ", kDeep) + "v = n;",
        Repeat("if (n) { } else ", kDeep) + "v = n;",
        Repeat("foreach i in n { ", kDeep) + Repeat("}", kDeep),
        "v = n" + Repeat("++", kDeep) + ";", Repeat("const ", kDeep) + "int v = n;"}) {
    const auto parsed = ParseStatements(text);
    EXPECT_EQ(std::count_if(parsed->diags.diagnostics().begin(), parsed->diags.diagnostics().end(),
                            [](const diag::Diagnostic& d) {
                              return d.kind == diag::DiagKind::NestingTooDeep;
                            }),
              text.starts_with("const") ? 0 : 1)
        << text.substr(0, 20) << "\n"
        << parsed->Report().substr(0, 500);
  }
}

TEST(Limits, UsualNestingIsFine) {
  EXPECT_EQ(ParseStatements("v = n" + Repeat(" + n", 400) + ";")->Report(), "");
  EXPECT_EQ(ParseStatements("v = " + Repeat("(", 100) + "n" + Repeat(")", 100) + ";")->Report(),
            "");
  EXPECT_EQ(ParseStatements(Repeat("if (n) {", 100) + Repeat("}", 100))->Report(), "");
}

TEST(Limits, ErrorsAreCapped) {
  const auto parsed = ParseStatements(Repeat("v = ;\n", 1000));
  ASSERT_EQ(parsed->diags.error_count(), 101u);
  EXPECT_EQ(parsed->Found().back(), "TooManySyntaxErrors@102");
}

// ---- text that is no program
// ----------------------------------------------------------------------

constexpr std::string_view kVocabulary[] = {
    "(",      ")",        "[",      "]",         "{",      "}",          "[[",      "]]",
    ";",      ";",        ",",      ":",         "::",     ".",          "=",       "==",
    "+",      "-",        "*",      "#",         "|",      "||",         "&",       "&&",
    "<",      ">",        "<<",     "=>",        "->",     "?",          "++",      "+=",
    "!",      "~",        "_",      "3",         "0x1f",   "1.5f",       "\"s\"",   "'c'",
    "n",      "x",        "acc",    "inf",       "ready",  "after",      "f32",     "bf16",
    "int",    "unsigned", "half",   "auto",      "async",  "swiz",       "copy",    "load",
    "row",    "col",      "fill",   "group",     "block",  "unroll",     "sync",    "for",
    "do",     "switch",   "struct", "const",     "sizeof", "setreg_dec", "apply",   "assert",
    "break",  "by",       "call",   "dma",       "else",   "event",      "foreach", "frag",
    "global", "if",       "in",     "inthreads", "local",  "mma",        "mutable", "parallel",
    "return", "shared",   "tma",    "trigger",   "true",   "wait",       "while",   "with",
    "any_of", "__cpp__",  "__to",   "void",      "\n",     "\n",         "\n"};

// Counts of braces are kept, because the lexer finds the function's end by them.
std::string Soup(std::mt19937& random, int length) {
  std::string text;
  int depth = 0;
  for (int i = 0; i < length; ++i) {
    const std::string_view word = kVocabulary[random() % std::size(kVocabulary)];
    if (word == "}" && depth == 0) continue;
    depth += word == "{" ? 1 : word == "}" ? -1 : 0;
    text += fmt::format("{} ", word);
  }
  return text + Repeat("}", depth);
}

TEST(Soup, EndsAndStaysQuiet) {
  std::mt19937 random(42);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3000; ++i) {
    const std::string text = Soup(random, 1 + static_cast<int>(random() % 200));
    const auto parsed = ParseStatements(text);
    EXPECT_LE(parsed->diags.error_count(), 250u);
    parsed->Dump();
  }
  const auto parsed = ParseStatements(Soup(random, 300'000));
  EXPECT_LE(parsed->diags.error_count(), 250u);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 30.0);
}

std::vector<std::filesystem::path> Corpus() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = CROQTILE_SOURCE_DIR;
  for (const char* folder : {"kernels", "tests/parse"}) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() == ".co") files.push_back(entry.path());
    }
  }
  return files;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Without a word, or with those that its comments expect.
TEST(Corpus, IsParsedAsExpected) {
  ASSERT_FALSE(Corpus().empty());
  for (const auto& path : Corpus()) {
    const std::string text = ReadFile(path);
    const auto parsed = ParseText(text, path.string());
    const auto verified = diag::VerifyDiagnostics(parsed->sources, parsed->diags.diagnostics());
    EXPECT_EQ(verified.report, "") << path;
    EXPECT_GT(parsed->file.functions.size(), 0u) << path;
  }
}

std::string Messages(const diag::Emitter& diags) {
  std::string text;
  for (const auto& diagnostic : diags.diagnostics()) text += "\n  " + diagnostic.message;
  return text;
}

// One token less or doubled is one mistake, rarely told three times; one replaced by another or two
// exchanged are two.
TEST(Corpus, MutantsAreParsed) {
  std::mt19937 random(7);
  for (const auto& path : Corpus()) {
    const auto whole = ParseText(ReadFile(path), path.string());
    if (whole->unit.functions.empty()) continue;
    for (int i = 0; i < 200; ++i) {
      lex::Unit unit = whole->unit;
      std::vector<lex::Token>& tokens = unit.functions[0].tokens;
      const size_t at = random() % (tokens.size() - 1);
      const size_t other = random() % (tokens.size() - 1);
      const auto is_brace = [&](size_t i) {  // the lexer has paired them
        return tokens[i].kind == lex::TokenKind::LBrace || tokens[i].kind == lex::TokenKind::RBrace;
      };
      if (is_brace(at) || is_brace(other)) continue;
      const int kind = static_cast<int>(random() % 4);
      switch (kind) {
        case 0:
          tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(at));
          break;
        case 1:
          tokens.insert(tokens.begin() + static_cast<ptrdiff_t>(at), tokens[at]);
          break;
        case 2:
          tokens[at] = tokens[other];
          break;
        default:
          std::swap(tokens[at], tokens[other]);
      }
      diag::Emitter diags;
      const ast::File file = Parse(unit, diags);
      EXPECT_LE(diags.error_count(), whole->diags.error_count() + (kind < 2 ? 3 : 6))
          << path << " mutant " << i << ", kind " << kind << " at `"
          << whole->unit.functions[0].tokens[at].text << "`" << Messages(diags);
      ast::Dump(file, whole->sources);
    }
  }
}

}  // namespace
}  // namespace choreo::parse::testing
