// Task lists in the order of time: each tile goes to the CTA that is free first, a section of heads
// after the other, so that all CTAs work on the keys and values of few heads, which stay in L2.
// In: what task_list.h has checked. Out: the lists. Must hold: in every bin entries (batch * heads
// + head) come by sections, and within a section tiles descend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "balance.h"
#include "task_list.h"

namespace schedule {

namespace internal {

// Consecutive entries: sections of `size`, then `last` of them as one section. The last section is
// what all bins need to finish one longest tile: long enough to level out what the bins differ by
// before it. Half of that is a section elsewhere, since its heads are read at the same time. With
// few tasks a bin only all of them together can be balanced.
struct Sections {
  Sections(const CausalShape& shape, int64_t bins) : entries(shape.batch * shape.heads) {
    // An entry costs about tiles * (tiles + 1), a longest tile 2 * tiles: their ratio, rounded.
    const int64_t tiles = shape.tiles + 1;
    const int64_t together = std::max<int64_t>((4 * bins + tiles) / (2 * tiles), 1);
    size = std::max<int64_t>(together / 2, 1);
    const bool few = entries * shape.tiles <= kFewTasks * bins;
    last = few ? entries : std::min(together, entries);
  }
  static constexpr int64_t kFewTasks = 4;
  int64_t entries, size, last;
};

class SectionLists {
 public:
  SectionLists(const CausalShape& shape, int64_t bins, int64_t fixed_cost)
      : shape_(shape), fixed_cost_(fixed_cost), bins_(bins) {
    places_.reserve(static_cast<size_t>(shape.batch * shape.heads * shape.tiles));
  }

  TaskList Build() {
    const Sections sections(shape_, static_cast<int64_t>(bins_.load.size()));
    const int64_t tail = sections.entries - sections.last;
    for (int64_t first = 0; first < tail; first += sections.size) {
      Deal(first, std::min(first + sections.size, tail));
    }
    DealLast(tail, sections.last);
    return Gathered();
  }

 private:
  struct Place {
    uint64_t word;
    int32_t bin;
  };

  void Put(int64_t entry, int64_t tile, int32_t bin) {
    places_.push_back({Pack({tile, entry % shape_.heads, entry / shape_.heads}), bin});
  }

  void Deal(int64_t first, int64_t end) {
    for (int64_t tile = shape_.tiles - 1; tile >= 0; --tile) {
      for (int64_t entry = first; entry < end; ++entry) {
        Put(entry, tile, least_.Take(TileCost(tile, fixed_cost_)));
      }
    }
  }

  // The last section levels the loads: exchanges within it do not touch the order of the others.
  void DealLast(int64_t first, int64_t count) {
    std::vector<Level> levels;
    for (int64_t tile = shape_.tiles - 1; tile >= 0; --tile) {
      levels.push_back({TileCost(tile, fixed_cost_), count, tile});
    }
    Balance(levels, bins_);
    std::vector<int64_t> next(levels.size(), first);  // entry of each level
    for (size_t bin = 0; bin < bins_.units.size(); ++bin) {
      for (const int32_t level : bins_.units[bin]) {
        Put(next[level]++, levels[level].tile, static_cast<int32_t>(bin));
      }
    }
  }

  // The places by bin, those of a bin in the order in which they were taken.
  TaskList Gathered() const {
    const size_t bins = bins_.load.size();
    std::vector<int32_t> at(bins + 1, 0);
    for (const Place& place : places_) ++at[place.bin + 1];
    TaskList list;
    for (size_t bin = 0; bin < bins; ++bin) {
      list.bins.push_back(at[bin]);
      list.bins.push_back(at[bin + 1] += at[bin]);
    }
    list.tasks.resize(places_.size());
    for (const Place& place : places_) list.tasks[at[place.bin]++] = place.word;
    return list;
  }

  const CausalShape shape_;
  const int64_t fixed_cost_;
  Bins bins_;
  LeastLoaded least_{bins_.load};
  std::vector<Place> places_;  // in the order in which tasks start, but for the last section
};

inline TaskList BuildSections(const CausalShape& shape, int64_t bins, int64_t fixed_cost) {
  return SectionLists(shape, bins, fixed_cost).Build();
}

}  // namespace internal

}  // namespace schedule
