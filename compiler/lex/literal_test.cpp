#include "lex/literal.h"

#include <gtest/gtest.h>

#include <cmath>

namespace choreo::lex {
namespace {

class Literal : public testing::Test {
 protected:
  Token Make(TokenKind kind, std::string_view text) {
    const FileId file = sources_.Add("t", std::string(text));
    Token token;
    token.kind = kind;
    token.text = sources_.Text(file);
    token.range = SourceRange({file, 0}, static_cast<uint32_t>(text.size()));
    return token;
  }
  // "value elem", or the kind of the diagnostic.
  std::string Integer(std::string_view text) {
    diag::Emitter diags;
    const auto literal = ParseInteger(Make(TokenKind::Integer, text), diags);
    if (!literal) return Kind(diags);
    return fmt::format("{} {}", literal->value, Spelling(literal->elem));
  }
  std::string Float(std::string_view text) {
    diag::Emitter diags;
    const auto literal = ParseFloat(Make(TokenKind::Float, text), diags);
    if (!literal) return Kind(diags);
    return fmt::format("{} {}", literal->value, Spelling(literal->elem));
  }
  std::string String(std::string_view text) {
    diag::Emitter diags;
    const auto value = DecodeString(Make(TokenKind::String, text), diags);
    return value ? *value : Kind(diags);
  }
  std::string Char(std::string_view text) {
    diag::Emitter diags;
    const auto value = ParseChar(Make(TokenKind::Char, text), diags);
    return value ? std::to_string(value->value) : Kind(diags);
  }
  static std::string Kind(const diag::Emitter& diags) {
    EXPECT_EQ(diags.diagnostics().size(), 1u);
    return diags.diagnostics().empty()
               ? "nothing"
               : fmt::format("[{}]", diag::Info(diags.diagnostics()[0].kind).name);
  }
  SourceManager sources_;
};

TEST_F(Literal, IntegersHaveTheTypeOfCpp) {
  EXPECT_EQ(Integer("0"), "0 s32");
  EXPECT_EQ(Integer("2147483647"), "2147483647 s32");
  EXPECT_EQ(Integer("2147483648"), "2147483648 s64");
  EXPECT_EQ(Integer("0x7fffffff"), "2147483647 s32");
  EXPECT_EQ(Integer("0xffffffff"), "4294967295 u32");
  EXPECT_EQ(Integer("0x100000000"), "4294967296 s64");
  EXPECT_EQ(Integer("0xffffffffffffffff"), "18446744073709551615 u64");
  EXPECT_EQ(Integer("1u"), "1 u32");
  EXPECT_EQ(Integer("4294967296U"), "4294967296 u64");
  EXPECT_EQ(Integer("1l"), "1 s64");
  EXPECT_EQ(Integer("1LL"), "1 s64");
  EXPECT_EQ(Integer("1ull"), "1 u64");
  EXPECT_EQ(Integer("1llu"), "1 u64");
  EXPECT_EQ(Integer("017"), "15 s32");
  EXPECT_EQ(Integer("0b1'01"), "5 s32");
  EXPECT_EQ(Integer("1'000'000"), "1000000 s32");
}

TEST_F(Literal, IntegersAreChecked) {
  EXPECT_EQ(Integer("9223372036854775808"), "[IntegerTooLarge]");
  EXPECT_EQ(Integer("18446744073709551616u"), "[IntegerTooLarge]");
  EXPECT_EQ(Integer("0x1ffffffffffffffff"), "[IntegerTooLarge]");
  EXPECT_EQ(Integer("99999999999999999999999999999999"), "[IntegerTooLarge]");
  for (const char* text :
       {"0x", "0b", "08", "0b12", "12ab", "1lul", "1Ll", "1f", "1_000", "1''0"}) {
    EXPECT_EQ(Integer(text), "[InvalidNumber]") << text;
  }
}

TEST_F(Literal, FloatsRoundOnceToTheirType) {
  EXPECT_EQ(Float("1."), "1 f64");
  EXPECT_EQ(Float("1.f"), "1 f32");
  EXPECT_EQ(Float(".5f"), "0.5 f32");
  EXPECT_EQ(Float("010.5"), "10.5 f64");
  EXPECT_EQ(Float("1e-5"), "1e-05 f64");
  EXPECT_EQ(Float("0x1p3"), "8 f64");
  EXPECT_EQ(Float("0x1.8p1f"), "3 f32");
  EXPECT_EQ(Float("1'0.0'1"), "10.01 f64");
  EXPECT_EQ(Float("0.1f"), fmt::format("{} f32", double{0.1f}));
  EXPECT_EQ(Float("1e-60f"), "0 f32") << "too small is zero, as in C++";
  // Halfway between two floats and a little more: by way of double it would round down.
  EXPECT_EQ(Float("1.00000005960464477540f"),
            fmt::format("{} f32", double{std::nextafterf(1.f, 2.f)}));
}

TEST_F(Literal, FloatsAreChecked) {
  EXPECT_EQ(Float("1e39f"), "[FloatTooLarge]");
  EXPECT_EQ(Float("1e309"), "[FloatTooLarge]");
  for (const char* text :
       {"1.2.3", "1e", "1e+", "1.0L", "1.0ff", "0x1.8", "0x.p1", "1'.0", "1.'0"}) {
    EXPECT_EQ(Float(text), "[InvalidNumber]") << text;
  }
}

TEST_F(Literal, TextIsDecoded) {
  EXPECT_EQ(String(R"("plain")"), "plain");
  EXPECT_EQ(String(R"("a\n\t\"\\\x41\101\u4e2d")"), "a\n\t\"\\AA中");
  EXPECT_EQ(String("R\"(a\\n\"b)\""), "a\\n\"b");
  EXPECT_EQ(String("u8R\"xy(a)xy\""), "a");
  EXPECT_EQ(Char("'a'"), "97");
  EXPECT_EQ(Char(R"('\n')"), "10");
  EXPECT_EQ(Char("'中'"), "20013");
}

TEST_F(Literal, TextIsChecked) {
  for (const char* text :
       {R"("\q")", R"("\xfff")", R"("\x")", R"("\u12")", R"("\ud800")", R"("\777")"}) {
    EXPECT_EQ(String(text), "[InvalidEscape]") << text;
  }
  EXPECT_EQ(Char("''"), "[InvalidCharacterLiteral]");
  EXPECT_EQ(Char("'ab'"), "[InvalidCharacterLiteral]");
}

}  // namespace
}  // namespace choreo::lex
