// setmaxnreg: registers move between the warpgroups of a CTA through a pool. `dec` gives back,
// `inc` waits until there are enough.
#include <algorithm>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

namespace kinds = diag::kinds;

constexpr uint32_t kRegisterFile = 65536;
constexpr uint32_t kMostRegisters = 256;  // a thread, as setmaxnreg counts
constexpr uint32_t kGranule = 8;
constexpr uint32_t kGroupThreads = kWarpsPerGroup * kLanes;

const ir::SetMaxNReg& NodeAt(const Cta& cta, const Warp& w) {
  return std::get<ir::SetMaxNReg>(*cta.program().ops[w.pc].node);
}

void GoOn(Cta& cta, uint32_t group) {
  cta.registers_time = std::max(cta.registers_time, cta.warps[group * kWarpsPerGroup].time);
  for (uint32_t i = group * kWarpsPerGroup; i < (group + 1) * kWarpsPerGroup; ++i) {
    Warp& w = cta.warps[i];
    if (cta.timeline != nullptr) cta.timeline->Wait(w, cta.registers_time, "setmaxnreg");
    w.waiting = Waiting::No;
    ++w.pc;
  }
}

// Gives waiting warpgroups what they wait for, in the order of their numbers, as far as it goes.
void Grant(Cta& cta) {
  for (uint32_t g = 0; g < cta.groups.size(); ++g) {
    const uint32_t first = g * kWarpsPerGroup;
    if (cta.warps[first].waiting != Waiting::Registers) continue;
    const auto count = static_cast<uint32_t>(NodeAt(cta, cta.warps[first]).count);
    WarpGroup& group = cta.groups[g];
    const uint32_t needed = (count - group.registers) * kGroupThreads;
    if (needed > cta.free_registers) continue;
    cta.free_registers -= needed;
    group.registers = count;
    GoOn(cta, g);
  }
}

}  // namespace

void InitRegisters(Cta& cta) {
  const ir::HostPart& host = cta.launch->kernel->host;
  const auto threads = static_cast<uint32_t>(host.threads);
  const auto blocks = static_cast<uint32_t>(std::max(host.min_blocks, 1));
  uint32_t entry = kRegisterFile / (threads * blocks) / kGranule * kGranule;
  if (host.max_registers > 0) {
    entry = std::min(entry, static_cast<uint32_t>(host.max_registers) / kGranule * kGranule);
  }
  for (WarpGroup& group : cta.groups) group.registers = std::min(entry, kMostRegisters);
}

void ExecSetMaxNReg(Warp& w) {
  Cta& cta = *w.cta;
  const ir::SetMaxNReg& node = NodeAt(cta, w);
  const char* name = node.increase ? "setmaxnreg.inc" : "setmaxnreg.dec";
  if (!ArriveWithGroup(w, name)) return;
  const uint32_t g = w.index / kWarpsPerGroup;
  WarpGroup& group = cta.groups[g];
  const auto count = static_cast<uint32_t>(node.count);
  const uint32_t first = g * kWarpsPerGroup;
  bool same = true;
  ir::Loc other;
  for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
    const ir::SetMaxNReg& its = NodeAt(cta, cta.warps[i]);
    if (its.increase == node.increase && its.count == node.count) continue;
    same = false;
    other = cta.Loc(cta.warps[i]);
  }
  std::string wrong;
  if (!same) {
    wrong = fmt::format("the warps of warpgroup {} set different register counts", g);
  } else if (node.increase ? count < group.registers : count > group.registers) {
    wrong =
        fmt::format("{} to {} registers, but warpgroup {} has {}", name, count, g, group.registers);
  }
  if (!wrong.empty()) {
    cta.findings().Add(kinds::SimRegisterPlan, cta.Loc(w), other, wrong);
    cta.launch->stop = true;  // what follows would wait for registers without end
    return;
  }
  if (node.increase) {
    for (uint32_t i = first; i < first + kWarpsPerGroup; ++i) {
      cta.warps[i].waiting = Waiting::Registers;
    }
  } else {
    cta.free_registers += (group.registers - count) * kGroupThreads;
    group.registers = count;
    GoOn(cta, g);
  }
  Grant(cta);
}

}  // namespace choreo::sim
