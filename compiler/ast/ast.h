// The abstract syntax of tile functions. Nodes are plain structs in the File's stores and refer to
// each other by id; every node has the source range it was written at. Built by parse, immutable
// after.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "support/elem_type.h"
#include "support/ids.h"
#include "support/source.h"

namespace choreo::ast {

using ExprId = Id<struct ExprTag>;
using StmtId = Id<struct StmtTag>;
using FunctionId = Id<struct FunctionTag>;

// A name and the place it stands at.
struct Name {
  std::string text;
  SourceRange range;
};

// `[[name(args…)]]`; nested calls such as k_tiles(7, 6) are Call expressions.
struct Attribute {
  Name name;
  std::vector<ExprId> args;
};

// ---- expressions ------------------------------------------------------------------------------

struct ErrorExpr {};  // stands where a diagnostic was reported
struct IntLiteral {
  uint64_t value;
  Elem type;
};
struct FloatLiteral {  // also `inf`, which is f32
  double value;
  Elem type;
};
struct BoolLiteral {
  bool value;
};
struct StringLiteral {
  std::string value;
};
struct NameRef {
  std::string name;
};
struct Wildcard {};  // `_`

enum class UnaryOp : uint8_t { Plus, Minus, Not, BitNot, BoundOf /* #p */ };
struct Unary {
  UnaryOp op;
  ExprId operand;
};

enum class BinaryOp : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  Shl,
  Shr,
  BitAnd,
  BitOr,
  BitXor,
  And,
  Or,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  Compose /* a # b */,
};
struct Binary {
  BinaryOp op;
  ExprId left, right;
  SourceRange op_range;
};
struct Conditional {
  ExprId condition, then_value, else_value;
};
struct IncDec {
  bool increment;
  bool prefix;
  ExprId operand;
};
// `f(args)`, `__to<T>(x)`: built-ins, cdiv, copy, reduce_max … A name declared earlier in the
// function is no callee: `t(i)` is a MethodCall then.
struct Call {
  Name callee;
  std::optional<Elem> type_arg;
  std::vector<ExprId> args;
};
// `x.span`, `f.data`
struct Member {
  ExprId base;
  Name name;
};
// `x.subspan(a, b)`, `.at(…)`, `.view(e… : s…)`, `.chunkat(p, _)`, `.span(i)`; `t(i)` (an element
// of a tuple) has an empty name.
struct MethodCall {
  ExprId base;
  Name name;
  std::vector<ExprId> args;
  std::vector<ExprId> strides;  // after `:` in .view
};
struct Index {
  ExprId base, index;
};
struct TupleLiteral {
  std::vector<ExprId> elements;
};
struct ShapeLiteral {
  std::vector<ExprId> extents;
};
struct SpanSize {  // |span|
  ExprId operand;
};
// `any_of({i} in m.span, cond)`, `any_of.warp(…)`, `any_of.warp.parts(…)`
struct AnyOf {
  bool warp;
  bool parts;  // a lane judges partial rows by its own part
  std::vector<Name> vars;
  ExprId span;
  ExprId condition;
};

enum class StorageClass : uint8_t { Global, Shared, Local, Frag };

// Where a copy goes: a view, or an anonymous tile of a storage class.
struct CopyTarget {
  ExprId view;                            // valid, or
  std::optional<StorageClass> anonymous;  // `=> shared`
  SourceRange range;
};
struct DmaCopy {
  bool async;
  std::optional<int> swizzle;  // 128, 64, 32
  ExprId source;
  CopyTarget target;
};
enum class EvictPolicy : uint8_t { None, First, Last };
struct TmaCopy {
  bool is_load;  // spelled tma.load
  bool async;
  EvictPolicy policy;
  std::optional<int> swizzle;
  std::optional<Name> inline_event;  // the old `tma.copy.async<event>`; diagnosed by sema
  ExprId source;
  CopyTarget target;
  std::optional<SourceRange> multicast = {};  // where `.multicast` stands
};
struct MmaFill {
  Elem type;
  ExprId value;
};
enum class MmaLayout : uint8_t { Row, Col };
struct Mma {
  MmaLayout a_layout, b_layout;
  bool async;
  ExprId acc, a, b;
};
struct MmaLoad {
  std::optional<int> swizzle;
  ExprId source;
};
// `atomic.add counter.at(i), n`: the value of the element before. Once a thread.
enum class AtomicOp : uint8_t { Add, Max, Min };
struct Atomic {
  AtomicOp op;
  ExprId element, value;
};

using ExprNode = std::variant<
#define CHOREO_EXPR(Node) Node,
#include "ast/expr_kind.def"
    std::monostate>;

// Special members of Expr and Stmt are in ast.cpp: a variant of all nodes is costly to instantiate.
struct Expr {
  SourceRange range;
  ExprNode node;
  bool parenthesized = false;

  Expr() = default;
  template <class NodeT>
    requires(std::is_constructible_v<ExprNode, std::in_place_type_t<NodeT>, NodeT>)
  Expr(SourceRange at, NodeT expr, bool parens = false)
      : range(at), node(std::in_place_type<NodeT>, std::move(expr)), parenthesized(parens) {}
  Expr(const Expr&);
  Expr(Expr&&) noexcept;
  Expr& operator=(const Expr&);
  Expr& operator=(Expr&&) noexcept;
  ~Expr();
};

// ---- statements -------------------------------------------------------------------------------

