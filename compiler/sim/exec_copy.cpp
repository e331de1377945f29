// cp.async: issued copies are in flight until the issuing thread waits for their group; only then
// do they land in shared memory. The source is read at issue.
#include <algorithm>
#include <cstring>

#include "sim/cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

template <class F>
void ForEachCell(Cta& cta, uint32_t offset, uint32_t bytes, F&& f) {
  const uint32_t end = offset + bytes;
  while (offset < end) {
    const uint32_t first = offset % 16;
    const uint32_t count = std::min(16 - first, end - offset);
    f(cta.shadow.Head(offset), static_cast<uint16_t>(((1u << count) - 1) << first));
    offset += count;
  }
}

}  // namespace

void ExecCpAsync(Warp& w, const FlatOp& op) {
  const auto& node = std::get<ir::CpAsync>(*op.node);
  Cta& cta = *w.cta;
  const int64_t* dst_index = w.regs.At<int64_t>(op.slot[0]);
  const int64_t* src_index = w.regs.At<int64_t>(op.slot[1]);
  const int32_t* valid = op.slot[2] == kNoSlot ? nullptr : w.regs.At<int32_t>(op.slot[2]);
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an address");
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "an address");
  if (valid != nullptr) lanes &= ~CheckPoison(w, op.slot[2], lanes, "a copy's size");
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (((lanes >> l) & 1u) == 0) continue;
    const int32_t read = valid == nullptr ? node.bytes : std::clamp(valid[l], 0, node.bytes);
    PendingCopy copy{};
    copy.lane = static_cast<uint8_t>(l);
    copy.bytes = static_cast<uint8_t>(node.bytes);
    copy.group = w.copy_group[l];
    copy.op = w.pc;
    if (read > 0) {
      const Place src = Locate(w, node.src, src_index[l], read);
      if (src.data == nullptr || !CheckAligned(w, src, node.bytes)) continue;
      TrackRead(w, l, src, read);
      std::memcpy(copy.data.data(), src.data, static_cast<size_t>(read));
    }
    const Place dst = Locate(w, node.dst, dst_index[l], node.bytes);
    if (dst.data == nullptr || !CheckAligned(w, dst, node.bytes)) continue;
    copy.address = dst.shared_offset;
    AccessInfo access;
    access.kind = Access::CopyInFlight;
    access.lane = l;
    const std::string_view name = cta.launch->NameOf(node.dst);
    ForEachCell(cta, copy.address, copy.bytes,
                [&](uint32_t& head, uint16_t bytes) { CheckCell(w, access, head, bytes, name); });
    std::memset(cta.shared_poison.data() + copy.address, 1, copy.bytes);
    w.copies.push_back(copy);
    w.copies_done = w.time + Cycles::kTmaLatency;
  }
}

void ExecCpAsyncCommit(Warp& w) {
  for (uint32_t l = 0; l < kLanes; ++l) w.copy_group[l] += (w.active >> l) & 1u;
}

void ExecCpAsyncWait(Warp& w, int32_t pending) {
  Cta& cta = *w.cta;
  if (cta.timeline != nullptr) cta.timeline->Wait(w, w.copies_done, "cp.async");
  const auto landed = [&](const PendingCopy& copy) {
    const bool waits = ((w.active >> copy.lane) & 1u) != 0;
    return waits && copy.group + static_cast<uint32_t>(pending) < w.copy_group[copy.lane];
  };
  for (const PendingCopy& copy : w.copies) {
    if (!landed(copy)) continue;
    std::memcpy(cta.shared.data() + copy.address, copy.data.data(), copy.bytes);
    std::memset(cta.shared_poison.data() + copy.address, 0, copy.bytes);
    w.dirty_lanes |= 1u << copy.lane;
    ForEachCell(cta, copy.address, copy.bytes, [&](uint32_t& head, uint16_t bytes) {
      LandCopy(w, copy.lane, copy.op, head, bytes);
    });
  }
  std::erase_if(w.copies, landed);
}

}  // namespace choreo::sim
