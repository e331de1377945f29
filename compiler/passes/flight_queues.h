// The groups, of WGMMAs or of cp.async, that may be in flight at a place of the program: a set of
// queues of futures, oldest first, one for each way to get there. A pass walks the program and
// tells of issues, waits, branches and loops.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "ir/ir.h"

namespace choreo::passes {

class FlightQueues {
 public:
  using Queue = std::vector<ir::VarId>;
  using State = std::set<Queue>;  // empty: this place is not reached

  void Issue(ir::VarId future);
  // How many groups may stay in flight so that all the futures are complete; nothing if all of them
  // are complete already.
  std::optional<int32_t> Wait(const std::vector<ir::VarId>& futures);
  void RetireAll();
  void Move(const ir::FutureMove& move);

  const State& state() const { return state_; }
  void Set(State state) { state_ = std::move(state); }
  void Join(const State& other) { state_.insert(other.begin(), other.end()); }

  // A loop: rounds of the body until the states at its entry are all known.
  void EnterLoop();
  bool AgainFromLoopEnd();
  void AgainAnyway();  // another round, for what else the pass follows
  void LeaveLoop();
  void Break();
  void Continue();

 private:
  struct LoopState {
    State entry, next, left;
  };

  State state_{Queue()};
  std::vector<LoopState> loops_;
  bool unbounded_ = false;  // more groups in flight than are followed: waits are for all
};

}  // namespace choreo::passes
