// Operations with suffixes: dma, tma and mma. Suffixes come in any order; each is checked against
// the list of its operation, and a wrong one does not keep the operands from being parsed.
#include <algorithm>

#include "ast/spelling.h"
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {
namespace {

constexpr int kAdditive = 9;  // precedence of what may stand in `.swiz<…>`: tighter than `>`

// Words that say which operation it is; the rest select a variant.
bool NamesOperation(std::string_view suffix) {
  return suffix == "copy" || suffix == "load" || suffix == "store" || suffix == "row" ||
         suffix == "col";
}

std::string ListOf(std::vector<std::string_view> suffixes) {
  std::erase_if(suffixes, NamesOperation);
  std::string list;
  for (size_t i = 0; i < suffixes.size(); ++i) {
    if (i > 0) list += i + 1 == suffixes.size() ? " and " : ", ";
    list += fmt::format("`.{}`", suffixes[i]);
  }
  return list.empty() ? "none" : list;
}

}  // namespace

bool Parser::AtOperation() const {
  return At(TokenKind::KwDma) || At(TokenKind::KwTma) || At(TokenKind::KwMma) || AtAtomic();
}

// `atomic.add …`, where no name `atomic` was declared.
bool Parser::AtAtomic() const {
  return AtWord("atomic") && At(TokenKind::Dot, 1) && IsWord(Peek(2).kind) &&
         !declared_.contains("atomic");
}

bool Parser::AtMmaStore() const {
  if (!At(TokenKind::KwMma)) return false;
  for (size_t i = 1; At(TokenKind::Dot, i); i += 2) {
    if (AtWord("store", i + 1)) return true;
  }
  return false;
}

ast::ExprId Parser::ParseOperation() {
  const size_t first = pos_;
  if (AtAtomic()) return ParseAtomic(first);
  switch (Peek().kind) {
    case TokenKind::KwDma:
      return ParseDma(first);
    case TokenKind::KwTma:
      return ParseTma(first);
    default:
      return ParseMma(first);
  }
}

// The family keyword, then `.name` or `.name<argument>` as long as they come.
Parser::Operation Parser::ParseSuffixes() {
  Operation op;
  op.text = Next().text;
  // `.name(…)` is no suffix: the operand before it is missing.
  while (!panic_ && !At(TokenKind::LParen, 2) && Accept(TokenKind::Dot)) {
    if (!IsWord(Peek().kind)) {
      Unexpected("a suffix", fmt::format("after `{}.`", op.text));
      break;
    }
    const Token& token = Next();
    Suffix suffix{{std::string(token.text), token.use}, {}, {}};
    if (Accept(TokenKind::Less)) {
      const size_t first = pos_;
      suffix.argument = ParseBinary(kAdditive, "between `<` and `>`");
      suffix.argument_text = TextFrom(first);
      Expect(TokenKind::Greater, fmt::format("after `.{}<{}`", token.text, suffix.argument_text));
    }
    op.suffixes.push_back(std::move(suffix));
  }
  return op;
}

const Parser::Suffix* Parser::FindSuffix(const Operation& op, std::string_view name) const {
  for (const Suffix& suffix : op.suffixes) {
    if (suffix.name.text == name) return &suffix;
  }
  return nullptr;
}

void Parser::CheckSuffixes(const Operation& op, const std::vector<std::string_view>& allowed) {
  std::unordered_set<std::string_view> seen;
  for (const Suffix& suffix : op.suffixes) {
    const std::string_view name = suffix.name.text;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      Report(diag::kinds::UnknownSuffix, suffix.name.range, op.text, name, ListOf(allowed));
      // `mma.row.row.acc, a, b`: it was no suffix at all.
      if (At(TokenKind::Comma) || At(TokenKind::FatArrow)) panic_ = true;
      continue;
    }
    const bool repeatable = name == "row" || name == "col";
    if (!repeatable && !seen.insert(name).second) {
      Report(diag::kinds::RepeatedSuffix, suffix.name.range, name);
    }
    const bool takes_argument = name == "swiz";
    if (takes_argument && !suffix.argument.valid()) {
      Report(diag::kinds::SuffixArgument, suffix.name.range, name,
             "has no width; write `.swiz<128>`, `.swiz<64>` or `.swiz<32>`");
    } else if (!takes_argument && suffix.argument.valid() && name != "async") {
      Report(diag::kinds::SuffixArgument, suffix.name.range, name, "takes no argument in `<…>`");
    }
  }
}

