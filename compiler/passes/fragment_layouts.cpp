// fragment-layouts: the register mapping of every fragment, and that `apply` bodies index fragments
// only by the elements that the lane owns.
#include "ir/walk.h"
#include "passes/fragment.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

class IndexCheck {
 public:
  IndexCheck(const ir::Kernel& kernel, PassContext& context) : kernel_(kernel), context_(context) {}

  void Visit(const ir::Region& region, const ir::Apply* apply) {
    for (const ir::Op& op : region.ops) {
      if (const auto* set = std::get_if<ir::FragSet>(&op.node)) {
        Access(set->frag, set->index, apply, op.loc);
      }
      ir::ForEachExpr(kernel_, op, [&](ir::ExprId root) {
        ir::ForEachSubExpr(kernel_, root, [&](ir::ExprId e) {
          if (const auto* element = std::get_if<ir::FragElem>(&kernel_.exprs[e].node)) {
            Access(element->frag, element->index, apply, op.loc);
          }
        });
      });
      if (const auto* inner = std::get_if<ir::Apply>(&op.node)) {
        Visit(inner->body, inner);
        continue;
      }
      ir::VisitRegions(op, [&](auto& field) { Visit(field, apply); });
    }
  }

 private:
  void Access(ir::StorageId frag, const std::vector<ir::ExprId>& index, const ir::Apply* apply,
              ir::Loc loc) {
    const ir::Storage& storage = kernel_.storages[frag];
    bool owned = apply != nullptr && index.size() <= apply->vars.size();
    for (size_t i = 0; owned && i < index.size(); ++i) {
      const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[index[i]].node);
      owned = ref != nullptr && ref->var == apply->vars[i];
    }
    if (!owned) {
      context_.diags.Emit(diag::kinds::fragment_index, context_.Where(loc), storage.name);
      return;
    }
    if (storage.layout == ir::FragLayout::Row) return;
    const int registers = LaneElements(kernel_, storage);
    const int expected = LaneElements(kernel_, kernel_.storages[apply->frag]);
    if (registers != expected) {
      context_.diags.Emit(diag::kinds::fragment_shape, context_.Where(loc), storage.name, registers,
                          expected);
    }
  }

  const ir::Kernel& kernel_;
  PassContext& context_;
};

}  // namespace

ir::Kernel FragmentLayouts(ir::Kernel kernel, PassContext& context) {
  for (ir::Storage& storage : kernel.storages) {
    if (storage.kind != ir::StorageKind::Frag) continue;
    storage.layout =
        storage.dims.size() == 2 ? ir::FragLayout::Accumulator : ir::FragLayout::Row;
  }
  IndexCheck(kernel, context).Visit(kernel.body, nullptr);
  return kernel;
}

}  // namespace choreo::passes
