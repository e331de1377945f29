// Whether a task list covers a shape: every tile in exactly one bin, once, and nothing else.
// In: a list and the shape it is for. Out: an empty text, or one that names the first tile or bin
// at fault. For tests, and for lists that another program has built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "causal_schedule.h"

namespace schedule {

namespace internal {

inline std::string TileText(const Task& task) {
  return "tile " + std::to_string(task.tile) + " of head " + std::to_string(task.head) +
         ", batch " + std::to_string(task.batch);
}

// Bins must divide the tasks among them, in order and without gaps.
inline std::string ValidateBins(const TaskList& list) {
  const auto tasks = static_cast<int64_t>(list.tasks.size());
  if (list.bins.empty() || list.bins.size() % 2 != 0) {
    return "the bins are not pairs of a begin and an end";
  }
  int64_t at = 0;
  for (size_t i = 0; i < list.bins.size(); i += 2) {
    const int64_t begin = list.bins[i], end = list.bins[i + 1];
    if (begin != at || end < begin || end > tasks) {
      return "bin " + std::to_string(i / 2) + " is tasks " + std::to_string(begin) + " to " +
             std::to_string(end) + ", but must begin at " + std::to_string(at) + " and end by " +
             std::to_string(tasks);
    }
    at = end;
  }
  if (at != tasks) return "task " + std::to_string(at) + " is in no bin";
  return "";
}

}  // namespace internal

inline std::string Validate(const TaskList& list, const CausalShape& shape) {
  if (std::string problem = internal::ValidateBins(list); !problem.empty()) return problem;
  const int64_t total = shape.batch * shape.heads * shape.tiles;
  std::vector<bool> seen(static_cast<size_t>(total));
  for (const uint64_t word : list.tasks) {
    const Task task = Unpack(word);
    if (task.tile >= shape.tiles || task.head >= shape.heads || task.batch >= shape.batch) {
      return internal::TileText(task) + " is not of this shape";
    }
    const int64_t at = (task.batch * shape.heads + task.head) * shape.tiles + task.tile;
    if (seen[at]) return internal::TileText(task) + " is listed twice";
    seen[at] = true;
  }
  for (int64_t at = 0; at < total; ++at) {
    if (seen[at]) continue;
    const int64_t entry = at / shape.tiles;
    return internal::TileText({at % shape.tiles, entry % shape.heads, entry / shape.heads}) +
           " is missing";
  }
  return "";
}

}  // namespace schedule
