// Futures and events, TMA copies, register reallocation.
#include "lower/context.h"

namespace choreo::lower {

// The future that an entity names: one variable, whatever instances it holds over time.
ir::VarId Lowering::FutureOf(sema::EntityId id) {
  const auto [it, added] = futures_.try_emplace(id);
  if (added) {
    it->second =
        build_.NewVar(Ent(id).name, Elem::kU32, ir::VarKind::Future, LocOf(Ent(id).declared));
  }
  return it->second;
}

ir::VarId Lowering::FutureOf(ast::ExprId id) { return FutureOf(in_.sema.refs.at(id)); }

bool Lowering::IsTmaLoad(const ast::TmaCopy& node) const {
  if (node.is_load || node.target.anonymous) return true;
  return T(node.target.view).storage != ast::StorageClass::Global;
}

void Lowering::DeclareEvents(ast::StmtId id, const ast::StorageDecl& node) {
  const std::vector<sema::EntityId>& entities = Declared(id);
  for (size_t i = 0; i < node.declarators.size(); ++i) {
    const auto& size = Ent(entities[i]).type.array_size;
    ir::Storage storage;
    storage.name = Ent(entities[i]).name;
    storage.kind = ir::StorageKind::Event;
    storage.elem = Elem::kU64;
    storage.array_size = size ? static_cast<int32_t>(*size->value) : 0;
    storage.ready = node.declarators[i].init == ast::StorageDeclarator::Init::Ready;
    storage.cluster = node.is_cluster && kernel_.host.cluster > 1;
    storage.loc = LocOf(Ent(entities[i]).declared);
    bindings_[entities[i]] = kernel_.storages.Add(std::move(storage));
  }
}

// The event that `e` or `e.at(order)` names; `after` runs once the operation stands: `order++`.
Lowering::EventOperand Lowering::Event(ast::ExprId id) {
  EventOperand operand;
  ast::ExprId name = id;
  if (const auto* at = in_.file.As<ast::MethodCall>(id)) {
    name = at->base;
    const auto* step = in_.file.As<ast::IncDec>(at->args[0]);
    if (step != nullptr && !step->prefix) {
      operand.order = Scalar(step->operand);
      operand.step = step;
    } else {
      operand.order = Scalar(at->args[0]);
    }
  } else if (const auto* index = in_.file.As<ast::Index>(id)) {
    name = index->base;
  }
  operand.event = std::get<ir::StorageId>(bindings_.at(in_.sema.refs.at(name)));
  return operand;
}

void Lowering::Step(const ast::IncDec* step) {
  if (step == nullptr) return;
  const ir::ExprId old_value = Scalar(step->operand);
  const ir::ExprId one = build_.Int(1, kernel_.exprs[old_value].type);
  Store(step->operand, step->increment ? build_.Add(old_value, one) : build_.Sub(old_value, one));
}

void Lowering::Node(ast::StmtId, const ast::Wait& node) {
  ir::FutureWait futures;
  const auto flush = [&] {
    if (!futures.futures.empty()) Emit(std::exchange(futures, {}));
  };
  for (const ast::ExprId operand : node.operands) {
    const sema::TypeKind kind = T(operand).kind;
    if (kind == sema::TypeKind::OpFuture || kind == sema::TypeKind::DataFuture) {
      futures.futures.push_back(FutureOf(operand));
      continue;
    }
    flush();
    const EventOperand event = Event(operand);
    Emit(ir::EventWait{event.event, event.order});
    Step(event.step);
  }
  flush();
}

void Lowering::Node(ast::StmtId, const ast::Trigger& node) {
  // Priming by hand is what `= ready` says.
  if (in_.file.As<ast::Index>(node.event) != nullptr) {
    kernel_.storages[Event(node.event).event].ready = true;
    return;
  }
  const EventOperand event = Event(node.event);
  ir::EventTrigger op{event.event, event.order, {}};
  for (const ast::ExprId future : node.after) op.futures.push_back(FutureOf(future));
  Emit(std::move(op));
  Step(event.step);
}

void Lowering::Node(ast::StmtId id, const ast::CallStmt& node) {
  std::string_view name = node.callee.text;
  constexpr std::string_view kPrefix = "croq::cuda::";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (name == "setreg_dec" || name == "setreg_inc") {
    const auto count = in_.sema.constants[node.args[0]];
    CHOREO_CHECK(count.has_value());
    Emit(ir::SetMaxNReg{name == "setreg_inc", static_cast<int32_t>(*count)});
    return;
  }
  if (name == "nanosleep") {
    Emit(ir::Sleep{build_.Cast(Scalar(node.args[0]), Elem::kS32)});
    return;
  }
  CallFunction(in_.file.stmts[id].range, node);
}

bool Lowering::Start(ast::StmtId id, sema::EntityId entity, ast::ExprId value) {
  if (const auto* copy = in_.file.As<ast::DmaCopy>(value)) {
    BindTile(entity, Copy(*copy, copy->async ? FutureOf(entity) : ir::VarId(), Ent(entity).name));
  } else if (const auto* tma = in_.file.As<ast::TmaCopy>(value)) {
    BindTile(entity, Tma(*tma, tma->async ? FutureOf(entity) : ir::VarId(), Ent(entity).name));
  } else if (const auto* mma = in_.file.As<ast::Mma>(value)) {
    Mma(id, *mma, FutureOf(entity));
  } else if (Ent(entity).type.kind == sema::TypeKind::OpFuture ||
             Ent(entity).type.kind == sema::TypeKind::DataFuture) {
    MoveFuture(entity, in_.sema.refs.at(value));
  } else {
    return false;
  }
  return true;
}

ir::View Lowering::Tma(const ast::TmaCopy& node, ir::VarId future, std::string_view name) {
  const ir::View source = FreezeView(ViewOf(node.source), "source");
  const ir::View target = CopyTarget(node.target, source, name);
  if (!IsTmaLoad(node)) {
    Emit(ir::TmaStore{AddView(source), AddView(target)});
    return target;
  }
  // Without a future the load is complete when the statement is.
  const auto policy = static_cast<ir::EvictPolicy>(node.policy);
  const bool multicast = node.multicast.has_value() && kernel_.host.cluster > 1;
  Emit(ir::TmaLoad{future, AddView(source), AddView(target), node.swizzle.value_or(0), policy,
                   multicast});
  return target;
}

}  // namespace choreo::lower
