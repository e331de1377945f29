#include "codegen/text.h"

#include <algorithm>

namespace choreo::codegen {
namespace {

constexpr size_t kWidth = 100;

// How gladly a line is broken before a binary operator: the looser it binds, the gladder. 0: not
// one.
int OperatorRank(char first, char second) {
  const bool single = second == ' ';
  if ((first == '&' || first == '|') && second == first) return 2;
  if ((first == '?' || first == ':') && single) return 2;
  if ((first == '<' || first == '>' || first == '=' || first == '!') && second == '=') return 3;
  if ((first == '<' || first == '>') && single) return 3;
  if (first == '+' || first == '-' || first == '|' || first == '&') return single ? 4 : 0;
  return (first == '*' || first == '/' || first == '%') && single ? 5 : 0;
}

// Whether the parenthesis at `at` holds too little to stand on a line of its own, or belongs to a
// statement.
bool HoldsLittle(std::string_view text, size_t at) {
  constexpr size_t kLittle = 40;
  if (at > 0 && text[at - 1] == ' ') return true;
  int depth = 0;
  for (size_t i = at; i < std::min(text.size(), at + kLittle); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return true;
  }
  return false;
}

// Where to break `text` so that the first part has at most `room` characters: after a comma, after
// an opening parenthesis or before an operator (in this order), at the shallowest nesting, as late
// as possible. 0: nowhere. What follows the break may begin with a space.
size_t BreakPoint(std::string_view text, size_t room) {
  constexpr int kDepth = 8;  // ranks of one nesting level
  size_t best = 0;
  int best_rank = 1 << 30;
  int depth = 0;
  bool in_string = false;
  const auto consider = [&](size_t at, int rank) {
    if (rank > best_rank) return;
    best_rank = rank;
    best = at;
  };
  for (size_t i = 0; i + 2 < text.size() && i < room; ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    if (text.substr(i, 2) == "//") break;  // a comment at the end
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == '(' && !HoldsLittle(text, i)) consider(i + 1, kDepth * depth + 1);
    if (c != ' ' || i == 0) continue;
    if (text[i - 1] == ',' || text[i - 1] == ';') {
      consider(i, kDepth * depth);
    } else if (text[i - 1] == '=' && i > 1 && text[i - 2] == ' ') {
      // First if the rest then fits on a line, else last.
      if (depth == 0) consider(i, text.size() - i + 3 <= room ? -1 : kDepth + 6);
    } else if (const int rank = OperatorRank(text[i + 1], text[i + 2])) {
      consider(i, kDepth * depth + rank);
    }
  }
  return best;
}

}  // namespace

std::string CppString(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\{:03o}", byte);
    } else if (c == '?') {
      result += "\\?";  // no trigraphs
    } else {
      result += c;
    }
  }
  return result + "\"";
}

void TextWriter::Line(std::string_view text) {
  int indent = 2 * indent_;
  while (true) {
    const auto room = static_cast<size_t>(std::max(40, static_cast<int>(kWidth) - indent));
    const bool fits = text.size() <= room || text.starts_with("//") || text.starts_with("#");
    const size_t at = fits ? 0 : BreakPoint(text, room);
    out_.append(static_cast<size_t>(indent), ' ');
    out_ += text.substr(0, at == 0 ? text.size() : at);
    out_ += '\n';
    ++line_;
    if (at == 0) return;
    text.remove_prefix(at + (text[at] == ' ' ? 1 : 0));
    indent = 2 * indent_ + 4;
  }
}

void TextWriter::Raw(std::string_view text) {
  out_ += text;
  out_ += '\n';
  line_ += 1 + static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n'));
}

void TextWriter::Blank() { Raw(""); }

void TextWriter::Open(std::string_view text) {
  Line(fmt::format("{} {{", text));
  ++indent_;
}

void TextWriter::Close(std::string_view text) {
  --indent_;
  Line(text);
}

}  // namespace choreo::codegen
