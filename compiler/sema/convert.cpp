// Implicit conversions of values: what narrows needs `__to`, constants that fit excepted.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

// Bits of the significand and the largest finite value.
struct FloatShape {
  int digits;
  double largest;
};
FloatShape ShapeOf(Elem elem) {
  switch (elem) {
    case Elem::kF16:
      return {11, 65504.0};
    case Elem::kBf16:
      return {8, 3.3895313892515355e38};
    case Elem::kF8E4M3:
      return {4, 448.0};
    case Elem::kF8E5M2:
      return {3, 57344.0};
    case Elem::kF64:
      return {53, std::numeric_limits<double>::max()};
    default:
      return {24, std::numeric_limits<float>::max()};
  }
}

bool IntegerFits(int64_t value, bool from_u64, Elem to) {
  if (Class(to) == ElemClass::Bool) return value == 0 || value == 1;
  if (IsFloat(to)) {
    const double real =
        from_u64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
    if (real == 0) return true;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(real), &exponent);
    const FloatShape shape = ShapeOf(to);
    const double scaled = std::ldexp(fraction, shape.digits);
    return std::fabs(real) <= shape.largest && scaled == std::floor(scaled);
  }
  if (from_u64 && value < 0) return to == Elem::kU64;
  const int bits = Bits(to);
  if (IsUnsigned(to)) return value >= 0 && (bits == 64 || value < (int64_t{1} << bits));
  if (bits == 64) return true;
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
}

bool RealFits(double value, Elem to) {
  if (IsFloat(to)) {
    if (std::isinf(value) || std::isnan(value)) return to != Elem::kF8E4M3;
    return std::fabs(value) <= ShapeOf(to).largest;
  }
  return std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 0x1p62 &&
         IntegerFits(static_cast<int64_t>(value), false, to);
}

bool Narrows(Elem from, Elem to) {
  if (from == to) return false;
  if (Class(from) == ElemClass::Bool) return false;
  if (IsFloat(from) && !IsFloat(to)) return true;
  return Bits(to) < Bits(from);
}

}  // namespace

bool Checker::FitsConstant(const Value& value, Elem to) const {
  if (value.constant) return IntegerFits(*value.constant, value.type.elem == Elem::kU64, to);
  return value.real && RealFits(*value.real, to);
}

// Whether the expression's value may become a `to` without a conversion in the source. `what` says
// what takes it, for the message. The expression has been checked.
bool Checker::Convert(ast::ExprId id, Elem to, std::string_view what) {
  const Value& value = values_[id.value];
  if (value.is_error()) return false;
  const SourceRange range = file_.exprs[id].range;
  if (value.type.kind != TypeKind::Scalar && value.type.kind != TypeKind::Bounded) {
    Report(diag::kinds::NotAScalar, range, what, Describe(value.type));
    return false;
  }
  const Elem from = value.type.elem;
  if (value.constant || value.real) {
    if (FitsConstant(value, to)) return true;
    if (Narrows(from, to) || IsInteger(to)) {
      const std::string text =
          value.constant
              ? (from == Elem::kU64 ? fmt::format("{}", static_cast<uint64_t>(*value.constant))
                                    : fmt::format("{}", *value.constant))
              : fmt::format("{}", *value.real);
      // -1 in an unsigned of the same width wraps, as in C++.
      if (value.constant && Bits(from) == Bits(to) && IsInteger(to)) return true;
      if (value.constant && IsUnsigned(to) && Bits(to) > Bits(from)) return true;
      Report(diag::kinds::ConstantDoesNotFit, range, text, Spelling(to), what);
      return false;
    }
    return true;
  }
  if (!Narrows(from, to)) return true;
  // An f64 that comes from a literal beside an f32 is that one mistake.
  std::vector<F64Warning> literals, others;
  for (const F64Warning& warning : f64_warnings_) {
    const bool inside = warning.literal.begin.file == range.begin.file &&
                        warning.literal.begin.offset >= range.begin.offset &&
                        warning.literal.end <= range.end;
    (inside ? literals : others).push_back(warning);
  }
  diag::Builder builder = Report(diag::kinds::Narrowing, range, Spelling(from), Spelling(to), what);
  if (from == Elem::kF64 && !IsInteger(to) && !literals.empty()) {
    f64_warnings_ = std::move(others);
    for (const F64Warning& warning : literals) {
      builder.Note(warning.literal, "this literal is `f64`; with an `f` it is `f32`");
    }
    return false;
  }
  if (SpelledInPlace(id)) {
    const bool wrapped = file_.exprs[id].parenthesized;
    builder.Fix(SourceRange(range.begin, range.begin.offset),
                fmt::format("__to<{}>{}", Spelling(to), wrapped ? "" : "("));
    if (!wrapped) builder.Fix(SourceRange({range.begin.file, range.end}, range.end), ")");
  }
  return false;
}

void Checker::WarnF64(ast::ExprId a, const Value& va, ast::ExprId b, const Value& vb) {
  const auto literal = [&](ast::ExprId id) {
    const auto* unary = file_.As<ast::Unary>(id);
    if (unary) id = unary->operand;
    const auto* node = file_.As<ast::FloatLiteral>(id);
    return node && node->type == Elem::kF64 ? std::optional(file_.exprs[id].range) : std::nullopt;
  };
  const auto narrow = [](const Value& value) {
    return value.type.kind == TypeKind::Scalar && IsFloat(value.type.elem) &&
           Bits(value.type.elem) <= 32;
  };
  if (const auto range = literal(a); range && narrow(vb)) {
    f64_warnings_.push_back({*range, vb.type.elem});
  } else if (const auto other = literal(b); other && narrow(va)) {
    f64_warnings_.push_back({*other, va.type.elem});
  }
}

void Checker::FlushWarnings() {
  for (const F64Warning& warning : f64_warnings_) {
    const std::string literal(sources_.Text(warning.literal));
    diag::Builder builder =
        Report(diag::kinds::F64BesideF32, warning.literal, literal, Spelling(warning.other));
    const bool plain =
        !literal.empty() && (literal[0] == '.' || (literal[0] >= '0' && literal[0] <= '9'));
    if (plain)
      builder.Fix(
          SourceRange({warning.literal.begin.file, warning.literal.end}, warning.literal.end), "f");
  }
  f64_warnings_.clear();
}

}  // namespace choreo::sema
