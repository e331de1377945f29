// The rewriting half of walk.h.
#include "ir/walk.h"

namespace choreo::ir {
namespace {

class Rewriting {
 public:
  Rewriting(ExprBuilder& builder, const ExprRewriter& rewrite)
      : builder_(builder), rewrite_(rewrite) {}

  ExprId Rewrite(ExprId id) {
    if (!id) return id;
    if (const ExprId replaced = rewrite_(id)) return replaced;
    const ExprNode node = builder_.kernel().exprs[id].node;  // a copy: building adds expressions
    return std::visit([&](const auto& n) { return Node(id, n); }, node);
  }

  std::vector<ExprId> Rewrite(const std::vector<ExprId>& ids) {
    std::vector<ExprId> result;
    for (const ExprId id : ids) result.push_back(Rewrite(id));
    return result;
  }

  ViewId Rewrite(ViewId id) {
    if (!id) return id;
    View view = builder_.kernel().views[id];
    bool changed = false;
    const auto update = [&](ExprId& expr) {
      const ExprId now = Rewrite(expr);
      changed |= now != expr;
      expr = now;
    };
    update(view.slot);
    update(view.base_offset);
    for (ExprId& expr : view.base_extents) update(expr);
    for (ExprId& expr : view.start) update(expr);
    for (View::Axis& axis : view.axes) {
      update(axis.extent);
      update(axis.step);
    }
    return changed ? builder_.kernel().views.Add(std::move(view)) : id;
  }

  void Rewrite(Op& op) {
    VisitFields(op, [&](const char*, auto& field) {
      using Field = std::remove_cvref_t<decltype(field)>;
      if constexpr (std::is_same_v<Field, ExprId> || std::is_same_v<Field, std::vector<ExprId>> ||
                    std::is_same_v<Field, ViewId>) {
        field = Rewrite(field);
      } else if constexpr (std::is_same_v<Field, Region>) {
        for (Op& inner : field.ops) Rewrite(inner);
      }
    });
  }

 private:
  ExprId Node(ExprId id, const IntConst&) { return id; }
  ExprId Node(ExprId id, const FloatConst&) { return id; }
  ExprId Node(ExprId id, const VarRef&) { return id; }
  ExprId Node(ExprId id, const Unary& n) {
    const ExprId operand = Rewrite(n.operand);
    if (operand == n.operand) return id;
    switch (n.op) {
      case UnaryOp::Neg:
        return builder_.Neg(operand);
      case UnaryOp::Not:
        return builder_.Not(operand);
      case UnaryOp::BitNot:
        return builder_.BitNot(operand);
    }
    CHOREO_UNREACHABLE();
  }
  ExprId Node(ExprId id, const Binary& n) {
    const ExprId left = Rewrite(n.left), right = Rewrite(n.right);
    return left == n.left && right == n.right ? id : builder_.Bin(n.op, left, right);
  }
  ExprId Node(ExprId id, const Select& n) {
    const ExprId condition = Rewrite(n.condition);
    const ExprId then_value = Rewrite(n.then_value), else_value = Rewrite(n.else_value);
    const bool same =
        condition == n.condition && then_value == n.then_value && else_value == n.else_value;
    return same ? id : builder_.Select(condition, then_value, else_value);
  }
  ExprId Node(ExprId id, const Cast& n) {
    const ExprId operand = Rewrite(n.operand);
    return operand == n.operand ? id : builder_.Cast(operand, builder_.TypeOf(id));
  }
  ExprId Node(ExprId id, const Call& n) {
    std::vector<ExprId> args = Rewrite(n.args);
    return args == n.args ? id : builder_.Call(n.callee, std::move(args));
  }
  ExprId Node(ExprId id, const FragElem& n) {
    std::vector<ExprId> index = Rewrite(n.index);
    return index == n.index ? id : builder_.FragElem(n.frag, std::move(index));
  }
  ExprId Node(ExprId id, const ViewElem& n) {
    const ViewId view = Rewrite(n.view);
    return view == n.view ? id : builder_.ViewElem(view);
  }
  ExprId Node(ExprId id, const MemElem& n) {
    const ExprId index = Rewrite(n.index);
    return index == n.index ? id : builder_.MemElem(n.storage, index);
  }
  ExprId Node(ExprId id, const SmemDesc& n) {
    const ExprId offset = Rewrite(n.byte_offset);
    return offset == n.byte_offset
               ? id
               : builder_.Desc(n.storage, offset, n.leading_bytes, n.stride_bytes, n.swizzle);
  }

  ExprBuilder& builder_;
  const ExprRewriter& rewrite_;
};

}  // namespace

ExprId RewriteExpr(ExprBuilder& builder, ExprId root, const ExprRewriter& rewrite) {
  return Rewriting(builder, rewrite).Rewrite(root);
}

ViewId RewriteView(ExprBuilder& builder, ViewId view, const ExprRewriter& rewrite) {
  return Rewriting(builder, rewrite).Rewrite(view);
}

void RewriteExprs(ExprBuilder& builder, Op& op, const ExprRewriter& rewrite) {
  Rewriting(builder, rewrite).Rewrite(op);
}

void RewriteExprs(ExprBuilder& builder, Region& region, const ExprRewriter& rewrite) {
  for (Op& op : region.ops) RewriteExprs(builder, op, rewrite);
}

ExprRewriter Substitute(const Kernel& kernel, const VarSubstitution& values) {
  return [&kernel, values](ExprId id) {
    const auto* ref = std::get_if<VarRef>(&kernel.exprs[id].node);
    const auto found = ref ? values.find(ref->var) : values.end();
    return found == values.end() ? ExprId() : found->second;
  };
}

}  // namespace choreo::ir
