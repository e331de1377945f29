#include "ir/walk.h"

#include <algorithm>

#include "ir/raw_text.h"
#include "support/check.h"

namespace choreo::ir {
namespace {

template <class OpT, class Visit>
void Regions(OpT& op, const Visit& visit) {
  VisitFields(op, [&](const char*, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, Region>) visit(field);
  });
}

template <class RegionT, class Visit>
void Walk(RegionT& region, const Visit& visit) {
  for (auto& op : region.ops) {
    visit(op);
    VisitRegions(op, [&](RegionT& inner) { Walk(inner, visit); });
  }
}

void Note(std::vector<StorageId>& list, StorageId id) {
  if (id && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

// Which storage fields of each op are written and which are read.
struct UseOfOp {
  const Kernel& kernel;
  StorageUse& use;

  void Read(StorageId id) { Note(use.reads, id); }
  void Write(StorageId id) { Note(use.writes, id); }
  void Read(ViewId id) {
    if (id) Read(kernel.views[id].storage);
  }
  void Write(ViewId id) {
    if (id) Write(kernel.views[id].storage);
  }
  const TensorMap& MapOf(int32_t map) const { return kernel.host.maps[static_cast<size_t>(map)]; }

  void operator()(const FragSet& op) { Write(op.frag); }
  void operator()(const OpaqueCall& op) {
    for (const StorageId frag : op.frags) Read(frag), Write(frag);
    ForEachAddress(op, [&](ExprId element, bool written) {
      if (written) Write(StorageOfElement(kernel, element));
    });
  }
  void operator()(const RawCpp& op) {
    for (size_t i = 0; i < kernel.storages.size(); ++i) {
      const StorageId id = kernel.storages.IdAt(i);
      if (Mentions(op.text, kernel.storages[id].name)) Read(id), Write(id);
    }
  }
  void operator()(const StoreElem& op) { Write(op.dest); }
  void operator()(const AtomicElem& op) { Read(op.dest), Write(op.dest); }
  void operator()(const CopySync& op) { Read(op.src), Write(op.dst); }
  void operator()(const FillTile& op) { Write(op.dst); }
  void operator()(const FragFill& op) { Write(op.frag); }
  void operator()(const FragCopy& op) { Read(op.src), Write(op.dst); }
  void operator()(const FragReduce& op) {
    Read(op.src), Write(op.row);
    if (op.reduce == ReduceKind::Max) Read(op.row);
  }
  void operator()(const Mma& op) {
    Read(op.a), Read(op.a_frag), Read(op.b), Read(op.acc), Write(op.acc);
  }
  void operator()(const MmaLoad& op) { Read(op.src), Write(op.frag); }
  void operator()(const MmaStore& op) { Read(op.frag), Write(op.dst); }
  void operator()(const CopyAsync& op) { Read(op.src), Write(op.dst); }
  void operator()(const TmaLoad& op) { Read(op.src), Write(op.dst); }
  void operator()(const TmaStore& op) { Read(op.src), Write(op.dst); }
  void operator()(const FragAllReduce& op) { Read(op.row), Write(op.row); }
  void operator()(const MemStore& op) { Write(op.storage); }
  void operator()(const AtomicMem& op) { Read(op.storage), Write(op.storage); }
  void operator()(const TmaLoadBox& op) {
    Read(kernel.params[static_cast<size_t>(MapOf(op.map).param)].storage), Write(op.dst);
  }
  void operator()(const TmaStoreBox& op) {
    Read(op.src), Write(kernel.params[static_cast<size_t>(MapOf(op.map).param)].storage);
  }
  void operator()(const StoreVec& op) { Write(op.storage); }
  void operator()(const CopyVec& op) { Read(op.src), Write(op.dst); }
  void operator()(const CpAsync& op) { Read(op.src), Write(op.dst); }
  void operator()(const Wgmma& op) { Read(op.a_frag), Read(op.acc), Write(op.acc); }
  void operator()(const FragTie& op) { Read(op.frag), Write(op.frag); }
  void operator()(const FragPack& op) { Write(op.frag); }
  void operator()(const StMatrix& op) { Read(op.frag), Write(op.dst); }
  void operator()(const LdMatrix& op) { Read(op.src), Write(op.frag); }
  // Ops whose storage use, if any, is in their expressions or regions.
  void operator()(const Let&) {}
  void operator()(const VarDecl&) {}
  void operator()(const Assign&) {}
  void operator()(const For&) {}
  void operator()(const While&) {}
  void operator()(const If&) {}
  void operator()(const Break&) {}
  void operator()(const Continue&) {}
  void operator()(const Return&) {}
  void operator()(const Decl&) {}
  void operator()(const SetMaxNReg&) {}
  void operator()(const Vote&) {}
  void operator()(const Sleep&) {}
  void operator()(const RoleBegin&) {}
  // Events are no memory that a program reads or writes.
  void operator()(const FutureWait&) {}
  void operator()(const FutureMove&) {}
  void operator()(const EventWait&) {}
  void operator()(const EventTrigger&) {}
  void operator()(const NamedBarrierArrive&) {}
  void operator()(const MbarrierInit&) {}
  void operator()(const FenceMbarrierInit&) {}
  void operator()(const MbarrierArrive&) {}
  void operator()(const MbarrierArriveCluster&) {}
  void operator()(const MbarrierExpectTx&) {}
  void operator()(const MbarrierWait&) {}
  void operator()(const TmaStoreCommit&) {}
  void operator()(const TmaStoreWait&) {}
  void operator()(const Parallel&) {}
  void operator()(const InThreads&) {}
  void operator()(const Assert&) {}
  void operator()(const Apply&) {}
  void operator()(const SyncShared&) {}
  void operator()(const CpAsyncCommit&) {}
  void operator()(const CpAsyncWait&) {}
  void operator()(const CtaBarrier&) {}
  void operator()(const ClusterBarrier&) {}
  void operator()(const NamedBarrierSync&) {}
  void operator()(const NamedBarrierVote&) {}
  void operator()(const SyncWarp&) {}
  void operator()(const FenceProxyAsync&) {}
  void operator()(const WgmmaFence&) {}
  void operator()(const WgmmaCommit&) {}
  void operator()(const WgmmaWait&) {}
  void operator()(const ErrorLatch&) {}
  void operator()(const std::monostate&) {}
};

void AddDirectUse(const Kernel& kernel, const Op& op, StorageUse& use) {
  std::visit(UseOfOp{kernel, use}, op.node);
  ForEachExpr(kernel, op, [&](ExprId root) {
    ForEachSubExpr(kernel, root, [&](ExprId id) {
      const ExprNode& node = kernel.exprs[id].node;
      if (const auto* frag = std::get_if<FragElem>(&node)) Note(use.reads, frag->frag);
      if (const auto* mem = std::get_if<MemElem>(&node)) Note(use.reads, mem->storage);
      if (const auto* desc = std::get_if<SmemDesc>(&node)) Note(use.reads, desc->storage);
      if (const auto* elem = std::get_if<ViewElem>(&node)) {
        Note(use.reads, kernel.views[elem->view].storage);
      }
    });
  });
}

}  // namespace

void VisitRegions(const Op& op, const std::function<void(const Region&)>& visit) {
  Regions(op, visit);
}
void VisitRegions(Op& op, const std::function<void(Region&)>& visit) { Regions(op, visit); }

bool IsRole(const Op& op) {
  const auto* branch = std::get_if<If>(&op.node);
  return branch != nullptr && !branch->then_body.ops.empty() &&
         std::holds_alternative<RoleBegin>(branch->then_body.ops[0].node);
}

void ForEachOp(const Region& region, const std::function<void(const Op&)>& visit) {
  Walk(region, visit);
}
void ForEachOp(Region& region, const std::function<void(Op&)>& visit) { Walk(region, visit); }
void ForEachOp(const Op& op, const std::function<void(const Op&)>& visit) {
  visit(op);
  VisitRegions(op, [&](const Region& inner) { Walk(inner, visit); });
}

void ForEachExpr(const View& view, const std::function<void(ExprId)>& visit) {
  const auto call = [&](ExprId id) {
    if (id) visit(id);
  };
  call(view.slot);
  call(view.base_offset);
  for (const ExprId id : view.base_extents) call(id);
  for (const ExprId id : view.start) call(id);
  for (const View::Axis& axis : view.axes) {
    call(axis.extent);
    call(axis.step);
  }
}

void ForEachExpr(const Kernel& kernel, const Op& op, const std::function<void(ExprId)>& visit) {
  VisitFields(op, [&](const char*, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, ExprId>) {
      if (field) visit(field);
    } else if constexpr (std::is_same_v<Field, std::vector<ExprId>>) {
      for (const ExprId id : field) visit(id);
    } else if constexpr (std::is_same_v<Field, ViewId>) {
      if (field) ForEachExpr(kernel.views[field], visit);
    }
  });
}

StorageId StorageOfElement(const Kernel& kernel, ExprId element) {
  const ExprNode& node = kernel.exprs[element].node;
  if (const auto* view = std::get_if<ViewElem>(&node)) return kernel.views[view->view].storage;
  const auto* memory = std::get_if<MemElem>(&node);
  CHOREO_CHECK(memory != nullptr, "an address of what is no element");
  return memory->storage;
}

void ForEachAddress(const OpaqueCall& op, const std::function<void(ExprId, bool)>& visit) {
  size_t value = 0;
  for (const char kind : op.kinds) {
    if (kind == 'p' || kind == 'c') visit(op.values[value], kind == 'p');
    if (kind != 'f') ++value;
  }
}

void ForEachOperand(const Kernel& kernel, ExprId id, const std::function<void(ExprId)>& visit) {
  struct Visitor {
    const Kernel& kernel;
    const std::function<void(ExprId)>& visit;
    void operator()(const IntConst&) {}
    void operator()(const FloatConst&) {}
    void operator()(const VarRef&) {}
    void operator()(const Unary& e) { visit(e.operand); }
    void operator()(const Binary& e) { visit(e.left), visit(e.right); }
    void operator()(const Select& e) {
      visit(e.condition), visit(e.then_value), visit(e.else_value);
    }
    void operator()(const Cast& e) { visit(e.operand); }
    void operator()(const Call& e) {
      for (const ExprId arg : e.args) visit(arg);
    }
    void operator()(const FragElem& e) {
      for (const ExprId index : e.index) visit(index);
    }
    void operator()(const ViewElem& e) { ForEachExpr(kernel.views[e.view], visit); }
    void operator()(const MemElem& e) { visit(e.index); }
    void operator()(const SmemDesc& e) { visit(e.byte_offset); }
  };
  std::visit(Visitor{kernel, visit}, kernel.exprs[id].node);
}

void ForEachSubExpr(const Kernel& kernel, ExprId root, const std::function<void(ExprId)>& visit) {
  visit(root);
  ForEachOperand(kernel, root, [&](ExprId id) { ForEachSubExpr(kernel, id, visit); });
}

void ForEachConjunct(const Kernel& kernel, ExprId condition,
                     const std::function<void(ExprId)>& visit) {
  const auto* binary = std::get_if<Binary>(&kernel.exprs[condition].node);
  if (binary == nullptr || binary->op != BinaryOp::And) {
    visit(condition);
    return;
  }
  ForEachConjunct(kernel, binary->left, visit);
  ForEachConjunct(kernel, binary->right, visit);
}

StorageUse DirectStorageUse(const Kernel& kernel, const Op& op) {
  StorageUse use;
  AddDirectUse(kernel, op, use);
  return use;
}

StorageUse AllStorageUse(const Kernel& kernel, const Region& region) {
  StorageUse use;
  ForEachOp(region, [&](const Op& op) { AddDirectUse(kernel, op, use); });
  return use;
}
StorageUse AllStorageUse(const Kernel& kernel, const Op& op) {
  StorageUse use;
  ForEachOp(op, [&](const Op& inner) { AddDirectUse(kernel, inner, use); });
  return use;
}

}  // namespace choreo::ir
