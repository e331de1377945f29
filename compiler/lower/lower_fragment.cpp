// Fragments and MMAs.
#include "lower/context.h"

namespace choreo::lower {

ir::StorageId Lowering::NewFragment(std::string_view name, Elem elem,
                                    const std::vector<sema::Extent>& dims) {
  ir::Storage storage;
  storage.name = std::string(name);
  storage.kind = ir::StorageKind::Frag;
  storage.elem = elem;
  storage.loc = loc_;
  for (const sema::Extent& extent : dims) storage.dims.push_back(Constant(extent));
  storage.layout = dims.size() == 2 ? ir::FragLayout::Accumulator : ir::FragLayout::Row;
  const ir::StorageId id = kernel_.storages.Add(std::move(storage));
  Emit(ir::Decl{id});
  return id;
}

ir::StorageId Lowering::Fragment(ast::ExprId id) {
  if (const auto* index = in_.file.As<ast::Index>(id)) {
    const Binding& binding = bindings_.at(in_.sema.refs.at(index->base));
    const auto& frags = std::get<std::vector<ir::StorageId>>(binding);
    // An array of fragments is n fragments: registers cannot be indexed at run time.
    const auto& value = in_.sema.constants[index->index];
    CHOREO_CHECK(value && static_cast<size_t>(*value) < frags.size());
    return frags[static_cast<size_t>(*value)];
  }
  const Binding& binding = bindings_.at(in_.sema.refs.at(id));
  return std::get<ir::StorageId>(binding);
}

void Lowering::Fill(ir::StorageId frag, const ast::MmaFill& node) {
  Emit(ir::FragFill{frag, ScalarAs(node.value, kernel_.storages[frag].elem)});
}

void Lowering::Load(ir::StorageId frag, const ast::MmaLoad& node) {
  Emit(ir::MmaLoad{frag, AddView(ViewOf(node.source))});
}

namespace {

// The K slices of `[[schedule(k_tiles(…))]]` in issue order; empty without it.
std::vector<int32_t> KOrder(const ast::File& file, const sema::Result& sema, ast::StmtId stmt) {
  std::vector<int32_t> order;
  for (const ast::Attribute& attribute : file.stmts[stmt].attributes) {
    const auto* tiles = file.As<ast::Call>(attribute.args.at(0));
    for (const ast::ExprId arg : tiles->args) {
      order.push_back(static_cast<int32_t>(*sema.constants[arg]));
    }
  }
  return order;
}

}  // namespace

void Lowering::Mma(ast::StmtId stmt, const ast::Mma& node, ir::VarId future) {
  ir::Mma op;
  op.future = future;
  op.k_order = KOrder(in_.file, in_.sema, stmt);
  op.acc = Fragment(node.acc);
  if (T(node.a).kind == sema::TypeKind::Fragment) {
    op.a_frag = Fragment(node.a);
  } else {
    op.a = AddView(ViewOf(node.a));
  }
  op.b = AddView(ViewOf(node.b));
  op.b_row = node.b_layout == ast::MmaLayout::Row;
  Emit(std::move(op));
}

void Lowering::Node(ast::StmtId id, const ast::Apply& node) {
  ast::ExprId frag = node.span;
  if (const auto* member = in_.file.As<ast::Member>(node.span)) frag = member->base;
  ir::Apply op;
  op.frag = Fragment(frag);
  for (const sema::EntityId var : Declared(id)) {
    op.vars.push_back(DeclareVar(var, ir::VarKind::Element));
  }
  op.body = RegionOf(node.body);
  Emit(std::move(op));
}

// Each lane joins the conditions of its elements; then the lanes vote.
ir::ExprId Lowering::AnyOf(ast::ExprId id, const ast::AnyOf& node) {
  const ir::VarId mine = build_.NewVar("any", Elem::kBool, ir::VarKind::Mutable, loc_);
  Emit(ir::VarDecl{mine, build_.Bool(false)});
  ast::ExprId frag = node.span;
  if (const auto* member = in_.file.As<ast::Member>(node.span)) frag = member->base;
  ir::Apply op;
  op.frag = Fragment(frag);
  for (const sema::EntityId var : in_.sema.any_of_vars.at(id)) {
    op.vars.push_back(DeclareVar(var, ir::VarKind::Element));
  }
  std::vector<ir::Op>* const outer = std::exchange(out_, &op.body.ops);
  const ir::ExprId holds = Condition(node.condition);
  // In this order nothing depends on what was found before: no branch.
  Emit(ir::Assign{mine, build_.Bin(ir::BinaryOp::Or, holds, build_.Var(mine))});
  out_ = outer;
  Emit(std::move(op));
  const ir::VarId all = build_.NewVar("any_of", Elem::kBool, ir::VarKind::Let, loc_);
  constexpr int kWarp = 32, kWarpgroup = 128;
  Emit(ir::Vote{all, build_.Var(mine), node.warp ? kWarp : kWarpgroup});
  return build_.Var(all);
}

void Lowering::Node(ast::StmtId, const ast::MmaStore& node) {
  const ir::StorageId frag = Fragment(node.acc);
  Emit(ir::MmaStore{frag, AddView(ViewOf(node.tile))});
}

// copy, reduce_max, reduce_sum. False if the call is something else.
bool Lowering::FragmentCall(const ast::Call& call) {
  const std::string& name = call.callee.text;
  if (name == "copy") {
    const ir::StorageId dst = Fragment(call.args[0]);
    Emit(ir::FragCopy{dst, Fragment(call.args[1])});
    return true;
  }
  if (name == "reduce_max" || name == "reduce_sum") {
    const ir::StorageId row = Fragment(call.args[0]);
    Emit(ir::FragReduce{name == "reduce_max" ? ir::ReduceKind::Max : ir::ReduceKind::Sum, row,
                        Fragment(call.args[1])});
    return true;
  }
  if (name == "all_reduce_max" || name == "all_reduce_sum") {
    Emit(ir::FragAllReduce{name == "all_reduce_max" ? ir::ReduceKind::Max : ir::ReduceKind::Sum,
                           Fragment(call.args[0])});
    return true;
  }
  if (name.starts_with("__bar_")) {
    RawBarrier(call);
    return true;
  }
  return false;
}

}  // namespace choreo::lower
