// Units of work spread over bins so that the heaviest bin is as light as can be found.
// In: levels of units of equal cost, by descending cost; bins without units, whose loads are what
// they already have. Out: the levels of the units of each bin, by descending cost, and its load.
// Deterministic; ties go to the bin of lower number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.h"
#include "rebalance.h"

namespace schedule {

// Each unit, heaviest first, to the bin that has least; then exchanges between bins.
inline void Balance(const std::vector<Level>& levels, Bins& bins) {
  internal::LeastLoaded least(bins.load);
  for (size_t level = 0; level < levels.size(); ++level) {
    for (int64_t i = 0; i < levels[level].count; ++i) {
      bins.units[least.Take(levels[level].cost)].push_back(static_cast<int32_t>(level));
    }
  }
  internal::Rebalance(levels, bins);
}

}  // namespace schedule
