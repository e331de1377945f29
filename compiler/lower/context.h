// The state of lowering one tile function, shared by the files of this folder. Expressions become
// IR expression trees, views become ir::View values, statements append ops to the current region.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"
#include "ir/builder.h"
#include "ir/ir.h"
#include "lex/device_functions.h"
#include "lex/token.h"
#include "sema/sema.h"
#include "support/source.h"

namespace choreo::lower {

// What an entity stands for in the IR. Arrays of fragments have one storage an element.
using Binding = std::variant<std::monostate, ir::VarId, ir::StorageId, ir::View,
                             std::vector<ir::ExprId>, std::vector<ir::StorageId>>;

struct Inputs {
  const lex::Unit& unit;
  const ast::File& file;
  const sema::Result& sema;
  const SourceManager& sources;
  diag::Emitter& diags;
};

class Lowering {
 public:
  Lowering(const Inputs& in, ast::FunctionId function, ir::Kernel& kernel)
      : in_(in), function_(function), kernel_(kernel), build_(kernel) {}

  void Run();

 private:
  // lower_function.cpp
  void LowerParams();
  void LaunchAttributes(const std::vector<ast::Attribute>& attributes);

  // lower_stmt.cpp
  void Statement(ast::StmtId id);
  void Body(ast::StmtId id);  // the statements of a block, or a single statement
  ir::Region RegionOf(ast::StmtId id);
  void Node(ast::StmtId id, const ast::ErrorStmt&);
  void Node(ast::StmtId id, const ast::Block& node);
  void Node(ast::StmtId id, const ast::ScalarDecl& node);
  void Node(ast::StmtId id, const ast::StorageDecl& node);
  void Node(ast::StmtId id, const ast::Assign& node);
  void Node(ast::StmtId id, const ast::ExprStmt& node);
  void Node(ast::StmtId id, const ast::Assert& node);
  void Node(ast::StmtId id, const ast::SyncShared& node);
  void Node(ast::StmtId id, const ast::RawCpp& node);
  void Node(ast::StmtId id, const std::monostate&);
  void DeclareByAssign(ast::StmtId id, const ast::Assign& node);

  // lower_control.cpp
  void Node(ast::StmtId id, const ast::Foreach& node);
  void Node(ast::StmtId id, const ast::With& node);
  void Node(ast::StmtId id, const ast::If& node);
  void Node(ast::StmtId id, const ast::While& node);
  void Node(ast::StmtId id, const ast::Return& node);
  void Node(ast::StmtId id, const ast::Break& node);
  void Node(ast::StmtId id, const ast::Continue& node);
  void ForeachFrom(size_t index, const ast::Foreach& node, const std::vector<sema::EntityId>& vars,
                   const std::vector<ir::ExprId>& bounds);

  // lower_parallel.cpp
  void Node(ast::StmtId id, const ast::Parallel& node);
  void Node(ast::StmtId id, const ast::InThreads& node);
  void ParallelFrom(size_t dim, size_t first_var, const ast::Parallel& node,
                    const std::vector<sema::EntityId>& vars);

  // lower_fragment.cpp
  void Node(ast::StmtId id, const ast::Apply& node);
  void Node(ast::StmtId id, const ast::MmaStore& node);
  bool FragmentCall(const ast::Call& call);
  ir::StorageId Fragment(ast::ExprId id);
  ir::ExprId AnyOf(ast::ExprId id, const ast::AnyOf& node);
  void Atomic(const ast::Atomic& node, ir::VarId before);
  ir::StorageId NewFragment(std::string_view name, Elem elem,
                            const std::vector<sema::Extent>& dims);
  void Mma(ast::StmtId stmt, const ast::Mma& node, ir::VarId future);
  void Fill(ir::StorageId frag, const ast::MmaFill& node);
  void Load(ir::StorageId frag, const ast::MmaLoad& node);

  // lower_copy.cpp
  // The destination of the copy; the anonymous tile is named `name`. Without a future the copy is
  // complete when the statement is.
  ir::View Copy(const ast::DmaCopy& node, ir::VarId future, std::string_view name);
  ir::View CopyTarget(const ast::CopyTarget& target, const ir::View& source, std::string_view name);

  // lower_async.cpp
  struct EventOperand {
    ir::StorageId event;
    ir::ExprId order;
    const ast::IncDec* step = nullptr;  // `order++`: what follows the operation
  };
  void Node(ast::StmtId id, const ast::Wait& node);
  void Node(ast::StmtId id, const ast::Trigger& node);
  void Node(ast::StmtId id, const ast::CallStmt& node);

  // lower_calls.cpp
  struct FunctionCall {  // what is checked of it when the kernel is complete
    SourceRange range;
    ast::Name callee;
    size_t args = 0;
  };
  void CallFunction(SourceRange range, const ast::CallStmt& node);
  void CheckCalls();
  void CheckCall(const FunctionCall& call, bool has_mma);
  bool OnlyReads(const ast::CallStmt& node, size_t i);
  const std::vector<lex::HostFunction>& HostFunctions();
  void RawBarrier(const ast::Call& call);

  // lower_async.cpp, continued
  ir::VarId FutureOf(sema::EntityId id);
  ir::VarId FutureOf(ast::ExprId id);
  bool IsTmaLoad(const ast::TmaCopy& node) const;
  ir::View Tma(const ast::TmaCopy& node, ir::VarId future, std::string_view name);
  void DeclareEvents(ast::StmtId id, const ast::StorageDecl& node);
  EventOperand Event(ast::ExprId id);
  void Step(const ast::IncDec* step);
  // `name = <asynchronous operation>;`, which declares or rebinds the future `entity`. False if the
  // value is something else.
  bool Start(ast::StmtId id, sema::EntityId entity, ast::ExprId value);

