// Flattens structured ops into a list with jumps.
#include <type_traits>
#include <variant>

#include "sim/expr_compiler.h"
#include "sim/expr_ops.h"
#include "sim/op_states.h"
#include "sim/program.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

class OpCompiler {
 public:
  OpCompiler(const ir::Kernel& kernel, Program& program)
      : kernel_(kernel), program_(program), exprs_(kernel, program) {}

  void CompileRegion(const ir::Region& region) {
    for (const ir::Op& op : region.ops) {
      loc_ = op.loc;
      node_ = &op.node;
      std::visit([&](const auto& node) { Compile(node); }, op.node);
    }
  }
  ExprCompiler& exprs() { return exprs_; }

  void Finish() {
    node_ = nullptr;
    Add(Code::Exit, exprs_.BeginOp());
    exprs_.Finish();
  }

  // Ends the op whose expressions were compiled since `begin`.
  FlatOp& Add(Code code, uint32_t begin) {
    FlatOp op{};
    op.code = code;
    op.eval_begin = begin;
    op.eval_end = exprs_.EndOp();
    op.node = node_;
    op.loc = loc_;
    program_.ops.push_back(op);
    return program_.ops.back();
  }

 private:
  uint32_t Here() const { return static_cast<uint32_t>(program_.ops.size()); }
  void SetTarget(uint32_t op) { program_.ops[op].target = Here(); }
  uint32_t AddPlain(Code code) {
    Add(code, exprs_.BeginOp());
    return Here() - 1;
  }

  void Define(ir::VarId var, ir::ExprId value) {
    const uint32_t begin = exprs_.BeginOp();
    exprs_.CompileInto(value, program_.VarSlot(var));
    Add(Code::Eval, begin);
  }

  // ---- scalars and control flow ----
  void Compile(const ir::Let& op) { Define(op.var, op.value); }
  void Compile(const ir::VarDecl& op) { Define(op.var, op.init); }
  void Compile(const ir::Assign& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot value = exprs_.Compile(op.value);
    FlatOp& flat = Add(Code::Assign, begin);
    flat.slot[0] = program_.VarSlot(op.var);
    flat.slot[1] = value;
    flat.wide = SlotsOf(kernel_.vars[op.var].type) == 2;
  }
  void Compile(const ir::If& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot condition = exprs_.Compile(op.condition);
    Add(Code::If, begin).slot[0] = condition;
    const uint32_t if_op = Here() - 1;
    CompileRegion(op.then_body);
    SetTarget(if_op);
    const uint32_t else_op = AddPlain(Code::Else);
    CompileRegion(op.else_body);
    SetTarget(else_op);
    AddPlain(Code::EndIf);
  }
  void Compile(const ir::While& op) {
    AddPlain(Code::LoopBegin);
    const uint32_t test = Here();
    const uint32_t begin = exprs_.BeginOp();
    const Slot condition = exprs_.Compile(op.condition);
    Add(Code::LoopTest, begin).slot[0] = condition;
    CompileRegion(op.body);
    AddPlain(Code::LoopNext);
    program_.ops[AddPlain(Code::Jump)].target = test;
    SetTarget(test);
  }
  void Compile(const ir::For& op) {
    const ir::Loc loc = loc_;
    const ir::OpNode* node = node_;
    const Elem type = kernel_.vars[op.var].type;
    const Slot var = program_.VarSlot(op.var);
    const Slot high = exprs_.NewSlot(type);
    const Slot step = exprs_.NewSlot(type);
    uint32_t begin = exprs_.BeginOp();
    exprs_.CompileInto(op.high, high);
    exprs_.CompileInto(op.step, step);
    exprs_.CompileInto(op.low, var);
    Add(Code::Eval, begin);
    AddPlain(Code::LoopBegin);
    const uint32_t test = Here();
    begin = exprs_.BeginOp();
    Slot condition = kNoSlot;
    const auto* constant = std::get_if<ir::IntConst>(&kernel_.exprs[op.step].node);
    const auto compare = [&](ir::BinaryOp how, Slot a, Slot b) {
      return exprs_.Emit(BinaryFn(how, type), Elem::kBool, a, b);
    };
    if (constant != nullptr) {
      condition = compare(constant->value > 0 ? ir::BinaryOp::Lt : ir::BinaryOp::Gt, var, high);
    } else {
      const Slot up = compare(ir::BinaryOp::Gt, step, exprs_.Const(type, 0));
      const Slot below = compare(ir::BinaryOp::Lt, var, high);
      const Slot above = compare(ir::BinaryOp::Gt, var, high);
      condition = exprs_.Emit(SelectFn(Elem::kBool), Elem::kBool, up, below, above);
    }
    Add(Code::LoopTest, begin).slot[0] = condition;
    CompileRegion(op.body);
    loc_ = loc;
    node_ = node;
    AddPlain(Code::LoopNext);
    begin = exprs_.BeginOp();
    program_.instrs.push_back({BinaryFn(ir::BinaryOp::Add, type), var, var, step});
    Add(Code::Jump, begin).target = test;
    SetTarget(test);
  }
  void Compile(const ir::Break&) { AddPlain(Code::Break); }
  void Compile(const ir::Continue&) { AddPlain(Code::Continue); }
  void Compile(const ir::Return&) { AddPlain(Code::Return); }
  void Compile(const ir::Assert& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot condition = exprs_.Compile(op.condition);
    Add(Code::Assert, begin).slot[0] = condition;
  }
  void Compile(const ir::RawCpp&) { AddPlain(Code::Opaque); }
  void Compile(const ir::OpaqueCall&) { AddPlain(Code::Opaque); }

