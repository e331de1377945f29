// What an op with all that is in it reads and writes, and so which ops may change places.
// In: lowered ops. Two ops that may both move and do not conflict do the same in either order.
#pragma once

#include <set>

#include "ir/ir.h"

namespace choreo::passes {

struct OpEffects {
  std::set<ir::StorageId> reads, writes;  // a declaration writes
  std::set<ir::VarId> uses, defines;
  // Nothing but scalars, registers and ordinary memory: no wait, barrier, arrival, vote, call,
  // fence, asynchronous operation or error, and no way out of the straight line.
  bool may_move = true;
};
OpEffects EffectsOf(const ir::Kernel& kernel, const ir::Op& op);

// What one of the two writes and the other reads or writes.
std::set<ir::StorageId> SharedStorage(const OpEffects& a, const OpEffects& b);
bool ShareScalars(const OpEffects& a, const OpEffects& b);
inline bool Conflict(const OpEffects& a, const OpEffects& b) {
  return ShareScalars(a, b) || !SharedStorage(a, b).empty();
}

}  // namespace choreo::passes
