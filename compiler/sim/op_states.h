// The states of ops under the simulator's names: a new op does not build until the machine
// (lowered) or the tile evaluator (tile) executes it.
#pragma once

#include "ir/op_states.h"

namespace choreo::sim {

using ir::kStatesOf;
using ir::OpStates;

}  // namespace choreo::sim
