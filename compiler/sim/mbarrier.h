// mbarriers, as the hardware has them: a phase completes when `count` arrivals have come and the
// bytes announced for it have been brought. Beyond that a slot knows who is ordered before each
// phase, who waited for it, and so finds what only an unlucky schedule would show.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "sim/clock.h"
#include "sim/program.h"

namespace choreo::sim {

struct Cta;
struct Warp;

struct MbarrierSlot {
  ir::StorageId event;
  uint32_t index = 0;  // within the event

  uint32_t count = 0;  // arrivals a phase; 0: not initialised
  uint32_t init_op = 0, init_warp = 0, init_lanes = 0;
  uint32_t init_epoch = 0;  // of the fence that followed; 0: none yet

  uint32_t phase = 0;    // completed phases
  uint32_t pending = 0;  // arrivals that the current phase still needs
  int64_t bytes = 0;     // announced for it and not yet come
  Knowledge current;     // of its arrivals
  Knowledge done;        // of all completed phases
  // The same for waiters at cluster scope: what arrivals of other CTAs tell of ordinary accesses.
  Knowledge current_abroad, done_abroad;

  struct Pass {  // of a waiter for the last completed phase
    uint32_t warp = 0;
    uint32_t epoch = 0;
    uint32_t op = 0;
  };
  std::vector<Pass> passes;

  uint32_t last_op = 0, last_warp = 0;  // of the last arrival
  uint32_t expect_op = 0;               // of the last arrival with bytes
  std::bitset<256> arrivers;            // warps that ever arrived; 32 a rank of the cluster

  uint64_t last_time = 0, done_time = 0;  // modelled: of what came last; of the last completion
};

class Mbarriers {
 public:
  void Reset(const ir::Kernel& kernel);
  size_t size() const { return slots_.size(); }
  MbarrierSlot& operator[](uint32_t slot) { return slots_[slot]; }
  const MbarrierSlot& operator[](uint32_t slot) const { return slots_[slot]; }
  uint32_t FirstOf(ir::StorageId event) const { return first_[event.value]; }

 private:
  std::vector<MbarrierSlot> slots_;
  std::vector<uint32_t> first_;  // by storage
};

void ExecMbarrierInit(Warp& w, const FlatOp& op);
void ExecFenceMbarrierInit(Warp& w);
void ExecMbarrierArrive(Warp& w, const FlatOp& op);
void ExecMbarrierExpectTx(Warp& w, const FlatOp& op);
// False: the warp blocks until the phases have completed.
bool ExecMbarrierWait(Warp& w, const FlatOp& op);

// The slot of `cta` that a lane's operand names; kNoSlot (reported) if there is none or it is not
// usable.
uint32_t UsableSlot(Warp& w, uint32_t lane, Cta& cta, ir::StorageId event, int32_t slot);
// A lane's arrival at a slot of a CTA of its cluster, which tells `released`, and `abroad` to
// waiters at cluster scope.
void ArriveAtSlot(Warp& w, uint32_t lane, Cta& cta, ir::StorageId event, int32_t slot,
                  const Knowledge& released, const Knowledge& abroad, int64_t bytes);
// `bytes` of a load that `issued_by` issued in phase `issued_in` have come.
void CompleteBytes(Cta& cta, uint32_t slot, int64_t bytes, uint32_t issued_in, uint32_t load_op,
                   uint64_t time);

// "`kf`", of a ring "slot 1 of `kf`"; in a cluster with the rank.
// What a path counts its waits and arrivals by: the first slot of a ring, a slot that is an event
// of its own.
uint32_t RingOf(const Cta& cta, uint32_t id);
// Where the source says what the op does for this slot.
ir::Loc PlaceOf(const Cta& cta, uint32_t op, uint32_t id);
std::string SlotName(const Cta& cta, uint32_t slot);
// The generation that a phase of the slot is: one more where generation 0 is given.
int64_t GenerationOf(const Cta& cta, const MbarrierSlot& slot, int64_t phase);

}  // namespace choreo::sim
