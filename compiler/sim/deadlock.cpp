// No warp can run and nothing is in flight: what everyone waits for, and where it should have come
// from.
#include <algorithm>
#include <bitset>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

namespace kinds = diag::kinds;

std::string At(const ir::Loc& loc) { return fmt::format("{}:{}", loc.line, loc.column); }

std::string MbarrierState(const Cta& cta, uint32_t id) {
  const MbarrierSlot& slot = cta.mbarriers[id];
  std::string state = fmt::format("{} of {} arrivals", slot.count - slot.pending, slot.count);
  if (slot.bytes != 0) state += fmt::format(", {} bytes missing", slot.bytes);
  if (slot.last_op != 0) {
    state += fmt::format(", the last arrival at {}", At(PlaceOf(cta, slot.last_op, id)));
  }
  return state;
}

ir::Loc WaitPlace(const Cta& cta, const Warp& w) {
  if (w.waiting != Waiting::Mbarrier) return cta.Loc(w);
  return PlaceOf(cta, w.pc, w.pending_waits[0].slot);
}

std::string WhatItWaitsFor(const Cta& cta, const Warp& w) {
  switch (w.waiting) {
    case Waiting::Barrier: {
      const Barrier& barrier = cta.barriers[w.barrier];
      return fmt::format("barrier {} ({} of {} threads arrived)", w.barrier,
                         barrier.arrived_threads, barrier.expected);
    }
    case Waiting::Mbarrier: {
      const PendingWait& wait = w.pending_waits[0];
      const MbarrierSlot& slot = cta.mbarriers[wait.slot];
      // A wait at the wrong generation waits for the phase that is next to complete.
      const int64_t generation =
          wait.generation >= 0 ? wait.generation : GenerationOf(cta, slot, slot.phase);
      return fmt::format("generation {} of {} ({})", generation, SlotName(cta, wait.slot),
                         MbarrierState(cta, wait.slot));
    }
    case Waiting::Cluster: {
      size_t warps = 0;
      for (const Cta& other : cta.cluster->ctas) warps += other.warps.size();
      return fmt::format("the barrier of the cluster ({} of {} warps arrived)",
                         cta.cluster->barrier.waiting.size(), warps);
    }
    case Waiting::Registers: {
      const auto& node = std::get<ir::SetMaxNReg>(*cta.program().ops[w.pc].node);
      const uint32_t more =
          static_cast<uint32_t>(node.count) - cta.groups[w.index / kWarpsPerGroup].registers;
      return fmt::format("registers ({} more for each thread, {} are free)", more,
                         cta.free_registers / (kWarpsPerGroup * kLanes));
    }
    default:
      return fmt::format("the other warps of {}", cta.program().ops[w.pc].code == Code::SetMaxNReg
                                                      ? "setmaxnreg"
                                                      : "an MMA");
  }
}

// Warps that wait at one op are named together.
std::string Describe(const Cta& cta, uint32_t warps) {
  std::string text;
  while (warps != 0) {
    const auto first = static_cast<uint32_t>(__builtin_ctz(warps));
    const Warp& w = cta.warps[first];
    const std::string what = WhatItWaitsFor(cta, w);
    uint32_t same = 0;
    for (const Warp& other : cta.warps) {
      const bool waits = ((warps >> other.index) & 1u) != 0 && other.pc == w.pc;
      if (waits && other.role == w.role && WhatItWaitsFor(cta, other) == what) {
        same |= 1u << other.index;
      }
    }
    warps &= ~same;
    const bool one = (same & (same - 1)) == 0;
    text += fmt::format("{}{}{}{} wait{} for {} at {}", text.empty() ? "" : "; ", WarpSetName(same),
                        w.role == nullptr ? "" : fmt::format(" ({})", w.role->name), RankName(cta),
                        one ? "s" : "", what, At(WaitPlace(cta, w)));
  }
  return text;
}

// A barrier that only warps which exited could complete: reported and given up.
bool FreeAbandonedBarrier(Cta& cta, uint32_t blocked, uint32_t exited) {
  for (uint32_t id = 0; id < cta.barriers.size(); ++id) {
    Barrier& barrier = cta.barriers[id];
    if (barrier.waiting == 0 || exited == 0 || barrier.waiting != blocked) continue;
    cta.findings().Add(
        kinds::SimBarrierMismatch, cta.launch->LocOf(barrier.op), {},
        fmt::format("barrier {} has {} of {} threads, those of {}, but {} exited without arriving",
                    id, barrier.arrived_threads, barrier.expected, WarpSetName(barrier.arrived),
                    WarpSetName(exited)));
    Free(cta, barrier);
    return true;
  }
  return false;
}

