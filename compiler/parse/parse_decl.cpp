// Declarations of scalars and storage, and the names and types in them.
#include "ast/spelling.h"
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {
// ---- names
// ----------------------------------------------------------------------------------------

std::optional<ast::Name> Parser::ParseName(std::string_view what) {
  if (panic_) return std::nullopt;
  if (!At(TokenKind::Identifier)) {
    Fail(diag::kinds::ExpectedName, Peek().use, Found(Peek()), what);
    return std::nullopt;
  }
  const Token& token = Next();
  CheckName(token, what);
  if (IsTypeWord(token.text) && (At(TokenKind::Identifier) || At(TokenKind::LBracket))) {
    quiet_ = true;  // a second type, `u32 u32 x`
    if (At(TokenKind::Identifier)) return ParseName(what);
  }
  declared_.insert(std::string(token.text));
  return ast::Name{std::string(token.text), token.use};
}

void Parser::CheckName(const Token& token, std::string_view what) {
  std::string_view reason;
  if (token.text == "_") {
    reason = "it is the placeholder for a whole axis";
  } else if (token.text == "inf") {
    reason = "it is the f32 infinity";
  } else if (IsTypeWord(token.text) && token.text != "half") {
    reason = "it is a type";
  } else if (FindRefusal(token.text) != nullptr) {
    reason = "it is a keyword of C++";
  } else {
    return;
  }
  Report(diag::kinds::ReservedName, token.use, token.text, what, reason);
}

// ---- types
// ----------------------------------------------------------------------------------------

bool Parser::AtTypeStart() const {
  if (!At(TokenKind::Identifier) || !IsTypeWord(Peek().text)) return false;
  switch (Peek(1).kind) {
    case TokenKind::Identifier:
    case TokenKind::Star:
    case TokenKind::Amp:
      return true;
    case TokenKind::LBracket:  // `bf16 [16] x`, not an access to something named `half`
      return Peek().text != "half" || KindAfterGroup(1) == TokenKind::Identifier;
    default:
      return Peek().text != "half" && lex::IsKeyword(Peek(1).kind);
  }
}

Parser::Type Parser::ParseType() {
  if (panic_) return {};
  const size_t first = pos_;
  if (!At(TokenKind::Identifier)) {
    Fail(diag::kinds::ExpectedName, Peek().use, Found(Peek()), "a type");
    return {};
  }
  Type type;
  type.text = Peek().text;
  if (IsFundamentalWord(type.text)) {
    Next();
    while (At(TokenKind::Identifier) && IsFundamentalWord(Peek().text)) {
      type.text += fmt::format(" {}", Next().text);
    }
    type.elem = FundamentalType(type.text);
    if (!type.elem) {
      Report(diag::kinds::UnknownType, RangeFrom(first), type.text,
             "these words do not make up a type");
    }
    return type;
  }
  const Token& token = Next();
  if (token.text == "auto") {
    type.is_auto = true;
  } else if (token.text == "half") {
    type.elem = Elem::kF16;
  } else if (const std::optional<Elem> elem = ElemFromSpelling(token.text)) {
    type.elem = elem;
  } else if (!unknown_types_.insert(std::string(token.text)).second) {
    type.elem = ElemFromSpelling(TypeAlias(token.text));
  } else if (const std::string_view alias = TypeAlias(token.text); !alias.empty()) {
    diag::Builder builder = Report(diag::kinds::UnknownType, token.use, token.text,
                                   fmt::format("it is `{}` here", alias));
    if (token.use == token.range) builder.Fix(token.use, std::string(alias));
    type.elem = ElemFromSpelling(alias);
  } else {
    Report(diag::kinds::UnknownType, token.use, token.text,
           "types are the element types such as `f32`, and `int`, `float`, `bool` …");
    const bool name_follows =
        At(TokenKind::Identifier) ||
        (At(TokenKind::LBracket) && KindAfterGroup(0) == TokenKind::Identifier);
    if (!name_follows) quiet_ = true;  // no type was meant
  }
  return type;
}

bool Parser::AtUnknownType() const {
  if (!At(TokenKind::Identifier)) return false;
  if (At(TokenKind::LBracket, 1) && !At(TokenKind::LBracket, 2)) {
    // `flaot [16] x;` — and not `arr[i] y = …`, which lacks something else.
    if (KindAfterGroup(1) != TokenKind::Identifier) return false;
    const size_t after = partner_[pos_ + 1] + 1 - pos_;
    return !Peek(after).starts_line;
  }
  if (!At(TokenKind::Identifier, 1) || Peek(1).starts_line) return false;
  switch (Peek(2).kind) {
    case TokenKind::Equal:
    case TokenKind::Semi:
    case TokenKind::Comma:
    case TokenKind::LBracket:
      return true;
    default:
      return false;
  }
}

// ---- scalars
// --------------------------------------------------------------------------------------

// [mutable] TYPE name = expr, …;
ast::StmtId Parser::ParseScalarDecl() {
  const size_t first = pos_;
  ast::ScalarDecl decl{Accept(TokenKind::KwMutable), {}, {}};
  const bool no_type =
      decl.is_mutable && At(TokenKind::Identifier) && !IsTypeWord(Peek().text) &&
      (At(TokenKind::Equal, 1) || At(TokenKind::Semi, 1) || At(TokenKind::Comma, 1));
  if (no_type) {
    Report(diag::kinds::MissingType, Peek().use, Peek().text, Peek().text);
  } else {
    decl.type = ParseType().elem;
  }
  if (!panic_ && (At(TokenKind::Star) || At(TokenKind::Amp) || At(TokenKind::AmpAmp))) {
    const bool pointer = At(TokenKind::Star);
    Fail(diag::kinds::UnsupportedConstruct, Peek().use, pointer ? "pointers are" : "references are",
         pointer ? "use a view such as `x.subspan(…).at(…)`" : "`name = view;` makes an alias");
    return {};
  }
  do {
    std::optional<ast::Name> name = ParseName("a scalar");
    if (!name) return {};
    const ast::ExprId init = ParseScalarInit(*name);
    decl.declarators.push_back({std::move(*name), init});
  } while (MoreDeclarators());
  ExpectSemicolon("this declaration");
  return AddStmt(first, std::move(decl));
}

// Whether a `,` and another declarator follow.
bool Parser::MoreDeclarators() {
  if (panic_) return false;
  if (Accept(TokenKind::Comma)) return true;
  if (At(TokenKind::Identifier) && !Peek().starts_line && !AtTypeStart()) {
    Unexpected("`,` or `;`", "after this declarator");
  }
  return false;
}

ast::ExprId Parser::ParseScalarInit(const ast::Name& name) {
  if (Accept(TokenKind::Equal)) return ParseValue(fmt::format("as the value of `{}`", name.text));
  if (At(TokenKind::LBrace) || At(TokenKind::LParen)) {
    Report(diag::kinds::BadInitializer, Peek().use, fmt::format("`{}{}`", name.text, Peek().text),
           "a scalar is initialised with `= value`");
    pos_ = partner_[pos_] + 1;
    return ErrorExpr();
  }
  if (At(TokenKind::LBracket)) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use, "C arrays are",
           fmt::format("the shape stands before the name: `local TYPE [n] {};`", name.text));
    while (At(TokenKind::LBracket)) pos_ = partner_[pos_] + 1;
    if (!Accept(TokenKind::Equal)) return ErrorExpr();
    if (At(TokenKind::LBrace)) {
      pos_ = partner_[pos_] + 1;
    } else {
      ParseExpr("as the initial value");
    }
    return ErrorExpr();
  }
  return {};
}

