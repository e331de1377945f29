// lower-events: every event becomes a ring of mbarriers behind the tiles in shared memory, a wait
// the wait for slot and parity of its order, a trigger an arrival of an elected thread; a hand-off
// of which a named barrier holds all that is needed (see hand_offs.h) becomes one. A TMA load is
// issued where it is bound to its event: until then nothing can have waited for it. A load that its
// own path waits for completes on an event of its own.
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "ir/walk.h"
#include "passes/elected.h"
#include "passes/event_sites.h"
#include "passes/hand_offs.h"
#include "passes/load_events.h"
#include "passes/pass.h"
#include "passes/scope.h"
#include "passes/tma_boxes.h"
#include "passes/trigger_meetings.h"

namespace choreo::passes {
namespace {

constexpr int kMbarrierBytes = 8;
constexpr int64_t kMostTransactionBytes = (1 << 20) - 1;  // of one phase of an mbarrier

class EventLowering {
 public:
  EventLowering(ir::Kernel& kernel, PassContext& context)
      : kernel_(kernel),
        context_(context),
        errors_before_(context.diags.error_count()),
        build_(kernel),
        divisors_(kernel),
        scope_(kernel, kernel.host.threads),
        sites_(kernel, context) {}

  void Run() {
    if (context_.diags.error_count() != errors_before_) return;  // of this kernel's sites
    next_barrier_ = LargestBarrierId() + 1;
    ChooseMeetings();
    if (!context_.mbarriers_only) ChooseNamedBarriers();
    const size_t events = Place();
    ir::Region body = Rewrite(kernel_.body);
    if (events != 0) Begin(body);
    kernel_.body = std::move(body);
  }

 private:
  struct NamedBarrier {
    int id = 0, threads = 0;
    ThreadSet triggers;
  };
  void ChooseMeetings();
  void Meet(const ir::Op& op, const TriggerSite& site, ir::Region& out);
  void ChooseNamedBarriers();
  int LargestBarrierId() const;
  ThreadSet TriggersIn(const ir::Region& role, ir::StorageId event) const;
  ThreadSet TriggersInRoles(const ir::Region& region, ir::StorageId event) const;
  ir::ExprId PredicateOfTriggers(const ir::Region& role, ir::StorageId event,
                                 const ThreadSet& threads);
  void GiveFirstGenerations(const ir::Region& role, std::vector<ir::Op>& out);
  size_t Place();
  void Begin(ir::Region& body);
  ir::Region Rewrite(const ir::Region& region);
  void Wait(const ir::Op& op, const ir::EventWait& wait, ir::Region& out);
  void Trigger(const ir::Op& op, const ir::EventTrigger& trigger, ir::Region& out);
  void ArriveInCluster(const ir::Op& op, const ir::EventTrigger& trigger, ir::Region& out);
  void Issue(const TriggerSite& site, const ir::EventTrigger& trigger, ir::Region& out);
  ir::ExprId Policy(ir::EvictPolicy policy, ir::Loc loc);

  // Slot and parity of an order.
  ir::ExprId Order(ir::ExprId order) { return build_.Cast(order, Elem::kU32); }
  ir::ExprId Slot(ir::StorageId event, ir::ExprId order) {
    const int32_t slots = kernel_.storages[event].array_size;
    if (!order || slots == 1) return build_.Int(0);
    return build_.Cast(build_.Mod(Order(order), slots), Elem::kS32);
  }
  bool HasClusterOps() const;
  void Guarded(ir::ExprId condition, ir::Region body, ir::Region& out, ir::Loc loc) {
    if (condition) {
      out.ops.push_back({loc, ir::If{condition, std::move(body), {}}});
    } else {
      for (ir::Op& op : body.ops) out.ops.push_back(std::move(op));
    }
  }

