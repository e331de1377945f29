// A kernel compiled once for many launches; what Run and Launch have in common.
#pragma once

#include <span>
#include <string_view>

#include "sim/program.h"
#include "sim/sim.h"

namespace choreo::sim {

struct CompiledKernel {
  const ir::Kernel* kernel = nullptr;
  Program body;
  HostProgram host;
};

// Throws choreo::error if there is none.
const ir::Kernel& FindKernel(const ir::Module& module, std::string_view name);
CompiledKernel Compile(const ir::Kernel& kernel);
Report RunCompiled(const ir::Module& module, const CompiledKernel& compiled,
                   std::span<const Argument> arguments, const RunOptions& options);

}  // namespace choreo::sim
