// A warp, op by op: masks and control flow, dispatch.
#include <algorithm>

#include "sim/cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

uint32_t TrueLanes(const Warp& w, Slot slot) {
  const int32_t* c = w.regs.At<int32_t>(slot);
  uint32_t lanes = 0;
  for (int l = 0; l < kLanes; ++l) lanes |= static_cast<uint32_t>(c[l] != 0) << l;
  return lanes;
}

template <class T>
void Blend(Warp& w, Slot to, Slot from, uint32_t lanes) {
  const T* a = w.regs.At<T>(from);
  T* d = w.regs.At<T>(to);
  if (lanes == kAllLanes) {
    std::copy(a, a + kLanes, d);
  } else {
    for (int l = 0; l < kLanes; ++l) {
      if ((lanes >> l) & 1u) d[l] = a[l];
    }
  }
  w.regs.poison[to] = (w.regs.poison[to] & ~lanes) | (w.regs.poison[from] & lanes);
}
void Blend(Warp& w, const FlatOp& op, Slot to, uint32_t lanes) {
  // Registers are moved as bits; the type does not matter.
  if (op.wide) {
    Blend<uint64_t>(w, to, op.slot[1], lanes);
  } else {
    Blend<uint32_t>(w, to, op.slot[1], lanes);
  }
}

void SetIndexed(Warp& w, const FlatOp& op) {
  const int32_t* index = w.regs.At<int32_t>(op.slot[0]);
  const int32_t count = w.cta->program().elements[op.index];
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an index");
  while (lanes != 0) {
    const auto first = static_cast<uint32_t>(__builtin_ctz(lanes));
    const int32_t element = index[first];
    uint32_t same = 0;
    for (uint32_t l = 0; l < kLanes; ++l) same |= static_cast<uint32_t>(index[l] == element) << l;
    same &= lanes;
    lanes &= ~same;
    if (element < 0 || element >= count) {
      const ir::Storage& storage = w.cta->launch->kernel->storages[ir::StorageId(op.index)];
      w.cta->findings().Add(diag::kinds::SimOutOfBounds, w.cta->Loc(w), storage.loc, element,
                            storage.name, 0, count - 1);
      continue;
    }
    Blend(w, op, w.cta->program().ElementSlot(ir::StorageId(op.index), element), same);
  }
}

void Declare(Warp& w, const FlatOp& op) {
  const ir::StorageId storage(op.index);
  const int32_t count = w.cta->program().elements[op.index];
  for (int32_t i = 0; i < count; ++i) {
    w.regs.poison[w.cta->program().ElementSlot(storage, i)] |= w.active;
  }
}

Frame& InnermostLoop(Warp& w) {
  const auto it = std::find_if(w.frames.rbegin(), w.frames.rend(),
                               [](const Frame& frame) { return frame.loop; });
  CHOREO_CHECK(it != w.frames.rend(), "break or continue outside a loop");
  return *it;
}

// Structured control flow; moves the program counter.
void Control(Warp& w, const FlatOp& op) {
  switch (op.code) {
    case Code::If: {
      CheckPoison(w, op.slot[0], w.active, "a branch");
      const uint32_t taken = w.active & TrueLanes(w, op.slot[0]);
      Frame frame;
      frame.active = w.active;
      frame.other = w.active & ~taken;
      w.frames.push_back(frame);
      w.active = taken;
      w.pc = taken == 0 ? op.target : w.pc + 1;
      return;
    }
    case Code::Else:
      w.active = w.frames.back().other & ~w.dead;
      w.pc = w.active == 0 ? op.target : w.pc + 1;
      return;
    case Code::EndIf:
      w.active = w.frames.back().active & ~w.dead;
      w.frames.pop_back();
      break;
    case Code::LoopBegin: {
      Frame frame;
      frame.loop = true;
      frame.active = w.active;
      frame.dead = w.dead;
      w.frames.push_back(frame);
      break;
    }
    case Code::LoopTest: {
      CheckPoison(w, op.slot[0], w.active, "a loop's condition");
      const uint32_t running = w.active & TrueLanes(w, op.slot[0]);
      Frame& frame = w.frames.back();
      if (running != 0) {
        frame.running = w.active = running;
        break;
      }
      w.dead = frame.dead | w.returned;
      w.active = frame.active & ~w.returned;
      w.frames.pop_back();
      w.pc = op.target;
      return;
    }
    case Code::LoopNext: {
      const Frame& frame = w.frames.back();
      w.dead = frame.dead | w.returned | frame.left;
      w.active = frame.running & ~w.dead;
      break;
    }
    case Code::Jump:
      w.pc = op.target;
      return;
    case Code::Break:
      InnermostLoop(w).left |= w.active;
      [[fallthrough]];
    case Code::Continue:
      w.dead |= w.active;
      w.active = 0;
      break;
    case Code::Return:
      w.returned |= w.active;
      w.dead |= w.active;
      w.active = 0;
      break;
    default:
      CHOREO_UNREACHABLE("op {}", static_cast<int>(op.code));
  }
  ++w.pc;
}

