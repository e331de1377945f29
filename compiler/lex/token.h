// Tokens of a .co file. A token is a range of source text with a kind; macro expansion keeps where
// the text was spelled (`range`) and where it was first written into the program (`use`).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/source.h"

namespace choreo::lex {

enum class TokenKind : uint8_t {
#define CHOREO_TOKEN(kind, description) kind,
#define CHOREO_PUNCT(kind, spelling) kind,
#define CHOREO_KEYWORD(kind, spelling) kind,
#include "lex/token_kind.def"
};

// "`(`", "`foreach`", "identifier" …: how a diagnostic names the kind.
std::string_view Describe(TokenKind kind);
// "LParen", "KwForeach": the name of the enumerator.
std::string_view Name(TokenKind kind);
bool IsKeyword(TokenKind kind);
// The keyword spelled `text`, else Identifier.
TokenKind KeywordOrIdentifier(std::string_view text);

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  SourceRange range;      // where the text is spelled (a macro's body for expanded tokens)
  SourceRange use;        // the outermost macro use; equals `range` outside macros
  std::string_view text;  // spelling; owned by the SourceManager or the Unit
  bool starts_line = false;
  bool after_space = false;
};

// One tile function of the main file: the range of source text that the generated code replaces,
// and its tokens after preprocessing, from `__co__` to the closing brace, then EndOfFile.
struct TileFunctionText {
  SourceRange text;  // empty for all but the first of the functions that one macro use expands to
  std::vector<Token> tokens;
  // `#define` and `#undef` lines inside `text`. They still hold after it, for host text too, so
  // they are to be repeated after the generated code.
  std::vector<SourceRange> definitions;
};

// The main file cut into host text (passed through byte for byte) and tile functions, in order.
struct Segment {
  enum class Kind : uint8_t { Host, TileFunction };
  Kind kind;
  SourceRange text;       // Host: the range to copy
  uint32_t function = 0;  // TileFunction: index into Unit::functions
};

struct CommandLineDefine {  // a -D option, also printed before the host text
  std::string name, body;
};

struct Unit {
  FileId file;
  std::vector<Segment> segments;
  std::vector<TileFunctionText> functions;
  std::vector<CommandLineDefine> command_line_defines;
  std::deque<std::string> pasted;  // text of tokens made by ## and #; stable addresses
};

}  // namespace choreo::lex
