// Asynchronous MMAs of a warpgroup: issue when all four warps have arrived, groups, waits.
// The product is computed at issue; until an MMA is waited for, touching its registers or
// overwriting its shared operands is a finding.
#include <Eigen/Core>
#include <algorithm>
#include <cstring>

#include "sim/cta.h"
#include "sim/numeric.h"
#include "sim/wgmma.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int kRows = 64, kDepth = 16;
// Issues whose progress is kept: more MMAs than a warpgroup has in flight.
constexpr size_t kMostIssues = 256;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using diag::kinds::SimBadDescriptor;

std::string FragName(const Warp& w, ir::StorageId frag) {
  return std::string(w.cta->launch->NameOf(frag));
}

// The shared tile at an address, for messages.
std::string TileAt(const Cta& cta, uint32_t offset) {
  const ir::Kernel& kernel = *cta.launch->kernel;
  for (const ir::Storage& s : kernel.storages) {
    if (s.kind != ir::StorageKind::Shared || s.byte_offset < 0) continue;
    const auto begin = static_cast<uint32_t>(s.byte_offset);
    if (offset >= begin && offset < begin + static_cast<uint32_t>(s.tile_bytes * s.array_size)) {
      return s.name;
    }
  }
  return "shared memory";
}

class Mma {
 public:
  Mma(Cta& cta, uint32_t group)
      : cta_(cta),
        group_(group),
        lead_(cta.warps[group * kWarpsPerGroup]),
        op_(cta.program().ops[lead_.pc]),
        node_(std::get<ir::Wgmma>(*op_.node)) {}

