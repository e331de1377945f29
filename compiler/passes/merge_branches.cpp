// merge-branches: `inthreads (p == 1) wait a; inthreads (p == 2) wait b; …`, where every thread is
// in one of the branches and these differ only in the event or the named barrier: one statement for
// all, that takes its mbarrier or barrier by the index. The events become the slots of one array.
// A wait inside a branch costs more than its test: behind it the compiler below takes warps to have
// gone apart, and computes what is the same for a whole warp, MMA descriptors too, for each lane.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {
namespace {

// `inthreads` one behind the other, by the value of their variable: low, low + 1, …
struct AlikeRun {
  ir::VarId index;
  int64_t low = 0;
  std::vector<const ir::InThreads*> branches;
  // An op that names an event: which one in each branch, and where that is written.
  struct Place {
    std::vector<ir::StorageId> events;
    std::vector<ir::Loc> locs;
    bool same_event() const {
      return std::all_of(events.begin(), events.end(), [&](auto e) { return e == events[0]; });
    }
    bool same_line() const {
      return std::all_of(locs.begin(), locs.end(),
                         [&](const ir::Loc& l) { return l.line == locs[0].line; });
    }
  };
  std::vector<Place> places;
};

class Merging {
 public:
  explicit Merging(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), scope_(kernel, kernel.host.threads) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      const auto* init = std::get_if<ir::MbarrierInit>(&op.node);
      if (init != nullptr) counts_[init->event] = init->count;
    });
  }

  void Run() {
    Collect(kernel_.body);
    if (runs_.empty()) return;
    JoinEvents();
    kernel_.body = Rewrite(kernel_.body);
    PlaceEvents();
  }

 private:
  // ---- which branches ----
  void Collect(const ir::Region& region) {
    for (size_t i = 0; i < region.ops.size();) {
      const size_t length = CollectAt(region, i);
      if (length != 0) {
        i += length;
        continue;
      }
      const ir::Op& op = region.ops[i++];
      const auto* parallel = std::get_if<ir::Parallel>(&op.node);
      const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
      if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
      if (parallel != nullptr) scope_.Enter(*parallel);
      if (narrowed != nullptr) scope_.Enter(*narrowed);
      ir::VisitRegions(op, [&](const ir::Region& inner) { Collect(inner); });
      if (parallel != nullptr || narrowed != nullptr) scope_.Leave();
    }
  }

  // How many ops from here on are one run; 0: none.
  size_t CollectAt(const ir::Region& region, size_t first) {
    AlikeRun run;
    std::map<int64_t, const ir::InThreads*> by_value;
    ThreadSet covered;
    for (size_t i = first; i < region.ops.size(); ++i) {
      const auto* narrowed = std::get_if<ir::InThreads>(&region.ops[i].node);
      const auto value = narrowed == nullptr ? std::nullopt : ValueOf(*narrowed, run.index);
      if (!value || !by_value.emplace(*value, narrowed).second) break;
      scope_.Enter(*narrowed);
      covered |= scope_.current().active;
      scope_.Leave();
    }
    if (by_value.size() < 2 || covered != scope_.current().active) return 0;
    run.low = by_value.begin()->first;
    for (const auto& [value, branch] : by_value) {
      if (value != run.low + static_cast<int64_t>(run.branches.size())) return 0;
      run.branches.push_back(branch);
    }
    for (const ir::InThreads* branch : run.branches) {
      size_t place = 0;
      if (!Alike(run.branches[0]->body, branch->body, run.places, place)) return 0;
    }
    // A finding at an op that is one for all has the place of the event it is about.
    const auto usable = [&](const AlikeRun::Place& place) {
      return place.same_event() ? place.same_line() : MayJoin(place.events);
    };
    if (!std::all_of(run.places.begin(), run.places.end(), usable)) return 0;
    std::erase_if(run.places, [](const AlikeRun::Place& place) { return place.same_event(); });
    runs_[&region.ops[first]] = run;
    in_order_.push_back(&region.ops[first]);
    return run.branches.size();
  }

  // `index == constant`; the index is that of the run, if it has one yet.
  std::optional<int64_t> ValueOf(const ir::InThreads& narrowed, ir::VarId& index) const {
    const auto* equal = std::get_if<ir::Binary>(&kernel_.exprs[narrowed.predicate].node);
    if (narrowed.async || equal == nullptr || equal->op != ir::BinaryOp::Eq) return std::nullopt;
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[equal->left].node);
    const auto value = build_.AsInt(equal->right);
    if (ref == nullptr || !value || (index && index != ref->var)) return std::nullopt;
    index = ref->var;
    return value;
  }

  // Whether `b` does what `a` does, with other events and barriers; the events are noted. Named
  // barriers, which have no names, stand on one line, as what a macro makes does; their arrivals
  // for first generations, which the user does not write, where the events are declared.
  bool Alike(const ir::Region& a, const ir::Region& b, std::vector<AlikeRun::Place>& places,
             size_t& place) const {
    if (a.ops.size() != b.ops.size()) return false;
    for (size_t i = 0; i < a.ops.size(); ++i) {
      if (!Alike(a.ops[i], b.ops[i], places, place)) return false;
    }
    return true;
  }
  bool AtDeclaration(const ir::Op& op) const {
    return std::any_of(kernel_.storages.begin(), kernel_.storages.end(),
                       [&](const ir::Storage& storage) {
                         return storage.kind == ir::StorageKind::Event && storage.loc == op.loc;
                       });
  }
  bool Alike(const ir::Op& a_op, const ir::Op& b_op, std::vector<AlikeRun::Place>& places,
             size_t& place) const {
    const ir::OpNode &a = a_op.node, &b = b_op.node;
    if (a.index() != b.index()) return false;
    const auto same = [&](ir::ExprId x, ir::ExprId y) {
      return x.valid() == y.valid() && (!x.valid() || build_.Same(x, y));
    };
    const auto barrier = [&](const auto& x, const auto& y) {
      const bool one_place =
          a_op.loc.line == b_op.loc.line || (AtDeclaration(a_op) && AtDeclaration(b_op));
      return one_place && x.threads == y.threads && build_.AsInt(x.id) && build_.AsInt(y.id);
    };
    const auto event = [&](ir::StorageId x) {
      if (places.size() <= place) places.emplace_back();
      places[place].events.push_back(x);
      places[place++].locs.push_back(b_op.loc);
      return true;
    };
    if (const auto* x = std::get_if<ir::NamedBarrierSync>(&a)) {
      return barrier(*x, std::get<ir::NamedBarrierSync>(b));
    }
    if (const auto* x = std::get_if<ir::NamedBarrierArrive>(&a)) {
      return barrier(*x, std::get<ir::NamedBarrierArrive>(b));
    }
    if (const auto* x = std::get_if<ir::MbarrierWait>(&a)) {
      const auto& y = std::get<ir::MbarrierWait>(b);
      return same(x->slot, y.slot) && same(x->parity, y.parity) &&
             x->cluster_scope.set == y.cluster_scope.set && event(y.event);
    }
    if (const auto* x = std::get_if<ir::MbarrierArrive>(&a)) {
      const auto& y = std::get<ir::MbarrierArrive>(b);
      return same(x->slot, y.slot) && event(y.event);
    }
    if (const auto* x = std::get_if<ir::Assign>(&a)) {
      const auto& y = std::get<ir::Assign>(b);
      return x->var == y.var && same(x->value, y.value);
    }
    if (const auto* x = std::get_if<ir::If>(&a)) {
      const auto& y = std::get<ir::If>(b);
      return same(x->condition, y.condition) && Alike(x->then_body, y.then_body, places, place) &&
             Alike(x->else_body, y.else_body, places, place);
    }
    return std::holds_alternative<ir::SyncWarp>(a) ||
           std::holds_alternative<ir::FenceProxyAsync>(a);
  }

  // Different scalar events that count alike: slots of one array have one count.
  bool MayJoin(const std::vector<ir::StorageId>& events) const {
    for (size_t i = 0; i < events.size(); ++i) {
      const ir::Storage& storage = kernel_.storages[events[i]];
      const auto count = counts_.find(events[i]);
      if (storage.array_size != 1 || storage.cluster || count == counts_.end() ||
          count->second != counts_.at(events[0]) ||
          storage.ready != kernel_.storages[events[0]].ready ||
          std::count(events.begin(), events.end(), events[i]) != 1) {
        return false;
      }
    }
    return true;
  }

  // ---- the arrays ----
  struct Slot {
    ir::StorageId array;
    int64_t slot = 0;
  };

  void JoinEvents() {
    // Events that stand at one place are of one array, and so are all that any of them joins.
    std::map<ir::StorageId, std::set<ir::StorageId>> group_of;
    for (const auto& [op, run] : runs_) {
      for (const AlikeRun::Place& place : run.places) {
        std::set<ir::StorageId> all(place.events.begin(), place.events.end());
        for (const ir::StorageId event : place.events) {
          const auto known = group_of.find(event);
          if (known != group_of.end()) all.insert(known->second.begin(), known->second.end());
        }
        for (const ir::StorageId event : all) group_of[event] = all;
      }
    }
    for (const auto& [event, group] : group_of) {
      if (slots_.contains(event)) continue;
      ir::Storage array = kernel_.storages[event];
      array.name = NameOf(group);
      array.array_size = static_cast<int32_t>(group.size());
      const ir::StorageId id = kernel_.storages.Add(std::move(array));
      int64_t next = 0;
      for (const ir::StorageId member : group) {
        slots_[member] = {id, next++};
        std::string& names = kernel_.storages[id].slot_names;
        names += (names.empty() ? "" : " ") + kernel_.storages[member].name;
        kernel_.storages[member].byte_offset = -1;
      }
      counts_[id] = counts_.at(event);
    }
    for (const ir::Op* op : in_order_) {
      for (const AlikeRun::Place& place : runs_.at(op).places) NotePlaces(place);
    }
  }

  // The op takes the place of the first branch.
  void NotePlaces(const AlikeRun::Place& place) {
    if (place.same_line()) return;
    for (size_t i = 1; i < place.events.size(); ++i) {
      const Slot& slot = slots_.at(place.events[i]);
      const ir::Loc &from = place.locs[0], &to = place.locs[i];
      std::string& places = kernel_.storages[slot.array].slot_places;
      places += fmt::format("{}{}:{}/{}@{}:{}", places.empty() ? "" : " ", from.line, from.column,
                            slot.slot, to.line, to.column);
    }
  }

  // What their names begin with.
  std::string NameOf(const std::set<ir::StorageId>& group) const {
    std::string name = kernel_.storages[*group.begin()].name;
    for (const ir::StorageId member : group) {
      const std::string& other = kernel_.storages[member].name;
      const auto [end, unused] =
          std::mismatch(name.begin(), name.end(), other.begin(), other.end());
      name.erase(end, name.end());
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    return name.empty() ? "events" : name;
  }

  // One behind the other, where they were.
  void PlaceEvents() {
    int64_t& bytes = kernel_.host.shared_bytes;
    for (const ir::Storage& storage : kernel_.storages) {
      if (storage.kind != ir::StorageKind::Event || storage.byte_offset < 0) continue;
      bytes = std::min<int64_t>(bytes, storage.byte_offset);
    }
    for (size_t i = 0; i < kernel_.storages.size(); ++i) {
      ir::Storage& storage = kernel_.storages[kernel_.storages.IdAt(i)];
      if (storage.kind != ir::StorageKind::Event || storage.byte_offset < 0) continue;
      storage.byte_offset = static_cast<int32_t>(bytes);
      bytes += int64_t{storage.tile_bytes} * storage.array_size;
    }
  }

  // ---- the code ----
  ir::Region Rewrite(const ir::Region& region) {
    ir::Region out;
    for (size_t i = 0; i < region.ops.size(); ++i) {
      const ir::Op& op = region.ops[i];
      if (const auto run = runs_.find(&op); run != runs_.end()) {
        Merge(run->second, out);
        i += run->second.branches.size() - 1;
        continue;
      }
      ir::Op changed = op;
      std::vector<const ir::Region*> inner;
      ir::VisitRegions(op, [&](const ir::Region& r) { inner.push_back(&r); });
      size_t next = 0;
      ir::VisitRegions(changed, [&](ir::Region& r) { r = Rewrite(*inner[next++]); });
      if (!Rename(changed)) continue;
      out.ops.push_back(std::move(changed));
    }
    return out;
  }

  // Events by their arrays; false: the op is not needed any more.
  bool Rename(ir::Op& op) {
    const auto rename = [&](ir::StorageId& event, ir::ExprId& slot) {
      const auto at = slots_.find(event);
      if (at == slots_.end()) return;
      event = at->second.array;
      slot = build_.Int(at->second.slot);
    };
    if (auto* init = std::get_if<ir::MbarrierInit>(&op.node)) {
      const auto at = slots_.find(init->event);
      if (at == slots_.end()) return true;
      init->event = at->second.array;
      return at->second.slot == 0;
    }
    if (auto* wait = std::get_if<ir::MbarrierWait>(&op.node)) rename(wait->event, wait->slot);
    if (auto* arrive = std::get_if<ir::MbarrierArrive>(&op.node)) {
      rename(arrive->event, arrive->slot);
    }
    if (auto* expect = std::get_if<ir::MbarrierExpectTx>(&op.node)) {
      rename(expect->event, expect->slot);
    }
    if (auto* load = std::get_if<ir::TmaLoadBox>(&op.node)) rename(load->event, load->slot);
    return true;
  }

  void Merge(const AlikeRun& run, ir::Region& out) {
    std::vector<const ir::Region*> bodies;
    for (const ir::InThreads* branch : run.branches) bodies.push_back(&branch->body);
    Merge(run, bodies, out);
  }
  void Merge(const AlikeRun& run, const std::vector<const ir::Region*>& bodies, ir::Region& out) {
    for (size_t i = 0; i < bodies[0]->ops.size(); ++i) {
      ir::Op op = bodies[0]->ops[i];
      const auto each = [&]<class Node>(const Node*, const auto& value) {
        std::vector<int64_t> values;
        for (const ir::Region* body : bodies)
          values.push_back(value(std::get<Node>(body->ops[i].node)));
        return Choose(run, values);
      };
      const auto id = [&](const auto& barrier) { return *build_.AsInt(barrier.id); };
      const auto by_slot = [&](auto& node) {
        const auto at = slots_.find(node.event);
        if (at == slots_.end()) return;
        node.slot = each(&node, [&](const auto& one) { return slots_.at(one.event).slot; });
        node.event = at->second.array;
      };
      if (auto* sync = std::get_if<ir::NamedBarrierSync>(&op.node)) {
        sync->id = each(sync, id);
      } else if (auto* arrive = std::get_if<ir::NamedBarrierArrive>(&op.node)) {
        arrive->id = each(arrive, id);
      } else if (auto* wait = std::get_if<ir::MbarrierWait>(&op.node)) {
        by_slot(*wait);
      } else if (auto* arrive = std::get_if<ir::MbarrierArrive>(&op.node)) {
        by_slot(*arrive);
      } else if (auto* branch = std::get_if<ir::If>(&op.node)) {
        std::vector<const ir::Region*> thens, elses;
        for (const ir::Region* body : bodies) {
          thens.push_back(&std::get<ir::If>(body->ops[i].node).then_body);
          elses.push_back(&std::get<ir::If>(body->ops[i].node).else_body);
        }
        branch->then_body = {};
        branch->else_body = {};
        Merge(run, thens, branch->then_body);
        Merge(run, elses, branch->else_body);
      }
      out.ops.push_back(std::move(op));
    }
  }

  // values[k] where the index is low + k.
  ir::ExprId Choose(const AlikeRun& run, const std::vector<int64_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    const ir::ExprId index = build_.Cast(build_.Var(run.index), Elem::kS32);
    const ir::ExprId k = build_.Sub(index, run.low);
    bool constant = true, rising = true, turned = true;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t value = values[static_cast<size_t>(i)];
      constant = constant && value == values[0];
      rising = rising && value == values[0] + i;
      turned = turned && value == (values[0] + i) % count;
    }
    if (constant) return build_.Int(values[0]);
    if (rising) return build_.Add(index, values[0] - run.low);
    if (turned) return build_.Mod(build_.Add(k, values[0]), count);
    ir::ExprId choice = build_.Int(values.back());
    for (int64_t i = count - 1; i-- > 0;) {
      choice = build_.Select(build_.Eq(k, i), build_.Int(values[static_cast<size_t>(i)]), choice);
    }
    return choice;
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  ScopeTracker scope_;
  std::map<ir::StorageId, int32_t> counts_;  // arrivals of each mbarrier
  std::map<const ir::Op*, AlikeRun> runs_;   // by the first op
  std::vector<const ir::Op*> in_order_;      // of the program
  std::map<ir::StorageId, Slot> slots_;      // of events that were joined
};

}  // namespace

ir::Kernel MergeBranches(ir::Kernel kernel, PassContext&) {
  Merging(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
