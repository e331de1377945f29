// Which row fragments are known to hold no negative number at a place of a straight line: filled
// with a constant that is not negative, or the maximum of such a row and anything. Told of the ops
// of a region in their order.
#pragma once

#include <set>

#include "ir/ir.h"

namespace choreo::passes {

class NonNegativeRows {
 public:
  explicit NonNegativeRows(const ir::Kernel& kernel) : kernel_(kernel) {}
  bool Has(ir::StorageId row) const { return rows_.contains(row); }
  // The op has been executed.
  void Note(const ir::Op& op);

 private:
  bool IsNonNegative(ir::ExprId value) const;
  // The row that the op sets to a value that is not negative, or keeps so; invalid: none.
  ir::StorageId Set(const ir::Op& op) const;

  const ir::Kernel& kernel_;
  std::set<ir::StorageId> rows_;
};

}  // namespace choreo::passes