  ir::Kernel& kernel_;
  PassContext& context_;
  const size_t errors_before_;
  ir::ExprBuilder build_;
  Divisors divisors_;
  ScopeTracker scope_;
  EventSites sites_;  // of the ops of the body as it was
  int next_barrier_ = 0;
  std::vector<Meeting> meetings_;
  std::map<ir::StorageId, NamedBarrier> named_;  // events that are named barriers
  // Of the waits on scalar events: one for several events that different threads wait for.
  struct Counter {
    ir::VarId var;
    std::set<ir::StorageId> events;
    ThreadSet threads;
  };
  ir::VarId CounterOf(ir::StorageId event);
  std::vector<Counter> counters_;
  std::map<ir::EvictPolicy, ir::VarId> policies_;  // of the role that is rewritten
  std::vector<ir::Op> policy_ops_;
};

// Ids of barriers that stand in the kernel already; computed ones number the warpgroups.
int EventLowering::LargestBarrierId() const {
  int largest = 0;
  ir::ForEachOp(kernel_.body, [&](const ir::Op& op) {
    const auto* sync = std::get_if<ir::NamedBarrierSync>(&op.node);
    const auto* arrive = std::get_if<ir::NamedBarrierArrive>(&op.node);
    const auto* vote = std::get_if<ir::NamedBarrierVote>(&op.node);
    if (sync == nullptr && arrive == nullptr && vote == nullptr) return;
    const ir::ExprId id = sync != nullptr ? sync->id : arrive != nullptr ? arrive->id : vote->id;
    int64_t base = 0;
    ir::ForEachSubExpr(kernel_, id, [&](ir::ExprId e) {
      if (const auto* constant = std::get_if<ir::IntConst>(&kernel_.exprs[e].node)) {
        base = std::max(base, constant->value);
      }
    });
    if (!build_.AsInt(id)) base += kernel_.host.threads / kWarpgroupSize;
    largest = std::max(largest, static_cast<int>(std::min<int64_t>(base, kHardwareBarriers)));
  });
  return largest;
}

void EventLowering::ChooseMeetings() {
  for (const auto& [event, plan] : sites_.events()) {
    for (const ir::Op* op : plan.triggers) {
      auto meeting = MeetingOf(sites_.Trigger(*op));
      if (!meeting || meeting->size == kWarpSize) continue;
      const bool known = std::any_of(meetings_.begin(), meetings_.end(), [&](const Meeting& m) {
        return m.threads == meeting->threads;
      });
      if (known) continue;
      meeting->first_id = next_barrier_;
      next_barrier_ += meeting->groups;
      meetings_.push_back(*meeting);
      if (next_barrier_ > kHardwareBarriers) {
        context_.diags.Emit(diag::kinds::TooManyBarriers, context_.Where(op->loc), kernel_.name);
        return;
      }
    }
  }
}

// In front of a trigger of threads of which some have waited: none arrives before all are there.
void EventLowering::Meet(const ir::Op& op, const TriggerSite& site, ir::Region& out) {
  const auto meeting = MeetingOf(site);
  if (!meeting) return;
  if (meeting->size == kWarpSize) {
    out.ops.push_back({op.loc, ir::SyncWarp{}});
    return;
  }
  for (const Meeting& chosen : meetings_) {
    if (chosen.threads != meeting->threads) continue;
    ir::ExprId id = build_.Int(chosen.first_id);
    if (chosen.groups > 1) {
      const ir::ExprId tid = build_.Call(ir::Intrinsic::ThreadIdx, {});
      id = build_.Add(build_.Div(tid, kWarpgroupSize), chosen.first_id - chosen.first_group);
    }
    out.ops.push_back({op.loc, ir::NamedBarrierSync{id, chosen.size}});
  }
}

// Those who trigger the event in roles that begin once: not under a branch nor in a loop.
ThreadSet EventLowering::TriggersInRoles(const ir::Region& region, ir::StorageId event) const {
  ThreadSet threads;
  for (const ir::Op& op : region.ops) {
    const auto* parallel = std::get_if<ir::Parallel>(&op.node);
    const auto* role = std::get_if<ir::InThreads>(&op.node);
    if (parallel != nullptr) threads |= TriggersInRoles(parallel->body, event);
    if (role != nullptr && role->async) threads |= TriggersIn(role->body, event);
  }
  return threads;
}

// Hand-offs outside of roles, and those beyond the barriers that are left, stay mbarriers.
void EventLowering::ChooseNamedBarriers() {
  for (const auto& [event, hand_off] : FindHandOffs(kernel_, sites_)) {
    const ThreadSet in_roles = TriggersInRoles(kernel_.body, event);
    if (in_roles != hand_off.triggers || next_barrier_ >= kHardwareBarriers) continue;
    const auto threads = static_cast<int>((hand_off.waiters | hand_off.triggers).count());
    named_[event] = {next_barrier_++, threads, hand_off.triggers};
  }
}

ThreadSet EventLowering::TriggersIn(const ir::Region& role, ir::StorageId event) const {
  ThreadSet threads;
  ir::ForEachOp(role, [&](const ir::Op& op) {
    const auto* trigger = std::get_if<ir::EventTrigger>(&op.node);
    if (trigger != nullptr && trigger->event == event) threads |= sites_.Trigger(op).active;
  });
  return threads;
}

// The predicate that narrows all triggers of the event alike, if it is made of constants and of
// parallel variables that the role begins with, and names `threads`; invalid: there is none.
ir::ExprId EventLowering::PredicateOfTriggers(const ir::Region& role, ir::StorageId event,
                                              const ThreadSet& threads) {
  ir::ExprId common;
  bool one = true;
  std::set<ir::VarId> inside;  // parallel variables of the role's own
  const std::function<void(const ir::Region&, ir::ExprId, int)> walk =
      [&](const ir::Region& region, ir::ExprId around, int depth) {
        for (const ir::Op& op : region.ops) {
          const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
          const auto* trigger = std::get_if<ir::EventTrigger>(&op.node);
          if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
            inside.insert(parallel->vars.begin(), parallel->vars.end());
          }
          if (trigger != nullptr && trigger->event == event) {
            one = one && depth == 1 && (!common || build_.Same(common, around));
            common = around;
          }
          ir::VisitRegions(op, [&](const ir::Region& inner) {
            walk(inner, narrowed != nullptr ? narrowed->predicate : around,
                 depth + (narrowed != nullptr ? 1 : 0));
          });
        }
      };
  walk(role, {}, 0);
  if (!one || !common) return {};
  ir::ForEachSubExpr(kernel_, common, [&](ir::ExprId e) {
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[e].node);
    one = one && (ref == nullptr || (kernel_.vars[ref->var].kind == ir::VarKind::Parallel &&
                                     !inside.contains(ref->var)));
  });
  if (!one) return {};
  scope_.Enter(ir::InThreads{common, false, {}});
  const bool same = scope_.current().active == threads;
  scope_.Leave();
  return same ? common : ir::ExprId();
}

