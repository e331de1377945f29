// The verifier's parts: expressions, tables, ops. Internal to ir.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "ir/verifier.h"

namespace choreo::ir {

class KernelVerifier {
 public:
  KernelVerifier(const Module& module, int kernel_index, std::vector<Violation>& out)
      : module_(module),
        kernel_(module.kernels[kernel_index]),
        kernel_index_(kernel_index),
        out_(out) {}

  void Run();

 private:
  static constexpr size_t kMaxViolations = 30;

  template <class... Args>
  void Report(fmt::format_string<Args...> format, Args&&... args) {
    if (out_.size() >= kMaxViolations) return;
    out_.push_back({kernel_index_, op_ordinal_, op_loc_,
                    op_name_ + fmt::format(format, std::forward<Args>(args)...)});
  }
  bool IsTile() const { return module_.state == State::Tile; }
  bool IsLowered() const { return module_.state == State::Lowered; }

  // ---- expressions (verify_expr.cpp) ----
  // Ids, types and scopes of a whole tree; false: something was reported and `id` must not be used.
  bool CheckExpr(ExprId id, ViewId inside = {});
  bool CheckNode(ExprId id, const Expr& expr, ViewId inside);
  bool CheckUnary(const Unary& e);
  bool CheckBinary(const Binary& e);
  bool CheckCall(const Call& e);
  bool CheckIndex(const Storage& storage, const std::vector<ExprId>& index);
  // A memory access of `count` elements at `index`.
  bool CheckMemory(StorageId id, ExprId index, int64_t count);
  bool CheckDescriptor(const SmemDesc& e);
  // Reports unless the expression has the type; also the tree itself, where it is given.
  bool Typed(ExprId id, Elem type, std::string_view what);
  bool TypedOrNone(ExprId id, Elem type, std::string_view what) {
    return !id || Typed(id, type, what);
  }
  bool CheckList(const std::vector<ExprId>& ids, Elem type, std::string_view what);
  Elem TypeOf(ExprId id) const { return kernel_.exprs[id].type; }
  std::optional<int64_t> Constant(ExprId id) const { return AsInt(kernel_, id); }
  std::string Text(ExprId id) const;

  // ---- tables (verify_tables.cpp) ----
  void CheckTables();
  void CheckStorage(StorageId id);
  void CheckShared(const Storage& storage);
  void CheckSlotNames(const Storage& storage);
  void CheckEvent(const Storage& storage);
  void CheckMaps();
  void CheckView(ViewId id);
  void CheckParams();
  void CheckLaunchVars();
  void CheckHost();

  // ---- ids and scopes ----
  bool ValidVar(VarId id);
  bool ValidStorage(StorageId id);
  bool ValidView(ViewId id);
  bool InScope(VarId id);
  // A fragment or local array is used only where its Decl is in scope.
  bool Alive(StorageId id);
  void Define(VarId id, std::initializer_list<VarKind> kinds);
  struct Mark {
    size_t vars, storages;
  };
  Mark Enter() const { return {scope_vars_.size(), scope_storages_.size()}; }
  void Leave(Mark mark);

  // ---- ops (verify_ops.cpp) ----
  void CheckRegion(const Region& region);
  void CheckOp(const Op& op);
  bool AllowedHere(const Op& op);
  bool IsFrag(StorageId id, std::string_view what);
  bool IsShared(StorageId id, std::string_view what);
  bool IsConstantDims(const Storage& storage) const;
  void Scoped(const Region& region, std::initializer_list<VarId> vars, VarKind kind);