std::optional<int> Parser::Swizzle(const Operation& op) {
  const Suffix* suffix = FindSuffix(op, "swiz");
  if (suffix == nullptr || !suffix->argument.valid()) return std::nullopt;
  const std::optional<int64_t> width = Constant(suffix->argument);
  if (width && (*width == 128 || *width == 64 || *width == 32)) return static_cast<int>(*width);
  if (file_.As<ast::ErrorExpr>(suffix->argument) == nullptr) {
    Report(diag::kinds::BadSwizzle, RangeOf(suffix->argument),
           width ? std::to_string(*width) : fmt::format("`{}`", suffix->argument_text));
  }
  return std::nullopt;
}

// The value of an expression over integer literals (macros have been replaced by now).
std::optional<int64_t> Parser::Constant(ast::ExprId id) const {
  constexpr int64_t kLargest = int64_t{1} << 31;  // keeps every intermediate result in range
  if (const auto* literal = file_.As<ast::IntLiteral>(id)) {
    if (literal->value > uint64_t{kLargest}) return std::nullopt;
    return static_cast<int64_t>(literal->value);
  }
  const auto* binary = file_.As<ast::Binary>(id);
  if (binary == nullptr) return std::nullopt;
  const std::optional<int64_t> left = Constant(binary->left), right = Constant(binary->right);
  if (!left || !right) return std::nullopt;
  int64_t value = 0;
  switch (binary->op) {
    case ast::BinaryOp::Add:
      value = *left + *right;
      break;
    case ast::BinaryOp::Sub:
      value = *left - *right;
      break;
    case ast::BinaryOp::Mul:
      value = *left * *right;
      break;
    case ast::BinaryOp::Div:
      if (*right == 0) return std::nullopt;
      value = *left / *right;
      break;
    case ast::BinaryOp::Mod:
      if (*right == 0) return std::nullopt;
      value = *left % *right;
      break;
    default:
      return std::nullopt;
  }
  if (value > kLargest || value < -kLargest) return std::nullopt;
  return value;
}

ast::ExprId Parser::ParseCopySource(std::string_view op) {
  arrow_ends_ = true;
  const ast::ExprId source = ParseExpr(fmt::format("as the source of `{}`", op));
  arrow_ends_ = false;
  return source;
}

ast::CopyTarget Parser::ParseCopyTarget(std::string_view op) {
  ast::CopyTarget target;
  Expect(TokenKind::FatArrow, fmt::format("between the source and the destination of `{}`", op));
  if (panic_) return target;
  const size_t first = pos_;
  const bool bare = At(TokenKind::KwShared) || At(TokenKind::KwLocal) || At(TokenKind::KwFrag) ||
                    At(TokenKind::KwGlobal);
  if (bare) {
    const Token& token = Next();
    switch (token.kind) {
      case TokenKind::KwShared:
        target.anonymous = ast::StorageClass::Shared;
        break;
      case TokenKind::KwLocal:
        target.anonymous = ast::StorageClass::Local;
        break;
      default:
        Report(diag::kinds::AnonymousTile, token.use, token.text);
        target.view = ErrorExpr();
    }
  } else {
    target.view = ParseExpr(fmt::format("as the destination of `{}`", op));
  }
  target.range = RangeFrom(first);
  return target;
}

ast::ExprId Parser::ParseDma(size_t first) {
  Operation op = ParseSuffixes();
  if (panic_) return ErrorExpr();
  if (FindSuffix(op, "copy") == nullptr) {
    Fail(diag::kinds::IncompleteOperation, RangeFrom(first), TextFrom(first),
         "the operation is `dma.copy`");
    return ErrorExpr();
  }
  op.text = "dma.copy";
  CheckSuffixes(op, {"copy", "async", "swiz"});
  if (const Suffix* async = FindSuffix(op, "async"); async != nullptr && async->argument.valid()) {
    Report(diag::kinds::SuffixArgument, async->name.range, "async", "takes no argument in `<…>`");
  }
  ast::DmaCopy copy{FindSuffix(op, "async") != nullptr, Swizzle(op), {}, {}};
  copy.source = ParseCopySource("dma.copy");
  copy.target = ParseCopyTarget("dma.copy");
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(copy));
}