  void Issue() {
    sequence_ = ++cta_.groups[group_].sequence;
    RecordProgress();
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) CheckRegisters(WarpAt(part));
    Matrix a = Matrix::Zero(kRows, kDepth);
    Matrix b = Matrix::Zero(kDepth, node_.n);
    if (node_.a_desc.valid()) {
      GatherA(a);
    } else {
      for (uint32_t part = 0; part < kWarpsPerGroup; ++part) RegistersA(WarpAt(part), part, a);
    }
    GatherB(b);
    Matrix d = a * b;
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) Accumulate(WarpAt(part), part, d);
  }

 private:
  Warp& WarpAt(uint32_t part) { return cta_.warps[group_ * kWarpsPerGroup + part]; }

  // Who knows that this MMA is complete knows that all four warps have got here.
  void RecordProgress() {
    WarpGroup::Issue issue{sequence_, {}, 0};
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
      Warp& w = WarpAt(part);
      issue.progress.Raise(cta_.agents.Progress(w.index), w.clock++);
    }
    if (cta_.timeline != nullptr) issue.done = cta_.timeline->Mma(group_, node_, op_.loc);
    std::vector<WarpGroup::Issue>& issues = cta_.groups[group_].issues;
    if (issues.size() >= kMostIssues) issues.erase(issues.begin());
    issues.push_back(std::move(issue));
  }

  void CheckRegisters(Warp& w) {
    namespace kinds = diag::kinds;
    FragState& acc = w.frags[node_.acc.value];
    if (!w.fenced_wgmma || acc.touched) {
      cta_.findings().Add(kinds::SimMissingWgmmaFence, cta_.Loc(w),
                          acc.touched ? cta_.launch->LocOf(acc.touched_op) : ir::Loc{},
                          FragName(w, node_.acc),
                          !acc.touched           ? "is used"
                          : acc.touched_by_write ? "was written"
                                                 : "was read");
    }
    if (acc.operand_sequence != 0) ReportInFlight(w, node_.acc, acc.operand_op);
    acc.acc_sequence = sequence_;
    acc.acc_op = w.pc;
    if (!node_.a_desc.valid()) {
      FragState& operand = w.frags[node_.a_frag.value];
      if (operand.touched && operand.touched_by_write) {
        cta_.findings().Add(kinds::SimMissingWgmmaFence, cta_.Loc(w),
                            cta_.launch->LocOf(operand.touched_op), FragName(w, node_.a_frag),
                            "was written");
      }
      if (operand.acc_sequence != 0) ReportInFlight(w, node_.a_frag, operand.acc_op);
      operand.operand_sequence = sequence_;
      operand.operand_op = w.pc;
    }
    w.uncommitted_wgmma = sequence_;
  }

  void ReportInFlight(Warp& w, ir::StorageId frag, uint32_t op) {
    cta_.findings().Add(diag::kinds::SimWgmmaInFlight, cta_.Loc(w), cta_.launch->LocOf(op), "use",
                        FragName(w, frag), WarpName(w));
  }

  // The descriptor that all warps of the group must agree on.
  bool ReadDescriptor(Slot slot, const char* operand, Descriptor& d) {
    const uint64_t bits = lead_.regs.At<uint64_t>(slot)[0];
    for (uint32_t part = 0; part < kWarpsPerGroup; ++part) {
      Warp& w = WarpAt(part);
      if (CheckPoison(w, slot, w.valid, "a matrix descriptor") != 0) return false;
      const uint64_t* all = w.regs.At<uint64_t>(slot);
      if (std::all_of(all, all + kLanes, [bits](uint64_t x) { return x == bits; })) continue;
      cta_.findings().Add(SimBadDescriptor, cta_.Loc(w), {}, operand,
                          "it differs between the threads of the warpgroup");
      return false;
    }
    d = DecodeDescriptor(bits);
    return true;
  }

  // Eight elements at a shared address, read by the tensor core's parts `parts`.
  void ReadChunk(uint32_t address, uint32_t parts, const char* operand, float* to, int step) {
    if (address < kSharedBase || address + 16 > kSharedBase + cta_.shared.size()) {
      cta_.findings().Add(
          SimBadDescriptor, cta_.Loc(lead_), {}, operand,
          fmt::format("it leads to byte {} of {} of shared memory",
                      static_cast<int64_t>(address) - kSharedBase, cta_.shared.size()));
      return;
    }
    const uint32_t offset = address - kSharedBase;
    AccessInfo access;
    access.kind = Access::AsyncRead;
    access.mma = true;
    access.group = group_;
    access.group_parts = parts;
    access.agent = cta_.agents.Mma(group_);
    access.epoch = sequence_;
    uint32_t& head = cta_.shadow.Head(offset);
    if (name_begin_ > offset || name_end_ <= offset) RememberName(offset);
    CheckCell(lead_, access, head, 0xffff, name_);
    const uint8_t* poison = cta_.shared_poison.data() + offset;
    if (std::any_of(poison, poison + 16, [](uint8_t p) { return p != 0; })) {
      cta_.findings().Add(diag::kinds::SimUninitialisedRead, cta_.Loc(lead_), {},
                          fmt::format("operand {} of an MMA", operand),
                          fmt::format("in `{}`", name_));
    }
    for (int i = 0; i < 8; ++i) {
      uint16_t bits = 0;
      std::memcpy(&bits, cta_.shared.data() + offset + 2 * i, sizeof bits);
      to[i * step] = DecodeHalf(node_.elem, bits);
    }
  }

  void RememberName(uint32_t offset) {
    name_ = TileAt(cta_, offset);
    name_begin_ = offset / 128 * 128;
    name_end_ = name_begin_ + 128;
  }

  void GatherA(Matrix& a) {
    Descriptor d{};
    if (!ReadDescriptor(op_.slot[0], "A", d)) return;
    for (uint32_t row = 0; row < kRows; ++row) {
      for (uint32_t c = 0; c < kDepth / 8; ++c) {
        // Each warp's part of the tensor core reads its own 16 rows.
        ReadChunk(KMajorChunk(d, row, c), 1u << (row / 16), "A", &a(row, 8 * c), 1);
      }
    }
  }

  void GatherB(Matrix& b) {
    Descriptor d{};
    if (!ReadDescriptor(op_.slot[1], "B", d)) return;
    constexpr uint32_t kAllParts = 0xf;
    const auto n = static_cast<uint32_t>(node_.n);
    if (node_.trans_b) {
      for (uint32_t k = 0; k < kDepth; ++k) {
        for (uint32_t c = 0; c < n / 8; ++c) {
          ReadChunk(MnMajorChunk(d, k, c), kAllParts, "B", &b(k, 8 * c), 1);
        }
      }
      return;
    }
    for (uint32_t row = 0; row < n; ++row) {
      for (uint32_t c = 0; c < kDepth / 8; ++c) {
        ReadChunk(KMajorChunk(d, row, c), kAllParts, "B", &b(8 * c, row), node_.n);
      }
    }
  }

  // Word q of the K slice holds, in lane l, two elements of row l/4 + 8·(q%2), columns from
  // 8·(q/2) + 2·(l%4).
  void RegistersA(Warp& w, uint32_t part, Matrix& a) {
    const int32_t count = cta_.program().elements[node_.a_frag.value] / 2;
    CHOREO_CHECK(node_.a_word >= 0 && node_.a_word + 4 <= count, "word {} of `{}`", node_.a_word,
                 FragName(w, node_.a_frag));
    for (uint32_t q = 0; q < 4; ++q) {
      for (uint32_t half = 0; half < 2; ++half) {
        const Slot slot = cta_.program().ElementSlot(
            node_.a_frag, 2 * (node_.a_word + static_cast<int>(q)) + static_cast<int>(half));
        if (w.regs.poison[slot] != 0) {
          cta_.findings().Add(diag::kinds::SimUninitialisedRead, cta_.Loc(w), {},
                              "operand A of an MMA",
                              fmt::format("`{}` in {}", FragName(w, node_.a_frag), WarpName(w)));
        }
        const float* value = w.regs.At<float>(slot);
        for (uint32_t l = 0; l < kLanes; ++l) {
          a(16 * part + l / 4 + 8 * (q % 2), 8 * (q / 2) + 2 * (l % 4) + half) = value[l];
        }
      }
    }
  }

  void Accumulate(Warp& w, uint32_t part, const Matrix& d) {
    bool keep = true;
    if (op_.slot[2] != kNoSlot) {
      const int32_t* scale = w.regs.At<int32_t>(op_.slot[2]);
      if (CheckPoison(w, op_.slot[2], w.valid, "the scale of an MMA") != 0) return;
      keep = scale[0] != 0;
      if (!std::all_of(scale, scale + kLanes, [&](int32_t x) { return (x != 0) == keep; })) {
        cta_.findings().Add(diag::kinds::SimDivergentCollective, cta_.Loc(w), {}, "wgmma",
                            WarpName(w) + " with different scales", "one scale a warpgroup");
      }
    }
    const int32_t count = cta_.program().elements[node_.acc.value];
    CHOREO_CHECK(node_.n / 2 <= count, "an MMA of {} columns on `{}`", node_.n,
                 FragName(w, node_.acc));
    for (int32_t i = 0; i < node_.n / 2; ++i) {
      const Slot slot = cta_.program().ElementSlot(node_.acc, i);
      if (keep && w.regs.poison[slot] != 0) {
        cta_.findings().Add(diag::kinds::SimUninitialisedRead, cta_.Loc(w), {},
                            "the accumulator of an MMA",
                            fmt::format("`{}` in {}", FragName(w, node_.acc), WarpName(w)));
      }
      w.regs.poison[slot] = 0;
      float* value = w.regs.At<float>(slot);
      for (int l = 0; l < kLanes; ++l) {
        const int row = 16 * static_cast<int>(part) + l / 4 + 8 * (i / 2 % 2);
        const int column = 8 * (i / 4) + 2 * (l % 4) + i % 2;
        value[l] = (keep ? value[l] : 0.0f) + d(row, column);
      }
    }
  }

  Cta& cta_;
  uint32_t group_;
  Warp& lead_;
  const FlatOp& op_;
  const ir::Wgmma& node_;
  uint32_t sequence_ = 0;
  std::string name_;
  uint32_t name_begin_ = 1, name_end_ = 0;
};

}  // namespace

