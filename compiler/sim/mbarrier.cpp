#include "sim/mbarrier.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "sim/cta.h"
#include "sim/sync.h"

namespace choreo::sim {
namespace {

namespace kinds = diag::kinds;

constexpr int64_t kMaxBytes = (1 << 20) - 1;

const ir::Storage& EventOf(const Cta& cta, const MbarrierSlot& slot) {
  return cta.launch->kernel->storages[slot.event];
}

// The name of a slot that is an event of its own; empty: the array is a ring.
std::string OwnName(const Cta& cta, const MbarrierSlot& slot) {
  std::istringstream names(EventOf(cta, slot).slot_names);
  std::string name;
  for (uint32_t i = 0; i <= slot.index && names >> name; ++i) {
    if (i == slot.index) return name;
  }
  return {};
}

// Where the event was declared.
ir::Loc Declared(const Cta& cta, const MbarrierSlot& slot) {
  const std::string name = OwnName(cta, slot);
  for (const ir::Storage& storage : cta.launch->kernel->storages) {
    if (storage.kind == ir::StorageKind::Event && storage.name == name) return storage.loc;
  }
  return EventOf(cta, slot).loc;
}

// The arrivals of a thread take the slots in turn, and none of its phases completes without it. It
// may arrive several times in one phase.
void CheckArrivalOrder(Warp& w, uint32_t lane, Cta& cta, uint32_t id) {
  const MbarrierSlot& slot = cta.mbarriers[id];
  const ir::Storage& event = EventOf(cta, slot);
  const size_t of_rank = cta.rank * cta.mbarriers.size();
  Arrivals& mine = w.arrivals[of_rank + id][lane];
  uint32_t& last = w.last_slot[of_rank + RingOf(cta, id)][lane];
  const bool again = mine.phases != 0 && mine.last_phase == slot.phase;
  const auto slots = static_cast<uint32_t>(event.array_size);
  const uint32_t expected = last % slots;  // `last` is one more than the slot, or 0 at first
  if (event.slot_names.empty() && !(again && last == slot.index + 1) && slot.index != expected) {
    cta.findings().Add(
        kinds::SimWrongGeneration, PlaceOf(cta, w.pc, id), Declared(cta, slot),
        fmt::format("{} arrives at {}, but its next arrival is at slot {}: an order is the number "
                    "of this path's earlier triggers",
                    LaneName(w, lane), SlotName(cta, id), expected));
  } else if (!again && slot.phase != mine.phases) {
    cta.findings().Add(
        kinds::SimWrongGeneration, PlaceOf(cta, w.pc, id), PlaceOf(cta, slot.last_op, id),
        fmt::format(
            "{} arrives at {} for generation {}, but that is at generation {}: the arrivals "
            "of others completed it without this one",
            LaneName(w, lane), SlotName(cta, id), GenerationOf(cta, slot, mine.phases),
            GenerationOf(cta, slot, slot.phase)));
  }
  last = slot.index + 1;
  if (!again) ++mine.phases;
  mine.last_phase = slot.phase;
}

// What the wait of a lane is for: the k-th of a path is of slot k % N, generation k / N.
int64_t CheckWaitOrder(Warp& w, uint32_t lane, uint32_t id, uint32_t parity) {
  Cta& cta = *w.cta;
  const MbarrierSlot& slot = cta.mbarriers[id];
  const ir::Storage& event = EventOf(cta, slot);
  const uint32_t earlier = w.waits[RingOf(cta, id)][lane]++;
  const bool ring = event.slot_names.empty();
  const uint32_t slots = ring ? static_cast<uint32_t>(event.array_size) : 1;
  const uint32_t generation = earlier / slots;
  const uint32_t expected = (generation & 1u) ^ static_cast<uint32_t>(event.ready);
  if ((!ring || slot.index == earlier % slots) && parity == expected) return generation;
  const bool odd = (parity ^ static_cast<uint32_t>(event.ready)) != 0;
  cta.findings().Add(
      kinds::SimWrongGeneration, PlaceOf(cta, w.pc, id), Declared(cta, slot),
      fmt::format("{} waits for an {} generation of {}, but after {} earlier waits it is at "
                  "generation {}{}: an order is the number of this path's earlier waits",
                  LaneName(w, lane), odd ? "odd" : "even", SlotName(cta, id), earlier, generation,
                  slots == 1 ? "" : fmt::format(" of slot {}", earlier % slots)));
  return -1;
}

bool Complete(const MbarrierSlot& slot, uint32_t parity) { return (slot.phase & 1u) != parity; }

// The lanes go on: they are ordered after all phases up to the one they waited for.
void Pass(Warp& w, const PendingWait& wait) {
  Cta& cta = *w.cta;
  MbarrierSlot& slot = cta.mbarriers[wait.slot];
  Acquire(w, wait.lanes, slot.done);
  if (wait.cluster_scope) Acquire(w, wait.lanes, slot.done_abroad);
  if (cta.timeline != nullptr && slot.phase != 0) {
    cta.timeline->Wait(w, slot.done_time + Cycles::kWake, SlotName(cta, wait.slot));
  }
  if (wait.generation < 0) return;
  const int64_t phase = wait.generation - (EventOf(cta, slot).ready ? 1 : 0);
  if (static_cast<int64_t>(slot.phase) == phase + 1) {
    slot.passes.push_back({w.index, w.clock, w.pc});
  }
}

// A waiter that comes when the phase after its own is complete already.
bool CameTooLate(Warp& w, const PendingWait& wait) {
  Cta& cta = *w.cta;
  const MbarrierSlot& slot = cta.mbarriers[wait.slot];
  if (wait.generation < 0) return false;
  const int64_t phase = wait.generation - (EventOf(cta, slot).ready ? 1 : 0);
  if (static_cast<int64_t>(slot.phase) <= phase + 1) return false;
  cta.findings().Add(
      kinds::SimPhaseMissed, PlaceOf(cta, w.pc, wait.slot), PlaceOf(cta, slot.last_op, wait.slot),
      fmt::format("{} waits for generation {} of {} when generation {} is complete already: the "
                  "parity of its wait is that of a phase it does not mean",
                  WarpName(w), wait.generation, SlotName(cta, wait.slot), wait.generation + 1));
  return true;
}

void CheckPasses(Cta& cta, uint32_t id) {
  MbarrierSlot& slot = cta.mbarriers[id];
  for (const MbarrierSlot::Pass& pass : slot.passes) {
    if (slot.current.seen[cta.agents.Progress(pass.warp)] >= pass.epoch) continue;
    cta.findings().Add(
        kinds::SimPhaseMissed, PlaceOf(cta, pass.op, id), PlaceOf(cta, slot.last_op, id),
        fmt::format("nothing keeps generation {} of {} from completing before {} has passed its "
                    "wait for generation {}: its parity wait can miss both",
                    GenerationOf(cta, slot, slot.phase), SlotName(cta, id),
                    WarpName(cta.warps[pass.warp]), GenerationOf(cta, slot, slot.phase) - 1));
  }
  slot.passes.clear();
}

void Wake(Cta& cta, uint32_t id) {
  const MbarrierSlot& slot = cta.mbarriers[id];
  for (Warp& w : cta.warps) {
    if (w.waiting != Waiting::Mbarrier) continue;
    std::erase_if(w.pending_waits, [&](const PendingWait& wait) {
      if (wait.slot != id || !Complete(slot, wait.parity)) return false;
      Pass(w, wait);
      return true;
    });
    if (!w.pending_waits.empty()) continue;
    w.waiting = Waiting::No;
    ++w.pc;
  }
}

void CompleteIfDone(Cta& cta, uint32_t id) {
  MbarrierSlot& slot = cta.mbarriers[id];
  if (slot.pending != 0 || slot.bytes > 0) return;
  if (slot.bytes < 0) {
    cta.findings().Add(
        kinds::SimTransactionBytes, cta.launch->LocOf(slot.expect_op), {},
        fmt::format("the loads for generation {} of {} brought {} bytes more than "
                    "were announced",
                    GenerationOf(cta, slot, slot.phase), SlotName(cta, id), -slot.bytes));
    slot.bytes = 0;
  }
  CheckPasses(cta, id);
  ++slot.phase;
  slot.pending = slot.count;
  slot.current.seen.Raise(cta.agents.Slot(id), slot.phase);
  slot.done.Join(slot.current);
  slot.done_abroad.Join(slot.current_abroad);
  slot.done_time = slot.last_time;
  slot.current = {};
  slot.current_abroad = {};
  Wake(cta, id);
}

void ArriveLane(Warp& w, uint32_t lane, Cta& cta, uint32_t id, const Knowledge& released,
                int64_t bytes) {
  MbarrierSlot& slot = cta.mbarriers[id];
  CheckArrivalOrder(w, lane, cta, id);
  slot.current.Join(released);
  slot.last_time = std::max(slot.last_time, w.time);
  slot.last_op = w.pc;
  slot.last_warp = w.index;
  slot.arrivers.set(w.cta->rank * kLanes + w.index);
  if (bytes != 0) {
    slot.expect_op = w.pc;
    slot.bytes += bytes;
    if (slot.bytes > kMaxBytes) {
      cta.findings().Add(kinds::SimTransactionBytes, w.cta->Loc(w), {},
                         fmt::format("{} bytes are announced for one generation of {}, but an "
                                     "mbarrier counts to {}",
                                     slot.bytes, SlotName(cta, id), kMaxBytes));
    }
  }
  if (slot.pending == 0) {
    cta.findings().Add(kinds::SimMbarrierCount, PlaceOf(cta, w.pc, id),
                       cta.launch->LocOf(slot.init_op),
                       fmt::format("{} arrives at {}, but generation {} has all its {} arrivals",
                                   LaneName(w, lane), SlotName(cta, id),
                                   GenerationOf(cta, slot, slot.phase), slot.count));
    return;
  }
  --slot.pending;
  CompleteIfDone(cta, id);
}

void Arrive(Warp& w, Slot operand, ir::StorageId event, int64_t bytes) {
  const int32_t* index = w.regs.At<int32_t>(operand);
  const uint32_t lanes = w.active & ~CheckPoison(w, operand, w.active, "an mbarrier's slot");
  const Knowledge released = Release(w);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((lanes >> l) & 1u) ArriveAtSlot(w, l, *w.cta, event, index[l], released, {}, bytes);
  }
}

}  // namespace

