// The recursive-descent parser of one tile function; internal to parse. In: balanced tokens. Out:
// nodes in an ast::File. Grammar: one function a construct, in the file of its family.
//
// Errors: `Fail` reports and enters panic: every function then returns at once, and the nearest
// bracket group or statement skips to its end and leaves panic. `Report` reports a mistake after
// which parsing goes on as if it were not there. Neither says anything in panic or beside a
// reported bracket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"
#include "lex/token.h"
#include "parse/balance.h"

namespace choreo::parse {

inline constexpr int kMaxDepth = 256;   // of nested blocks, brackets and unary operators
inline constexpr int kMaxHeight = 512;  // of an expression tree: chains such as a + b + …
inline constexpr int kMaxErrors = 100;  // shown for one function

// Words that were reported as no types: once is enough.
using UnknownTypes = std::unordered_set<std::string>;

class Parser {
 public:
  Parser(ast::File& file, diag::Emitter& diags, UnknownTypes& unknown_types, Balanced balanced);
  ast::FunctionId ParseFunction(uint32_t unit_index);

 private:
  using Token = lex::Token;
  using TokenKind = lex::TokenKind;

  // ---- cursor (cursor.cpp) ----
  const Token& Peek(size_t ahead = 0) const;
  const Token& Previous() const { return tokens_[pos_ - 1]; }
  bool At(TokenKind kind, size_t ahead = 0) const { return Peek(ahead).kind == kind; }
  bool AtWord(std::string_view word, size_t ahead = 0) const;  // a contextual word
  bool AtAttribute() const;                                    // `[[`
  const Token& Next();
  bool Accept(TokenKind kind);
  bool AcceptWord(std::string_view word);
  bool Expect(TokenKind kind, std::string_view context);
  bool ExpectWord(std::string_view word, std::string_view context);
  // The kind of the token behind the bracket group that starts `ahead` of here.
  TokenKind KindAfterGroup(size_t ahead) const;
  SourceRange RangeFrom(size_t first) const;  // of the tokens from `first` to the previous one
  std::string TextFrom(size_t first) const;   // their spelling, without spaces

  // ---- errors and recovery (recovery.cpp) ----
  template <class... Args>
  diag::Builder Report(const diag::DiagDef<Args...>& def, SourceRange range,
                       const std::type_identity_t<Args>&... args) {
    if (!MayReport()) return diag::Builder(&suppressed_);
    diag::Builder builder = diags_.Emit(def, range, args...);
    const Token& token = Peek();
    if (range == token.use && !(range == token.range)) {
      builder.Note(token.range, "the text comes from this macro");
    }
    return builder;
  }
  template <class... Args>
  diag::Builder Fail(const diag::DiagDef<Args...>& def, SourceRange range,
                     const std::type_identity_t<Args>&... args) {
    diag::Builder builder = Report(def, range, args...);
    panic_ = true;
    return builder;
  }
  diag::Builder Unexpected(std::string_view expected,
                           std::string_view context);  // a Fail at Peek()
  bool MayReport();
  bool Enter();  // one level deeper; false (and panic) where that is too deep
  void Leave() { --depth_; }
  void ExpectSemicolon(std::string_view after);
  bool LooksLikeStatement() const;
  void Synchronize(size_t first);  // to the start of the next statement; leaves panic
  void SkipStatement();            // to its `;` or the closing brace, over blocks too; leaves panic
  bool SkipToBody();               // after a broken header; whether there is a block
  bool IsCalled(std::string_view name) const;  // anywhere in the function
  std::vector<ast::Name> NamesFrom(size_t first) const;
  ast::StmtId ErrorStmt(size_t first);
  // Parses `open … close` with `parse` between. A panic inside ends at the closer. Returns whether
  // all of it was understood.
  template <class Function>
  bool InBrackets(TokenKind open, std::string_view context, Function parse) {
    const std::string closer = CloserOf(open);
    if (panic_ || !Expect(open, context)) return false;
    const uint32_t close = partner_[pos_ - 1];
    parse();
    if (!panic_ && pos_ != close) Unexpected(closer, context);
    const bool understood = !panic_;
    panic_ = false;
    pos_ = close + 1;
    return understood;
  }
  static std::string CloserOf(TokenKind open);
  // Comma-separated `parse()`s up to the closer of the group they stand in.
  template <class Function>
  void List(TokenKind closer, Function parse) {
    if (At(closer)) return;
    do parse();
    while (!panic_ && Accept(TokenKind::Comma));
  }

