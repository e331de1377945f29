// Cooperative copies.
#include "lower/context.h"

namespace choreo::lower {

// The target's view, or the anonymous tile: of the source's shape, one object a CTA (shared) or a
// thread (local).
ir::View Lowering::CopyTarget(const ast::CopyTarget& target, const ir::View& source,
                              std::string_view name) {
  if (target.view) return FreezeView(ViewOf(target.view), "target");
  ir::Storage storage;
  storage.name = std::string(name);
  storage.kind = *target.anonymous == ast::StorageClass::Shared ? ir::StorageKind::Shared
                                                                : ir::StorageKind::Local;
  storage.anonymous = true;
  storage.elem = kernel_.storages[source.storage].elem;
  storage.loc = loc_;
  for (const ir::View::Axis& axis : source.axes) storage.dims.push_back(axis.extent);
  const ir::StorageId tile = kernel_.storages.Add(std::move(storage));
  Emit(ir::Decl{tile});
  return WholeStorage(tile, {});
}

ir::View Lowering::Copy(const ast::DmaCopy& node, ir::VarId future, std::string_view name) {
  const ir::View source = FreezeView(ViewOf(node.source), "source");
  const ir::View target = CopyTarget(node.target, source, name);
  const int32_t swizzle = node.swizzle.value_or(0);
  if (future) {
    Emit(ir::CopyAsync{future, AddView(source), AddView(target), swizzle});
  } else {
    Emit(ir::CopySync{AddView(source), AddView(target), swizzle});
  }
  return target;
}

}  // namespace choreo::lower
