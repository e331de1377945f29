// Statements other than declarations, scopes and loops.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {
namespace {

std::optional<ast::BinaryOp> OperatorOf(lex::TokenKind assignment) {
  using lex::TokenKind;
  switch (assignment) {
    case TokenKind::PlusEqual:
      return ast::BinaryOp::Add;
    case TokenKind::MinusEqual:
      return ast::BinaryOp::Sub;
    case TokenKind::StarEqual:
      return ast::BinaryOp::Mul;
    case TokenKind::SlashEqual:
      return ast::BinaryOp::Div;
    case TokenKind::PercentEqual:
      return ast::BinaryOp::Mod;
    case TokenKind::AmpEqual:
      return ast::BinaryOp::BitAnd;
    case TokenKind::PipeEqual:
      return ast::BinaryOp::BitOr;
    case TokenKind::CaretEqual:
      return ast::BinaryOp::BitXor;
    case TokenKind::ShlEqual:
      return ast::BinaryOp::Shl;
    case TokenKind::ShrEqual:
      return ast::BinaryOp::Shr;
    default:
      return std::nullopt;
  }
}

bool StartsExpression(lex::TokenKind kind) {
  using lex::TokenKind;
  switch (kind) {
    case TokenKind::Identifier:
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::Char:
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
    case TokenKind::KwAnyOf:
    case TokenKind::LParen:
    case TokenKind::LBracket:
    case TokenKind::Pipe:
    case TokenKind::Plus:
    case TokenKind::Minus:
    case TokenKind::Exclaim:
    case TokenKind::Tilde:
    case TokenKind::Hash:
    case TokenKind::PlusPlus:
    case TokenKind::MinusMinus:
    case TokenKind::Amp:
    case TokenKind::Star:
    case TokenKind::ColonColon:
      return true;
    default:
      return false;
  }
}

bool IsRegisterCall(std::string_view word) { return word == "setreg_dec" || word == "setreg_inc"; }

}  // namespace

// `break;` and the like
template <class Node>
ast::StmtId Parser::ParseSimple(std::string_view after) {
  const size_t first = pos_;
  Next();
  ExpectSemicolon(after);
  return AddStmt(first, Node{});
}

// A statement, or an invalid id for `;`. Where it cannot be parsed an ErrorStmt stands for it and
// the next token starts another statement.
ast::StmtId Parser::ParseStatement() {
  const size_t first = pos_;
  quiet_ = damaged_[pos_];
  ast::StmtId stmt;
  if (Enter()) {
    stmt = ParseStatementHere(first);
    Leave();
  }
  quiet_ = false;
  if (!panic_) return stmt;
  Synchronize(first);
  return ErrorStmt(first);
}

ast::StmtId Parser::ParseStatementHere(size_t first) {
  std::vector<ast::Attribute> attributes = ParseAttributes();
  if (panic_) return {};
  if (At(TokenKind::KwParallel)) return ParseParallel(std::move(attributes));
  ast::StmtId stmt = ParseKeywordStatement(first);
  if (!attributes.empty()) {
    if (stmt.valid()) {
      file_.stmts[stmt].attributes = std::move(attributes);
    } else {
      Report(diag::kinds::BadAttribute, tokens_[first].use,
             "attributes before nothing; they stand before the statement they belong to");
    }
  }
  return stmt;
}

ast::StmtId Parser::ParseKeywordStatement(size_t first) {
  switch (Peek().kind) {
    case TokenKind::Semi:
      Next();
      return {};
    case TokenKind::LBrace:
      if (is_block_[pos_]) return ParseBlock();
      Fail(diag::kinds::ExpectedStatement, Peek().use, "variables in `{…}`",
           "such as `foreach`, `apply` or `with` before them");
      return {};
    case TokenKind::KwApply:
      return ParseApply();
    case TokenKind::KwAssert:
      return ParseAssert();
    case TokenKind::KwBreak:
      return ParseSimple<ast::Break>("`break`");
    case TokenKind::KwCall:
      return ParseCall();
    case TokenKind::KwContinue:
      return ParseSimple<ast::Continue>("`continue`");
    case TokenKind::KwCpp:
      return ParseRawCpp();
    case TokenKind::KwEvent:
    case TokenKind::KwFrag:
    case TokenKind::KwGlobal:
    case TokenKind::KwLocal:
    case TokenKind::KwShared:
      return ParseStorageDecl();
    case TokenKind::KwForeach:
      return ParseForeach();
    case TokenKind::KwIf:
      return ParseIf();
    case TokenKind::KwInThreads:
      return ParseInThreads();
    case TokenKind::KwMutable:
      return ParseScalarDecl();
    case TokenKind::KwReturn:
      return ParseReturn();
    case TokenKind::KwTrigger:
      return ParseTrigger();
    case TokenKind::KwWait:
      return ParseWait();
    case TokenKind::KwWhile:
      return ParseWhile();
    case TokenKind::KwWith:
      return ParseWith();
    case TokenKind::KwMma:
      if (AtMmaStore()) return ParseMmaStore(first);
      return ParseAssignmentOrExpression(first);
    case TokenKind::KwElse:
      Report(diag::kinds::ElseWithoutIf, Peek().use);
      Next();
      return ParseBody("after `else`");
    case TokenKind::KwCo:
      Fail(diag::kinds::UnsupportedConstruct, Peek().use, "nested tile functions are",
           "write it beside this one");
      Next();
      return {};
    case TokenKind::KwVoid:
      Fail(diag::kinds::UnsupportedConstruct, Peek().use, "nested functions are",
           "write it in the C++ text, or as a function-like macro");
      return {};
    case TokenKind::Identifier:
      return ParseWordStatement(first);
    default:
      return ParseAssignmentOrExpression(first);
  }
}

