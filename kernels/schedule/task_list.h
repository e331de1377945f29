// What the task lists of persistent causal attention are made for, and of: shape, order, words,
// bins. In: batch, heads and query tiles of a sequence; the number of bins (one a CTA); the fixed
// cost of a tile. Out: their types, the estimated cost of a tile, and a refusal by name of what
// task words, bins or tile functions cannot hold.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "task_word.h"

namespace schedule {

inline constexpr int64_t kMaxBins = int64_t{1} << 20;
inline constexpr int64_t kMaxTasks = std::numeric_limits<int32_t>::max();
inline constexpr int64_t kDefaultFixedCost = 4, kMaxFixedCost = int64_t{1} << 20;

struct CausalShape {
  int64_t batch = 0, heads = 0, tiles = 0;
  friend bool operator==(const CausalShape&, const CausalShape&) = default;
};

// Sections: few heads at a time, tiles in the order in which they start (sections.h). Pairs: pairs
// of heads, each list sorted by head (pairs.h).
enum class Order { Sections, Pairs };

inline const char* OrderName(Order order) { return order == Order::Pairs ? "pairs" : "sections"; }

struct TaskList {
  std::vector<uint64_t> tasks;  // words of task_word.h
  std::vector<int32_t> bins;    // two a bin: where its tasks begin and end
};

// The estimate that the balance goes by: two matrix products with each KV tile up to the diagonal,
// and what a tile costs whatever its length.
inline int64_t TileCost(int64_t tile, int64_t fixed_cost) { return 2 * (tile + 1) + fixed_cost; }

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

}  // namespace schedule