// ---- storage
// --------------------------------------------------------------------------------------

bool Parser::AtStorageWithoutClass() const {
  if (At(TokenKind::KwEvent)) return true;
  size_t words = 0;
  while (At(TokenKind::Identifier, words) && IsTypeWord(Peek(words).text)) ++words;
  return words > 0 && At(TokenKind::LBracket, words);
}

// storage TYPE [dims] name[n] init, …;
ast::StmtId Parser::ParseStorageDecl() {
  const size_t first = pos_;
  ast::StorageClass storage = ast::StorageClass::Local;
  bool spelled = true;
  switch (Peek().kind) {
    case TokenKind::KwShared:
      storage = ast::StorageClass::Shared;
      break;
    case TokenKind::KwLocal:
      storage = ast::StorageClass::Local;
      break;
    case TokenKind::KwFrag:
      storage = ast::StorageClass::Frag;
      break;
    case TokenKind::KwGlobal:
      Fail(diag::kinds::UnsupportedConstruct, Peek().use, "`global` storage is",
           "pass the tensor as a `global` parameter");
      return {};
    default:
      spelled = false;
  }
  if (spelled) Next();
  return ParseStorageRest(first, storage, spelled);
}

ast::StmtId Parser::ParseStorageRest(size_t first, ast::StorageClass storage, bool spelled) {
  ast::StorageDecl decl{storage, false, Elem::kF32, {}, {}};
  std::string type_text = "event";
  bool type_known = true;
  if (AtWord("cluster") && At(TokenKind::KwEvent, 1)) {
    decl.is_cluster = true;
    Next();
  } else if (AtWord("cluster") && At(TokenKind::Identifier, 1) && IsTypeWord(Peek(1).text)) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use, "tiles that a cluster shares are",
           "a `shared` tile is one a CTA; multicast loads fill it in all CTAs, and events may be "
           "`shared cluster event`");
    Next();
  }
  if (At(TokenKind::KwEvent)) {
    decl.is_event = true;
    const Token& token = Next();
    if (storage != ast::StorageClass::Shared) {
      diag::Builder builder = Report(diag::kinds::EventStorage, tokens_[first].use,
                                     spelled ? fmt::format("a `{}` event", ast::Spelling(storage))
                                             : "an event without a storage class");
      if (!spelled && token.use == token.range) {
        builder.Fix(SourceRange(token.use.begin, token.use.begin.offset), "shared ");
      }
      decl.storage = ast::StorageClass::Shared;
    }
  } else {
    const size_t type_at = pos_;
    const Type type = ParseType();
    if (panic_) return {};
    type_text = type.text;
    type_known = type.elem.has_value();
    if (type.is_auto) {
      Report(diag::kinds::UnknownType, tokens_[type_at].use, "auto",
             "the element type of storage is spelled out");
      quiet_ = true;
    }
    if (type.elem) decl.type = *type.elem;
  }
  if (At(TokenKind::LBracket)) {
    if (decl.is_event) {
      Report(diag::kinds::EventStorage, Peek().use, "an event with a shape");
      quiet_ = true;
      pos_ = partner_[pos_] + 1;
    } else if (!ParseDims(decl.dims)) {
      type_known = false;
    }
  } else if (!decl.is_event && At(TokenKind::Identifier)) {
    Report(diag::kinds::MissingShape, Peek().use, Peek().text,
           fmt::format("{} {}", ast::Spelling(storage), type_text), Peek().text);
    quiet_ = true;
    type_known = false;
  }
  do {
    if (panic_) return {};
    decl.declarators.push_back(ParseStorageDeclarator(decl, type_text));
  } while (MoreDeclarators());
  ExpectSemicolon("this declaration");
  if (panic_) return {};
  return type_known ? AddStmt(first, std::move(decl)) : ErrorStmt(first);
}

