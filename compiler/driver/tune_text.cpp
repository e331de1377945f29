#include "driver/tune_text.h"

#include <algorithm>

namespace choreo::driver {
namespace {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) { result_.code = std::string(text); }

  ScannedText Run() {
    while (at_ < text_.size()) Step();
    return std::move(result_);
  }

 private:
  char Peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void Step() {
    const char c = text_[at_];
    if (c == '/' && Peek(1) == '/') {
      LineComment();
    } else if (c == '/' && Peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      Blank(end == text_.npos ? text_.size() : end + 2);
    } else if (c == '"' || c == '\'') {
      Quoted(c);
    } else if (IsWordCharacter(c)) {
      Word();
    } else {
      ++at_;
    }
  }

  // A backslash at its end continues the comment.
  void LineComment() {
    size_t end = at_;
    do {
      end = std::min(text_.find('\n', end + 1), text_.size());
    } while (end < text_.size() && text_[end - 1] == '\\');
    result_.line_comments.push_back({static_cast<uint32_t>(at_), static_cast<uint32_t>(end)});
    Blank(end);
  }

  void Blank(size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') result_.code[at_] = ' ';
    }
  }

  // An unfinished one ends with its line.
  void Quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  // A number takes its separators along: the `'` of 1'000 opens no character constant.
  void Word() {
    const size_t begin = at_;
    const bool number = !IsWordStart(text_[at_]);
    while (IsWordCharacter(Peek(0)) || (number && Peek(0) == '\'' && IsWordCharacter(Peek(1)))) {
      ++at_;
    }
    const std::string_view word = text_.substr(begin, at_ - begin);
    const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
    if (!raw || Peek(0) != '"') return;
    const size_t open = text_.find('(', at_);
    if (open == text_.npos) return;
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const size_t end = text_.find(close, open);
    at_ = end == text_.npos ? text_.size() : end + close.size();
  }

  std::string_view text_;
  size_t at_ = 0;
  ScannedText result_;
};

}  // namespace

bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool IsWordCharacter(char c) { return IsWordStart(c) || (c >= '0' && c <= '9'); }

std::string_view TrimBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\\";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view LeadingWord(std::string_view text) {
  if (text.empty() || !IsWordStart(text[0])) return {};
  return text.substr(
      0, static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsWordCharacter) -
                             text.begin()));
}

ScannedText ScanText(std::string_view text) { return Scanner(text).Run(); }

}  // namespace choreo::driver
