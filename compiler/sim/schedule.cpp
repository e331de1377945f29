// The agents of a cluster, warps and TMA engines of its CTAs, in turn or at random.
#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include "sim/cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr size_t kMostCtas = 8;  // of a cluster

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
  const auto ctas = static_cast<size_t>(cta.launch->kernel->host.cluster);
  w.arrivals.resize(ctas * cta.mbarriers.size());
  w.last_slot.resize(ctas * cta.mbarriers.size());
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

// What can run: of each CTA its warps, and behind them its TMA engine.
class Runnable {
 public:
  explicit Runnable(Cluster& cluster)
      : cluster_(cluster), agents_(static_cast<uint32_t>(cluster.ctas.front().warps.size()) + 1) {
    for (const Cta& cta : cluster.ctas) {
      uint64_t& runs = of_cta_[cta.rank];
      for (const Warp& w : cta.warps) {
        alive_ = alive_ || !w.exited;
        if (!w.exited && w.waiting == Waiting::No) runs |= uint64_t{1} << w.index;
      }
      if (!cta.tma.queue.empty()) runs |= uint64_t{1} << (agents_ - 1);
      count_ += static_cast<uint64_t>(__builtin_popcountll(runs));
    }
  }

  bool alive() const { return alive_; }  // some warp has not exited
  uint64_t count() const { return count_; }
  uint32_t agents() const { return agents_ * static_cast<uint32_t>(cluster_.ctas.size()); }
  bool Has(uint32_t agent) const {
    return ((of_cta_[agent / agents_] >> agent % agents_) & 1u) != 0;
  }
  // The one with `before` others in front of it.
  uint32_t Pick(uint64_t before) const {
    uint32_t rank = 0;
    for (uint64_t here; before >= (here = Count(rank)); ++rank) before -= here;
    uint64_t runs = of_cta_[rank];
    while (before-- != 0) runs &= runs - 1;
    return rank * agents_ + static_cast<uint32_t>(__builtin_ctzll(runs));
  }
  Cta& CtaOf(uint32_t agent) const { return cluster_.ctas[agent / agents_]; }
  Warp* WarpOf(uint32_t agent) const {  // null: the TMA engine
    const uint32_t index = agent % agents_;
    return index + 1 == agents_ ? nullptr : &CtaOf(agent).warps[index];
  }

 private:
  uint64_t Count(uint32_t rank) const {
    return static_cast<uint64_t>(__builtin_popcountll(of_cta_[rank]));
  }

  Cluster& cluster_;
  uint32_t agents_;
  std::array<uint64_t, kMostCtas> of_cta_{};  // bit sets
  uint64_t count_ = 0;
  bool alive_ = false;
};

// By modelled time: the agent that is furthest behind.
void StepInTime(Cluster& cluster, const Runnable& runnable) {
  constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t first = kNever;
  Warp* next = nullptr;
  for (uint32_t agent = 0; agent < runnable.agents(); ++agent) {
    Warp* w = runnable.WarpOf(agent);
    if (w == nullptr || !runnable.Has(agent) || w->time >= first) continue;
    first = w->time;
    next = w;
  }
  for (Cta& cta : cluster.ctas) {
    if (!cta.tma.queue.empty() && cta.tma.queue.front().lands <= first) {
      return LandTmaLoad(cta, 0);  // loads land in the order of their issue
    }
  }
  next->cta->slice_end = first + Cycles::kSlice;
  RunWarp(*next, kNever);
}

// Lets one agent run: a warp or a TMA engine. False: all warps have exited.
bool Step(Cluster& cluster) {
  const Runnable runnable(cluster);
  if (!runnable.alive()) return false;
  if (runnable.count() == 0) {
    ResolveStall(cluster);
    return true;
  }
  if (cluster.ctas.front().timeline != nullptr) {
    StepInTime(cluster, runnable);
    return true;
  }
  if (cluster.ctas.front().launch->options.schedule_seed != 0) {
    const uint32_t agent = runnable.Pick(cluster.random() % runnable.count());
    if (Warp* w = runnable.WarpOf(agent)) {
      RunWarp(*w, 1 + cluster.random() % 8);
    } else {
      Cta& cta = runnable.CtaOf(agent);
      LandTmaLoad(cta, cluster.random() % cta.tma.queue.size());
    }
    return true;
  }
  while (!runnable.Has(cluster.next)) cluster.next = (cluster.next + 1) % runnable.agents();
  if (Warp* w = runnable.WarpOf(cluster.next)) {
    RunWarp(*w, ~uint64_t{0});
  } else {
    Cta& cta = runnable.CtaOf(cluster.next);
    while (!cta.tma.queue.empty()) LandTmaLoad(cta, 0);
  }
  cluster.next = (cluster.next + 1) % runnable.agents();
  return true;
}