// `[e, …]`; false where that was not understood.
bool Parser::ParseDims(std::vector<ast::ExprId>& dims) {
  bool understood = InBrackets(TokenKind::LBracket, "after the extents", [&] {
    if (At(TokenKind::RBracket)) {
      Fail(diag::kinds::ExpectedExpression, Peek().use, Found(Peek()), "as an extent");
    }
    List(TokenKind::RBracket, [&] { dims.push_back(ParseExpr("as an extent")); });
  });
  while (At(TokenKind::LBracket)) {
    Report(diag::kinds::UnsupportedConstruct, Peek().use, "`[a][b]` shapes are",
           "write all extents in one pair of brackets: `[a, b]`");
    quiet_ = true;
    pos_ = partner_[pos_] + 1;
    understood = false;
  }
  return understood;
}

ast::StorageDeclarator Parser::ParseStorageDeclarator(const ast::StorageDecl& decl,
                                                      std::string_view type) {
  ast::StorageDeclarator declarator;
  std::optional<ast::Name> name =
      ParseName(decl.is_event ? "an event" : fmt::format("storage of type `{}`", type));
  if (!name) return declarator;
  declarator.name = std::move(*name);
  if (At(TokenKind::LBracket)) {
    const bool understood = InBrackets(TokenKind::LBracket, "after the number of elements", [&] {
      declarator.array_size = ParseExpr("as the number of elements");
    });
    if (!understood) declarator.array_size = ErrorExpr();
    if (At(TokenKind::LBracket)) {
      Report(diag::kinds::UnsupportedConstruct, Peek().use, "arrays of arrays are",
             "an array has one size; compute the index");
      quiet_ = true;
      while (At(TokenKind::LBracket)) pos_ = partner_[pos_] + 1;
    }
  }
  ParseStorageInit(decl, declarator);
  return declarator;
}

