// In which state of the IR an op may stand, known at compile time: what handles the ops of a state
// asserts on it, so that a new op does not build until it is handled.
#pragma once

#include "ir/ir.h"

namespace choreo::ir {

enum class OpStates { Both, Tile, Lowered };

template <class Node>
inline constexpr OpStates kStatesOf = OpStates::Both;
#define CHOREO_OP(Struct, name, states) \
  template <>                           \
  inline constexpr OpStates kStatesOf<Struct> = OpStates::states;
#include "ir/op_kind.def"

}  // namespace choreo::ir
