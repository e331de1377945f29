#include "sim/tma.h"

#include <algorithm>
#include <cstring>

#include "sim/cta.h"
#include "sim/sync.h"

namespace choreo::sim {
namespace {

namespace kinds = diag::kinds;

constexpr uint32_t kChunk = 16;       // what swizzles move, and the least that TMA moves
constexpr uint32_t kAlignment = 128;  // of a box in shared memory

// A box of a tensor: which rows it has along the innermost axis, where they lie on both sides.
class Box {
 public:
  Box(const Cta& cta, int32_t map, const std::vector<int32_t>& at)
      : map_(cta.launch->kernel->host.maps[static_cast<size_t>(map)]),
        storage_(cta.launch->kernel->params[static_cast<size_t>(map_.param)].storage),
        memory_(cta.launch->params[storage_.value]),
        at_(at) {
    element_ = Bytes(cta.launch->kernel->storages[storage_].elem);
    row_bytes_ = static_cast<uint32_t>(map_.box.back() * element_);
    for (size_t i = 0; i + 1 < map_.box.size(); ++i) rows_ *= static_cast<uint32_t>(map_.box[i]);
  }

  uint32_t bytes() const { return rows_ * row_bytes_; }
  ir::StorageId storage() const { return storage_; }
  const ParamMemory& memory() const { return memory_; }
  int32_t width(size_t axis) const { return map_.box[axis]; }

  // The place in shared memory of a byte of the dense box. The pattern goes by address bits.
  uint32_t Swizzled(uint32_t box_offset, uint32_t byte) const {
    const uint32_t address = kSharedBase + box_offset + byte;
    const uint32_t mask = map_.swizzle == 0 ? 0 : static_cast<uint32_t>(map_.swizzle) - 16;
    return (address ^ ((address >> 7 & 7) << 4 & mask)) - kSharedBase;
  }
  template <class F>
  void ForEachChunk(uint32_t box_offset, F&& f) const {
    for (uint32_t byte = 0; byte < bytes(); byte += kChunk) f(Swizzled(box_offset, byte), byte);
  }

  // Calls f(dense byte, pointer in global memory, bytes) for what of each row is in the tensor.
  template <class F>
  void ForEachRow(F&& f) const {
    const size_t inner = map_.box.size() - 1;
    const int64_t low = std::max<int64_t>(0, -int64_t{at_[inner]});
    const int64_t high =
        std::min<int64_t>(map_.box[inner], memory_.extents[inner] - int64_t{at_[inner]});
    if (low >= high) return;
    for (uint32_t row = 0; row < rows_; ++row) {
      int64_t linear = at_[inner] + low;
      bool inside = true;
      uint32_t rest = row;
      for (size_t axis = inner; axis-- > 0;) {
        const auto extent = static_cast<uint32_t>(map_.box[axis]);
        const int64_t coordinate = at_[axis] + static_cast<int64_t>(rest % extent);
        rest /= extent;
        inside = inside && coordinate >= 0 && coordinate < memory_.extents[axis];
        linear += coordinate * memory_.strides[axis];
      }
      if (!inside) continue;
      f(row * row_bytes_ + static_cast<uint32_t>(low * element_), memory_.data + linear * element_,
        static_cast<uint32_t>((high - low) * element_));
    }
  }

