// Scopes and loops: attributes, parallel, inthreads, foreach, with, apply. A header that cannot be
// parsed does not take its body with it: the body is parsed and its mistakes are reported on their
// own.
#include "parse/parser.h"
#include "parse/words.h"

namespace choreo::parse {
namespace {

std::string Count(size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

// ---- attributes
// -----------------------------------------------------------------------------------

// `[[a(…), b]] [[c]]`
std::vector<ast::Attribute> Parser::ParseAttributes() {
  std::vector<ast::Attribute> attributes;
  while (!panic_ && AtAttribute()) {
    InBrackets(TokenKind::LBracket, "after the attributes", [&] {
      InBrackets(TokenKind::LBracket, "after the attributes", [&] {
        if (At(TokenKind::RBracket)) {
          Fail(diag::kinds::BadAttribute, Peek().use, "`[[]]` names no attribute");
        }
        List(TokenKind::RBracket, [&] { attributes.push_back(ParseAttribute()); });
      });
    });
  }
  return attributes;
}

ast::Attribute Parser::ParseAttribute() {
  ast::Attribute attribute;
  if (!IsWord(Peek().kind)) {
    Fail(diag::kinds::BadAttribute, Peek().use,
         fmt::format("found {}, expected the name of an attribute", Found(Peek())));
    return attribute;
  }
  const Token& token = Next();
  attribute.name = {std::string(token.text), token.use};
  if (At(TokenKind::ColonColon)) {
    Fail(diag::kinds::BadAttribute, Peek().use,
         fmt::format("`{}::…` is a C++ attribute; attributes of tile functions have no namespace",
                     token.text));
    return attribute;
  }
  if (At(TokenKind::LParen)) {
    bool understood = false;
    attribute.args =
        ParseArguments(fmt::format("in the arguments of `{}`", attribute.name.text), understood);
  }
  return attribute;
}

// ---- pieces of headers
// ----------------------------------------------------------------------------

// `.async` behind a keyword
bool Parser::ParseAsync() {
  const std::string keyword(Previous().text);
  bool async = false;
  while (!panic_ && Accept(TokenKind::Dot)) {
    if (!IsWord(Peek().kind)) {
      Unexpected("`async`", fmt::format("after `{}.`", keyword));
    } else if (!AtWord("async")) {
      Report(diag::kinds::UnknownSuffix, Peek().use, keyword, Peek().text, "`.async`");
      Next();
    } else if (async) {
      Report(diag::kinds::RepeatedSuffix, Next().use, "async");
    } else {
      Next();
      async = true;
    }
  }
  return async;
}

// `{i, j}`
std::vector<ast::Name> Parser::ParseNames(std::string_view construct) {
  std::vector<ast::Name> names;
  const std::string context = fmt::format("around the variables of `{}`", construct);
  vars_understood_ = InBrackets(TokenKind::LBrace, context, [&] {
    do {
      std::optional<ast::Name> name = ParseName("a variable");
      if (name) names.push_back(std::move(*name));
    } while (!panic_ && Accept(TokenKind::Comma));
  });
  return names;
}

std::vector<ast::ExprId> Parser::ParseRange(size_t vars, std::string_view construct) {
  const ast::ExprId range = ParseExpr(fmt::format("as the range of `{}`", construct));
  if (panic_ || file_.As<ast::ErrorExpr>(range)) return std::vector<ast::ExprId>(vars, range);
  std::vector<ast::ExprId> extents = {range};
  if (const auto* shape = file_.As<ast::ShapeLiteral>(range)) extents = shape->extents;
  if (extents.size() != vars && !vars_understood_) extents.resize(vars, ErrorExpr());
  if (extents.size() != vars) {
    Report(diag::kinds::RangeMismatch, RangeOf(range), Count(extents.size(), "extent"),
           Count(vars, "variable"), "each variable has its own extent: `{i, j} … [n, m]`");
    extents.resize(vars, ErrorExpr());
  }
  return extents;
}

// ---- parallel
// -------------------------------------------------------------------------------------

// parallel[.async] dim, … body
ast::StmtId Parser::ParseParallel(std::vector<ast::Attribute> attributes) {
  const size_t first = pos_;
  Next();
  ast::Parallel parallel{ParseAsync(), std::move(attributes), {}, {}};
  const std::optional<ast::Level> outer = level_;
  do {
    parallel.dims.push_back(ParseParallelDim());
    level_ = parallel.dims.back().level;
  } while (!panic_ && Accept(TokenKind::Comma));
  parallel.body = ParseBody("as the body of `parallel`");
  level_ = outer;
  return AddStmt(first, std::move(parallel));
}

// [v | {x, y, z}] by BOUND : LEVEL
ast::ParallelDim Parser::ParseParallelDim() {
  const size_t first = pos_;
  vars_understood_ = true;
  ast::ParallelDim dim{{}, {}, LikelyLevel({}), {}, {}};
  if (At(TokenKind::LBrace)) {
    dim.vars = ParseNames("parallel");
  } else if (!AtWord("by") || AtWord("by", 1)) {
    std::optional<ast::Name> name = ParseName("a variable, `{x, y}` or `by` after `parallel`");
    if (name) dim.vars.push_back(std::move(*name));
  }
  ExpectWord("by", "before the extent of `parallel`");
  dim.bounds = ParseRange(std::max<size_t>(dim.vars.size(), 1), "parallel");
  dim.level_range = Peek().use;
  if (!panic_) ParseLevel(dim);
  dim.range = RangeFrom(first);
  return dim;
}

// What a level that is missing or misspelled was most likely meant to be, by its name or its place:
// later phases then find nothing more to say about it.
ast::Level Parser::LikelyLevel(std::string_view spelled) const {
  if (spelled == "cta" || spelled == "grid") return ast::Level::Block;
  if (spelled == "warp") return ast::Level::Warp;
  if (!level_) return ast::Level::Block;
  if (*level_ == ast::Level::Block && !spelled.starts_with("thr")) return ast::Level::Warpgroup;
  return ast::Level::Thread;
}

void Parser::ParseLevel(ast::ParallelDim& dim) {
  if (!At(TokenKind::Colon)) {
    const bool header_ends = At(TokenKind::LBrace) || At(TokenKind::Comma) || Peek().starts_line;
    diag::Builder builder = Report(diag::kinds::MissingLevel, Peek().use, Found(Peek()));
    (void)builder;
    if (!header_ends) panic_ = true;
    return;
  }
  Next();
  const size_t first = pos_;
  if (!IsWord(Peek().kind)) {
    Fail(diag::kinds::MissingLevel, Peek().use, Found(Peek()));
    return;
  }
  const Token& word = Next();
  if (At(TokenKind::Minus) && At(TokenKind::Integer, 1)) {
    Next();
    Next();
  }
  const std::string level = TextFrom(first);
  dim.level_range = RangeFrom(first);
  if (level == "block") {
    dim.level = ast::Level::Block;
  } else if (level == "group-4") {
    dim.level = ast::Level::Warpgroup;
  } else if (level == "group") {
    dim.level = ast::Level::Warp;
  } else if (level == "thread") {
    dim.level = ast::Level::Thread;
  } else {
    diag::Builder builder = Report(diag::kinds::UnknownLevel, dim.level_range, level);
    if (word.text == "warpgroup" || level == "group4") builder.Hint(dim.level_range, "group-4");
    if (word.text == "warp") builder.Hint(dim.level_range, "group");
    dim.level = LikelyLevel(level);
  }
}

// inthreads[.async] (predicate) body
ast::StmtId Parser::ParseInThreads() {
  const size_t first = pos_;
  Next();
  ast::InThreads node{ParseAsync(), {}, {}};
  const bool understood = InBrackets(TokenKind::LParen, "after the predicate of `inthreads`", [&] {
    node.predicate = ParseExpr("as the predicate of `inthreads`");
  });
  if (!understood) node.predicate = ErrorExpr();
  node.body = ParseBody("as the body of `inthreads`");
  return AddStmt(first, node);
}

// ---- loops
// ----------------------------------------------------------------------------------------

// foreach iteration, … [: unroll(n)] body
ast::StmtId Parser::ParseForeach() {
  const size_t first = pos_;
  Next();
  ast::Foreach loop;
  do ParseIteration(loop);
  while (!panic_ && Accept(TokenKind::Comma));
  if (!panic_ && Accept(TokenKind::Colon)) loop.unroll = ParseUnroll();
  loop.body = ParseBody("as the body of `foreach`");
  return AddStmt(first, std::move(loop));
}

// `{i, j} in [n, m]`, `i in n`, `y(lo : hi : step)`, `y`
void Parser::ParseIteration(ast::Foreach& loop) {
  vars_understood_ = true;
  std::vector<ast::Name> vars;
  if (At(TokenKind::LBrace)) {
    vars = ParseNames("foreach");
  } else if (At(TokenKind::Identifier) && !AtWord("in", 1)) {
    const Token& token = Next();
    ast::Iteration iteration{{std::string(token.text), token.use}, {}, {}, {}, {}};
    const bool header_ends =
        At(TokenKind::LBrace) || At(TokenKind::Comma) || At(TokenKind::Colon) || Peek().starts_line;
    if (At(TokenKind::LParen)) {
      ParseSlice(iteration);
    } else if (!header_ends) {
      Unexpected("`in` or `(lo : hi : step)`", "after the variable of `foreach`");
      iteration.bound = ErrorExpr();
    }
    loop.iterations.push_back(std::move(iteration));
    return;
  } else if (std::optional<ast::Name> name = ParseName("a variable after `foreach`")) {
    vars.push_back(std::move(*name));
  }
  ExpectWord("in", "after the variables of `foreach`");
  const std::vector<ast::ExprId> bounds = ParseRange(std::max<size_t>(vars.size(), 1), "foreach");
  for (size_t i = 0; i < vars.size(); ++i) {
    loop.iterations.push_back({std::move(vars[i]), bounds[i], {}, {}, {}});
  }
}

// `(lo : hi : step)`, each part may be missing; `::` is two colons here.
void Parser::ParseSlice(ast::Iteration& iteration) {
  const bool understood = InBrackets(TokenKind::LParen, "after the range of `foreach`", [&] {
    const auto at_end = [&] {
      return At(TokenKind::Colon) || At(TokenKind::ColonColon) || At(TokenKind::RParen);
    };
    if (!at_end()) iteration.low = ParseExpr("as the start of the range");
    if (panic_) return;
    if (Accept(TokenKind::ColonColon)) {
      if (!at_end()) iteration.step = ParseExpr("as the step of the range");
      return;
    }
    if (!Expect(TokenKind::Colon, "in the range `lo : hi : step` of `foreach`")) return;
    if (!at_end()) iteration.high = ParseExpr("as the end of the range");
    if (panic_ || !Accept(TokenKind::Colon)) return;
    if (!at_end()) iteration.step = ParseExpr("as the step of the range");
  });
  if (!understood) iteration.low = ErrorExpr();
}

// `unroll(n)`, behind the colon
ast::ExprId Parser::ParseUnroll() {
  ast::ExprId count;
  if (!AcceptWord("unroll")) {
    Unexpected("`unroll(n)`", "after the `:` of `foreach`");
    return count;
  }
  const bool understood = InBrackets(TokenKind::LParen, "after `unroll`",
                                     [&] { count = ParseExpr("as the number of copies"); });
  return understood ? count : ErrorExpr();
}

// with [idx =] {x, y} in [n, m] body
ast::StmtId Parser::ParseWith() {
  const size_t first = pos_;
  vars_understood_ = true;
  Next();
  ast::With node;
  if (At(TokenKind::Identifier)) {
    std::optional<ast::Name> name = ParseName("a variable after `with`");
    if (Accept(TokenKind::Equal)) {
      node.tuple = std::move(name);
      node.vars = ParseNames("with");
    } else if (name) {
      node.vars.push_back(std::move(*name));
    }
  } else {
    node.vars = ParseNames("with");
  }
  ExpectWord("in", "after the variables of `with`");
  node.bounds = ParseRange(std::max<size_t>(node.vars.size(), 1), "with");
  node.body = ParseBody("as the body of `with`");
  return AddStmt(first, std::move(node));
}

// apply {i, j} in F.span body
ast::StmtId Parser::ParseApply() {
  const size_t first = pos_;
  Next();
  ast::Apply node;
  node.vars = ParseNames("apply");
  ExpectWord("in", "after the variables of `apply`");
  node.span = ParseExpr("as the span of `apply`");
  node.body = ParseBody("as the body of `apply`");
  return AddStmt(first, std::move(node));
}

}  // namespace choreo::parse
