// Loads, stores and copies through registers.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sim/cta.h"
#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

template <Elem E>
void Load(Warp& w, const Instr& in) {
  using T = ElemTraits<E>;
  const ir::StorageId storage(static_cast<uint32_t>(in.imm));
  const int64_t* index = w.regs.At<int64_t>(in.a);
  auto* d = w.regs.At<typename T::Reg>(in.dst);
  const uint32_t lanes = w.active & ~CheckPoison(w, in.a, w.active, "an address");
  uint32_t poison = ~lanes;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const Place place = Locate(w, storage, index[l], T::kBytes);
    d[l] = typename T::Reg{};
    if (place.data == nullptr) continue;  // reported; zero, so that no second finding follows
    if (TrackRead(w, l, place, T::kBytes)) poison |= 1u << l;
    d[l] = T::Load(place.data);
  }
  w.regs.poison[in.dst] = poison;
}

// The element of lane `l` in slot `slot` as memory holds it.
void EncodeElement(const Warp& w, Elem elem, Slot slot, uint32_t l, uint8_t* to) {
  DispatchElem(elem, [&]<Elem E>() {
    using T = ElemTraits<E>;
    T::Store(to, w.regs.At<typename T::Reg>(slot)[l]);
  });
}

}  // namespace

uint32_t CheckPoison(Warp& w, Slot slot, uint32_t lanes, std::string_view what) {
  const uint32_t poisoned = w.regs.poison[slot] & lanes;
  if (poisoned == 0) return 0;
  Cta& cta = *w.cta;
  ir::Loc source;
  std::string where = LaneName(w, static_cast<uint32_t>(__builtin_ctz(poisoned)));
  if (w.poison_op != 0) {
    source = cta.launch->LocOf(w.poison_op - 1);
    where += fmt::format(", from `{}`", cta.launch->NameOf(ir::StorageId(w.poison_storage)));
  }
  cta.findings().Add(diag::kinds::SimUninitialisedRead, cta.Loc(w), source, std::string(what),
                     where);
  return poisoned;
}

void ReportDivisionByZero(Warp& w, uint32_t lanes) {
  w.cta->findings().Add(diag::kinds::SimDivisionByZero, w.cta->Loc(w), {},
                        LaneName(w, static_cast<uint32_t>(__builtin_ctz(lanes))));
}

InstrFn LoadFn(ir::StorageKind kind, Elem elem) {
  CHOREO_CHECK(kind == ir::StorageKind::Param || kind == ir::StorageKind::Shared);
  return DispatchElem(elem, []<Elem E>() -> InstrFn { return Load<E>; });
}

void ExecMemStore(Warp& w, const FlatOp& op) {
  const ir::StorageId id(op.index);
  const ir::Storage& storage = w.cta->launch->kernel->storages[id];
  const int32_t bytes = Bytes(storage.elem);
  const int64_t* index = w.regs.At<int64_t>(op.slot[0]);
  const uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  uint32_t poison = w.regs.poison[op.slot[1]];
  if (storage.kind == ir::StorageKind::Param) {
    poison &= CheckPoison(w, op.slot[1], lanes, "a value stored to a parameter");
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const Place place = Locate(w, id, index[l], bytes);
    if (place.data == nullptr) continue;
    uint8_t value[8];
    EncodeElement(w, storage.elem, op.slot[1], l, value);
    TrackWrite(w, l, place, value, bytes, ((poison >> l) & 1u) != 0);
  }
}

void ExecAtomic(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::AtomicMem>(*op.node);
  const int64_t* index = w.regs.At<int64_t>(op.slot[0]);
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "the value of an atomic operation");
  // Which lane comes first is not said.
  const auto first = static_cast<uint32_t>(
      w.cta->launch->options.schedule_seed == 0 ? 0 : w.cta->cluster->random() % kLanes);
  DispatchElem(w.cta->launch->kernel->storages[node.storage].elem, [&]<Elem E>() {
    using T = ElemTraits<E>;
    using Reg = typename T::Reg;
    if constexpr (std::is_integral_v<Reg>) {
      for (uint32_t i = 0; i < kLanes; ++i) {
        const uint32_t l = (first + i) % kLanes;
        if (((lanes >> l) & 1u) == 0) continue;
        const Place place = Locate(w, node.storage, index[l], T::kBytes);
        if (place.data == nullptr) {  // reported; a loop over tasks finds no more of them
          constexpr auto kNoTask = static_cast<Reg>(std::numeric_limits<int32_t>::max());
          if (op.slot[2] != kNoSlot) w.regs.At<Reg>(op.slot[2])[l] = kNoTask;
          continue;
        }
        TrackAtomic(w, l, place, T::kBytes);
        const Reg before = T::Load(place.data);
        const Reg value = w.regs.At<Reg>(op.slot[1])[l];
        using Wide = std::make_unsigned_t<Reg>;
        const Reg sum = static_cast<Reg>(static_cast<Wide>(before) + static_cast<Wide>(value));
        T::Store(place.data, node.how == ir::AtomicKind::Add   ? sum
                             : node.how == ir::AtomicKind::Max ? std::max(before, value)
                                                               : std::min(before, value));
        if (op.slot[2] != kNoSlot) w.regs.At<Reg>(op.slot[2])[l] = before;
      }
    } else {
      CHOREO_UNREACHABLE("an atomic operation on floats");
    }
  });
  if (op.slot[2] != kNoSlot) w.regs.poison[op.slot[2]] = ~lanes;
}

