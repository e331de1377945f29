#include "parse/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace choreo::parse {
namespace {

using lex::TokenKind;
using Extent = Refusal::Extent;

constexpr std::array<std::string_view, 9> kFundamentalWords = {
    "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned"};

struct FundamentalName {
  std::string_view sorted_words;  // without `int` where another word says the width
  Elem elem;
};
constexpr FundamentalName kFundamentalTypes[] = {
    {"bool", Elem::kBool},
    {"char", Elem::kS8},
    {"char signed", Elem::kS8},
    {"char unsigned", Elem::kU8},
    {"double", Elem::kF64},
    {"float", Elem::kF32},
    {"int", Elem::kS32},
    {"int signed", Elem::kS32},
    {"int unsigned", Elem::kU32},
    {"long", Elem::kS64},
    {"long long", Elem::kS64},
    {"long signed", Elem::kS64},
    {"long long signed", Elem::kS64},
    {"long unsigned", Elem::kU64},
    {"long long unsigned", Elem::kU64},
    {"short", Elem::kS16},
    {"short signed", Elem::kS16},
    {"short unsigned", Elem::kU16},
    {"signed", Elem::kS32},
    {"unsigned", Elem::kU32},
};

struct Alias {
  std::string_view word, here;
};
constexpr Alias kAliases[] = {
    {"int8_t", "s8"},
    {"uint8_t", "u8"},
    {"int16_t", "s16"},
    {"uint16_t", "u16"},
    {"int32_t", "s32"},
    {"uint32_t", "u32"},
    {"int64_t", "s64"},
    {"uint64_t", "u64"},
    {"size_t", "u64"},
    {"uint", "u32"},
    {"i8", "s8"},
    {"i16", "s16"},
    {"i32", "s32"},
    {"i64", "s64"},
    {"fp16", "f16"},
    {"fp32", "f32"},
    {"fp64", "f64"},
    {"float16", "f16"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"bfloat16", "bf16"},
    {"__half", "f16"},
    {"__nv_bfloat16", "bf16"},
    {"ptrdiff_t", "s64"},
};

constexpr std::string_view kCast = "write `__to<TYPE>(x)`";
constexpr std::string_view kDropIt = "leave the word out";
constexpr std::string_view kOutside = "declare it in the C++ text outside the tile function";
constexpr Refusal kRefusals[] = {
    {"for", "write `foreach i in n`, or `while`", Extent::Header},
    {"do", "write `while (condition)`", Extent::Header},
    {"switch", "write `if … else if …`", Extent::Whole},
    {"case", "write `if … else if …`", Extent::Statement},
    {"default", "write `if … else if …`", Extent::Statement},
    {"goto", "use `if`, `while`, `break` and `continue`", Extent::Statement},
    {"try", "there are no exceptions in a kernel; use `assert`", Extent::Whole},
    {"catch", "there are no exceptions in a kernel; use `assert`", Extent::Whole},
    {"throw", "there are no exceptions in a kernel; use `assert`", Extent::Statement},
    {"struct", kOutside, Extent::Whole},
    {"class", kOutside, Extent::Whole},
    {"union", kOutside, Extent::Whole},
    {"enum", kOutside, Extent::Whole},
    {"namespace", kOutside, Extent::Whole},
    {"template", kOutside, Extent::Whole},
    {"using", "write the name in full, or use a macro", Extent::Statement},
    {"typedef", "write the type in full, or use a macro", Extent::Statement},
    {"static_assert", "write `assert(condition, \"message\")`", Extent::Statement},
    {"asm", "write `__cpp__(\"…\")`", Extent::Statement},
    {"delete", "storage is declared and ends with its block", Extent::Statement},
    {"const", "a scalar without `mutable` is immutable: leave the word out", Extent::Prefix},
    {"constexpr", "a scalar without `mutable` is immutable: leave the word out", Extent::Prefix},
    {"volatile", kDropIt, Extent::Prefix},
    {"static", kDropIt, Extent::Prefix},
    {"extern", kDropIt, Extent::Prefix},
    {"register", kDropIt, Extent::Prefix},
    {"inline", kDropIt, Extent::Prefix},
    {"thread_local", "write `local`", Extent::Prefix},
    {"__shared__", "write `shared`", Extent::Prefix},
    {"__restrict__", kDropIt, Extent::Prefix},
    {"sizeof", "use `.span` for extents", Extent::Expression},
    {"alignof", "use `.span` for extents", Extent::Expression},
    {"new", "declare `local` or `shared` storage", Extent::Expression},
    {"this", "tile functions belong to no class", Extent::Expression},
    {"nullptr", "there are no pointers; use views", Extent::Expression},
    {"static_cast", kCast, Extent::Expression},
    {"dynamic_cast", kCast, Extent::Expression},
    {"const_cast", kCast, Extent::Expression},
    {"reinterpret_cast", kCast, Extent::Expression},
    {"decltype", "write `auto`", Extent::Expression},
    {"typeid", "types are known at compile time", Extent::Expression},
    {"operator", "call the built-in operator itself", Extent::Expression},
    {"co_await", "write `wait`", Extent::Expression},
};

// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] =
          std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

constexpr std::array<std::string_view, 21> kStatementKeywords = {
    "apply",   "assert", "break",   "call",      "continue", "else",    "event",
    "foreach", "frag",   "if",      "inthreads", "local",    "mutable", "parallel",
    "return",  "shared", "trigger", "wait",      "while",    "with",    "__cpp__"};

}  // namespace

