// The state of one simulated warp: registers, masks, program counter, clocks, asynchronous
// operations. A warp is resumable at any op; everything that outlives an op lies here.
//
// Masks. `active` are the lanes that execute now; `dead` those of the innermost loop (or the
// kernel) that left it by break, continue or return, and wait for its end.
//
// Clocks. `clock` counts the warp's own release points (barriers, syncwarps, fences). An access
// made at clock e by warp v happens before what warp w does now if w.seen[v] >= e; for other lanes
// of the same warp likewise (v = w). `seen_fenced` is the same for accesses that v fenced for the
// async proxy. seen[warps + v] counts the MMAs of v's warpgroup that v has waited for, as far as w
// knows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/regs.h"

namespace choreo::sim {

struct Cta;

struct Frame {  // of an if or a loop
  bool loop = false;
  uint32_t active = 0;   // at its entry
  uint32_t other = 0;    // if: lanes of the else branch
  uint32_t running = 0;  // loop: lanes of this iteration
  uint32_t left = 0;     // loop: lanes that broke out
  uint32_t dead = 0;     // loop: the enclosing `dead`
};

struct FragState {
  uint32_t acc_sequence = 0, acc_op = 0;          // the MMA in flight that writes it; 0: none
  uint32_t operand_sequence = 0, operand_op = 0;  // the MMA in flight that reads it
  bool touched = false;                           // accessed since the last wgmma.fence
  bool touched_by_write = false;
  uint32_t touched_op = 0;
};

struct PendingCopy {  // a cp.async that was not waited for
  uint8_t lane;
  uint8_t bytes;
  uint32_t group;    // of the lane
  uint32_t address;  // in shared memory
  uint32_t op;
  std::array<uint8_t, 16> data;
};

enum class Waiting : uint8_t { No, Barrier, Collective };

struct Warp {
  Cta* cta = nullptr;
  uint32_t index = 0;
  RegFile regs;

  uint32_t valid = kAllLanes;  // lanes that exist
  uint32_t active = kAllLanes, dead = 0, returned = 0;
  uint32_t pc = 0;
  std::vector<Frame> frames;
  std::array<uint32_t, 64> eval_masks{};  // of conditional subexpressions
  uint32_t eval_depth = 0;
  uint64_t steps = 0;

  bool exited = false;
  Waiting waiting = Waiting::No;
  uint32_t barrier = 0;  // waited for

  uint32_t clock = 1;
  uint32_t fenced = 0;       // own accesses up to this clock are fenced …
  uint32_t dirty_lanes = 0;  // … and these lanes have accessed shared memory since
  std::vector<uint32_t> seen, seen_fenced;

  std::array<uint32_t, kLanes> copy_group{};  // number of the lane's open cp.async group
  std::vector<PendingCopy> copies;

  bool fenced_wgmma = false;       // any wgmma.fence so far
  std::vector<FragState> frags;    // by storage
  uint32_t uncommitted_wgmma = 0;  // sequence number of the last MMA not yet in a group; 0: none
  std::vector<uint32_t> wgmma_groups;  // last sequence number of each group in flight

  uint32_t poison_op = 0;  // where the last poison was loaded (op + 1), and from which storage
  uint32_t poison_storage = 0;

  bool done() const { return exited; }
};

// "warp 3", "warp 3 lane 5".
std::string WarpName(uint32_t warp);
std::string LaneName(uint32_t warp, uint32_t lane);
// "warps 0-3, 6" of a bit set.
std::string WarpSetName(uint32_t set);

}  // namespace choreo::sim
