// Extents as canonical texts, symbolic integers behind them, and what can be proved about indices.
#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"

namespace choreo::sema {

Extent Checker::ExtentOf(const Poly& poly) {
  if (const auto value = poly.constant()) return ExtentOf(*value);
  return {std::nullopt, syms_.Text(poly)};
}

Extent Checker::ExtentOf(const Value& value) {
  if (value.constant) return ExtentOf(*value.constant);
  if (value.poly) return ExtentOf(*value.poly);
  // An integer that may change: equal to no other.
  return ExtentOf(Opaque(fmt::format("?{}", ++name_uses_["?"]), {}, {}, 0, {}));
}

std::optional<Poly> Checker::PolyOf(const Extent& extent) const {
  if (extent.value) return Poly::Constant(*extent.value);
  return syms_.FromText(extent.text);
}

bool Checker::SameExtent(const Extent& a, const Extent& b) const {
  if (a == b) return true;
  const auto left = PolyOf(a), right = PolyOf(b);
  return left && right && syms_.KnownEqual(*left, *right);
}

bool Checker::SameExtents(const std::vector<Extent>& a, const std::vector<Extent>& b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Extent& x, const Extent& y) { return SameExtent(x, y); });
}

Value Checker::IntegerOf(const Extent& extent) {
  Value value = Plain(Elem::kS32);
  value.constant = extent.value;
  value.poly = PolyOf(extent);
  return value;
}

bool Checker::NeedExtent(SourceRange range, std::string_view what, int64_t value) {
  if (value > 0 && value < (int64_t{1} << 31)) return true;
  Report(diag::kinds::ExtentNotPositive, range, what, value);
  return false;
}

Poly Checker::Opaque(std::string text, const std::optional<Poly>& a, const std::optional<Poly>& b,
                     std::optional<int64_t> low, std::optional<Poly> high) {
  AtomInfo info;
  info.text = std::move(text);
  info.low = low;
  info.high = std::move(high);
  for (const std::optional<Poly>* part : {&a, &b}) {
    if (!*part) continue;
    const std::vector<Atom> sources = syms_.Sources(**part);
    info.sources.insert(info.sources.end(), sources.begin(), sources.end());
  }
  return Poly::Of(syms_.Intern(std::move(info)));
}

std::string Checker::ShapeText(const std::vector<Extent>& extents) const {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i != 0) text += ", ";
    text += extents[i].text;
  }
  return text + "]";
}

bool Checker::Guarded(const Poly& poly) const {
  if (guards_.all) return true;
  const std::vector<Atom> sources = syms_.Sources(poly);
  return std::any_of(sources.begin(), sources.end(),
                     [&](Atom atom) { return guards_.atoms.contains(atom); });
}

bool Checker::CanLeave(const Value& index, const std::optional<Poly>& end, bool* below,
                       bool* always) {
  std::optional<Poly> poly = index.poly;
  if (!poly && index.constant) poly = Poly::Constant(*index.constant);
  if (!poly) return false;
  const Bounds own = syms_.BoundsOf(*poly);
  // A loop that does not run reaches nothing.
  if (own.low && own.high && *own.low > *own.high) return false;
  const bool free = !Guarded(*poly);
  *below = true;
  *always = own.high && *own.high < 0;
  if (*always || (own.low_exact && free && own.low && *own.low < 0)) return true;
  const std::optional<Poly> beyond = end ? Sub(*poly, *end) : std::nullopt;
  if (!beyond) return false;
  const Bounds over = syms_.BoundsOf(*beyond);
  *below = false;
  *always = over.low && *over.low >= 0;
  return *always || (over.high_exact && free && over.high && *over.high >= 0);
}

std::string Checker::RangeText(const Value& index) const {
  std::optional<Poly> poly = index.poly;
  if (!poly && index.constant) poly = Poly::Constant(*index.constant);
  if (!poly) return "unknown";
  const Bounds bounds = syms_.BoundsOf(*poly);
  if (bounds.low && bounds.high && *bounds.low == *bounds.high) return std::to_string(*bounds.low);
  if (bounds.low && bounds.high) return fmt::format("{}…{}", *bounds.low, *bounds.high);
  return syms_.Text(*poly);
}

}  // namespace choreo::sema
