// lower-parallel: the indices of `parallel` as arithmetic on thread and warp numbers, grid
// coordinates folded into one grid axis (no axis then limits the problem), narrowed scopes as
// branches. Roles become one chain of branches on the warp number.
#include <algorithm>
#include <set>
#include <utility>

#include "ir/printer.h"
#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {
namespace {

class ParallelLowering {
 public:
  explicit ParallelLowering(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), scope_(kernel, kernel.host.threads) {}

  void Run() {
    ir::Region indices;
    BlockIndices(indices);
    ir::Region body = Rewrite(kernel_.body, kernel_.host.threads);
    body.ops.insert(body.ops.begin() + AfterHostScalars(body), indices.ops.begin(),
                    indices.ops.end());
    kernel_.body = std::move(body);
  }

 private:
  // Extents of the grid may use scalars of the host part, which the kernel computes first.
  std::ptrdiff_t AfterHostScalars(const ir::Region& body) const {
    std::set<ir::VarId> scalars;
    for (const ir::Op& op : kernel_.host.body.ops) {
      if (const auto* let = std::get_if<ir::Let>(&op.node)) scalars.insert(let->var);
    }
    std::ptrdiff_t after = 0;
    for (size_t i = 0; i < body.ops.size(); ++i) {
      const auto* let = std::get_if<ir::Let>(&body.ops[i].node);
      if (let != nullptr && scalars.contains(let->var)) after = static_cast<std::ptrdiff_t>(i) + 1;
    }
    return after;
  }

  void BlockIndices(ir::Region& out) {
    const ir::HostPart& host = kernel_.host;
    // The first variable runs fastest, so the order of blocks is that of a grid with it on x.
    ir::ExprId rest = build_.Call(ir::Intrinsic::BlockIdxX, {});
    for (size_t i = 0; i < host.block_vars.size(); ++i) {
      const ir::VarId var = host.block_vars[i];
      const bool last = i + 1 == host.block_vars.size();
      const ir::Loc loc = kernel_.vars[var].loc;
      out.ops.push_back({loc, ir::Let{var, last ? rest : build_.Mod(rest, host.block_bounds[i])}});
      rest = build_.Div(rest, host.block_bounds[i]);
    }
  }

  // Whether nothing follows op i but the barrier of the cluster at the kernel's end, which needs
  // nothing in front of it.
  static bool IsLast(const ir::Region& region, size_t i) {
    return std::all_of(
        region.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1, region.ops.end(),
        [](const ir::Op& op) { return std::holds_alternative<ir::ClusterBarrier>(op.node); });
  }

