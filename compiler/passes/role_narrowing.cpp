// role-narrowing: a role of one warpgroup that only issues TMA loads, waits and triggers runs on
// its first warp; the other three skip to its end. What a nested `inthreads` does on another warp
// keeps the role whole, and so does a wait on a one-slot event that is ready at first: as a named
// barrier it counts the threads of the whole role.
#include <utility>

#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {
namespace {

class Narrowing {
 public:
  explicit Narrowing(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), scope_(kernel, CtaThreads(kernel)) {}

  void Visit(ir::Region& region) {
    for (ir::Op& op : region.ops) {
      if (auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        scope_.Enter(*parallel);
        Visit(parallel->body);
        scope_.Leave();
      } else if (auto* role = std::get_if<ir::InThreads>(&op.node);
                 role != nullptr && role->async) {
        scope_.Enter(*role);
        Narrow(*role, op.loc);
        scope_.Leave();
      } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
        scope_.Note(*let);
      }
    }
  }

 private:
  void Narrow(ir::InThreads& role, ir::Loc loc) {
    const ThreadSet& active = scope_.current().active;
    if (active.none()) return;
    const int first = FirstOf(active);
    if (first % kWarpgroupSize != 0 || active != ThreadRange(first, kWarpgroupSize)) return;
    const ThreadSet warp = ThreadRange(first, kWarpSize);
    if (!FitsOneWarp(role.body, warp)) return;
    ir::Region kept;
    ir::InThreads narrowed;
    narrowed.predicate = build_.Eq(build_.Call(ir::Intrinsic::WarpIdx, {}), first / kWarpSize);
    for (ir::Op& op : role.body.ops) {
      // Register reallocation is the whole warpgroup's.
      const bool whole =
          std::holds_alternative<ir::SetMaxNReg>(op.node) && narrowed.body.ops.empty();
      (whole ? kept : narrowed.body).ops.push_back(std::move(op));
    }
    kept.ops.push_back({loc, std::move(narrowed)});
    role.body = std::move(kept);
  }

  bool FitsOneWarp(const ir::Region& region, const ThreadSet& warp) {
    bool before_all = true;
    for (const ir::Op& op : region.ops) {
      if (std::holds_alternative<ir::SetMaxNReg>(op.node)) {
        if (!before_all || depth_ != 0) return false;
        continue;
      }
      before_all = false;
      if (!OpFits(op, warp)) return false;
    }
    return true;
  }

  bool OpFits(const ir::Op& op, const ThreadSet& warp) {
    if (const auto* inner = std::get_if<ir::InThreads>(&op.node)) {
      // A plain trigger of narrower threads is that of another path, which it must remain.
      bool triggers = false;
      ir::ForEachOp(inner->body, [&](const ir::Op& deep) {
        const auto* trigger = std::get_if<ir::EventTrigger>(&deep.node);
        triggers = triggers || (trigger != nullptr && trigger->futures.empty());
      });
      if (triggers) return false;
      scope_.Enter(*inner);
      ++depth_;
      const bool fits = (scope_.current().active & ~warp).none() && FitsOneWarp(inner->body, warp);
      --depth_;
      scope_.Leave();
      return fits;
    }
    if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
    if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) {
      const ir::Storage& event = kernel_.storages[wait->event];
      return !event.ready || event.array_size > 1 || event.cluster;
    }
    if (!MovesData(op)) return false;
    bool fits = true;
    ++depth_;
    ir::VisitRegions(op, [&](const ir::Region& inner) { fits = fits && FitsOneWarp(inner, warp); });
    --depth_;
    return fits;
  }

  // Scalars, control flow, TMA loads and their futures and events: one thread's work.
  bool MovesData(const ir::Op& op) const {
    return std::holds_alternative<ir::Let>(op.node) ||
           std::holds_alternative<ir::VarDecl>(op.node) ||
           std::holds_alternative<ir::Assign>(op.node) ||
           std::holds_alternative<ir::For>(op.node) || std::holds_alternative<ir::While>(op.node) ||
           std::holds_alternative<ir::If>(op.node) || std::holds_alternative<ir::Break>(op.node) ||
           std::holds_alternative<ir::Continue>(op.node) ||
           std::holds_alternative<ir::TmaLoad>(op.node) ||
           std::holds_alternative<ir::FutureWait>(op.node) ||
           std::holds_alternative<ir::FutureMove>(op.node) ||
           std::holds_alternative<ir::EventTrigger>(op.node);
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  ScopeTracker scope_;
  int depth_ = 0;
};

}  // namespace

ir::Kernel RoleNarrowing(ir::Kernel kernel, PassContext&) {
  Narrowing(kernel).Visit(kernel.body);
  return kernel;
}

}  // namespace choreo::passes
