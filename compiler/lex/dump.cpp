#include "lex/dump.h"

#include <fmt/format.h>

namespace choreo::lex {
namespace {

std::string Place(const SourceManager& sources, SourceLoc loc) {
  const LineColumn at = sources.Position(loc);
  return fmt::format("{}:{}", at.line, at.column);
}

// Tokens hold no line end but in raw strings; one token is one line all the same.
std::string OneLine(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string DumpTokens(const SourceManager& sources, const Unit& unit) {
  std::string out;
  for (const Segment& segment : unit.segments) {
    const bool is_host = segment.kind == Segment::Kind::Host;
    const SourceLoc end{segment.text.begin.file, segment.text.end};
    out += fmt::format("{} {} {}\n", is_host ? "host" : "function",
                       Place(sources, segment.text.begin), Place(sources, end));
    if (is_host) continue;
    for (const Token& token : unit.functions[segment.function].tokens) {
      out += fmt::format("  {} {}", Place(sources, token.use.begin), Name(token.kind));
      if (!token.text.empty()) out += ' ' + OneLine(token.text);
      if (!(token.use == token.range)) {
        out += fmt::format(" from {}", sources.Describe(token.range.begin));
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace choreo::lex
