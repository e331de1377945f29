#include "lex/lexer.h"

#include <gtest/gtest.h>

#include "lex/test_support.h"

namespace choreo::lex {
namespace {

// The tokens of `text` as "Kind:spelling", line starts marked by `|`.
std::string Lex(std::string_view text) {
  std::deque<std::string> spellings;
  Lexer lexer(text, FileId(0), spellings, nullptr);
  std::string out;
  for (Token token = lexer.Next(); token.kind != TokenKind::EndOfFile; token = lexer.Next()) {
    if (!out.empty()) out += ' ';
    if (token.starts_line) out += '|';
    out += Name(token.kind);
    if (Describe(token.kind).front() != '`') out += ':' + std::string(token.text);
  }
  return out;
}

TEST(Lexer, SkipsComments) {
  EXPECT_EQ(Lex("a // b\nc /* d\n e */ f"), "|Identifier:a |Identifier:c Identifier:f");
  EXPECT_EQ(Lex("/**/ a /*/ b */ c"), "|Identifier:a Identifier:c");
  EXPECT_EQ(Lex("// joined \\\n still\nx"), "|Identifier:x");
  EXPECT_EQ(Lex("/* a *\\\n/ b"), "|Identifier:b") << "the end of a comment may be joined";
}

TEST(Lexer, JoinsLines) {
  EXPECT_EQ(Lex("fo\\\no"), "|Identifier:foo");
  EXPECT_EQ(Lex("a \\\n b"), "|Identifier:a Identifier:b");
  EXPECT_EQ(Lex("a \\  \r\n b"), "|Identifier:a Identifier:b") << "blanks after the backslash";
  EXPECT_EQ(Lex("12\\\n34 +\\\n= \"a\\\nb\""), "|Integer:1234 PlusEqual String:\"ab\"");
  EXPECT_EQ(Lex("a \\ b"), "|Identifier:a Backslash Identifier:b");
}

TEST(Lexer, FindsTheEndOfNumbers) {
  EXPECT_EQ(Lex("1 0x1F 1'000'000 0b10 7ull"),
            "|Integer:1 Integer:0x1F Integer:1'000'000 Integer:0b10 Integer:7ull");
  EXPECT_EQ(Lex("1.f .5f 1e-5f 0x1p3 1. 0x.8p-1"),
            "|Float:1.f Float:.5f Float:1e-5f Float:0x1p3 Float:1. Float:0x.8p-1");
  EXPECT_EQ(Lex("0xe+1 1.2.3 1...2"), "|Integer:0xe Plus Integer:1 Float:1.2.3 Float:1...2");
  EXPECT_EQ(Lex("x.5 x.y"), "|Identifier:x Float:.5 Identifier:x Dot Identifier:y");
}

TEST(Lexer, FindsTheEndOfLiterals) {
  EXPECT_EQ(Lex(R"("a\"b" '\'' u8"x" L'y')"), R"(|String:"a\"b" Char:'\'' String:u8"x" Char:L'y')");
  EXPECT_EQ(Lex("R\"(a\n\"b\\)\" R\"x(a)\")x\" c"),
            "|String:R\"(a\n\"b\\)\" String:R\"x(a)\")x\" Identifier:c");
  EXPECT_EQ(Lex("R\"a b\" R \"c\""),
            "|Unknown:R\" Identifier:a Identifier:b String:\" R \" Identifier:c Unknown:\"");
  EXPECT_EQ(Lex("don't\n\"open\nx"), "|Identifier:don Unknown:'t |Unknown:\"open |Identifier:x");
  EXPECT_EQ(Lex("R\"(never closed"), "|Unknown:R\"(never closed");
}

TEST(Lexer, TakesTheLongestPunctuator) {
  EXPECT_EQ(Lex("<<= << <= < >>= ... .. ## # -> => :: ++ +="),
            "|ShlEqual Shl LessEqual Less ShrEqual Ellipsis Dot Dot HashHash Hash Arrow FatArrow "
            "ColonColon PlusPlus PlusEqual");
  EXPECT_EQ(Lex("@ \\ ` $"), "|At Backslash Unknown:` Unknown:$");
}

TEST(Lexer, KeepsScriptsApartFromPunctuation) {
  EXPECT_EQ(Lex("größe 数据1"), "|Identifier:größe Identifier:数据1");
  EXPECT_EQ(Lex("a，b（c）"),
            "|Identifier:a Unknown:， Identifier:b Unknown:（ Identifier:c Unknown:）");
  EXPECT_EQ(Lex("\xef\xbb\xbfx"), "|Identifier:x") << "a byte order mark is not text";
}

TEST(Lexer, EveryPunctuatorIsFoundAlone) {
#define CHOREO_PUNCT(kind, spelling) EXPECT_EQ(Lex(spelling), "|" #kind);
#include "lex/token_kind.def"
}

TEST(Lexer, KeywordsAreFoundByText) {
#define CHOREO_KEYWORD(kind, spelling) EXPECT_EQ(KeywordOrIdentifier(spelling), TokenKind::kind);
#include "lex/token_kind.def"
  EXPECT_EQ(KeywordOrIdentifier("co"), TokenKind::Identifier);
  EXPECT_TRUE(IsKeyword(TokenKind::KwWait));
  EXPECT_EQ(Describe(TokenKind::KwWait), "`wait`");
  EXPECT_EQ(Describe(TokenKind::Integer), "integer literal");
}

TEST(Lexer, DiagnosesCharactersOnlyInTileFunctions) {
  const Source source("// don't\nauto s = \"open\nint $x = 08; `\n" + Function("x $ $ y = ` 1;"));
  EXPECT_EQ(source.Kinds(true), "4 [UnknownCharacter] 4 [UnknownCharacter]");
  EXPECT_EQ(source.Body(), "x y = 1 ;") << "what is no token is left out";
}

TEST(Lexer, RepairsLookAlikes) {
  const Source source(Function("f(a，b)；"));
  EXPECT_EQ(source.Kinds(), "[UnknownCharacter] [UnknownCharacter]");
  EXPECT_EQ(source.Body(), "f ( a , b ) ;");
  ASSERT_EQ(source.diags.diagnostics()[0].fixits.size(), 1u);
  EXPECT_EQ(source.diags.diagnostics()[0].fixits[0].text, ",");
}

TEST(Lexer, ClosesUnterminatedLiterals) {
  const Source source(Function("\n  assert(a, \"open);\n  b = 'c;\n"));
  EXPECT_EQ(source.Kinds(true), "2 [UnterminatedLiteral] 3 [UnterminatedLiteral]");
  EXPECT_EQ(source.Body(), "assert ( a , \"\" b = \"\"");
}

TEST(Lexer, DiagnosesAnUnterminatedComment) {
  EXPECT_EQ(Source(Function("") + "int a; /* open").Kinds(true), "2 [UnterminatedComment]");
  const Source source("__co__ void f() {\n /* open\n }\n");
  EXPECT_EQ(source.Kinds(true), "2 [UnterminatedComment]") << "one mistake, one message";
}

}  // namespace
}  // namespace choreo::lex
