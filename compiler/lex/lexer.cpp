#include "lex/lexer.h"

#include <algorithm>
#include <array>

#include "support/utf8.h"

namespace choreo::lex {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

struct Punctuator {
  std::string_view spelling;
  TokenKind kind = TokenKind::Unknown;
};
// The punctuators that start with one character, longest first.
struct PunctuatorRow {
  std::array<Punctuator, 8> entries;
  size_t count = 0;
};

constexpr std::array<PunctuatorRow, 128> MakePunctuators() {
  std::array<PunctuatorRow, 128> rows;
  const auto add = [&](std::string_view spelling, TokenKind kind) {
    PunctuatorRow& row = rows[static_cast<unsigned char>(spelling[0])];
    size_t i = row.count++;
    for (; i > 0 && row.entries[i - 1].spelling.size() < spelling.size(); --i) {
      row.entries[i] = row.entries[i - 1];
    }
    row.entries[i] = {spelling, kind};
  };
#define CHOREO_PUNCT(kind, spelling) add(spelling, TokenKind::kind);
#include "lex/token_kind.def"
  return rows;
}
constexpr std::array<PunctuatorRow, 128> kPunctuators = MakePunctuators();

}  // namespace

bool IsIdentifierCharacter(uint32_t c) {
  if (c < 0x80)
    return c < 0x80 && (IsLetter(static_cast<char>(c)) || IsDigit(static_cast<char>(c)));
  const bool latin_punctuation =
      c < 0xc0 ? c != 0xaa && c != 0xb5 && c != 0xba : c == 0xd7 || c == 0xf7;
  const bool general_punctuation = c >= 0x2000 && c <= 0x206f;
  const bool symbols = c >= 0x2190 && c <= 0x2bff;
  const bool cjk_punctuation = c >= 0x3000 && c <= 0x3020;
  const bool full_width = (c >= 0xff01 && c <= 0xff0f) || (c >= 0xff1a && c <= 0xff20) ||
                          (c >= 0xff3b && c <= 0xff40) || (c >= 0xff5b && c <= 0xff65) ||
                          (c >= 0xffe0 && c <= 0xffff);
  const bool private_use = (c >= 0xe000 && c <= 0xf8ff) || c == 0xfeff;
  return !(latin_punctuation || general_punctuation || symbols || cjk_punctuation || full_width ||
           private_use);
}

Lexer::Lexer(std::string_view text, FileId file, std::deque<std::string>& spellings,
             diag::Emitter* diags, uint32_t base)
    : text_(text), file_(file), spellings_(spellings), diags_(diags), base_(base) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) at_ = kByteOrderMark.size();
}

size_t Lexer::Join(size_t i) {
  while (At(i) == '\\') {
    size_t end = i + 1;
    while (IsBlank(At(end))) ++end;  // blanks before the line end do not count, as in g++
    if (At(end) != '\n') break;
    joined_ = true;
    i = end + 1;
  }
  return i;
}

void Lexer::SkipLineComment() {
  while (at_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    size_t last = end;
    while (last > at_ && IsBlank(text_[last - 1])) --last;
    at_ = end;
    if (end == text_.size() || last == 0 || text_[last - 1] != '\\') return;
    ++at_;
  }
}

void Lexer::SkipBlockComment() {
  const size_t begin = at_;
  size_t star = text_.find('*', Step(Step(at_)));
  while (star != text_.npos && Peek(star) != '/') star = text_.find('*', star + 1);
  if (star == text_.npos) {
    at_ = text_.size();
    if (diags_ != nullptr) {
      const SourceLoc loc{file_, base_ + static_cast<uint32_t>(begin)};
      diags_->Emit(diag::kinds::UnterminatedComment, SourceRange(loc, loc.offset + 2));
    }
    return;
  }
  at_ = Step(star) + 1;
}

void Lexer::SkipBlanks(Token& token) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      line_start_ = true;
      ++at_;
    } else if (IsBlank(c)) {
      ++at_;
    } else if (c == '\\' && Join(at_) != at_) {
      at_ = Join(at_);
    } else if (c == '/' && Peek(at_) == '/') {
      SkipLineComment();
    } else if (c == '/' && Peek(at_) == '*') {
      SkipBlockComment();
    } else {
      return;
    }
    token.after_space = true;
  }
}

Token Lexer::Next() {
  Token token;
  SkipBlanks(token);
  token.starts_line = line_start_;
  const size_t begin = at_;
  if (begin < text_.size()) {
    joined_ = false;
    line_start_ = false;
    token.kind = Scan();
    token.text = Spelling(begin);
  }
  const SourceLoc loc{file_, base_ + static_cast<uint32_t>(begin)};
  token.range = SourceRange(loc, base_ + static_cast<uint32_t>(at_));
  token.use = token.range;
  return token;
}

