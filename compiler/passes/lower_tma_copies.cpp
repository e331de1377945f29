// Copies by TMA: loads without a future, stores, and the waits until a stored tile has been read.
#include "passes/lower_copies.h"

#include <algorithm>

#include "passes/tma_boxes.h"

namespace choreo::passes {

// ---- TMA ----

void CopyLowering::Load(const ir::TmaLoad& load, ir::Region& out, ir::Loc loc, unsigned control) {
  const ir::View dst = kernel_.views[load.dst];
  // The threads that used the tile before must be done with it, unless an event says so: then
  // others use it.
  if (load.future && !state_.Touched(dst.storage)) {
    out.ops.push_back({loc, load});
    return;
  }
  const auto who =
      ExecutorsOf(dependence_.Of(kernel_.views[load.src]) | dependence_.Of(dst), loc, control);
  if (!who) return;
  if (state_.Touched(dst.storage) && !who->each_alone) Barrier(*who, out, loc);
  if (load.future) {
    out.ops.push_back({loc, load});
    return;
  }
  const auto [it, added] = load_events_.try_emplace(load.dst);
  if (added) {
    ir::Storage event;
    event.name = kernel_.storages[dst.storage].name + "_loaded";
    event.kind = ir::StorageKind::Event;
    event.elem = Elem::kU64;
    event.array_size = 0;
    event.loc = loc;
    it->second = kernel_.storages.Add(std::move(event));
  }
  const ir::StorageId loaded = it->second;
  ir::TmaLoad started = load;
  started.future = build_.NewVar("load", Elem::kU32, ir::VarKind::Future, loc);
  out.ops.push_back({loc, started});
  out.ops.push_back({loc, ir::EventTrigger{loaded, {}, {started.future}}});
  out.ops.push_back({loc, ir::EventWait{loaded, {}}});
}

void CopyLowering::Store(const ir::TmaStore& store, ir::Region& out, ir::Loc loc,
                         unsigned control) {
  const ir::View src = kernel_.views[store.src];
  const ir::View dst = kernel_.views[store.dst];
  const auto who = ExecutorsOf(dependence_.Of(src) | dependence_.Of(dst), loc, control, false);
  if (!who) return;
  const auto boxes = MakeTmaBoxes(build_, context_, divisors_, dst, src, true, loc);
  if (!boxes) return;
  // Every writer is done, and its fence (proxy-fences) stands before this.
  Barrier(*who, out, loc);
  ir::Region issue;
  for (const TmaBox& box : boxes->boxes) {
    issue.ops.push_back({loc, ir::TmaStoreBox{box.map, box.at, src.storage, box.shared_index}});
  }
  issue.ops.push_back({loc, ir::TmaStoreCommit{}});
  ByFirst(*who, std::move(issue), out, loc);
  const auto number = static_cast<int>(store.src.value);
  state_.stores.insert({src.storage, number});
  state_.reads.insert(src.storage);
  stores_[number] = {*who, scope_.current().active, loc};
}

// Whether `op` may tell others that the tile is free: threads besides those that store it write it.
bool CopyLowering::Releases(const ir::Op& op, const ThreadSet& storers, ir::StorageId tile) const {
  const auto it = writers_.find(tile);
  if (it == writers_.end() || (it->second & ~storers).none()) return false;
  bool plain = false;
  const auto look = [&](const ir::Op& inner) {
    const auto* trigger = std::get_if<ir::EventTrigger>(&inner.node);
    plain |= trigger != nullptr && trigger->futures.empty();
  };
  look(op);
  if (Diverges(op)) {
    ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, look); });
  }
  return plain;
}

// In front of an op that writes a tile which a store may still be reading, or tells others to.
void CopyLowering::AwaitStores(const ir::Op& op, ir::Region& out) {
  if (state_.stores.empty()) return;
  ir::StorageUse use = ir::DirectStorageUse(kernel_, op);
  if (Diverges(op)) {
    ir::VisitRegions(op, [&](const ir::Region& region) {
      const ir::StorageUse inner = ir::AllStorageUse(kernel_, region);
      use.writes.insert(use.writes.end(), inner.writes.begin(), inner.writes.end());
    });
  }
  for (auto it = state_.stores.begin(); it != state_.stores.end();) {
    const PendingStore& store = stores_.at(it->second);
    const bool written =
        std::find(use.writes.begin(), use.writes.end(), it->first) != use.writes.end();
    if (!written && !Releases(op, store.threads, it->first)) {
      ++it;
      continue;
    }
    ir::Region read;
    read.ops.push_back({store.loc, ir::TmaStoreWait{0, true}});
    ByFirst(store.who, std::move(read), out, store.loc);
    // More threads may come by here than stored.
    std::optional<Executors> who = store.who;
    if (scope_.current().active != store.threads) who = ExecutorsOf(0, op.loc, 0);
    if (!who) return;
    Barrier(*who, out, op.loc);
    it = state_.stores.erase(it);
  }
}

// At the end of a role or of the kernel: shared memory must outlive the reads.
void CopyLowering::FinishStores(ir::Region& out) {
  for (const auto& [tile, number] : state_.stores) {
    const PendingStore& store = stores_.at(number);
    ir::Region read;
    read.ops.push_back({store.loc, ir::TmaStoreWait{0, true}});
    ByFirst(store.who, std::move(read), out, store.loc);
  }
  state_.stores.clear();
}

}  // namespace choreo::passes
