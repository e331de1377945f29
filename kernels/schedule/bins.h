// What the balance of units over bins works on: levels of equal units, and bins of them.
#pragma once

#include <cstdint>
#include <vector>

namespace schedule {

// `count` units that each cost `cost`: query tile `tile` of one entry, or of two at once.
struct Level {
  int64_t cost = 0, count = 0, tile = 0;
};

struct Bins {
  std::vector<std::vector<int32_t>> units;  // of each bin: indices of levels, ascending
  std::vector<int64_t> load;
};

namespace internal {

struct Loaded {
  int64_t load;
  int32_t bin;
  friend bool operator<(const Loaded& a, const Loaded& b) {
    return a.load != b.load ? a.load < b.load : a.bin < b.bin;
  }
};

}  // namespace internal

}  // namespace schedule
