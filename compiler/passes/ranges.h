// Symbolic ranges: what launch parameters, loop bounds and the asserts of the host part prove about
// index expressions. Values are bounded by linear forms over parameters with rational coefficients.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/scope.h"

namespace choreo::passes {

class Ranges {
 public:
  explicit Ranges(const ir::Kernel& kernel);

  // Whether 0 <= first and first + length <= extent hold in every launch that passes the host's
  // asserts.
  bool Inside(ir::ExprId first, int64_t length, ir::ExprId extent) const;

 private:
  struct Rational {
    int64_t num = 0, den = 1;
  };
  // Σ coefficient · variable + constant; the constant stands at the invalid variable.
  using Form = std::map<ir::VarId, Rational>;

  void Collect(const ir::Region& region, ScopeTracker& scope);
  void Assume(ir::ExprId condition);
  ir::VarId Same(ir::VarId var) const;  // the representative of the variables asserted equal
  std::optional<Form> Linear(ir::ExprId e) const;
  // The largest (or smallest) value of the form, over dimensions only.
  std::optional<Form> Extreme(Form form, bool largest) const;
  bool NeverNegative(const Form& form) const;
  bool Divides(int64_t divisor, ir::VarId var) const;

  static void Add(Form& form, ir::VarId var, Rational r);
  static Form Sum(const Form& a, const Form& b, int64_t factor_of_b);

  const ir::Kernel& kernel_;
  std::unordered_map<ir::VarId, ir::ExprId> lets_;
  std::unordered_map<ir::VarId, std::pair<ir::ExprId, ir::ExprId>>
      bounds_;  // low, high (exclusive)
  // Values over the threads of a narrowed scope, smallest and largest.
  std::unordered_map<ir::VarId, std::pair<int64_t, int64_t>> exact_;
  std::unordered_map<ir::VarId, ir::VarId> equal_;
  std::set<std::pair<ir::VarId, int64_t>> divisible_;
};

}  // namespace choreo::passes
