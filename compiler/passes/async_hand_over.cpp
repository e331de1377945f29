#include "passes/async_hand_over.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/walk.h"

namespace choreo::passes {

void HandOvers::Add(const HandOvers& of_agent, bool sure) {
  for (const auto& [storage, agents] : of_agent.takers) {
    takers[storage].insert(agents.begin(), agents.end());
  }
  if (!sure) return;
  for (const auto& [generation, elements] : of_agent.generations) {
    Elements& told = generations[generation];
    for (const auto& [place, element] : elements) {
      Element& known = told[place];
      if (element.version > known.version) known = element;
    }
  }
}

KnownElements::KnownElements(const ir::Kernel& kernel, const HandOvers& told, size_t agent,
                             bool one_thread)
    : kernel_(kernel), told_(told), agent_(agent), one_thread_(one_thread) {
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* trigger = std::get_if<ir::EventTrigger>(&op.node);
    if (trigger != nullptr && !trigger->futures.empty()) bound_.insert(trigger->event);
    if (std::holds_alternative<ir::StoreElem>(op.node)) return;
    const ir::StorageUse use = ir::DirectStorageUse(kernel, op);
    written_.insert(use.writes.begin(), use.writes.end());
  });
}

std::optional<int64_t> KnownElements::Load(const ElementPlace& place) const {
  const auto known = elements_.find(place);
  return known == elements_.end() ? std::nullopt : known->second.value;
}

void KnownElements::Store(const ElementPlace& place, std::optional<int64_t> value) {
  const ir::Storage& storage = kernel_.storages[place.first.first];
  if (storage.kind != ir::StorageKind::Shared || IsFloat(storage.elem)) return;
  if (written_.contains(place.first.first)) return;
  HandOvers::Element& element = elements_[place];
  ++element.version;
  element.value = value ? std::optional(ir::WrapToElem(*value, storage.elem)) : value;
}

void KnownElements::Forget(ir::StorageId storage) {
  for (auto& [place, element] : elements_) {
    if (place.first.first != storage) continue;
    ++element.version;
    element.value.reset();
  }
}

void KnownElements::ForgetAll() {
  for (auto& [place, element] : elements_) element.value.reset();
}

std::optional<int64_t> KnownElements::Update(const ir::AtomicElem& op, const ElementPlace& place,
                                             std::optional<int64_t> value) {
  const ir::StorageId storage = place.first.first;
  if (kernel_.storages[storage].kind != ir::StorageKind::Param) return std::nullopt;
  tells_.takers[storage].insert(agent_);
  if (op.how != ir::AtomicKind::Add || !one_thread_ || !value) return std::nullopt;
  const auto takers = told_.takers.find(storage);
  if (takers == told_.takers.end()) return std::nullopt;
  const auto rank = std::distance(takers->second.begin(),
                                  std::find(takers->second.begin(), takers->second.end(), agent_));
  const auto count = static_cast<int64_t>(takers->second.size());
  const int64_t turn = taken_[place]++ * count + rank;
  return ir::WrapToElem(turn * *value, kernel_.storages[storage].elem);
}

void KnownElements::Wait(ir::StorageId event) {
  const ir::Storage& storage = kernel_.storages[event];
  const int64_t given = storage.ready ? std::max(storage.array_size, 1) : 0;
  const auto told = told_.generations.find({event, waits_[event]++ - given});
  if (told == told_.generations.end()) return;
  for (const auto& [place, element] : told->second) {
    HandOvers::Element& mine = elements_[place];
    if (element.version > mine.version) mine = element;
  }
}

void KnownElements::Trigger(ir::StorageId event) {
  if (bound_.contains(event)) return;
  HandOvers::Elements& told = tells_.generations[{event, triggers_[event]++}];
  for (const auto& [place, element] : elements_) {
    HandOvers::Element& known = told[place];
    if (element.version > known.version) known = element;
  }
}

bool HandsOver(const ir::Kernel& kernel) {
  bool found = false;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* store = std::get_if<ir::StoreElem>(&op.node);
    if (store == nullptr) return;
    const ir::Storage& storage = kernel.storages[kernel.views[store->dest].storage];
    found = found || (storage.kind == ir::StorageKind::Shared && !IsFloat(storage.elem));
  });
  return found;
}

std::map<ir::StorageId, int64_t> TilesOfSlots(const ir::Kernel& kernel) {
  constexpr int64_t kMostSlots = 64;
  std::map<ir::StorageId, int64_t> tiles;
  for (size_t i = 0; i < kernel.storages.size(); ++i) {
    const ir::StorageId id = kernel.storages.IdAt(i);
    const ir::Storage& storage = kernel.storages[id];
    if (storage.kind != ir::StorageKind::Shared || IsFloat(storage.elem)) continue;
    if (storage.array_size != 1 || storage.dims.size() != 1) continue;
    const auto elements = ir::AsInt(kernel, storage.dims[0]);
    if (elements && *elements <= kMostSlots) tiles[id] = *elements;
  }
  for (const ir::View& view : kernel.views) {
    if (!view.axes.empty() || view.base_offset || view.start.size() != 1) tiles.erase(view.storage);
  }
  return tiles;
}

}  // namespace choreo::passes