void ExecStoreVec(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::StoreVec>(*op.node);
  const ir::Storage& storage = w.cta->launch->kernel->storages[node.storage];
  const int32_t size = Bytes(storage.elem);
  const auto count = static_cast<int32_t>(node.values.size());
  const int32_t bytes = size * count;
  CHOREO_CHECK(bytes <= 16, "a vector store of {} bytes", bytes);
  const Slot* values = w.cta->program().slot_lists.data() + op.index;
  const int64_t* index = w.regs.At<int64_t>(op.slot[0]);
  const uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  const bool param = storage.kind == ir::StorageKind::Param;
  uint32_t poison = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (param) CheckPoison(w, values[i], lanes, "a value stored to a parameter");
    poison |= w.regs.poison[values[i]];
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const Place place = Locate(w, node.storage, index[l], bytes);
    if (place.data == nullptr || !CheckAligned(w, place, bytes)) continue;
    uint8_t value[16];
    for (int32_t i = 0; i < count; ++i)
      EncodeElement(w, storage.elem, values[i], l, value + i * size);
    TrackWrite(w, l, place, value, bytes, ((poison >> l) & 1u) != 0);
    if (param || poison == 0) continue;
    // Poison is exact: only the elements that were never written.
    for (int32_t i = 0; i < count; ++i) {
      const bool poisoned = ((w.regs.poison[values[i]] >> l) & 1u) != 0;
      std::memset(w.cta->shared_poison.data() + place.shared_offset + i * size, poisoned ? 1 : 0,
                  static_cast<size_t>(size));
    }
  }
}

void ExecCopyVec(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::CopyVec>(*op.node);
  const int64_t* dst_index = w.regs.At<int64_t>(op.slot[0]);
  const int64_t* src_index = w.regs.At<int64_t>(op.slot[1]);
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "an address");
  const ir::Kernel& kernel = *w.cta->launch->kernel;
  const bool to_param = kernel.storages[node.dst].kind == ir::StorageKind::Param;
  struct Piece {
    uint8_t data[16];
    uint8_t poison[16];
    bool valid;
  };
  Piece pieces[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {  // all lanes load, then all store
    Piece& piece = pieces[l];
    piece = {};
    if (((lanes >> l) & 1u) == 0) continue;
    const Place src = Locate(w, node.src, src_index[l], node.bytes);
    if (src.data == nullptr || !CheckAligned(w, src, node.bytes)) continue;
    piece.valid = true;
    const bool poison = TrackRead(w, l, src, node.bytes);
    std::memcpy(piece.data, src.data, static_cast<size_t>(node.bytes));
    if (!poison) continue;
    std::memcpy(piece.poison, w.cta->shared_poison.data() + src.shared_offset,
                static_cast<size_t>(node.bytes));
    if (to_param) {
      w.cta->findings().Add(
          diag::kinds::SimUninitialisedRead, w.cta->Loc(w), {}, "a value stored to a parameter",
          fmt::format("{}, from `{}`", LaneName(w, l), kernel.storages[node.src].name));
    }
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    const Piece& piece = pieces[l];
    if (!piece.valid) continue;
    const Place dst = Locate(w, node.dst, dst_index[l], node.bytes);
    if (dst.data == nullptr || !CheckAligned(w, dst, node.bytes)) continue;
    TrackWrite(w, l, dst, piece.data, node.bytes, false);
    if (!dst.global) {
      std::memcpy(w.cta->shared_poison.data() + dst.shared_offset, piece.poison,
                  static_cast<size_t>(node.bytes));
    }
  }
}

}  // namespace choreo::sim
