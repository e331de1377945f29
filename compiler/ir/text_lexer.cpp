#include "ir/text_lexer.h"

#include <array>
#include <cstdlib>

namespace choreo::ir {
namespace {

using Kind = TextToken::Kind;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<TextToken> Run() {
    while (true) {
      SkipSpace();
      const size_t begin = at_;
      const Kind kind = Next();
      tokens_.push_back({kind, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)});
      if (kind == Kind::End || kind == Kind::Bad) return std::move(tokens_);
    }
  }

 private:
  char Look(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '/' && Look(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  Kind Next() {
    if (at_ >= text_.size()) return Kind::End;
    const char c = Look();
    if (IsDigit(c) || (c == '-' && (IsDigit(Look(1)) || StartsFloatWord(at_ + 1)))) return Number();
    if (StartsFloatWord(at_)) return Number();
    if (IsLetter(c)) {
      while (IsLetter(Look()) || IsDigit(Look()) || Look() == '.') ++at_;
      return Kind::Word;
    }
    if ((c == '%' || c == '$') && (IsLetter(Look(1)) || Look(1) == '"')) return Name();
    if (c == '#' && IsDigit(Look(1))) {
      ++at_;
      while (IsDigit(Look())) ++at_;
      return Kind::View;
    }
    if (c == '"') return String() ? Kind::String : Kind::Bad;
    return Punct();
  }

  // `inf` or `nan` as a word of its own.
  bool StartsFloatWord(size_t at) const {
    const std::string_view word = text_.substr(at, 3);
    if (word != "inf" && word != "nan") return false;
    const char after = at + 3 < text_.size() ? text_[at + 3] : '\0';
    return !IsLetter(after) && !IsDigit(after) && after != '.';
  }

  Kind Number() {
    if (Look() == '-') ++at_;
    if (StartsFloatWord(at_)) {
      at_ += 3;
    } else {
      while (IsDigit(Look())) ++at_;
      if (Look() == '.') ++at_;
      while (IsDigit(Look())) ++at_;
      const bool sign = Look(1) == '-' || Look(1) == '+';
      if (Look() == 'e' && IsDigit(Look(sign ? 2 : 1))) {
        at_ += sign ? 2 : 1;
        while (IsDigit(Look())) ++at_;
      }
    }
    if (Look() == ':' && IsLetter(Look(1))) {
      ++at_;
      while (IsLetter(Look()) || IsDigit(Look())) ++at_;
    }
    return Kind::Number;
  }

  Kind Name() {
    const Kind kind = Look() == '%' ? Kind::Var : Kind::Storage;
    ++at_;
    if (Look() == '"') {
      if (!String()) return Kind::Bad;
    } else {
      while (IsLetter(Look()) || IsDigit(Look())) ++at_;
    }
    if (Look() == '.' && IsDigit(Look(1))) {
      ++at_;
      while (IsDigit(Look())) ++at_;
    }
    return kind;
  }

  bool String() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '\n') {
      const char c = text_[at_];
      if (c == '\\' && Look(1) != '\n') ++at_;
      ++at_;
      if (c == '"') return true;
    }
    return false;
  }

  Kind Punct() {
    constexpr std::array<std::string_view, 8> kPairs = {"<<", ">>", "&&", "||",
                                                        "<=", ">=", "==", "!="};
    for (const std::string_view pair : kPairs) {
      if (text_.substr(at_, 2) == pair) {
        at_ += 2;
        return Kind::Punct;
      }
    }
    constexpr std::string_view kSingles = "{}()[]=,;:?+-*/%&|^<>!~";
    const bool known = Look() != '\0' && kSingles.find(Look()) != std::string_view::npos;
    ++at_;
    return known ? Kind::Punct : Kind::Bad;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<TextToken> tokens_;
};

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 0;
}

}  // namespace

std::vector<TextToken> CutText(std::string_view text) { return Cutter(text).Run(); }

std::string Unquote(std::string_view quoted) {
  std::string result;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 2 >= quoted.size()) {
      result += quoted[i];
      continue;
    }
    const char escaped = quoted[++i];
    if (escaped == 'n') {
      result += '\n';
    } else if (escaped == 't') {
      result += '\t';
    } else if (escaped == 'x' && i + 3 < quoted.size()) {
      result += static_cast<char>(HexDigit(quoted[i + 1]) * 16 + HexDigit(quoted[i + 2]));
      i += 2;
    } else {
      result += escaped;
    }
  }
  return result;
}

}  // namespace choreo::ir
