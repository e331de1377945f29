#include "passes/ranges.h"

#include <numeric>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

constexpr int kMostSteps = 32;  // substitutions before a proof is given up
const ir::VarId kConstant;      // the key of a form's constant

bool IsLaunchValue(ir::VarKind kind) {
  return kind == ir::VarKind::Dim || kind == ir::VarKind::Param;
}

}  // namespace

Ranges::Ranges(const ir::Kernel& kernel) : kernel_(kernel) {
  const ir::HostPart& host = kernel.host;
  for (size_t i = 0; i < host.block_vars.size(); ++i) {
    bounds_[host.block_vars[i]] = {ir::ExprId(), host.block_bounds[i]};
  }
  for (const ir::Op& op : host.body.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) lets_[let->var] = let->value;
  }
  for (const ir::Op& op : host.body.ops) {
    const auto* check = std::get_if<ir::Assert>(&op.node);
    if (check == nullptr) continue;
    ir::ForEachConjunct(kernel, check->condition, [&](ir::ExprId condition) { Assume(condition); });
  }
  ScopeTracker scope(kernel, CtaThreads(kernel));
  Collect(kernel.body, scope);
}

void Ranges::Collect(const ir::Region& region, ScopeTracker& scope) {
  for (const ir::Op& op : region.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      lets_[let->var] = let->value;
      // `cid = p - 1` where `p > 0`: what the threads that come by really hold.
      if (scope.current().depth > 0) {
        if (const auto range = scope.RangeOf(let->value)) exact_[let->var] = *range;
      }
      scope.Note(*let);
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      const auto step = ir::AsInt(kernel_, loop->step);
      if (step && *step > 0) bounds_[loop->var] = {loop->low, loop->high};
    }
    const auto* parallel = std::get_if<ir::Parallel>(&op.node);
    const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
    if (parallel != nullptr) {
      for (size_t i = 0; i < parallel->vars.size(); ++i) {
        bounds_[parallel->vars[i]] = {ir::ExprId(), parallel->bounds[i]};
      }
      scope.Enter(*parallel);
    } else if (narrowed != nullptr) {
      scope.Enter(*narrowed);
    }
    ir::VisitRegions(op, [&](const ir::Region& inner) { Collect(inner, scope); });
    if (parallel != nullptr || narrowed != nullptr) scope.Leave();
  }
}

// a == b of dimensions, and a % constant == 0.
void Ranges::Assume(ir::ExprId condition) {
  const auto* binary = std::get_if<ir::Binary>(&kernel_.exprs[condition].node);
  if (binary == nullptr || binary->op != ir::BinaryOp::Eq) return;
  const auto variable = [&](ir::ExprId e) {
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[e].node);
    return ref != nullptr && IsLaunchValue(kernel_.vars[ref->var].kind) ? ref->var : ir::VarId();
  };
  const ir::VarId left = variable(binary->left);
  const ir::VarId right = variable(binary->right);
  if (left && right) {
    if (Same(left) != Same(right)) equal_[Same(left)] = Same(right);
    return;
  }
  const auto* modulo = std::get_if<ir::Binary>(&kernel_.exprs[binary->left].node);
  if (modulo == nullptr || modulo->op != ir::BinaryOp::Mod) return;
  const auto divisor = ir::AsInt(kernel_, modulo->right);
  if (ir::AsInt(kernel_, binary->right) != 0 || !divisor || *divisor <= 0) return;
  if (const ir::VarId var = variable(modulo->left)) divisible_.insert({var, *divisor});
}

ir::VarId Ranges::Same(ir::VarId var) const {
  for (auto it = equal_.find(var); it != equal_.end(); it = equal_.find(var)) var = it->second;
  return var;
}

bool Ranges::Divides(int64_t divisor, ir::VarId var) const {
  for (const auto& [known, by] : divisible_) {
    if (Same(known) == Same(var) && by % divisor == 0) return true;
  }
  return false;
}

void Ranges::Add(Form& form, ir::VarId var, Rational r) {
  Rational& at = form[var];
  const int64_t den = std::lcm(at.den, r.den);
  at = {at.num * (den / at.den) + r.num * (den / r.den), den};
  const int64_t common = std::gcd(at.num, at.den);
  if (common > 1) at = {at.num / common, at.den / common};
  if (at.num == 0) form.erase(var);
}

Ranges::Form Ranges::Sum(const Form& a, const Form& b, int64_t factor_of_b) {
  Form sum = a;
  for (const auto& [var, r] : b) Add(sum, var, {r.num * factor_of_b, r.den});
  return sum;
}

