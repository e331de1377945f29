#include "lex/literal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace choreo::lex {
namespace {

namespace kinds = diag::kinds;

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

struct Radix {
  int base = 10;
  size_t prefix = 0;  // characters before the digits
  std::string_view name = "decimal";
};

Radix RadixOf(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return {};
  if (text[1] == 'x' || text[1] == 'X') return {16, 2, "hexadecimal"};
  if (text[1] == 'b' || text[1] == 'B') return {2, 2, "binary"};
  return {8, 1, "octal"};
}

struct IntegerSuffix {
  bool valid = false, is_unsigned = false, is_long = false;
};

IntegerSuffix ReadSuffix(std::string_view suffix) {
  IntegerSuffix result;
  const auto take_u = [&] {
    if (result.is_unsigned || suffix.empty() || (suffix[0] != 'u' && suffix[0] != 'U')) return;
    result.is_unsigned = true;
    suffix.remove_prefix(1);
  };
  take_u();
  if (!suffix.empty() && (suffix[0] == 'l' || suffix[0] == 'L')) {
    result.is_long = true;
    suffix.remove_prefix(suffix.size() > 1 && suffix[1] == suffix[0] ? 2 : 1);
  }
  take_u();
  result.valid = suffix.empty();
  return result;
}

// The first type of C++'s list for the literal that holds `value`.
std::optional<Elem> TypeOf(uint64_t value, IntegerSuffix suffix, bool decimal) {
  const auto fits = [&](Elem elem) {
    switch (elem) {
      case Elem::kS32:
        return value <= std::numeric_limits<int32_t>::max();
      case Elem::kU32:
        return value <= std::numeric_limits<uint32_t>::max();
      case Elem::kS64:
        return value <= uint64_t{std::numeric_limits<int64_t>::max()};
      default:
        return true;
    }
  };
  for (const Elem elem : {Elem::kS32, Elem::kU32, Elem::kS64, Elem::kU64}) {
    if (suffix.is_long && Bits(elem) < 64) continue;
    if (suffix.is_unsigned && IsSigned(elem)) continue;
    if (decimal && !suffix.is_unsigned && IsUnsigned(elem)) continue;
    if (fits(elem)) return elem;
  }
  return std::nullopt;
}

// Whether every separator stands between two digits.
bool SeparatorsAreInside(std::string_view digits) {
  return digits.empty() ||
         (digits.front() != '\'' && digits.back() != '\'' && digits.find("''") == digits.npos);
}

// What is wrong with a floating-point literal without its suffix and separators, or nothing.
std::string_view FloatFault(std::string_view text) {
  const Radix radix = RadixOf(text);
  const bool hex = radix.base == 16;
  size_t i = hex ? 2 : 0;
  size_t digits = 0;
  const auto skip = [&] {
    while (i < text.size() && DigitValue(text[i]) < (hex ? 16 : 10)) ++i, ++digits;
  };
  skip();
  if (i < text.size() && text[i] == '.') ++i, skip();
  if (digits == 0) return "there are no digits";
  const bool exponent = i < text.size() &&
                        (hex ? text[i] == 'p' || text[i] == 'P' : text[i] == 'e' || text[i] == 'E');
  if (hex && !exponent) return "a hexadecimal one needs an exponent, as in `0x1p3`";
  if (exponent) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const size_t begin = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    if (i == begin) return "the exponent has no digits";
  }
  return i == text.size() ? std::string_view() : "its suffix is not `f`";
}

}  // namespace

std::optional<IntegerLiteral> ParseInteger(const Token& token, diag::Emitter& diags) {
  const std::string_view text = token.text;
  const auto invalid = [&](std::string_view why) {
    diags.Emit(kinds::InvalidNumber, token.range, text, why);
    return std::nullopt;
  };
  const Radix radix = RadixOf(text);
  size_t end = radix.prefix;
  while (end < text.size() &&
         (DigitValue(text[end]) < std::max(radix.base, 10) || text[end] == '\'')) {
    ++end;
  }
  const std::string_view digits = text.substr(radix.prefix, end - radix.prefix);
  if (digits.empty() && radix.prefix != 1) return invalid("there are no digits");
  if (!SeparatorsAreInside(radix.prefix == 1 ? text.substr(0, end) : digits)) {
    return invalid("a `'` stands between two digits");
  }
  const IntegerSuffix suffix = ReadSuffix(text.substr(end));
  if (text.substr(end) == "f") return invalid("a floating-point one has a `.` or an exponent");
  if (!suffix.valid) return invalid("its suffix is not one of `u`, `l`, `ll`, `ul`, `ull`");

  uint64_t value = 0;
  bool overflow = false;
  for (const char c : digits) {
    if (c == '\'') continue;
    const auto digit = static_cast<uint64_t>(DigitValue(c));
    const auto base = static_cast<uint64_t>(radix.base);
    if (digit >= base) return invalid(fmt::format("`{}` is not a digit of {} ones", c, radix.name));
    overflow |= value > (std::numeric_limits<uint64_t>::max() - digit) / base;
    value = value * base + digit;
  }
  const std::optional<Elem> elem = TypeOf(value, suffix, radix.base == 10);
  if (overflow || !elem) {
    diags.Emit(kinds::IntegerTooLarge, token.range, text);
    return std::nullopt;
  }
  return IntegerLiteral{value, *elem};
}

std::optional<FloatLiteral> ParseFloat(const Token& token, diag::Emitter& diags) {
  const bool hex = RadixOf(token.text).base == 16;
  std::string text(token.text);
  // In a hexadecimal one `f` is a digit before the exponent, which it must have.
  const bool has_suffix = text.size() > 1 && (text.back() == 'f' || text.back() == 'F') &&
                          (!hex || text.find_first_of("pP") != text.npos);
  if (has_suffix) text.pop_back();
  const bool separated = text.find('\'') != text.npos;
  const bool inside =
      SeparatorsAreInside(text) && text.find("'.") == text.npos && text.find(".'") == text.npos;
  if (separated) text.erase(std::remove(text.begin(), text.end(), '\''), text.end());
  const std::string_view fault = inside ? FloatFault(text) : "a `'` stands between two digits";
  if (!fault.empty()) {
    diags.Emit(kinds::InvalidNumber, token.range, token.text, fault);
    return std::nullopt;
  }
  const Elem elem = has_suffix ? Elem::kF32 : Elem::kF64;
  // strtof rounds once: by way of double it would round twice.
  const double value =
      has_suffix ? double{std::strtof(text.c_str(), nullptr)} : std::strtod(text.c_str(), nullptr);
  if (std::isinf(value)) {
    diags.Emit(kinds::FloatTooLarge, token.range, token.text, Spelling(elem));
    return std::nullopt;
  }
  return FloatLiteral{value, elem};
}

}  // namespace choreo::lex
