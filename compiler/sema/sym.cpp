#include "sema/sym.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace choreo::sema {
namespace {

constexpr size_t kMaxTerms = 48;

}  // namespace

Poly Poly::Constant(int64_t value) {
  Poly poly;
  if (value != 0) poly.terms_[{}] = value;
  return poly;
}

Poly Poly::Of(Atom atom) {
  Poly poly;
  poly.terms_[{atom}] = 1;
  return poly;
}

std::optional<int64_t> Poly::constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

bool Poly::AddTerm(const Monomial& monomial, int64_t coefficient) {
  int64_t& slot = terms_[monomial];
  if (__builtin_add_overflow(slot, coefficient, &slot)) return false;
  if (slot == 0) terms_.erase(monomial);
  return terms_.size() <= kMaxTerms;
}

std::optional<Poly> Add(const Poly& a, const Poly& b) {
  Poly sum = a;
  for (const auto& [monomial, coefficient] : b.terms_) {
    if (!sum.AddTerm(monomial, coefficient)) return std::nullopt;
  }
  return sum;
}

std::optional<Poly> Sub(const Poly& a, const Poly& b) {
  Poly difference = a;
  for (const auto& [monomial, coefficient] : b.terms_) {
    if (coefficient == INT64_MIN || !difference.AddTerm(monomial, -coefficient)) {
      return std::nullopt;
    }
  }
  return difference;
}

std::optional<Poly> Mul(const Poly& a, const Poly& b) {
  Poly product;
  for (const auto& [left, left_coefficient] : a.terms_) {
    for (const auto& [right, right_coefficient] : b.terms_) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(left_coefficient, right_coefficient, &coefficient)) {
        return std::nullopt;
      }
      Poly::Monomial monomial;
      std::merge(left.begin(), left.end(), right.begin(), right.end(),
                 std::back_inserter(monomial));
      if (monomial.size() > 8 || !product.AddTerm(monomial, coefficient)) return std::nullopt;
    }
  }
  return product;
}

std::optional<Poly> DivideExactly(const Poly& a, const Poly& b) {
  if (b.terms_.size() != 1) return a == b ? std::optional(Poly::Constant(1)) : std::nullopt;
  const auto& [divisor, factor] = *b.terms_.begin();
  Poly quotient;
  for (const auto& [monomial, coefficient] : a.terms_) {
    if (!std::includes(monomial.begin(), monomial.end(), divisor.begin(), divisor.end()) ||
        (factor == -1 && coefficient == INT64_MIN) || coefficient % factor != 0) {
      return std::nullopt;
    }
    Poly::Monomial rest;
    std::set_difference(monomial.begin(), monomial.end(), divisor.begin(), divisor.end(),
                        std::back_inserter(rest));
    if (!quotient.AddTerm(rest, coefficient / factor)) return std::nullopt;
  }
  return quotient;
}

std::optional<Poly> Substitute(const Poly& a, Atom atom, const Poly& by) {
  Poly result;
  for (const auto& [monomial, coefficient] : a.terms_) {
    Poly::Monomial rest;
    std::optional<Poly> term = Poly::Constant(coefficient);
    for (const Atom factor : monomial) {
      if (factor != atom) {
        rest.push_back(factor);
      } else if (term) {
        term = Mul(*term, by);
      }
    }
    if (!term) return std::nullopt;
    Poly factor;
    factor.terms_[rest] = 1;
    term = Mul(*term, factor);
    if (!term) return std::nullopt;
    std::optional<Poly> sum = Add(result, *term);
    if (!sum) return std::nullopt;
    result = std::move(*sum);
  }
  return result;
}

Atom SymTable::Intern(AtomInfo info) {
  const auto [it, is_new] = by_text_.try_emplace(info.text, static_cast<Atom>(atoms_.size()));
  if (is_new) atoms_.push_back(std::move(info));
  return it->second;
}

std::string SymTable::Text(const Poly& poly) const {
  if (const auto value = poly.constant()) return std::to_string(*value);
  std::string text;
  const auto append = [&](const Poly::Monomial& monomial, int64_t coefficient) {
    const bool negative = coefficient < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    std::string factors;
    if (magnitude != 1 || monomial.empty()) factors = std::to_string(magnitude);
    for (const Atom atom : monomial) {
      if (!factors.empty()) factors += " * ";
      factors += atoms_[atom].text;
    }
    text += factors;
  };
  for (const auto& [monomial, coefficient] : poly.terms()) {
    if (!monomial.empty()) append(monomial, coefficient);
  }
  if (const auto it = poly.terms().find({}); it != poly.terms().end()) append({}, it->second);
  printed_.try_emplace(text, poly);
  return text;
}

std::optional<Poly> SymTable::FromText(const std::string& text) const {
  const auto it = printed_.find(text);
  return it == printed_.end() ? std::nullopt : std::optional(it->second);
}

