// The verifier's rules for ops of both states and of tile state.
#include <algorithm>

#include "ir/verifier_impl.h"

namespace choreo::ir {

bool KernelVerifier::IsFrag(StorageId id, std::string_view what) {
  if (!Alive(id)) return false;
  if (kernel_.storages[id].kind == StorageKind::Frag) return true;
  Report("{} `{}` is no fragment", what, kernel_.storages[id].name);
  return false;
}

bool KernelVerifier::IsShared(StorageId id, std::string_view what) {
  if (!ValidStorage(id)) return false;
  if (kernel_.storages[id].kind == StorageKind::Shared) return true;
  Report("{} `{}` is not in shared memory", what, kernel_.storages[id].name);
  return false;
}

void KernelVerifier::Check(const Let& op) {
  if (ValidVar(op.var)) Typed(op.value, kernel_.vars[op.var].type, "the value");
  Define(op.var, {VarKind::Let, VarKind::Parallel, VarKind::Loop, VarKind::Element});
}

void KernelVerifier::CheckVote(VarId var, ExprId value) {
  if (ValidVar(var) && kernel_.vars[var].type != Elem::kBool) Report("the result is not bool");
  Typed(value, Elem::kBool, "the value");
  Define(var, {VarKind::Let});
}

void KernelVerifier::Check(const Vote& op) {
  CheckVote(op.var, op.value);
  if (op.threads != 32 && (IsLowered() || op.threads != 128)) {
    Report("a vote of {} threads: 32{}", op.threads, IsLowered() ? "" : " or 128");
  }
}

void KernelVerifier::Check(const VarDecl& op) {
  if (ValidVar(op.var)) Typed(op.init, kernel_.vars[op.var].type, "the initial value");
  Define(op.var, {VarKind::Mutable});
}

void KernelVerifier::Check(const Assign& op) {
  if (!ValidVar(op.var) || !InScope(op.var)) return;
  const Var& var = kernel_.vars[op.var];
  if (var.kind != VarKind::Mutable) Report("`{}` is not mutable", var.name);
  Typed(op.value, var.type, "the value");
}

void KernelVerifier::Scoped(const Region& region, std::initializer_list<VarId> vars, VarKind kind) {
  const Mark mark = Enter();
  for (const VarId var : vars) Define(var, {kind});
  CheckRegion(region);
  Leave(mark);
}

void KernelVerifier::Check(const For& op) {
  if (!ValidVar(op.var)) return;
  const Elem type = kernel_.vars[op.var].type;
  if (!IsInteger(type)) Report("a loop variable of type {}", Spelling(type));
  Typed(op.low, type, "the start");
  Typed(op.high, type, "the end");
  if (Typed(op.step, type, "the step") && Constant(op.step) == 0) Report("a step of 0");
  if (op.unroll < -1) Report("unroll {}", op.unroll);
  ++loops_;
  Scoped(op.body, {op.var}, VarKind::Loop);
  --loops_;
}

void KernelVerifier::Check(const While& op) {
  Typed(op.condition, Elem::kBool, "the condition");
  ++loops_;
  Scoped(op.body, {}, VarKind::Let);
  --loops_;
}

void KernelVerifier::Check(const If& op) {
  Typed(op.condition, Elem::kBool, "the condition");
  Scoped(op.then_body, {}, VarKind::Let);
  Scoped(op.else_body, {}, VarKind::Let);
}

void KernelVerifier::Check(const Break&) {
  if (loops_ == 0) Report("no loop around it");
}
void KernelVerifier::Check(const Continue&) {
  if (loops_ == 0) Report("no loop around it");
}

void KernelVerifier::Check(const Decl& op) {
  if (!ValidStorage(op.storage)) return;
  if (kernel_.storages[op.storage].kind == StorageKind::Param) Report("a parameter is declared");
  if (storage_alive_[op.storage.value] != 0) {
    Report("`{}` is declared where it is alive already", kernel_.storages[op.storage].name);
    return;
  }
  storage_alive_[op.storage.value] = 1;
  scope_storages_.push_back(op.storage);
}

void KernelVerifier::Check(const FragSet& op) {
  if (!IsFrag(op.frag, "the destination")) return;
  const Storage& storage = kernel_.storages[op.frag];
  CheckIndex(storage, op.index);
  Typed(op.value, storage.elem, "the value");
}

void KernelVerifier::Check(const OpaqueCall& op) {
  size_t values = 0, frags = 0;
  for (const char kind : op.kinds) {
    if (kind == 'f') {
      ++frags;
      continue;
    }
    if (kind != 'v' && kind != 'p' && kind != 'c') return Report("an argument of kind `{}`", kind);
    if (++values > op.values.size() || kind == 'v') continue;
    const ExprNode& node = kernel_.exprs[op.values[values - 1]].node;
    if (!std::holds_alternative<ViewElem>(node) && !std::holds_alternative<MemElem>(node)) {
      Report("value {} is no element, so it has no address", values - 1);
    }
  }
  if (values != op.values.size() || frags != op.frags.size()) {
    Report("{} values and {} fragments, where `kinds` names {} and {}", op.values.size(),
           op.frags.size(), values, frags);
  }
  for (const StorageId frag : op.frags) IsFrag(frag, "an argument");
}

void KernelVerifier::Check(const Parallel& op) {
  if (op.vars.size() != op.bounds.size()) {
    Report("{} variables and {} bounds", op.vars.size(), op.bounds.size());
  }
  if (op.level == Level::Block) Report("blocks are the host part's, not a level inside the CTA");
  if (op.vars.empty()) Report("a parallel without variables");
  constexpr int64_t kMostThreads = 1024;  // of a CTA
  const int64_t size = op.level == Level::Warpgroup ? 128 : op.level == Level::Warp ? 32 : 1;
  const int64_t groups = groups_;
  for (const ExprId bound : op.bounds) {
    if (!Typed(bound, Elem::kS32, "a bound")) continue;
    const auto value = AsInt(kernel_, bound);
    if (!value || *value < 1) {
      Report("the bound of a level inside the CTA is no positive constant");
    } else {
      groups_ = std::min(groups_ * *value, kMostThreads + 1);
    }
  }
  if (groups_ * size > kMostThreads) Report("more than {} threads", kMostThreads);
  const int loops = std::exchange(loops_, 0);
  const Mark mark = Enter();
  for (const VarId var : op.vars) {
    if (var) Define(var, {VarKind::Parallel});
  }
  CheckRegion(op.body);
  Leave(mark);
  loops_ = loops;
  groups_ = groups;
}

void KernelVerifier::Check(const InThreads& op) {
  Typed(op.predicate, Elem::kBool, "the predicate");
  Scoped(op.body, {}, VarKind::Let);
}

void KernelVerifier::Check(const Assert& op) { Typed(op.condition, Elem::kBool, "the condition"); }

void KernelVerifier::Check(const StoreElem& op) {
  if (!ValidView(op.dest)) return;
  const View& view = kernel_.views[op.dest];
  if (!view.axes.empty()) Report("a store to view #{}, which has axes", op.dest.value);
  if (Alive(view.storage)) Typed(op.value, kernel_.storages[view.storage].elem, "the value");
}

void KernelVerifier::CheckAtomic(VarId var, StorageId id, ExprId value) {
  const Storage& storage = kernel_.storages[id];
  if (storage.kind != StorageKind::Param && storage.kind != StorageKind::Shared) {
    Report("`{}` is neither a parameter nor in shared memory", storage.name);
  }
  if (storage.elem != Elem::kS32 && storage.elem != Elem::kU32 && storage.elem != Elem::kU64) {
    Report("an atomic operation on elements of type {}", Spelling(storage.elem));
  }
  Typed(value, storage.elem, "the value");
  if (!var) return;
  if (ValidVar(var) && kernel_.vars[var].type != storage.elem) {
    Report("the result is not of the element's type");
  }
  Define(var, {VarKind::Let});
}

void KernelVerifier::Check(const AtomicElem& op) {
  if (!ValidView(op.dest)) return;
  const View& view = kernel_.views[op.dest];
  if (!view.axes.empty()) Report("view #{} has axes", op.dest.value);
  if (Alive(view.storage)) CheckAtomic(op.var, view.storage, op.value);
}

void KernelVerifier::Check(const Apply& op) {
  if (!IsFrag(op.frag, "`frag`")) return;
  if (op.vars.size() != kernel_.storages[op.frag].dims.size()) {
    Report("{} variables for {} axes", op.vars.size(), kernel_.storages[op.frag].dims.size());
  }
  const int loops = std::exchange(loops_, 0);
  const Mark mark = Enter();
  for (const VarId var : op.vars) Define(var, {VarKind::Element});
  CheckRegion(op.body);
  Leave(mark);
  loops_ = loops;
}

void KernelVerifier::Check(const CopySync& op) { CheckCopyViews(op.src, op.dst, op.swizzle); }

void KernelVerifier::CheckCopyViews(ViewId src_id, ViewId dst_id, int32_t swizzle) {
  if (!ValidView(src_id) || !ValidView(dst_id)) return;
  const View& src = kernel_.views[src_id];
  const View& dst = kernel_.views[dst_id];
  if (!Alive(src.storage) || !Alive(dst.storage)) return;
  if (kernel_.storages[src.storage].elem != kernel_.storages[dst.storage].elem) {
    Report("a copy between element types");
  }
  if (src.axes.size() != dst.axes.size()) {
    Report("a copy of {} axes to {} axes", src.axes.size(), dst.axes.size());
  }
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) {
    Report("swizzle {}", swizzle);
  }
}

