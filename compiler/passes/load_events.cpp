#include "passes/load_events.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/builder.h"
#include "ir/walk.h"

namespace choreo::passes {
namespace {

class LoadEvents {
 public:
  explicit LoadEvents(ir::Kernel& kernel) : kernel_(kernel), build_(kernel) {}

  void Run() {
    FindFutures();
    if (family_.empty()) return;
    MakeEvents();
    FindBound(kernel_.body, {});
    Rewrite(kernel_.body);
  }

 private:
  // Futures that moves connect. One event serves them, with a slot for each: a slot belongs to the
  // future that holds it, and goes with the load when the future is moved.
  struct Family {
    std::vector<ir::VarId> members;
    bool waited = false;
    ir::StorageId event;
    std::map<ir::VarId, ir::VarId> orders;  // of the slot of each; none where there is one future
  };
  using InReach = std::map<ir::VarId, const ir::Op*>;

  Family& FamilyOf(ir::VarId future) { return families_.at(family_.at(future)); }

  void FindFutures() {
    std::vector<std::pair<ir::VarId, ir::VarId>> moves;
    std::set<ir::VarId> waited;
    ir::ForEachOp(kernel_.body, [&](const ir::Op& op) {
      if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
        ++loads_of_[load->future];
        family_.try_emplace(load->future, load->future);
      } else if (const auto* move = std::get_if<ir::FutureMove>(&op.node)) {
        moves.emplace_back(move->dst, move->src);
        family_.try_emplace(move->dst, move->dst);
        family_.try_emplace(move->src, move->src);
      } else if (const auto* wait = std::get_if<ir::FutureWait>(&op.node)) {
        waited.insert(wait->futures.begin(), wait->futures.end());
      }
    });
    for (const auto& [dst, src] : moves) {
      const ir::VarId from = family_.at(src), to = family_.at(dst);
      for (auto& [future, family] : family_) {
        if (family == from) family = to;
      }
    }
    for (const auto& [future, family] : family_) {
      families_[family].members.push_back(future);
      families_[family].waited |= waited.contains(future);
    }
  }

  // The loads that a trigger of their block binds to an event of the program.
  void FindBound(ir::Region& region, const InReach& outer) {
    InReach reach = outer;
    FindBoundIn(region, reach);
  }
  void FindBoundIn(ir::Region& region, InReach& reach) {
    for (ir::Op& op : region.ops) {
      if (auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
        reach[load->future] = &op;
        loads_[&op] = load;
      } else if (const auto* move = std::get_if<ir::FutureMove>(&op.node)) {
        const auto from = reach.find(move->src);
        if (from == reach.end()) {
          reach.erase(move->dst);
          continue;
        }
        reach[move->dst] = from->second;
        reach.erase(move->src);
      } else if (auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
        for (ir::VarId& future : trigger->futures) {
          const auto load = reach.find(future);
          if (load != reach.end()) future = Bind(load->second);
        }
      } else if (auto* narrowed = std::get_if<ir::InThreads>(&op.node);
                 narrowed && !narrowed->async) {
        FindBoundIn(narrowed->body, reach);
      } else {
        ir::VisitRegions(op, [&](ir::Region& inner) { FindBound(inner, reach); });
      }
    }
  }

  // The name under which the load is bound: of its own, where its future may be another's by then.
  ir::VarId Bind(const ir::Op* op) {
    ir::TmaLoad& load = *loads_.at(op);
    if (bound_.insert(op).second && FamilyOf(load.future).members.size() > 1) {
      const ir::Var& var = kernel_.vars[load.future];
      load.future = build_.NewVar(var.name, var.type, ir::VarKind::Future, var.loc);
    }
    return load.future;
  }

  void MakeEvents() {
    for (auto& [id, family] : families_) {
      if (!family.waited) continue;
      ir::VarId first;  // named after the first that loads
      for (const ir::VarId future : family.members) {
        if (!first && loads_of_.contains(future)) first = future;
      }
      if (!first) continue;
      ir::Storage event;
      event.name = kernel_.vars[first].name + "_done";
      event.kind = ir::StorageKind::Event;
      event.elem = Elem::kU64;
      const size_t slots = family.members.size();
      event.array_size = slots > 1 ? static_cast<int32_t>(slots) : 0;
      // No ring: loads complete in the order in which they are waited for, each in its own slot.
      for (size_t i = 0; slots > 1 && i < slots; ++i) {
        event.slot_names += fmt::format("{}{}_{}", i == 0 ? "" : " ", event.name, i);
      }
      event.loc = kernel_.vars[first].loc;
      family.event = kernel_.storages.Add(std::move(event));
      if (slots > 1) DeclareOrders(family);
    }
  }