 private:
  const ir::TensorMap& map_;
  ir::StorageId storage_;
  const ParamMemory& memory_;
  const std::vector<int32_t>& at_;
  int32_t element_ = 0;
  uint32_t row_bytes_ = 0, rows_ = 1;
};

std::vector<int32_t> CoordinatesOf(const Warp& w, const FlatOp& op, size_t axes, uint32_t lane) {
  std::vector<int32_t> at(axes);
  for (size_t i = 0; i < axes; ++i) {
    at[i] = w.regs.At<int32_t>(w.cta->program().slot_lists[op.index + i])[lane];
  }
  return at;
}

// The active lanes whose operands are all defined.
uint32_t DefinedLanes(Warp& w, const FlatOp& op, size_t axes) {
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  for (size_t i = 0; i < axes; ++i) {
    lanes &= ~CheckPoison(w, w.cta->program().slot_lists[op.index + i], lanes, "a coordinate");
  }
  return lanes;
}

// A store of a box one element wide along an axis is no tail there: outside it names what does not
// exist. A load outside is zeros, as the rows above and below an image are.
void CheckInside(Warp& w, const Box& box, const std::vector<int32_t>& at) {
  const ParamMemory& memory = box.memory();
  for (size_t axis = 0; axis < at.size(); ++axis) {
    if (box.width(axis) != 1 || (at[axis] >= 0 && at[axis] < memory.extents[axis])) continue;
    w.cta->findings().Add(kinds::SimTileOutside, w.cta->Loc(w), {}, at[axis], axis,
                          std::string(w.cta->launch->NameOf(box.storage())), memory.extents[axis],
                          WarpName(w));
    w.cta->launch->coverage.Excuse(box.storage());
    return;
  }
}

void TrackGlobal(Warp& w, const AccessInfo& access, const Box& box) {
  if (!box.memory().tracked) return;
  Place place;
  place.storage = box.storage();
  place.global = true;
  box.ForEachRow([&](uint32_t, uint8_t* data, uint32_t bytes) {
    place.data = data;
    const auto count = static_cast<int32_t>(bytes);
    const bool store = access.kind == Access::AsyncWrite;
    if (!store || w.cta->launch->coverage.Store(w, place, count)) Track(w, access, place, count);
  });
}

Place LocateBox(Warp& w, ir::StorageId storage, int64_t index, const Box& box) {
  Place place = Locate(w, storage, index, static_cast<int32_t>(box.bytes()));
  if (place.data != nullptr && !CheckAligned(w, place, kAlignment)) place.data = nullptr;
  return place;
}

BulkStores& StoresOf(Warp& w, uint32_t lane) {
  if (w.stores.empty()) w.stores.resize(kLanes);
  return w.stores[lane];
}

// Phases complete in order: the last one that an op loads for stands for its earlier ones.
void NoteIssue(const Warp& w, uint32_t lane, const TmaLoad& load, Cta& to, uint32_t phase) {
  auto& issues = to.tma.last_issues;
  const auto known = std::find_if(issues.begin(), issues.end(), [&](const LastIssue& issue) {
    return issue.op == load.op && issue.slot == load.slot && issue.warp == &w;
  });
  LastIssue& issue = known == issues.end() ? issues.emplace_back() : *known;
  issue = {load.op, load.slot, phase, &w, lane};
}

// The CTAs that a load brings its box to.
std::vector<Cta*> TargetsOf(Cta& cta, const ir::TmaLoadBox& node) {
  if (!node.multicast) return {&cta};
  std::vector<Cta*> all;
  for (Cta& other : cta.cluster->ctas) all.push_back(&other);
  return all;
}

// Moves a multicast's box, named for rank 0, to the part of the CTA that issues it.
void TakePart(Warp& w, uint32_t lane, const ir::TmaLoadBox& node, uint32_t shared_offset,
              TmaLoad& load) {
  Cta& cta = *w.cta;
  cta.cluster->multicasts.Note(w, lane, {load.at, shared_offset, load.slot});
  const ir::TensorMap& map = cta.launch->kernel->host.maps[static_cast<size_t>(node.map)];
  const auto axis = static_cast<size_t>(node.multicast.axis);
  auto bytes = static_cast<uint32_t>(node.multicast.rows *
                                     Bytes(cta.launch->kernel->storages[node.dst].elem));
  for (size_t i = axis + 1; i < map.box.size(); ++i) bytes *= static_cast<uint32_t>(map.box[i]);
  load.at[axis] += static_cast<int32_t>(cta.rank) * node.multicast.rows;
  load.shared_offset = shared_offset + cta.rank * bytes;
}

// The box is written from now on, at any time, and its bytes are completed.
void Announce(Warp& w, uint32_t lane, Cta& to, TmaLoad& load, const Box& box) {
  AccessInfo access;
  access.kind = Access::LoadInFlight;
  access.lane = lane;
  access.agent = to.agents.Slot(load.slot);
  access.epoch = load.number;
  const std::string_view name = to.launch->NameOf(load.node->dst);
  box.ForEachChunk(load.shared_offset, [&](uint32_t at, uint32_t) {
    CheckCell(w, access, to.shadow.Head(at), 0xffff, name);
    std::memset(to.shared_poison.data() + at, 1, kChunk);
  });
  const uint32_t phase = to.mbarriers[load.slot].phase;
  load.phases.push_back(phase);
  // The mbarrier's phase cannot complete before the load was issued.
  to.mbarriers[load.slot].current.seen.Raise(w.cta->agents.Progress(w.index), w.clock);
  NoteIssue(w, lane, load, to, phase);
}

void IssueLoad(Warp& w, const FlatOp& op, uint32_t lane, uint32_t slot) {
  Cta& cta = *w.cta;
  const auto& node = std::get<ir::TmaLoadBox>(*op.node);
  TmaLoad load;
  load.at = CoordinatesOf(w, op, node.at.size(), lane);
  const Box box(cta, node.map, load.at);
  const Place dst = LocateBox(w, node.dst, w.regs.At<int64_t>(op.slot[0])[lane], box);
  if (dst.data == nullptr) return;
  load.number = ++cta.tma.issued;
  load.node = &node;
  load.op = w.pc;
  load.shared_offset = dst.shared_offset;
  load.slot = slot;
  load.issuer = &w;
  if (node.multicast) TakePart(w, lane, node, dst.shared_offset, load);
  if (load.shared_offset + box.bytes() > cta.shared.size()) return;  // reported: it cannot be right
  for (Cta* to : TargetsOf(cta, node)) {
    if (to != &cta && HasExited(w, *to, w.pc)) return;
    Announce(w, lane, *to, load, box);
  }
  AccessInfo access;
  access.kind = Access::AsyncRead;
  access.lane = lane;
  access.agent = cta.agents.Slot(slot);
  access.epoch = cta.mbarriers[slot].phase + 1;
  TrackGlobal(w, access, box);
  ++w.clock;
  if (cta.timeline != nullptr) {
    load.lands =
        cta.timeline->Copy(w, true, box.bytes(), std::string(cta.launch->NameOf(node.dst)));
  }
  cta.tma.queue.push_back(std::move(load));
}

void IssueStore(Warp& w, const FlatOp& op, uint32_t lane) {
  Cta& cta = *w.cta;
  const auto& node = std::get<ir::TmaStoreBox>(*op.node);
  const std::vector<int32_t> at = CoordinatesOf(w, op, node.at.size(), lane);
  const Box box(cta, node.map, at);
  CheckInside(w, box, at);
  const Place src = LocateBox(w, node.src, w.regs.At<int64_t>(op.slot[0])[lane], box);
  if (src.data == nullptr) return;
  BulkStores& stores = StoresOf(w, lane);
  ++stores.issued;
  stores.op = w.pc;

  AccessInfo access;
  access.kind = Access::AsyncRead;
  access.lane = lane;
  access.agent = ThreadAgent(w, AgentKind::StoreRead, lane);
  access.epoch = stores.issued;
  const std::string_view name = cta.launch->NameOf(node.src);
  std::vector<uint8_t> dense(box.bytes());
  std::vector<uint8_t> poison(box.bytes());
  box.ForEachChunk(src.shared_offset, [&](uint32_t shared, uint32_t byte) {
    CheckCell(w, access, cta.shadow.Head(shared), 0xffff, name);
    std::memcpy(&dense[byte], &cta.shared[shared], kChunk);
    std::memcpy(&poison[byte], &cta.shared_poison[shared], kChunk);
  });
  access.kind = Access::AsyncWrite;
  access.agent = ThreadAgent(w, AgentKind::StoreWrite, lane);
  TrackGlobal(w, access, box);
  bool poisoned = false;
  box.ForEachRow([&](uint32_t byte, uint8_t* data, uint32_t bytes) {
    std::memcpy(data, &dense[byte], bytes);
    const auto first = poison.begin() + byte;
    poisoned = poisoned || std::any_of(first, first + bytes, [](uint8_t p) { return p != 0; });
  });
  if (cta.timeline != nullptr) {
    stores.done = cta.timeline->Copy(w, false, box.bytes(), std::string(name));
  }
  if (poisoned) {
    cta.findings().Add(kinds::SimUninitialisedRead, cta.Loc(w), {}, "a TMA store",
                       fmt::format("in `{}`", name));
  }
}

}  // namespace

void ExecTmaLoad(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::TmaLoadBox>(*op.node);
  uint32_t lanes = DefinedLanes(w, op, node.at.size());
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "an mbarrier's slot");
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    uint32_t slot = kNoSlot;
    bool usable = true;
    for (Cta* to : TargetsOf(*w.cta, node)) {
      slot = UsableSlot(w, lane, *to, node.event, w.regs.At<int32_t>(op.slot[1])[lane]);
      usable = usable && slot != kNoSlot;
    }
    if (usable) IssueLoad(w, op, lane, slot);
  }
}