  // ---- fragments and memory ----
  void Compile(const ir::Decl& op) {
    const ir::StorageKind kind = kernel_.storages[op.storage].kind;
    if (kind != ir::StorageKind::Frag && kind != ir::StorageKind::Local) return;
    program_.ops[AddPlain(Code::Decl)].index = op.storage.value;
  }
  void SetElement(ir::StorageId storage, ir::ExprId index, ir::ExprId value) {
    const Elem elem = kernel_.storages[storage].elem;
    const uint32_t begin = exprs_.BeginOp();
    const Slot from = exprs_.Compile(value);
    const auto* constant = std::get_if<ir::IntConst>(&kernel_.exprs[index].node);
    Slot to = kNoSlot;
    if (constant == nullptr) {
      to = exprs_.CompileAs(index, Elem::kS32);
    } else {
      CHOREO_CHECK(constant->value >= 0 && constant->value < program_.elements[storage.value],
                   "element {} of `{}`", constant->value, kernel_.storages[storage].name);
      to = program_.ElementSlot(storage, constant->value);
    }
    FlatOp& flat = Add(constant == nullptr ? Code::FragSetAt : Code::FragSet, begin);
    flat.slot[0] = to;
    flat.slot[1] = from;
    flat.index = storage.value;
    flat.wide = SlotsOf(elem) == 2;
  }
  void Compile(const ir::FragSet& op) {
    CHOREO_CHECK(op.index.size() == 1, "a lowered fragment has one index");
    SetElement(op.frag, op.index[0], op.value);
  }
  bool IsLocal(ir::StorageId storage) const {
    return kernel_.storages[storage].kind == ir::StorageKind::Local;
  }
  void Compile(const ir::MemStore& op) {
    if (IsLocal(op.storage)) return SetElement(op.storage, op.index, op.value);
    const uint32_t begin = exprs_.BeginOp();
    const Slot index = exprs_.CompileAs(op.index, Elem::kS64);
    const Slot value = exprs_.Compile(op.value);
    FlatOp& flat = Add(Code::MemStore, begin);
    flat.slot[0] = index;
    flat.slot[1] = value;
    flat.index = op.storage.value;
  }
  void Compile(const ir::AtomicMem& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot index = exprs_.CompileAs(op.index, Elem::kS64);
    const Slot value = exprs_.Compile(op.value);
    FlatOp& flat = Add(Code::Atomic, begin);
    flat.slot[0] = index;
    flat.slot[1] = value;
    flat.slot[2] = op.var ? program_.VarSlot(op.var) : kNoSlot;
    flat.index = op.storage.value;
  }
  void Compile(const ir::StoreVec& op) {
    CHOREO_CHECK(!IsLocal(op.storage), "a vector store to a local array");
    const uint32_t begin = exprs_.BeginOp();
    const Slot index = exprs_.CompileAs(op.index, Elem::kS64);
    std::vector<Slot> values;
    for (ir::ExprId value : op.values) values.push_back(exprs_.Compile(value));
    FlatOp& flat = Add(Code::StoreVec, begin);
    flat.slot[0] = index;
    flat.index = static_cast<uint32_t>(program_.slot_lists.size());
    program_.slot_lists.insert(program_.slot_lists.end(), values.begin(), values.end());
  }
  template <class Copy>
  void CompileCopy(const Copy& op, Code code) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot dst = exprs_.CompileAs(op.dst_index, Elem::kS64);
    const Slot src = exprs_.CompileAs(op.src_index, Elem::kS64);
    Slot valid = kNoSlot;
    if constexpr (std::is_same_v<Copy, ir::CpAsync>) {
      if (op.valid_bytes.valid()) valid = exprs_.CompileAs(op.valid_bytes, Elem::kS32);
    }
    FlatOp& flat = Add(code, begin);
    flat.slot[0] = dst;
    flat.slot[1] = src;
    flat.slot[2] = valid;
  }
  void Compile(const ir::CopyVec& op) {
    if (IsLocal(op.dst) || IsLocal(op.src)) return CopyElements(op);
    CompileCopy(op, Code::CopyVec);
  }
  // Local arrays are registers: a copy to or from one is a move for each element.
  void CopyElements(const ir::CopyVec& op) {
    const Elem elem = kernel_.storages[op.dst].elem;
    const int32_t count = op.bytes / Bytes(elem);
    const auto at = [&](ir::ExprId index, ir::StorageId storage, int32_t i) {
      const Elem type = IsLocal(storage) ? Elem::kS32 : Elem::kS64;
      return exprs_.Emit(BinaryFn(ir::BinaryOp::Add, type), type, exprs_.CompileAs(index, type),
                         exprs_.Const(type, i));
    };
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t begin = exprs_.BeginOp();
      const Slot value = exprs_.ElementAt(op.src, at(op.src_index, op.src, i));
      const Slot index = at(op.dst_index, op.dst, i);
      FlatOp& flat = Add(IsLocal(op.dst) ? Code::FragSetAt : Code::MemStore, begin);
      flat.slot[0] = index;
      flat.slot[1] = value;
      flat.index = op.dst.value;
      flat.wide = SlotsOf(elem) == 2;
    }
  }
  void Compile(const ir::CpAsync& op) { CompileCopy(op, Code::CpAsync); }
  void Compile(const ir::FragPack& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot word = exprs_.CompileAs(op.word, Elem::kS32);
    const Slot low = exprs_.CompileAs(op.low, Elem::kF32);
    const Slot high = exprs_.CompileAs(op.high, Elem::kF32);
    FlatOp& flat = Add(Code::FragPack, begin);
    flat.slot[0] = word;
    flat.slot[1] = low;
    flat.slot[2] = high;
    flat.index = op.frag.value;
  }
  template <class Matrix>
  void CompileMatrix(const Matrix& op, Code code) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot index = exprs_.CompileAs(op.index, Elem::kS64);
    const Slot word = exprs_.CompileAs(op.word, Elem::kS32);
    FlatOp& flat = Add(code, begin);
    flat.slot[0] = index;
    flat.slot[1] = word;
  }
  void Compile(const ir::StMatrix& op) { CompileMatrix(op, Code::StMatrix); }
  void Compile(const ir::LdMatrix& op) { CompileMatrix(op, Code::LdMatrix); }

  // ---- synchronisation and MMAs ----
  void Compile(const ir::CpAsyncCommit&) { AddPlain(Code::CpAsyncCommit); }
  void Compile(const ir::CpAsyncWait&) { AddPlain(Code::CpAsyncWait); }
  void Compile(const ir::CtaBarrier&) { AddPlain(Code::CtaBarrier); }
  void Compile(const ir::ClusterBarrier&) { AddPlain(Code::ClusterBarrier); }
  // An op with one s32 operand.
  void CompileWith(Code code, ir::ExprId operand) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot value = exprs_.CompileAs(operand, Elem::kS32);
    Add(code, begin).slot[0] = value;
  }
  void Compile(const ir::NamedBarrierSync& op) { CompileWith(Code::NamedBarrier, op.id); }
  void Compile(const ir::NamedBarrierArrive& op) { CompileWith(Code::NamedBarrierArrive, op.id); }
  void CompileVote(Code code, ir::ExprId id, ir::ExprId value, ir::VarId var) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot barrier = id.valid() ? exprs_.CompileAs(id, Elem::kS32) : kNoSlot;
    const Slot mine = exprs_.Compile(value);
    FlatOp& flat = Add(code, begin);
    flat.slot[0] = barrier;
    flat.slot[1] = mine;
    flat.slot[2] = program_.VarSlot(var);
  }
  void Compile(const ir::Vote& op) { CompileVote(Code::Vote, {}, op.value, op.var); }
  void Compile(const ir::NamedBarrierVote& op) {
    CompileVote(Code::NamedBarrierVote, op.id, op.value, op.var);
  }
  void Compile(const ir::Sleep&) {}  // time is modelled elsewhere
  void Compile(const ir::SyncWarp&) { AddPlain(Code::SyncWarp); }
  void Compile(const ir::FenceProxyAsync&) { AddPlain(Code::FenceProxyAsync); }
  void Compile(const ir::WgmmaFence&) { AddPlain(Code::WgmmaFence); }
  void Compile(const ir::Wgmma& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot a = op.a_desc.valid() ? exprs_.Compile(op.a_desc) : kNoSlot;
    const Slot b = exprs_.Compile(op.b_desc);
    const Slot scale = op.scale_d.valid() ? exprs_.CompileAs(op.scale_d, Elem::kS32) : kNoSlot;
    FlatOp& flat = Add(Code::Wgmma, begin);
    flat.slot[0] = a;
    flat.slot[1] = b;
    flat.slot[2] = scale;
  }
  void Compile(const ir::WgmmaCommit&) { AddPlain(Code::WgmmaCommit); }
  void Compile(const ir::WgmmaWait&) { AddPlain(Code::WgmmaWait); }
  void Compile(const ir::FragTie&) {}
  void Compile(const ir::ErrorLatch&) { AddPlain(Code::ErrorLatch); }
  void Compile(const ir::SetMaxNReg&) { AddPlain(Code::SetMaxNReg); }
  void Compile(const ir::RoleBegin&) { AddPlain(Code::RoleBegin); }

  // ---- mbarriers and TMA ----
  void Compile(const ir::MbarrierInit&) { AddPlain(Code::MbarrierInit); }
  void Compile(const ir::FenceMbarrierInit&) { AddPlain(Code::FenceMbarrierInit); }
  void Compile(const ir::MbarrierArrive& op) { CompileWith(Code::MbarrierArrive, op.slot); }
  void Compile(const ir::MbarrierArriveCluster& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot slot = exprs_.CompileAs(op.slot, Elem::kS32);
    const Slot rank = exprs_.CompileAs(op.rank, Elem::kS32);
    FlatOp& flat = Add(Code::MbarrierArriveCluster, begin);
    flat.slot[0] = slot;
    flat.slot[1] = rank;
  }
  void Compile(const ir::MbarrierExpectTx& op) { CompileWith(Code::MbarrierExpectTx, op.slot); }
  void Compile(const ir::MbarrierWait& op) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot slot = exprs_.CompileAs(op.slot, Elem::kS32);
    const Slot parity = exprs_.CompileAs(op.parity, Elem::kS32);
    FlatOp& flat = Add(Code::MbarrierWait, begin);
    flat.slot[0] = slot;
    flat.slot[1] = parity;
  }
  // slot[0]: where the box lies; slot[1]: the mbarrier's slot; `index`: its coordinates.
  void CompileBox(Code code, ir::ExprId place, const std::vector<ir::ExprId>& at, ir::ExprId slot) {
    const uint32_t begin = exprs_.BeginOp();
    const Slot shared = exprs_.CompileAs(place, Elem::kS64);
    const Slot mbarrier = slot.valid() ? exprs_.CompileAs(slot, Elem::kS32) : kNoSlot;
    std::vector<Slot> coordinates;
    for (ir::ExprId coordinate : at) {
      coordinates.push_back(exprs_.CompileAs(coordinate, Elem::kS32));
    }
    FlatOp& flat = Add(code, begin);
    flat.slot[0] = shared;
    flat.slot[1] = mbarrier;
    flat.index = static_cast<uint32_t>(program_.slot_lists.size());
    program_.slot_lists.insert(program_.slot_lists.end(), coordinates.begin(), coordinates.end());
  }
  void Compile(const ir::TmaLoadBox& op) {
    CompileBox(Code::TmaLoad, op.dst_index, op.at, op.slot);
  }
  void Compile(const ir::TmaStoreBox& op) {
    CompileBox(Code::TmaStore, op.src_index, op.at, ir::ExprId());
  }
  void Compile(const ir::TmaStoreCommit&) { AddPlain(Code::TmaStoreCommit); }
  void Compile(const ir::TmaStoreWait&) { AddPlain(Code::TmaStoreWait); }

  // ---- tile state: never here ----
  template <class Other>
  void Compile(const Other&) {
    static_assert(kStatesOf<Other> == OpStates::Tile || std::is_same_v<Other, std::monostate>);
    CHOREO_UNREACHABLE("`{}` in a lowered kernel", ir::Name(*node_));
  }

  const ir::Kernel& kernel_;
  Program& program_;
  ExprCompiler exprs_;
  ir::Loc loc_;
  const ir::OpNode* node_ = nullptr;
};

}  // namespace

