// Values that two warps compute alike: an expression as a linear form over atoms that name what it
// is made of and not the variables it went through. Equal forms have equal values, in whatever
// roles the expressions stand. In: scalars as they are given values, loops and parallel indices as
// they are entered.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/ir.h"

namespace choreo::passes {

// Σ coefficient · atom; the constant stands at the empty atom. No zero coefficients.
using UniformForm = std::map<std::string, int64_t>;

UniformForm Sum(const UniformForm& a, const UniformForm& b, int64_t factor_of_b);
// Nothing if neither is a constant: forms are linear.
std::optional<UniformForm> Product(const UniformForm& a, const UniformForm& b);
std::optional<int64_t> AsConstant(const UniformForm& form);

class UniformForms {
 public:
  explicit UniformForms(const ir::Kernel& kernel) : kernel_(&kernel) {}

  // From here on `var` has this value; nothing: it is not known.
  void Set(ir::VarId var, std::optional<UniformForm> form);
  // The turn of the loop at that depth: loops of other roles at the same depth are taken to turn
  // alike.
  static UniformForm Turn(int depth);
  // A parallel index that is the same in all threads of the warp.
  void SetIndex(ir::VarId var, int64_t value) { known_[var] = {{"", value}}; }

  // Nothing: the value may change with what only this warp knows (lane indices, memory that the
  // kernel writes).
  std::optional<UniformForm> Of(ir::ExprId e) const;
  std::optional<UniformForm> Of(ir::VarId var) const;  // of one that was given a value

 private:
  std::optional<std::string> Atom(ir::ExprId e) const;
  std::optional<std::string> Element(const ir::View& view) const;
  std::optional<UniformForm> OfBinary(const ir::Binary& node, ir::ExprId e) const;
  bool IsReadOnly(ir::StorageId id) const;

  const ir::Kernel* kernel_;
  std::unordered_map<ir::VarId, UniformForm> known_;
};

}  // namespace choreo::passes