  // ---- nodes ----
  template <class Node>
  ast::ExprId AddExpr(SourceRange range, Node node) {
    return Add(ast::Expr(range, std::move(node)));
  }
  template <class Node>
  ast::StmtId AddStmt(size_t first, Node node) {
    return file_.stmts.Add(ast::Stmt(RangeFrom(first), std::move(node)));
  }
  ast::ExprId Add(ast::Expr expr);
  ast::ExprId ErrorExpr();
  SourceRange RangeOf(ast::ExprId id) const { return file_.exprs[id].range; }

  // ---- names and types (parse_decl.cpp) ----
  std::optional<ast::Name> ParseName(std::string_view what);
  void CheckName(const Token& token, std::string_view what);
  bool AtTypeStart() const;
  // A type; absent for `auto` and, reported, for what is not a type.
  struct Type {
    std::optional<Elem> elem;
    bool is_auto = false;
    std::string text;
  };
  Type ParseType();
  bool AtUnknownType() const;  // `word name`: a declaration with a type that is none

  // ---- functions and declarations (parse_decl.cpp) ----
  void ParseReturnType();
  ast::Param ParseParam();
  void ParseParamType(ast::Param& param);
  void ParseParamRest(ast::Param& param);
  bool ParseDims(std::vector<ast::ExprId>& dims);
  ast::StmtId ParseScalarDecl();
  bool MoreDeclarators();
  ast::ExprId ParseScalarInit(const ast::Name& name);
  ast::StmtId ParseStorageDecl();
  ast::StmtId ParseStorageRest(size_t first, ast::StorageClass storage, bool spelled);
  ast::StorageDeclarator ParseStorageDeclarator(const ast::StorageDecl& decl,
                                                std::string_view type);
  void ParseStorageInit(const ast::StorageDecl& decl, ast::StorageDeclarator& declarator);
  void ParseFill(const ast::StorageDecl& decl, ast::StorageDeclarator& declarator);
  bool AtStorageWithoutClass() const;  // `bf16 [16] x`

  // ---- statements (parse_stmt.cpp) ----
  ast::StmtId ParseStatement();
  ast::StmtId ParseStatementHere(size_t first);
  ast::StmtId ParseKeywordStatement(size_t first);
  ast::StmtId ParseWordStatement(size_t first);
  ast::StmtId ParseBlock();
  ast::StmtId ParseBody(std::string_view context);
  ast::StmtId ParseAssignmentOrExpression(size_t first);
  ast::StmtId ParseRefused(size_t first);
  bool ParseMisspelled();
  ast::StmtId ParseIf();
  ast::StmtId ParseWhile();
  ast::StmtId ParseReturn();
  ast::StmtId ParseAssert();
  ast::StmtId ParseWait();
  ast::StmtId ParseTrigger();
  ast::StmtId ParseCall();
  ast::StmtId ParseRegisterCall();
  ast::StmtId ParseRawCpp();
  ast::StmtId ParseSync();
  template <class Node>
  ast::StmtId ParseSimple(std::string_view after);

  // ---- scopes and loops (parse_parallel.cpp) ----
  std::vector<ast::Attribute> ParseAttributes();
  ast::Attribute ParseAttribute();
  ast::StmtId ParseParallel(std::vector<ast::Attribute> attributes);
  ast::ParallelDim ParseParallelDim();
  void ParseLevel(ast::ParallelDim& dim);
  ast::Level LikelyLevel(std::string_view spelled) const;
  ast::StmtId ParseInThreads();
  ast::StmtId ParseForeach();
  void ParseIteration(ast::Foreach& loop);
  void ParseSlice(ast::Iteration& iteration);
  ast::ExprId ParseUnroll();
  ast::StmtId ParseWith();
  ast::StmtId ParseApply();
  bool ParseAsync();
  std::vector<ast::Name> ParseNames(std::string_view construct);
  // The extents that `vars` variables run over: a shape, or one expression for one variable.
  std::vector<ast::ExprId> ParseRange(size_t vars, std::string_view construct);

