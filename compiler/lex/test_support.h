// For the tests of this folder: preprocesses text and describes what came out in short strings.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diag/render.h"
#include "lex/preprocess.h"

namespace choreo::lex {

class Source {
 public:
  explicit Source(const std::string& text, const PreprocessOptions& options = {},
                  const std::string& name = "test.co") {
    file = sources.Add(name, text);
    unit = Preprocess(sources, file, options, diags, &included);
    CheckSegments();
  }

  // The spellings of function `i`, separated by spaces.
  std::string Tokens(size_t i = 0) const {
    std::string out;
    if (i >= unit.functions.size()) return "<no function>";
    for (const Token& token : unit.functions[i].tokens) {
      if (token.kind == TokenKind::EndOfFile) break;
      if (!out.empty()) out += ' ';
      out += token.text;
    }
    return out;
  }
  // What stands between the braces of `__co__ void f() { … }`.
  std::string Body(size_t i = 0) const {
    const std::string all = Tokens(i);
    const size_t begin = all.find("{ ");
    if (begin == std::string::npos || all.size() < begin + 3) return all;
    return begin + 3 >= all.size() ? "" : all.substr(begin + 2, all.size() - begin - 4);
  }
  // Each segment's text, host text in `<>` and tile functions in `()`.
  std::string Segments() const {
    std::string out;
    for (const Segment& segment : unit.segments) {
      const bool host = segment.kind == Segment::Kind::Host;
      out += host ? '<' : '(';
      out += sources.Text(segment.text);
      out += host ? '>' : ')';
    }
    return out;
  }
  // "[Kind] [Kind]" of the diagnostics, or with their lines: "3 [Kind]".
  std::string Kinds(bool lines = false) const {
    std::string out;
    for (const diag::Diagnostic& d : diags.diagnostics()) {
      if (!out.empty()) out += ' ';
      if (lines) out += std::to_string(sources.Position(d.range.begin).line) + ' ';
      out += '[' + std::string(diag::Info(d.kind).name) + ']';
    }
    return out;
  }
  std::string Text() const { return diag::RenderText(sources, diags.diagnostics()); }

  SourceManager sources;
  diag::Emitter diags;
  FileId file;
  Unit unit;
  std::vector<std::string> included;

 private:
  // What must hold for every input: the segments are the file, in order, and every function stands
  // in one and ends with EndOfFile.
  void CheckSegments() const {
    std::string whole;
    uint32_t functions = 0;
    uint32_t at = 0;
    for (const Segment& segment : unit.segments) {
      EXPECT_EQ(segment.text.begin.offset, at);
      at = segment.text.end;
      whole += sources.Text(segment.text);
      if (segment.kind != Segment::Kind::TileFunction) continue;
      ASSERT_LT(segment.function, unit.functions.size());
      EXPECT_EQ(segment.function, functions++);
      const TileFunctionText& function = unit.functions[segment.function];
      EXPECT_EQ(function.text, segment.text);
      ASSERT_GE(function.tokens.size(), 2u);
      EXPECT_EQ(function.tokens.front().kind, TokenKind::KwCo);
      EXPECT_EQ(function.tokens.back().kind, TokenKind::EndOfFile);
    }
    EXPECT_EQ(functions, unit.functions.size());
    EXPECT_TRUE(whole == sources.Text(file)) << "segments differ from the file";
    EXPECT_TRUE(!unit.functions.empty() || diags.has_errors());
  }
};

inline std::string Function(const std::string& body) { return "__co__ void f() {" + body + "}\n"; }

}  // namespace choreo::lex