// Generation 0 of a ready event: those who trigger it arrive once before all else.
void EventLowering::GiveFirstGenerations(const ir::Region& role, std::vector<ir::Op>& out) {
  const ir::ExprId warp = build_.Call(ir::Intrinsic::WarpIdx, {});
  for (const auto& [event, named] : named_) {
    const ir::Storage& storage = kernel_.storages[event];
    const ThreadSet threads = TriggersIn(role, event);
    if (!storage.ready || threads.none()) continue;
    const ir::Op arrival{storage.loc, ir::NamedBarrierArrive{build_.Int(named.id), named.threads}};
    if (const ir::ExprId predicate = PredicateOfTriggers(role, event, threads)) {
      ir::InThreads some{predicate, false, {}};
      some.body.ops.push_back(arrival);
      out.push_back({storage.loc, std::move(some)});
      continue;
    }
    ir::ExprId among;
    for (int w = 0; threads != scope_.current().active && w < kMaxThreads / kWarpSize; ++w) {
      if (!threads.test(static_cast<size_t>(w) * kWarpSize)) continue;
      const ir::ExprId is = build_.Eq(warp, w);
      among = among ? build_.Or(among, is) : is;
    }
    ir::Region arrive, guarded;
    arrive.ops.push_back(arrival);
    Guarded(among, std::move(arrive), guarded, storage.loc);
    out.insert(out.end(), guarded.ops.begin(), guarded.ops.end());
  }
}

