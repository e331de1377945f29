// Walks over ops and expressions, written once over Fields() for all ops.
// "Direct" means the op itself without what its regions hold.
#pragma once

#include <functional>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace choreo::ir {

// Calls f(name, field) for each field of the op, in text order.
template <class OpT, class F>
void VisitFields(OpT& op, F&& f) {
  std::visit(
      [&](auto& node) {
        using Node = std::remove_cvref_t<decltype(node)>;
        if constexpr (!std::is_same_v<Node, std::monostate>) Node::Fields(node, f);
      },
      op.node);
}

// Each region of the op itself.
void VisitRegions(const Op& op, const std::function<void(const Region&)>& visit);
void VisitRegions(Op& op, const std::function<void(Region&)>& visit);

// Lowered: whether the op is the branch of a role.
bool IsRole(const Op& op);

// ---- ops, in program order, an op before those in its regions ----
void ForEachOp(const Region& region, const std::function<void(const Op&)>& visit);
void ForEachOp(Region& region, const std::function<void(Op&)>& visit);
void ForEachOp(const Op& op, const std::function<void(const Op&)>& visit);  // it and all in it

// ---- expressions ----
// Each direct expression field of `op` and, with them, the expressions of the views it names.
void ForEachExpr(const Kernel& kernel, const Op& op, const std::function<void(ExprId)>& visit);
void ForEachExpr(const View& view, const std::function<void(ExprId)>& visit);
// Of a call's arguments, the elements whose address is given, and whether it may write there.
void ForEachAddress(const OpaqueCall& op,
                    const std::function<void(ExprId element, bool written)>& visit);
// The storage of a ViewElem or MemElem.
StorageId StorageOfElement(const Kernel& kernel, ExprId element);
// `root` and every expression in it, parents first; an element of a view leads into the view.
void ForEachSubExpr(const Kernel& kernel, ExprId root, const std::function<void(ExprId)>& visit);
// The conditions that are all true where `condition` is, as far as `&&` joins them, left to right.
void ForEachConjunct(const Kernel& kernel, ExprId condition,
                     const std::function<void(ExprId)>& visit);
// The immediate operands of an expression.
void ForEachOperand(const Kernel& kernel, ExprId id, const std::function<void(ExprId)>& visit);

// ---- rewriting ----
// What stands in place of an expression; invalid: the expression stays and its operands are asked.
using ExprRewriter = std::function<ExprId(ExprId)>;
// The expression with all replacements made; new nodes are built and folded by `builder`. Unchanged
// expressions keep their id; views whose expressions change are new views.
ExprId RewriteExpr(ExprBuilder& builder, ExprId root, const ExprRewriter& rewrite);
ViewId RewriteView(ExprBuilder& builder, ViewId view, const ExprRewriter& rewrite);
// In the op and everything in its regions.
void RewriteExprs(ExprBuilder& builder, Op& op, const ExprRewriter& rewrite);
void RewriteExprs(ExprBuilder& builder, Region& region, const ExprRewriter& rewrite);

using VarSubstitution = std::unordered_map<VarId, ExprId>;
ExprRewriter Substitute(const Kernel& kernel, const VarSubstitution& values);

// ---- storage ----
// What an op itself reads and writes, each storage once. The shared memory behind a descriptor
// counts as read where the descriptor expression stands.
struct StorageUse {
  std::vector<StorageId> reads;
  std::vector<StorageId> writes;
};
StorageUse DirectStorageUse(const Kernel& kernel, const Op& op);
StorageUse AllStorageUse(const Kernel& kernel, const Region& region);
StorageUse AllStorageUse(const Kernel& kernel, const Op& op);

}  // namespace choreo::ir
