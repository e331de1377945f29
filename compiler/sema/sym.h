// Symbolic integers: polynomials with integer coefficients over atoms (dimensions, parameters,
// iteration variables, and opaque terms such as `cdiv(S, 128)`). Two integers are known to be equal
// if their polynomials are. Atoms carry what is known of their range, for indices that leave a
// tile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace choreo::sema {

using Atom = uint32_t;

class Poly {
 public:
  using Monomial = std::vector<Atom>;  // sorted; empty: the constant term

  Poly() = default;
  static Poly Constant(int64_t value);
  static Poly Of(Atom atom);

  std::optional<int64_t> constant() const;
  const std::map<Monomial, int64_t>& terms() const { return terms_; }
  bool operator==(const Poly&) const = default;

  // Nothing where a coefficient overflows or the polynomial grows beyond use.
  friend std::optional<Poly> Add(const Poly& a, const Poly& b);
  friend std::optional<Poly> Sub(const Poly& a, const Poly& b);
  friend std::optional<Poly> Mul(const Poly& a, const Poly& b);
  // The quotient where `b` divides every value of `a` for certain.
  friend std::optional<Poly> DivideExactly(const Poly& a, const Poly& b);
  // `atom` replaced by `by`.
  friend std::optional<Poly> Substitute(const Poly& a, Atom atom, const Poly& by);

 private:
  bool AddTerm(const Monomial& monomial, int64_t coefficient);
  std::map<Monomial, int64_t> terms_;
};

struct AtomInfo {
  std::string text;
  bool is_variable = false;    // takes every value of its range: parallel, loop and apply variables
  std::optional<int64_t> low;  // least value
  std::optional<Poly> high;    // greatest value
  std::vector<Atom> sources;   // variables that an opaque term depends on
};

// The least and greatest value of a polynomial. Exact: the end is reached, by some values of the
// variables.
struct Bounds {
  std::optional<int64_t> low, high;
  bool low_exact = true, high_exact = true;
};

class SymTable {
 public:
  Atom Intern(AtomInfo info);  // one atom a text
  const AtomInfo& info(Atom atom) const { return atoms_[atom]; }
  std::string Text(const Poly& poly) const;
  std::optional<Poly> FromText(const std::string& text) const;  // of a text made by Text
  Bounds BoundsOf(const Poly& poly) const;
  // Variables that occur in `poly`, also inside opaque terms; sorted.
  std::vector<Atom> Sources(const Poly& poly) const;

  // Replaces what is known of an atom (inside `inthreads`); returns the old range for Restore.
  struct Range {
    std::optional<int64_t> low;
    std::optional<Poly> high;
  };
  Range Narrow(Atom atom, int64_t low, int64_t high);
  void Restore(Atom atom, Range range);

  // What host assertions say: `atom` equals `value`; `value` is a multiple of `factor`.
  void AssumeEqual(const Poly& a, const Poly& b);
  void AssumeMultiple(const Poly& value, int64_t factor);
  bool KnownEqual(const Poly& a, const Poly& b) const;
  bool KnownMultiple(const Poly& value, int64_t factor) const;

 private:
  std::optional<int64_t> Extreme(Poly poly, bool greatest, bool* exact) const;
  Poly Rewrite(Poly poly) const;

  std::vector<AtomInfo> atoms_;
  std::unordered_map<std::string, Atom> by_text_;
  mutable std::unordered_map<std::string, Poly> printed_;
  std::vector<std::pair<Atom, Poly>> equal_;
  std::vector<std::pair<Poly, int64_t>> multiples_;
};

}  // namespace choreo::sema