// Places in shared memory, behind the tiles; scalar events are rings of one.
size_t EventLowering::Place() {
  int64_t& bytes = kernel_.host.shared_bytes;
  bytes = (bytes + kMbarrierBytes - 1) / kMbarrierBytes * kMbarrierBytes;
  size_t placed = 0;
  for (size_t i = 0; i < kernel_.storages.size(); ++i) {
    ir::Storage& storage = kernel_.storages[kernel_.storages.IdAt(i)];
    if (storage.kind != ir::StorageKind::Event) continue;
    storage.array_size = std::max(storage.array_size, 1);
    const ir::StorageId id = kernel_.storages.IdAt(i);
    if (!sites_.events().contains(id) || named_.contains(id)) continue;
    storage.byte_offset = static_cast<int32_t>(bytes);
    storage.tile_bytes = kMbarrierBytes;
    bytes += int64_t{kMbarrierBytes} * storage.array_size;
    ++placed;
  }
  return placed;
}

bool EventLowering::HasClusterOps() const {
  bool has = false;
  for (const auto& [id, plan] : sites_.events()) has |= kernel_.storages[id].cluster;
  ir::ForEachOp(kernel_.body, [&](const ir::Op& op) {
    const auto* load = std::get_if<ir::TmaLoad>(&op.node);
    has |= load != nullptr && static_cast<bool>(load->multicast);
  });
  return has;
}

// Initialisation by one thread, seen by all before anything else.
void EventLowering::Begin(ir::Region& body) {
  ir::Region init;
  for (const auto& [id, plan] : sites_.events()) {
    if (named_.contains(id)) continue;
    const int ctas = kernel_.storages[id].cluster ? kernel_.host.cluster : 1;
    init.ops.push_back(
        {kernel_.storages[id].loc, ir::MbarrierInit{id, std::max(plan.arrivals, 1) * ctas}});
  }
  init.ops.push_back({{}, ir::FenceMbarrierInit{}});
  std::vector<ir::Op> first;
  const ir::ExprId one = build_.Eq(build_.Call(ir::Intrinsic::ThreadIdx, {}), 0);
  first.push_back({{}, ir::If{one, std::move(init), {}}});
  // What other CTAs write to and arrive at is there before they do, and until they have.
  if (HasClusterOps()) {
    first.push_back({{}, ir::ClusterBarrier{}});
    body.ops.push_back({{}, ir::ClusterBarrier{}});
  } else {
    first.push_back({{}, ir::CtaBarrier{}});
  }
  for (const Counter& counter : counters_) {
    first.push_back(
        {kernel_.vars[counter.var].loc, ir::VarDecl{counter.var, build_.Int(0, Elem::kU32)}});
  }
  body.ops.insert(body.ops.begin(), first.begin(), first.end());
}

ir::VarId EventLowering::CounterOf(ir::StorageId id) {
  ThreadSet threads;
  for (const ir::Op* wait : sites_.events().at(id).waits) threads |= sites_.Wait(*wait).active;
  for (Counter& counter : counters_) {
    const bool known = counter.events.contains(id);
    if (!known && (counter.threads & threads).any()) continue;
    if (!known) kernel_.vars[counter.var].name = "event_waits";
    counter.events.insert(id);
    counter.threads |= threads;
    return counter.var;
  }
  const ir::Storage& event = kernel_.storages[id];
  const ir::VarId var =
      build_.NewVar(event.name + "_waits", Elem::kU32, ir::VarKind::Mutable, event.loc);
  counters_.push_back({var, {id}, threads});
  return var;
}