// ---- asynchronous operations ----

bool KernelVerifier::IsFuture(VarId id) {
  if (!ValidVar(id)) return false;
  if (kernel_.vars[id].kind == VarKind::Future) return true;
  Report("`{}` is no future", kernel_.vars[id].name);
  return false;
}

bool KernelVerifier::IsEvent(StorageId id) {
  if (!ValidStorage(id)) return false;
  if (kernel_.storages[id].kind == StorageKind::Event) return true;
  Report("`{}` is no event", kernel_.storages[id].name);
  return false;
}

void KernelVerifier::CheckOrder(StorageId event, ExprId order) {
  if (!IsEvent(event)) return;
  const bool ring = kernel_.storages[event].array_size > 0;
  if (ring != order.valid()) {
    Report("`{}` {}", kernel_.storages[event].name,
           ring ? "is a ring and needs an order" : "is no ring and has no order");
    return;
  }
  if (order && CheckExpr(order) && !IsInteger(TypeOf(order))) Report("an order that is no integer");
}

void KernelVerifier::Check(const CopyAsync& op) {
  IsFuture(op.future);
  CheckCopyViews(op.src, op.dst, op.swizzle);
}

void KernelVerifier::Check(const TmaLoad& op) {
  if (op.future) IsFuture(op.future);  // without one it completes at once
  CheckCopyViews(op.src, op.dst, op.swizzle);
  if (ValidView(op.src) && ValidView(op.dst)) {
    IsShared(kernel_.views[op.dst].storage, "the destination");
    if (kernel_.storages[kernel_.views[op.src].storage].kind != StorageKind::Param) {
      Report("the source is no parameter");
    }
  }
}

