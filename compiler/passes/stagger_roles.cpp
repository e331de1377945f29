// stagger-roles: warpgroups of one role that issue MMAs in step meet at the tensor core together
// and leave it idle together, and nothing in their loops ever changes that. Those that start later
// compute while others multiply. The time is about that of one 64×128×128 MMA; it passes in front
// of the role's first MMA, behind the waits for its operands if these stand there too. Roles whose
// program itself says when a warpgroup goes on, by sleeping or by waits of some of them, are left
// alone.
#include <algorithm>

#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {
namespace {

constexpr int kNanoseconds =
    400;  // measured on an H200 with 64×128×128 MMAs: docs/en/tuning-log.md

bool Multiplies(const ir::Op& op) {
  bool found = std::holds_alternative<ir::WgmmaFence>(op.node);
  ir::VisitRegions(op, [&](const ir::Region& inner) {
    ir::ForEachOp(inner, [&](const ir::Op& deep) {
      found = found || std::holds_alternative<ir::WgmmaFence>(deep.node);
    });
  });
  return found;
}

class Staggering {
 public:
  explicit Staggering(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), scope_(kernel, kernel.host.threads) {}

  void Run() { Walk(kernel_.body); }

 private:
  void Walk(ir::Region& region) {
    for (ir::Op& op : region.ops) {
      if (auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        scope_.Enter(*parallel);
        Walk(parallel->body);
        scope_.Leave();
      } else if (auto* role = std::get_if<ir::InThreads>(&op.node);
                 role != nullptr && role->async) {
        scope_.Enter(*role);
        if (!IsPaced(role->body)) Stagger(role->body, op.loc);
        scope_.Leave();
      } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
        scope_.Note(*let);
      }
    }
  }

  // Whether the program says itself when its warpgroups go on.
  static bool IsPaced(const ir::Region& role) {
    bool paced = false;
    ir::ForEachOp(role, [&](const ir::Op& op) {
      paced = paced || std::holds_alternative<ir::Sleep>(op.node) ||
              std::holds_alternative<ir::NamedBarrierArrive>(op.node);
      const auto* some = std::get_if<ir::InThreads>(&op.node);
      if (some == nullptr) return;
      ir::ForEachOp(some->body, [&](const ir::Op& deep) {
        paced = paced || std::holds_alternative<ir::EventWait>(deep.node);
      });
    });
    return paced;
  }

  void Stagger(ir::Region& role, ir::Loc loc) {
    const ThreadSet& active = scope_.current().active;
    const int first = FirstOf(active);
    const int groups = static_cast<int>(active.count()) / kWarpgroupSize;
    if (groups < 2 || active != ThreadRange(first, groups * kWarpgroupSize)) return;
    const auto at = std::find_if(role.ops.begin(), role.ops.end(), Multiplies);
    if (at == role.ops.end()) return;
    const ir::ExprId group =
        build_.Sub(build_.Div(build_.Call(ir::Intrinsic::WarpIdx, {}), kWarpgroupSize / kWarpSize),
                   first / kWarpgroupSize);
    ir::If later{build_.Gt(group, 0), {}, {}};
    later.then_body.ops.push_back({loc, ir::Sleep{build_.Mul(group, kNanoseconds)}});
    role.ops.insert(at, {loc, std::move(later)});
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  ScopeTracker scope_;
};

}  // namespace

ir::Kernel StaggerRoles(ir::Kernel kernel, PassContext&) {
  Staggering(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