void Parser::ParseStorageInit(const ast::StorageDecl& decl, ast::StorageDeclarator& declarator) {
  const std::string& name = declarator.name.text;
  if (At(TokenKind::LBrace)) {
    ParseFill(decl, declarator);
  } else if (At(TokenKind::LParen)) {
    Report(diag::kinds::BadInitializer, Peek().use, fmt::format("`{}(`", name),
           decl.is_event ? "an event starts pending, or `= ready`"
                         : "storage is filled with one value in braces: `{value}`");
    quiet_ = true;
    pos_ = partner_[pos_] + 1;
  } else if (At(TokenKind::Equal)) {
    const Token& equal = Next();
    if (AtWord("ready")) {
      const Token& word = Next();
      declarator.init = ast::StorageDeclarator::Init::Ready;
      if (decl.is_event) return;
      declarator.init = ast::StorageDeclarator::Init::None;
      Report(diag::kinds::BadInitializer, word.use, fmt::format("`{} = ready`", name),
             "only an event can start ready");
      quiet_ = true;
    } else if (decl.is_event) {
      Report(diag::kinds::BadInitializer, Peek().use, fmt::format("`{} = {}`", name, Peek().text),
             "an event starts pending, or `= ready`");
      quiet_ = true;
      ParseExpr("as the initial state");
    } else if (At(TokenKind::LBrace)) {
      diag::Builder builder =
          Report(diag::kinds::BadInitializer, equal.use, fmt::format("`{} = {{`", name),
                 "the fill value follows the name directly: `{value}`");
      quiet_ = true;
      if (equal.use == equal.range) builder.Fix(equal.use, "");
      ParseFill(decl, declarator);
    } else {
      Report(diag::kinds::BadInitializer, equal.use, fmt::format("`{} =`", name),
             "storage is filled with one value in braces: `{value}`");
      quiet_ = true;
      declarator.fill = ParseExpr("as the fill value");
      declarator.init = ast::StorageDeclarator::Init::Fill;
    }
  }
}

// `{value}`
void Parser::ParseFill(const ast::StorageDecl& decl, ast::StorageDeclarator& declarator) {
  if (decl.is_event) {
    Report(diag::kinds::BadInitializer, Peek().use, fmt::format("`{}{{`", declarator.name.text),
           "an event starts pending, or `= ready`");
    quiet_ = true;
    pos_ = partner_[pos_] + 1;
    return;
  }
  declarator.init = ast::StorageDeclarator::Init::Fill;
  declarator.fill = ErrorExpr();
  InBrackets(TokenKind::LBrace, "after the fill value", [&] {
    declarator.fill = ParseExpr("as the fill value");
    if (panic_ || !At(TokenKind::Comma)) return;
    Report(diag::kinds::BadInitializer, Peek().use, "several values in braces",
           "storage is filled with one value: `{value}`");
    quiet_ = true;
    Next();
    List(TokenKind::RBrace, [&] { ParseExpr("as the fill value"); });
  });
}

}  // namespace choreo::parse
