// Fragments that need not exist as a whole: an unrolled loop makes all their elements, and unrolled
// loops behind it in the same straight line are all that reads them, while what they were made from
// stays. Each element can be made where it is used. In: lowered fragments, as loops over registers.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/ir.h"

namespace choreo::passes {

bool IsUnrolled(const ir::Op& op);
// The fragment that the op overwrites as a whole without reading it first.
ir::StorageId FullyWritten(const ir::Kernel& kernel, const ir::Op& op);
// Where in `region` the unrolled loops stand that read `made` behind the op at `start`, which makes
// it, as far as neither it nor what it is made from changes.
std::vector<size_t> StreamedReaders(const ir::Kernel& kernel, const ir::Region& region,
                                    size_t start, ir::StorageId made);

class Streamed {
 public:
  explicit Streamed(const ir::Kernel& kernel);
  bool Has(ir::StorageId id) const { return made_.contains(id); }

 private:
  void Visit(const ir::Region& region);

  const ir::Kernel& kernel_;
  std::set<ir::StorageId> made_;
  std::map<ir::StorageId, int> reads_;  // that streaming explains, less those that there are
};

}  // namespace choreo::passes
