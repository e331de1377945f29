// Control flow, synchronisation and calls.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {

// ---- control flow
// ---------------------------------------------------------------------------------

ast::StmtId Parser::ParseIf() {
  const size_t first = pos_;
  Next();
  ast::If node;
  if (AtWord("constexpr")) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use, "`if constexpr` is",
           "write `if`; constant conditions are folded");
    Next();
  }
  const bool understood = InBrackets(TokenKind::LParen, "after the condition of `if`", [&] {
    node.condition = ParseExpr("as the condition of `if`");
  });
  if (!understood) node.condition = ErrorExpr();
  node.then_body = ParseBody("as the body of `if`");
  if (Accept(TokenKind::KwElse)) {
    if (At(TokenKind::KwIf)) {
      if (Enter()) {
        node.else_body = ParseIf();
        Leave();
      }
    } else {
      node.else_body = ParseBody("after `else`");
    }
  }
  return AddStmt(first, node);
}

ast::StmtId Parser::ParseWhile() {
  const size_t first = pos_;
  Next();
  ast::While node;
  const bool understood = InBrackets(TokenKind::LParen, "after the condition of `while`", [&] {
    node.condition = ParseExpr("as the condition of `while`");
  });
  if (!understood) node.condition = ErrorExpr();
  node.body = ParseBody("as the body of `while`");
  return AddStmt(first, node);
}

ast::StmtId Parser::ParseReturn() {
  const size_t first = pos_;
  Next();
  if (!At(TokenKind::Semi) && !Peek().starts_line && !At(TokenKind::RBrace)) {
    Report(diag::kinds::ReturnValue, Peek().use);
    ParseExpr("after `return`");
  }
  ExpectSemicolon("`return`");
  return AddStmt(first, ast::Return{});
}

// ---- synchronisation and calls
// --------------------------------------------------------------------

// assert(condition, "message");
ast::StmtId Parser::ParseAssert() {
  const size_t first = pos_;
  Next();
  ast::Assert node;
  const bool understood = InBrackets(TokenKind::LParen, "after the message of `assert`", [&] {
    node.condition = ParseExpr("as the condition of `assert`");
    if (panic_) return;
    if (!At(TokenKind::Comma) || !At(TokenKind::String, 1)) {
      Fail(diag::kinds::MissingMessage, At(TokenKind::Comma) ? Peek(1).use : tokens_[first].use);
      return;
    }
    Next();
    node.message = ParseStrings().value_or(std::string());
  });
  if (!understood) node.condition = ErrorExpr();
  ExpectSemicolon("`assert(…)`");
  return AddStmt(first, std::move(node));
}

// wait f, g;
ast::StmtId Parser::ParseWait() {
  const size_t first = pos_;
  Next();
  ast::Wait node;
  do node.operands.push_back(ParseExpr("as an operand of `wait`"));
  while (!panic_ && Accept(TokenKind::Comma));
  ExpectSemicolon("this `wait`");
  return AddStmt(first, std::move(node));
}

// trigger e [after f, g];
ast::StmtId Parser::ParseTrigger() {
  const size_t first = pos_;
  Next();
  ast::Trigger node;
  node.event = ParseExpr("as the event of `trigger`");
  if (!panic_ && AcceptWord("after")) {
    do node.after.push_back(ParseExpr("after `after`"));
    while (!panic_ && Accept(TokenKind::Comma));
  }
  ExpectSemicolon("this `trigger`");
  return AddStmt(first, std::move(node));
}

// call ns::f(args);
ast::StmtId Parser::ParseCall() {
  const size_t first = pos_;
  Next();
  const size_t name_at = pos_;
  Accept(TokenKind::ColonColon);
  do {
    if (!At(TokenKind::Identifier)) {
      Fail(diag::kinds::ExpectedName, Peek().use, Found(Peek()),
           "the name of a function after `call`");
      return {};
    }
    Next();
  } while (Accept(TokenKind::ColonColon));
  ast::CallStmt call{{TextFrom(name_at), RangeFrom(name_at)}, {}};
  if (At(TokenKind::Less)) {
    Fail(diag::kinds::UnsupportedConstruct, Peek().use, "template arguments of a `call` are",
         "call a `__device__` function that is no template");
    return {};
  }
  bool understood = false;
  call.args = ParseArguments(fmt::format("in the arguments of `{}`", call.callee.text), understood);
  if (panic_) return {};
  ExpectSemicolon("this `call`");
  if (!understood) return ErrorStmt(first);
  return AddStmt(first, std::move(call));
}

// setreg_dec(n); without `call`
ast::StmtId Parser::ParseRegisterCall() {
  const size_t first = pos_;
  const Token& token = Next();
  ast::CallStmt call{{std::string(token.text), token.use}, {}};
  bool understood = false;
  call.args = ParseArguments(fmt::format("in the argument of `{}`", token.text), understood);
  ExpectSemicolon(fmt::format("`{}(…)`", token.text));
  if (!understood) return ErrorStmt(first);
  return AddStmt(first, std::move(call));
}

// __cpp__("…");
ast::StmtId Parser::ParseRawCpp() {
  const size_t first = pos_;
  Next();
  ast::RawCpp node;
  const bool understood = InBrackets(TokenKind::LParen, "after the text of `__cpp__`", [&] {
    if (!At(TokenKind::String)) {
      Unexpected("a string literal", "with the C++ text of `__cpp__`");
      return;
    }
    node.text = ParseStrings().value_or(std::string());
  });
  ExpectSemicolon("`__cpp__(…)`");
  if (!understood) return ErrorStmt(first);
  return AddStmt(first, std::move(node));
}

// sync.shared;
ast::StmtId Parser::ParseSync() {
  const size_t first = pos_;
  Next();
  Next();
  if (!Accept(TokenKind::KwShared)) {
    Unexpected("`shared`", "after `sync.`");
    return {};
  }
  ExpectSemicolon("`sync.shared`");
  return AddStmt(first, ast::SyncShared{});
}

}  // namespace choreo::parse