  ir::Region Rewrite(const ir::Region& region, int group_size) {
    ir::Region out;
    for (size_t i = 0; i < region.ops.size(); ++i) {
      const ir::Op& op = region.ops[i];
      if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        Parallel(*parallel, out, op.loc, group_size, IsLast(region, i));
      } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
        InThreads(*narrowed, out, op.loc, group_size, IsLast(region, i));
      } else {
        ir::Op changed = op;
        if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
        const bool was_in_role_body = std::exchange(in_role_body_, false);
        ir::VisitRegions(changed, [&](ir::Region& r) { r = Rewrite(r, group_size); });
        in_role_body_ = was_in_role_body;
        out.ops.push_back(std::move(changed));
      }
    }
    return out;
  }

  void Parallel(const ir::Parallel& parallel, ir::Region& out, ir::Loc loc, int group_size,
                bool last) {
    using ir::Intrinsic;
    int64_t groups = 1;
    for (const ir::ExprId bound : parallel.bounds) groups *= *build_.AsInt(bound);
    const bool whole_cta = group_size == kernel_.host.threads;
    const auto within = [&](ir::ExprId index, int count) {
      return whole_cta ? index : build_.Mod(index, count);
    };
    int size = 1;
    ir::ExprId index;
    switch (parallel.level) {
      case ir::Level::Block:
        CHOREO_UNREACHABLE("blocks are the host's");
      case ir::Level::Warpgroup:
        size = kWarpgroupSize;
        index = build_.Div(build_.Call(Intrinsic::WarpIdx, {}), kWarpgroupSize / kWarpSize);
        break;
      case ir::Level::Warp:
        size = kWarpSize;
        index = within(build_.Call(Intrinsic::WarpIdx, {}), group_size / kWarpSize);
        break;
      case ir::Level::Thread:
        index = group_size == kWarpSize ? build_.Call(Intrinsic::LaneIdx, {})
                                        : within(build_.Call(Intrinsic::ThreadIdx, {}), group_size);
        break;
    }
    ir::Region body;
    ir::ExprId rest = index;
    for (size_t v = parallel.vars.size(); v-- > 0;) {
      const ir::ExprId value = v == 0 ? rest : build_.Mod(rest, parallel.bounds[v]);
      body.ops.push_back({loc, ir::Let{parallel.vars[v], value}});
      rest = build_.Div(rest, parallel.bounds[v]);
    }
    scope_.Enter(parallel);
    const int inner = parallel.level == ir::Level::Thread ? group_size : size;
    for (ir::Op& op : Rewrite(parallel.body, inner).ops) body.ops.push_back(std::move(op));
    scope_.Leave();
    if (groups * size < group_size) {
      const ir::ExprId member = build_.Lt(index, build_.Int(groups));
      out.ops.push_back({loc, ir::If{member, std::move(body), {}}});
    } else {
      for (ir::Op& op : body.ops) out.ops.push_back(std::move(op));
    }
    // What follows in the enclosing scope follows for all of its threads.
    if (whole_cta && !last && scope_.current().depth == 0) {
      out.ops.push_back({loc, ir::CtaBarrier{}});
    }
  }

  void InThreads(const ir::InThreads& narrowed, ir::Region& out, ir::Loc loc, int group_size,
                 bool last) {
    const bool outermost = scope_.current().depth == 0;
    const bool whole_warps = scope_.current().whole_warps();
    scope_.Enter(narrowed);
    const ThreadSet active = scope_.current().active;
    const bool divides_warps = !scope_.current().whole_warps();
    const bool was_in_role_body = std::exchange(in_role_body_, narrowed.async);
    const std::string name = NameOf(narrowed.predicate);
    const ir::ExprId condition =
        divides_warps ? narrowed.predicate : OfWarps(narrowed.predicate, group_size);
    ir::If branch{condition, Rewrite(narrowed.body, group_size), {}};
    in_role_body_ = was_in_role_body;
    scope_.Leave();
    if (narrowed.async) {
      Role(std::move(branch), name, active, out, loc);
      return;
    }
    out.ops.push_back({loc, std::move(branch)});
    if (outermost) {
      out.ops.push_back({loc, ir::CtaBarrier{}});
    } else if (in_role_body_ && last) {
      return;  // nothing follows
    } else if (whole_warps && divides_warps) {
      // Lanes of one warp reconverge; where only some lanes came by there is no warp to join.
      out.ops.push_back({loc, ir::SyncWarp{}});
    }
  }

  // A predicate that chooses whole warps, asked of the warp's number where it asks for a thread's:
  // `t < 96` is `warp % 4 < 3`. The warp's number is the same in its lanes to the assembler, too,
  // which then knows that they go one way.
  ir::ExprId OfWarps(ir::ExprId predicate, int group_size) {
    return ir::RewriteExpr(build_, predicate, [&](ir::ExprId e) -> ir::ExprId {
      const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[e].node);
      if (binary == nullptr) return {};
      const auto [op, left, right] = *binary;
      const auto bound = build_.AsInt(right);
      if (!bound || *bound < 0 || !IsThreadOfGroup(left, group_size)) return {};
      const bool of_next = op == ir::BinaryOp::Le || op == ir::BinaryOp::Gt;  // t <= 31: t < 32
      const int64_t threads = *bound + (of_next ? 1 : 0);
      if (threads % kWarpSize != 0) return {};
      ir::ExprId warp = build_.Call(ir::Intrinsic::WarpIdx, {});
      if (group_size != kernel_.host.threads) warp = build_.Mod(warp, group_size / kWarpSize);
      const int64_t warps = threads / kWarpSize;
      if (op == ir::BinaryOp::Lt || op == ir::BinaryOp::Le) {
        return warps == 1 ? build_.Eq(warp, 0) : build_.Lt(warp, build_.Int(warps));
      }
      if (op == ir::BinaryOp::Ge || op == ir::BinaryOp::Gt) {
        return warps == group_size / kWarpSize - 1 ? build_.Eq(warp, warps)
                                                   : build_.Ge(warp, build_.Int(warps));
      }
      return {};
    });
  }

  // Whether `e` is the index of a thread in its group, as `parallel t by 128 : thread` names it.
  bool IsThreadOfGroup(ir::ExprId e, int group_size) const {
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[e].node);
    if (ref == nullptr || group_size % kWarpSize != 0 || !scope_.IsParallelVar(ref->var)) {
      return false;
    }
    const std::vector<int>& values = scope_.Values(ref->var);
    for (size_t thread = 0; thread < values.size(); ++thread) {
      if (values[thread] != static_cast<int>(thread) % group_size) return false;
    }
    return true;
  }

  // A role goes to the end of the chain of roles in front of it, if one stands there.
  void Role(ir::If branch, const std::string& name, const ThreadSet& active, ir::Region& out,
            ir::Loc loc) {
    const int first = FirstOf(active);
    if (first == kMaxThreads) return;  // no thread
    WholeWarpgroups(branch.then_body, active, out);
    ir::RoleBegin begin{name, first, static_cast<int32_t>(active.count())};
    branch.then_body.ops.insert(branch.then_body.ops.begin(), {loc, std::move(begin)});
    ir::Region* end = &out;
    while (!end->ops.empty() && ir::IsRole(end->ops.back())) {
      end = &std::get<ir::If>(end->ops.back().node).else_body;
    }
    end->ops.push_back({loc, std::move(branch)});
  }

  // Register reallocation is a whole warpgroup's: what a narrower role asks for, all four warps
  // execute, in front of the chain of roles.
  void WholeWarpgroups(ir::Region& role, const ThreadSet& active, ir::Region& out) {
    ThreadSet groups;
    for (int first = 0; first < kernel_.host.threads; first += kWarpgroupSize) {
      const ThreadSet group = ThreadRange(first, kWarpgroupSize);
      if ((active & group).any()) groups |= group;
    }
    if (groups == active) return;
    auto at = out.ops.end();
    if (!out.ops.empty() && ir::IsRole(out.ops.back())) --at;
    for (auto op = role.ops.begin(); op != role.ops.end();) {
      if (!std::holds_alternative<ir::SetMaxNReg>(op->node)) {
        ++op;
        continue;
      }
      ir::ExprId is_one;
      for (int first = 0; first < kernel_.host.threads; first += kWarpgroupSize) {
        if (!groups.test(static_cast<size_t>(first))) continue;
        const ir::ExprId group =
            build_.Div(build_.Call(ir::Intrinsic::WarpIdx, {}), kWarpgroupSize / kWarpSize);
        const ir::ExprId is = build_.Eq(group, first / kWarpgroupSize);
        is_one = is_one ? build_.Or(is_one, is) : is;
      }
      ir::If whole{is_one, {}, {}};
      whole.then_body.ops.push_back(*op);
      at = out.ops.insert(at, {op->loc, std::move(whole)}) + 1;
      op = role.ops.erase(op);
    }
  }

  // The predicate as written: `p == 0`.
  std::string NameOf(ir::ExprId predicate) const {
    std::string text = ir::PrintExpr(kernel_, predicate);
    std::erase(text, '%');
    if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
    return text;
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  ScopeTracker scope_;
  bool in_role_body_ = false;
};

}  // namespace

ir::Kernel LowerParallel(ir::Kernel kernel, PassContext&) {
  ParallelLowering(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
