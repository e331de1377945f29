// Task lists in pairs of heads: every bin of equal cost over all heads, then sorted by head.
// In: what task_list.h has checked. Out: the lists. Must hold: the tiles of a pair of entries
// (batch
// * heads + head) lie in one bin; each list is sorted by entry, each entry by descending tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance.h"
#include "locality.h"
#include "task_list.h"

namespace schedule {

namespace internal {

// Entries (batch * heads + head) are taken two at a time, so that a CTA that has loaded a tile's
// worth of one head goes on with its neighbour; one at a time where pairs would be too coarse.
struct Grouping {
  int64_t pairs = 0, singles = 0;  // groups: the pairs first, then single entries
  int64_t FirstEntry(int64_t group) const { return group < pairs ? 2 * group : pairs + group; }
  int64_t Entries(int64_t group) const { return group < pairs ? 2 : 1; }
};

inline Grouping Group(const CausalShape& shape, int64_t bins) {
  const int64_t entries = shape.batch * shape.heads, pairs = entries / 2;
  if (pairs * shape.tiles < 4 * bins) return {0, entries};
  return {pairs, entries % 2};
}

// Levels by descending cost, and which of them a pair and a single entry have units of.
struct Levels {
  std::vector<Level> all;
  std::vector<int32_t> of_pairs, of_singles;
};

inline Levels MakeLevels(const Grouping& grouping, int64_t tiles, int64_t fixed_cost) {
  Levels levels;
  int64_t pair = grouping.pairs > 0 ? tiles - 1 : -1;
  int64_t single = grouping.singles > 0 ? tiles - 1 : -1;
  while (pair >= 0 || single >= 0) {
    const int64_t pair_cost = pair < 0 ? 0 : 2 * TileCost(pair, fixed_cost);
    const int64_t single_cost = single < 0 ? 0 : TileCost(single, fixed_cost);
    const auto index = static_cast<int32_t>(levels.all.size());
    if (pair_cost >= single_cost) {
      levels.all.push_back({pair_cost, grouping.pairs, pair--});
      levels.of_pairs.push_back(index);
    } else {
      levels.all.push_back({single_cost, grouping.singles, single--});
      levels.of_singles.push_back(index);
    }
  }
  return levels;
}

inline std::vector<std::vector<Unit>> Arrange(const Grouping& grouping, const Levels& levels,
                                              const Bins& bins) {
  std::vector<std::vector<Unit>> order(bins.units.size());
  for (size_t b = 0; b < order.size(); ++b) order[b].reserve(bins.units[b].size());
  Arrangement arrangement(levels.all, bins);
  for (int64_t group = 0; group < grouping.pairs + grouping.singles; ++group) {
    for (const int32_t level : group < grouping.pairs ? levels.of_pairs : levels.of_singles) {
      order[arrangement.Take(level)].push_back({static_cast<int32_t>(group), level});
    }
  }
  return order;
}

// The units of a bin as task words, sorted by batch and head, each head by descending tile.
inline void AppendBin(const CausalShape& shape, const Grouping& grouping, const Levels& levels,
                      const std::vector<Unit>& units, TaskList& list) {
  list.bins.push_back(static_cast<int32_t>(list.tasks.size()));
  for (size_t begin = 0, end = 0; begin < units.size(); begin = end) {
    while (end < units.size() && units[end].group == units[begin].group) ++end;
    const int64_t group = units[begin].group, first = grouping.FirstEntry(group);
    for (int64_t entry = first; entry < first + grouping.Entries(group); ++entry) {
      const uint64_t word = Pack({0, entry % shape.heads, entry / shape.heads});
      for (size_t i = begin; i < end; ++i) {
        list.tasks.push_back(word | static_cast<uint64_t>(levels.all[units[i].level].tile));
      }
    }
  }
  list.bins.push_back(static_cast<int32_t>(list.tasks.size()));
}

inline TaskList BuildPairs(const CausalShape& shape, int64_t bins, int64_t fixed_cost) {
  const Grouping grouping = Group(shape, bins);
  const Levels levels = MakeLevels(grouping, shape.tiles, fixed_cost);
  Bins balanced{bins};
  Balance(levels.all, balanced);
  TaskList list;
  list.tasks.reserve(static_cast<size_t>(shape.batch * shape.heads * shape.tiles));
  list.bins.reserve(static_cast<size_t>(2 * bins));
  for (const auto& units : Arrange(grouping, levels, balanced)) {
    AppendBin(shape, grouping, levels, units, list);
  }
  return list;
}

}  // namespace internal

}  // namespace schedule
