// Executes kernels of a lowered module on the simulator, under several schedules, and turns what it
// finds into diagnostics at places of the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diag/diag.h"
#include "driver/arguments.h"
#include "ir/ir.h"
#include "sim/trace.h"
#include "support/source.h"

namespace choreo::driver {

struct ExecutionOptions {
  uint64_t schedules = 1;       // the default one, then random ones
  uint64_t seed = 1;            // of the first random one; they count up
  uint64_t cta = 0;             // whose timeline is kept
  sim::Trace* trace = nullptr;  // of the default schedule; null: none
  // Executed once before, in the default schedule: parameters of the kernel that have the name of
  // one that it writes are as it leaves them. Null: none.
  const ir::Kernel* inputs = nullptr;
};

struct Execution {
  uint64_t ctas = 0;
  uint64_t schedules = 0;                // that were executed
  size_t findings = 0;                   // different ones
  std::vector<ArgumentValue> arguments;  // as the default schedule left them
};

// The tile function `NAME_inputs` that makes inputs of the kernel NAME; null: there is none.
const ir::Kernel* InputsOf(const ir::Module& module, const ir::Kernel& kernel);
bool MakesInputs(const ir::Module& module, const ir::Kernel& kernel);

// `file` is the module's .co file, if it is at hand. Nothing if the call is refused.
std::optional<Execution> Execute(const ir::Module& module, const ir::Kernel& kernel,
                                 const std::vector<ShapeValue>& shape,
                                 const ExecutionOptions& options, const SourceManager& sources,
                                 FileId file, diag::Emitter& diags);

}  // namespace choreo::driver
