// What the parser does after a mistake: whether it may be reported, and where reading goes on.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {

bool Parser::MayReport() {
  if (panic_ || quiet_ || damaged_[pos_] || errors_ > kMaxErrors) return false;
  if (++errors_ <= kMaxErrors) return true;
  diags_.Emit(diag::kinds::TooManySyntaxErrors, Peek().use, kMaxErrors);
  return false;
}

diag::Builder Parser::Unexpected(std::string_view expected, std::string_view context) {
  return Fail(diag::kinds::UnexpectedToken, Peek().use, Found(Peek()), expected, context);
}

bool Parser::Enter() {
  if (depth_ < kMaxDepth) {
    ++depth_;
    return true;
  }
  if (!depth_reported_) Fail(diag::kinds::NestingTooDeep, Peek().use, kMaxDepth);
  panic_ = depth_reported_ = true;
  return false;
}

std::string Parser::CloserOf(TokenKind open) {
  switch (open) {
    case TokenKind::LParen:
      return "`)`";
    case TokenKind::LBracket:
      return "`]`";
    case TokenKind::LBrace:
      return "`}`";
    default:
      CHOREO_UNREACHABLE("{} opens no group", lex::Describe(open));
  }
}

void Parser::ExpectSemicolon(std::string_view after) {
  if (panic_ || Accept(TokenKind::Semi)) return;
  if (damaged_[pos_ - 1]) {
    panic_ = !LooksLikeStatement();
    return;
  }
  const bool next_is_statement = LooksLikeStatement();
  if (!next_is_statement && !Peek().starts_line) {
    Unexpected("`;`", fmt::format("after {}", after));
    return;
  }
  // The place is the end of the statement, not wherever the next one starts.
  const Token& last = Previous();
  const SourceLoc end{last.use.begin.file, last.use.end};
  diag::Builder builder = Report(diag::kinds::MissingSemicolon, SourceRange(end), after);
  if (last.use == last.range) builder.Fix(SourceRange(end, end.offset), ";");
  if (!next_is_statement) panic_ = true;
}

bool Parser::LooksLikeStatement() const {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::EndOfFile:
    case TokenKind::RBrace:
      return true;
    case TokenKind::LBrace:
      return is_block_[pos_];
    case TokenKind::PlusPlus:
    case TokenKind::MinusMinus:
      return token.starts_line;
    case TokenKind::LBracket:
      return AtAttribute();
    case TokenKind::Identifier:
      break;
    case TokenKind::KwShared:
    case TokenKind::KwLocal:
    case TokenKind::KwFrag:
      return token.starts_line || At(TokenKind::Identifier, 1) || At(TokenKind::KwEvent, 1);
    default:
      return StartsStatement(token.kind);
  }
  if (IsTypeWord(token.text)) return true;
  if (FindRefusal(token.text) != nullptr) return token.starts_line;
  switch (Peek(1).kind) {
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::Dot:
    case TokenKind::PlusPlus:
    case TokenKind::MinusMinus:
      return token.starts_line;
    default:
      return IsAssignment(Peek(1).kind);
  }
}

void Parser::Synchronize(size_t first) {
  panic_ = false;
  while (!At(TokenKind::EndOfFile)) {
    const Token& token = Peek();
    switch (token.kind) {
      case TokenKind::Semi:
        Next();
        return;
      case TokenKind::RBrace:
        return;
      case TokenKind::LBrace:
        if (is_block_[pos_] && pos_ > first) return;
        [[fallthrough]];
      case TokenKind::LParen:
      case TokenKind::LBracket:
        if (token.kind == TokenKind::LBracket && token.starts_line && AtAttribute() &&
            pos_ > first) {
          return;
        }
        pos_ = partner_[pos_] + 1;
        break;
      case TokenKind::Identifier:
        if (token.starts_line && pos_ > first && IsAssignment(Peek(1).kind)) return;
        Next();
        break;
      default:
        if (token.starts_line && pos_ > first && StartsStatement(token.kind)) return;
        Next();
    }
  }
}

void Parser::SkipStatement() {
  panic_ = false;
  while (!At(TokenKind::EndOfFile) && !At(TokenKind::RBrace) && !At(TokenKind::Semi)) {
    const size_t close = partner_[pos_];
    if (close > pos_) {
      pos_ = close + 1;
    } else {
      Next();
    }
  }
}

bool Parser::SkipToBody() {
  panic_ = false;
  while (!At(TokenKind::EndOfFile) && !At(TokenKind::RBrace)) {
    if (At(TokenKind::LBrace) && is_block_[pos_]) return true;
    if (Accept(TokenKind::Semi)) return false;
    if (Peek().starts_line && StartsStatement(Peek().kind)) return false;
    const size_t close = partner_[pos_];
    if (close > pos_) {
      pos_ = close + 1;
    } else {
      Next();
    }
  }
  return false;
}

bool Parser::IsCalled(std::string_view name) const {
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (tokens_[i].text == name && tokens_[i + 1].kind == TokenKind::LParen) return true;
  }
  return false;
}

std::vector<ast::Name> Parser::NamesFrom(size_t first) const {
  std::vector<ast::Name> names;
  std::unordered_set<std::string_view> seen;
  for (size_t i = first; i < pos_; ++i) {
    const Token& token = tokens_[i];
    if (token.kind != TokenKind::Identifier || IsTypeWord(token.text)) continue;
    if (i > 0 && tokens_[i - 1].kind == TokenKind::Dot) continue;
    // A function that is called, here or elsewhere: as a name it would make tuple elements of the
    // calls behind.
    const bool set = i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::Equal;
    if (!set && !declared_.contains(std::string(token.text)) && IsCalled(token.text)) continue;
    if (seen.insert(token.text).second) names.push_back({std::string(token.text), token.use});
  }
  return names;
}

ast::StmtId Parser::ErrorStmt(size_t first) {
  std::vector<ast::Name> names = NamesFrom(first);
  for (const ast::Name& name : names) declared_.insert(name.text);
  return AddStmt(first, ast::ErrorStmt{std::move(names)});
}

}  // namespace choreo::parse