  // lower_futures.cpp
  struct FutureTile {  // of a future that is bound more than once
    // Its tile, with variables for what differs from one operation to the next.
    std::optional<ir::View> place;
    bool settled = true;                  // the text says which operation it holds
    std::optional<SourceRange> other;     // where it is bound to a tile that `place` cannot name
    std::optional<SourceRange> used;      // where it is first used while not settled
    std::vector<sema::EntityId> sources;  // moved into it while they were not settled
  };
  void FindRebound(ast::StmtId id, std::vector<sema::EntityId>& rebound) const;
  void WatchFutures(ast::StmtId body);
  void Unsettle(std::initializer_list<ast::StmtId> regions);
  bool SameButPlace(const ir::View& place, const ir::View& view) const;
  bool IsFixed(const ir::View& view, size_t part) const;
  void SettlePlaces();
  void BindTile(sema::EntityId entity, ir::View view);
  ir::View TileOfFuture(sema::EntityId entity) const;
  void MoveFuture(sema::EntityId entity, sema::EntityId from);
  void CheckFutureTiles();

  // lower_expr.cpp
  ir::ExprId Scalar(ast::ExprId id);
  ir::ExprId ScalarAs(ast::ExprId id, Elem type);
  ir::ExprId Condition(ast::ExprId id);  // as bool
  ir::ExprId ScalarUnary(const ast::Unary& node);
  ir::ExprId ScalarBinary(ast::ExprId id, const ast::Binary& node);
  struct Part {  // of an expression that is evaluated only where control comes to it
    std::vector<ir::Op> ops;
    ir::ExprId value;
  };
  Part PartOf(const std::function<ir::ExprId()>& lower);
  ir::ExprId Choose(ir::ExprId condition, Part then_part, Part else_part);
  ir::ExprId ScalarCall(ast::ExprId id, const ast::Call& node);
  ir::ExprId Increment(const ast::IncDec& node);
  ir::ExprId Arithmetic(ast::BinaryOp op, ir::ExprId left, ir::ExprId right);
  ir::ExprId BoundOf(ast::ExprId id);  // `#p`
  ir::ExprId BoundOfEntity(sema::EntityId id);
  std::vector<ir::ExprId> Elements(ast::ExprId id);   // of a shape or tuple
  std::vector<ir::ExprId> ExtentsOf(ast::ExprId id);  // of a view or fragment
  ir::ExprId Convert(ir::ExprId e, Elem type);
  void Store(ast::ExprId target, ir::ExprId value);
  // Gives the value now: an expression over variables that may change becomes a `let`.
  ir::ExprId Freeze(ir::ExprId e, std::string_view name);
  bool MayChange(ir::ExprId e) const;

  // lower_view.cpp
  ir::View ViewOf(ast::ExprId id);
  ir::View MethodView(ast::ExprId id, const ast::MethodCall& node);
  ir::View Subspan(const ast::MethodCall& subspan, const std::vector<ast::ExprId>* steps,
                   const std::vector<ast::ExprId>* at);
  std::vector<ir::ExprId> Arguments(const std::vector<ast::ExprId>& args, const ir::View& view);
  std::vector<ir::ExprId> Offsets(const std::vector<ast::ExprId>& args);
  ir::View Window(const ast::MethodCall& view, const std::vector<ast::ExprId>* from);
  ir::View Chunk(const ast::MethodCall& node);
  ir::View SpanAs(ast::ExprId id, const ast::MethodCall& node);
  ir::View Element(const ir::View& base, const std::vector<ast::ExprId>& at);
  ir::View WholeStorage(ir::StorageId storage, ir::ExprId slot);
  void Advance(ir::View& view, size_t axis, ir::ExprId by);  // start += by · step
  ir::View FreezeView(ir::View view, std::string_view name);

  // helpers
  const ast::Expr& E(ast::ExprId id) const { return in_.file.exprs[id]; }
  const sema::Type& T(ast::ExprId id) const { return in_.sema.types[id]; }
  const sema::Entity& Ent(sema::EntityId id) const { return in_.sema.entities[id]; }
  const std::vector<sema::EntityId>& Declared(ast::StmtId id) const;
  bool IsWildcard(ast::ExprId id) const { return in_.file.As<ast::Wildcard>(id) != nullptr; }
  ir::VarId DeclareVar(sema::EntityId id, ir::VarKind kind);
  ir::ViewId AddView(ir::View view) { return kernel_.views.Add(std::move(view)); }
  ir::Loc LocOf(SourceRange range) const;
  ir::ExprId Constant(const sema::Extent& extent);
  template <class NodeT>
  void Emit(NodeT node) {
    out_->push_back({loc_, std::move(node)});
  }

  const Inputs& in_;
  ast::FunctionId function_;
  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  std::vector<ir::Op>* out_ = nullptr;
  ir::Loc loc_;
  SourceRange loc_range_;  // of the statement
  std::unordered_map<sema::EntityId, Binding> bindings_;
  std::unordered_map<sema::EntityId, ir::VarId> futures_;
  std::unordered_map<sema::EntityId, FutureTile> future_tiles_;
  std::map<ir::VarId, std::vector<ir::ExprId>> places_;  // what the variables of places hold
  std::vector<sema::EntityId> unsettled_uses_;           // in the order of their first
  std::vector<FunctionCall> calls_;
  std::optional<std::vector<lex::HostFunction>> host_functions_;
};

}  // namespace choreo::lower