std::string_view Lexer::Spelling(size_t begin) {
  const std::string_view written = text_.substr(begin, at_ - begin);
  if (!joined_ || written.find('\n') == written.npos) return written;
  std::string text;
  for (size_t i = Join(begin); i < at_; i = Step(i)) text += text_[i];
  return spellings_.emplace_back(std::move(text));
}

bool Lexer::IdentifierContinues(size_t i, size_t* length) const {
  *length = 1;
  const char c = At(i);
  if (IsLetter(c) || IsDigit(c)) return true;
  if (static_cast<unsigned char>(c) < 0x80) return false;
  const CodePoint point = DecodeUtf8(text_.substr(i));
  *length = std::max<size_t>(point.length, 1);
  return point.valid() && IsIdentifierCharacter(point.value);
}

TokenKind Lexer::Scan() {
  const char c = text_[at_];
  if (IsDigit(c) || (c == '.' && IsDigit(Peek(at_)))) return ScanNumber();
  if (c == '"' || c == '\'') return ScanQuoted(c);
  if (IsLetter(c) || static_cast<unsigned char>(c) >= 0x80) return ScanIdentifier();
  return ScanPunctuator();
}

TokenKind Lexer::ScanIdentifier() {
  const size_t begin = at_;
  size_t length = 0;
  while (IdentifierContinues(at_, &length)) at_ = Join(at_ + length);
  if (at_ == begin) {  // a character that no identifier holds
    at_ += length;
    return TokenKind::Unknown;
  }
  const char quote = At(at_);
  if ((quote == '"' || quote == '\'') && at_ - begin <= 3) {
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    if (prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L") return ScanQuoted(quote);
    const bool raw =
        prefix == "R" || prefix == "u8R" || prefix == "uR" || prefix == "UR" || prefix == "LR";
    if (raw && quote == '"') return ScanRawString();
  }
  return TokenKind::Identifier;
}

// A preprocessing number: more than what is a valid number, so that `1.2.3` or `0x1g` is one token.
TokenKind Lexer::ScanNumber() {
  const char second = Peek(at_);
  const bool hex = At(at_) == '0' && (second == 'x' || second == 'X');
  bool is_float = false;
  while (at_ < text_.size()) {
    const char c = At(at_), next = Peek(at_);
    size_t length = 1;
    if (c == 'p' || c == 'P' || (!hex && (c == 'e' || c == 'E'))) {
      is_float = true;
      at_ = Step(at_);
      if (At(at_) == '+' || At(at_) == '-') at_ = Step(at_);
    } else if (c == '.') {
      is_float = true;
      at_ = Step(at_);
    } else if (IdentifierContinues(at_, &length) ||
               (c == '\'' && (IsDigit(next) || IsLetter(next)))) {
      at_ = Join(at_ + length);
    } else {
      break;
    }
  }
  return is_float ? TokenKind::Float : TokenKind::Integer;
}

TokenKind Lexer::ScanQuoted(char quote) {
  size_t i = Step(at_);
  while (i < text_.size() && At(i) != quote && At(i) != '\n') {
    if (At(i) == '\\' && Peek(i) != '\n') i = Step(i);
    i = Step(i);
  }
  const bool closed = At(i) == quote && i < text_.size();
  at_ = std::min(closed ? i + 1 : i, text_.size());
  if (!closed) return TokenKind::Unknown;
  return quote == '"' ? TokenKind::String : TokenKind::Char;
}

TokenKind Lexer::ScanRawString() {
  constexpr size_t kMaxDelimiter = 16;
  const std::string_view head = text_.substr(at_ + 1, kMaxDelimiter + 1);
  const size_t open = head.find_first_of("( )\\\t\v\f\n");
  joined_ = false;  // nothing is joined in a raw string
  if (open == head.npos || head[open] != '(') {
    ++at_;
    return TokenKind::Unknown;
  }
  const std::string close = ")" + std::string(head.substr(0, open)) + "\"";
  const size_t end = text_.find(close, at_ + open + 2);
  at_ = end == text_.npos ? text_.size() : end + close.size();
  return end == text_.npos ? TokenKind::Unknown : TokenKind::String;
}

TokenKind Lexer::ScanPunctuator() {
  const PunctuatorRow& row = kPunctuators[static_cast<unsigned char>(text_[at_])];
  for (size_t i = 0; i < row.count; ++i) {
    const std::string_view spelling = row.entries[i].spelling;
    size_t place = at_;
    size_t matched = 1;
    while (matched < spelling.size() && Peek(place) == spelling[matched]) {
      place = Step(place);
      ++matched;
    }
    if (matched == spelling.size()) {
      at_ = place + 1;
      return row.entries[i].kind;
    }
  }
  ++at_;
  return TokenKind::Unknown;
}

}  // namespace choreo::lex
