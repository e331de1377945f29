#include "driver/dimensions.h"

#include <charconv>

#include "ir/fold.h"
#include "ir/walk.h"

namespace choreo::driver {

const std::string* Find(const std::vector<ShapeValue>& shape, std::string_view name) {
  for (const ShapeValue& value : shape) {
    if (value.name == name) return &value.text;
  }
  return nullptr;
}

Dimensions::Dimensions(const ir::Kernel& kernel, const std::vector<ShapeValue>& shape)
    : kernel_(kernel) {
  for (size_t i = 0; i < kernel.vars.size(); ++i) {
    const ir::VarId var = kernel.vars.IdAt(i);
    const ir::VarKind kind = kernel.vars[var].kind;
    if (kind != ir::VarKind::Dim && kind != ir::VarKind::Param) continue;
    if (const std::string* text = Find(shape, kernel.vars[var].name)) texts_[var] = *text;
  }
  for (const ir::Op& op : kernel.host.body.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) lets_[let->var] = let->value;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::Op& op : kernel.host.body.ops) {
      const auto* assertion = std::get_if<ir::Assert>(&op.node);
      if (assertion == nullptr) continue;
      ir::ForEachConjunct(kernel, assertion->condition,
                          [&](ir::ExprId condition) { changed |= Equate(condition); });
    }
  }
}

const std::string* Dimensions::Text(ir::VarId var) const {
  const auto at = texts_.find(var);
  return at == texts_.end() ? nullptr : &at->second;
}

bool Dimensions::Equate(ir::ExprId condition) {
  const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[condition].node);
  if (binary == nullptr || binary->op != ir::BinaryOp::Eq) return false;
  return Adopt(binary->left, binary->right) || Adopt(binary->right, binary->left);
}

bool Dimensions::Adopt(ir::ExprId to, ir::ExprId from) {
  // Where the sides have different types the narrower one was converted: its value is the same.
  while (const auto* cast = std::get_if<ir::Cast>(&kernel_.exprs[to].node)) to = cast->operand;
  const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[to].node);
  if (ref == nullptr || kernel_.vars[ref->var].kind != ir::VarKind::Dim) return false;
  if (texts_.contains(ref->var)) return false;
  // A text that is no number is passed on as it is, and refused where it is used.
  const auto* other = std::get_if<ir::VarRef>(&kernel_.exprs[from].node);
  const std::string* text = other == nullptr ? nullptr : Text(other->var);
  if (text != nullptr) {
    texts_[ref->var] = std::string(*text);
    return true;
  }
  const std::optional<int64_t> value = Value(from);
  if (!value) return false;
  texts_[ref->var] = std::to_string(*value);
  return true;
}

std::optional<int64_t> Dimensions::Value(ir::ExprId e) const {
  const ir::Expr& expr = kernel_.exprs[e];
  if (IsFloat(expr.type)) return std::nullopt;
  if (const auto* constant = std::get_if<ir::IntConst>(&expr.node)) return constant->value;
  if (const auto* ref = std::get_if<ir::VarRef>(&expr.node)) {
    if (const auto let = lets_.find(ref->var); let != lets_.end()) return Value(let->second);
    const std::string* text = Text(ref->var);
    if (text == nullptr) return std::nullopt;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size()) return std::nullopt;
    return value;
  }
  if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
    const auto left = Value(binary->left);
    const auto right = Value(binary->right);
    if (!left || !right) return std::nullopt;
    return ir::FoldInt(binary->op, kernel_.exprs[binary->left].type, *left, *right);
  }
  if (const auto* call = std::get_if<ir::Call>(&expr.node)) return ValueOfCall(*call, expr.type);
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
    const auto value = Value(cast->operand);
    return value ? std::optional(ir::WrapToElem(*value, expr.type)) : std::nullopt;
  }
  if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
    const auto condition = Value(select->condition);
    if (!condition) return std::nullopt;
    return Value(*condition != 0 ? select->then_value : select->else_value);
  }
  const auto* unary = std::get_if<ir::Unary>(&expr.node);
  const auto value = unary == nullptr ? std::nullopt : Value(unary->operand);
  if (!value || unary->op != ir::UnaryOp::Neg) return std::nullopt;
  return ir::WrapToElem(-*value, expr.type);
}

std::optional<int64_t> Dimensions::ValueOfCall(const ir::Call& call, Elem type) const {
  if (call.args.size() != 2) return std::nullopt;
  const auto left = Value(call.args[0]);
  const auto right = Value(call.args[1]);
  if (!left || !right) return std::nullopt;
  if (call.callee == ir::Intrinsic::CDiv) return ir::FoldCDiv(type, *left, *right);
  if (call.callee == ir::Intrinsic::Min) return std::min(*left, *right);
  if (call.callee == ir::Intrinsic::Max) return std::max(*left, *right);
  return std::nullopt;
}

}  // namespace choreo::driver
