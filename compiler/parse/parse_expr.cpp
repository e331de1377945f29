// Expressions: C++ precedence, with `a # b` above `*`, so that `x # y * 2` scales the composed
// index.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {
namespace {

using ast::BinaryOp;
using ast::UnaryOp;
using lex::TokenKind;

struct BinaryInfo {
  int precedence;  // 0: no binary operator
  BinaryOp op;
};
// Inside `|span|` only what binds tighter than `|` may stand.
constexpr int kTighterThanPipe = 4;

BinaryInfo BinaryInfoOf(TokenKind kind) {
  switch (kind) {
    case TokenKind::PipePipe:
      return {1, BinaryOp::Or};
    case TokenKind::AmpAmp:
      return {2, BinaryOp::And};
    case TokenKind::Pipe:
      return {3, BinaryOp::BitOr};
    case TokenKind::Caret:
      return {4, BinaryOp::BitXor};
    case TokenKind::Amp:
      return {5, BinaryOp::BitAnd};
    case TokenKind::EqualEqual:
      return {6, BinaryOp::Equal};
    case TokenKind::ExclaimEqual:
      return {6, BinaryOp::NotEqual};
    case TokenKind::Less:
      return {7, BinaryOp::Less};
    case TokenKind::Greater:
      return {7, BinaryOp::Greater};
    case TokenKind::LessEqual:
      return {7, BinaryOp::LessEqual};
    case TokenKind::GreaterEqual:
      return {7, BinaryOp::GreaterEqual};
    case TokenKind::Shl:
      return {8, BinaryOp::Shl};
    case TokenKind::Shr:
      return {8, BinaryOp::Shr};
    case TokenKind::Plus:
      return {9, BinaryOp::Add};
    case TokenKind::Minus:
      return {9, BinaryOp::Sub};
    case TokenKind::Star:
      return {10, BinaryOp::Mul};
    case TokenKind::Slash:
      return {10, BinaryOp::Div};
    case TokenKind::Percent:
      return {10, BinaryOp::Mod};
    case TokenKind::Hash:
      return {11, BinaryOp::Compose};
    default:
      return {0, BinaryOp::Add};
  }
}

}  // namespace

ast::ExprId Parser::ParseValue(std::string_view context) {
  return AtOperation() ? ParseOperation() : ParseExpr(context);
}

ast::ExprId Parser::ParseExpr(std::string_view context) {
  if (panic_ || !Enter()) return ErrorExpr();
  const ast::ExprId expr = ParseConditional(context);
  Leave();
  if (!panic_ && IsAssignment(Peek().kind)) {
    const bool compare = At(TokenKind::Equal);
    diag::Builder builder = Fail(diag::kinds::AssignmentInExpression, Peek().use, Peek().text,
                                 compare ? ", and equality is `==`" : "");
    if (compare) builder.Hint(Peek().use, "==");
  }
  return expr;
}

ast::ExprId Parser::ParseConditional(std::string_view context) {
  const ast::ExprId condition = ParseBinary(1, context);
  if (panic_ || !Accept(TokenKind::Question)) return condition;
  if (!Enter()) return condition;
  const ast::ExprId then_value = ParseExpr("after `?`");
  Expect(TokenKind::Colon, "between the values of `?:`");
  ast::ExprId else_value = panic_ ? ErrorExpr() : ParseConditional("after the `:` of `?:`");
  Leave();
  return AddExpr(Join(RangeOf(condition), RangeOf(else_value)),
                 ast::Conditional{condition, then_value, else_value});
}

ast::ExprId Parser::ParseBinary(int min_precedence, std::string_view context) {
  ast::ExprId left = ParseUnary(context);
  while (!panic_) {
    const BinaryInfo info = BinaryInfoOf(Peek().kind);
    if (info.precedence == 0 || info.precedence < min_precedence) break;
    const Token op = Next();
    const ast::ExprId right = ParseBinary(info.precedence + 1, fmt::format("after `{}`", op.text));
    left = AddExpr(Join(RangeOf(left), RangeOf(right)), ast::Binary{info.op, left, right, op.use});
  }
  return left;
}

