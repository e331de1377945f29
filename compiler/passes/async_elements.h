// Made-up values for elements of integer parameters that a kernel only reads: what lists of tasks
// may hold in a small launch. In: a tile-state kernel. Out: one value an element, the same wherever
// it is read. How a parameter is used says what its elements are: ends of ranges (they grow), words
// of several fields (the lowest is a small count, 0 included), links into the parameter itself, or
// plain numbers from 1.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "ir/ir.h"

namespace choreo::passes {

class ReadElements {
 public:
  explicit ReadElements(const ir::Kernel& kernel);
  // The element of a parameter at these indices in a launch of this size; none if the kernel
  // writes the parameter.
  std::optional<int64_t> Value(ir::StorageId storage, const std::vector<int64_t>& index,
                               int tiles) const;

 private:
  enum class Use : uint8_t { Written, Plain, Range, Packed, Link };
  using Views = std::set<ir::ViewId>;  // elements that a value was computed from

  void FollowVariables();
  void FindUses(ir::ExprId e);
  void FindRange(ir::ExprId low, ir::ExprId high);
  void Pack(const ir::Binary& node);
  Views Reach(ir::ExprId e) const;
  void SetUse(ir::StorageId storage, Use use);

  const ir::Kernel& kernel_;
  std::map<ir::VarId, Views> sources_;
  std::vector<Use> uses_;    // by storage
  std::vector<int> shifts_;  // by storage: where the second field of a word begins; 0: not known
};

}  // namespace choreo::passes
