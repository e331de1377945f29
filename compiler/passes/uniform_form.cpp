#include "passes/uniform_form.h"

#include <fmt/format.h>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

std::string TextOf(const UniformForm& form) {
  std::string text;
  for (const auto& [atom, factor] : form) text += fmt::format("{:+}{}", factor, atom);
  return text;
}

}  // namespace

UniformForm Sum(const UniformForm& a, const UniformForm& b, int64_t factor_of_b) {
  UniformForm sum = a;
  for (const auto& [atom, factor] : b) {
    if ((sum[atom] += factor * factor_of_b) == 0) sum.erase(atom);
  }
  return sum;
}

std::optional<int64_t> AsConstant(const UniformForm& form) {
  if (form.empty()) return 0;
  if (form.size() == 1 && form.begin()->first.empty()) return form.begin()->second;
  return std::nullopt;
}

std::optional<UniformForm> Product(const UniformForm& a, const UniformForm& b) {
  if (const auto factor = AsConstant(a)) return Sum({}, b, *factor);
  if (const auto factor = AsConstant(b)) return Sum({}, a, *factor);
  return std::nullopt;
}

UniformForm UniformForms::Turn(int depth) { return {{fmt::format("turn{}", depth), 1}}; }

void UniformForms::Set(ir::VarId var, std::optional<UniformForm> form) {
  if (form) {
    known_[var] = *std::move(form);
  } else {
    known_.erase(var);
  }
}

bool UniformForms::IsReadOnly(ir::StorageId id) const {
  const ir::Storage& storage = kernel_->storages[id];
  return storage.kind == ir::StorageKind::Param &&
         !kernel_->params[static_cast<size_t>(storage.param_index)].written;
}

std::optional<UniformForm> UniformForms::Of(ir::VarId var) const {
  const auto known = known_.find(var);
  if (known == known_.end()) return std::nullopt;
  return Sum({}, known->second, 1);
}

std::optional<UniformForm> UniformForms::Of(ir::ExprId e) const {
  const ir::ExprNode& node = kernel_->exprs[e].node;
  if (const auto* constant = std::get_if<ir::IntConst>(&node)) {
    return Sum({}, {{"", constant->value}}, 1);
  }
  if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
    if (const auto known = Of(ref->var)) return known;
  }
  if (const auto* binary = std::get_if<ir::Binary>(&node)) return OfBinary(*binary, e);
  const auto atom = Atom(e);
  if (!atom) return std::nullopt;
  return UniformForm{{*atom, 1}};
}

std::optional<UniformForm> UniformForms::OfBinary(const ir::Binary& node, ir::ExprId e) const {
  const auto left = Of(node.left), right = Of(node.right);
  if (!left || !right) return std::nullopt;
  switch (node.op) {
    case ir::BinaryOp::Add:
      return Sum(*left, *right, 1);
    case ir::BinaryOp::Sub:
      return Sum(*left, *right, -1);
    case ir::BinaryOp::Mul:
      if (const auto product = Product(*left, *right)) return product;
      break;
    default:
      break;
  }
  const int type = static_cast<int>(kernel_->exprs[e].type);
  return UniformForm{
      {fmt::format("b{}.{}({},{})", static_cast<int>(node.op), type, TextOf(*left), TextOf(*right)),
       1}};
}

// The element that the view stands for.
std::optional<std::string> UniformForms::Element(const ir::View& view) const {
  if (!IsReadOnly(view.storage)) return std::nullopt;
  std::string text = fmt::format("p{}", view.storage.value);
  bool known = true;
  const auto add = [&](ir::ExprId e) {
    const auto form = e ? Of(e) : UniformForm{};
    known = known && form.has_value();
    if (form) text += fmt::format("[{}]", TextOf(*form));
  };
  add(view.base_offset);
  for (const ir::ExprId e : view.base_extents) add(e);
  for (const ir::ExprId e : view.start) add(e);
  if (!known) return std::nullopt;
  return text;
}

std::optional<std::string> UniformForms::Atom(ir::ExprId e) const {
  const ir::Expr& expr = kernel_->exprs[e];
  std::string text;
  if (const auto* ref = std::get_if<ir::VarRef>(&expr.node)) {
    switch (kernel_->vars[ref->var].kind) {
      case ir::VarKind::Dim:
      case ir::VarKind::Stride:
      case ir::VarKind::Param:
        return fmt::format("v{}", ref->var.value);
      case ir::VarKind::Parallel:
        for (const ir::VarId block : kernel_->host.block_vars) {
          if (block == ref->var) return fmt::format("v{}", ref->var.value);
        }
        return std::nullopt;
      default:
        return std::nullopt;
    }
  } else if (const auto* elem = std::get_if<ir::ViewElem>(&expr.node)) {
    return Element(kernel_->views[elem->view]);
  } else if (const auto* call = std::get_if<ir::Call>(&expr.node)) {
    if (call->args.empty() && call->callee != ir::Intrinsic::BlockIdxX) return std::nullopt;
    text = fmt::format("c{}", static_cast<int>(call->callee));
  } else if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
    text = fmt::format("u{}", static_cast<int>(unary->op));
  } else if (std::holds_alternative<ir::Cast>(expr.node)) {
    text = "to";
  } else if (std::holds_alternative<ir::Select>(expr.node)) {
    text = "select";
  } else {
    return std::nullopt;  // registers and shared memory; floats bound no loop
  }
  text += fmt::format(".{}", static_cast<int>(expr.type));
  bool known = true;
  ir::ForEachOperand(*kernel_, e, [&](ir::ExprId operand) {
    const auto form = Of(operand);
    known = known && form.has_value();
    if (form) text += fmt::format("({})", TextOf(*form));
  });
  if (!known) return std::nullopt;
  return text;
}

}  // namespace choreo::passes