  // At first each future has the slot of its number. The orders live as long as the event: they
  // are declared in front of the outermost loop around what uses them.
  void DeclareOrders(Family& family) {
    std::vector<ir::Op> decls;
    for (size_t i = 0; i < family.members.size(); ++i) {
      const ir::Var& future = kernel_.vars[family.members[i]];
      const ir::Loc loc = future.loc;
      const ir::VarId order =
          build_.NewVar(future.name + "_order", Elem::kU32, ir::VarKind::Mutable, loc);
      family.orders[family.members[i]] = order;
      decls.emplace_back(loc, ir::VarDecl{order, build_.Int(static_cast<int64_t>(i), Elem::kU32)});
    }
    ir::Region* region = &kernel_.body;
    while (true) {
      size_t users = 0, at = 0;
      for (size_t i = region->ops.size(); i-- > 0;) {
        if (!Uses(region->ops[i], family)) continue;
        ++users;
        at = i;
      }
      ir::Op& op = region->ops[at];
      ir::Region* inner = nullptr;
      if (auto* parallel = std::get_if<ir::Parallel>(&op.node)) inner = &parallel->body;
      if (auto* narrowed = std::get_if<ir::InThreads>(&op.node)) inner = &narrowed->body;
      if (users == 1 && inner != nullptr) {
        region = inner;
        continue;
      }
      region->ops.insert(region->ops.begin() + static_cast<std::ptrdiff_t>(at), decls.begin(),
                         decls.end());
      return;
    }
  }

  bool Uses(const ir::Op& op, const Family& family) const {
    bool uses = false;
    const auto has = [&](ir::VarId future) {
      for (const ir::VarId member : family.members) uses |= member == future;
    };
    const auto look = [&](const ir::Op& inner) {
      if (const auto* load = std::get_if<ir::TmaLoad>(&inner.node)) has(load->future);
      if (const auto* move = std::get_if<ir::FutureMove>(&inner.node)) has(move->dst);
      if (const auto* wait = std::get_if<ir::FutureWait>(&inner.node)) {
        for (const ir::VarId future : wait->futures) has(future);
      }
    };
    look(op);
    ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, look); });
    return uses;
  }

  void Rewrite(ir::Region& region) {
    std::vector<ir::Op> out;
    for (ir::Op& op : region.ops) {
      ir::VisitRegions(op, [&](ir::Region& inner) { Rewrite(inner); });
      const ir::Loc loc = op.loc;
      if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
        const ir::VarId future = load->future;
        const bool bound = bound_.contains(&op);
        out.push_back(std::move(op));
        if (bound) continue;
        const Family& family = FamilyOf(future);
        if (family.event) {
          out.emplace_back(loc, ir::EventTrigger{family.event, Order(family, future), {future}});
        }
      } else if (const auto* wait = std::get_if<ir::FutureWait>(&op.node)) {
        for (const ir::VarId future : wait->futures) Wait(future, out, loc);
      } else if (const auto* move = std::get_if<ir::FutureMove>(&op.node)) {
        Move(*move, out, loc);
      } else {
        out.push_back(std::move(op));
      }
    }
    region.ops = std::move(out);
  }

  ir::ExprId Order(const Family& family, ir::VarId future) {
    const auto order = family.orders.find(future);
    return order == family.orders.end() ? ir::ExprId() : build_.Var(order->second);
  }

  void Wait(ir::VarId future, std::vector<ir::Op>& out, ir::Loc loc) {
    const auto known = family_.find(future);
    if (known == family_.end() || !families_.at(known->second).event) return;
    const Family& family = families_.at(known->second);
    out.emplace_back(loc, ir::EventWait{family.event, Order(family, future)});
    if (family.orders.empty()) return;
    // The next load into this slot completes its next generation.
    const ir::VarId order = family.orders.at(future);
    const auto slots = static_cast<int64_t>(family.members.size());
    out.emplace_back(loc, ir::Assign{order, build_.Add(build_.Var(order), slots)});
  }

  // The slots change hands: that of the target is free, for what it held is complete.
  void Move(const ir::FutureMove& move, std::vector<ir::Op>& out, ir::Loc loc) {
    const Family& family = FamilyOf(move.dst);
    if (!family.event || move.dst == move.src) return;
    const ir::VarId dst = family.orders.at(move.dst), src = family.orders.at(move.src);
    const ir::VarId freed = build_.NewVar("freed_order", Elem::kU32, ir::VarKind::Let, loc);
    out.emplace_back(loc, ir::Let{freed, build_.Var(dst)});
    out.emplace_back(loc, ir::Assign{dst, build_.Var(src)});
    out.emplace_back(loc, ir::Assign{src, build_.Var(freed)});
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  std::map<ir::VarId, int> loads_of_;      // how many loads each future has
  std::map<ir::VarId, ir::VarId> family_;  // of each future, by one of its members
  std::map<ir::VarId, Family> families_;
  std::map<const ir::Op*, ir::TmaLoad*> loads_;
  std::set<const ir::Op*> bound_;
};

}  // namespace

void GiveLoadsTheirEvents(ir::Kernel& kernel) { LoadEvents(kernel).Run(); }

}  // namespace choreo::passes