ir::Region EventLowering::Rewrite(const ir::Region& region) {
  ir::Region out;
  for (const ir::Op& op : region.ops) {
    if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) {
      Wait(op, *wait, out);
    } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
      Trigger(op, *trigger, out);
    } else if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
      if (!sites_.IsBound(op)) {
        context_.diags.Emit(diag::kinds::FutureNeverWaited, context_.Where(op.loc),
                            kernel_.vars[load->future].name, "nor bound to an event");
      }
    } else {
      ir::Op changed = op;
      const auto* parallel = std::get_if<ir::Parallel>(&op.node);
      const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
      if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
      if (parallel != nullptr) scope_.Enter(*parallel);
      if (narrowed != nullptr) scope_.Enter(*narrowed);
      // The ops of `op`, not of its copy, are the sites.
      std::vector<const ir::Region*> inner;
      ir::VisitRegions(op, [&](const ir::Region& r) { inner.push_back(&r); });
      size_t next = 0;
      ir::VisitRegions(changed, [&](ir::Region& r) { r = Rewrite(*inner[next++]); });
      if (narrowed != nullptr && narrowed->async) {
        std::vector<ir::Op> first = std::exchange(policy_ops_, {});
        policies_.clear();
        GiveFirstGenerations(narrowed->body, first);
        std::vector<ir::Op>& body = std::get<ir::InThreads>(changed.node).body.ops;
        auto at = body.begin();
        while (at != body.end() && std::holds_alternative<ir::SetMaxNReg>(at->node)) ++at;
        body.insert(at, first.begin(), first.end());
      }
      if (parallel != nullptr || narrowed != nullptr) scope_.Leave();
      out.ops.push_back(std::move(changed));
    }
  }
  return out;
}

void EventLowering::Wait(const ir::Op& op, const ir::EventWait& wait, ir::Region& out) {
  if (const auto named = named_.find(wait.event); named != named_.end()) {
    const auto& [id, threads, triggers] = named->second;
    out.ops.push_back({op.loc, ir::NamedBarrierSync{build_.Int(id), threads}});
    return;
  }
  const ir::Storage& event = kernel_.storages[wait.event];
  ir::ExprId order = wait.order;
  ir::VarId counter;
  if (!order) {
    // The generation is the number of this path's earlier waits: none, where only one wait can be.
    const WaitSite& site = sites_.Wait(op);
    int others = 0;
    for (const ir::Op* other : sites_.events().at(wait.event).waits) {
      others += (sites_.Wait(*other).active & site.active).any() ? 1 : 0;
    }
    if (others == 1 && !site.in_loop) {
      order = build_.Int(0, Elem::kU32);
    } else {
      counter = CounterOf(wait.event);
      order = build_.Var(counter);
    }
  }
  const ir::ExprId generation = build_.Div(Order(order), event.array_size);
  ir::ExprId parity = build_.Cast(build_.BitAnd(generation, 1), Elem::kS32);
  if (event.ready) parity = build_.BitXor(parity, build_.Int(1));
  const ir::ExprId slot = Slot(wait.event, wait.order);
  const bool cluster_scope = event.cluster && sites_.accesses_multicast_tiles();
  out.ops.push_back({op.loc, ir::MbarrierWait{wait.event, slot, parity, cluster_scope}});
  if (counter) {
    out.ops.push_back({op.loc, ir::Assign{counter, build_.Add(build_.Var(counter), 1)}});
  }
}

void EventLowering::Trigger(const ir::Op& op, const ir::EventTrigger& trigger, ir::Region& out) {
  if (const auto named = named_.find(trigger.event); named != named_.end()) {
    const auto& [id, threads, triggers] = named->second;
    out.ops.push_back({op.loc, ir::NamedBarrierArrive{build_.Int(id), threads}});
    return;
  }
  const TriggerSite& site = sites_.Trigger(op);
  Meet(op, site, out);
  if (!trigger.futures.empty()) Issue(site, trigger, out);
  const std::vector<int> arrivals = sites_.Arrivals(op);
  if (arrivals.empty()) return;
  Scope scope;
  scope.active = site.active;
  // What the lanes of a warp did is done before one of them says so.
  if (site.unsynced && site.issuers.empty() && scope.whole_warps())
    out.ops.push_back({op.loc, ir::SyncWarp{}});
  if (kernel_.storages[trigger.event].cluster) return ArriveInCluster(op, trigger, out);
  ir::Region arrive;
  arrive.ops.push_back(
      {op.loc, ir::MbarrierArrive{trigger.event, Slot(trigger.event, trigger.order)}});
  Guarded(IsOneOf(build_, arrivals, site.active), std::move(arrive), out, op.loc);
}

