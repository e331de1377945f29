#include "passes/event_sites.h"

#include <algorithm>
#include <utility>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

// Whether an op reads or writes what `counts` by ordinary accesses. WGMMA and TMA are not ordinary.
template <class Counts>
bool AccessesOrdinarily(const ir::Kernel& kernel, const ir::Op& op, const Counts& counts) {
  if (std::holds_alternative<ir::TmaStoreBox>(op.node) ||
      std::holds_alternative<ir::TmaLoad>(op.node)) {
    return false;
  }
  const ir::StorageUse use = ir::DirectStorageUse(kernel, op);
  if (std::any_of(use.writes.begin(), use.writes.end(), counts)) return true;
  bool read = std::holds_alternative<ir::MmaLoad>(op.node) ||
              std::holds_alternative<ir::CopyVec>(op.node) ||
              std::holds_alternative<ir::LdMatrix>(op.node);
  read = read && std::any_of(use.reads.begin(), use.reads.end(), counts);
  ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
    ir::ForEachSubExpr(kernel, root, [&](ir::ExprId id) {
      const ir::ExprNode& node = kernel.exprs[id].node;
      if (const auto* mem = std::get_if<ir::MemElem>(&node)) read |= counts(mem->storage);
      if (const auto* elem = std::get_if<ir::ViewElem>(&node)) {
        read |= counts(kernel.views[elem->view].storage);
      }
    });
  });
  return read;
}

// Whether an op accesses memory ordinarily: shared tiles and parameters that the kernel writes.
bool IsOrdinaryAccess(const ir::Kernel& kernel, const ir::Op& op) {
  return AccessesOrdinarily(kernel, op, [&](ir::StorageId id) {
    const ir::Storage& storage = kernel.storages[id];
    if (storage.kind == ir::StorageKind::Shared) return true;
    return storage.kind == ir::StorageKind::Param &&
           kernel.params[static_cast<size_t>(storage.param_index)].written;
  });
}

bool AccessesMulticastTiles(const ir::Kernel& kernel) {
  std::set<ir::StorageId> tiles;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* load = std::get_if<ir::TmaLoad>(&op.node);
    if (load != nullptr && load->multicast) tiles.insert(kernel.views[load->dst].storage);
  });
  bool accesses = false;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    accesses = accesses ||
               AccessesOrdinarily(kernel, op, [&](ir::StorageId id) { return tiles.contains(id); });
  });
  return accesses;
}

bool Uses(const ir::Kernel& kernel, ir::ExprId expr, ir::VarId var) {
  bool uses = false;
  if (!expr) return uses;
  ir::ForEachSubExpr(kernel, expr, [&](ir::ExprId id) {
    const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[id].node);
    uses |= ref != nullptr && ref->var == var;
  });
  return uses;
}

}  // namespace

bool EventSites::State::AddWaited(const ThreadSet& threads) {
  if (std::find(waited.begin(), waited.end(), threads) != waited.end()) return false;
  waited.push_back(threads);
  return true;
}

bool EventSites::State::Divides(const ThreadSet& threads) const {
  for (int first = 0; first < kMaxThreads; first += kWarpgroupSize) {
    const ThreadSet here = threads & ThreadRange(first, kWarpgroupSize);
    for (const ThreadSet& some : waited) {
      if ((some & here).any() && (here & ~some).any()) return true;
    }
  }
  return false;
}

EventSites::EventSites(const ir::Kernel& kernel, PassContext& context)
    : kernel_(kernel), context_(context), dependence_(kernel), scope_(kernel, kernel.host.threads) {
  Walk(kernel.body);
  for (auto& [id, plan] : events_) Plan(id, plan);
  accesses_multicast_tiles_ = AccessesMulticastTiles(kernel);
}

void EventSites::Walk(const ir::Region& region) {
  std::vector<Generation> generations;
  WalkOps(region, generations);
  for (Generation& generation : generations) {
    const ir::Op* first = generation.sites.front();
    events_.at(generation.event).generations[first] = std::move(generation.sites);
  }
}

void EventSites::WalkOps(const ir::Region& region, std::vector<Generation>& generations) {
  // Loads of a block are in reach until its end.
  const auto outer = loads_;
  for (const ir::Op& op : region.ops) WalkOp(op, generations);
  const auto inner = std::exchange(loads_, outer);
  for (const auto& [future, load] : inner) {
    const auto before = outer.find(future);
    if (before == outer.end() || before->second != load) loads_[future] = nullptr;
  }
}

// After an assignment to its order, in `op` or deeper, a trigger is of another generation.
void EventSites::Close(const ir::Op& op, std::vector<Generation>& generations) const {
  const auto close = [&](const ir::Op& inner) {
    const auto* assign = std::get_if<ir::Assign>(&inner.node);
    if (assign == nullptr) return;
    for (Generation& g : generations) {
      if (Uses(kernel_, g.order, assign->var)) g.order = {};
    }
  };
  close(op);
  ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, close); });
}

