#include "passes/op_effects.h"

#include <algorithm>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

template <class... NodeT>
bool IsOneOf(const ir::Op& op) {
  return (std::holds_alternative<NodeT>(op.node) || ...);
}

bool MayMove(const ir::Op& op) {
  return IsOneOf<ir::Let, ir::VarDecl, ir::Assign, ir::Decl, ir::If, ir::For, ir::FragSet,
                 ir::FragPack, ir::MemStore, ir::StoreVec, ir::CopyVec, ir::StMatrix, ir::LdMatrix>(
      op);
}

ir::VarId DefinedBy(const ir::Op& op) {
  if (const auto* let = std::get_if<ir::Let>(&op.node)) return let->var;
  if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) return decl->var;
  if (const auto* set = std::get_if<ir::Assign>(&op.node)) return set->var;
  if (const auto* loop = std::get_if<ir::For>(&op.node)) return loop->var;
  return {};  // of ops that may not move it does not matter
}

}  // namespace

OpEffects EffectsOf(const ir::Kernel& kernel, const ir::Op& op) {
  OpEffects effects;
  ir::ForEachOp(op, [&](const ir::Op& inner) {
    effects.may_move &= MayMove(inner);
    const ir::StorageUse use = ir::DirectStorageUse(kernel, inner);
    effects.reads.insert(use.reads.begin(), use.reads.end());
    effects.writes.insert(use.writes.begin(), use.writes.end());
    if (const auto* decl = std::get_if<ir::Decl>(&inner.node)) effects.writes.insert(decl->storage);
    if (const ir::VarId var = DefinedBy(inner)) effects.defines.insert(var);
    ir::ForEachExpr(kernel, inner, [&](ir::ExprId root) {
      ir::ForEachSubExpr(kernel, root, [&](ir::ExprId e) {
        const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[e].node);
        if (ref != nullptr) effects.uses.insert(ref->var);
      });
    });
  });
  return effects;
}

std::set<ir::StorageId> SharedStorage(const OpEffects& a, const OpEffects& b) {
  std::set<ir::StorageId> shared;
  const auto add = [&](const OpEffects& writer, const OpEffects& other) {
    for (const ir::StorageId id : writer.writes) {
      if (other.reads.contains(id) || other.writes.contains(id)) shared.insert(id);
    }
  };
  add(a, b);
  add(b, a);
  return shared;
}

bool ShareScalars(const OpEffects& a, const OpEffects& b) {
  const auto meets = [](const OpEffects& definer, const OpEffects& other) {
    return std::any_of(definer.defines.begin(), definer.defines.end(), [&](ir::VarId var) {
      return other.uses.contains(var) || other.defines.contains(var);
    });
  };
  return meets(a, b) || meets(b, a);
}

}  // namespace choreo::passes
