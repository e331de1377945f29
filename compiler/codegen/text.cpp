#include "codegen/text.h"

#include <algorithm>

namespace choreo::codegen {
namespace {

constexpr size_t kWidth = 100;

// Where to break `text` so that the first part has at most `room` characters: after a comma, after
// an opening parenthesis or before an operator (in this order), at the shallowest nesting, as late
// as possible. 0: nowhere. What follows the break may begin with a space.
size_t BreakPoint(std::string_view text, size_t room) {
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
    if (c == '(' && text[i + 1] != ')') consider(i + 1, 4 * depth + 1);
    if (c != ' ' || i == 0) continue;
    const char before = text[i - 1], next = text[i + 1], after = text[i + 2];
    const bool operators = std::string_view("+-*/?:&|").find(next) != std::string_view::npos;
    if (before == ',' || before == ';') {
      consider(i, 4 * depth);
    } else if (before == '=' && i > 1 && text[i - 2] == ' ') {
      // First if the rest then fits on a line, else last.
      consider(i, text.size() - i + 3 <= room ? 4 * depth - 1 : 4 * depth + 5);
    } else if (operators && (after == ' ' || (after == next && next != '*'))) {
      consider(i, 4 * depth + 2);
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
