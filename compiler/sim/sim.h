// The simulator: executes kernels for given arguments on the CPU, faithful to who owns which
// register, which bytes a descriptor names and what is ordered before what. In: a verified module
// (Run: lowered state; RunTile: tile state) and arguments as a program passes them. Out: results in
// the arguments' memory, and what the execution did wrong. Throws choreo::error where the host part
// refuses the call, as the CUDA launcher would.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "choreo/host/sim_launch.h"
#include "ir/ir.h"
#include "sim/finding.h"

namespace choreo::sim {

struct Trace;

struct RunOptions {
  // 0: warps run in turn until they block; else a random interleaving that the seed determines.
  uint64_t schedule_seed = 0;
  // Ops that one warp may execute before the kernel is taken not to end.
  uint64_t step_limit = uint64_t{1} << 33;
  // Filled with the modelled timeline of one CTA (Run only). That CTA's schedule follows time.
  Trace* trace = nullptr;
  uint64_t trace_cta = 0;
};

struct Report {
  std::vector<Finding> findings;
  std::string failed_assert;  // of an assert inside the kernel, with its place; empty: none failed
  uint64_t ctas = 0;
  bool ok() const { return findings.empty() && failed_assert.empty(); }
};

Report Run(const ir::Module& module, std::string_view kernel, std::span<const Argument> arguments,
           const RunOptions& options = {});

// The sequential evaluation of a kernel in tile state: the oracle for what lowering must preserve.
// CTAs run one after another, statements in lockstep over all threads of a CTA, whole tiles at a
// time.
Report RunTile(const ir::Module& module, std::string_view kernel,
               std::span<const Argument> arguments, const RunOptions& options = {});

// "v1.co:12:3: error: … [SimRace]" and a line for the other place, one finding after another.
std::string RenderFindings(const ir::Module& module, const std::vector<Finding>& findings);

}  // namespace choreo::sim
