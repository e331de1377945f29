#include "passes/hand_offs.h"

#include <algorithm>

#include "passes/warp_events.h"

namespace choreo::passes {
namespace {

using Kind = WarpStep::Kind;
using Steps = std::vector<WarpStep>;

// Where the one wait for an event, or its one trigger, stands among a warp's steps.
struct Place {
  std::vector<UniformForm> turns;  // of the loops around it
  const Steps* block = nullptr;    // the body of the innermost
  size_t at = 0;                   // in it
};

void FindPlaces(const Steps& steps, ir::StorageId event, Kind kind, std::vector<UniformForm>& turns,
                std::vector<Place>& out) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == Kind::Loop) {
      turns.push_back(steps[i].turns);
      FindPlaces(steps[i].body, event, kind, turns, out);
      turns.pop_back();
    } else if (steps[i].kind == kind && steps[i].event == event) {
      out.push_back({turns, &steps, i});
    }
  }
}

std::optional<Place> OnlyPlace(const WarpEvents& warp, ir::StorageId event, Kind kind) {
  if (warp.unknown.contains(event)) return std::nullopt;
  std::vector<UniformForm> turns;
  std::vector<Place> places;
  FindPlaces(warp.steps, event, kind, turns, places);
  if (places.size() != 1 || !(*places[0].block)[places[0].at].whole_warp) return std::nullopt;
  return places[0];
}

bool Holds(const WarpStep& step, ir::StorageId event, Kind kind) {
  if (step.kind != Kind::Loop) return step.kind == kind && step.event == event;
  return std::any_of(step.body.begin(), step.body.end(),
                     [&](const WarpStep& inner) { return Holds(inner, event, kind); });
}

// How often an event is waited for, or triggered, in one turn of a block.
std::optional<UniformForm> TimesATurn(const Steps& steps, ir::StorageId event, Kind kind) {
  UniformForm times;
  for (const WarpStep& step : steps) {
    if (step.kind == Kind::Loop) {
      const auto inner = TimesATurn(step.body, event, kind);
      const auto product = inner ? Product(*inner, step.turns) : std::nullopt;
      if (!product) return std::nullopt;
      times = Sum(times, *product, 1);
    } else if (Holds(step, event, kind)) {
      times = Sum(times, {{"", 1}}, 1);
    }
  }
  return times;
}

size_t Sites(const Steps& steps, ir::StorageId event, Kind kind) {
  size_t sites = 0;
  for (const WarpStep& step : steps) {
    sites += step.kind == Kind::Loop ? Sites(step.body, event, kind) : Holds(step, event, kind);
  }
  return sites;
}

bool MayBlock(const WarpStep& step) {
  if (step.kind != Kind::Loop) return step.kind == Kind::Wait || step.kind == Kind::Barrier;
  return std::any_of(step.body.begin(), step.body.end(), MayBlock);
}

// Whether the warp may have to wait for others outside of the block, be it before its first turn or
// between two of them.
bool MayBlockOutside(const Steps& steps, const Steps& block) {
  return &steps != &block && std::any_of(steps.begin(), steps.end(), [&](const WarpStep& step) {
    return step.kind == Kind::Loop ? MayBlockOutside(step.body, block) : MayBlock(step);
  });
}

// Whether the warp, once it has triggered the event for the last time, waits for nothing more in
// this turn of the block.
bool RunsOutBehind(const Steps& steps, ir::StorageId event) {
  for (size_t i = steps.size(); i-- > 0;) {
    if (Holds(steps[i], event, Kind::Trigger)) {
      return steps[i].kind != Kind::Loop || RunsOutBehind(steps[i].body, event);
    }
    if (MayBlock(steps[i])) return false;
  }
  return false;
}

class Proof {
 public:
  Proof(const ir::Kernel& kernel, ir::StorageId event, const WarpEvents& waiter,
        const WarpEvents& trigger)
      : kernel_(kernel), event_(event), waiter_(waiter), trigger_(trigger) {}

  bool Holds() const {
    const auto wait = OnlyPlace(waiter_, event_, Kind::Wait);
    const auto trigger = OnlyPlace(trigger_, event_, Kind::Trigger);
    if (!wait || !trigger || wait->turns != trigger->turns) return false;
    // The trigger of turn i makes generation i + 1 of a ready event: the waits of turn i are before
    // it. Of others it makes generation i, and the waits of the turn before are.
    const int64_t needed = kernel_.storages[event_].ready ? 0 : -1;
    const Steps& steps = *trigger->block;
    return std::any_of(steps.begin(), steps.end(), [&](const WarpStep& step) {
      return step.kind == Kind::Wait && step.whole_warp && step.event != event_ &&
             Shown(*wait, *trigger, step) >= needed;
    });
  }

