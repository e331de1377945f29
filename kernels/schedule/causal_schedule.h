// The task lists of persistent causal attention: which CTA computes which query tiles, in order.
// In: batch, heads and query tiles of a sequence; the number of bins (one a CTA); the fixed cost of
// a tile. Out: one array of task words and the part of it that each bin owns.
// Must hold: every tile is in exactly one bin; the result depends on the arguments alone. Pure C++.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "balance.h"
#include "locality.h"
#include "task_word.h"

namespace schedule {

inline constexpr int64_t kMaxBins = int64_t{1} << 20;
inline constexpr int64_t kMaxTasks = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kDefaultFixedCost = 4, kMaxFixedCost = int64_t{1} << 20;

struct CausalShape {
  int64_t batch = 0, heads = 0, tiles = 0;
  friend bool operator==(const CausalShape&, const CausalShape&) = default;
};

struct TaskList {
  std::vector<uint64_t> tasks;  // words of task_word.h
  std::vector<int32_t> bins;    // two a bin: where its tasks begin and end
};

// The estimate that the balance goes by: two matrix products with each KV tile up to the diagonal,
// and what a tile costs whatever its length.
inline int64_t TileCost(int64_t tile, int64_t fixed_cost) { return 2 * (tile + 1) + fixed_cost; }

// Refuses by name what task words, bins or tile functions cannot hold.
inline void CheckSchedule(const CausalShape& shape, int64_t bins, int64_t fixed_cost) {
  CheckRange("batch", shape.batch, 0, kMaxBatch);
  CheckRange("heads", shape.heads, 0, kMaxHeads);
  CheckRange("query tiles", shape.tiles, 0, kMaxTiles);
  CheckRange("the number of bins", bins, 1, kMaxBins);
  CheckRange("the fixed cost of a tile", fixed_cost, 0, kMaxFixedCost);
  const int64_t entries = shape.batch * shape.heads;
  if (shape.tiles == 0 || entries <= kMaxTasks / shape.tiles) return;
  throw choreo::error(choreo::status::invalid_argument,
                      "schedule: batch * heads is " + std::to_string(entries) +
                          ", but must be from 0 to " + std::to_string(kMaxTasks / shape.tiles) +
                          " (" + std::to_string(shape.tiles) + " query tiles, at most " +
                          std::to_string(kMaxTasks) + " tasks)");
}

// CHOREO_SCHED_FIXED_COST, or the default.
inline int64_t FixedCostFromEnvironment() {
  const char* text = std::getenv("CHOREO_SCHED_FIXED_COST");
  if (text == nullptr || *text == '\0') return kDefaultFixedCost;
  const std::string_view value = text;
  int64_t cost = 0;
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), cost);
  if (code != std::errc() || end != value.data() + value.size() || cost < 0 ||
      cost > kMaxFixedCost) {
    throw choreo::error(choreo::status::invalid_argument,
                        "environment variable `CHOREO_SCHED_FIXED_COST`: `" + std::string(value) +
                            "` is not an integer from 0 to " + std::to_string(kMaxFixedCost));
  }
  return cost;
}

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

}  // namespace internal

inline TaskList BuildCausalSchedule(const CausalShape& shape, int64_t bins,
                                    int64_t fixed_cost = kDefaultFixedCost) {
  CheckSchedule(shape, bins, fixed_cost);
  const internal::Grouping grouping = internal::Group(shape, bins);
  const internal::Levels levels = internal::MakeLevels(grouping, shape.tiles, fixed_cost);
  const auto order = internal::Arrange(grouping, levels, Balance(levels.all, bins));
  TaskList list;
  list.tasks.reserve(static_cast<size_t>(shape.batch * shape.heads * shape.tiles));
  list.bins.reserve(static_cast<size_t>(2 * bins));
  for (const auto& units : order) {
    internal::AppendBin(shape, grouping, levels, units, list);
  }
  return list;
}

}  // namespace schedule
