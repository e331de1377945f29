// What the CTAs of a cluster share beside time: the barrier of all their threads, arrivals at each
// other's mbarriers, and multicast loads, of which each CTA brings a part to all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/clock.h"
#include "sim/program.h"

namespace choreo::sim {

struct Cluster;
struct Cta;
struct Warp;

struct ClusterBarrier {
  std::vector<Warp*> waiting;
  uint64_t time = 0;  // modelled, of the last arrival
};

// What the CTAs say with their k-th execution of a multicast load; they must say the same.
class Multicasts {
 public:
  struct Load {
    std::vector<int32_t> at;     // of the whole tile in the tensor
    uint32_t shared_offset = 0;  // of the whole tile
    uint32_t slot = 0;
    friend bool operator==(const Load&, const Load&) = default;
  };
  // Notes that `lane` of `w` issues it, and reports what another CTA has said otherwise.
  void Note(Warp& w, uint32_t lane, const Load& load);
  // Reports loads that some CTAs have executed more often than others, when all have ended.
  void CheckCounts(Cluster& cluster) const;

 private:
  struct Issues {
    std::vector<Load> loads;
    std::vector<uint32_t> by_rank;  // the rank that said it first
    std::vector<size_t> counts;     // executions, by rank
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Issues> issues_;  // by op, warp, lane
};

// " of rank 1"; nothing without clusters.
std::string RankName(const Cta& cta);

struct Visit {  // of a warp of another CTA of the cluster
  const Warp* warp = nullptr;
  uint32_t clock = 0;  // of the warp
  uint32_t op = 0;
};

// Blocks the warp until all warps of the cluster that have not exited are there.
void ArriveAtClusterBarrier(Warp& w);
// A warp has exited: the others wait no longer for it.
void LeaveCluster(Warp& w);
void ExecMbarrierArriveCluster(Warp& w, const FlatOp& op);

// What an arrival at another CTA tells there without cluster scope: what is complete and who has
// got where, not ordinary accesses.
Knowledge ToldAbroad(const Cluster& cluster, const Knowledge& what);
// Whether the CTA has ended although `w` still needs it (reported).
bool HasExited(Warp& w, const Cta& cta, uint32_t op);
// Reports arrivals of other CTAs that nothing orders before the end of the CTA: under another
// schedule it has exited before them.
void CheckVisitsAtEnd(Cta& cta);

}  // namespace choreo::sim