void ExecTmaStore(Warp& w, const FlatOp& op) {
  uint32_t lanes = DefinedLanes(w, op, std::get<ir::TmaStoreBox>(*op.node).at.size());
  for (; lanes != 0; lanes &= lanes - 1) {
    IssueStore(w, op, static_cast<uint32_t>(__builtin_ctz(lanes)));
  }
}

void ExecTmaStoreCommit(Warp& w) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((w.active >> l) & 1u) == 0) continue;
    BulkStores& stores = StoresOf(w, l);
    stores.groups.push_back(stores.issued);
  }
}

void ExecTmaStoreWait(Warp& w, const ir::TmaStoreWait& node) {
  const auto pending = static_cast<size_t>(node.pending);
  for (uint32_t l = 0; l < kLanes && !w.stores.empty(); ++l) {
    BulkStores& stores = w.stores[l];
    if (((w.active >> l) & 1u) == 0 || stores.groups.size() <= pending) continue;
    if (w.cta->timeline != nullptr) w.cta->timeline->Wait(w, stores.done, "TMA store");
    const size_t complete = stores.groups.size() - pending;
    stores.read = std::max(stores.read, stores.groups[complete - 1]);
    if (stores.read != 0) Learn(w, l, ThreadAgent(w, AgentKind::StoreRead, l), stores.read);
    if (node.read) continue;
    stores.written = stores.read;
    if (stores.written != 0) {
      Learn(w, l, ThreadAgent(w, AgentKind::StoreWrite, l), stores.written);
    }
    stores.groups.erase(stores.groups.begin(),
                        stores.groups.begin() + static_cast<std::ptrdiff_t>(complete));
  }
}