ast::ExprId Parser::ParseTma(size_t first) {
  Operation op = ParseSuffixes();
  if (panic_) return ErrorExpr();
  const Suffix* load = FindSuffix(op, "load");
  const Suffix* store = FindSuffix(op, "copy");
  if (load == nullptr && store == nullptr) {
    Fail(diag::kinds::IncompleteOperation, RangeFrom(first), TextFrom(first),
         "the operations are `tma.load` and `tma.copy`");
    return ErrorExpr();
  }
  op.text = load != nullptr ? "tma.load" : "tma.copy";
  if (load != nullptr && store != nullptr) {
    Report(diag::kinds::ConflictingSuffixes, store->name.range, "copy", "load");
  }
  std::vector<std::string_view> suffixes = {"load",        "copy",       "async",
                                            "evict_first", "evict_last", "swiz"};
  if (load != nullptr) suffixes.push_back("multicast");
  CheckSuffixes(op, suffixes);
  const Suffix* evict_first = FindSuffix(op, "evict_first");
  const Suffix* evict_last = FindSuffix(op, "evict_last");
  if (evict_first != nullptr && evict_last != nullptr) {
    Report(diag::kinds::ConflictingSuffixes, evict_last->name.range, "evict_last", "evict_first");
  }
  ast::TmaCopy copy{};
  copy.is_load = load != nullptr;
  copy.policy = evict_first != nullptr  ? ast::EvictPolicy::First
                : evict_last != nullptr ? ast::EvictPolicy::Last
                                        : ast::EvictPolicy::None;
  copy.swizzle = Swizzle(op);
  const Suffix* multicast = FindSuffix(op, "multicast");
  if (multicast != nullptr && load != nullptr) copy.multicast = multicast->name.range;
  if (const Suffix* async = FindSuffix(op, "async")) {
    copy.async = true;
    if (async->argument.valid()) {
      copy.inline_event = ast::Name{async->argument_text, RangeOf(async->argument)};
    }
  }
  copy.source = ParseCopySource(op.text);
  copy.target = ParseCopyTarget(op.text);
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(copy));
}

std::vector<ast::ExprId> Parser::ParseOperands(std::string_view op, size_t count,
                                               std::string_view shape) {
  const size_t first = pos_;
  std::vector<ast::ExprId> operands;
  const std::string context = fmt::format("as an operand of `{}`", op);
  do operands.push_back(ParseExpr(context));
  while (!panic_ && Accept(TokenKind::Comma));
  if (!panic_ && operands.size() < count && !At(TokenKind::Semi) && !StartsStatement(Peek().kind) &&
      !At(TokenKind::RBrace)) {
    Unexpected("`,`", fmt::format("after an operand of `{}`", op));
  }
  if (!panic_ && operands.size() != count) {
    Report(diag::kinds::OperandCount, RangeFrom(first), op,
           fmt::format("{} operand{}", operands.size(), operands.size() == 1 ? "" : "s"), shape);
    quiet_ = true;
  }
  while (operands.size() < count) operands.push_back(ErrorExpr());
  return operands;
}

ast::ExprId Parser::ParseMma(size_t first) {
  if (AtMmaStore()) {
    Fail(diag::kinds::NoValue, Peek().use, "mma.store");
    return ErrorExpr();
  }
  Operation op = ParseSuffixes();
  if (panic_) return ErrorExpr();
  if (const Suffix* wait = FindSuffix(op, "wait")) {
    Fail(diag::kinds::ObsoleteMmaWait, RangeFrom(first), wait->argument_text);
    return ErrorExpr();
  }
  if (FindSuffix(op, "fill") != nullptr) return ParseMmaFill(first, op);
  if (FindSuffix(op, "load") != nullptr) {
    op.text = "mma.load";
    CheckSuffixes(op, {"load", "swiz"});
    ast::MmaLoad load{Swizzle(op), ParseExpr("as the source of `mma.load`")};
    if (panic_) return ErrorExpr();
    return AddExpr(RangeFrom(first), std::move(load));
  }
  return ParseMmaIssue(first, op);
}

ast::ExprId Parser::ParseMmaFill(size_t first, const Operation& op) {
  ast::MmaFill fill{Elem::kF32, {}};
  const Suffix* type = nullptr;
  for (const Suffix& suffix : op.suffixes) {
    const std::optional<Elem> elem = ElemFromSpelling(suffix.name.text);
    if (elem && type != nullptr) {
      Report(diag::kinds::ConflictingSuffixes, suffix.name.range, suffix.name.text,
             type->name.text);
    } else if (elem) {
      fill.type = *elem;
      type = &suffix;
    } else if (suffix.name.text != "fill") {
      Report(diag::kinds::UnknownSuffix, suffix.name.range, "mma.fill", suffix.name.text,
             "the element type: `mma.fill.f32`");
    }
  }
  if (type == nullptr && op.suffixes.size() == 1) {
    Fail(diag::kinds::IncompleteOperation, RangeFrom(first), "mma.fill",
         "the type of the accumulator follows it: `mma.fill.f32`");
  }
  fill.value = ParseExpr("as the value of `mma.fill`");
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first), std::move(fill));
}

