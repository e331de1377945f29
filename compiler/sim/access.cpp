// Accesses to shared memory and to parameters: bounds, alignment, order, poison.
#include <algorithm>
#include <cstring>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

// Calls f(head, bytes of the cell) for each 16-byte cell that [place, place + bytes) meets.
template <class F>
void ForEachCell(Cta& cta, const Place& place, int32_t bytes, F&& f) {
  uintptr_t at = place.global ? reinterpret_cast<uintptr_t>(place.data) : place.shared_offset;
  const uintptr_t end = at + static_cast<uintptr_t>(bytes);
  while (at < end) {
    const auto first = static_cast<uint32_t>(at % 16);
    const uint32_t count = std::min<uint32_t>(16 - first, static_cast<uint32_t>(end - at));
    const auto mask = static_cast<uint16_t>(((1u << count) - 1) << first);
    f(place.global ? cta.launch->global.Head(at) : cta.shadow.Head(static_cast<uint32_t>(at)),
      mask);
    at += count;
  }
}

bool Tracked(const Cta& cta, const Place& place) {
  return !place.global || cta.launch->params[place.storage.value].tracked;
}

}  // namespace

void Track(Warp& w, const AccessInfo& access, const Place& place, int32_t bytes) {
  Cta& cta = *w.cta;
  if (!place.global && !IsAsync(access.kind)) w.dirty_lanes |= 1u << access.lane;
  if (!Tracked(cta, place)) return;
  const std::string_view name = cta.launch->NameOf(place.storage);
  ForEachCell(cta, place, bytes,
              [&](uint32_t& head, uint16_t mask) { CheckCell(w, access, head, mask, name); });
}

Place Locate(Warp& w, ir::StorageId id, int64_t index, int32_t bytes) {
  Cta& cta = *w.cta;
  const ir::Storage& storage = cta.launch->kernel->storages[id];
  const int64_t size = Bytes(storage.elem);
  const int64_t count = (bytes + size - 1) / size;
  int64_t low = 0;
  int64_t high = 0;
  if (storage.kind == ir::StorageKind::Param) {
    low = cta.launch->params[id.value].low;
    high = cta.launch->params[id.value].high;
  } else {
    high = cta.program().elements[id.value] / size;
  }
  Place place;
  place.storage = id;
  place.global = storage.kind == ir::StorageKind::Param;
  if (index < low || index > high - count) {
    cta.findings().Add(diag::kinds::SimOutOfBounds, cta.Loc(w), storage.loc, index, storage.name,
                       low, high - 1);
    if (place.global) cta.launch->coverage.Excuse(id);
    return place;
  }
  if (place.global) {
    place.data = cta.launch->params[id.value].data + index * size;
  } else {
    place.shared_offset = static_cast<uint32_t>(storage.byte_offset + index * size);
    place.data = cta.shared.data() + place.shared_offset;
  }
  return place;
}

bool CheckAligned(Warp& w, const Place& place, int32_t bytes) {
  const uintptr_t address =
      place.global ? reinterpret_cast<uintptr_t>(place.data) : kSharedBase + place.shared_offset;
  const auto past = static_cast<int>(address % static_cast<uintptr_t>(bytes));
  if (past == 0) return true;
  Cta& cta = *w.cta;
  cta.findings().Add(diag::kinds::SimMisaligned, cta.Loc(w), {}, bytes,
                     std::string(cta.launch->NameOf(place.storage)), past, bytes);
  return false;
}

bool TrackRead(Warp& w, uint32_t lane, const Place& place, int32_t bytes) {
  AccessInfo access;
  access.kind = Access::Read;
  access.lane = lane;
  Track(w, access, place, bytes);
  if (place.global) return false;
  const uint8_t* poison = w.cta->shared_poison.data() + place.shared_offset;
  const bool poisoned = std::any_of(poison, poison + bytes, [](uint8_t p) { return p != 0; });
  if (poisoned) {
    w.poison_op = w.pc + 1;
    w.poison_storage = place.storage.value;
  }
  return poisoned;
}

void TrackAtomic(Warp& w, uint32_t lane, const Place& place, int32_t bytes) {
  AccessInfo access;
  access.kind = Access::Atomic;
  access.lane = lane;
  Track(w, access, place, bytes);
  if (place.global) return;
  uint8_t* poison = w.cta->shared_poison.data() + place.shared_offset;
  if (std::none_of(poison, poison + bytes, [](uint8_t p) { return p != 0; })) return;
  w.cta->findings().Add(
      diag::kinds::SimUninitialisedRead, w.cta->Loc(w), {}, "an atomic operation",
      fmt::format("{}, on `{}`", LaneName(w, lane), w.cta->launch->NameOf(place.storage)));
  std::fill(poison, poison + bytes, uint8_t{0});
}

void TrackWrite(Warp& w, uint32_t lane, const Place& place, const void* value, int32_t bytes,
                bool poison) {
  const auto size = static_cast<size_t>(bytes);
  uint8_t* poisoned = place.global ? nullptr : w.cta->shared_poison.data() + place.shared_offset;
  AccessInfo access;
  access.kind = Access::Write;
  access.lane = lane;
  access.silent =
      !poison && std::memcmp(place.data, value, size) == 0 &&
      (place.global || std::all_of(poisoned, poisoned + bytes, [](uint8_t p) { return p == 0; }));
  const bool once = !place.global || w.cta->launch->coverage.Store(w, place, bytes);
  if (once) Track(w, access, place, bytes);
  std::memcpy(place.data, value, size);
  if (poisoned != nullptr) std::memset(poisoned, poison ? 1 : 0, size);
}

}  // namespace choreo::sim
