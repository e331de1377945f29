// remove-dead-code: definitions of scalars that nothing reads, and declarations of storage that
// nothing uses, so that the generated code has no unused names.
#include <algorithm>
#include <set>

#include "ir/raw_text.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

void CollectUses(const ir::Kernel& kernel, std::set<ir::VarId>& vars,
                 std::set<ir::StorageId>& storages) {
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
      ir::ForEachSubExpr(kernel, root, [&](ir::ExprId e) {
        if (const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[e].node)) vars.insert(ref->var);
      });
    });
    if (const auto* raw = std::get_if<ir::RawCpp>(&op.node)) {
      for (size_t i = 0; i < kernel.vars.size(); ++i) {
        const ir::VarId var = kernel.vars.IdAt(i);
        if (ir::Mentions(raw->text, kernel.vars[var].name)) vars.insert(var);
      }
    }
    if (std::holds_alternative<ir::Decl>(op.node)) return;
    const ir::StorageUse use = ir::DirectStorageUse(kernel, op);
    storages.insert(use.reads.begin(), use.reads.end());
    storages.insert(use.writes.begin(), use.writes.end());
  });
}

// Whether anything was removed.
bool Remove(ir::Region& region, const std::set<ir::VarId>& vars,
            const std::set<ir::StorageId>& storages) {
  const size_t removed = std::erase_if(region.ops, [&](const ir::Op& op) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) return !vars.contains(let->var);
    if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) return !vars.contains(decl->var);
    if (const auto* set = std::get_if<ir::Assign>(&op.node)) return !vars.contains(set->var);
    if (const auto* decl = std::get_if<ir::Decl>(&op.node)) {
      return !storages.contains(decl->storage);
    }
    return false;
  });
  bool any = removed != 0;
  for (ir::Op& op : region.ops) {
    ir::VisitRegions(op, [&](ir::Region& inner) { any |= Remove(inner, vars, storages); });
  }
  return any;
}

}  // namespace

ir::Kernel RemoveDeadCode(ir::Kernel kernel, PassContext&) {
  bool any = true;
  while (any) {
    std::set<ir::VarId> vars;
    std::set<ir::StorageId> storages;
    CollectUses(kernel, vars, storages);
    any = Remove(kernel.body, vars, storages);
  }
  return kernel;
}

}  // namespace choreo::passes