// In every CTA: a lane of the arriving warp for each, or the lane that is there for all.
void EventLowering::ArriveInCluster(const ir::Op& op, const ir::EventTrigger& trigger,
                                    ir::Region& out) {
  const TriggerSite& site = sites_.Trigger(op);
  const ir::ExprId slot = Slot(trigger.event, trigger.order);
  const bool cluster_scope = sites_.accesses_multicast_tiles();
  const int ctas = kernel_.host.cluster;
  Scope scope;
  scope.active = site.active;
  const bool whole_warps = scope.whole_warps();
  ir::Region arrive;
  for (int rank = 0; rank < (whole_warps ? 1 : ctas); ++rank) {
    const ir::ExprId to = whole_warps ? build_.Call(ir::Intrinsic::LaneIdx, {}) : build_.Int(rank);
    arrive.ops.push_back(
        {op.loc, ir::MbarrierArriveCluster{trigger.event, slot, to, cluster_scope}});
  }
  const std::vector<int> arrivals = sites_.Arrivals(op);
  Guarded(IsOneOf(build_, arrivals, site.active, whole_warps ? ctas : 1), std::move(arrive), out,
          op.loc);
}

ir::ExprId EventLowering::Policy(ir::EvictPolicy policy, ir::Loc loc) {
  if (policy == ir::EvictPolicy::None) return {};
  const auto [it, added] = policies_.try_emplace(policy);
  if (added) {
    const bool first = policy == ir::EvictPolicy::First;
    it->second = build_.NewVar(first ? "evict_first" : "evict_last", Elem::kU64, ir::VarKind::Let);
    const auto intrinsic = first ? ir::Intrinsic::EvictFirst : ir::Intrinsic::EvictLast;
    policy_ops_.push_back({loc, ir::Let{it->second, build_.Call(intrinsic, {})}});
  }
  return build_.Var(it->second);
}

void EventLowering::Issue(const TriggerSite& site, const ir::EventTrigger& trigger,
                          ir::Region& out) {
  const ir::ExprId slot = Slot(trigger.event, trigger.order);
  int64_t bytes = 0;
  ir::Region issue;
  for (const ir::Op* op : site.loads) {
    const auto& load = std::get<ir::TmaLoad>(op->node);
    const auto boxes =
        MakeTmaBoxes(build_, context_, divisors_, kernel_.views[load.src], kernel_.views[load.dst],
                     false, op->loc, static_cast<bool>(load.multicast));
    if (!boxes) return;
    const ir::StorageId tile = kernel_.views[load.dst].storage;
    const ir::ExprId policy = Policy(load.policy, op->loc);
    bytes += boxes->bytes;
    for (const TmaBox& box : boxes->boxes) {
      issue.ops.push_back({op->loc, ir::TmaLoadBox{box.map, box.at, tile, box.shared_index,
                                                   trigger.event, slot, policy, box.multicast}});
    }
    if (bytes > kMostTransactionBytes) {
      context_.diags.Emit(
          diag::kinds::TmaShape, context_.Where(op->loc), kernel_.storages[tile].name,
          kernel_.storages[kernel_.views[load.src].storage].name,
          fmt::format(
              "its generation of `{}` then waits for {} bytes, and an mbarrier counts to {}",
              kernel_.storages[trigger.event].name, bytes, kMostTransactionBytes));
      return;
    }
  }
  issue.ops.insert(
      issue.ops.begin(),
      {site.loc, ir::MbarrierExpectTx{trigger.event, slot, static_cast<int32_t>(bytes)}});
  Guarded(IsOneOf(build_, site.issuers, site.active), std::move(issue), out, site.loc);
}

}  // namespace

ir::Kernel LowerEvents(ir::Kernel kernel, PassContext& context) {
  GiveLoadsTheirEvents(kernel);
  EventLowering(kernel, context).Run();
  return kernel;
}

}  // namespace choreo::passes