void Mbarriers::Reset(const ir::Kernel& kernel) {
  slots_.clear();
  first_.clear();
  for (size_t i = 0; i < kernel.storages.size(); ++i) {
    const ir::StorageId id = kernel.storages.IdAt(i);
    const ir::Storage& storage = kernel.storages[id];
    first_.push_back(static_cast<uint32_t>(slots_.size()));
    if (storage.kind != ir::StorageKind::Event) continue;
    for (int32_t s = 0; s < storage.array_size; ++s) {
      MbarrierSlot& slot = slots_.emplace_back();
      slot.event = id;
      slot.index = static_cast<uint32_t>(s);
    }
  }
}

ir::Loc PlaceOf(const Cta& cta, uint32_t op, uint32_t id) {
  const ir::Loc loc = cta.launch->LocOf(op);
  std::istringstream places(EventOf(cta, cta.mbarriers[id]).slot_places);
  for (std::string place; places >> place;) {
    unsigned line = 0, column = 0, slot = 0;
    ir::Loc to = loc;
    const int read =
        std::sscanf(place.c_str(), "%u:%u/%u@%u:%u", &line, &column, &slot, &to.line, &to.column);
    const bool here = line == unsigned(loc.line) && column == unsigned(loc.column);
    if (read == 5 && here && slot == cta.mbarriers[id].index) return to;
  }
  return loc;
}