void EventSites::WalkLoop(const ir::Region& body) {
  ++loops_;
  State entry = state_;
  do {
    state_ = entry;
    Walk(body);
  } while (entry.Join(state_));
  state_ = entry;
  --loops_;
}

void EventSites::WalkOp(const ir::Op& op, std::vector<Generation>& generations) {
  if (IsOrdinaryAccess(kernel_, op)) state_.accessed = true;
  if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
    scope_.Enter(*parallel);
    Walk(parallel->body);
    scope_.Leave();
  } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
    scope_.Enter(*narrowed);
    const State before = state_;
    if (narrowed->async) {
      state_ = {};
      Walk(narrowed->body);
      state_ = before;
    } else {
      WalkOps(narrowed->body, generations);
      state_.Join(before);
    }
    scope_.Leave();
  } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
    WalkLoop(loop->body);
    Close(op, generations);
  } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
    WalkLoop(loop->body);
    Close(op, generations);
  } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
    const State before = state_;
    const auto walk = [&](const ir::Region& region, bool holds) {
      const bool narrowed = scope_.EnterWhere(branch->condition, holds);
      Walk(region);
      if (narrowed) scope_.Leave();
    };
    walk(branch->then_body, true);
    const State after_then = std::exchange(state_, before);
    walk(branch->else_body, false);
    state_.Join(after_then);
    Close(op, generations);
  } else if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
    Walk(apply->body);
  } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
    scope_.Note(*let);
  } else if (std::holds_alternative<ir::Assign>(op.node)) {
    Close(op, generations);
  } else if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
    loads_[load->future] = &op;
  } else if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) {
    state_.lagging = true;
    state_.AddWaited(scope_.current().active);
    if (!waits_.contains(&op)) events_[wait->event].waits.push_back(&op);
    waits_[&op] = {scope_.current().active, loops_ != 0};
  } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
    AddTrigger(op, *trigger, generations);
  } else if (const auto* barrier = std::get_if<ir::NamedBarrierSync>(&op.node)) {
    // One of the source may join others than the threads of this path.
    const auto here = static_cast<int>(scope_.current().active.count());
    if (!ir::AsInt(kernel_, barrier->id) || barrier->threads == here) state_ = {};
  } else if (std::holds_alternative<ir::CtaBarrier>(op.node)) {
    state_ = {};
  } else if (std::holds_alternative<ir::WgmmaWait>(op.node)) {
    state_.lagging = false;  // an MMA is the whole warpgroup's
    state_.waited.clear();
  }
}

std::vector<int> EventSites::Issuers(const ir::EventTrigger& trigger,
                                     const TriggerSite& site) const {
  unsigned depends = 0;
  for (const ir::Op* op : site.loads) {
    const auto& load = std::get<ir::TmaLoad>(op->node);
    depends |= dependence_.Of(kernel_.views[load.src]) | dependence_.Of(kernel_.views[load.dst]);
  }
  if (trigger.order) depends |= dependence_.Of(trigger.order);
  const bool each_group = (depends & (kOnWarpgroup | kOnWarp)) != 0;
  const int size = !each_group                                 ? kMaxThreads
                   : scope_.current().level == ir::Level::Warp ? kWarpSize
                                                               : kWarpgroupSize;
  std::vector<int> issuers;
  for (int first = 0; first < kernel_.host.threads; first += size) {
    const ThreadSet here = site.active & ThreadRange(first, std::min(size, kMaxThreads - first));
    if (here.any()) issuers.push_back(FirstOf(here));
  }
  return issuers;
}

void EventSites::AddTrigger(const ir::Op& op, const ir::EventTrigger& trigger,
                            std::vector<Generation>& generations) {
  const bool again = triggers_.contains(&op);
  TriggerSite& site = triggers_[&op];
  site.loc = op.loc;
  site.active = scope_.current().active;
  site.unsynced |= state_.accessed;
  site.divided |= state_.Divides(site.active);
  site.loads.clear();
  for (const ir::VarId future : trigger.futures) {
    const auto it = loads_.find(future);
    if (it == loads_.end() || it->second == nullptr) {
      context_.diags.Emit(diag::kinds::LoadOutOfReach, context_.Where(op.loc),
                          kernel_.vars[future].name);
      continue;
    }
    site.loads.push_back(it->second);
    bound_.insert(it->second);
  }
  const bool after = !trigger.futures.empty();
  if (after) site.issuers = Issuers(trigger, site);
  // `trigger … after` publishes its loads alone, whatever else the path accessed.
  site.each_warp |= state_.lagging || (state_.accessed && !after);
  if (!again) events_[trigger.event].triggers.push_back(&op);
  for (Generation& g : generations) {
    // Each trigger of a scalar event is a generation of its own for the path.
    if (trigger.order && g.order && g.event == trigger.event && g.after == after &&
        ir::Same(kernel_, g.order, trigger.order)) {
      g.sites.push_back(&op);
      return;
    }
  }
  generations.push_back({trigger.event, after, trigger.order, {&op}});
}

