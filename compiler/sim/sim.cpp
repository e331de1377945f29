#include "sim/sim.h"

#include <algorithm>

#include "sim/host.h"
#include "sim/run.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

// The most dynamic shared memory of a CTA on sm_90.
constexpr int64_t kSharedLimit = 232448;

void CheckShared(const ir::Kernel& kernel) {
  if (kernel.host.shared_bytes <= kSharedLimit) return;
  throw error(
      status::unsupported_device,
      fmt::format("{}: the kernel needs {} bytes of shared memory, but the device offers {}",
                  kernel.name, kernel.host.shared_bytes, kSharedLimit));
}

}  // namespace

const ir::Kernel& FindKernel(const ir::Module& module, std::string_view name) {
  const auto it = std::find_if(module.kernels.begin(), module.kernels.end(),
                               [&](const ir::Kernel& kernel) { return kernel.name == name; });
  if (it == module.kernels.end()) {
    throw error(status::invalid_argument, fmt::format("no kernel `{}` in the module", name));
  }
  return *it;
}

CompiledKernel Compile(const ir::Kernel& kernel) {
  CompiledKernel compiled;
  compiled.kernel = &kernel;
  compiled.body = CompileBody(kernel);
  compiled.host = CompileHost(kernel);
  return compiled;
}

Report RunCompiled(const ir::Module& module, const CompiledKernel& compiled,
                   std::span<const Argument> arguments, const RunOptions& options) {
  const ir::Kernel& kernel = *compiled.kernel;
  const BoundLaunch bound = BindLaunch(module, kernel, compiled.host, arguments);
  Report report;
  if (bound.empty && kernel.host.covers.empty()) return report;
  if (!bound.empty) CheckShared(kernel);

  Execution launch;
  launch.program = &compiled.body;
  launch.kernel = &kernel;
  launch.params = bound.params;
  launch.grid = bound.grid;
  launch.module = &module;
  launch.coverage = Coverage(kernel, bound.params);
  launch.options = {options.schedule_seed, options.step_limit, options.trace, options.trace_cta};
  RegFile registers = compiled.body.initial;
  CopyVariables(kernel, compiled.host, bound, compiled.body, registers);

  if (!bound.empty) report.ctas = RunGrid(launch, registers);
  // What did not come to its end stores less.
  if (!launch.stop && launch.error_code == 0) launch.coverage.Finish(launch);
  if (launch.error_code != 0) {
    const size_t code = launch.error_code - 1;
    const bool known = code < kernel.errors.size();
    const std::string text = known ? kernel.errors[code].text : "unknown check";
    const uint32_t line = known ? kernel.errors[code].loc.line : launch.LocOf(launch.error_op).line;
    report.failed_assert = fmt::format("{} ({}:{})", text, module.source_name, line);
  }
  report.findings = launch.findings.Take();
  return report;
}

Report Run(const ir::Module& module, std::string_view kernel, std::span<const Argument> arguments,
           const RunOptions& options) {
  CHOREO_CHECK(module.state == ir::State::Lowered, "the machine executes lowered modules");
  return RunCompiled(module, Compile(FindKernel(module, kernel)), arguments, options);
}

std::string RenderFindings(const ir::Module& module, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings) {
    text += fmt::format("{}:{}:{}: error: {} [{}]\n", module.source_name, f.loc.line, f.loc.column,
                        f.message, diag::Info(f.kind).name);
    if (f.loc2.line != 0) {
      text += fmt::format("{}:{}:{}: note: the other place is here\n", module.source_name,
                          f.loc2.line, f.loc2.column);
    }
  }
  return text;
}

}  // namespace choreo::sim