ast::ExprId Parser::ParseUnary(std::string_view context) {
  if (panic_ || !Enter()) return ErrorExpr();
  const ast::ExprId expr = ParsePrefix(pos_, context);
  Leave();
  return expr;
}

ast::ExprId Parser::ParsePrefix(size_t first, std::string_view context) {
  const TokenKind kind = Peek().kind;
  UnaryOp op;
  switch (kind) {
    case TokenKind::Plus:
      op = UnaryOp::Plus;
      break;
    case TokenKind::Minus:
      op = UnaryOp::Minus;
      break;
    case TokenKind::Exclaim:
      op = UnaryOp::Not;
      break;
    case TokenKind::Tilde:
      op = UnaryOp::BitNot;
      break;
    case TokenKind::Hash:
      op = UnaryOp::BoundOf;
      break;
    case TokenKind::PlusPlus:
    case TokenKind::MinusMinus: {
      const std::string after = fmt::format("after `{}`", Next().text);
      const ast::ExprId operand = ParseUnary(after);
      return AddExpr(RangeFrom(first), ast::IncDec{kind == TokenKind::PlusPlus, true, operand});
    }
    case TokenKind::Amp:
    case TokenKind::Star:
      // `a + * b` lacks an operand; `*p` after `=` or `(` follows a pointer.
      if (BinaryInfoOf(Previous().kind).precedence > 0) {
        Fail(diag::kinds::ExpectedExpression, Peek().use, Found(Peek()), context);
        return ErrorExpr();
      }
      Fail(diag::kinds::UnsupportedConstruct, Peek().use,
           kind == TokenKind::Amp ? "addresses (`&x`) are" : "pointers (`*p`) are",
           "name the tile or the element `x.at(i)` itself");
      return ErrorExpr();
    default:
      return ParsePostfix(context);
  }
  const std::string after = fmt::format("after `{}`", Next().text);
  const ast::ExprId operand = ParseUnary(after);
  return AddExpr(RangeFrom(first), ast::Unary{op, operand});
}

ast::ExprId Parser::ParsePostfix(std::string_view context) {
  const size_t first = pos_;
  ast::ExprId expr = ParsePrimary(context);
  while (!panic_) {
    switch (Peek().kind) {
      case TokenKind::Dot:
        expr = ParseMember(expr);
        break;
      case TokenKind::LParen:
        expr = ParseTupleElement(expr);
        break;
      case TokenKind::LBracket:
        if (AtAttribute()) return expr;
        expr = ParseIndex(expr);
        break;
      case TokenKind::PlusPlus:
      case TokenKind::MinusMinus: {
        const bool increment = Next().kind == TokenKind::PlusPlus;
        expr = AddExpr(RangeFrom(first), ast::IncDec{increment, false, expr});
        break;
      }
      case TokenKind::Arrow:
        if (arrow_ends_) return expr;
        Fail(diag::kinds::UnsupportedConstruct, Peek().use, "pointers (`p->x`) are",
             "members are reached with `.`")
            .Hint(Peek().use, ".");
        break;
      default:
        return expr;
    }
  }
  return expr;
}

ast::ExprId Parser::ParseMember(ast::ExprId base) {
  Next();  // `.`
  if (!IsWord(Peek().kind)) {
    Unexpected("a member name", "after `.`");
    return ErrorExpr();
  }
  const Token& token = Next();
  ast::Name name{std::string(token.text), token.use};
  if (!At(TokenKind::LParen)) {
    const SourceRange range = Join(RangeOf(base), name.range);
    return AddExpr(range, ast::Member{base, std::move(name)});
  }
  ast::MethodCall call{base, std::move(name), {}, {}};
  const std::string context = fmt::format("in the arguments of `.{}`", call.name.text);
  const bool understood = InBrackets(TokenKind::LParen, context, [&] {
    const bool is_view = call.name.text == "view";
    if (!(is_view && At(TokenKind::Colon))) {
      List(TokenKind::RParen, [&] { call.args.push_back(ParseExpr(context)); });
    }
    if (!panic_ && is_view && Accept(TokenKind::Colon)) {
      List(TokenKind::RParen,
           [&] { call.strides.push_back(ParseExpr("in the strides of `.view`")); });
    }
  });
  if (!understood) return ErrorExpr();
  return AddExpr(Join(RangeOf(base), Previous().use), std::move(call));
}