void TouchFrag(Warp& w, ir::StorageId frag, bool write) {
  FragState& state = w.frags[frag.value];
  if (!state.touched || (write && !state.touched_by_write)) {
    state.touched = true;
    state.touched_by_write |= write;
    state.touched_op = w.pc;
  }
  uint32_t op = 0;
  if (state.acc_sequence != 0) {
    op = state.acc_op;
  } else if (write && state.operand_sequence != 0) {
    op = state.operand_op;
  } else {
    return;
  }
  w.cta->findings().Add(diag::kinds::SimWgmmaInFlight, w.cta->Loc(w), w.cta->launch->LocOf(op),
                        write ? "write" : "read", FragName(w, frag), WarpName(w));
}

void ExecWgmmaFence(Warp& w) {
  RequireFullWarp(w, "wgmma.fence");
  w.fenced_wgmma = true;
  for (FragState& state : w.frags) state.touched = state.touched_by_write = false;
}

bool ArriveWithGroup(Warp& w, std::string_view what) {
  Cta& cta = *w.cta;
  RequireFullWarp(w, what);
  const uint32_t first = w.index / kWarpsPerGroup * kWarpsPerGroup;
  if (first + kWarpsPerGroup > cta.warps.size()) {
    cta.findings().Add(diag::kinds::SimDivergentCollective, cta.Loc(w), {}, std::string(what),
                       "a warpgroup of fewer than four warps", "128 threads");
    ++w.pc;
    return false;
  }
  const Code code = cta.program().ops[w.pc].code;
  w.waiting = Waiting::Collective;
  const Warp* stranger = nullptr;
  for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
    const Warp& other = cta.warps[i];
    if (other.waiting != Waiting::Collective) return false;
    if (cta.program().ops[other.pc].code != code) stranger = &other;
  }
  if (stranger == nullptr) return true;
  cta.findings().Add(diag::kinds::SimDivergentCollective, cta.Loc(w), cta.Loc(*stranger),
                     std::string(what), WarpName(w), "all warps of the warpgroup");
  for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
    cta.warps[i].waiting = Waiting::No;
    ++cta.warps[i].pc;
  }
  return false;
}