void KernelVerifier::Check(const TmaStore& op) {
  CheckCopyViews(op.src, op.dst, 0);
  if (ValidView(op.src) && ValidView(op.dst)) {
    IsShared(kernel_.views[op.src].storage, "the source");
    if (kernel_.storages[kernel_.views[op.dst].storage].kind != StorageKind::Param) {
      Report("the destination is no parameter");
    }
  }
}

void KernelVerifier::Check(const FutureWait& op) {
  if (op.futures.empty()) Report("no future to wait for");
  for (const VarId future : op.futures) IsFuture(future);
}

void KernelVerifier::Check(const FutureMove& op) {
  IsFuture(op.dst);
  IsFuture(op.src);
}

void KernelVerifier::Check(const EventWait& op) { CheckOrder(op.event, op.order); }

void KernelVerifier::Check(const EventTrigger& op) {
  CheckOrder(op.event, op.order);
  for (const VarId future : op.futures) IsFuture(future);
}

void KernelVerifier::Check(const FragAllReduce& op) {
  if (IsFrag(op.row, "`row`") && kernel_.storages[op.row].dims.size() != 1) {
    Report("`{}` has more than one axis", kernel_.storages[op.row].name);
  }
}

void KernelVerifier::Check(const SetMaxNReg& op) {
  if (op.count < 24 || op.count > 256 || op.count % 8 != 0) {
    Report("{} registers: 24 to 256 by 8", op.count);
  }
}

void KernelVerifier::Check(const RoleBegin& op) {
  if (op.first_thread < 0 || op.threads < 1 || op.first_thread + op.threads > 1024) {
    Report("threads {} to {}", op.first_thread, op.first_thread + op.threads - 1);
  }
}