// Stands where a statement could not be parsed. `names` are the names it may have declared: later
// phases are silent about their uses.
struct ErrorStmt {
  std::vector<Name> names;
};
struct Block {
  std::vector<StmtId> statements;
};

struct ScalarDeclarator {
  Name name;
  ExprId init;  // may be invalid only for a mutable scalar (diagnosed by sema otherwise)
};
struct ScalarDecl {  // [mutable] TYPE name = expr, …;
  bool is_mutable;
  std::optional<Elem> type;  // absent for `auto`
  std::vector<ScalarDeclarator> declarators;
};

struct StorageDeclarator {
  Name name;
  ExprId array_size;  // name[n]; invalid: a single one
  enum class Init : uint8_t { None, Fill, Ready } init = Init::None;
  ExprId fill;  // {value}
};
struct StorageDecl {  // [storage] TYPE [dims] name[n] init, …;  or shared event e[n] = ready;
  StorageClass storage;
  bool is_event;
  Elem type;
  std::vector<ExprId> dims;
  std::vector<StorageDeclarator> declarators;
  bool is_cluster = false;  // shared cluster event e
};

// `target op= value;`. A plain `name = value;` assigns, refills, rebinds or declares (language §2).
struct Assign {
  ExprId target;
  std::optional<BinaryOp> op;
  ExprId value;
};
struct ExprStmt {
  ExprId expr;
};

enum class Level : uint8_t { Block, Warpgroup, Warp, Thread };
struct ParallelDim {
  std::vector<Name> vars;      // empty: anonymous; one: `p by N`; several: a tuple
  std::vector<ExprId> bounds;  // as many as vars; one for an anonymous
  Level level;
  SourceRange level_range;
  SourceRange range;
};
struct Parallel {
  bool async;
  std::vector<Attribute> attributes;
  std::vector<ParallelDim> dims;  // outermost first
  StmtId body;
};
struct InThreads {
  bool async;
  ExprId predicate;
  StmtId body;
};

// One iteration variable: `i in n`, `{i, j} in [n, m]`, or `y(lo : hi : step)` on a bounded
// variable.
struct Iteration {
  Name var;
  ExprId bound;            // valid for `in`; invalid: iterates over the bounded variable `var`
  ExprId low, high, step;  // each may be invalid (default)
};
struct Foreach {
  std::vector<Iteration> iterations;  // outermost first
  ExprId unroll;                      // `: unroll(n)`
  StmtId body;
};
struct With {  // with idx = {x, y} in [n, m] { … }
  std::optional<Name> tuple;
  std::vector<Name> vars;
  std::vector<ExprId> bounds;
  StmtId body;
};
// The bodies of compound statements are Blocks, also where one statement without braces was
// written; only an else body may be an If (`else if`).
struct If {
  ExprId condition;
  StmtId then_body;
  StmtId else_body;  // may be invalid
};
struct While {
  ExprId condition;
  StmtId body;
};
struct Return {};
struct Break {};
struct Continue {};
struct Assert {
  ExprId condition;
  std::string message;
};
struct Apply {  // apply {i, j} in F.span stmt
  std::vector<Name> vars;
  ExprId span;
  StmtId body;
};
struct Wait {
  std::vector<ExprId> operands;
};
struct Trigger {
  ExprId event;
  std::vector<ExprId> after;
};
struct MmaStore {
  ExprId acc, tile;
};
struct SyncShared {};
struct CallStmt {  // call croq::cuda::setreg_dec(40);
  Name callee;     // qualified name as written, without spaces
  std::vector<ExprId> args;
};
struct RawCpp {  // __cpp__("…");
  std::string text;
};

using StmtNode = std::variant<
#define CHOREO_STMT(Node) Node,
#include "ast/stmt_kind.def"
    std::monostate>;

struct Stmt {
  SourceRange range;
  StmtNode node;
  std::vector<Attribute> attributes;  // [[schedule(…)]]; those of a parallel stand in its node

  Stmt() = default;
  template <class NodeT>
    requires(std::is_constructible_v<StmtNode, std::in_place_type_t<NodeT>, NodeT>)
  Stmt(SourceRange at, NodeT stmt) : range(at), node(std::in_place_type<NodeT>, std::move(stmt)) {}
  Stmt(const Stmt&);
  Stmt(Stmt&&) noexcept;
  Stmt& operator=(const Stmt&);
  Stmt& operator=(Stmt&&) noexcept;
  ~Stmt();
};

// ---- functions --------------------------------------------------------------------------------

struct Param {
  Name name;
  Elem type;
  bool is_shaped;
  bool is_global;            // `global` in front: device memory
  std::vector<ExprId> dims;  // integer constants or names of symbolic dimensions
  SourceRange range;
  bool is_error =
      false;  // its type could not be parsed (reported); uses of it are not to be diagnosed
};
struct Function {
  Name name;
  std::vector<Param> params;
  StmtId body;  // a Block
  SourceRange range;
  uint32_t unit_index;  // index into lex::Unit::functions
};

struct File {
  IndexedVector<ExprId, Expr> exprs;
  IndexedVector<StmtId, Stmt> stmts;
  IndexedVector<FunctionId, Function> functions;

  template <class T>
  const T* As(ExprId id) const {
    return std::get_if<T>(&exprs[id].node);
  }
  template <class T>
  const T* As(StmtId id) const {
    return std::get_if<T>(&stmts[id].node);
  }
};

// "a binary expression", "a `foreach`": how diagnostics name a node.
std::string_view Describe(const Expr& expr);
std::string_view Describe(const Stmt& stmt);

}  // namespace choreo::ast
