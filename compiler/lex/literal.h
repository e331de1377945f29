// Values of literal tokens, by the rules of C++. What is not a valid literal is diagnosed at the
// token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diag/diag.h"
#include "lex/token.h"
#include "support/elem_type.h"

namespace choreo::lex {

struct IntegerLiteral {
  uint64_t value = 0;
  Elem elem =
      Elem::kS32;  // s32, u32, s64 or u64: the first that holds the value and fits the suffix
};
struct FloatLiteral {
  double value = 0;  // rounded to f32 already where `elem` says so
  Elem elem = Elem::kF64;
};

// For a token of kind Integer, Float, String, Char.
std::optional<IntegerLiteral> ParseInteger(const Token& token, diag::Emitter& diags);
std::optional<FloatLiteral> ParseFloat(const Token& token, diag::Emitter& diags);
// The text between the quotes with escapes replaced, as UTF-8; raw strings as they stand.
std::optional<std::string> DecodeString(const Token& token, diag::Emitter& diags);
// The code of the single character (s32, as it is used: in conditions and index arithmetic).
std::optional<IntegerLiteral> ParseChar(const Token& token, diag::Emitter& diags);

}  // namespace choreo::lex
