// Barriers, warp synchronisation, proxy fences, deadlock.
#include <algorithm>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

uint32_t ThreadsOf(const Warp& w) { return static_cast<uint32_t>(__builtin_popcount(w.valid)); }

// Everything that any of `warps` has done or seen is now seen by all of them.
void Join(Cta& cta, uint32_t warps) {
  const size_t count = cta.warps.size();
  std::vector<uint32_t> seen(2 * count, 0);
  std::vector<uint32_t> fenced(count, 0);
  for (Warp& w : cta.warps) {
    if (((warps >> w.index) & 1u) == 0) continue;
    w.seen[w.index] = w.clock;
    w.seen_fenced[w.index] = w.fenced;
    for (size_t i = 0; i < 2 * count; ++i) seen[i] = std::max(seen[i], w.seen[i]);
    for (size_t i = 0; i < count; ++i) fenced[i] = std::max(fenced[i], w.seen_fenced[i]);
  }
  for (Warp& w : cta.warps) {
    if (((warps >> w.index) & 1u) == 0) continue;
    w.seen = seen;
    w.seen_fenced = fenced;
    ++w.clock;
  }
}

void Free(Cta& cta, Barrier& barrier) {
  Join(cta, barrier.arrived);
  for (Warp& w : cta.warps) {
    if (((barrier.arrived >> w.index) & 1u) == 0) continue;
    w.waiting = Waiting::No;
    ++w.pc;
  }
  barrier = {};
}

std::string Place(const ir::Loc& loc) { return fmt::format("{}:{}", loc.line, loc.column); }

std::string Describe(const Cta& cta, uint32_t warps) {
  std::string text;
  // Warps that wait at one op are named together.
  while (warps != 0) {
    const auto first = static_cast<uint32_t>(__builtin_ctz(warps));
    const Warp& w = cta.warps[first];
    uint32_t same = 0;
    for (const Warp& other : cta.warps) {
      if (((warps >> other.index) & 1u) && other.pc == w.pc) same |= 1u << other.index;
    }
    warps &= ~same;
    std::string what = "the other warps of an MMA";
    if (w.waiting == Waiting::Barrier) {
      const Barrier& barrier = cta.barriers[w.barrier];
      what = fmt::format("barrier {} ({} of {} threads arrived)", w.barrier,
                         barrier.arrived_threads, barrier.expected);
    }
    const bool one = (same & (same - 1)) == 0;
    text += fmt::format("{}{} wait{} for {} at {}", text.empty() ? "" : "; ", WarpSetName(same),
                        one ? "s" : "", what, Place(cta.Loc(w)));
  }
  return text;
}

}  // namespace

void RequireFullWarp(Warp& w, std::string_view what) {
  if (w.active == w.valid) return;
  Cta& cta = *w.cta;
  cta.findings().Add(diag::kinds::SimDivergentCollective, cta.Loc(w), {}, std::string(what),
                     fmt::format("{} lanes of {}", __builtin_popcount(w.active), WarpName(w.index)),
                     "all lanes of the warp");
}

void ArriveAtBarrier(Warp& w, uint32_t id, uint32_t threads) {
  Cta& cta = *w.cta;
  const ir::Loc loc = cta.Loc(w);
  RequireFullWarp(w, "barrier");
  if (id >= cta.barriers.size()) {
    cta.findings().Add(diag::kinds::SimBarrierMismatch, loc, {},
                       fmt::format("barrier {} does not exist: ids are 0 to 15", id));
    ++w.pc;
    return;
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
                                   threads, WarpName(w.index), barrier.expected));
  }
  barrier.arrived |= 1u << w.index;
  barrier.arrived_threads += threads % kLanes == 0 ? kLanes : ThreadsOf(w);
  w.waiting = Waiting::Barrier;
  w.barrier = id;
  if (barrier.arrived_threads >= barrier.expected) Free(cta, barrier);
}

void ExecSyncWarp(Warp& w) {
  RequireFullWarp(w, "syncwarp");
  w.seen[w.index] = w.clock;
  w.seen_fenced[w.index] = w.fenced;
  ++w.clock;
}

void ExecFenceProxyAsync(Warp& w) {
  // A fence orders the accesses of the lanes that execute it; the warp's are fenced once every lane
  // that made one has executed a fence.
  w.dirty_lanes &= ~w.active;
  if (w.dirty_lanes != 0) return;
  w.fenced = w.clock;
  ++w.clock;
}

void ResolveStall(Cta& cta) {
  uint32_t exited = 0;
  uint32_t blocked = 0;
  for (const Warp& w : cta.warps) (w.exited ? exited : blocked) |= 1u << w.index;
  for (uint32_t id = 0; id < cta.barriers.size(); ++id) {
    Barrier& barrier = cta.barriers[id];
    if (barrier.arrived == 0 || exited == 0 || barrier.arrived != blocked) continue;
    cta.findings().Add(
        diag::kinds::SimBarrierMismatch, cta.launch->LocOf(barrier.op), {},
        fmt::format("barrier {} has {} of {} threads, those of {}, but {} exited without arriving",
                    id, barrier.arrived_threads, barrier.expected, WarpSetName(barrier.arrived),
                    WarpSetName(exited)));
    Free(cta, barrier);
    return;
  }
  const auto first = static_cast<size_t>(__builtin_ctz(blocked));
  std::string text = Describe(cta, blocked);
  if (exited != 0) text += fmt::format("; {} exited", WarpSetName(exited));
  // The second place is where other warps wait.
  ir::Loc other;
  for (const Warp& w : cta.warps) {
    if (!w.exited && w.pc != cta.warps[first].pc) other = cta.Loc(w);
  }
  cta.findings().Add(diag::kinds::SimDeadlock, cta.Loc(cta.warps[first]), other, text);
  cta.launch->stop = true;
}

}  // namespace choreo::sim
