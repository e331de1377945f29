// participants: how many threads a CTA has, whether MMAs have their warpgroups, and which anonymous
// tiles need one instance a group.
// A copy to `shared` whose source differs between the groups that execute it is done once each, so
// each group gets a tile of its own; every view of the tile then names the group's.
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {
namespace {

class TileInstances {
 public:
  TileInstances(ir::Kernel& kernel, PassContext& context, int threads)
      : kernel_(kernel),
        context_(context),
        build_(kernel),
        dependence_(kernel),
        scope_(kernel, threads) {}

  void Visit(const ir::Region& region) {
    for (const ir::Op& op : region.ops) {
      if (const auto* copy = std::get_if<ir::CopySync>(&op.node)) {
        Copy(copy->src, copy->dst);
      } else if (const auto* started = std::get_if<ir::CopyAsync>(&op.node)) {
        Copy(started->src, started->dst);
      } else if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
        Copy(load->src, load->dst);
      } else if (std::holds_alternative<ir::Mma>(op.node)) {
        CheckWarpgroups(op.loc);
      } else if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        scope_.Enter(*parallel);
        Visit(parallel->body);
        scope_.Leave();
      } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
        scope_.Enter(*narrowed);
        Visit(narrowed->body);
        scope_.Leave();
      } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
        scope_.Note(*let);
      } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
        Visit(loop->body);
      } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
        Visit(loop->body);
      } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
        Visit(branch->then_body);
        Visit(branch->else_body);
      }
    }
  }

 private:
  // WGMMA is executed by all threads of a warpgroup or by none.
  void CheckWarpgroups(ir::Loc loc) {
    const ThreadSet& active = scope_.current().active;
    for (int first = 0; first < kMaxThreads; first += kWarpgroupSize) {
      const auto here = (active & ThreadRange(first, kWarpgroupSize)).count();
      if (here == 0 || here == kWarpgroupSize) continue;
      context_.diags.Emit(diag::kinds::PartialWarpgroup, context_.Where(loc),
                          static_cast<int>(here));
      return;
    }
  }

  void Copy(ir::ViewId src, ir::ViewId dst) {
    const ir::StorageId tile = kernel_.views[dst].storage;
    ir::Storage& storage = kernel_.storages[tile];
    const Scope& scope = scope_.current();
    if (!storage.anonymous || storage.kind != ir::StorageKind::Shared) return;
    if ((dependence_.Of(kernel_.views[src]) & (kOnWarpgroup | kOnWarp)) == 0) return;
    ir::ExprId group = build_.Int(0);
    int64_t groups = 1;
    for (const ir::VarId var : scope.group_vars) {
      const ir::ExprId bound = kernel_.vars[var].bound;
      group = build_.Add(build_.Mul(group, bound), build_.Var(var));
      groups *= *build_.AsInt(bound);
    }
    storage.array_size = static_cast<int32_t>(groups);
    for (ir::View& view : kernel_.views) {
      if (view.storage == tile) view.slot = group;
    }
  }

  ir::Kernel& kernel_;
  PassContext& context_;
  ir::ExprBuilder build_;
  Dependence dependence_;
  ScopeTracker scope_;
};

}  // namespace

ir::Kernel Participants(ir::Kernel kernel, PassContext& context) {
  const int threads = CtaThreads(kernel);
  CHOREO_CHECK(threads <= kMaxThreads, "the front end limits a CTA to {} threads", kMaxThreads);
  int32_t& bound = kernel.host.max_threads_bound;
  if (bound != 0) bound = (bound + kWarpSize - 1) / kWarpSize * kWarpSize;
  if (bound != 0 && bound < threads) {
    context.diags.Emit(diag::kinds::LaunchBoundsTooSmall, context.Where(kernel.loc), kernel.name,
                       kernel.host.max_threads_bound, threads);
    return kernel;
  }
  kernel.host.threads = threads;
  TileInstances(kernel, context, threads).Visit(kernel.body);
  return kernel;
}

}  // namespace choreo::passes