bool IsControl(Code code) { return code >= Code::If && code <= Code::Return; }

template <class Node>
const Node& NodeOf(const FlatOp& op) {
  return std::get<Node>(*op.node);
}

bool ArriveAtNamedBarrier(Warp& w, const FlatOp& op, int32_t threads, bool wait) {
  const auto lane = static_cast<size_t>(__builtin_ctz(w.active));
  if (CheckPoison(w, op.slot[0], w.active, "a barrier's id") != 0) return true;
  const auto id = static_cast<uint32_t>(w.regs.At<int32_t>(op.slot[0])[lane]);
  return ArriveAtBarrier(w, id, static_cast<uint32_t>(threads), wait);
}

// Ops of mbarriers, TMA and roles; the rest is in Execute.
bool ExecutePipeline(Warp& w, const FlatOp& op) {
  switch (op.code) {
    case Code::RoleBegin:
      w.role = &NodeOf<ir::RoleBegin>(op);
      return true;
    case Code::MbarrierInit:
      ExecMbarrierInit(w, op);
      return true;
    case Code::FenceMbarrierInit:
      ExecFenceMbarrierInit(w);
      return true;
    case Code::MbarrierArrive:
      ExecMbarrierArrive(w, op);
      return true;
    case Code::MbarrierArriveCluster:
      ExecMbarrierArriveCluster(w, op);
      return true;
    case Code::MbarrierExpectTx:
      ExecMbarrierExpectTx(w, op);
      return true;
    case Code::MbarrierWait:
      return ExecMbarrierWait(w, op);
    case Code::TmaLoad:
      ExecTmaLoad(w, op);
      return true;
    case Code::TmaStore:
      ExecTmaStore(w, op);
      return true;
    case Code::TmaStoreCommit:
      ExecTmaStoreCommit(w);
      return true;
    case Code::TmaStoreWait:
      ExecTmaStoreWait(w, NodeOf<ir::TmaStoreWait>(op));
      return true;
    case Code::SetMaxNReg:
      ExecSetMaxNReg(w);
      return false;
    default:
      CHOREO_UNREACHABLE("op {}", static_cast<int>(op.code));
  }
}