void ArriveAtWgmma(Warp& w) {
  Cta& cta = *w.cta;
  if (!ArriveWithGroup(w, "wgmma")) return;
  const uint32_t group = w.index / kWarpsPerGroup;
  const uint32_t first = group * kWarpsPerGroup;
  const Warp* stranger = nullptr;
  for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
    if (cta.warps[i].pc != w.pc) stranger = &cta.warps[i];
  }
  if (stranger == nullptr) {
    Mma(cta, group).Issue();
  } else {
    cta.findings().Add(diag::kinds::SimDivergentCollective, cta.Loc(w), cta.Loc(*stranger), "wgmma",
                       WarpName(w), "the same MMA in all warps of the warpgroup");
  }
  for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
    cta.warps[i].waiting = Waiting::No;
    ++cta.warps[i].pc;
  }
}

void ExecWgmmaCommit(Warp& w) {
  RequireFullWarp(w, "wgmma.commit_group");
  w.wgmma_groups.push_back(w.uncommitted_wgmma);
  w.uncommitted_wgmma = 0;
}

void ExecWgmmaWait(Warp& w, int32_t pending) {
  RequireFullWarp(w, "wgmma.wait_group");
  Cta& cta = *w.cta;
  const uint32_t group = w.index / kWarpsPerGroup;
  uint32_t& retired = w.retired_wgmma;
  while (w.wgmma_groups.size() > static_cast<size_t>(pending)) {
    retired = std::max(retired, w.wgmma_groups.front());
    w.wgmma_groups.erase(w.wgmma_groups.begin());
  }
  // The MMA is one operation of the whole warpgroup: complete for one warp, it is for all.
  w.known.seen.Raise(cta.agents.Mma(group), retired);
  const auto& issues = cta.groups[group].issues;
  const auto last = std::find_if(issues.rbegin(), issues.rend(),
                                 [&](const auto& issue) { return issue.sequence <= retired; });
  if (last != issues.rend()) {
    w.known.seen.Join(last->progress);
    if (cta.timeline != nullptr) cta.timeline->Wait(w, last->done, "MMA");
  }
  for (FragState& state : w.frags) {
    if (state.acc_sequence <= retired) state.acc_sequence = 0;
    if (state.operand_sequence <= retired) state.operand_sequence = 0;
  }
}

}  // namespace choreo::sim
