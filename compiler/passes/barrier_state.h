// Which storage has been accessed since the last barrier of all threads: what decides whether a
// copy needs a barrier in front of it.
#pragma once

#include <set>
#include <utility>

#include "ir/ir.h"
#include "ir/walk.h"

namespace choreo::passes {

struct BarrierState {
  std::set<ir::StorageId> reads, writes;
  // TMA stores that may still be reading their tile, by a number of the pass; barriers do not wait
  // for them.
  std::set<std::pair<ir::StorageId, int>> stores;

  bool Touched(ir::StorageId id) const { return reads.contains(id) || writes.contains(id); }
  void Clear() {
    reads.clear();
    writes.clear();
  }
  // Returns whether anything was new.
  bool Join(const BarrierState& other) {
    const size_t before = reads.size() + writes.size() + stores.size();
    stores.insert(other.stores.begin(), other.stores.end());
    reads.insert(other.reads.begin(), other.reads.end());
    writes.insert(other.writes.begin(), other.writes.end());
    return reads.size() + writes.size() + stores.size() != before;
  }
  void Add(const ir::StorageUse& use) {
    reads.insert(use.reads.begin(), use.reads.end());
    writes.insert(use.writes.begin(), use.writes.end());
  }
};

}  // namespace choreo::passes