// A phase that has its arrivals but not the bytes it was told to expect.
bool ReportMissingBytes(Cta& cta) {
  for (const Warp& w : cta.warps) {
    if (w.waiting != Waiting::Mbarrier) continue;
    const uint32_t id = w.pending_waits[0].slot;
    const MbarrierSlot& slot = cta.mbarriers[id];
    if (slot.pending != 0 || slot.bytes <= 0) continue;
    cta.findings().Add(
        kinds::SimTransactionBytes, cta.launch->LocOf(slot.expect_op), WaitPlace(cta, w),
        fmt::format("{} bytes that were announced for generation {} of {} never come: {} waits for "
                    "ever",
                    slot.bytes, GenerationOf(cta, slot, slot.phase), SlotName(cta, id),
                    WarpName(w)));
    return true;
  }
  return false;
}

// Where what `w` waits for should have come from: a blocked warp that used to bring it, the last
// place that did, or else another blocked warp.
ir::Loc Origin(const Cta& cta, const Warp& w) {
  if (w.waiting == Waiting::Mbarrier) {
    const ir::StorageId event = cta.mbarriers[w.pending_waits[0].slot].event;
    const uint32_t first = RingOf(cta, w.pending_waits[0].slot);
    std::bitset<256> arrivers;
    uint32_t last = 0, last_id = first;
    for (uint32_t id = first; id < cta.mbarriers.size() && cta.mbarriers[id].event == event; ++id) {
      if (RingOf(cta, id) != first) break;
      arrivers |= cta.mbarriers[id].arrivers;
      if (cta.mbarriers[id].last_op > last) last_id = id;
      last = std::max(last, cta.mbarriers[id].last_op);
    }
    for (const Cta& from : cta.cluster->ctas) {
      for (const Warp& other : from.warps) {
        const bool brings = arrivers.test(from.rank * kLanes + other.index);
        if (brings && !other.exited && other.pc != w.pc) return WaitPlace(from, other);
      }
    }
    if (last != 0) return PlaceOf(cta, last, last_id);
  }
  ir::Loc loc;
  for (const Cta& from : cta.cluster->ctas) {
    for (const Warp& other : from.warps) {
      if (!other.exited && other.pc != w.pc) loc = WaitPlace(from, other);
    }
  }
  return loc;
}

struct Stall {
  uint32_t exited = 0, blocked = 0;  // warps
};
Stall StallOf(const Cta& cta) {
  Stall stall;
  for (const Warp& w : cta.warps) (w.exited ? stall.exited : stall.blocked) |= 1u << w.index;
  return stall;
}

}  // namespace

void ResolveStall(Cluster& cluster) {
  for (Cta& cta : cluster.ctas) {
    const Stall stall = StallOf(cta);
    if (FreeAbandonedBarrier(cta, stall.blocked, stall.exited)) return;
  }
  cluster.ctas.front().launch->stop = true;
  for (Cta& cta : cluster.ctas) {
    if (ReportMissingBytes(cta)) return;
  }
  const Warp* first = nullptr;
  std::string text;
  for (const Cta& cta : cluster.ctas) {
    const Stall stall = StallOf(cta);
    if (stall.blocked != 0) {
      const Warp& w = cta.warps[static_cast<size_t>(__builtin_ctz(stall.blocked))];
      // At the kernel's end they only wait for those that do not come to it.
      if (first == nullptr || first->waiting == Waiting::Cluster) first = &w;
      text += fmt::format("{}{}", text.empty() ? "" : "; ", Describe(cta, stall.blocked));
    }
    if (stall.exited != 0) {
      text += fmt::format("{}{}{} exited", text.empty() ? "" : "; ", WarpSetName(stall.exited),
                          RankName(cta));
    }
  }
  Cta& cta = *first->cta;
  cta.findings().Add(kinds::SimDeadlock, WaitPlace(cta, *first), Origin(cta, *first), text);
}

}  // namespace choreo::sim
