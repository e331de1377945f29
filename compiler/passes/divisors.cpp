#include "passes/divisors.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/builder.h"
#include "ir/raw_text.h"
#include "ir/walk.h"

namespace choreo::passes {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;  // products of two fit

int64_t OfConstant(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return bits == 0 ? kMost : int64_t{1} << std::min(std::countr_zero(bits), 30);
}

// Of what is divided by 2^bits, which it is a multiple of or not.
int64_t Shifted(int64_t divisor, int64_t bits) {
  return bits > 30 ? 1 : std::max(divisor >> bits, int64_t{1});
}

int64_t Quotient(int64_t divisor, std::optional<int64_t> by) {
  if (!by || *by <= 0 || !std::has_single_bit(static_cast<uint64_t>(*by))) return 1;
  return Shifted(divisor, std::countr_zero(static_cast<uint64_t>(*by)));
}

// One value that a variable is given; of a loop variable, its start and its step are two.
struct Definition {
  ir::VarId var;
  ir::ExprId value;
};

std::vector<Definition> DefinitionsIn(const ir::Kernel& kernel) {
  std::vector<Definition> found;
  const auto look = [&](const ir::Op& op) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      found.push_back({let->var, let->value});
    } else if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) {
      found.push_back({decl->var, decl->init});
    } else if (const auto* set = std::get_if<ir::Assign>(&op.node)) {
      found.push_back({set->var, set->value});
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      found.push_back({loop->var, loop->low});
      found.push_back({loop->var, loop->step});
    }
  };
  ir::ForEachOp(kernel.host.body, look);
  ir::ForEachOp(kernel.body, look);
  return found;
}

}  // namespace

// First every variable that is given values is taken to be zero; what it is given takes that back,
// until nothing does any more.
Divisors::Divisors(const ir::Kernel& kernel) : kernel_(kernel) {
  of_vars_.assign(kernel.vars.size(), 1);
  asserted_.assign(kernel.vars.size(), 1);
  const std::vector<Definition> definitions = DefinitionsIn(kernel);
  for (const Definition& d : definitions) of_vars_[d.var.value] = kMost;
  // Raw text may set what it can: the mutable ones, and the counters of loops.
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    const auto* raw = std::get_if<ir::RawCpp>(&op.node);
    if (raw == nullptr) return;
    for (size_t i = 0; i < kernel.vars.size(); ++i) {
      const ir::Var& var = kernel.vars[kernel.vars.IdAt(i)];
      const bool sets = var.kind == ir::VarKind::Mutable || var.kind == ir::VarKind::Loop;
      if (sets && ir::Mentions(raw->text, var.name)) of_vars_[i] = 1;
    }
  });
  for (const ir::Op& op : kernel.host.body.ops) {
    const auto* check = std::get_if<ir::Assert>(&op.node);
    if (check == nullptr) continue;
    ir::ForEachConjunct(kernel, check->condition, [&](ir::ExprId condition) { Assume(condition); });
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Definition& d : definitions) changed |= Meet(d.var, Of(d.value));
  }
}

bool Divisors::Meet(ir::VarId var, int64_t divisor) {
  int64_t& known = of_vars_[var.value];
  const int64_t met = std::max(std::min(known, divisor), asserted_[var.value]);
  if (met >= known) return false;
  known = met;
  return true;
}

// v % constant == 0 of what never changes. Between integers a cast keeps what the
// remainder says of the bits that it keeps.
void Divisors::Assume(ir::ExprId condition) {
  const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[condition].node);
  if (binary == nullptr || binary->op != ir::BinaryOp::Eq || ir::AsInt(kernel_, binary->right) != 0)
    return;
  const auto* modulo = std::get_if<ir::Binary>(&kernel_.exprs[binary->left].node);
  if (modulo == nullptr || modulo->op != ir::BinaryOp::Mod) return;
  const auto divisor = ir::AsInt(kernel_, modulo->right);
  if (!divisor || *divisor == 0) return;
  ir::ExprId value = modulo->left;
  int64_t most = kMost;
  const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[value].node);
  while (ref == nullptr && IsInteger(kernel_.exprs[value].type)) {
    most = std::min(most, int64_t{1} << std::min(Bits(kernel_.exprs[value].type), 30));
    const auto* cast = std::get_if<ir::Cast>(&kernel_.exprs[value].node);
    if (cast == nullptr) return;
    value = cast->operand;
    ref = std::get_if<ir::VarRef>(&kernel_.exprs[value].node);
  }
  if (ref == nullptr || !IsInteger(kernel_.vars[ref->var].type)) return;
  if (kernel_.vars[ref->var].kind == ir::VarKind::Mutable) return;
  int64_t& known = asserted_[ref->var.value];
  known = std::max(known, std::min(most, OfConstant(*divisor)));
  of_vars_[ref->var.value] = std::max(of_vars_[ref->var.value], known);
}

// Arithmetic that wraps does so by a power of two, which changes nothing here. A value that is no
// integer has no divisor, nor has what is converted from it.
int64_t Divisors::Of(ir::ExprId e) const {
  const ir::Expr& expr = kernel_.exprs[e];
  if (!IsInteger(expr.type)) return 1;
  if (const auto* c = std::get_if<ir::IntConst>(&expr.node)) return OfConstant(c->value);
  if (const auto* ref = std::get_if<ir::VarRef>(&expr.node)) {
    return ref->var.value < of_vars_.size() ? of_vars_[ref->var.value] : 1;
  }
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return Of(cast->operand);
  if (const auto* unary = std::get_if<ir::Unary>(&expr.node)) {
    return unary->op == ir::UnaryOp::Neg ? Of(unary->operand) : 1;
  }
  if (const auto* select = std::get_if<ir::Select>(&expr.node)) {
    return std::min(Of(select->then_value), Of(select->else_value));
  }
  if (const auto* call = std::get_if<ir::Call>(&expr.node)) return OfCall(*call);
  const auto* binary = std::get_if<ir::Binary>(&expr.node);
  return binary != nullptr ? OfBinary(*binary, Bits(expr.type)) : 1;
}

int64_t Divisors::OfBinary(const ir::Binary& binary, int bits) const {
  const int64_t left = Of(binary.left);
  const auto constant = ir::AsInt(kernel_, binary.right);
  const bool shifts = constant && *constant >= 0 && *constant < bits;
  switch (binary.op) {
    case ir::BinaryOp::Add:
    case ir::BinaryOp::Sub:
    case ir::BinaryOp::Mod:  // a minus a multiple of b
    case ir::BinaryOp::BitOr:
    case ir::BinaryOp::BitXor:
      return std::min(left, Of(binary.right));
    case ir::BinaryOp::BitAnd:
      return std::max(left, Of(binary.right));
    case ir::BinaryOp::Mul:
      return std::min(kMost, left * Of(binary.right));
    case ir::BinaryOp::Shl:
      return shifts ? std::min(kMost, left << std::min<int64_t>(*constant, 30)) : left;
    case ir::BinaryOp::Shr:
      return shifts ? Shifted(left, *constant) : 1;
    case ir::BinaryOp::Div:
      return Quotient(left, constant);
    default:
      return 1;
  }
}

int64_t Divisors::OfCall(const ir::Call& call) const {
  switch (call.callee) {
    case ir::Intrinsic::Abs:
      return Of(call.args[0]);
    case ir::Intrinsic::Min:
    case ir::Intrinsic::Max:
      return std::min(Of(call.args[0]), Of(call.args[1]));
    default:
      return 1;
  }
}

}  // namespace choreo::passes