  // Whether the waiter, once the trigger has come, needs nobody any more to come to its next wait
  // for the event. Warps of which each does so can wait for one another there.
  bool WaiterComesByItself() const {
    const auto wait = OnlyPlace(waiter_, event_, Kind::Wait);
    const auto trigger = OnlyPlace(trigger_, event_, Kind::Trigger);
    if (!wait || !trigger || !kernel_.storages[event_].ready) return false;
    const Steps& block = *wait->block;
    const Steps& steps = *trigger->block;
    if (waiter_.may_block || MayBlockOutside(waiter_.steps, block)) return false;
    for (size_t i = 0; i < wait->at; ++i) {
      if (MayBlock(block[i]) && !IsServedBefore(*wait, *trigger, block[i])) return false;
    }
    for (const WarpStep& by : steps) {
      if (&by > &steps[trigger->at]) break;
      if (by.kind != Kind::Wait || !by.whole_warp || by.event == event_) continue;
      // All that the waiter triggers in a turn, the last behind its wait, comes before the trigger.
      if (kernel_.storages[by.event].ready ||
          !Paired(*wait, Kind::Trigger, *trigger, Kind::Wait, by))
        continue;
      const bool last = std::none_of(
          steps.begin() + static_cast<std::ptrdiff_t>(trigger->at), steps.end(),
          [&](const WarpStep& later) { return passes::Holds(later, by.event, Kind::Wait); });
      if (last && RunsOutBehind(block, by.event)) return true;
    }
    return false;
  }

 private:
  static constexpr int64_t kNothing = -1000;

  // Whether the waiter does the one with the event as often a turn as the other warp the other, and
  // all of it in these two blocks.
  bool Paired(const Place& wait, Kind mine, const Place& trigger, Kind theirs,
              const WarpStep& step) const {
    const ir::StorageId event = step.event;
    if (waiter_.unknown.contains(event) || trigger_.unknown.contains(event)) return false;
    if (Sites(*wait.block, event, mine) != Sites(waiter_.steps, event, mine) ||
        Sites(*trigger.block, event, theirs) != Sites(trigger_.steps, event, theirs)) {
      return false;
    }
    const auto a = TimesATurn(*wait.block, event, mine);
    const auto b = TimesATurn(*trigger.block, event, theirs);
    return a && b && *a == *b;
  }

  // Whether a wait of the waiter in front of that for the event has what it needs once the trigger
  // has come: a slot of a ready ring that the triggering warp itself has released before.
  bool IsServedBefore(const Place& wait, const Place& trigger, const WarpStep& step) const {
    if (step.kind != Kind::Wait) return false;
    const ir::Storage& ring = kernel_.storages[step.event];
    // What completes an event of the cluster comes from other CTAs as well.
    if (!ring.ready || ring.cluster || !Paired(wait, Kind::Wait, trigger, Kind::Trigger, step))
      return false;
    const auto first = wait.block->begin(), at = first + static_cast<std::ptrdiff_t>(wait.at);
    const auto in_front = std::count_if(first, at, [&](const WarpStep& before) {
      return passes::Holds(before, step.event, Kind::Wait);
    });
    const auto trigger_at = trigger.block->begin() + static_cast<std::ptrdiff_t>(trigger.at);
    const bool all_before = std::none_of(
        trigger_at, trigger.block->end(),
        [&](const WarpStep& later) { return passes::Holds(later, step.event, Kind::Trigger); });
    return all_before && in_front <= std::max(ring.array_size, 1);
  }

  // The turn, counted from that of the trigger, in which the waiter has waited for the event as the
  // trigger's wait `by` shows.
  int64_t Shown(const Place& wait, const Place& trigger, const WarpStep& by) const {
    const ir::StorageId other = by.event;
    if (!Paired(wait, Kind::Trigger, trigger, Kind::Wait, by)) return kNothing;
    int64_t turn = 0;
    const ir::Storage& ring = kernel_.storages[other];
    if (ring.ready) {  // its first generations, one a slot, are nobody's
      const auto taken = TimesATurn(*trigger.block, other, Kind::Wait);
      const auto times = taken ? AsConstant(*taken) : std::nullopt;
      if (!times || *times < 1) return kNothing;
      turn -= (std::max(ring.array_size, 1) + *times - 1) / *times;
    }
    if (&by > &(*trigger.block)[trigger.at]) --turn;
    for (size_t i = 0; i < wait.at; ++i) {
      if (passes::Holds((*wait.block)[i], other, Kind::Trigger)) return turn - 1;
    }
    return turn;
  }