uint32_t RingOf(const Cta& cta, uint32_t id) {
  const MbarrierSlot& slot = cta.mbarriers[id];
  return EventOf(cta, slot).slot_names.empty() ? cta.mbarriers.FirstOf(slot.event) : id;
}

std::string SlotName(const Cta& cta, uint32_t id) {
  const MbarrierSlot& slot = cta.mbarriers[id];
  const ir::Storage& event = EventOf(cta, slot);
  if (event.array_size == 1) return fmt::format("`{}`{}", event.name, RankName(cta));
  const std::string name = OwnName(cta, slot);
  if (!name.empty()) return fmt::format("`{}`{}", name, RankName(cta));
  return fmt::format("slot {} of `{}`{}", slot.index, event.name, RankName(cta));
}

int64_t GenerationOf(const Cta& cta, const MbarrierSlot& slot, int64_t phase) {
  return phase + (EventOf(cta, slot).ready ? 1 : 0);
}

void ArriveAtSlot(Warp& w, uint32_t lane, Cta& cta, ir::StorageId event, int32_t slot,
                  const Knowledge& released, const Knowledge& abroad, int64_t bytes) {
  const uint32_t id = UsableSlot(w, lane, cta, event, slot);
  if (id == kNoSlot) return;
  cta.mbarriers[id].current_abroad.Join(abroad);
  ArriveLane(w, lane, cta, id, released, bytes);
}

uint32_t UsableSlot(Warp& w, uint32_t lane, Cta& cta, ir::StorageId event_id, int32_t index) {
  const ir::Storage& event = cta.launch->kernel->storages[event_id];
  if (index < 0 || index >= event.array_size) {
    cta.findings().Add(kinds::SimOutOfBounds, w.cta->Loc(w), event.loc, index, event.name, 0,
                       event.array_size - 1);
    return kNoSlot;
  }
  const uint32_t id = cta.mbarriers.FirstOf(event_id) + static_cast<uint32_t>(index);
  const MbarrierSlot& slot = cta.mbarriers[id];
  const auto report = [&](const char* what) {
    const ir::Loc other = slot.count == 0 ? Declared(cta, slot) : cta.launch->LocOf(slot.init_op);
    cta.findings().Add(kinds::SimMbarrierInit, PlaceOf(cta, w.pc, id), other,
                       fmt::format("{} uses {}, {}", LaneName(w, lane), SlotName(cta, id), what));
  };
  if (slot.count == 0) {
    report("which was never initialised");
    cta.launch->stop = true;  // whatever it orders is not ordered now
    return kNoSlot;
  }
  if (slot.init_epoch == 0) {
    report("whose initialisation no `fence.mbarrier_init` followed");
  } else if (!OrderedAfter(w, lane, cta.warps[slot.init_warp], slot.init_lanes, slot.init_epoch,
                           false)) {
    report(&cta == w.cta ? "whose initialisation is not ordered before it by a barrier of the CTA"
                         : "whose initialisation is not ordered before it by a barrier of the "
                           "cluster");
  }
  return id;
}

