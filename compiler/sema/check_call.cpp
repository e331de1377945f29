// Calls of the built-in functions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

constexpr std::array<std::string_view, 18> kBuiltins = {
    "cdiv",       "__max",      "__min",          "__exp2f",        "__expf",     "__logf",
    "__log2f",    "__rsqrtf",   "__abs",          "__fma",          "__to",       "copy",
    "reduce_max", "reduce_sum", "all_reduce_sum", "all_reduce_max", "__bar_sync", "__bar_arrive"};

bool IsMath(std::string_view name) {
  return name == "__exp2f" || name == "__expf" || name == "__logf" || name == "__log2f" ||
         name == "__rsqrtf";
}

}  // namespace

Value Checker::CheckCall(ast::ExprId id, const ast::Call& node) {
  const std::string& name = node.callee.text;
  if (name == "cdiv") {
    if (!NeedArguments(id, node, 2)) return ErrorValue();
    const Value a = Check(node.args[0]), b = Check(node.args[1]);
    const bool left = NeedInteger(node.args[0], a, "the dividend of `cdiv`");
    const bool right = NeedInteger(node.args[1], b, "the divisor of `cdiv`");
    if (!left || !right) return ErrorValue();
    if (b.constant && *b.constant <= 0) {
      Report(diag::kinds::DivisionByZero, file_.exprs[id].range, "cdiv");
      return ErrorValue();
    }
    return DivideUp(a, b, CommonType(a.type.elem, b.type.elem));
  }
  if (name == "__max" || name == "__min") return CheckMinMax(id, node, name == "__max");
  if (IsMath(name) || name == "__abs" || name == "__fma") return CheckMathCall(id, node);
  if (name == "__to") return CheckConversion(id, node);
  if (name == "copy") return CheckFragmentCopy(id, node);
  if (name == "reduce_max" || name == "reduce_sum") return CheckReduce(id, node);
  if (name == "all_reduce_sum" || name == "all_reduce_max") return CheckAllReduce(id, node);
  if (name == "__bar_sync" || name == "__bar_arrive") return CheckBarrierCall(id, node);
  for (const ast::ExprId arg : node.args) Check(arg);
  diag::Builder builder = Report(diag::kinds::UnknownFunction, node.callee.range, name);
  std::vector<std::string_view> candidates(kBuiltins.begin(), kBuiltins.end());
  for (const std::string_view visible : scopes_.VisibleNames()) candidates.push_back(visible);
  Suggest(builder, node.callee.range, name, std::move(candidates));
  return ErrorValue();
}

bool Checker::NeedArguments(ast::ExprId id, const ast::Call& node, size_t count) {
  if (node.args.size() == count) return true;
  for (const ast::ExprId arg : node.args) Check(arg);
  Report(diag::kinds::ArgumentCount, file_.exprs[id].range, node.callee.text, count,
         node.args.size());
  return false;
}

Value Checker::CheckMinMax(ast::ExprId id, const ast::Call& node, bool is_max) {
  if (!NeedArguments(id, node, 2)) return ErrorValue();
  const Value a = Check(node.args[0]), b = Check(node.args[1]);
  const bool left = NeedArithmetic(node.args[0], a, node.callee.text);
  const bool right = NeedArithmetic(node.args[1], b, node.callee.text);
  if (!left || !right) return ErrorValue();
  WarnF64(node.args[0], a, node.args[1], b);
  const Elem elem = CommonType(a.type.elem, b.type.elem);
  Value value = Plain(elem);
  if (!IsSigned(elem)) return value;
  if (a.constant && b.constant) {
    value.constant =
        is_max ? std::max(*a.constant, *b.constant) : std::min(*a.constant, *b.constant);
    return value;
  }
  const Bounds x = a.poly ? syms_.BoundsOf(*a.poly) : Bounds{};
  const Bounds y = b.poly ? syms_.BoundsOf(*b.poly) : Bounds{};
  std::optional<int64_t> low, high;
  if (is_max) {
    low = x.low && y.low ? std::max(*x.low, *y.low) : x.low ? x.low : y.low;
    if (x.high && y.high) high = std::max(*x.high, *y.high);
  } else {
    high = x.high && y.high ? std::min(*x.high, *y.high) : x.high ? x.high : y.high;
    if (x.low && y.low) low = std::min(*x.low, *y.low);
  }
  const bool named = a.poly && b.poly;
  std::string text = named ? fmt::format("{}({}, {})", is_max ? "max" : "min", syms_.Text(*a.poly),
                                         syms_.Text(*b.poly))
                           : fmt::format("?{}", ++name_uses_["?"]);
  value.poly = Opaque(std::move(text), a.poly, b.poly, low,
                      high ? std::optional(Poly::Constant(*high)) : std::nullopt);
  return value;
}

