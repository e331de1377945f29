// RunTile: the host part, then CTA after CTA.
#include <algorithm>

#include "sim/host.h"
#include "sim/numeric.h"
#include "sim/run.h"
#include "sim/tile_cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int kDefaultThreads = 128;

// Threads of the widest nest of parallels in a region; 0: there is none.
int64_t WidestParallel(const ir::Kernel& kernel, const ir::Region& region) {
  int64_t widest = 0;
  for (const ir::Op& op : region.ops) {
    if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
      int64_t count = 1;
      for (const ir::ExprId bound : parallel->bounds) {
        count *= std::get<ir::IntConst>(kernel.exprs[bound].node).value;
      }
      const int64_t size = parallel->level == ir::Level::Warpgroup ? 128
                           : parallel->level == ir::Level::Warp    ? 32
                                                                   : 1;
      const int64_t inner = WidestParallel(kernel, parallel->body);
      widest = std::max({widest, count * std::max(size, inner)});
    } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
      widest = std::max(widest, WidestParallel(kernel, narrowed->body));
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      widest = std::max(widest, WidestParallel(kernel, loop->body));
    } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
      widest = std::max(widest, WidestParallel(kernel, loop->body));
    } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
      widest = std::max({widest, WidestParallel(kernel, branch->then_body),
                         WidestParallel(kernel, branch->else_body)});
    }
  }
  return widest;
}

int ThreadsOf(const ir::Kernel& kernel) {
  if (kernel.host.threads != 0) return kernel.host.threads;
  if (const int64_t widest = WidestParallel(kernel, kernel.body)) return static_cast<int>(widest);
  return kernel.host.max_threads_bound != 0 ? kernel.host.max_threads_bound : kDefaultThreads;
}

Value BoundValue(const ir::Kernel& kernel, const HostProgram& host, const BoundLaunch& bound,
                 ir::VarId var) {
  const Slot slot = host.program.VarSlot(var);
  return DispatchElem(kernel.vars[var].type, [&]<Elem E>() {
    const auto x = bound.registers.At<typename ElemTraits<E>::Reg>(slot)[0];
    Value value;
    if constexpr (std::is_floating_point_v<decltype(+x)>) {
      value.f = static_cast<double>(x);
    } else {
      value.i = static_cast<int64_t>(x);
    }
    return value;
  });
}

}  // namespace

Report RunTile(const ir::Module& module, std::string_view name, std::span<const Argument> arguments,
               const RunOptions& options) {
  CHOREO_CHECK(module.state == ir::State::Tile, "the tile evaluator executes tile state");
  const ir::Kernel& kernel = FindKernel(module, name);
  const HostProgram host = CompileHost(kernel);
  const BoundLaunch bound = BindLaunch(module, kernel, host, arguments);
  Report report;
  const auto& bounds = bound.block_bounds;
  if (std::any_of(bounds.begin(), bounds.end(), [](int64_t b) { return b <= 0; })) return report;

  TileLaunch launch;
  launch.module = &module;
  launch.kernel = &kernel;
  launch.params = bound.params;
  launch.threads = ThreadsOf(kernel);
  const TilePlan plan(kernel, launch.threads);
  launch.plan = &plan;
  launch.step_limit = options.step_limit;
  launch.param_strides.resize(kernel.storages.size());
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    if (!kernel.params[i].shaped) continue;
    launch.param_strides[kernel.params[i].storage.value].assign(
        arguments[i].stride, arguments[i].stride + arguments[i].rank);
  }
  std::vector<Value> vars;
  for (size_t i = 0; i < kernel.vars.size(); ++i) {
    vars.push_back(BoundValue(kernel, host, bound, kernel.vars.IdAt(i)));
  }
  std::vector<int64_t> block(bounds.size(), 0);
  while (true) {
    ++report.ctas;
    TileCta(launch, vars).Run(block);
    size_t axis = 0;
    while (axis < block.size() && ++block[axis] == bounds[axis]) block[axis++] = 0;
    if (axis == block.size()) break;
  }
  report.failed_assert = launch.failed_assert;
  report.findings = launch.findings.Take();
  return report;
}

}  // namespace choreo::sim