void ExecMbarrierInit(Warp& w, const FlatOp& op) {
  Cta& cta = *w.cta;
  const auto& node = std::get<ir::MbarrierInit>(*op.node);
  const ir::Storage& event = cta.launch->kernel->storages[node.event];
  for (int32_t i = 0; i < event.array_size; ++i) {
    const uint32_t id = cta.mbarriers.FirstOf(node.event) + static_cast<uint32_t>(i);
    MbarrierSlot& slot = cta.mbarriers[id];
    if (slot.count != 0 || (w.active & (w.active - 1)) != 0) {
      cta.findings().Add(kinds::SimMbarrierInit, cta.Loc(w),
                         slot.count != 0 ? cta.launch->LocOf(slot.init_op) : ir::Loc{},
                         fmt::format("{} is initialised more than once", SlotName(cta, id)));
    }
    slot.count = slot.pending = static_cast<uint32_t>(node.count);
    slot.init_op = w.pc;
    slot.init_warp = w.index;
    slot.init_lanes = w.active & (~w.active + 1);
    slot.init_epoch = 0;
    slot.phase = 0;
    slot.bytes = 0;
    slot.passes.clear();
  }
}

void ExecFenceMbarrierInit(Warp& w) {
  Cta& cta = *w.cta;
  for (uint32_t id = 0; id < cta.mbarriers.size(); ++id) {
    MbarrierSlot& slot = cta.mbarriers[id];
    const bool mine = slot.init_warp == w.index && (slot.init_lanes & w.active) != 0;
    if (slot.count != 0 && mine && slot.init_epoch == 0) slot.init_epoch = w.clock;
  }
  ++w.clock;
}

void ExecMbarrierArrive(Warp& w, const FlatOp& op) {
  Arrive(w, op.slot[0], std::get<ir::MbarrierArrive>(*op.node).event, 0);
}

void ExecMbarrierExpectTx(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::MbarrierExpectTx>(*op.node);
  Arrive(w, op.slot[0], node.event, node.bytes);
}

bool ExecMbarrierWait(Warp& w, const FlatOp& op) {
  Cta& cta = *w.cta;
  const auto& node = std::get<ir::MbarrierWait>(*op.node);
  const int32_t* index = w.regs.At<int32_t>(op.slot[0]);
  const int32_t* parity = w.regs.At<int32_t>(op.slot[1]);
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an mbarrier's slot");
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "an mbarrier's parity");
  w.pending_waits.clear();
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const uint32_t id = UsableSlot(w, l, cta, node.event, index[l]);
    if (id == kNoSlot) continue;
    const auto bit = static_cast<uint32_t>(parity[l] & 1);
    PendingWait wait{id, bit, 1u << l, CheckWaitOrder(w, l, id, bit), node.cluster_scope.set};
    const auto same =
        std::find_if(w.pending_waits.begin(), w.pending_waits.end(), [&](const PendingWait& other) {
          return other.slot == id && other.parity == bit && other.generation == wait.generation;
        });
    if (same == w.pending_waits.end()) {
      w.pending_waits.push_back(wait);
    } else {
      same->lanes |= wait.lanes;
    }
  }
  std::erase_if(w.pending_waits, [&](const PendingWait& wait) {
    if (!CameTooLate(w, wait) && !Complete(cta.mbarriers[wait.slot], wait.parity)) return false;
    Pass(w, wait);
    return true;
  });
  if (w.pending_waits.empty()) return true;
  w.waiting = Waiting::Mbarrier;
  return false;
}

void CompleteBytes(Cta& cta, uint32_t id, int64_t bytes, uint32_t issued_in, uint32_t load_op,
                   uint64_t time) {
  MbarrierSlot& slot = cta.mbarriers[id];
  slot.last_time = std::max(slot.last_time, time);
  if (slot.phase != issued_in) {
    cta.findings().Add(
        kinds::SimTransactionBytes, cta.launch->LocOf(load_op), cta.launch->LocOf(slot.expect_op),
        fmt::format("{} bytes for generation {} of {} come when it is complete: fewer bytes were "
                    "announced for it than its loads bring",
                    bytes, GenerationOf(cta, slot, issued_in), SlotName(cta, id)));
    return;  // so that the generations after it are not thrown off
  }
  slot.bytes -= bytes;
  CompleteIfDone(cta, id);
}

}  // namespace choreo::sim
