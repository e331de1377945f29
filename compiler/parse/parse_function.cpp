// A tile function: its return type, name, parameters and body.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {

// `__co__ void name(params) { … }`
ast::FunctionId Parser::ParseFunction(uint32_t unit_index) {
  ast::Function function;
  function.unit_index = unit_index;
  Expect(TokenKind::KwCo, "before a tile function");
  ParseReturnType();
  if (std::optional<ast::Name> name = ParseName("a tile function"))
    function.name = std::move(*name);
  declared_.clear();
  const std::string context = fmt::format("in the parameters of `{}`", function.name.text);
  InBrackets(TokenKind::LParen, context, [&] {
    const bool empty = At(TokenKind::KwVoid) && At(TokenKind::RParen, 1);
    if (empty) Next();
    List(TokenKind::RParen, [&] { function.params.push_back(ParseParam()); });
  });
  if (!panic_ && !At(TokenKind::LBrace)) {
    Unexpected("`{`", fmt::format("before the body of `{}`", function.name.text));
  }
  if (panic_) SkipToBody();
  if (At(TokenKind::LBrace)) {
    function.body = ParseBlock();
  } else {
    function.body = AddStmt(pos_, ast::Block{});
  }
  function.range = RangeFrom(0);
  return file_.functions.Add(std::move(function));
}

void Parser::ParseReturnType() {
  if (panic_ || Accept(TokenKind::KwVoid)) return;
  const size_t first = pos_;
  // Everything in front of `name(`; a bracket group that is not followed by one is a shape.
  while (!At(TokenKind::EndOfFile) && !At(TokenKind::LBrace) && !At(TokenKind::LParen) &&
         !(At(TokenKind::Identifier) && At(TokenKind::LParen, 1))) {
    pos_ = std::max<size_t>(pos_ + 1, partner_[pos_] + 1);
    if (Previous().kind == TokenKind::KwVoid) break;
  }
  if (pos_ > first) {
    Report(diag::kinds::ReturnType, RangeFrom(first), TextFrom(first));
  } else {
    Report(diag::kinds::UnexpectedToken, Peek().use, Found(Peek()), "`void`",
           "as the return type of a tile function");
  }
}

// [global] TYPE [dims] name, or TYPE name
ast::Param Parser::ParseParam() {
  const size_t first = pos_;
  quiet_ = false;
  ast::Param param;
  param.is_shaped = param.is_global = false;
  param.type = Elem::kS32;
  ParseParamType(param);
  if (!panic_) {
    if (std::optional<ast::Name> name = ParseName("a parameter")) param.name = std::move(*name);
  }
  if (!panic_) ParseParamRest(param);
  if (panic_) {
    // To the next parameter; what the names here mean is unknown.
    while (!At(TokenKind::Comma) && !At(TokenKind::RParen) && !At(TokenKind::EndOfFile)) {
      if (At(TokenKind::Identifier)) declared_.insert(std::string(Peek().text));
      if (At(TokenKind::Identifier)) param.name = {std::string(Peek().text), Peek().use};
      pos_ = partner_[pos_] > pos_ ? partner_[pos_] + 1 : pos_ + 1;
    }
    panic_ = false;
    param.is_error = true;
  }
  for (ast::ExprId dim : param.dims) {
    if (const auto* symbol = file_.As<ast::NameRef>(dim)) declared_.insert(symbol->name);
  }
  param.range = RangeFrom(first);
  return param;
}

void Parser::ParseParamType(ast::Param& param) {
  while (At(TokenKind::Identifier)) {
    const Refusal* refusal = FindRefusal(Peek().text);
    if (refusal == nullptr || refusal->extent != Refusal::Extent::Prefix) break;
    Report(diag::kinds::UnsupportedConstruct, Peek().use,
           fmt::format("`{}` before a parameter is", Peek().text),
           "whether it is written follows from the body");
    Next();
  }
  if (At(TokenKind::KwShared) || At(TokenKind::KwLocal) || At(TokenKind::KwFrag) ||
      At(TokenKind::KwMutable)) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use,
           fmt::format("`{}` parameters are", Peek().text),
           "a parameter is a scalar, host data, or `global` data");
    Next();
    param.is_error = true;
  }
  param.is_global = Accept(TokenKind::KwGlobal);
  const size_t type_at = pos_;
  const Type type = ParseType();
  if (panic_) return;
  if (type.is_auto) {
    Report(diag::kinds::UnknownType, tokens_[type_at].use, "auto",
           "the type of a parameter is spelled out");
  }
  if (type.elem) param.type = *type.elem;
  param.is_error = param.is_error || !type.elem;
  if (At(TokenKind::Star) || At(TokenKind::Amp) || At(TokenKind::AmpAmp)) {
    const bool pointer = At(TokenKind::Star);
    Report(diag::kinds::UnsupportedConstruct, Peek().use,
           pointer ? "pointer parameters are" : "reference parameters are",
           pointer ? fmt::format("write `global {} [n] name`", type.text)
                   : "scalars are passed by value, tensors as shaped parameters");
    while (At(TokenKind::Star) || At(TokenKind::Amp) || At(TokenKind::AmpAmp)) Next();
    param.is_error = true;
  }
  if (At(TokenKind::LBracket)) {
    param.is_shaped = true;
    if (!ParseDims(param.dims)) param.is_error = true;
  }
}

// What C++ allows behind the name of a parameter.
void Parser::ParseParamRest(ast::Param& param) {
  if (At(TokenKind::LBracket)) {
    Report(diag::kinds::MissingShape, Peek().use, param.name.text, "TYPE", param.name.text);
    while (At(TokenKind::LBracket)) pos_ = partner_[pos_] + 1;
    param.is_error = true;
  } else if (param.is_global && !param.is_shaped && !param.is_error) {
    Report(diag::kinds::MissingShape, param.name.range, param.name.text,
           fmt::format("global {}", Spelling(param.type)), param.name.text);
    param.is_error = true;
  }
  if (At(TokenKind::Equal)) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use, "default arguments are",
           "callers give every argument");
    Next();
    ParseConditional("after `=`");
  }
  if (!panic_ && !At(TokenKind::Comma) && !At(TokenKind::RParen)) {
    Unexpected("`,` or `)`", fmt::format("after the parameter `{}`", param.name.text));
  }
}

}  // namespace choreo::parse
