// Statements: declarations, assignments and the dispatch to the other files.
#include "lower/context.h"

namespace choreo::lower {

void Lowering::Statement(ast::StmtId id) {
  const ast::Stmt& stmt = in_.file.stmts[id];
  const ir::Loc outer = std::exchange(loc_, LocOf(stmt.range));
  const SourceRange outer_range = std::exchange(loc_range_, stmt.range);
  std::visit([&](const auto& node) { Node(id, node); }, stmt.node);
  loc_ = outer;
  loc_range_ = outer_range;
}

void Lowering::Body(ast::StmtId id) {
  if (const auto* block = in_.file.As<ast::Block>(id)) {
    for (const ast::StmtId statement : block->statements) Statement(statement);
  } else {
    Statement(id);
  }
}

ir::Region Lowering::RegionOf(ast::StmtId id) {
  ir::Region region;
  std::vector<ir::Op>* const outer = std::exchange(out_, &region.ops);
  Body(id);
  out_ = outer;
  return region;
}

void Lowering::Node(ast::StmtId, const ast::ErrorStmt&) {
  CHOREO_UNREACHABLE("lowering a program with errors");
}
void Lowering::Node(ast::StmtId, const std::monostate&) { CHOREO_UNREACHABLE(); }

// Names of a block end with it, but bindings are by entity: nothing to restore.
void Lowering::Node(ast::StmtId id, const ast::Block&) { Body(id); }

void Lowering::Node(ast::StmtId id, const ast::ScalarDecl& node) {
  const std::vector<sema::EntityId>& entities = Declared(id);
  for (size_t i = 0; i < node.declarators.size(); ++i) {
    const Elem type = Ent(entities[i]).type.elem;
    const ir::ExprId init = node.declarators[i].init
                                ? ScalarAs(node.declarators[i].init, type)
                                : (IsFloat(type) ? build_.Float(0, type) : build_.Int(0, type));
    if (node.is_mutable) {
      Emit(ir::VarDecl{DeclareVar(entities[i], ir::VarKind::Mutable), init});
    } else {
      const ir::VarId var = DeclareVar(entities[i], ir::VarKind::Let);
      Emit(ir::Let{var, init});
    }
  }
}

void Lowering::Node(ast::StmtId id, const ast::StorageDecl& node) {
  if (node.is_event) {
    DeclareEvents(id, node);
    return;
  }
  const std::vector<sema::EntityId>& entities = Declared(id);
  for (size_t i = 0; i < node.declarators.size(); ++i) {
    const ast::StorageDeclarator& declarator = node.declarators[i];
    const sema::Entity& entity = Ent(entities[i]);
    const int64_t count = entity.type.array_size ? entity.type.array_size->value.value_or(1) : 1;
    const ir::ExprId fill = declarator.fill ? ScalarAs(declarator.fill, node.type) : ir::ExprId();
    if (node.storage == ast::StorageClass::Frag) {
      std::vector<ir::StorageId> frags;
      for (int64_t k = 0; k < count; ++k) {
        const std::string name =
            entity.type.array_size ? fmt::format("{}_{}", entity.name, k) : entity.name;
        frags.push_back(NewFragment(name, node.type, entity.type.extents));
        if (fill) Emit(ir::FragFill{frags.back(), fill});
      }
      if (entity.type.array_size) {
        bindings_[entities[i]] = frags;
      } else {
        bindings_[entities[i]] = frags[0];
      }
      continue;
    }
    ir::Storage storage;
    storage.name = entity.name;
    storage.kind = node.storage == ast::StorageClass::Shared ? ir::StorageKind::Shared
                                                             : ir::StorageKind::Local;
    storage.elem = node.type;
    storage.array_size = static_cast<int32_t>(count);
    storage.loc = LocOf(entity.declared);
    for (const sema::Extent& extent : entity.type.extents) storage.dims.push_back(Constant(extent));
    const ir::StorageId storage_id = kernel_.storages.Add(std::move(storage));
    bindings_[entities[i]] = storage_id;
    Emit(ir::Decl{storage_id});
    if (fill) {
      for (int64_t k = 0; k < count; ++k) {
        Emit(ir::FillTile{AddView(WholeStorage(storage_id, build_.Int(k))), fill});
      }
    }
  }
}

// `name = value;` that declares: a scalar, a view, the tile of a copy, or a fragment.
void Lowering::DeclareByAssign(ast::StmtId id, const ast::Assign& node) {
  const sema::EntityId entity_id = Declared(id).at(0);
  const sema::Entity& entity = Ent(entity_id);
  if (const auto* fill = in_.file.As<ast::MmaFill>(node.value)) {
    const ir::StorageId frag = NewFragment(entity.name, fill->type, entity.type.extents);
    bindings_[entity_id] = frag;
    Fill(frag, *fill);
  } else if (const auto* load = in_.file.As<ast::MmaLoad>(node.value)) {
    const ir::StorageId frag = NewFragment(entity.name, entity.type.elem, entity.type.extents);
    bindings_[entity_id] = frag;
    Load(frag, *load);
  } else if (Start(id, entity_id, node.value)) {
    return;
  } else if (const auto* atomic = in_.file.As<ast::Atomic>(node.value)) {
    Atomic(*atomic, DeclareVar(entity_id, ir::VarKind::Let));
  } else if (entity.type.kind == sema::TypeKind::View ||
             entity.type.kind == sema::TypeKind::TileArray) {
    bindings_[entity_id] = FreezeView(ViewOf(node.value), entity.name);
  } else if (entity.type.kind == sema::TypeKind::Fragment) {
    bindings_[entity_id] = Fragment(node.value);
  } else if (entity.type.kind == sema::TypeKind::Tuple ||
             entity.type.kind == sema::TypeKind::Shape) {
    std::vector<ir::ExprId> elements = Elements(node.value);
    for (ir::ExprId& e : elements) e = Freeze(e, entity.name);
    bindings_[entity_id] = elements;
  } else {
    const ir::ExprId value = ScalarAs(node.value, entity.type.elem);
    const ir::VarId var = DeclareVar(entity_id, ir::VarKind::Let);
    if (entity.type.bound) kernel_.vars[var].bound = BoundOf(node.value);
    Emit(ir::Let{var, value});
  }
}

void Lowering::Node(ast::StmtId id, const ast::Assign& node) {
  const auto kind = in_.sema.assigns.find(id);
  CHOREO_CHECK(kind != in_.sema.assigns.end());
  switch (kind->second) {
    case sema::AssignKind::SetScalar:
    case sema::AssignKind::SetElement: {
      ir::ExprId value = Scalar(node.value);
      if (node.op) value = Arithmetic(*node.op, Scalar(node.target), value);
      Store(node.target, value);
      return;
    }
    case sema::AssignKind::RefillFragment: {
      const ir::StorageId frag = Fragment(node.target);
      if (const auto* fill = in_.file.As<ast::MmaFill>(node.value)) {
        Fill(frag, *fill);
      } else if (const auto* load = in_.file.As<ast::MmaLoad>(node.value)) {
        Load(frag, *load);
      } else {
        const ir::StorageId source = Fragment(node.value);
        Emit(ir::FragCopy{frag, source});
      }
      return;
    }
    case sema::AssignKind::RebindFuture:
      CHOREO_CHECK(Start(id, in_.sema.refs.at(node.target), node.value));
      return;
    case sema::AssignKind::Declare:
      DeclareByAssign(id, node);
      return;
  }
}

void Lowering::Node(ast::StmtId id, const ast::ExprStmt& node) {
  const ast::Expr& expr = E(node.expr);
  if (const auto* inc = std::get_if<ast::IncDec>(&expr.node)) {
    const ir::ExprId old_value = Scalar(inc->operand);
    const Elem type = kernel_.exprs[old_value].type;
    const ir::ExprId one = IsFloat(type) ? build_.Float(1.0, type) : build_.Int(1, type);
    Store(inc->operand, inc->increment ? build_.Add(old_value, one) : build_.Sub(old_value, one));
    return;
  }
  if (const auto* copy = std::get_if<ast::DmaCopy>(&expr.node)) {
    Copy(*copy, {}, "tile");
    return;
  }
  if (const auto* tma = std::get_if<ast::TmaCopy>(&expr.node)) {
    Tma(*tma, {}, "tile");
    return;
  }
  if (const auto* mma = std::get_if<ast::Mma>(&expr.node)) {
    Mma(id, *mma, {});
    return;
  }
  if (const auto* atomic = std::get_if<ast::Atomic>(&expr.node)) {
    Atomic(*atomic, {});
    return;
  }
  if (const auto* call = std::get_if<ast::Call>(&expr.node)) {
    if (FragmentCall(*call)) return;
  }
  // An expression without effect on anything: evaluated for its increments only.
  Scalar(node.expr);
}

void Lowering::Node(ast::StmtId, const ast::Assert& node) {
  const ir::ExprId condition = Condition(node.condition);
  Emit(ir::Assert{condition, node.message});
}

void Lowering::Node(ast::StmtId, const ast::SyncShared&) { Emit(ir::SyncShared{}); }
void Lowering::Node(ast::StmtId, const ast::RawCpp& node) { Emit(ir::RawCpp{node.text}); }

}  // namespace choreo::lower