  void Check(const Let& op);
  void Check(const VarDecl& op);
  void Check(const Assign& op);
  void Check(const For& op);
  void Check(const While& op);
  void Check(const If& op);
  void Check(const Break& op);
  void Check(const Continue& op);
  void Check(const Return&) {}
  void Check(const Decl& op);
  void Check(const FragSet& op);
  void Check(const RawCpp&) {}
  void Check(const OpaqueCall& op);
  void Check(const Parallel& op);
  void Check(const InThreads& op);
  void Check(const Assert& op);
  void Check(const StoreElem& op);
  void CheckAtomic(VarId var, StorageId storage, ExprId value);
  void Check(const AtomicElem& op);
  void Check(const Apply& op);
  void Check(const CopySync& op);
  void Check(const FillTile& op);
  void Check(const FragFill& op);
  void Check(const FragCopy& op);
  void Check(const FragReduce& op);
  void Check(const Mma& op);
  void Check(const MmaLoad& op);
  void Check(const MmaStore& op);
  void Check(const SyncShared&) {}
  void Check(const CopyAsync& op);
  void Check(const TmaLoad& op);
  void Check(const TmaStore& op);
  void Check(const FutureWait& op);
  void Check(const FutureMove& op);
  void Check(const EventWait& op);
  void Check(const EventTrigger& op);
  void Check(const FragAllReduce& op);
  void Check(const SetMaxNReg& op);
  void Check(const RoleBegin& op);
  void Check(const MemStore& op);
  void Check(const AtomicMem& op);
  void Check(const StoreVec& op);
  void Check(const CopyVec& op);
  void Check(const CpAsync& op);
  void Check(const CpAsyncCommit&) {}
  void Check(const CpAsyncWait& op);
  void Check(const CtaBarrier&) {}
  void Check(const ClusterBarrier&) { NeedCluster(); }
  void CheckVote(VarId var, ExprId value);
  void Check(const Vote& op);
  void Check(const NamedBarrierVote& op);
  void Check(const NamedBarrierSync& op);
  void Check(const NamedBarrierArrive& op);
  void Check(const SyncWarp&) {}
  void Check(const Sleep& op);
  void Check(const MbarrierInit& op);
  void Check(const FenceMbarrierInit&) {}
  void Check(const MbarrierArrive& op);
  void Check(const MbarrierArriveCluster& op);
  void Check(const MbarrierExpectTx& op);
  void Check(const MbarrierWait& op);
  void Check(const TmaLoadBox& op);
  void Check(const TmaStoreBox& op);
  void Check(const TmaStoreCommit&) {}
  void Check(const TmaStoreWait& op);
  void Check(const FenceProxyAsync&) {}
  void Check(const WgmmaFence&) {}
  void Check(const Wgmma& op);
  void Check(const WgmmaCommit&) {}
  void Check(const WgmmaWait& op);
  void Check(const FragTie& op);
  void Check(const FragPack& op);
  void Check(const StMatrix& op);
  void Check(const LdMatrix& op);
  void Check(const ErrorLatch& op);
  void Check(const std::monostate&) { Report("an op without a kind"); }
  bool IsEvent(StorageId id);
  bool IsFuture(VarId id);
  void CheckOrder(StorageId event, ExprId order);
  void CheckCopyViews(ViewId src, ViewId dst, int32_t swizzle);
  void CheckSlot(StorageId event, ExprId slot);
  void NeedCluster();
  void CheckBarrier(ExprId id, int32_t threads);
  void CheckBox(int32_t map, const std::vector<ExprId>& at, StorageId shared, ExprId index);
  void CheckMatrix(StorageId memory, ExprId index, StorageId frag, ExprId word, int32_t count);

  const Module& module_;
  const Kernel& kernel_;
  int kernel_index_;
  std::vector<Violation>& out_;
  int op_ordinal_ = -1;
  int next_ordinal_ = 0;
  Loc op_loc_;
  std::string op_name_;
  bool in_host_ = false;
  int loops_ = 0;
  int depth_ = 0;
  int64_t groups_ = 1;  // by the parallels around, inside a CTA
  std::vector<char> var_in_scope_;
  std::vector<char> storage_alive_;
  std::vector<VarId> scope_vars_;  // in order of definition
  std::vector<StorageId> scope_storages_;
};

}  // namespace choreo::ir
