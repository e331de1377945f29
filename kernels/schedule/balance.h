// Units of work spread over bins so that the heaviest bin is as light as can be found.
// In: levels of units of equal cost, by descending cost. Out: the levels of the units of each bin,
// by descending cost, and the load of each bin. Deterministic; ties go to the bin of lower number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.h"
#include "rebalance.h"

namespace schedule {

namespace internal {

// Each unit, heaviest first, to the bin that has least. The units of a level cost the same, so the
// bins that took one stay in the order in which they took it: two queues, merged by their fronts,
// do what a heap would.
inline Bins Distribute(const std::vector<Level>& levels, int64_t bins) {
  int64_t units = 0;
  for (const Level& level : levels) units += level.count;
  Bins result{std::vector<std::vector<int32_t>>(bins), std::vector<int64_t>(bins, 0)};
  if (units >= bins) {
    for (auto& unit : result.units) unit.reserve(static_cast<size_t>(units / bins * 5 / 4 + 8));
  }
  std::vector<Loaded> order, taken;
  for (int64_t b = 0; b < bins; ++b) order.push_back({0, static_cast<int32_t>(b)});
  for (size_t level = 0; level < levels.size(); ++level) {
    size_t waiting = 0, again = 0;  // fronts of `order` and of `taken`
    taken.clear();
    for (int64_t i = 0; i < levels[level].count; ++i) {
      const bool first_turn =
          again == taken.size() || (waiting < order.size() && order[waiting] < taken[again]);
      const Loaded least = first_turn ? order[waiting++] : taken[again++];
      result.units[least.bin].push_back(static_cast<int32_t>(level));
      taken.push_back({least.load + levels[level].cost, least.bin});
    }
    std::vector<Loaded> merged(order.size());
    std::merge(order.begin() + waiting, order.end(), taken.begin() + again, taken.end(),
               merged.begin());
    order.swap(merged);
  }
  for (const Loaded& one : order) result.load[one.bin] = one.load;
  return result;
}

}  // namespace internal

inline Bins Balance(const std::vector<Level>& levels, int64_t bins) {
  Bins result = internal::Distribute(levels, bins);
  internal::Rebalance(levels, result);
  return result;
}

}  // namespace schedule
