// Which head's unit fills which place of the balanced bins, so that CTAs that run at the same time
// read the keys and values of few heads.
// In: the bins of the balance, and the groups (a pair of entries, or one) that have one unit each
// of their levels. Out: the units of each bin in the order in which its CTA takes them: by group,
// and within a group by level. Loads stay as they are, because the units of a level cost the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.h"

namespace schedule {

struct Unit {
  int32_t group, level;
};

namespace internal {

// CTAs walk their lists at about the same pace, so the cost that a bin has taken is its clock. The
// groups go in order, and each unit of a group goes to the bin with the earliest clock that has a
// free place of its level: a group's units then start close to one another in time.
class Arrangement {
 public:
  Arrangement(const std::vector<Level>& levels, const Bins& bins)
      : levels_(levels), places_(levels.size()) {
    const size_t n = bins.units.size();
    clocks_.assign(2 * n, 0);
    heavy_.assign(n, 0);
    light_.assign(n, 0);
    for (size_t b = 0; b < n; ++b) AddPlaces(static_cast<int32_t>(b), bins.units[b]);
  }

  // The bin that takes the next group's unit of `level`.
  int32_t Take(int32_t level) {
    Places& places = places_[level];
    const size_t at = Earliest(places.keys);
    const int32_t key = places.keys[at], bin = key / 2;
    if (--places.free[at] == 0) {
      places.keys[at] = places.keys.back();
      places.free[at] = places.free.back();
      places.keys.pop_back();
      places.free.pop_back();
    }
    --(key % 2 == 1 ? heavy_ : light_)[bin];
    clocks_[2 * bin + 1] += static_cast<uint64_t>(levels_[level].cost) * kWindow;
    UpdateLightClock(bin);
    return bin;
  }

 private:
  // The bins with free places of one level, and how many. A bin has two clocks: 2 * bin + 1 counts
  // where no tile of the bin is heavier, else 2 * bin.
  struct Places {
    std::vector<int32_t> keys, free;
  };

  // The least of clock and index in one word: a comparison a place, without a branch that could not
  // be predicted. The window bounds the time for shapes of very many heads on very many bins, at
  // the cost of some locality.
  size_t Earliest(const std::vector<int32_t>& keys) const {
    const size_t window = std::min(keys.size(), kWindow);
    const auto at = [&](size_t i) { return clocks_[keys[i]] | i; };
    uint64_t even = at(0), odd = even;
    size_t i = 1;
    for (; i + 1 < window; i += 2) {
      odd = std::min(odd, at(i));
      even = std::min(even, at(i + 1));
    }
    if (i < window) odd = std::min(odd, at(i));
    return std::min(even, odd) % kWindow;
  }

  void AddPlaces(int32_t bin, const std::vector<int32_t>& units) {
    int64_t heaviest = 0;
    for (const int32_t level : units) heaviest = std::max(heaviest, levels_[level].tile);
    for (const int32_t level : units) {
      const bool heavy = levels_[level].tile == heaviest;
      const int32_t key = 2 * bin + heavy;
      Places& places = places_[level];
      if (!places.keys.empty() && places.keys.back() == key) {
        ++places.free.back();
      } else {
        places.keys.push_back(key);
        places.free.push_back(1);
      }
      ++(heavy ? heavy_ : light_)[bin];
    }
    UpdateLightClock(bin);
  }

  // A bin gives its last light tile only once its heavy ones are gone, if others can serve: the
  // shorter the last task of a CTA is, the less it waits for the others at the end.
  void UpdateLightClock(int32_t bin) {
    const bool keep = light_[bin] == 1 && heavy_[bin] > 0;
    clocks_[2 * bin] = clocks_[2 * bin + 1] + (keep ? kLate : 0);
  }

  static constexpr size_t kWindow = 256;
  static constexpr uint64_t kLate = uint64_t{1} << 63;  // after every clock

  const std::vector<Level>& levels_;
  std::vector<Places> places_;          // of each level
  std::vector<uint64_t> clocks_;        // two of each bin, in units of kWindow
  std::vector<int32_t> heavy_, light_;  // units that each bin still has to take
};

}  // namespace internal

}  // namespace schedule
