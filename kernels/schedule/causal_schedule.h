// The task lists of persistent causal attention: which CTA computes which query tiles, in order.
// In: batch, heads and query tiles of a sequence; the number of bins (one a CTA); the fixed cost of
// a tile; how the lists are ordered. Out: one array of task words and the part of it that each bin
// owns. Must hold: every tile is in exactly one bin; the result depends on the arguments alone.
// Pure C++.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "pairs.h"
#include "sections.h"
#include "task_list.h"

namespace schedule {

// CHOREO_SCHED_FIXED_COST, or what the kernel wants otherwise.
inline int64_t FixedCostFromEnvironment(int64_t otherwise = kDefaultFixedCost) {
  const char* text = std::getenv("CHOREO_SCHED_FIXED_COST");
  if (text == nullptr || *text == '\0') return otherwise;
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

inline TaskList BuildCausalSchedule(const CausalShape& shape, int64_t bins,
                                    int64_t fixed_cost = kDefaultFixedCost,
                                    Order order = Order::Sections) {
  CheckSchedule(shape, bins, fixed_cost);
  const bool nothing = shape.batch * shape.heads * shape.tiles == 0;
  const CausalShape work = nothing ? CausalShape{} : shape;  // no heads or tiles to walk over
  return order == Order::Pairs ? internal::BuildPairs(work, bins, fixed_cost)
                               : internal::BuildSections(work, bins, fixed_cost);
}

}  // namespace schedule
