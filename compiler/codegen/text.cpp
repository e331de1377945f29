#include "codegen/text.h"

#include <algorithm>

namespace choreo::codegen {
namespace {

constexpr size_t kWidth = 100;

// Where to break `text` so that the first part has at most `room` characters: after ", " or before an
// operator, at the shallowest nesting, as late as possible. npos: nowhere.
size_t BreakPoint(std::string_view text, size_t room) {
  size_t best = std::string_view::npos;
  int best_depth = 1 << 30;
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size() && i < room; ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (in_string) continue;
    if (text.substr(i, 2) == "//") break;  // a comment at the end
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ' ' || i + 2 >= text.size()) continue;
    const bool comma = i > 0 && (text[i - 1] == ',' || text[i - 1] == ';');
    const bool assign = i > 1 && text[i - 1] == '=' && text[i - 2] == ' ';
    const bool binary =
        std::string_view("+-*/?:&|").find(text[i + 1]) != std::string_view::npos &&
        (text[i + 2] == ' ' || text[i + 2] == text[i + 1]) && text[i + 1] != '*';
    if (!comma && !assign && !binary) continue;
    // An assignment is the last resort at its depth.
    const int rank = 2 * depth + (assign ? 1 : 0);
    if (rank <= best_depth) {
      best_depth = rank;
      best = i;
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
    const size_t at = fits ? std::string_view::npos : BreakPoint(text, room);
    out_.append(static_cast<size_t>(indent), ' ');
    out_ += text.substr(0, at);
    out_ += '\n';
    ++line_;
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + 1);
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
