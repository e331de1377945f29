// The text of one file in, its raw preprocessing tokens out, one at a time (a file may be large,
// and most of it host text that is only looked at). Comments are skipped; lines joined by a
// backslash are one line. Every C++ token is recognised well enough to find its end; whether a
// number or an escape is right is not looked at here (literal.h). Keywords come as Identifier.
// Emits nothing but an unterminated comment. An unterminated literal is a token of kind Unknown
// that starts with its quote or prefix.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "diag/diag.h"
#include "lex/token.h"
#include "support/source.h"

namespace choreo::lex {

class Lexer {
 public:
  // `text` is the text of `file`, or text that stands for it at `base`. The spelling of a token
  // that has a joined line inside is stored in `spellings`. `diags` may be null.
  Lexer(std::string_view text, FileId file, std::deque<std::string>& spellings,
        diag::Emitter* diags, uint32_t base = 0);

  // The next token; EndOfFile again and again at the end.
  Token Next();

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  // `i`, or the first character after the joined line ends that start at `i`.
  size_t Join(size_t i);
  size_t Step(size_t i) { return Join(i + 1); }
  char Peek(size_t i) { return At(Step(i)); }

  void SkipBlanks(Token& token);
  void SkipLineComment();
  void SkipBlockComment();
  TokenKind Scan();
  TokenKind ScanIdentifier();
  TokenKind ScanNumber();
  TokenKind ScanQuoted(char quote);
  TokenKind ScanRawString();
  TokenKind ScanPunctuator();
  bool IdentifierContinues(size_t i, size_t* length) const;
  std::string_view Spelling(size_t begin);

  std::string_view text_;
  FileId file_;
  std::deque<std::string>& spellings_;
  diag::Emitter* diags_;
  uint32_t base_;
  size_t at_ = 0;
  bool joined_ = false;  // a joined line end was passed since the token began
  bool line_start_ = true;
};

// Whether an identifier may hold the non-ASCII character (punctuation and spaces of any script may
// not stand in one: a full-width comma is a mistake, not a name).
bool IsIdentifierCharacter(uint32_t code_point);

}  // namespace choreo::lex
