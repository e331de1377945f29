#include "lex/host_scope.h"

#include <algorithm>
#include <array>

namespace choreo::lex {
namespace {

// Words that belong to the declaration after them, so that it is not a tile function alone.
constexpr std::array<std::string_view, 12> kSpecifiers = {
    "static",   "inline",     "extern",     "constexpr", "virtual",  "friend",
    "explicit", "__global__", "__device__", "__host__",  "noexcept", "typedef"};

}  // namespace

void HostScope::EndDeclaration() {
  parentheses_ = 0;
  namespace_head_ = linkage_head_ = template_head_ = false;
  previous_ = {};
}

bool HostScope::Feed(const Token& token) {
  switch (token.kind) {
    case TokenKind::Semi:
      EndDeclaration();
      return true;
    case TokenKind::LBrace: {
      const bool opens_namespace = (namespace_head_ || linkage_head_) && parentheses_ == 0;
      braces_.push_back(opens_namespace);
      if (!opens_namespace) ++other_braces_;
      EndDeclaration();
      return true;
    }
    case TokenKind::RBrace:
      EndDeclaration();
      if (braces_.empty()) return false;
      if (!braces_.back()) --other_braces_;
      braces_.pop_back();
      return true;
    case TokenKind::LParen:
      ++parentheses_;
      break;
    case TokenKind::RParen:
      if (parentheses_ == 0) {  // its `(` stood before a tile function
        EndDeclaration();
        return true;
      }
      --parentheses_;
      break;
    case TokenKind::Identifier:
      // Not only as the first word: a macro use without `;` may stand before it.
      namespace_head_ |= token.text == "namespace";
      template_head_ |= token.text == "template";
      break;
    case TokenKind::String:
      linkage_head_ |= previous_ == "extern";
      break;
    default:
      break;
  }
  previous_ = token.text;
  return true;
}

std::string_view HostScope::Objection() const {
  if (other_braces_ > 0) return "inside braces that are not a namespace's";
  if (parentheses_ > 0) return "inside parentheses";
  if (template_head_) return "after `template`";
  if (linkage_head_) return "after `extern \"C\"`";
  const bool specifier =
      std::find(kSpecifiers.begin(), kSpecifiers.end(), previous_) != kSpecifiers.end();
  return specifier ? "after a declaration specifier" : std::string_view();
}

}  // namespace choreo::lex