std::optional<Ranges::Form> Ranges::Linear(ir::ExprId e) const {
  Form form;
  if (const auto value = ir::AsInt(kernel_, e)) {
    Add(form, kConstant, {*value, 1});
    return form;
  }
  const ir::ExprNode& node = kernel_.exprs[e].node;
  if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
    Add(form, Same(ref->var), {1, 1});
    return form;
  }
  if (const auto* cast = std::get_if<ir::Cast>(&node)) {
    const Elem from = kernel_.exprs[cast->operand].type;
    const Elem to = kernel_.exprs[e].type;
    if (!IsSigned(from) || !IsSigned(to) || Bits(to) < Bits(from)) return std::nullopt;
    return Linear(cast->operand);
  }
  // cdiv(v, c) and v / c are v over c where c is known to divide v.
  const auto quotient = [&](ir::ExprId dividend, ir::ExprId divisor) -> std::optional<Form> {
    const auto c = ir::AsInt(kernel_, divisor);
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[dividend].node);
    if (!c || *c <= 0 || ref == nullptr || !Divides(*c, ref->var)) return std::nullopt;
    Form out;
    Add(out, Same(ref->var), {1, *c});
    return out;
  };
  if (const auto* call = std::get_if<ir::Call>(&node)) {
    if (call->callee != ir::Intrinsic::CDiv) return std::nullopt;
    return quotient(call->args[0], call->args[1]);
  }
  const auto* binary = std::get_if<ir::Binary>(&node);
  if (binary == nullptr) return std::nullopt;
  if (binary->op == ir::BinaryOp::Div) return quotient(binary->left, binary->right);
  const auto left = Linear(binary->left);
  const auto right = Linear(binary->right);
  if (!left || !right) return std::nullopt;
  if (binary->op == ir::BinaryOp::Add) return Sum(*left, *right, 1);
  if (binary->op == ir::BinaryOp::Sub) return Sum(*left, *right, -1);
  if (binary->op == ir::BinaryOp::Mul) {
    if (const auto c = ir::AsInt(kernel_, binary->right)) return Sum({}, *left, *c);
    if (const auto c = ir::AsInt(kernel_, binary->left)) return Sum({}, *right, *c);
  }
  return std::nullopt;
}

std::optional<Ranges::Form> Ranges::Extreme(Form form, bool largest) const {
  for (int step = 0; step < kMostSteps; ++step) {
    // Any variable that is not the launch's own gives way to its definition or to its bound.
    ir::VarId var;
    for (const auto& [candidate, coefficient] : form) {
      if (candidate != kConstant && !IsLaunchValue(kernel_.vars[candidate].kind)) var = candidate;
    }
    if (!var) return form;
    const Rational r = form.at(var);
    std::optional<Form> value;
    if (const auto exact = exact_.find(var); exact != exact_.end()) {
      value.emplace();
      const bool upper = (r.num > 0) == largest;
      Add(*value, kConstant, {upper ? exact->second.second : exact->second.first, 1});
    } else if (const auto let = lets_.find(var); let != lets_.end()) {
      value = Linear(let->second);
    } else if (const auto bound = bounds_.find(var); bound != bounds_.end()) {
      const bool upper = (r.num > 0) == largest;
      const ir::ExprId end = upper ? bound->second.second : bound->second.first;
      value = end ? Linear(end) : std::optional(Form{});
      if (value && upper) Add(*value, kConstant, {-1, 1});
    }
    if (!value) return std::nullopt;
    form.erase(var);
    for (const auto& [v, c] : *value) Add(form, v, {c.num * r.num, c.den * r.den});
  }
  return std::nullopt;
}

// Extents are not negative; scalar parameters may be.
bool Ranges::NeverNegative(const Form& form) const {
  for (const auto& [var, r] : form) {
    const bool grows = var == kConstant || kernel_.vars[var].kind == ir::VarKind::Dim;
    if (!grows || r.num < 0) return false;
  }
  return true;
}

bool Ranges::Inside(ir::ExprId first, int64_t length, ir::ExprId extent) const {
  const auto start = Linear(first);
  const auto limit = Linear(extent);
  if (!start || !limit) return false;
  const auto low = Extreme(*start, false);
  if (!low || !NeverNegative(*low)) return false;
  // The room that is left where the start is largest.
  Form room = Sum(*limit, *start, -1);
  Add(room, kConstant, {-length, 1});
  const auto least = Extreme(room, false);
  return least && NeverNegative(*least);
}

}  // namespace choreo::passes
