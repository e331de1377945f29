// In which state of the IR an op may stand, known at compile time: a new op does not build until
// the machine (lowered) or the tile evaluator (tile) executes it.
#pragma once

#include "ir/ir.h"

namespace choreo::sim {

enum class OpStates { Both, Tile, Lowered };

template <class Node>
inline constexpr OpStates kStatesOf = OpStates::Both;
#define CHOREO_OP(Struct, name, states) \
  template <>                           \
  inline constexpr OpStates kStatesOf<ir::Struct> = OpStates::states;
#include "ir/op_kind.def"

}  // namespace choreo::sim
