// Names close to a mistyped one, for "did you mean" in diagnostics.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace choreo {

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, ignoring
// case; `limit` + 1 where there are more than `limit`.
size_t EditDistance(std::string_view a, std::string_view b, size_t limit);

// At most `count` of `candidates` that are plausibly meant by `name`, the closest first; equally
// close ones keep their order.
std::vector<std::string_view> ClosestNames(std::string_view name,
                                           std::span<const std::string_view> candidates,
                                           size_t count = 3);

}  // namespace choreo
