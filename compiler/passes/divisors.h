// Which power of two divides every value that an integer expression takes. Through a variable all
// that it is given is seen: immutable scalars, mutable ones, loop variables; of what the launch
// gives, the asserts of the host part tell. In: a kernel whose body is whole. Variables that are
// made later, and what nothing is known of, have the divisor 1.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.h"

namespace choreo::passes {

class Divisors {
 public:
  explicit Divisors(const ir::Kernel& kernel);

  // A power of two; of what is always zero the largest, 2^30.
  int64_t Of(ir::ExprId e) const;

 private:
  void Assume(ir::ExprId condition);
  bool Meet(ir::VarId var, int64_t divisor);
  int64_t OfBinary(const ir::Binary& binary, int bits) const;
  int64_t OfCall(const ir::Call& call) const;

  const ir::Kernel& kernel_;
  std::vector<int64_t> of_vars_;   // of each variable
  std::vector<int64_t> asserted_;  // what the host checks of it
};

}  // namespace choreo::passes