std::vector<Atom> SymTable::Sources(const Poly& poly) const {
  std::vector<Atom> sources;
  for (const auto& [monomial, coefficient] : poly.terms()) {
    for (const Atom atom : monomial) {
      if (atoms_[atom].is_variable) sources.push_back(atom);
      sources.insert(sources.end(), atoms_[atom].sources.begin(), atoms_[atom].sources.end());
    }
  }
  std::sort(sources.begin(), sources.end());
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

SymTable::Range SymTable::Narrow(Atom atom, int64_t low, int64_t high) {
  Range old{atoms_[atom].low, atoms_[atom].high};
  atoms_[atom].low = low;
  atoms_[atom].high = Poly::Constant(high);
  return old;
}

void SymTable::Restore(Atom atom, Range range) {
  atoms_[atom].low = range.low;
  atoms_[atom].high = std::move(range.high);
}

Bounds SymTable::BoundsOf(const Poly& poly) const {
  Bounds bounds;
  bounds.low = Extreme(poly, false, &bounds.low_exact);
  bounds.high = Extreme(poly, true, &bounds.high_exact);
  return bounds;
}

// Replaces one atom after the other by the end of its range, the latest first: its range may depend
// on earlier ones. An atom may only stand in terms of one sign, beside factors that are not
// negative.
std::optional<int64_t> SymTable::Extreme(Poly poly, bool greatest, bool* exact) const {
  for (int steps = 0; steps < 64; ++steps) {
    if (const auto value = poly.constant()) return value;
    Atom latest = 0;
    for (const auto& [monomial, coefficient] : poly.terms()) {
      if (!monomial.empty()) latest = std::max(latest, monomial.back());
    }
    int sign = 0;
    for (const auto& [monomial, coefficient] : poly.terms()) {
      const auto count = std::count(monomial.begin(), monomial.end(), latest);
      if (count == 0) continue;
      const int term_sign = coefficient > 0 ? 1 : -1;
      if (sign != 0 && sign != term_sign) return std::nullopt;
      sign = term_sign;
      if (monomial.size() == 1) continue;
      for (const Atom factor : monomial) {
        if (!atoms_[factor].low || *atoms_[factor].low < 0) return std::nullopt;
      }
    }
    const AtomInfo& info = atoms_[latest];
    if (!info.is_variable) *exact = false;
    const bool take_high = (sign > 0) == greatest;
    std::optional<Poly> end;
    if (take_high) {
      end = info.high;
    } else if (info.low) {
      end = Poly::Constant(*info.low);
    }
    if (!end) return std::nullopt;
    std::optional<Poly> next = Substitute(poly, latest, *end);
    if (!next) return std::nullopt;
    poly = std::move(*next);
  }
  return std::nullopt;
}

void SymTable::AssumeEqual(const Poly& a, const Poly& b) {
  const auto single = [](const Poly& poly) -> std::optional<Atom> {
    if (poly.terms().size() != 1) return std::nullopt;
    const auto& [monomial, coefficient] = *poly.terms().begin();
    if (monomial.size() != 1 || coefficient != 1) return std::nullopt;
    return monomial.front();
  };
  const Poly left = Rewrite(a), right = Rewrite(b);
  if (left == right) return;
  const auto mentions = [](const Poly& poly, Atom atom) {
    return std::any_of(poly.terms().begin(), poly.terms().end(), [&](const auto& term) {
      return std::count(term.first.begin(), term.first.end(), atom) != 0;
    });
  };
  if (const auto atom = single(left); atom && !mentions(right, *atom)) {
    equal_.emplace_back(*atom, right);
  } else if (const auto other = single(right); other && !mentions(left, *other)) {
    equal_.emplace_back(*other, left);
  }
}

void SymTable::AssumeMultiple(const Poly& value, int64_t factor) {
  if (factor > 0) multiples_.emplace_back(value, factor);
}

Poly SymTable::Rewrite(Poly poly) const {
  for (const auto& [atom, value] : equal_) {
    if (std::optional<Poly> next = Substitute(poly, atom, value)) poly = std::move(*next);
  }
  return poly;
}

bool SymTable::KnownEqual(const Poly& a, const Poly& b) const {
  return a == b || Rewrite(a) == Rewrite(b);
}

bool SymTable::KnownMultiple(const Poly& value, int64_t factor) const {
  const Poly rewritten = Rewrite(value);
  if (DivideExactly(rewritten, Poly::Constant(factor))) return true;
  // Each term is a multiple: by its coefficient together with what is known of its atoms.
  for (const auto& [monomial, coefficient] : rewritten.terms()) {
    const int64_t known = std::gcd(coefficient, factor);
    int64_t gained = 1;
    for (const auto& [multiple, of] : multiples_) {
      const Poly assumed = Rewrite(multiple);
      if (assumed.terms().size() != 1 || assumed.terms().begin()->second != 1) continue;
      const Poly::Monomial& base = assumed.terms().begin()->first;
      if (!base.empty() &&
          std::includes(monomial.begin(), monomial.end(), base.begin(), base.end()))
        gained = std::max(gained, std::gcd(of, factor / known));
    }
    if (known * gained % factor != 0) return false;
  }
  return true;
}

}  // namespace choreo::sema