std::vector<ast::ExprId> Parser::ParseArguments(std::string_view context, bool& understood) {
  std::vector<ast::ExprId> args;
  understood = InBrackets(TokenKind::LParen, context, [&] {
    List(TokenKind::RParen, [&] { args.push_back(ParseExpr(context)); });
  });
  return args;
}

// `t(i)`: an element of a tuple or shape, or one extent of a span.
ast::ExprId Parser::ParseTupleElement(ast::ExprId base) {
  bool understood = false;
  ast::MethodCall call{base, {}, ParseArguments("in the index of a tuple", understood), {}};
  if (!understood) return ErrorExpr();
  return AddExpr(Join(RangeOf(base), Previous().use), std::move(call));
}

ast::ExprId Parser::ParseIndex(ast::ExprId base) {
  ast::ExprId index;
  const bool understood = InBrackets(TokenKind::LBracket, "after the index", [&] {
    index = ParseExpr("between `[` and `]`");
    if (!panic_ && At(TokenKind::Comma)) {
      Unexpected("`]`", "after the index: an element of a tile is `x.at(i, j)`");
    }
  });
  if (!understood) return ErrorExpr();
  return AddExpr(Join(RangeOf(base), Previous().use), ast::Index{base, index});
}

ast::ExprId Parser::ParseParenthesized() {
  const size_t first = pos_;
  if (At(TokenKind::Identifier, 1) && IsTypeWord(Peek(1).text) && partner_[pos_] > pos_) {
    // `(float)x`, `(unsigned int)x`: all words between the brackets are words of types.
    bool cast = true;
    for (size_t i = pos_ + 1; i < partner_[pos_]; ++i) {
      cast = cast && tokens_[i].kind == TokenKind::Identifier && IsTypeWord(tokens_[i].text);
    }
    if (cast) {
      Fail(diag::kinds::UnsupportedConstruct, Peek().use, "C++ casts are",
           fmt::format("write `__to<{}>(x)`", Peek(1).text));
      return ErrorExpr();
    }
  }
  ast::ExprId inner;
  const bool understood = InBrackets(TokenKind::LParen, "after the expression",
                                     [&] { inner = ParseExpr("after `(`"); });
  if (!understood) return ErrorExpr();
  file_.exprs[inner].parenthesized = true;
  file_.exprs[inner].range = RangeFrom(first);
  return inner;
}

ast::ExprId Parser::ParseSpanSize() {
  const size_t first = pos_;
  Next();  // `|`
  const ast::ExprId operand = ParseBinary(kTighterThanPipe, "between `|` and `|`");
  Expect(TokenKind::Pipe, "to close `|span|`");
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first), ast::SpanSize{operand});
}

// any_of.warp.parts({i} in m.span, condition)
ast::ExprId Parser::ParseAnyOf() {
  const size_t first = pos_;
  Next();
  ast::AnyOf vote{false, false, {}, {}, {}};
  while (Accept(TokenKind::Dot)) {
    if (!vote.warp && AcceptWord("warp")) {
      vote.warp = true;
    } else if (!vote.parts && AcceptWord("parts")) {
      vote.parts = true;
    } else {
      Unexpected("`warp` or `parts`, once each", "after `any_of.`");
      return ErrorExpr();
    }
  }
  const bool understood = InBrackets(TokenKind::LParen, "after the condition of `any_of`", [&] {
    vote.vars = ParseNames("any_of(");
    ExpectWord("in", "after the variables of `any_of`");
    vote.span = ParseExpr("after `in`");
    Expect(TokenKind::Comma, "after the span of `any_of`");
    vote.condition = ParseExpr("as the condition of `any_of`");
  });
  if (!understood) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(vote));
}

}  // namespace choreo::parse
