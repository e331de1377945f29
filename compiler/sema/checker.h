// The walk of one tile function that resolves names and types expressions; internal to sema. Every
// construct has a method, in the file of its family. The walk fills Result; what it knows beyond
// the contract (symbolic values, where a view's elements live) stays in Value.
//
// A function with accumulators is walked more than once: their shapes come from MMAs further down,
// so earlier walks, whose diagnostics are dropped, find the shapes.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sema/scope.h"
#include "sema/sema.h"
#include "sema/sym.h"
#include "sema/thread_set.h"

namespace choreo::sema {

// What is known of an expression or an entity beside its type.
struct Value {
  Type type;
  std::optional<int64_t> constant;  // integers and bools
  std::optional<double> real;       // float constants
  std::optional<Poly> poly;         // integers that do not change
  EntityId root;            // views and elements: the parameter, tile or future they live in
  bool scattered = false;   // a view whose elements are certainly not contiguous
  bool is_element = false;  // `x.at(i, j)`: may be assigned
  enum class Open : uint8_t { No, Subspan, Window } open = Open::No;  // lacks `.at` or `.from`
  std::vector<Value> elements;                                        // of tuples and shapes
  ast::ExprId value_of;  // the expression an immutable scalar was given
  bool is_error() const { return type.kind == TypeKind::Error; }
};

// What bound a future: decides whether it is waited for, and whether an event may complete after
// it.
enum class FutureOrigin : uint8_t { Complete, TmaLoad, AsyncCopy, Mma };

struct AccumulatorShape {
  std::vector<Extent> extents;
  SourceRange mma;
};

class Checker {
 public:
  Checker(const ast::File& file, const SourceManager& sources, Result& result)
      : file_(file), sources_(sources), result_(result) {}
  void CheckFunction(ast::FunctionId id, diag::Emitter& diags);

 private:
  using Severity = diag::Severity;
  template <class... Args>
  diag::Builder Report(const diag::DiagDef<Args...>& def, SourceRange range,
                       const std::type_identity_t<Args>&... args) {
    return diags_->Emit(def, range, args...);
  }

  // ---- functions (function.cpp) ----
  void Walk(const ast::Function& function, ast::FunctionId id);
  void DeclareParams(const ast::Function& function, ast::FunctionId id);
  void DeclareParam(const ast::Param& param, ast::FunctionId id);
  Extent ParamExtent(ast::ExprId dim, ast::FunctionId id);
  bool NamesAnything(ast::ExprId id) const;
  void FinishFunction(const ast::Function& function);

  // ---- names and entities (names.cpp) ----
  EntityId Declare(EntityKind kind, const ast::Name& name, Value value);
  EntityId DeclareNew(EntityKind kind, const ast::Name& name,
                      Value value);  // reports a redeclaration
  EntityId AddEntity(EntityKind kind, const ast::Name& name, Value value);  // without a scope
  void ReportUnknown(const ast::Name& name);     // once: later uses stay silent
  void DeclareForgotten(const ast::Name& name);  // after an error: uses of the name stay silent
  Value CheckName(ast::ExprId id, const ast::NameRef& name);
  std::optional<EntityId> EntityOf(ast::ExprId id) const;  // of a NameRef that resolved
  void Suggest(diag::Builder builder, SourceRange range, const std::string& name,
               std::vector<std::string_view> candidates);
  Value VariableValue(const std::string& name, const Extent& bound, const std::optional<Poly>& high,
                      TypeKind kind, int64_t low = 0);

  // ---- extents and symbolic values (extents.cpp) ----
  Extent ExtentOf(const Value& value);
  Extent ExtentOf(int64_t value) const { return {value, std::to_string(value)}; }
  Extent ExtentOf(const Poly& poly);
  std::optional<Poly> PolyOf(const Extent& extent) const;
  bool SameExtent(const Extent& a, const Extent& b) const;
  bool SameExtents(const std::vector<Extent>& a, const std::vector<Extent>& b) const;
  Value IntegerOf(const Extent& extent);
  bool NeedExtent(SourceRange range, std::string_view what, int64_t value);  // 1 … 2^31 - 1
  Poly Opaque(std::string text, const std::optional<Poly>& a, const std::optional<Poly>& b,
              std::optional<int64_t> low, std::optional<Poly> high);
  std::string ShapeText(const std::vector<Extent>& extents) const;
  // Whether `index` may be outside 0 … end: certainly, or for some values of unguarded variables.
  bool CanLeave(const Value& index, const std::optional<Poly>& end, bool* below, bool* always);
  bool Guarded(const Poly& poly) const;
  std::string RangeText(const Value& index) const;