  const ir::Kernel& kernel_;
  const ir::StorageId event_;
  const WarpEvents& waiter_;
  const WarpEvents& trigger_;
};

class HandOffs {
 public:
  HandOffs(const ir::Kernel& kernel, const EventSites& sites) : kernel_(kernel), sites_(sites) {}

  std::map<ir::StorageId, HandOff> Find() {
    std::map<ir::StorageId, HandOff> found;
    for (const auto& [event, plan] : sites_.events()) {
      if (const auto hand_off = Candidate(event, plan); hand_off && Alternates(event, *hand_off)) {
        found[event] = *hand_off;
      }
    }
    return found;
  }

 private:
  std::optional<HandOff> Candidate(ir::StorageId event, const EventPlan& plan) const {
    if (kernel_.storages[event].array_size > 1 || kernel_.storages[event].cluster) {
      return std::nullopt;
    }
    HandOff hand_off;
    for (const ir::Op* op : plan.waits) hand_off.waiters |= sites_.Wait(*op).active;
    for (const ir::Op* op : plan.triggers) {
      if (!sites_.Trigger(*op).issuers.empty()) return std::nullopt;  // TMA completes it
      hand_off.triggers |= sites_.Trigger(*op).active;
    }
    const auto whole_warps = [](const ThreadSet& threads) {
      Scope scope;
      scope.active = threads;
      return threads.any() && scope.whole_warps();
    };
    if (!whole_warps(hand_off.waiters) || !whole_warps(hand_off.triggers) ||
        (hand_off.waiters & hand_off.triggers).any()) {
      return std::nullopt;
    }
    return hand_off;
  }

  bool Alternates(ir::StorageId event, const HandOff& hand_off) {
    const auto warps_of = [&](const ThreadSet& threads) {
      std::vector<int> warps;
      for (int w = 0; w * kWarpSize < kernel_.host.threads; ++w) {
        if (threads.test(static_cast<size_t>(w) * kWarpSize)) warps.push_back(w);
      }
      return warps;
    };
    const std::vector<int> waiters = warps_of(hand_off.waiters);
    const bool act_together = ActTogether(waiters);
    for (const int waiter : waiters) {
      for (const int trigger : warps_of(hand_off.triggers)) {
        const Proof proof(kernel_, event, EventsOf(waiter), EventsOf(trigger));
        const bool by_itself = !MeetsOthers(waiter) && proof.WaiterComesByItself();
        if (!proof.Holds() || !(act_together || by_itself)) return false;
      }
    }
    return true;
  }

  // Whether the warp has to wait for others of its path in front of a trigger.
  bool MeetsOthers(int warp) const {
    const auto thread = static_cast<size_t>(warp) * kWarpSize;
    for (const auto& [event, plan] : sites_.events()) {
      for (const ir::Op* op : plan.triggers) {
        const TriggerSite& site = sites_.Trigger(*op);
        if (site.divided && site.active.test(thread)) return true;
      }
    }
    return false;
  }

  // Warps of one path that wait, trigger and meet at barriers all together: what one of them does
  // behind a wait cannot be what another needs to come to it. (At a named barrier they wait for one
  // another.)
  bool ActTogether(const std::vector<int>& warps) {
    constexpr int kWarps = kWarpgroupSize / kWarpSize;
    const auto ops_of = [&](int warp) {
      std::vector<const ir::Op*> ops;
      CollectOps(EventsOf(warp).steps, ops);
      return ops;
    };
    return std::all_of(warps.begin(), warps.end(), [&](int warp) {
      return warp / kWarps == warps[0] / kWarps && ops_of(warp) == ops_of(warps[0]) &&
             EventsOf(warp).unknown == EventsOf(warps[0]).unknown && !EventsOf(warp).narrows;
    });
  }

  static void CollectOps(const Steps& steps, std::vector<const ir::Op*>& out) {
    for (const WarpStep& step : steps) {
      out.push_back(step.op);
      CollectOps(step.body, out);
    }
  }

  const WarpEvents& EventsOf(int warp) {
    const auto it = warps_.find(warp);
    if (it != warps_.end()) return it->second;
    return warps_.emplace(warp, EventsOfWarp(kernel_, warp)).first->second;
  }

  const ir::Kernel& kernel_;
  const EventSites& sites_;
  std::map<int, WarpEvents> warps_;
};

}  // namespace

std::map<ir::StorageId, HandOff> FindHandOffs(const ir::Kernel& kernel, const EventSites& sites) {
  return HandOffs(kernel, sites).Find();
}

}  // namespace choreo::passes
