// The state of one simulated warp: registers, masks, program counter, clocks, asynchronous
// operations. A warp is resumable at any op; everything that outlives an op lies here.
//
// Masks. `active` are the lanes that execute now; `dead` those of the innermost loop (or the
// kernel) that left it by break, continue or return, and wait for its end.
//
// Clocks. `clock` counts the warp's own release points (barriers, arrivals, syncwarps, fences). An
// access made at clock e by warp v happens before what warp w does now if w knows v's component at
// e or later. `known` is what all lanes know, `lane_known` what single lanes know beyond it (empty,
// or one a lane).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "sim/clock.h"
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

// The TMA stores of a thread: sequence numbers, from 1.
struct BulkStores {
  uint32_t issued = 0, read = 0, written = 0;  // the last one; known to be read; known to be done
  std::vector<uint32_t> groups;                // last number of each committed group not yet done
  uint32_t op = 0;                             // of the last one
  uint64_t done = 0;                           // modelled time
};

struct PendingWait {  // for a phase of an mbarrier slot, by some lanes
  uint32_t slot = 0;
  uint32_t parity = 0;
  uint32_t lanes = 0;
  int64_t generation = 0;  // that the lanes are at, by their earlier waits
  bool cluster_scope = false;
};

// What a thread's arrivals at a slot were for.
struct Arrivals {
  uint32_t phases = 0;      // how many phases it arrived in
  uint32_t last_phase = 0;  // if any
};

enum class Waiting : uint8_t { No, Barrier, Collective, Mbarrier, Registers, Cluster };

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
  uint64_t time = 0;         // modelled; stays 0 without a timeline
  uint64_t copies_done = 0;  // when its cp.async copies have landed

  bool exited = false;
  Waiting waiting = Waiting::No;
  uint32_t barrier = 0;                 // waited for
  const ir::RoleBegin* role = nullptr;  // that the warp executes

  uint32_t clock = 1;
  uint32_t fenced = 0;       // own accesses up to this clock are fenced …
  uint32_t dirty_lanes = 0;  // … and these lanes have accessed shared memory since
  std::array<uint32_t, kLanes> lane_fenced{};  // the same lane by lane
  Knowledge known;
  std::vector<Knowledge> lane_known;
  // Components of single threads; 0: none made yet.
  std::array<uint32_t, kLanes> thread_agent{}, store_read_agent{}, store_write_agent{};

  // By slot; for waits the first slot of each event counts. Of arrivals, those of all CTAs of the
  // cluster, by rank.
  std::vector<std::array<uint32_t, kLanes>> waits;
  std::vector<std::array<Arrivals, kLanes>> arrivals;
  std::vector<std::array<uint32_t, kLanes>> last_slot;  // by event, + 1: where it arrived last
  std::vector<PendingWait> pending_waits;
  std::vector<BulkStores> stores;  // empty, or one a lane

  std::array<uint32_t, kLanes> copy_group{};  // number of the lane's open cp.async group
  std::vector<PendingCopy> copies;

  bool fenced_wgmma = false;       // any wgmma.fence so far
  std::vector<FragState> frags;    // by storage
  uint32_t uncommitted_wgmma = 0;  // sequence number of the last MMA not yet in a group; 0: none
  uint32_t retired_wgmma = 0;      // sequence number of the last one that was waited for
  std::vector<uint32_t> wgmma_groups;  // last sequence number of each group in flight

  uint32_t poison_op = 0;  // where the last poison was loaded (op + 1), and from which storage
  uint32_t poison_storage = 0;

  bool done() const { return exited; }
};

// "warp 3", "warp 3 lane 5"; of a role: "warp 3 (producer)", "warp 3 lane 5 (producer)".
std::string WarpName(const Warp& w);
std::string LaneName(const Warp& w, uint32_t lane);
// "warps 0-3, 6" of a bit set.
std::string WarpSetName(uint32_t set);

}  // namespace choreo::sim
