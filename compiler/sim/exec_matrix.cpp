// Packed 16-bit fragments: packing, and 8x8 matrices to and from shared memory (stmatrix,
// ldmatrix). Row r of matrix m is at the address that lane 8m + r names; lane 4r + c holds its
// elements 2c, 2c+1.
#include "sim/cta.h"
#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int32_t kRowBytes = 16;
constexpr int32_t kPairBytes = 4;

// The slot of element 2·(word + m) of a fragment for a lane; kNoSlot (reported) if there is none.
Slot WordSlot(Warp& w, ir::StorageId frag, int32_t word) {
  const int32_t count = w.cta->program().elements[frag.value] / 2;
  if (word >= 0 && word < count) return w.cta->program().ElementSlot(frag, 2 * word);
  w.cta->findings().Add(diag::kinds::SimOutOfBounds, w.cta->Loc(w), {}, word,
                        std::string(w.cta->launch->NameOf(frag)), 0, count - 1);
  return kNoSlot;
}

template <class Node, class F>
void ForEachPair(Warp& w, const FlatOp& op, const Node& node, ir::StorageId memory, F&& f) {
  const int64_t* index = w.regs.At<int64_t>(op.slot[0]);
  const int32_t* word = w.regs.At<int32_t>(op.slot[1]);
  const uint32_t rows = node.count == 4 ? kAllLanes : (1u << (8 * node.count)) - 1;
  if (CheckPoison(w, op.slot[0], w.valid & rows, "an address") != 0) return;
  if (CheckPoison(w, op.slot[1], w.valid, "an index") != 0) return;
  for (int32_t m = 0; m < node.count; ++m) {
    for (uint32_t r = 0; r < 8; ++r) {
      const Place row = Locate(w, memory, index[8 * static_cast<uint32_t>(m) + r], kRowBytes);
      if (row.data == nullptr || !CheckAligned(w, row, kRowBytes)) continue;
      for (uint32_t c = 0; c < 4; ++c) {
        const uint32_t lane = 4 * r + c;
        const Slot slot = WordSlot(w, node.frag, word[lane] + m);
        if (slot == kNoSlot) return;
        Place pair = row;
        pair.data += kPairBytes * c;
        pair.shared_offset += kPairBytes * c;
        f(lane, slot, pair);
      }
    }
  }
}

}  // namespace

void ExecFragPack(Warp& w, const FlatOp& op) {
  const ir::StorageId frag(op.index);
  const Elem elem = w.cta->launch->kernel->storages[frag].elem;
  const int32_t* word = w.regs.At<int32_t>(op.slot[0]);
  TouchFrag(w, frag, true);
  const uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an index");
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const Slot to = WordSlot(w, frag, word[l]);
    if (to == kNoSlot) return;
    for (uint32_t half = 0; half < 2; ++half) {
      const Slot from = op.slot[1 + half];
      w.regs.At<float>(to + half)[l] =
          DecodeHalf(elem, EncodeHalf(elem, w.regs.At<float>(from)[l]));
      const uint32_t bit = 1u << l;
      w.regs.poison[to + half] = (w.regs.poison[to + half] & ~bit) | (w.regs.poison[from] & bit);
    }
  }
}

void ExecStMatrix(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::StMatrix>(*op.node);
  const Elem elem = w.cta->launch->kernel->storages[node.frag].elem;
  RequireFullWarp(w, "stmatrix");
  TouchFrag(w, node.frag, false);
  ForEachPair(w, op, node, node.dst, [&](uint32_t lane, Slot slot, const Place& place) {
    uint16_t pair[2];
    for (uint32_t half = 0; half < 2; ++half) {
      pair[half] = EncodeHalf(elem, w.regs.At<float>(slot + half)[lane]);
    }
    const uint32_t poison = (w.regs.poison[slot] | w.regs.poison[slot + 1]) >> lane & 1u;
    TrackWrite(w, lane, place, pair, kPairBytes, poison != 0);
  });
}

void ExecLdMatrix(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::LdMatrix>(*op.node);
  const Elem elem = w.cta->launch->kernel->storages[node.frag].elem;
  RequireFullWarp(w, "ldmatrix");
  TouchFrag(w, node.frag, true);
  ForEachPair(w, op, node, node.src, [&](uint32_t lane, Slot slot, const Place& place) {
    const bool poison = TrackRead(w, lane, place, kPairBytes);
    for (uint32_t half = 0; half < 2; ++half) {
      uint16_t bits = 0;
      std::memcpy(&bits, place.data + 2 * half, sizeof bits);
      w.regs.At<float>(slot + half)[lane] = DecodeHalf(elem, bits);
      const uint32_t bit = 1u << lane;
      uint32_t& mask = w.regs.poison[slot + half];
      mask = poison ? mask | bit : mask & ~bit;
    }
  });
}

}  // namespace choreo::sim
