// String and character literals: prefixes, raw strings, escapes.
#include <array>

#include "lex/literal.h"
#include "support/utf8.h"

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Escape {
  char letter, value;
};
constexpr std::array<Escape, 11> kSimpleEscapes = {{{'n', '\n'},
                                                    {'t', '\t'},
                                                    {'r', '\r'},
                                                    {'a', '\a'},
                                                    {'b', '\b'},
                                                    {'f', '\f'},
                                                    {'v', '\v'},
                                                    {'\\', '\\'},
                                                    {'"', '"'},
                                                    {'\'', '\''},
                                                    {'?', '?'}}};

// Replaces the escapes of `text`. `codes` counts the characters of the result.
class Unescaper {
 public:
  Unescaper(std::string_view text, const Token& token, diag::Emitter& diags)
      : text_(text), token_(token), diags_(diags) {}

  std::optional<std::string> Run() {
    while (at_ < text_.size() && ok_) {
      ++codes_;
      if (text_[at_] == '\\') {
        One();
      } else {
        const CodePoint point = DecodeUtf8(text_.substr(at_));
        const size_t length = point.valid() ? point.length : 1;
        last_ = point.value;
        out_ += text_.substr(at_, length);
        at_ += length;
      }
    }
    if (!ok_) return std::nullopt;
    return std::move(out_);
  }
  size_t codes() const { return codes_; }
  uint32_t last() const { return last_; }

 private:
  void One() {
    const size_t begin = at_++;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    for (const Escape& escape : kSimpleEscapes) {
      if (escape.letter != c) continue;
      ++at_;
      return Byte(static_cast<unsigned char>(escape.value));
    }
    if (c >= '0' && c <= '7') {
      uint32_t value = 0;
      for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) {
        value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
      }
      return value <= 0xff ? Byte(value) : Bad(begin);
    }
    if (c == 'x') {
      ++at_;
      const auto value = Hex(1, 8);
      return value && *value <= 0xff ? Byte(*value) : Bad(begin);
    }
    if (c == 'u' || c == 'U') {
      ++at_;
      const size_t length = c == 'u' ? 4 : 8;
      const auto value = Hex(length, length);
      if (!value || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000)) return Bad(begin);
      last_ = *value;
      return AppendUtf8(out_, *value);
    }
    if (c != '\0') ++at_;
    Bad(begin);
  }

  std::optional<uint32_t> Hex(size_t least, size_t most) {
    uint32_t value = 0;
    size_t count = 0;
    while (count < most && at_ < text_.size() && HexValue(text_[at_]) >= 0) {
      value = value * 16 + static_cast<uint32_t>(HexValue(text_[at_++]));
      ++count;
    }
    if (count < least) return std::nullopt;
    return value;
  }
  void Byte(uint32_t value) {
    last_ = value;
    out_ += static_cast<char>(value);
  }
  void Bad(size_t begin) {
    ok_ = false;
    diags_.Emit(kinds::InvalidEscape, token_.range, text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  const Token& token_;
  diag::Emitter& diags_;
  size_t at_ = 0;
  size_t codes_ = 0;
  uint32_t last_ = 0;
  std::string out_;
  bool ok_ = true;
};

}  // namespace

std::optional<std::string> DecodeString(const Token& token, diag::Emitter& diags) {
  const std::string_view text = token.text;
  const size_t quote = text.find('"');
  CHOREO_CHECK(quote != text.npos && text.size() >= quote + 2, "{}", text);
  if (quote > 0 && text[quote - 1] == 'R') {
    const size_t open = text.find('(');
    const size_t delimiter = open - quote - 1;
    return std::string(text.substr(open + 1, text.size() - open - delimiter - 3));
  }
  return Unescaper(text.substr(quote + 1, text.size() - quote - 2), token, diags).Run();
}

std::optional<IntegerLiteral> ParseChar(const Token& token, diag::Emitter& diags) {
  const std::string_view text = token.text;
  const size_t quote = text.find('\'');
  CHOREO_CHECK(quote != text.npos && text.size() >= quote + 2, "{}", text);
  Unescaper unescaper(text.substr(quote + 1, text.size() - quote - 2), token, diags);
  if (!unescaper.Run()) return std::nullopt;
  if (unescaper.codes() != 1) {
    diags.Emit(kinds::InvalidCharacterLiteral, token.range, text);
    return std::nullopt;
  }
  return IntegerLiteral{unescaper.last(), Elem::kS32};
}

}  // namespace choreo::lex
