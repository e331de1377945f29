#include "lex/token.h"

#include <array>
#include <unordered_map>

#include "support/check.h"

namespace choreo::lex {
namespace {

enum class Group : uint8_t { Token, Punct, Keyword };
struct KindInfo {
  std::string_view description;  // as a diagnostic prints it
  std::string_view spelling;     // empty for tokens with varying text
  std::string_view name;         // the enumerator
  Group group;
};

constexpr std::array kInfos = {
#define CHOREO_TOKEN(kind, description) KindInfo{description, "", #kind, Group::Token},
#define CHOREO_PUNCT(kind, spelling) KindInfo{"`" spelling "`", spelling, #kind, Group::Punct},
#define CHOREO_KEYWORD(kind, spelling) KindInfo{"`" spelling "`", spelling, #kind, Group::Keyword},
#include "lex/token_kind.def"
};

const KindInfo& Info(TokenKind kind) {
  CHOREO_CHECK(static_cast<size_t>(kind) < kInfos.size());
  return kInfos[static_cast<size_t>(kind)];
}

std::unordered_map<std::string_view, TokenKind> MakeKeywords() {
  std::unordered_map<std::string_view, TokenKind> keywords;
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (kInfos[i].group == Group::Keyword) {
      keywords.emplace(kInfos[i].spelling, static_cast<TokenKind>(i));
    }
  }
  return keywords;
}

}  // namespace

std::string_view Describe(TokenKind kind) { return Info(kind).description; }
std::string_view Name(TokenKind kind) { return Info(kind).name; }
bool IsKeyword(TokenKind kind) { return Info(kind).group == Group::Keyword; }

TokenKind KeywordOrIdentifier(std::string_view text) {
  static const std::unordered_map<std::string_view, TokenKind> keywords = MakeKeywords();
  const auto it = keywords.find(text);
  return it == keywords.end() ? TokenKind::Identifier : it->second;
}

}  // namespace choreo::lex
