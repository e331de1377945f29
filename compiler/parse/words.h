// The words of tile functions that are not tokens of their own: types, statement keywords, C++
// constructs that are refused by name, and the spelling of tokens in messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lex/token.h"
#include "support/elem_type.h"

namespace choreo::parse {

// Words that make up type names: element types, `int`, `unsigned`, `half`, `auto` …
bool IsTypeWord(std::string_view word);
// The part of them that combine: `unsigned long long`.
bool IsFundamentalWord(std::string_view word);
// The type of a sequence of fundamental words in any order, e.g. {unsigned, long}; nothing if they
// do not combine. `words` are separated by single spaces.
std::optional<Elem> FundamentalType(std::string_view words);
// What a well-known type of another vocabulary is called here: `uint32_t` -> "u32"; empty if
// unknown.
std::string_view TypeAlias(std::string_view word);

// A keyword that starts a statement and never stands inside an expression.
bool StartsStatement(lex::TokenKind kind);
// `=`, `+=`, …
bool IsAssignment(lex::TokenKind kind);
// Identifier or keyword: what may stand after a `.`.
bool IsWord(lex::TokenKind kind);

// A C++ statement or expression word that tile functions do not have, and the way out.
struct Refusal {
  std::string_view word;
  std::string_view advice;
  // How much text it takes: to the `;`; the header of a body; bodies and all; a word before a
  // declaration; an operator or operand of an expression.
  enum class Extent : uint8_t { Statement, Header, Whole, Prefix, Expression } extent;
};
const Refusal* FindRefusal(std::string_view word);

// The statement keyword that `word` is a misspelling of, or nothing.
std::string_view NearestKeyword(std::string_view word);

// "`foo`", "end of file": a token as read, for "found …". Long texts are cut.
std::string Found(const lex::Token& token);

}  // namespace choreo::parse