  // ---- expressions (check_expr.cpp, check_ops.cpp, check_call.cpp) ----
  const Value& Check(ast::ExprId id);
  Value CheckNode(ast::ExprId id);
  Value Plain(Elem elem) const;
  Value ErrorValue() const { return {}; }
  Value CheckUnary(ast::ExprId id, const ast::Unary& node);
  Value CheckBoundOf(ast::ExprId id, const ast::Unary& node);
  Value CheckBinary(ast::ExprId id, const ast::Binary& node);
  Value CheckArithmetic(ast::ExprId id, const ast::Binary& node, const Value& a, const Value& b);
  Value CheckTupleArithmetic(ast::ExprId id, const ast::Binary& node, const Value& a,
                             const Value& b);
  Value CheckCompose(const ast::Binary& node, const Value& a, const Value& b);
  Value CheckConditional(ast::ExprId id, const ast::Conditional& node);
  Value CheckIncDec(ast::ExprId id, const ast::IncDec& node);
  Value CheckList(const std::vector<ast::ExprId>& items, TypeKind kind);
  Value CheckSpanSize(ast::ExprId id, const ast::SpanSize& node);
  Value CheckAnyOf(ast::ExprId id, const ast::AnyOf& node);
  bool NeedArithmetic(ast::ExprId id, const Value& value, std::string_view op);
  bool NeedCondition(ast::ExprId id, const Value& value);
  bool NeedInteger(ast::ExprId id, const Value& value, std::string_view what);
  std::optional<int64_t> NeedConstant(ast::ExprId id, std::string_view what);
  Value Fold(ast::BinaryOp op, Elem elem, Elem operands, const Value& a, const Value& b) const;
  std::optional<Poly> FoldPoly(ast::BinaryOp op, const Value& a, const Value& b);
  Value DivideUp(const Value& a, const Value& b, Elem elem);
  void WarnF64(ast::ExprId a, const Value& va, ast::ExprId b, const Value& vb);
  void FlushWarnings();
  std::string Spelled(ast::ExprId id) const;
  bool SpelledInPlace(ast::ExprId id) const;  // not through a macro: fix-its may edit it

  Value CheckCall(ast::ExprId id, const ast::Call& node);
  Value CheckMinMax(ast::ExprId id, const ast::Call& node, bool is_max);
  Value CheckMathCall(ast::ExprId id, const ast::Call& node);
  Value CheckConversion(ast::ExprId id, const ast::Call& node);
  Value CheckBarrierCall(ast::ExprId id, const ast::Call& node);
  Value CheckFragmentCopy(ast::ExprId id, const ast::Call& node);
  Value CheckReduce(ast::ExprId id, const ast::Call& node);
  void NeedShuffled(ast::ExprId row, std::string_view function);
  Value CheckAllReduce(ast::ExprId id, const ast::Call& node);
  bool NeedArguments(ast::ExprId id, const ast::Call& node, size_t count);

  // ---- conversions (convert.cpp) ----
  bool Convert(ast::ExprId id, Elem to, std::string_view what);
  bool FitsConstant(const Value& value, Elem to) const;

