// lower-elements: single elements of views become linear indices into their storage, and asserts of
// the kernel become error words that the host turns into the message.
#include "ir/walk.h"
#include "passes/addressing.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

class ElementLowering {
 public:
  explicit ElementLowering(ir::Kernel& kernel) : kernel_(kernel), build_(kernel) {}

  void Run() {
    const ir::ExprRewriter element = [&](ir::ExprId e) -> ir::ExprId { return Element(e); };
    ir::RewriteExprs(build_, kernel_.body, element);
    ir::ForEachOp(kernel_.body, [&](ir::Op& op) {
      if (const auto* store = std::get_if<ir::StoreElem>(&op.node)) {
        const ir::View view = kernel_.views[store->dest];
        const ir::ExprId index = LinearIndex(build_, view, view.start);
        op.Become(ir::MemStore{view.storage, index, store->value});
      } else if (const auto* atomic = std::get_if<ir::AtomicElem>(&op.node)) {
        const ir::View view = kernel_.views[atomic->dest];
        const ir::ExprId index = LinearIndex(build_, view, view.start);
        op.Become(ir::AtomicMem{atomic->var, atomic->how, view.storage, index, atomic->value});
      } else if (const auto* check = std::get_if<ir::Assert>(&op.node)) {
        kernel_.errors.push_back({op.loc, check->message});
        ir::If failed{build_.Not(check->condition), {}, {}};
        const auto code = static_cast<int32_t>(kernel_.errors.size());
        failed.then_body.ops.push_back({op.loc, ir::ErrorLatch{code}});
        op.Become(std::move(failed));
      }
    });
  }

 private:
  ir::ExprId Element(ir::ExprId e) {
    const auto* element = std::get_if<ir::ViewElem>(&kernel_.exprs[e].node);
    if (element == nullptr) return {};
    // Coordinates may hold elements themselves.
    const ir::ExprRewriter inner = [&](ir::ExprId x) -> ir::ExprId {
      return x == e ? ir::ExprId() : Element(x);
    };
    const ir::View view = kernel_.views[ir::RewriteView(build_, element->view, inner)];
    return build_.MemElem(view.storage, LinearIndex(build_, view, view.start));
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
};

}  // namespace

ir::Kernel LowerElements(ir::Kernel kernel, PassContext&) {
  ElementLowering(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
