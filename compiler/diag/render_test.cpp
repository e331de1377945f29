#include "diag/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "diag/source_line.h"

namespace choreo::diag {
namespace {

using testing::HasSubstr;

class RenderTest : public testing::Test {
 protected:
  SourceRange Use(const std::string& text, const std::string& part) {
    const FileId file = sources_.Add("k.co", text);
    const auto begin = static_cast<uint32_t>(text.find(part));
    return SourceRange({file, begin}, begin + static_cast<uint32_t>(part.size()));
  }
  std::string Text() const { return RenderText(sources_, diags_.diagnostics()); }
  SourceManager sources_;
  Emitter diags_;
};

TEST_F(RenderTest, ShowsLinePlaceAndKind) {
  diags_.Emit(kinds::UnknownDirective, Use("int a;\n  foo bar;\n", "bar"), "x");
  EXPECT_EQ(Text(),
            "k.co:2:7: error: `#x` is not a directive [UnknownDirective]\n"
            "    2 |   foo bar;\n"
            "      |       ^~~\n"
            "1 error\n");
}

TEST_F(RenderTest, ShowsNotesFixItsAndCounts) {
  const SourceRange place = Use("a b c\n", "b");
  diags_.Emit(kinds::NulByte, place)
      .Note(SourceRange(SourceLoc{place.begin.file, 0}), "here")
      .Note({}, "nowhere")
      .Fix(place, "B")
      .Hint(SourceRange({place.begin.file, 5}, 5), ";");
  diags_.Emit(kinds::NulByte, SourceRange());
  EXPECT_EQ(Text(),
            "k.co:1:3: error: NUL byte; a source file is text [NulByte]\n"
            "    1 | a b c\n"
            "      |   ^\n"
            "      = fix: replace `b` by `B`\n"
            "      = hint: insert `;` at k.co:1:6\n"
            "k.co:1:1: note: here\n"
            "    1 | a b c\n"
            "      | ^\n"
            "choreo: note: nowhere\n"
            "choreo: error: NUL byte; a source file is text [NulByte]\n"
            "2 errors\n");
}

TEST_F(RenderTest, ColorsOnlyWhenAsked) {
  diags_.Emit(kinds::NulByte, Use("x", "x"));
  EXPECT_EQ(Text().find('\x1b'), std::string::npos);
  EXPECT_NE(RenderText(sources_, diags_.diagnostics(), {.color = true}).find('\x1b'),
            std::string::npos);
}

struct LineCase {
  std::string line;
  size_t begin, end;
  std::string text, underline;
};

TEST(SourceLine, KeepsTheUnderlineInPlace) {
  const LineCase cases[] = {
      {"\tab c", 4, 5, "        ab c", "           ^"},
      {"x\ty", 2, 3, "x       y", "        ^"},
      {"中文 ab", 7, 9, "中文 ab", "     ^~"},      // two columns each
      {"e\xcc\x81 x", 4, 5, "e\xcc\x81 x", "  ^"},  // a combining accent has none
      {"a\xff"
       "b",
       2, 3, "a<FF>b", "     ^"},
      {std::string("a\0b", 3), 1, 2, "a<00>b", " ^~~~"},
      {"abc", 3, 3, "abc", "   ^"},  // behind the end
      {"abc", 1, 99, "abc", " ^~"},  // to the end
      {"", 0, 0, "", "^"},
  };
  for (const LineCase& c : cases) {
    const SourceLine shown = PrintableLine(c.line, c.begin, c.end, 80);
    EXPECT_EQ(shown.text, c.text);
    EXPECT_EQ(shown.underline, c.underline) << c.line;
  }
}

TEST(SourceLine, ClipsLongLinesAroundThePlace) {
  std::string line(50 << 20, 'a');
  line[30 << 20] = 'X';
  const SourceLine shown = PrintableLine(line, 30 << 20, (30 << 20) + 1, 80);
  EXPECT_LE(shown.text.size(), 90u);
  EXPECT_EQ(shown.text.substr(0, 3), "...");
  EXPECT_EQ(shown.text.substr(shown.text.size() - 3), "...");
  EXPECT_EQ(shown.text[shown.underline.find('^')], 'X');
  const SourceLine first = PrintableLine(line, 0, 5, 80);
  EXPECT_EQ(first.underline, "^~~~~");
  const SourceLine all = PrintableLine(line, 0, line.size(), 80);
  EXPECT_LE(all.underline.size(), 80u);
}

TEST_F(RenderTest, JsonHasEveryField) {
  const SourceRange place = Use("a b\nc\n", "b\nc");
  diags_.Emit(kinds::NulByte, place).Note(place, "why \xff").Fix(place, "B").Hint(place, "H");
  diags_.Emit(kinds::NulByte, SourceRange());
  const auto json = nlohmann::json::parse(RenderJson(sources_, diags_.diagnostics()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["kind"], "NulByte");
  EXPECT_EQ(json[0]["severity"], "error");
  EXPECT_EQ(json[0]["file"], "k.co");
  EXPECT_EQ(json[0]["line"], 1);
  EXPECT_EQ(json[0]["column"], 3);
  EXPECT_EQ(json[0]["end"]["line"], 2);
  EXPECT_EQ(json[0]["end"]["column"], 2);
  EXPECT_THAT(json[0]["message"].get<std::string>(), HasSubstr("NUL byte"));
  EXPECT_EQ(json[0]["notes"][0]["line"], 1);
  EXPECT_EQ(json[0]["fixits"][0]["text"], "B");
  EXPECT_EQ(json[0]["fixits"][0]["applied_by_fix"], true);
  EXPECT_EQ(json[0]["fixits"][1]["applied_by_fix"], false);
  EXPECT_FALSE(json[1].contains("file"));
  EXPECT_EQ(RenderJson(sources_, {}), "[]\n");
}

}  // namespace
}  // namespace choreo::diag
