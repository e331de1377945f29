// The WGMMA groups that may be in flight at a place of the program, and the registers that their
// MMAs use. In: the body of a kernel in which MMAs are not lowered. A pass walks it and tells of
// what happens, see FlightQueues.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "passes/flight_queues.h"

namespace choreo::passes {

class MmaQueues : public FlightQueues {
 public:
  explicit MmaQueues(const ir::Region& body);

  // Whether MMAs are issued on the future, itself or by a move.
  bool IsMma(ir::VarId future) const { return registers_.contains(future); }
  // Accumulators and register operands of the MMAs that the futures may stand for, in order.
  std::vector<ir::StorageId> RegistersOf(const std::vector<ir::VarId>& futures) const;

 private:
  std::map<ir::VarId, std::set<ir::StorageId>> registers_;
};

}  // namespace choreo::passes
