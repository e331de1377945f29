// The agents of a CTA, its warps and the TMA engine, in turn or at random.
#include <optional>

#include "sim/cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

void InitWarp(Cta& cta, Warp& w, uint32_t index, const RegFile& registers) {
  const Program& program = cta.program();
  const auto threads = static_cast<uint32_t>(cta.launch->kernel->host.threads);
  w.cta = &cta;
  w.index = index;
  w.regs = registers;
  const uint32_t left = threads - index * kLanes;
  w.valid = left >= kLanes ? kAllLanes : (1u << left) - 1;
  w.active = w.valid;
  w.waits.resize(cta.mbarriers.size());
  w.arrivals.resize(cta.mbarriers.size());
  w.last_slot.resize(cta.mbarriers.size());
  w.frags.resize(cta.launch->kernel->storages.size());
  const auto set = [&](Slot slot, auto value) {
    for (int l = 0; l < kLanes; ++l) w.regs.At<int32_t>(slot)[l] = value(l);
    w.regs.poison[slot] = 0;
  };
  set(program.tid, [&](int l) { return static_cast<int32_t>(index * kLanes) + l; });
  set(program.lane, [](int l) { return l; });
  set(program.warp, [&](int) { return static_cast<int32_t>(index); });
  for (size_t axis = 0; axis < 3; ++axis) {
    set(program.ctaid[axis], [&](int) { return cta.index[axis]; });
  }
}

// By modelled time: the agent that is furthest behind.
void StepInTime(Cta& cta, uint64_t runnable) {
  constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t first = kNever;
  uint32_t agent = 0;
  for (const Warp& w : cta.warps) {
    if (((runnable >> w.index) & 1u) == 0 || w.time >= first) continue;
    first = w.time;
    agent = w.index;
  }
  if (!cta.tma.queue.empty() && cta.tma.queue.front().lands <= first) {
    return LandTmaLoad(cta, 0);  // loads land in the order of their issue
  }
  cta.slice_end = first + Cycles::kSlice;
  RunWarp(cta.warps[agent], kNever);
}

// Lets one agent run: a warp or the TMA engine. False: all warps have exited.
bool Step(Cta& cta) {
  const auto warps = static_cast<uint32_t>(cta.warps.size());
  const uint32_t engine = warps;
  uint64_t runnable = 0;
  bool alive = false;
  for (const Warp& w : cta.warps) {
    alive = alive || !w.exited;
    if (!w.exited && w.waiting == Waiting::No) runnable |= uint64_t{1} << w.index;
  }
  if (!alive) return false;
  if (!cta.tma.queue.empty()) runnable |= uint64_t{1} << engine;
  if (runnable == 0) {
    ResolveStall(cta);
    return true;
  }
  if (cta.timeline != nullptr) {
    StepInTime(cta, runnable);
    return true;
  }
  if (cta.launch->options.schedule_seed != 0) {
    uint64_t pick = cta.random() % static_cast<uint64_t>(__builtin_popcountll(runnable));
    while (pick-- != 0) runnable &= runnable - 1;
    const auto agent = static_cast<uint32_t>(__builtin_ctzll(runnable));
    if (agent == engine) {
      LandTmaLoad(cta, cta.random() % cta.tma.queue.size());
    } else {
      RunWarp(cta.warps[agent], 1 + cta.random() % 8);
    }
    return true;
  }
  while (((runnable >> cta.next) & 1u) == 0) cta.next = (cta.next + 1) % (warps + 1);
  if (cta.next == engine) {
    while (!cta.tma.queue.empty()) LandTmaLoad(cta, 0);
  } else {
    RunWarp(cta.warps[cta.next], ~uint64_t{0});
  }
  cta.next = (cta.next + 1) % (warps + 1);
  return true;
}

}  // namespace

void RunCta(Execution& launch, uint32_t id, std::array<int32_t, 3> index,
            const RegFile& registers) {
  Cta cta;
  cta.launch = &launch;
  cta.id = id;
  cta.index = index;
  const auto shared_bytes = static_cast<size_t>(launch.kernel->host.shared_bytes);
  cta.shared.assign(shared_bytes, 0);
  cta.shared_poison.assign(shared_bytes, 1);
  cta.shadow.Reset(shared_bytes);
  cta.random.seed(launch.options.schedule_seed * 0x9e3779b97f4a7c15ull + id);
  const auto threads = static_cast<uint32_t>(launch.kernel->host.threads);
  const uint32_t warps = (threads + kLanes - 1) / kLanes;
  CHOREO_CHECK(warps >= 1 && warps <= 32, "a CTA of {} threads", threads);
  cta.warps.resize(warps);
  cta.groups.resize((warps + kWarpsPerGroup - 1) / kWarpsPerGroup);
  cta.mbarriers.Reset(*launch.kernel);
  cta.agents.Reset(warps, static_cast<uint32_t>(cta.groups.size()),
                   static_cast<uint32_t>(cta.mbarriers.size()));
  InitRegisters(cta);
  for (uint32_t i = 0; i < warps; ++i) InitWarp(cta, cta.warps[i], i, registers);

  std::optional<Timeline> timeline;
  if (launch.options.trace != nullptr && launch.options.trace_cta == id) {
    cta.timeline = &timeline.emplace(*launch.module, cta, *launch.options.trace);
  }
  while (!launch.stop && Step(cta)) {
  }
  if (!launch.stop) CheckLoadsAtEnd(cta);
  if (timeline) timeline->Finish();
  cta.shadow.FreeAll(launch.records);
}

}  // namespace choreo::sim