// One op that is not control flow. True: the warp may go on to the next one.
bool Execute(Warp& w, const FlatOp& op) {
  Cta& cta = *w.cta;
  switch (op.code) {
    case Code::Eval:
      return true;
    case Code::Assign:
      Blend(w, op, op.slot[0], w.active);
      return true;
    case Code::FragSet:
      TouchFrag(w, ir::StorageId(op.index), true);
      Blend(w, op, op.slot[0], w.active);
      return true;
    case Code::FragSetAt:
      TouchFrag(w, ir::StorageId(op.index), true);
      SetIndexed(w, op);
      return true;
    case Code::Decl:
      Declare(w, op);
      return true;
    case Code::MemStore:
      ExecMemStore(w, op);
      return true;
    case Code::Atomic:
      ExecAtomic(w, op);
      return true;
    case Code::StoreVec:
      ExecStoreVec(w, op);
      return true;
    case Code::CopyVec:
      ExecCopyVec(w, op);
      return true;
    case Code::CpAsync:
      ExecCpAsync(w, op);
      return true;
    case Code::CpAsyncCommit:
      ExecCpAsyncCommit(w);
      return true;
    case Code::CpAsyncWait:
      ExecCpAsyncWait(w, NodeOf<ir::CpAsyncWait>(op).pending);
      return true;
    case Code::CtaBarrier: {
      const auto& host = cta.launch->kernel->host;
      return ArriveAtBarrier(w, 0, static_cast<uint32_t>(host.threads), true);
    }
    case Code::ClusterBarrier:
      ArriveAtClusterBarrier(w);
      return false;
    case Code::NamedBarrier:
      return ArriveAtNamedBarrier(w, op, NodeOf<ir::NamedBarrierSync>(op).threads, true);
    case Code::NamedBarrierArrive:
      return ArriveAtNamedBarrier(w, op, NodeOf<ir::NamedBarrierArrive>(op).threads, false);
    case Code::NamedBarrierVote:
      return ArriveAtNamedBarrier(w, op, NodeOf<ir::NamedBarrierVote>(op).threads, true);
    case Code::Vote:
      ExecVote(w, op);
      return true;
    case Code::SyncWarp:
      ExecSyncWarp(w);
      return true;
    case Code::FenceProxyAsync:
      ExecFenceProxyAsync(w);
      return true;
    case Code::WgmmaFence:
      ExecWgmmaFence(w);
      return true;
    case Code::Wgmma:
      ArriveAtWgmma(w);
      return false;
    case Code::WgmmaCommit:
      ExecWgmmaCommit(w);
      return true;
    case Code::WgmmaWait:
      ExecWgmmaWait(w, NodeOf<ir::WgmmaWait>(op).pending);
      return true;
    case Code::FragPack:
      ExecFragPack(w, op);
      return true;
    case Code::StMatrix:
      ExecStMatrix(w, op);
      return true;
    case Code::LdMatrix:
      ExecLdMatrix(w, op);
      return true;
    case Code::ErrorLatch:
      if (cta.launch->error_code == 0) {
        cta.launch->error_code = static_cast<uint32_t>(NodeOf<ir::ErrorLatch>(op).code);
        cta.launch->error_op = w.pc;
      }
      return true;
    case Code::Opaque:
      ExecOpaque(w, op);
      return true;
    default:
      return ExecutePipeline(w, op);
  }
}

}  // namespace

void RunWarp(Warp& w, uint64_t quantum) {
  const Program& program = w.cta->program();
  while (quantum != 0 && w.waiting == Waiting::No && !w.cta->launch->stop) {
    const FlatOp& op = program.ops[w.pc];
    if (++w.steps > w.cta->launch->options.step_limit) {
      w.cta->findings().Add(diag::kinds::SimStepLimit, op.loc, {},
                            w.cta->launch->options.step_limit);
      w.cta->launch->stop = true;
      return;
    }
    if (op.code == Code::Exit) {
      CheckStoresAtExit(w);
      if (w.cta->timeline != nullptr) w.cta->timeline->Exited(w);
      w.exited = true;
      LeaveCluster(w);
      return;
    }
    if (w.active != 0 || op.code == Code::LoopTest) {
      for (uint32_t i = op.eval_begin; i < op.eval_end; ++i)
        program.instrs[i].fn(w, program.instrs[i]);
      if (w.cta->timeline != nullptr) w.cta->timeline->Charge(w, op);
    }
    if (IsControl(op.code)) {
      Control(w, op);
      continue;
    }
    if (w.active == 0) {  // all lanes left: only control flow has an effect
      ++w.pc;
      continue;
    }
    if (!Execute(w, op)) return;
    if (op.code >= Code::MemStore) --quantum;
    ++w.pc;
    if (w.time >= w.cta->slice_end) return;
  }
}

std::string RankName(const Cta& cta) {
  const bool alone = cta.cluster == nullptr || cta.cluster->ctas.size() == 1;
  return alone ? "" : fmt::format(" of rank {}", cta.rank);
}

namespace {

// With the role, and the rank in a cluster.
std::string Placed(const Warp& w, const std::string& name) {
  const std::string role = w.role == nullptr ? "" : fmt::format(" ({})", w.role->name);
  return name + role + RankName(*w.cta);
}

}  // namespace

std::string WarpName(const Warp& w) { return Placed(w, fmt::format("warp {}", w.index)); }
std::string LaneName(const Warp& w, uint32_t lane) {
  return Placed(w, fmt::format("warp {} lane {}", w.index, lane));
}
std::string WarpSetName(uint32_t set) {
  std::string text = __builtin_popcount(set) == 1 ? "warp " : "warps ";
  bool first = true;
  for (uint32_t i = 0; i < 32; ++i) {
    if (((set >> i) & 1u) == 0) continue;
    uint32_t last = i;
    while (last + 1 < 32 && ((set >> (last + 1)) & 1u)) ++last;
    text += first ? "" : ", ";
    text += last == i ? fmt::format("{}", i) : fmt::format("{}-{}", i, last);
    first = false;
    i = last;
  }
  return text;
}

}  // namespace choreo::sim
