// Modelled time of one CTA. Each warp has a time, which its operations advance by the table below;
// waits take it to the time of what they waited for. The schedule follows time: the agent that is
// furthest behind runs next, for a short slice. What is not modelled: caches, bank conflicts, other
// CTAs, the instruction cache, power.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "sim/program.h"
#include "sim/trace.h"

namespace choreo::sim {

struct Cta;
struct Warp;

// Cycles of an SM of Hopper, rounded. Throughputs follow from its widths: each of the four
// sub-partitions issues one warp instruction a cycle, has 4 special function lanes, and a quarter
// of the tensor core's 2048 multiply-adds of 16 bits a cycle. Latencies are typical ones. Integer
// arithmetic counts nothing: indices are constants once loops are unrolled.
struct Cycles {
  static constexpr uint64_t kFloat = 1;    // FADD, FMUL, FFMA, select, conversion
  static constexpr uint64_t kSpecial = 8;  // exp2, log2, rsqrt, reciprocal: 32 lanes at 4 a cycle
  static constexpr uint64_t kShuffle = 4;
  static constexpr uint64_t kSharedAccess = 4;  // issue of a load or store by a warp
  static constexpr uint64_t kGlobalAccess = 8;  // of a store; loads are waited for:
  static constexpr uint64_t kGlobalLatency = 500;
  static constexpr uint64_t kMatrix = 8;            // stmatrix, ldmatrix of four matrices
  static constexpr uint64_t kIssue = 2;             // one MMA, copy, arrival, fence …
  static constexpr uint64_t kMmaColumnsACycle = 2;  // of m64nNk16: N / 2 cycles
  static constexpr uint64_t kMmaLatency = 32;       // after its last cycle
  static constexpr uint64_t kTmaBytesACycle = 64;
  static constexpr uint64_t kTmaLatency = 650;
  static constexpr uint64_t kWake = 20;     // from the completion of a phase to the waiter
  static constexpr uint64_t kBarrier = 20;  // from the last arrival
  static constexpr uint64_t kSlice = 16;    // how far a warp runs ahead of the others
};

class Timeline {
 public:
  Timeline(const ir::Module& module, Cta& cta, Trace& trace);

  // The op's arithmetic, and what it costs to issue it.
  void Charge(Warp& w, const FlatOp& op);
  // The warp goes on at `until`, if that is later.
  void Wait(Warp& w, uint64_t until, const std::string& what);
  // One m64nNk16 of a warpgroup, issued at the latest time of its warps; when it is done.
  uint64_t Mma(uint32_t group, const ir::Wgmma& node, const ir::Loc& loc);
  // A copy of a box that the warp issues now; when it is done.
  uint64_t Copy(const Warp& w, bool load, uint64_t bytes, const std::string& name);
  void Exited(Warp& w);
  // Sorts the spans; all warps have exited.
  void Finish();

 private:
  struct OpCost {
    uint32_t issue = 0, special = 0, latency = 0;
  };
  struct Stretch {  // of arithmetic of one line
    uint32_t line = 0;
    uint64_t start = 0;
  };
  struct Track {
    uint32_t index = 0;
    uint32_t owner = 0;  // the warp whose spans it shows
  };

  // The track of the warp's role and warpgroup; null if another warp stands for it.
  const Track* TrackOf(const Warp& w);
  uint32_t NewTrack(std::string name);
  uint32_t EngineTrack(const std::string& name);
  void Close(Warp& w);
  void MergePrologues();
  void Add(uint32_t track, SpanKind kind, std::string name, uint32_t line, uint64_t start,
           uint64_t end);
  std::string LineText(uint32_t line) const;

  const ir::Module& module_;
  Cta& cta_;
  Trace& trace_;
  std::vector<OpCost> costs_;                                 // by op
  std::vector<Stretch> stretches_;                            // by warp
  std::map<std::pair<uint32_t, const void*>, Track> tracks_;  // by warpgroup and role
  std::map<std::string, uint32_t> engine_tracks_;
  uint64_t issue_free_[4] = {}, special_free_[4] = {};  // of the sub-partitions
  uint64_t tensor_free_ = 0, load_free_ = 0, store_free_ = 0;
};

}  // namespace choreo::sim