Value Checker::CheckMathCall(ast::ExprId id, const ast::Call& node) {
  const std::string& name = node.callee.text;
  if (!NeedArguments(id, node, name == "__fma" ? 3 : 1)) return ErrorValue();
  std::vector<Value> args;
  bool failed = false;
  for (const ast::ExprId arg : node.args) {
    args.push_back(Check(arg));
    failed = !NeedArithmetic(arg, args.back(), name) || failed;
  }
  if (failed) return ErrorValue();
  if (IsMath(name)) {
    if (!Convert(node.args[0], Elem::kF32, fmt::format("the argument of `{}`", name))) {
      return ErrorValue();
    }
    return Plain(Elem::kF32);
  }
  Elem elem = CommonType(args[0].type.elem, args[0].type.elem);
  for (size_t i = 1; i < args.size(); ++i) {
    WarnF64(node.args[i - 1], args[i - 1], node.args[i], args[i]);
    elem = CommonType(elem, args[i].type.elem);
  }
  if (name == "__fma" && !IsFloat(elem)) {
    Report(diag::kinds::OperandType, file_.exprs[id].range, name, Describe(args[0].type));
    return ErrorValue();
  }
  Value value = Plain(elem);
  if (name == "__abs" && args[0].constant && IsSigned(elem) && *args[0].constant >= 0) {
    value.constant = args[0].constant;
  }
  return value;
}

// __to<T>(x): rounds to nearest even; towards zero to integers.
Value Checker::CheckConversion(ast::ExprId id, const ast::Call& node) {
  if (!NeedArguments(id, node, 1)) return ErrorValue();
  if (!node.type_arg) return ErrorValue();
  const Value operand = Check(node.args[0]);
  if (!NeedArithmetic(node.args[0], operand, "__to")) return ErrorValue();
  Value value = Plain(*node.type_arg);
  const bool integers = IsInteger(*node.type_arg) && IsInteger(operand.type.elem);
  if (integers && operand.constant && FitsConstant(operand, *node.type_arg)) {
    value.constant = operand.constant;
  } else if (integers && IsSigned(*node.type_arg) && IsSigned(operand.type.elem) &&
             Bits(*node.type_arg) >= Bits(operand.type.elem)) {
    value.poly = operand.poly;
  } else if (operand.real && FitsConstant(operand, *node.type_arg)) {
    if (IsFloat(*node.type_arg)) value.real = operand.real;
  }
  return value;
}

// __bar_sync(id, threads), __bar_arrive(id, threads)
Value Checker::CheckBarrierCall(ast::ExprId id, const ast::Call& node) {
  if (!NeedArguments(id, node, 2)) return ErrorValue();
  const auto barrier = NeedConstant(node.args[0], "the id of a named barrier");
  const auto count = NeedConstant(node.args[1], "the thread count of a named barrier");
  if (barrier && (*barrier < 1 || *barrier > 15)) {
    Report(diag::kinds::BarrierOperand, file_.exprs[node.args[0]].range,
           fmt::format("id {}", *barrier));
  }
  if (count && (*count <= 0 || *count > kMaxThreads || *count % kWarp != 0)) {
    Report(diag::kinds::BarrierOperand, file_.exprs[node.args[1]].range,
           fmt::format("a count of {}", *count));
  }
  Value value;
  value.type.kind = TypeKind::Void;
  return value;
}

}  // namespace choreo::sema