  // ---- operations (parse_ops.cpp) ----
  struct Suffix {
    ast::Name name;
    ast::ExprId argument;  // `<argument>`, may be invalid
    std::string argument_text;
  };
  struct Operation {
    std::string text;  // family and operation, for messages
    std::vector<Suffix> suffixes;
  };
  bool AtOperation() const;
  bool AtAtomic() const;
  Operation ParseSuffixes();
  const Suffix* FindSuffix(const Operation& op, std::string_view name) const;
  void CheckSuffixes(const Operation& op, const std::vector<std::string_view>& allowed);
  std::optional<int> Swizzle(const Operation& op);
  std::optional<int64_t> Constant(ast::ExprId id) const;
  ast::ExprId ParseOperation();
  ast::ExprId ParseDma(size_t first);
  ast::ExprId ParseTma(size_t first);
  ast::ExprId ParseMma(size_t first);
  ast::ExprId ParseMmaFill(size_t first, const Operation& op);
  ast::ExprId ParseMmaIssue(size_t first, const Operation& op);
  ast::StmtId ParseMmaStore(size_t first);
  ast::ExprId ParseAtomic(size_t first);
  bool AtMmaStore() const;
  ast::ExprId ParseCopySource(std::string_view op);
  ast::CopyTarget ParseCopyTarget(std::string_view op);
  std::vector<ast::ExprId> ParseOperands(std::string_view op, size_t count, std::string_view shape);

  // ---- expressions (parse_expr.cpp) ----
  ast::ExprId ParseValue(std::string_view context);  // an expression or an operation
  ast::ExprId ParseExpr(std::string_view context);
  ast::ExprId ParseConditional(std::string_view context);  // stops at `=`
  ast::ExprId ParseBinary(int min_precedence, std::string_view context);
  ast::ExprId ParseUnary(std::string_view context);
  ast::ExprId ParsePrefix(size_t first, std::string_view context);
  ast::ExprId ParsePostfix(std::string_view context);
  ast::ExprId ParseMember(ast::ExprId base);
  ast::ExprId ParseTupleElement(ast::ExprId base);
  ast::ExprId ParseIndex(ast::ExprId base);
  ast::ExprId ParsePrimary(std::string_view context);
  ast::ExprId ParseLiteral();
  ast::ExprId ParseWordExpr(std::string_view context);
  ast::ExprId ParseCallExpr();
  ast::ExprId ParseConversion();
  ast::ExprId ParseParenthesized();
  ast::ExprId ParseAnyOf();
  ast::ExprId ParseSpanSize();
  template <class Node>
  ast::ExprId ParseListLiteral(TokenKind open, std::string_view context);
  std::vector<ast::ExprId> ParseArguments(std::string_view context, bool& understood);
  std::optional<std::string> ParseStrings();  // adjacent ones are one

  ast::File& file_;
  diag::Emitter& diags_;
  UnknownTypes& unknown_types_;
  std::vector<Token> tokens_;
  std::vector<uint32_t> partner_;
  std::vector<bool> is_block_;
  std::vector<bool> damaged_;
  size_t pos_ = 0;
  bool panic_ = false;
  bool quiet_ = false;  // the rest of the statement is not what it seems: say no more about it
  bool vars_understood_ = true;      // of the last ParseNames
  std::optional<ast::Level> level_;  // of the innermost parallel dimension around
  int depth_ = 0;
  bool arrow_ends_ = false;  // `->` is a mistaken `=>` here, no access through a pointer
  bool depth_reported_ = false;
  int errors_ = 0;
  diag::Diagnostic suppressed_;               // takes the notes of what is not reported
  std::vector<uint16_t> heights_;             // by expression of this function
  uint32_t first_expr_ = 0;                   // its first expression in the file
  std::unordered_set<std::string> declared_;  // names the function has declared so far
};

}  // namespace choreo::parse