// mma.row.row[.async] acc, a, b
ast::ExprId Parser::ParseMmaIssue(size_t first, const Operation& op) {
  std::vector<ast::MmaLayout> layouts;
  Operation named = op;
  for (const Suffix& suffix : op.suffixes) {
    if (suffix.name.text == "row") layouts.push_back(ast::MmaLayout::Row);
    if (suffix.name.text == "col") layouts.push_back(ast::MmaLayout::Col);
    if (suffix.name.text == "row" || suffix.name.text == "col")
      named.text += "." + suffix.name.text;
  }
  if (layouts.empty() && !op.suffixes.empty() && op.suffixes[0].name.text != "async") {
    Fail(diag::kinds::UnknownSuffix, op.suffixes[0].name.range, "mma", op.suffixes[0].name.text,
         "`.fill`, `.row.row`, `.row.col`, `.load` and `.store`");
    return ErrorExpr();
  }
  if (layouts.size() > 2) {
    Report(diag::kinds::RepeatedSuffix, op.suffixes.back().name.range,
           op.suffixes.back().name.text);
  } else if (layouts.size() < 2) {
    Fail(diag::kinds::IncompleteOperation, RangeFrom(first), TextFrom(first),
         "an MMA names the layout of both operands: `mma.row.row` or `mma.row.col`");
  }
  CheckSuffixes(named, {"row", "col", "async"});
  if (const Suffix* async = FindSuffix(op, "async"); async != nullptr && async->argument.valid()) {
    Report(diag::kinds::SuffixArgument, async->name.range, "async", "takes no argument in `<…>`");
  }
  layouts.resize(2, ast::MmaLayout::Row);
  const std::vector<ast::ExprId> operands =
      ParseOperands(named.text, 3, "three: the accumulator, A and B");
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first),
                 ast::Mma{layouts[0], layouts[1], FindSuffix(op, "async") != nullptr, operands[0],
                          operands[1], operands[2]});
}

ast::StmtId Parser::ParseMmaStore(size_t first) {
  Operation op = ParseSuffixes();
  if (panic_) return {};
  op.text = "mma.store";
  CheckSuffixes(op, {"store"});
  const std::vector<ast::ExprId> operands =
      ParseOperands("mma.store", 2, "two: the accumulator and the tile");
  ExpectSemicolon("this `mma.store`");
  return AddStmt(first, ast::MmaStore{operands[0], operands[1]});
}

// `atomic.add x.at(i), value`
ast::ExprId Parser::ParseAtomic(size_t first) {
  Next();
  Next();
  const Token& name = Next();
  std::optional<ast::AtomicOp> op;
  for (const auto known : {ast::AtomicOp::Add, ast::AtomicOp::Max, ast::AtomicOp::Min}) {
    if (name.text == ast::Spelling(known)) op = known;
  }
  if (!op) {
    diag::Builder builder = Report(diag::kinds::UnknownAtomic, name.use, name.text);
    if (name.text == "inc" || name.text == "fetch_add") builder.Hint(name.use, "add");
  }
  const std::string text = fmt::format("atomic.{}", name.text);
  const std::string context = fmt::format("as an operand of `{}`", text);
  const ast::ExprId element = ParseExpr(context);
  if (!panic_ && At(TokenKind::Semi)) {
    Report(diag::kinds::OperandCount, RangeFrom(first), text, "1 operand",
           "two: the element, as `x.at(i)`, and the value");
    return AddExpr(RangeFrom(first), ast::Atomic{ast::AtomicOp::Add, element, ErrorExpr()});
  }
  // Not more than two: another declarator may follow behind a comma.
  if (!panic_) Expect(TokenKind::Comma, fmt::format("after the element of `{}`", text));
  const ast::ExprId value = panic_ ? ErrorExpr() : ParseExpr(context);
  if (panic_) return ErrorExpr();
  return AddExpr(RangeFrom(first), ast::Atomic{op.value_or(ast::AtomicOp::Add), element, value});
}

}  // namespace choreo::parse