void KernelVerifier::Check(const FillTile& op) {
  if (!ValidView(op.dst)) return;
  const StorageId dst = kernel_.views[op.dst].storage;
  if (Alive(dst)) Typed(op.value, kernel_.storages[dst].elem, "the value");
}

void KernelVerifier::Check(const FragFill& op) {
  if (IsFrag(op.frag, "`frag`")) Typed(op.value, kernel_.storages[op.frag].elem, "the value");
}

void KernelVerifier::Check(const FragCopy& op) {
  if (!IsFrag(op.dst, "`dst`") || !IsFrag(op.src, "`src`")) return;
  const Storage& dst = kernel_.storages[op.dst];
  const Storage& src = kernel_.storages[op.src];
  const bool same_dims =
      std::equal(dst.dims.begin(), dst.dims.end(), src.dims.begin(), src.dims.end(),
                 [&](ExprId a, ExprId b) { return Constant(a) == Constant(b); });
  if (!same_dims || dst.elem != src.elem) {
    Report("`{}` and `{}` differ in shape or type", dst.name, src.name);
  }
}

void KernelVerifier::Check(const FragReduce& op) {
  if (!IsFrag(op.row, "`row`") || !IsFrag(op.src, "`src`")) return;
  const Storage& row = kernel_.storages[op.row];
  const Storage& src = kernel_.storages[op.src];
  if (row.dims.size() != 1 || src.dims.size() != 2 || row.elem != src.elem ||
      Constant(row.dims[0]) != Constant(src.dims[0])) {
    Report("`{}` is no row of `{}`", row.name, src.name);
  }
}

void KernelVerifier::Check(const Mma& op) {
  if (!IsFrag(op.acc, "the accumulator")) return;
  const Storage& acc = kernel_.storages[op.acc];
  if (acc.elem != Elem::kF32 || acc.dims.size() != 2) {
    Report("accumulator `{}` is no f32 tile", acc.name);
  }
  if (op.a.valid() == op.a_frag.valid()) Report("A is a view or a fragment, one of the two");
  if (!ValidView(op.b) || (op.a && !ValidView(op.a))) return;
  if (op.a_frag && !IsFrag(op.a_frag, "A")) return;
  const StorageId a = op.a ? kernel_.views[op.a].storage : op.a_frag;
  const StorageId b = kernel_.views[op.b].storage;
  if (!ValidStorage(a) || !ValidStorage(b)) return;
  const Elem elem = kernel_.storages[a].elem;
  if (!IsHalf(elem) || elem != kernel_.storages[b].elem) {
    Report("operands of types {} and {}", Spelling(elem), Spelling(kernel_.storages[b].elem));
  }
  if (op.future) IsFuture(op.future);
  const View& b_view = kernel_.views[op.b];
  if (b_view.axes.size() != 2) return Report("operand B has {} axes", b_view.axes.size());
  const auto columns = Constant(b_view.axes[op.b_row ? 0 : 1].extent);
  const auto depth = Constant(b_view.axes[op.b_row ? 1 : 0].extent);
  if (!columns || *columns < 8 || *columns > 256 || *columns % 8 != 0) {
    Report("the columns of B are no multiple of 8 up to 256");
  }
  if (!depth || *depth < 16 || *depth % 16 != 0) Report("the depth of B is no multiple of 16");
  std::vector<int32_t> order = op.k_order;
  std::sort(order.begin(), order.end());
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int32_t>(i)) {
      Report("k_order is no permutation");
      break;
    }
  }
}

void KernelVerifier::Check(const MmaLoad& op) {
  if (!IsFrag(op.frag, "`frag`") || !ValidView(op.src)) return;
  const StorageId src = kernel_.views[op.src].storage;
  const Elem elem = kernel_.storages[op.frag].elem;
  if (IsShared(src, "the source") && (!IsHalf(elem) || elem != kernel_.storages[src].elem)) {
    Report("fragment and source are not of one 16-bit type");
  }
}

void KernelVerifier::Check(const MmaStore& op) {
  if (!IsFrag(op.frag, "`frag`") || !ValidView(op.dst)) return;
  const View& dst = kernel_.views[op.dst];
  Alive(dst.storage);
  if (dst.axes.size() != kernel_.storages[op.frag].dims.size()) {
    Report("a fragment of {} axes stored to {}", kernel_.storages[op.frag].dims.size(),
           dst.axes.size());
  }
}

}  // namespace choreo::ir
