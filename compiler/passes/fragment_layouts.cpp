// fragment-layouts: the register mapping of every fragment. All 2-D fragments have the
// accumulator's mapping, 1-D ones hold one value a row; the front end has checked that accesses
// respect it.
#include "passes/pass.h"

namespace choreo::passes {

ir::Kernel FragmentLayouts(ir::Kernel kernel, PassContext&) {
  for (ir::Storage& storage : kernel.storages) {
    if (storage.kind != ir::StorageKind::Frag) continue;
    storage.layout = storage.dims.size() == 2 ? ir::FragLayout::Accumulator : ir::FragLayout::Row;
  }
  return kernel;
}

}  // namespace choreo::passes
