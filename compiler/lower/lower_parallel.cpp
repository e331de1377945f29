// `parallel` at every level, and `inthreads`.
#include "lower/context.h"

namespace choreo::lower {
namespace {

ir::Level LevelOf(ast::Level level) {
  switch (level) {
    case ast::Level::Block:
      return ir::Level::Block;
    case ast::Level::Warpgroup:
      return ir::Level::Warpgroup;
    case ast::Level::Warp:
      return ir::Level::Warp;
    case ast::Level::Thread:
      return ir::Level::Thread;
  }
  CHOREO_UNREACHABLE();
}

}  // namespace

void Lowering::Node(ast::StmtId id, const ast::Parallel& node) {
  const auto declared = in_.sema.declared.find(id);
  static const std::vector<sema::EntityId> kNone;
  ParallelFrom(0, 0, node, declared == in_.sema.declared.end() ? kNone : declared->second);
}

// Lowers the dimensions from `dim` on, then the body; `first_var` counts the variables before it.
void Lowering::ParallelFrom(size_t dim, size_t first_var, const ast::Parallel& node,
                            const std::vector<sema::EntityId>& vars) {
  if (dim == node.dims.size()) {
    Body(node.body);
    return;
  }
  const ast::ParallelDim& d = node.dims[dim];
  std::vector<ir::VarId> names;
  std::vector<ir::ExprId> bounds;
  for (size_t i = 0; i < d.bounds.size(); ++i) {
    const ir::ExprId bound = ScalarAs(d.bounds[i], Elem::kS32);
    const ir::VarId var = i < d.vars.size() ? DeclareVar(vars[first_var + i], ir::VarKind::Parallel)
                                            : build_.NewVar("index", Elem::kS32,
                                                            ir::VarKind::Parallel, LocOf(d.range));
    kernel_.vars[var].bound = bound;
    names.push_back(var);
    bounds.push_back(bound);
  }
  const size_t next_var = first_var + d.vars.size();
  if (d.level == ast::Level::Block) {
    auto& host = kernel_.host;
    host.block_vars.insert(host.block_vars.end(), names.begin(), names.end());
    host.block_bounds.insert(host.block_bounds.end(), bounds.begin(), bounds.end());
    ParallelFrom(dim + 1, next_var, node, vars);
    return;
  }
  ir::Parallel op{LevelOf(d.level), names, bounds, {}};
  std::vector<ir::Op>* const outer = std::exchange(out_, &op.body.ops);
  ParallelFrom(dim + 1, next_var, node, vars);
  out_ = outer;
  Unsettle({node.body});
  Emit(std::move(op));
}

void Lowering::Node(ast::StmtId, const ast::InThreads& node) {
  const ir::ExprId predicate = Condition(node.predicate);
  ir::Region body = RegionOf(node.body);
  Unsettle({node.body});
  Emit(ir::InThreads{predicate, node.async, std::move(body)});
}

}  // namespace choreo::lower