Program CompileBody(const ir::Kernel& kernel) {
  Program program;
  OpCompiler compiler(kernel, program);
  compiler.CompileRegion(kernel.body);
  compiler.Finish();
  return program;
}

HostProgram CompileHost(const ir::Kernel& kernel) {
  HostProgram host;
  OpCompiler compiler(kernel, host.program);
  compiler.CompileRegion(kernel.host.body);
  ExprCompiler& exprs = compiler.exprs();
  const uint32_t begin = exprs.BeginOp();
  // Each value is moved to a slot of its own: temporaries are numbered anew for every op.
  const auto keep = [&](ir::ExprId id, Elem elem) {
    const Slot slot = exprs.NewSlot(elem);
    if (!id.valid()) return exprs.Const(elem, 1);
    const Slot value = exprs.CompileAs(id, elem);
    host.program.instrs.push_back({MoveFn(elem), slot, value});
    return slot;
  };
  for (int axis = 0; axis < 3; ++axis) host.grid[axis] = keep(kernel.host.grid[axis], Elem::kS64);
  for (ir::ExprId bound : kernel.host.block_bounds) {
    host.block_bounds.push_back(keep(bound, Elem::kS64));
  }
  compiler.Add(Code::Eval, begin);
  compiler.Finish();
  return host;
}

}  // namespace choreo::sim
