// Cooperative copies.
#include "lower/context.h"

namespace choreo::lower {

ir::View Lowering::Copy(ast::ExprId id, const ast::DmaCopy& node, std::string_view name) {
  if (node.async) NotLowered(E(id).range, "`dma.copy.async`");
  const ir::View source = FreezeView(ViewOf(node.source), "source");
  ir::View target;
  if (node.target.view) {
    target = FreezeView(ViewOf(node.target.view), "target");
  } else {
    // The anonymous tile: of the source's shape, one object a CTA (shared) or a thread (local).
    ir::Storage storage;
    storage.name = std::string(name);
    storage.kind = *node.target.anonymous == ast::StorageClass::Shared ? ir::StorageKind::Shared
                                                                       : ir::StorageKind::Local;
    storage.anonymous = true;
    storage.elem = kernel_.storages[source.storage].elem;
    storage.loc = loc_;
    for (const ir::View::Axis& axis : source.axes) storage.dims.push_back(axis.extent);
    const ir::StorageId tile = kernel_.storages.Add(std::move(storage));
    Emit(ir::Decl{tile});
    target = WholeStorage(tile, {});
  }
  Emit(ir::CopySync{AddView(source), AddView(target), node.swizzle.value_or(0)});
  return target;
}

}  // namespace choreo::lower
