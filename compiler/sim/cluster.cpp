#include "sim/cluster.h"

#include <algorithm>

#include "sim/cta.h"
#include "sim/sync.h"

namespace choreo::sim {
namespace {

namespace kinds = diag::kinds;

// Lets all go on if nobody is missing any more.
void FreeIfComplete(Cluster& cluster) {
  ClusterBarrier& barrier = cluster.barrier;
  size_t alive = 0;
  for (const Cta& cta : cluster.ctas) {
    alive += static_cast<size_t>(
        std::count_if(cta.warps.begin(), cta.warps.end(), [](const Warp& w) { return !w.exited; }));
  }
  if (barrier.waiting.empty() || barrier.waiting.size() != alive) return;
  Knowledge all;
  for (Warp* w : barrier.waiting) {
    SynchroniseLanes(*w);
    all.Join(w->known);
  }
  for (Warp* w : barrier.waiting) {
    w->known = all;
    if (w->cta->timeline != nullptr) {
      w->cta->timeline->Wait(*w, barrier.time + Cycles::kBarrier, "barrier of the cluster");
    }
    w->waiting = Waiting::No;
    ++w->pc;
  }
  barrier = {};
}

void NoteVisit(const Warp& w, Cta& to) {
  const auto known = std::find_if(to.visits.begin(), to.visits.end(),
                                  [&](const Visit& visit) { return visit.warp == &w; });
  (known == to.visits.end() ? to.visits.emplace_back() : *known) = {&w, w.clock, w.pc};
}

std::string Described(const Warp& w, const Multicasts::Load& load) {
  const auto& node = std::get<ir::TmaLoadBox>(*w.cta->program().ops[w.pc].node);
  const ir::Kernel& kernel = *w.cta->launch->kernel;
  const auto param = static_cast<size_t>(kernel.host.maps[static_cast<size_t>(node.map)].param);
  const ir::Storage& tile = kernel.storages[node.dst];
  const auto offset = static_cast<int32_t>(load.shared_offset) - tile.byte_offset;
  return fmt::format("({}) of `{}` into `{}`{} for slot {} of `{}`", fmt::join(load.at, ", "),
                     kernel.params[param].name, tile.name,
                     offset == 0 ? "" : fmt::format(" + {} bytes", offset),
                     w.cta->mbarriers[load.slot].index, kernel.storages[node.event].name);
}

}  // namespace

void Multicasts::Note(Warp& w, uint32_t lane, const Load& load) {
  Cta& cta = *w.cta;
  Issues& issues = issues_[{w.pc, w.index, lane}];
  issues.counts.resize(cta.cluster->ctas.size());
  const size_t number = issues.counts[cta.rank]++;
  if (number == issues.loads.size()) {
    issues.loads.push_back(load);
    issues.by_rank.push_back(cta.rank);
    return;
  }
  if (issues.loads[number] == load) return;
  cta.findings().Add(
      kinds::SimMulticastDiffers, cta.Loc(w), {},
      fmt::format("the CTAs of a cluster load different tiles with execution {} of this multicast: "
                  "rank {} that at {}, rank {} that at {}",
                  number + 1, issues.by_rank[number], Described(w, issues.loads[number]), cta.rank,
                  Described(w, load)));
}

void Multicasts::CheckCounts(Cluster& cluster) const {
  for (const auto& [key, issues] : issues_) {
    const auto [least, most] = std::minmax_element(issues.counts.begin(), issues.counts.end());
    if (*least == *most) continue;
    Cta& cta = cluster.ctas.front();
    cta.findings().Add(
        kinds::SimMulticastDiffers, cta.launch->LocOf(std::get<0>(key)), {},
        fmt::format("rank {} of a cluster executes this multicast {} times, rank {} {} times",
                    least - issues.counts.begin(), *least, most - issues.counts.begin(), *most));
  }
}

void ArriveAtClusterBarrier(Warp& w) {
  RequireFullWarp(w, "barrier.cluster");
  Cluster& cluster = *w.cta->cluster;
  w.waiting = Waiting::Cluster;
  cluster.barrier.waiting.push_back(&w);
  cluster.barrier.time = std::max(cluster.barrier.time, w.time);
  FreeIfComplete(cluster);
}

void LeaveCluster(Warp& w) { FreeIfComplete(*w.cta->cluster); }

Knowledge ToldAbroad(const Cluster& cluster, const Knowledge& what) {
  Knowledge out;
  out.seen = what.seen.Filtered([&](size_t component) {
    const AgentKind kind = cluster.agents[component].kind;
    return kind == AgentKind::Mma || kind == AgentKind::Progress || kind == AgentKind::Slot ||
           kind == AgentKind::StoreRead;
  });
  return out;
}

bool HasExited(Warp& w, const Cta& cta, uint32_t op) {
  const bool exited = std::all_of(cta.warps.begin(), cta.warps.end(),
                                  [](const Warp& other) { return other.exited; });
  if (!exited) return false;
  const bool load = std::holds_alternative<ir::TmaLoadBox>(*cta.program().ops[op].node);
  w.cta->findings().Add(kinds::SimClusterExit, cta.launch->LocOf(op), {},
                        fmt::format("{} {} rank {} of its cluster, which has exited", WarpName(w),
                                    load ? "loads for" : "arrives at", cta.rank));
  return true;
}

void CheckVisitsAtEnd(Cta& cta) {
  for (const Visit& visit : cta.visits) {
    const uint32_t component = visit.warp->cta->agents.Progress(visit.warp->index);
    const bool known = std::any_of(cta.warps.begin(), cta.warps.end(), [&](const Warp& w) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (Seen(w, l, component) >= visit.clock) return true;
      }
      return false;
    });
    if (known) continue;
    cta.findings().Add(kinds::SimClusterExit, cta.launch->LocOf(visit.op), {},
                       fmt::format("nothing keeps rank {} of a cluster from exiting before {} "
                                   "arrives at it",
                                   cta.rank, WarpName(*visit.warp)));
  }
}

void ExecMbarrierArriveCluster(Warp& w, const FlatOp& op) {
  Cta& own = *w.cta;
  const auto& node = std::get<ir::MbarrierArriveCluster>(*op.node);
  const int32_t* index = w.regs.At<int32_t>(op.slot[0]);
  const int32_t* rank = w.regs.At<int32_t>(op.slot[1]);
  uint32_t lanes = w.active & ~CheckPoison(w, op.slot[0], w.active, "an mbarrier's slot");
  lanes &= ~CheckPoison(w, op.slot[1], lanes, "a rank");
  const uint32_t active = w.active;
  const auto size = static_cast<int32_t>(own.cluster->ctas.size());
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    if (rank[lane] < 0 || rank[lane] >= size) {
      own.findings().Add(kinds::SimOutOfBounds, own.Loc(w), {}, rank[lane], "the cluster", 0,
                         size - 1);
      continue;
    }
    Cta& to = own.cluster->ctas[static_cast<size_t>(rank[lane])];
    if (HasExited(w, to, w.pc)) continue;
    if (&to != &own) NoteVisit(w, to);
    // Each lane tells of itself.
    w.active = 1u << lane;
    const Knowledge all = Release(w);
    w.active = active;
    if (&to == &own) {
      ArriveAtSlot(w, lane, to, node.event, index[lane], all, {}, 0);
    } else {
      ArriveAtSlot(w, lane, to, node.event, index[lane], ToldAbroad(*own.cluster, all),
                   node.cluster_scope ? all : Knowledge(), 0);
    }
  }
}

}  // namespace choreo::sim
