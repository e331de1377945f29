// The Tensor Memory Accelerator: an agent of its own. Loads are issued by one thread and land
// later, one at a time, when the scheduler gives the engine a turn; then their bytes are complete
// on their mbarrier. Stores read shared memory at issue, but count as reading until the issuing
// thread waits.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ir/ir.h"
#include "sim/program.h"

namespace choreo::sim {

struct Cta;
struct Warp;

struct TmaLoad {  // issued, not landed
  uint32_t number = 0;
  const ir::TmaLoadBox* node = nullptr;
  uint32_t op = 0;
  std::vector<int32_t> at;     // coordinates in the tensor
  uint32_t shared_offset = 0;  // of the box
  uint32_t slot = 0;
  std::vector<uint32_t> phases;  // of the slot at issue; of a multicast by rank, else of this CTA
  uint64_t lands = 0;            // modelled time
  Warp* issuer = nullptr;
};

struct LastIssue {  // of the loads that one op issued on one mbarrier
  uint32_t op = 0;
  uint32_t slot = 0;
  uint32_t phase = 0;
  const Warp* warp = nullptr;  // that issued it
  uint32_t lane = 0;
};

struct TmaEngine {
  std::deque<TmaLoad> queue;
  uint32_t issued = 0;
  std::vector<LastIssue> last_issues;
};

void ExecTmaLoad(Warp& w, const FlatOp& op);
void ExecTmaStore(Warp& w, const FlatOp& op);
void ExecTmaStoreCommit(Warp& w);
void ExecTmaStoreWait(Warp& w, const ir::TmaStoreWait& node);
// Stores that may still read when the warp exits.
void CheckStoresAtExit(Warp& w);
// Loads that may still write when all warps have exited: no warp is ordered after their landing.
void CheckLoadsAtEnd(Cta& cta);
// Lets the load at `place` of the queue land.
void LandTmaLoad(Cta& cta, size_t place);

}  // namespace choreo::sim
