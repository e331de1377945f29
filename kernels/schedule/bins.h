// What the balance of units over bins works on: levels of equal units, bins of them, and the bin
// that has least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace schedule {

// `count` units that each cost `cost`: query tile `tile` of one entry, or of two at once.
struct Level {
  int64_t cost = 0, count = 0, tile = 0;
};

struct Bins {
  explicit Bins(int64_t count) : units(count), load(count, 0) {}
  std::vector<std::vector<int32_t>> units;  // of each bin: indices of levels, ascending
  std::vector<int64_t> load;                // of its units, and of what it had before them
};

namespace internal {

struct Loaded {
  int64_t load;
  int32_t bin;
  friend bool operator<(const Loaded& a, const Loaded& b) {
    return a.load != b.load ? a.load < b.load : a.bin < b.bin;
  }
};

// The bin with the least load, of several the one of lowest number: a binary heap whose top grows.
class LeastLoaded {
 public:
  explicit LeastLoaded(std::vector<int64_t>& load) : load_(load) {
    for (size_t b = 0; b < load.size(); ++b) heap_.push_back({load[b], static_cast<int32_t>(b)});
    for (size_t i = heap_.size() / 2; i-- > 0;) Sink(i);
  }

  // Gives it `cost` more.
  int32_t Take(int64_t cost) {
    const int32_t bin = heap_[0].bin;
    load_[bin] = heap_[0].load += cost;
    Sink(0);
    return bin;
  }

 private:
  void Sink(size_t at) {
    const Loaded moved = heap_[at];
    for (size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moved)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = moved;
  }

  std::vector<int64_t>& load_;
  std::vector<Loaded> heap_;
};

}  // namespace internal

}  // namespace schedule