  // ---- views (check_view.cpp, check_at.cpp) ----
  Value CheckMember(ast::ExprId id, const ast::Member& node);
  Value CheckMethod(ast::ExprId id, const ast::MethodCall& node);
  Value CheckSubspan(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckStep(ast::ExprId id, const ast::MethodCall& node);
  Value CheckWindow(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckFrom(ast::ExprId id, const ast::MethodCall& node);
  Value CheckChunkAt(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckSpanAs(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckSqueeze(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckAt(ast::ExprId id, const ast::MethodCall& node);
  Value CheckTileAt(ast::ExprId id, const ast::MethodCall& node, const Value& tile);
  Value CheckElement(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckEventAt(ast::ExprId id, const ast::MethodCall& node, const Value& base);
  Value CheckSpanElement(ast::ExprId id, const ast::MethodCall& node, const Value& shape);
  Value CheckIndex(ast::ExprId id, const ast::Index& node);
  struct Argument {
    ast::ExprId expr;  // a tuple's elements share its expression
    Value value;
  };
  // Tuples and shapes count as their elements.
  std::vector<Argument> Arguments(const std::vector<ast::ExprId>& args);
  bool NeedRank(SourceRange range, std::string_view what, size_t have, size_t want);
  // The value as a tile: a view, a declared tile, a data future. Reports what is none.
  std::optional<Value> TileOf(ast::ExprId id, std::string_view what);
  std::optional<Value> AsTile(const Value& value) const;
  bool NeedClosed(ast::ExprId id, const Value& value);
  const Value* BaseOf(ast::ExprId id, const ast::MethodCall& node);
  void CheckWindowBounds(ast::ExprId id, size_t axis, const Value& start, const Extent& tile,
                         const Extent& whole);
  void CheckTileBounds(ast::ExprId id, size_t axis, const Value& start, const Extent& tile,
                       const Extent& whole, bool may_have_tail);

  // ---- statements (check_stmt.cpp, check_decl.cpp, check_assign.cpp) ----
  void CheckStmt(ast::StmtId id);
  void CheckBlock(ast::StmtId id);
  void CheckBody(ast::StmtId id);
  void CheckIf(const ast::If& node);
  void CheckWhile(const ast::While& node);
  void CheckForeach(ast::StmtId id, const ast::Foreach& node);
  EntityId DeclareIteration(const ast::Iteration& iteration);
  Value SliceValue(const ast::Iteration& iteration, const Value& over);
  void CheckWith(ast::StmtId id, const ast::With& node);
  void CheckJump(ast::StmtId id, std::string_view word);
  void CheckReturn(ast::StmtId id);
  void CheckAssert(ast::StmtId id, const ast::Assert& node);
  void AssumeHolds(ast::ExprId condition);
  void CheckExprStmt(ast::StmtId id, const ast::ExprStmt& node);
  void CheckCallStmt(ast::StmtId id, const ast::CallStmt& node);
  void CheckNanosleep(ast::StmtId id, const ast::CallStmt& node);
  void CheckSetReg(ast::StmtId id, const ast::CallStmt& node);
  bool AllowedBeforeParallel(ast::StmtId id);
  void CheckScalarDecl(ast::StmtId id, const ast::ScalarDecl& node);
  void CheckStorageDecl(ast::StmtId id, const ast::StorageDecl& node);
  bool CheckStoragePlace(const ast::StorageDecl& node, const ast::StorageDeclarator& declarator);
  bool CheckFragmentShape(SourceRange range, Elem elem, const std::vector<Extent>& extents);
  void CheckAssign(ast::StmtId id, const ast::Assign& node);
  void CheckCompoundAssign(ast::StmtId id, const ast::Assign& node);
  void AssignElement(ast::StmtId id, const ast::Assign& node);
  void AssignName(ast::StmtId id, const ast::Assign& node, const ast::NameRef& name);
  bool AssignVisible(ast::StmtId id, const ast::Assign& node, EntityId target, const Value& value);
  void DeclareAssigned(ast::StmtId id, const ast::Assign& node, const ast::NameRef& name,
                       Value value);
  void MarkWritten(const Value& element_or_tile);
  std::vector<Atom> ConditionSources(ast::ExprId condition, bool* unknown) const;
  bool Escapes(ast::StmtId id) const;

  // ---- parallel structure (check_parallel.cpp, check_attributes.cpp) ----
  void CheckParallel(ast::StmtId id, const ast::Parallel& node);
  bool CheckDim(const ast::ParallelDim& dim, std::vector<int64_t>* bounds);
  bool CheckLevelOrder(const ast::ParallelDim& dim);
  void OpenDim(const ast::ParallelDim& dim, const std::vector<int64_t>& bounds,
               std::vector<EntityId>* declared);
  bool CheckThreadCount(const ast::ParallelDim& dim, int64_t count);
  void CheckParallelAttributes(const ast::Parallel& node, bool outermost);
  void CheckLaunchBounds(const ast::Attribute& attribute);
  void CheckCovers(const ast::Attribute& attribute);
  void CheckCluster(const ast::Attribute& attribute);
  void CheckCovered(const ast::Attribute& attribute);
  void CheckSchedule(ast::StmtId id, const ast::Attribute& attribute);
  void CheckStmtAttributes(ast::StmtId id);
  void CheckInThreads(ast::StmtId id, const ast::InThreads& node);
  bool CheckPredicate(ast::ExprId id, bool* simple);
  void CheckRoles(SourceRange range, const ThreadSet& threads);
  bool InWarpgroup() const { return threads_.scope() == ast::Level::Warpgroup; }

  // ---- MMA, copies, fragments (check_mma.cpp, check_copy.cpp, check_frag.cpp) ----
  Value CheckMmaFill(ast::ExprId id, const ast::MmaFill& node);
  Value CheckMma(ast::ExprId id, const ast::Mma& node);
  Value CheckMmaLoad(ast::ExprId id, const ast::MmaLoad& node);

  // ---- atomic operations (check_atomic.cpp) ----
  struct ElementUse {  // of an element whose indices are constants
    EntityId root;
    std::vector<int64_t> index;
    SourceRange range;
  };
  Value CheckAtomic(ast::ExprId id, const ast::Atomic& node);
  bool CheckAtomicElement(ast::ExprId id, const Value& element, std::string_view op);
  void NoteElement(const std::vector<Argument>& args, EntityId root, SourceRange range);
  void CheckMixedAccesses(const ast::Function& function);
  bool HasOneCta(const ast::Function& function) const;
  void CheckMmaStore(ast::StmtId id, const ast::MmaStore& node);
  std::optional<EntityId> CheckAccumulator(ast::ExprId id);
  std::optional<Type> CheckOperandA(ast::ExprId id);
  std::optional<Type> CheckOperandB(ast::ExprId id);
  bool CheckMmaShape(ast::ExprId id, const ast::Mma& node, const Type& a, const Type& b,
                     int64_t* n);
  void NoteAccumulatorShape(EntityId acc, int64_t n, SourceRange range);
  Value CheckDmaCopy(ast::ExprId id, const ast::DmaCopy& node);
  Value CheckTmaCopy(ast::ExprId id, const ast::TmaCopy& node);
  void ReportInlineEvent(ast::ExprId id, const ast::TmaCopy& node);
  Value CheckCopyOperands(ast::ExprId id, ast::ExprId source, const ast::CopyTarget& target,
                          std::optional<int> swizzle, std::string_view op);
  bool SameShape(SourceRange range, std::string_view what, const Type& a, const Type& b);
  void NoteSwizzle(const Value& tile, int width, SourceRange range);
  void CheckApply(ast::StmtId id, const ast::Apply& node);
  std::optional<Type> CheckElementSpan(ast::ExprId span, size_t vars, SourceRange range);
  std::vector<EntityId> DeclareElementVars(const std::vector<ast::Name>& vars, const Type& frag);
  void CheckFragmentIndex(ast::ExprId id, const std::vector<Argument>& indices, const Type& frag);
  std::optional<EntityId> NeedFragment(ast::ExprId id, int rank, std::string_view what);

  // ---- futures and events (check_async.cpp) ----
  void CheckWait(ast::StmtId id, const ast::Wait& node);
  void CheckTrigger(ast::StmtId id, const ast::Trigger& node);
  bool CheckEventOperand(ast::ExprId id, std::string_view word);
  void CheckPriming(ast::StmtId id, const ast::Trigger& node, EntityId event);
  void CheckOrder(ast::ExprId order, const Value& value, const Type& ring);
  FutureOrigin OriginOf(ast::ExprId id) const;

  struct SwizzleUse {
    int width;
    SourceRange range;
  };
  struct F64Warning {
    SourceRange literal;
    Elem other;
  };
  struct Apply {
    std::vector<EntityId> vars;
    Type frag;
  };
  struct Guards {
    std::set<Atom> atoms;
    bool all = false;
  };
  struct Role {
    SourceRange range;
    ThreadSet threads;
  };
  struct StorageInfo {       // of events
    SourceRange after_name;  // where `= ready` would stand
    bool ready = false;
    bool cluster = false;
  };

  const ast::File& file_;
  const SourceManager& sources_;
  Result& result_;
  diag::Emitter* diags_ = nullptr;

  // Of one walk of one function.
  Scopes scopes_;
  SymTable syms_;
  IndexedVector<EntityId, Value> entity_values_;
  std::vector<Value> values_;  // by ExprId
  std::map<std::string, int> name_uses_;
  std::vector<ast::Level> levels_;  // of the dimensions that are open, also anonymous ones
  ThreadSpace threads_;
  ThreadSet active_;
  std::optional<Apply> apply_;
  Guards guards_;
  int loop_depth_ = 0, inthreads_depth_ = 0, role_depth_ = 0, parallel_depth_ = 0;
  int loops_outside_role_ = 0;
  int64_t cta_threads_ = 1;
  int64_t cluster_ = 0;  // CTAs of a cluster; 0: the attribute is missing
  std::vector<Role> roles_;
  std::optional<SourceRange> outer_parallel_;
  bool host_async_ = false;
  SourceRange async_range_;
  ast::FunctionId function_;
  ast::StmtId statement_;
  std::vector<ast::StmtId> enclosing_;
  std::map<EntityId, SwizzleUse> swizzles_;
  std::map<EntityId, FutureOrigin> origins_;
  std::map<EntityId, ast::ExprId> loaded_from_;
  std::map<EntityId, SourceRange> odd_loads_;  // mma.load of other than 64 rows, not yet reported
  std::map<EntityId, ast::StmtId> fills_;      // accumulators by the fill that makes them
  std::map<EntityId, StorageInfo> events_;
  std::vector<ElementUse> plain_uses_, atomic_uses_;  // of parameters
  std::vector<F64Warning> f64_warnings_;
  std::map<ast::StmtId, AccumulatorShape> shapes_;  // kept between walks, by the filling statement
  bool shapes_changed_ = false;
};

// Whole-function analyses over a typed function.
void CheckUniformity(const ast::File& file, const Result& result, ast::FunctionId function,
                     diag::Emitter& diags);
void CheckRowStates(const ast::File& file, const Result& result, ast::FunctionId function,
                    diag::Emitter& diags);

}  // namespace choreo::sema
