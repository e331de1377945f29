// Reading tokens and making nodes.
#include <algorithm>

#include "ast/children.h"
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {

Parser::Parser(ast::File& file, diag::Emitter& diags, UnknownTypes& unknown_types,
               Balanced balanced)
    : file_(file),
      diags_(diags),
      unknown_types_(unknown_types),
      tokens_(std::move(balanced.tokens)),
      partner_(std::move(balanced.partner)),
      is_block_(std::move(balanced.is_block)),
      damaged_(std::move(balanced.damaged)),
      first_expr_(static_cast<uint32_t>(file.exprs.size())) {
  // `in` and `by` mean something in headers only; elsewhere they are good names.
  for (Token& token : tokens_) {
    if (token.kind == TokenKind::KwIn || token.kind == TokenKind::KwBy) {
      token.kind = TokenKind::Identifier;
    }
  }
}

const lex::Token& Parser::Peek(size_t ahead) const {
  return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
}

bool Parser::AtWord(std::string_view word, size_t ahead) const {
  return At(TokenKind::Identifier, ahead) && Peek(ahead).text == word;
}

bool Parser::AtAttribute() const {
  return At(TokenKind::LBracket) && At(TokenKind::LBracket, 1) && !Peek(1).after_space;
}

const lex::Token& Parser::Next() {
  const Token& token = tokens_[pos_];
  if (pos_ + 1 < tokens_.size()) ++pos_;
  return token;
}

bool Parser::Accept(TokenKind kind) {
  if (!At(kind)) return false;
  Next();
  return true;
}

bool Parser::AcceptWord(std::string_view word) {
  if (!AtWord(word)) return false;
  Next();
  return true;
}

bool Parser::ExpectWord(std::string_view word, std::string_view context) {
  if (panic_) return false;
  if (AcceptWord(word)) return true;
  Unexpected(fmt::format("`{}`", word), context);
  return false;
}

bool Parser::Expect(TokenKind kind, std::string_view context) {
  if (panic_) return false;
  if (Accept(kind)) return true;
  Unexpected(lex::Describe(kind), context);
  return false;
}

lex::TokenKind Parser::KindAfterGroup(size_t ahead) const {
  const size_t close = partner_[std::min(pos_ + ahead, tokens_.size() - 1)];
  return tokens_[std::min(close + 1, tokens_.size() - 1)].kind;
}

SourceRange Parser::RangeFrom(size_t first) const {
  if (pos_ <= first) return tokens_[first].use;
  return Join(tokens_[first].use, tokens_[pos_ - 1].use);
}

std::string Parser::TextFrom(size_t first) const {
  std::string text;
  for (size_t i = first; i < pos_; ++i) text += tokens_[i].text;
  return text;
}

ast::ExprId Parser::Add(ast::Expr expr) {
  uint16_t height = 0;
  ast::ForEachChild(expr.node, [&](std::string_view, ast::ExprId child) {
    height = std::max(height, heights_[child.value - first_expr_]);
  });
  if (++height > kMaxHeight) {
    if (!depth_reported_) Fail(diag::kinds::NestingTooDeep, expr.range, kMaxHeight);
    panic_ = depth_reported_ = true;
    return ErrorExpr();
  }
  heights_.push_back(height);
  return file_.exprs.Add(std::move(expr));
}

ast::ExprId Parser::ErrorExpr() {
  heights_.push_back(1);
  return file_.exprs.Add(ast::Expr(Peek().use, ast::ErrorExpr{}));
}

}  // namespace choreo::parse
