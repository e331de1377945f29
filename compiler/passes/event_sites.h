// Where events are waited for and triggered, by which threads, and how many arrivals that makes a
// generation. In: a kernel in which copies and MMAs are lowered and events are not. Out: a site for
// each `event.wait` and `event.trigger`, and the arrivals of each event.
//
// A path is the threads of one warpgroup in one role, narrowed by nested `inthreads` (language §3).
// A plain trigger counts once a path, by one elected thread, where all of the path's warps are
// known to be there: an MMA or a barrier of the path stands between its last wait and the trigger.
// Else each warp arrives for itself: a warp that lags must not have its generation completed
// without it. Nor may one that is ahead arrive for two: where only a part of a path has waited, its
// threads meet in front of the trigger. Likewise for loads: beside the thread that issues them,
// each of the path's other warps that may lag arrives.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {

struct TriggerSite {
  ir::Loc loc;
  ThreadSet active;
  bool each_warp = false;            // found at this site; the event's decision is in EventPlan
  bool unsynced = false;             // ordinary accesses since the path's last barrier
  bool divided = false;              // since then some of these threads waited, and others did not
  std::vector<int> issuers;          // `trigger … after`: the threads that issue
  std::vector<const ir::Op*> loads;  // `trigger … after`: what it binds
};

struct WaitSite {
  ThreadSet active;
  bool in_loop = false;
};

struct EventPlan {
  std::vector<const ir::Op*> waits, triggers;  // in program order
  // Triggers of the same kind that complete one generation together, by the first of them.
  std::map<const ir::Op*, std::vector<const ir::Op*>> generations;
  int arrivals = 0;  // a generation
  // Warpgroups whose warps arrive each for themselves, at plain triggers and at those of loads.
  std::set<int> each_warp, each_warp_after;
};

class EventSites {
 public:
  EventSites(const ir::Kernel& kernel, PassContext& context);

  const TriggerSite& Trigger(const ir::Op& op) const { return triggers_.at(&op); }
  const WaitSite& Wait(const ir::Op& op) const { return waits_.at(&op); }
  const std::map<ir::StorageId, EventPlan>& events() const { return events_; }
  // The threads that arrive at a plain trigger; at that of loads, those that do not issue.
  std::vector<int> Arrivals(const ir::Op& op) const;
  // Whether threads read or write, by ordinary accesses, a tile that multicast loads fill: then
  // events of the cluster must tell other CTAs of these.
  bool accesses_multicast_tiles() const { return accesses_multicast_tiles_; }
  // Loads that a trigger binds; the others are lost.
  bool IsBound(const ir::Op& load) const { return bound_.contains(&load); }

 private:
  // What a path did since its last barrier.
  struct State {
    bool accessed = false;  // shared or written memory, by ordinary accesses
    bool lagging = false;   // waited for an event: its warps may have gone on at different times
    std::vector<ThreadSet> waited;  // each set of threads that did
    // Whether anything was new.
    bool Join(const State& other) {
      bool changed = (other.accessed && !accessed) || (other.lagging && !lagging);
      accessed |= other.accessed;
      lagging |= other.lagging;
      for (const ThreadSet& threads : other.waited) changed |= AddWaited(threads);
      return changed;
    }
    bool AddWaited(const ThreadSet& threads);
    bool Divides(const ThreadSet& threads) const;
  };
  // Triggers that complete one generation together: of one block, nested `inthreads` included, with
  // one order that is not stepped in between.
  struct Generation {
    ir::StorageId event;
    bool after = false;
    ir::ExprId order;
    std::vector<const ir::Op*> sites;
  };
  // How often each thread arrives in a generation.
  using Arrivers = std::map<int, int>;

  void Walk(const ir::Region& region);
  void WalkOps(const ir::Region& region, std::vector<Generation>& generations);
  void WalkOp(const ir::Op& op, std::vector<Generation>& generations);
  void WalkLoop(const ir::Region& body);
  void Close(const ir::Op& op, std::vector<Generation>& generations) const;
  void AddTrigger(const ir::Op& op, const ir::EventTrigger& trigger,
                  std::vector<Generation>& generations);
  std::vector<int> Issuers(const ir::EventTrigger& trigger, const TriggerSite& site) const;
  void Plan(ir::StorageId id, EventPlan& plan);
  void ArriveForThemselves(EventPlan& plan) const;
  Arrivers ArriversOf(const std::vector<const ir::Op*>& sites) const;
  // The warpgroups in which both have triggers by the same threads.
  ThreadSet Common(const std::vector<const ir::Op*>& a, const std::vector<const ir::Op*>& b) const;

  const ir::Kernel& kernel_;
  PassContext& context_;
  Dependence dependence_;
  ScopeTracker scope_;
  State state_;
  int loops_ = 0;
  // The last load of each future; null: issued in a block that has ended.
  std::map<ir::VarId, const ir::Op*> loads_;
  std::set<const ir::Op*> bound_;
  std::unordered_map<const ir::Op*, TriggerSite> triggers_;
  std::unordered_map<const ir::Op*, WaitSite> waits_;
  std::map<ir::StorageId, EventPlan> events_;
  bool accesses_multicast_tiles_ = false;
};

}  // namespace choreo::passes
