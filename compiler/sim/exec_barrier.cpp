// Barriers, warp synchronisation, proxy fences.
#include <algorithm>

#include "sim/cta.h"
#include "sim/sync.h"

namespace choreo::sim {
namespace {

uint32_t ThreadsOf(const Warp& w) { return static_cast<uint32_t>(__builtin_popcount(w.valid)); }

// Every active lane learns the result of a vote.
void SetVote(Warp& w, Slot to, bool holds) {
  auto* result = w.regs.At<int32_t>(to);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((w.active >> l) & 1u) result[l] = holds ? 1 : 0;
  }
  w.regs.poison[to] &= ~w.active;
}

bool HoldsForAny(Warp& w, Slot value) {
  const uint32_t lanes = w.active & ~CheckPoison(w, value, w.active, "a vote");
  const auto* holds = w.regs.At<int32_t>(value);
  bool any = false;
  for (uint32_t l = 0; l < kLanes; ++l) any = any || (((lanes >> l) & 1u) != 0 && holds[l] != 0);
  return any;
}

}  // namespace

void ExecVote(Warp& w, const FlatOp& op) {
  RequireFullWarp(w, "vote");
  SetVote(w, op.slot[2], HoldsForAny(w, op.slot[1]));
}

void Free(Cta& cta, Barrier& barrier) {
  Join(cta, barrier.waiting, barrier.waiting, barrier.released);
  for (Warp& w : cta.warps) {
    if (((barrier.waiting >> w.index) & 1u) == 0) continue;
    if (cta.timeline != nullptr) cta.timeline->Wait(w, barrier.time + Cycles::kBarrier, "barrier");
    const FlatOp& op = cta.program().ops[w.pc];
    if (op.code == Code::NamedBarrierVote) SetVote(w, op.slot[2], barrier.vote);
    w.waiting = Waiting::No;
    ++w.pc;
  }
  barrier = {};
}

void RequireFullWarp(Warp& w, std::string_view what) {
  if (w.active == w.valid) return;
  Cta& cta = *w.cta;
  cta.findings().Add(diag::kinds::SimDivergentCollective, cta.Loc(w), {}, std::string(what),
                     fmt::format("{} lanes of {}", __builtin_popcount(w.active), WarpName(w)),
                     "all lanes of the warp");
}

bool ArriveAtBarrier(Warp& w, uint32_t id, uint32_t threads, bool wait) {
  Cta& cta = *w.cta;
  const ir::Loc loc = cta.Loc(w);
  RequireFullWarp(w, "barrier");
  if (id >= cta.barriers.size()) {
    cta.findings().Add(diag::kinds::SimBarrierMismatch, loc, {},
                       fmt::format("barrier {} does not exist: ids are 0 to 15", id));
    return true;
  }
  Barrier& barrier = cta.barriers[id];
  if (id != 0 && threads % kLanes != 0) {
    cta.findings().Add(
        diag::kinds::SimBarrierMismatch, loc, {},
        fmt::format("barrier {} counts {} threads, but must count whole warps", id, threads));
  }
  if (barrier.arrived == 0) {
    barrier.expected = threads;
    barrier.op = w.pc;
  } else if (barrier.expected != threads) {
    cta.findings().Add(diag::kinds::SimBarrierMismatch, loc, cta.launch->LocOf(barrier.op),
                       fmt::format("barrier {} counts {} threads for {}, but {} for others", id,
                                   threads, WarpName(w), barrier.expected));
  }
  const uint32_t self = 1u << w.index;
  if ((barrier.arrived & self) != 0) {
    cta.findings().Add(diag::kinds::SimBarrierMismatch, loc, cta.launch->LocOf(barrier.op),
                       fmt::format("{} arrives at barrier {} again before the arrivals of others "
                                   "have completed it ({} of {} threads arrived)",
                                   WarpName(w), id, barrier.arrived_threads, barrier.expected));
  }
  barrier.arrived |= self;
  const FlatOp& op = cta.program().ops[w.pc];
  if (op.code == Code::NamedBarrierVote) {
    const bool holds = HoldsForAny(w, op.slot[1]);
    barrier.vote = barrier.vote || holds;
  }
  barrier.time = std::max(barrier.time, w.time);
  barrier.arrived_threads += threads % kLanes == 0 ? kLanes : ThreadsOf(w);
  if (wait) {
    barrier.waiting |= self;
    w.waiting = Waiting::Barrier;
    w.barrier = id;
  } else {
    barrier.released.Join(Release(w));
  }
  if (barrier.arrived_threads >= barrier.expected) Free(cta, barrier);
  return !wait;
}

void ExecSyncWarp(Warp& w) {
  RequireFullWarp(w, "syncwarp");
  SynchroniseLanes(w);
}

void ExecFenceProxyAsync(Warp& w) {
  // A fence orders the accesses of the lanes that execute it; the warp's are fenced once every lane
  // that made one has executed a fence.
  w.dirty_lanes &= ~w.active;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((w.active >> l) & 1u) w.lane_fenced[l] = w.clock;
  }
  if (w.dirty_lanes == 0) w.fenced = w.clock;
  ++w.clock;
}

}  // namespace choreo::sim
