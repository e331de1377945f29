// The operands of expressions: literals, names, calls, conversions, tuples and shapes.
#include <limits>

#include "lex/literal.h"
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {

ast::ExprId Parser::ParsePrimary(std::string_view context) {
  switch (Peek().kind) {
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::Char:
    case TokenKind::String:
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
      return ParseLiteral();
    case TokenKind::Identifier:
      return ParseWordExpr(context);
    case TokenKind::KwAnyOf:
      return ParseAnyOf();
    case TokenKind::LParen:
      return ParseParenthesized();
    case TokenKind::LBrace:
      if (is_block_[pos_]) break;  // a body: the operand in front of it is missing
      return ParseListLiteral<ast::TupleLiteral>(TokenKind::LBrace, "in the index tuple");
    case TokenKind::LBracket: {
      const TokenKind next = Peek(1).kind;
      const bool lambda = next == TokenKind::Amp || next == TokenKind::Equal ||
                          (next == TokenKind::RBracket && KindAfterGroup(0) == TokenKind::LParen);
      if (lambda) {
        Fail(diag::kinds::UnsupportedConstruct, Peek().use, "lambdas are",
             "write the statements in place, or a function-like macro");
        SkipStatement();
        panic_ = true;
        return ErrorExpr();
      }
      return ParseListLiteral<ast::ShapeLiteral>(TokenKind::LBracket, "in the shape");
    }
    case TokenKind::Pipe:
      return ParseSpanSize();
    case TokenKind::ColonColon:
      Fail(diag::kinds::UnsupportedConstruct, Peek().use, "qualified names are",
           "functions of the C++ text are called by `call f(args);`");
      return ErrorExpr();
    default:
      break;
  }
  if (AtOperation()) {
    Fail(diag::kinds::OperationInExpression, Peek().use, Peek().text);
  } else {
    Fail(diag::kinds::ExpectedExpression, Peek().use, Found(Peek()), context);
  }
  return ErrorExpr();
}

ast::ExprId Parser::ParseLiteral() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
      Next();
      return AddExpr(token.use, ast::BoolLiteral{token.kind == TokenKind::KwTrue});
    case TokenKind::String: {
      const size_t first = pos_;
      std::optional<std::string> text = ParseStrings();
      if (!text) return ErrorExpr();
      return AddExpr(RangeFrom(first), ast::StringLiteral{std::move(*text)});
    }
    case TokenKind::Float: {
      Next();
      const auto literal = lex::ParseFloat(token, diags_);
      if (!literal) return ErrorExpr();
      return AddExpr(token.use, ast::FloatLiteral{literal->value, literal->elem});
    }
    default: {
      Next();
      const auto literal = token.kind == TokenKind::Char ? lex::ParseChar(token, diags_)
                                                         : lex::ParseInteger(token, diags_);
      if (!literal) return ErrorExpr();
      return AddExpr(token.use, ast::IntLiteral{literal->value, literal->elem});
    }
  }
}

std::optional<std::string> Parser::ParseStrings() {
  std::string text;
  bool valid = true;
  while (At(TokenKind::String)) {
    const std::optional<std::string> part = lex::DecodeString(Next(), diags_);
    valid = valid && part.has_value();
    if (part) text += *part;
  }
  if (!valid) return std::nullopt;
  return text;
}

ast::ExprId Parser::ParseWordExpr(std::string_view context) {
  const Token& token = Peek();
  const std::string_view word = token.text;
  if (AtAtomic()) {
    Report(diag::kinds::OperationInExpression, token.use, token.text);
    ParseAtomic(pos_);
    return ErrorExpr();
  }
  if (word == "_") {
    Next();
    return AddExpr(token.use, ast::Wildcard{});
  }
  if (word == "inf") {
    Next();
    return AddExpr(token.use,
                   ast::FloatLiteral{std::numeric_limits<double>::infinity(), Elem::kF32});
  }
  if (word == "__to") return ParseConversion();
  const bool names_half = word == "half" && !At(TokenKind::LParen, 1);  // also a good name
  if (IsTypeWord(word) && !names_half) {
    Fail(diag::kinds::TypeAsValue, token.use, word);
    return ErrorExpr();
  }
  if (const Refusal* refusal = FindRefusal(word)) {
    if (refusal->extent == Refusal::Extent::Expression) {
      Fail(diag::kinds::UnsupportedConstruct, token.use, fmt::format("`{}` is", word),
           refusal->advice);
    } else {
      Fail(diag::kinds::ExpectedExpression, token.use, Found(token), context);
    }
    return ErrorExpr();
  }
  if (At(TokenKind::ColonColon, 1)) {
    Fail(diag::kinds::UnsupportedConstruct, token.use, "qualified names are",
         "functions of the C++ text are called by `call f(args);`");
    return ErrorExpr();
  }
  if (At(TokenKind::LParen, 1) && !declared_.contains(std::string(word))) return ParseCallExpr();
  Next();
  return AddExpr(token.use, ast::NameRef{std::string(word)});
}

ast::ExprId Parser::ParseCallExpr() {
  const size_t first = pos_;
  const Token& token = Next();
  ast::Call call{{std::string(token.text), token.use}, {}, {}};
  bool understood = false;
  call.args = ParseArguments(fmt::format("in the arguments of `{}`", token.text), understood);
  if (!understood) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(call));
}

// __to<f32>(x)
ast::ExprId Parser::ParseConversion() {
  const size_t first = pos_;
  const Token& token = Next();
  ast::Call call{{std::string(token.text), token.use}, {}, {}};
  Expect(TokenKind::Less, "after `__to`: a conversion is `__to<TYPE>(x)`");
  if (panic_) return ErrorExpr();
  const Token& type_token = Peek();
  const Type type = ParseType();
  if (type.is_auto) {
    Report(diag::kinds::UnknownType, type_token.use, "auto",
           "the type of a conversion is spelled out");
  }
  call.type_arg = type.elem;
  Expect(TokenKind::Greater, "after the type of `__to`");
  if (panic_) return ErrorExpr();
  bool understood = false;
  call.args = ParseArguments("in the argument of `__to`", understood);
  if (!understood || !call.type_arg) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(call));
}

template <class Node>
ast::ExprId Parser::ParseListLiteral(TokenKind open, std::string_view context) {
  const size_t first = pos_;
  const TokenKind close = open == TokenKind::LBrace ? TokenKind::RBrace : TokenKind::RBracket;
  std::vector<ast::ExprId> items;
  const bool understood = InBrackets(open, context, [&] {
    if (At(close)) {
      Fail(diag::kinds::ExpectedExpression, Peek().use, Found(Peek()), context);
    }
    List(close, [&] { items.push_back(ParseExpr(context)); });
  });
  if (!understood) return ErrorExpr();
  return AddExpr(RangeFrom(first), Node{std::move(items)});
}

template ast::ExprId Parser::ParseListLiteral<ast::TupleLiteral>(TokenKind, std::string_view);
template ast::ExprId Parser::ParseListLiteral<ast::ShapeLiteral>(TokenKind, std::string_view);

}  // namespace choreo::parse