void CheckStoresAtExit(Warp& w) {
  for (uint32_t l = 0; l < w.stores.size(); ++l) {
    const BulkStores& stores = w.stores[l];
    if (stores.issued == stores.read) continue;
    Cta& cta = *w.cta;
    const auto& node = std::get<ir::TmaStoreBox>(*cta.program().ops[stores.op].node);
    cta.findings().Add(kinds::SimStoreNotWaited, cta.launch->LocOf(stores.op), {},
                       std::string(cta.launch->NameOf(node.src)), LaneName(w, l));
  }
}

void CheckLoadsAtEnd(Cta& cta) {
  for (const LastIssue& issue : cta.tma.last_issues) {
    const uint32_t component = cta.agents.Slot(issue.slot);
    const bool awaited = std::any_of(cta.warps.begin(), cta.warps.end(), [&](const Warp& w) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (Seen(w, l, component) > issue.phase) return true;
      }
      return false;
    });
    if (awaited) continue;
    const MbarrierSlot& slot = cta.mbarriers[issue.slot];
    const auto& node = std::get<ir::TmaLoadBox>(*cta.program().ops[issue.op].node);
    cta.findings().Add(kinds::SimLoadNotAwaited, cta.launch->LocOf(issue.op),
                       cta.launch->kernel->storages[slot.event].loc,
                       std::string(cta.launch->NameOf(node.dst)), LaneName(*issue.warp, issue.lane),
                       GenerationOf(cta, slot, issue.phase), SlotName(cta, issue.slot));
  }
}

void LandTmaLoad(Cta& cta, size_t place) {
  const TmaLoad load = std::move(cta.tma.queue[place]);
  cta.tma.queue.erase(cta.tma.queue.begin() + static_cast<std::ptrdiff_t>(place));
  const Box box(cta, load.node->map, load.at);
  std::vector<uint8_t> dense(box.bytes(), 0);
  box.ForEachRow([&](uint32_t byte, const uint8_t* data, uint32_t bytes) {
    std::memcpy(&dense[byte], data, bytes);
  });
  size_t target = 0;
  for (Cta* to : TargetsOf(cta, *load.node)) {
    const uint32_t phase = load.phases[target++];
    if (to != &cta && HasExited(*load.issuer, *to, load.op)) continue;
    const uint32_t agent = to->agents.Slot(load.slot);
    const uint32_t epoch = to->mbarriers[load.slot].phase + 1;
    box.ForEachChunk(load.shared_offset, [&](uint32_t shared, uint32_t byte) {
      std::memcpy(&to->shared[shared], &dense[byte], kChunk);
      std::memset(&to->shared_poison[shared], 0, kChunk);
      LandLoad(cta, load.number, agent, epoch, to->shadow.Head(shared));
    });
    CompleteBytes(*to, load.slot, box.bytes(), phase, load.op, load.lands);
  }
}

}  // namespace choreo::sim