ast::StmtId Parser::ParseWordStatement(size_t first) {
  const std::string_view word = Peek().text;
  if (AtTypeStart()) return AtStorageWithoutClass() ? ParseStorageDecl() : ParseScalarDecl();
  if (IsTypeWord(word) && word != "half" && At(TokenKind::Equal, 1)) {  // `f32 = n;`
    CheckName(Next(), "a value");
    Next();
    ParseValue("after `=`");
    ExpectSemicolon("this assignment");
    return panic_ ? ast::StmtId() : ErrorStmt(first);
  }
  if (FindRefusal(word) != nullptr) return ParseRefused(first);
  if (word == "sync" && At(TokenKind::Dot, 1)) return ParseSync();
  if (IsRegisterCall(word) && At(TokenKind::LParen, 1)) return ParseRegisterCall();
  if (At(TokenKind::Colon, 1)) {
    Fail(diag::kinds::UnsupportedConstruct, Peek().use, fmt::format("labels (`{}:`) are", word),
         "use `if`, `while`, `break` and `continue`");
    Next();
    Next();
    panic_ = false;
    return {};
  }
  if (ParseMisspelled()) return {};
  if (AtUnknownType())
    return AtStorageWithoutClass() || At(TokenKind::LBracket, 1) ? ParseStorageDecl()
                                                                 : ParseScalarDecl();
  return ParseAssignmentOrExpression(first);
}

// A word that does not fit here, spelled like a keyword that does: `foreech {i} in …`.
bool Parser::ParseMisspelled() {
  const std::string_view keyword = NearestKeyword(Peek().text);
  if (keyword.empty()) return false;
  bool fits = false;
  switch (Peek(1).kind) {
    case TokenKind::LBrace:
      fits = true;
      break;
    case TokenKind::Identifier:  // `wiat f;`, but not `flaot x = 3;`
      fits = !Peek(1).starts_line;
      break;
    case TokenKind::LParen: {
      const TokenKind after = KindAfterGroup(1);
      fits = after != TokenKind::Semi && after != TokenKind::Dot && !IsAssignment(after);
      break;
    }
    default:
      break;
  }
  if (!fits) return false;
  Fail(diag::kinds::UnknownStatement, Peek().use, Peek().text, keyword)
      .Hint(Peek().use, std::string(keyword));
  Next();
  return true;
}

// ---- blocks and bodies
// ----------------------------------------------------------------------------

ast::StmtId Parser::ParseBlock() {
  const size_t first = pos_;
  const size_t close = partner_[pos_];
  Next();
  ast::Block block;
  while (pos_ < close) {
    const size_t before = pos_;
    const ast::StmtId stmt = ParseStatement();
    if (stmt.valid()) block.statements.push_back(stmt);
    if (pos_ == before) Next();
  }
  pos_ = close;
  Next();
  return AddStmt(first, std::move(block));
}

// A block or one statement, as a Block. After a header that could not be parsed: its block if it
// has one.
ast::StmtId Parser::ParseBody(std::string_view context) {
  if (panic_ && !SkipToBody()) return AddStmt(pos_, ast::Block{});
  quiet_ = false;
  if (At(TokenKind::LBrace)) return ParseBlock();
  const size_t first = pos_;
  ast::Block block;
  if (At(TokenKind::RBrace) || At(TokenKind::EndOfFile)) {
    Report(diag::kinds::ExpectedStatement, Peek().use, Found(Peek()), context);
  } else {
    const ast::StmtId stmt = ParseStatement();
    if (stmt.valid()) block.statements.push_back(stmt);
  }
  return AddStmt(first, std::move(block));
}

// ---- expressions and assignments
// ------------------------------------------------------------------

