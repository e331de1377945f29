// host-plan: the grid of the launch, and in a fixed order the checks that the launcher makes.
#include <algorithm>
#include <tuple>

#include "passes/pass.h"

namespace choreo::passes {

ir::Kernel HostPlan(ir::Kernel kernel, PassContext&) {
  ir::ExprBuilder build(kernel);
  ir::ExprId blocks = build.Int(1, Elem::kS64);
  for (const ir::ExprId bound : kernel.host.block_bounds) {
    blocks = build.Mul(blocks, build.Cast(bound, Elem::kS64));
  }
  kernel.host.grid = {blocks, {}, {}};
  std::sort(kernel.host.checks.begin(), kernel.host.checks.end(),
            [](const ir::HostCheck& a, const ir::HostCheck& b) {
              return std::tie(a.param, a.kind, a.axis) < std::tie(b.param, b.kind, b.axis);
            });
  return kernel;
}

}  // namespace choreo::passes