void InitCta(Cluster& cluster, Execution& launch, uint32_t id, std::array<int32_t, 3> index,
             const RegFile& registers) {
  Cta& cta = cluster.ctas.emplace_back();
  cta.launch = &launch;
  cta.cluster = &cluster;
  cta.rank = static_cast<uint32_t>(cluster.ctas.size()) - 1;
  cta.id = id;
  cta.index = index;
  const auto shared_bytes = static_cast<size_t>(launch.kernel->host.shared_bytes);
  cta.shared.assign(shared_bytes, 0);
  cta.shared_poison.assign(shared_bytes, 1);
  cta.shadow.Reset(shared_bytes);
  const auto threads = static_cast<uint32_t>(launch.kernel->host.threads);
  const uint32_t warps = (threads + kLanes - 1) / kLanes;
  CHOREO_CHECK(warps >= 1 && warps <= 32, "a CTA of {} threads", threads);
  cta.warps.resize(warps);
  cta.groups.resize((warps + kWarpsPerGroup - 1) / kWarpsPerGroup);
  cta.mbarriers.Reset(*launch.kernel);
  cta.agents.Reset(cluster.agents, warps, static_cast<uint32_t>(cta.groups.size()),
                   static_cast<uint32_t>(cta.mbarriers.size()));
  InitRegisters(cta);
  for (uint32_t i = 0; i < warps; ++i) InitWarp(cta, cta.warps[i], i, registers);
}

// Of all CTAs of a cluster, since they wait for one another; the trace asked for is that of one.
class Timelines {
 public:
  Timelines(Execution& launch, Cluster& cluster) {
    if (launch.options.trace == nullptr ||
        !cluster.Has(static_cast<uint32_t>(launch.options.trace_cta))) {
      return;
    }
    for (Cta& cta : cluster.ctas) {
      Trace& trace =
          cta.id == launch.options.trace_cta ? *launch.options.trace : others_.emplace_back();
      cta.timeline = &timelines_.emplace_back(*launch.module, cta, trace);
    }
  }
  void Finish() {
    for (Timeline& timeline : timelines_) timeline.Finish();
  }

 private:
  std::deque<Trace> others_;
  std::deque<Timeline> timelines_;
};

// A cluster from its first step to its end. Never moves: its CTAs point into it.
class ClusterRun {
 public:
  ClusterRun(Execution& launch, uint32_t id, std::array<int32_t, 3> index, const RegFile& registers)
      : launch_(launch), timelines_(launch, Init(launch, id, index, registers)) {}
  ClusterRun(const ClusterRun&) = delete;
  ClusterRun& operator=(const ClusterRun&) = delete;

  bool Step() { return sim::Step(cluster_); }  // false: all its warps have exited
  void Finish() {
    if (!launch_.stop) {
      for (Cta& cta : cluster_.ctas) {
        CheckLoadsAtEnd(cta);
        CheckVisitsAtEnd(cta);
      }
      cluster_.multicasts.CheckCounts(cluster_);
    }
    timelines_.Finish();
    for (Cta& cta : cluster_.ctas) cta.shadow.FreeAll(launch_.records);
  }

 private:
  Cluster& Init(Execution& launch, uint32_t id, std::array<int32_t, 3> index,
                const RegFile& registers) {
    for (int32_t rank = 0; rank < launch.kernel->host.cluster; ++rank) {
      InitCta(cluster_, launch, id + static_cast<uint32_t>(rank),
              {index[0] + rank, index[1], index[2]}, registers);
    }
    cluster_.random.seed(launch.options.schedule_seed * 0x9e3779b97f4a7c15ull + id);
    return cluster_;
  }

  Execution& launch_;
  Cluster cluster_;
  Timelines timelines_;
};

// What clusters find in memory depends on each other's progress only through atomic operations.
bool ClustersMeet(const Execution& launch) {
  const auto& ops = launch.program->ops;
  return std::any_of(ops.begin(), ops.end(), [&](const FlatOp& op) {
    return op.code == Code::Atomic &&
           launch.kernel->storages[ir::StorageId(op.index)].kind == ir::StorageKind::Param;
  });
}

// Which of the clusters that run together makes the next step.
class Turns {
 public:
  explicit Turns(uint64_t seed) : seed_(seed), random_(seed) {}
  size_t Next(size_t running) {
    if (seed_ == 0) return ++at_ % running;
    // Fair, in bursts, or one as long as it lasts: other clusters then find nothing left to do.
    constexpr uint64_t kOf = 64;
    constexpr uint64_t kStays[] = {0, kOf - 2, kOf};
    if (random_() % kOf >= kStays[seed_ % 3]) at_ = random_();
    return at_ % running;
  }

 private:
  uint64_t seed_;
  std::mt19937_64 random_;
  size_t at_ = 0;
};

}  // namespace

uint64_t RunGrid(Execution& launch, const RegFile& registers) {
  constexpr size_t kMostTogether = 8;
  const size_t together = ClustersMeet(launch) ? kMostTogether : 1;
  const int32_t width = launch.kernel->host.cluster;
  const auto [columns, rows, planes] = launch.grid;
  const int64_t across = (columns + width - 1) / width;
  const int64_t total = across * rows * planes;
  std::vector<std::unique_ptr<ClusterRun>> running;
  Turns turns(launch.options.schedule_seed);
  int64_t begun = 0;
  while (!launch.stop && (begun < total || !running.empty())) {
    while (running.size() < together && begun < total) {
      const int64_t x = begun % across * width, y = begun / across;
      const std::array<int32_t, 3> index{static_cast<int32_t>(x), static_cast<int32_t>(y % rows),
                                         static_cast<int32_t>(y / rows)};
      running.push_back(std::make_unique<ClusterRun>(launch, static_cast<uint32_t>(begun * width),
                                                     index, registers));
      ++begun;
    }
    const size_t next = turns.Next(running.size());
    if (running[next]->Step() && !launch.stop) continue;
    running[next]->Finish();
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(next));
  }
  for (const auto& run : running) run->Finish();
  return static_cast<uint64_t>(begun * width);
}

}  // namespace choreo::sim
