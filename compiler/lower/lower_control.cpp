// Loops, branches and `with`.
#include "lower/context.h"

namespace choreo::lower {

void Lowering::Node(ast::StmtId id, const ast::Foreach& node) {
  // Bounds are taken before the iteration variables hide the bounded ones.
  std::vector<ir::ExprId> bounds;
  for (size_t i = 0; i < node.iterations.size(); ++i) {
    const ast::Iteration& it = node.iterations[i];
    bounds.push_back(it.bound ? ir::ExprId()
                              : BoundOfEntity(in_.sema.entities[Declared(id)[i]].over));
  }
  ForeachFrom(0, node, Declared(id), bounds);
}

void Lowering::ForeachFrom(size_t index, const ast::Foreach& node,
                           const std::vector<sema::EntityId>& vars,
                           const std::vector<ir::ExprId>& bounds) {
  if (index == node.iterations.size()) {
    Body(node.body);
    return;
  }
  const ast::Iteration& it = node.iterations[index];
  const ir::ExprId bound = it.bound ? ScalarAs(it.bound, Elem::kS32) : bounds[index];
  const ir::ExprId low = it.low ? ScalarAs(it.low, Elem::kS32) : build_.Int(0);
  ir::ExprId high = bound;
  if (it.high) {
    high = ScalarAs(it.high, Elem::kS32);
    if (const auto value = build_.AsInt(high)) {
      if (*value < 0) high = build_.Add(bound, high);
    } else {
      high = build_.Select(build_.Lt(high, build_.Int(0)), build_.Add(bound, high), high);
    }
  }
  const ir::ExprId step = it.step ? ScalarAs(it.step, Elem::kS32) : build_.Int(1);
  const bool whole = !it.low && !it.high && !it.step;
  ir::For op;
  op.low = Freeze(low, "low");
  op.high = Freeze(high, "high");
  op.step = Freeze(step, "step");
  op.var = DeclareVar(vars[index], ir::VarKind::Loop);
  kernel_.vars[op.var].bound = whole ? op.high : Freeze(bound, "bound");
  if (node.unroll && index + 1 == node.iterations.size()) {
    op.unroll = static_cast<int32_t>(in_.sema.constants[node.unroll].value_or(0));
  }
  Unsettle({node.body});
  std::vector<ir::Op>* const outer = std::exchange(out_, &op.body.ops);
  ForeachFrom(index + 1, node, vars, bounds);
  out_ = outer;
  Unsettle({node.body});
  Emit(std::move(op));
}

void Lowering::Node(ast::StmtId id, const ast::With& node) {
  const std::vector<sema::EntityId>& entities = Declared(id);
  std::vector<ir::ExprId> tuple;
  for (size_t i = 0; i < node.bounds.size(); ++i) {
    const ir::ExprId bound = Freeze(ScalarAs(node.bounds[i], Elem::kS32), "bound");
    ir::VarId var;
    if (i < node.vars.size()) {
      var = DeclareVar(entities[i], ir::VarKind::Let);
    } else {
      var = build_.NewVar("index", Elem::kS32, ir::VarKind::Let, loc_);
    }
    kernel_.vars[var].bound = bound;
    Emit(ir::Let{var, build_.Int(0)});
    tuple.push_back(build_.Var(var));
  }
  if (node.tuple) bindings_[entities.back()] = tuple;
  Body(node.body);
}

void Lowering::Node(ast::StmtId, const ast::If& node) {
  const ir::ExprId condition = Condition(node.condition);
  const auto bindings = bindings_;
  const auto tiles = future_tiles_;
  ir::If op{condition, RegionOf(node.then_body), {}};
  if (node.else_body) {
    // As it was before: what the one branch binds the other does not see.
    std::vector<sema::EntityId> rebound;
    FindRebound(node.then_body, rebound);
    for (const sema::EntityId entity : rebound) {
      const auto before = tiles.find(entity);
      if (!before->second.place) continue;
      bindings_[entity] = bindings.at(entity);
      future_tiles_.at(entity).settled = before->second.settled;
    }
    op.else_body = RegionOf(node.else_body);
  }
  Unsettle({node.then_body, node.else_body});
  Emit(std::move(op));
}

void Lowering::Node(ast::StmtId, const ast::While& node) {
  // What the condition changes, it changes before every iteration.
  ir::While op;
  Unsettle({node.body});
  std::vector<ir::Op>* const outer = std::exchange(out_, &op.body.ops);
  const ir::ExprId condition = Condition(node.condition);
  if (op.body.ops.empty()) {
    op.condition = condition;
  } else {
    op.condition = build_.Bool(true);
    ir::If leave{build_.Not(condition), {}, {}};
    leave.then_body.ops.push_back({loc_, ir::Break{}});
    Emit(std::move(leave));
  }
  Body(node.body);
  out_ = outer;
  Unsettle({node.body});
  Emit(std::move(op));
}

void Lowering::Node(ast::StmtId, const ast::Return&) { Emit(ir::Return{}); }
void Lowering::Node(ast::StmtId, const ast::Break&) { Emit(ir::Break{}); }
void Lowering::Node(ast::StmtId, const ast::Continue&) { Emit(ir::Continue{}); }

}  // namespace choreo::lower