bool IsFundamentalWord(std::string_view word) {
  return std::find(kFundamentalWords.begin(), kFundamentalWords.end(), word) !=
         kFundamentalWords.end();
}

bool IsTypeWord(std::string_view word) {
  return IsFundamentalWord(word) || word == "half" || word == "auto" ||
         ElemFromSpelling(word).has_value();
}

std::optional<Elem> FundamentalType(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const size_t space = std::min(words.find(' '), words.size());
    parts.push_back(words.substr(0, space));
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  std::sort(parts.begin(), parts.end());
  const bool has_width = std::any_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part == "long" || part == "short";
  });
  const auto first_int = std::find(parts.begin(), parts.end(), "int");
  if (has_width && first_int != parts.end()) parts.erase(first_int);
  const std::string sorted = fmt::format("{}", fmt::join(parts, " "));
  for (const FundamentalName& name : kFundamentalTypes) {
    if (name.sorted_words == sorted) return name.elem;
  }
  return std::nullopt;
}

std::string_view TypeAlias(std::string_view word) {
  for (const Alias& alias : kAliases) {
    if (alias.word == word) return alias.here;
  }
  return {};
}

bool StartsStatement(TokenKind kind) {
  switch (kind) {
    case TokenKind::KwApply:
    case TokenKind::KwAssert:
    case TokenKind::KwBreak:
    case TokenKind::KwCall:
    case TokenKind::KwContinue:
    case TokenKind::KwCpp:
    case TokenKind::KwDma:
    case TokenKind::KwElse:
    case TokenKind::KwForeach:
    case TokenKind::KwFrag:
    case TokenKind::KwIf:
    case TokenKind::KwInThreads:
    case TokenKind::KwLocal:
    case TokenKind::KwMma:
    case TokenKind::KwMutable:
    case TokenKind::KwParallel:
    case TokenKind::KwReturn:
    case TokenKind::KwShared:
    case TokenKind::KwTma:
    case TokenKind::KwTrigger:
    case TokenKind::KwWait:
    case TokenKind::KwWhile:
    case TokenKind::KwWith:
      return true;
    default:
      return false;
  }
}

bool IsAssignment(TokenKind kind) {
  switch (kind) {
    case TokenKind::Equal:
    case TokenKind::PlusEqual:
    case TokenKind::MinusEqual:
    case TokenKind::StarEqual:
    case TokenKind::SlashEqual:
    case TokenKind::PercentEqual:
    case TokenKind::AmpEqual:
    case TokenKind::PipeEqual:
    case TokenKind::CaretEqual:
    case TokenKind::ShlEqual:
    case TokenKind::ShrEqual:
      return true;
    default:
      return false;
  }
}

bool IsWord(TokenKind kind) { return kind == TokenKind::Identifier || lex::IsKeyword(kind); }

const Refusal* FindRefusal(std::string_view word) {
  for (const Refusal& refusal : kRefusals) {
    if (refusal.word == word) return &refusal;
  }
  return nullptr;
}

std::string_view NearestKeyword(std::string_view word) {
  if (word.size() < 3 || word.size() > 12) return {};
  std::string_view best;
  size_t best_distance = word.size() >= 5 ? 3 : 2;
  for (std::string_view keyword : kStatementKeywords) {
    const size_t distance = EditDistance(word, keyword);
    if (distance < best_distance) {
      best = keyword;
      best_distance = distance;
    }
  }
  return best;
}

std::string Found(const lex::Token& token) {
  if (token.kind == TokenKind::EndOfFile) return "the end of the function";
  if (token.text.empty()) return std::string(lex::Describe(token.kind));
  constexpr size_t kLongest = 40;
  if (token.text.size() <= kLongest) return fmt::format("`{}`", token.text);
  size_t cut = kLongest;  // not inside a UTF-8 sequence
  while (cut > 0 && (static_cast<unsigned char>(token.text[cut]) & 0xC0) == 0x80) --cut;
  return fmt::format("`{}…`", token.text.substr(0, cut));
}

}  // namespace choreo::parse