ast::StmtId Parser::ParseAssignmentOrExpression(size_t first) {
  if (!StartsExpression(Peek().kind) && !AtOperation()) {
    Fail(diag::kinds::ExpectedStatement, Peek().use, Found(Peek()), "here");
    return {};
  }
  const ast::ExprId target = AtOperation() ? ParseOperation() : ParseConditional("as a statement");
  if (panic_) return {};
  const ast::ExprNode& node = file_.exprs[target].node;
  if (IsAssignment(Peek().kind)) {
    const Token& op = Next();
    const bool assignable =
        std::holds_alternative<ast::NameRef>(node) ||
        std::holds_alternative<ast::MethodCall>(node) || std::holds_alternative<ast::Index>(node) ||
        std::holds_alternative<ast::Member>(node) || std::holds_alternative<ast::ErrorExpr>(node);
    if (!assignable) {
      Report(diag::kinds::NotAssignable, RangeOf(target), ast::Describe(file_.exprs[target]));
    } else if (const auto* name = std::get_if<ast::NameRef>(&node)) {
      if (op.kind == TokenKind::Equal) declared_.insert(name->name);
    }
    const ast::ExprId value = ParseValue(fmt::format("after `{}`", op.text));
    ExpectSemicolon("this assignment");
    return AddStmt(first, ast::Assign{target, OperatorOf(op.kind), value});
  }
  const bool has_effect =
      std::holds_alternative<ast::Call>(node) || std::holds_alternative<ast::IncDec>(node) ||
      std::holds_alternative<ast::DmaCopy>(node) || std::holds_alternative<ast::TmaCopy>(node) ||
      std::holds_alternative<ast::MmaFill>(node) || std::holds_alternative<ast::Mma>(node) ||
      std::holds_alternative<ast::MmaLoad>(node) || std::holds_alternative<ast::Atomic>(node) ||
      std::holds_alternative<ast::ErrorExpr>(node);
  const std::string what(ast::Describe(file_.exprs[target]));
  if (has_effect) {
    if (std::holds_alternative<ast::ErrorExpr>(node)) {  // reported, and not even a call is left
      panic_ = !Accept(TokenKind::Semi);
      return panic_ ? ast::StmtId() : ErrorStmt(first);
    }
    ExpectSemicolon("this statement");
  } else if (At(TokenKind::Semi) || LooksLikeStatement() || Peek().starts_line) {
    Fail(diag::kinds::NotAStatement, RangeOf(target), what);
  } else {
    Unexpected("an operator, `=` or `;`", fmt::format("after {}", what));
  }
  return AddStmt(first, ast::ExprStmt{target});
}

// ---- statements of C++ that tile functions do not have
// --------------------------------------------

ast::StmtId Parser::ParseRefused(size_t first) {
  const Token& token = Peek();
  const Refusal& refusal = *FindRefusal(token.text);
  if (refusal.extent == Refusal::Extent::Expression) return ParseAssignmentOrExpression(first);
  diag::Builder builder = Report(diag::kinds::UnsupportedConstruct, token.use,
                                 fmt::format("`{}` is", token.text), refusal.advice);
  if (refusal.extent == Refusal::Extent::Prefix) {
    const Token& next = Peek(1);
    if (token.use == token.range && token.text != "__shared__" && token.text != "thread_local") {
      builder.Fix(SourceRange(token.use.begin, next.use.begin.file == token.use.begin.file
                                                   ? next.use.begin.offset
                                                   : token.use.end),
                  "");
    }
    Next();
    return ParseStatement();
  }
  const bool is_do = token.text == "do";
  Next();
  if (refusal.extent == Refusal::Extent::Statement) {
    SkipStatement();
    Accept(TokenKind::Semi);
  } else if (refusal.extent == Refusal::Extent::Whole) {
    // Up to its body, the body, and a `;` behind it.
    while (!At(TokenKind::LBrace) && !At(TokenKind::Semi) && !At(TokenKind::RBrace) &&
           !At(TokenKind::EndOfFile)) {
      pos_ = partner_[pos_] > pos_ ? partner_[pos_] + 1 : pos_ + 1;
    }
    if (At(TokenKind::LBrace)) pos_ = partner_[pos_] + 1;
    Accept(TokenKind::Semi);
  } else {
    if (At(TokenKind::LParen)) pos_ = partner_[pos_] + 1;
    const ast::StmtId error = ErrorStmt(first);
    const ast::StmtId body = ParseBody("as the body");
    if (is_do && Accept(TokenKind::KwWhile)) {
      if (At(TokenKind::LParen)) pos_ = partner_[pos_] + 1;
      Accept(TokenKind::Semi);
    }
    return AddStmt(first, ast::Block{{error, body}});
  }
  return ErrorStmt(first);
}

}  // namespace choreo::parse