// Which warpgroups arrive warp by warp: one that has to at one site does at all.
void EventSites::ArriveForThemselves(EventPlan& plan) const {
  for (const ir::Op* op : plan.triggers) {
    const TriggerSite& site = triggers_.at(op);
    if (!site.each_warp) continue;
    for (int g = 0; g < kMaxThreads / kWarpgroupSize; ++g) {
      if ((site.active & ThreadRange(g * kWarpgroupSize, kWarpgroupSize)).none()) continue;
      (site.issuers.empty() ? plan.each_warp : plan.each_warp_after).insert(g);
    }
  }
}

EventSites::Arrivers EventSites::ArriversOf(const std::vector<const ir::Op*>& sites) const {
  Arrivers arrivers;
  for (const ir::Op* op : sites) {
    for (const int t : triggers_.at(op).issuers) ++arrivers[t];
    for (const int t : Arrivals(*op)) ++arrivers[t];
  }
  return arrivers;
}

ThreadSet EventSites::Common(const std::vector<const ir::Op*>& a,
                             const std::vector<const ir::Op*>& b) const {
  ThreadSet of_a, of_b, common;
  for (const ir::Op* op : a) of_a |= triggers_.at(op).active;
  for (const ir::Op* op : b) of_b |= triggers_.at(op).active;
  for (int first = 0; first < kMaxThreads; first += kWarpgroupSize) {
    const ThreadSet group = ThreadRange(first, kWarpgroupSize);
    if ((of_a & of_b & group).any()) common |= group;
  }
  return common;
}

// Every generation has the same arrivals: the generations of one path follow each other, those of
// others come beside them.
void EventSites::Plan(ir::StorageId id, EventPlan& plan) {
  ArriveForThemselves(plan);
  Arrivers plain, after;
  std::vector<const std::vector<const ir::Op*>*> seen;
  for (const ir::Op* op : plan.triggers) {
    const auto it = plan.generations.find(op);
    if (it == plan.generations.end()) continue;
    const std::vector<const ir::Op*>& sites = it->second;
    const TriggerSite& site = triggers_.at(op);
    const Arrivers arrivers = ArriversOf(sites);
    for (const auto* other : seen) {
      const TriggerSite& first = triggers_.at(other->front());
      if (first.issuers.empty() != site.issuers.empty()) continue;
      const ThreadSet common = Common(sites, *other);
      const auto in_common = [&](const Arrivers& all) {
        Arrivers some = all;
        std::erase_if(some,
                      [&](const auto& a) { return !common.test(static_cast<size_t>(a.first)); });
        return some;
      };
      const Arrivers here = in_common(arrivers), there = in_common(ArriversOf(*other));
      if (here == there) continue;
      int arrive_here = 0, arrive_there = 0;
      for (const auto& [thread, count] : here) arrive_here += count;
      for (const auto& [thread, count] : there) arrive_there += count;
      const auto what = [&](int arrive, const TriggerSite& trigger) {
        return arrive_here != arrive_there
                   ? fmt::format("{} arrivals of these threads", arrive)
                   : fmt::format("one of {} threads", trigger.active.count());
      };
      context_.diags
          .Emit(diag::kinds::ParticipantsDiffer, context_.Where(site.loc),
                kernel_.storages[id].name, what(arrive_here, site), what(arrive_there, first))
          .Note(context_.Where(first.loc), "the other trigger is here");
      break;
    }
    seen.push_back(&sites);
    Arrivers& of_kind = site.issuers.empty() ? plain : after;
    for (const auto& [thread, count] : arrivers) {
      of_kind[thread] = std::max(of_kind[thread], count);
    }
  }
  for (const auto& [thread, count] : plain) plan.arrivals += count;
  for (const auto& [thread, count] : after) plan.arrivals += count;
}

std::vector<int> EventSites::Arrivals(const ir::Op& op) const {
  const TriggerSite& site = triggers_.at(&op);
  const EventPlan& plan = events_.at(std::get<ir::EventTrigger>(op.node).event);
  const bool after = !site.issuers.empty();
  std::vector<int> threads;
  for (int g = 0; g < kMaxThreads / kWarpgroupSize; ++g) {
    const bool each_warp = (after ? plan.each_warp_after : plan.each_warp).contains(g);
    if (after && !each_warp) continue;
    const int size = each_warp ? kWarpSize : kWarpgroupSize;
    for (int first = g * kWarpgroupSize; first < (g + 1) * kWarpgroupSize; first += size) {
      const ThreadSet here = site.active & ThreadRange(first, size);
      if (here.none()) continue;
      if (each_warp && here.count() != kWarpSize) {
        // Lanes of a divided warp have no barrier among themselves: each arrives.
        for (int t = first; t < first + size; ++t) {
          if (here.test(static_cast<size_t>(t))) threads.push_back(t);
        }
      } else {
        threads.push_back(FirstOf(here));
      }
    }
  }
  // An issuer arrives with the bytes it expects.
  std::erase_if(threads, [&](int t) {
    return std::find(site.issuers.begin(), site.issuers.end(), t) != site.issuers.end();
  });
  return threads;
}

}  // namespace choreo::passes
