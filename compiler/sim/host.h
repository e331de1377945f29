// The host part of a launch, as the CUDA launcher does it: binds dimensions and strides from the
// arguments, checks them with the same functions and messages, evaluates scalars and asserts, and
// determines the grid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "choreo/host/checks.h"
#include "choreo/host/sim_launch.h"
#include "ir/ir.h"
#include "sim/cta.h"
#include "sim/program.h"

namespace choreo::sim {

struct BoundLaunch {
  bool empty = false;  // nothing to compute
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<int64_t> block_bounds;
  std::vector<ParamMemory> params;  // by storage
  // The host program's registers: variables have the same slots in every program of the kernel.
  RegFile registers;
};

// Throws choreo::error where the call is refused.
BoundLaunch BindLaunch(const ir::Module& module, const ir::Kernel& kernel, const HostProgram& host,
                       std::span<const Argument> arguments);

// Copies the values of variables that the host bound into the first registers of a warp.
void CopyVariables(const ir::Kernel& kernel, const HostProgram& host, const BoundLaunch& bound,
                   const Program& program, RegFile& registers);

}  // namespace choreo::sim
