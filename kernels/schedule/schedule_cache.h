// Task lists on the device, built and uploaded once for each device, shape, number of bins, fixed
// cost and order. Works on both targets. In: those, and the stream of the caller. Out: views of
// device memory, which live as long as the cache or a copy of the returned pointer; and what
// building and uploading took, in milliseconds. Must hold: Get returns lists whose upload has
// completed (Buffer::upload waits for its stream), so a kernel on any stream may read them. The
// first Get of a shape therefore must not be under graph capture; the later ones touch no stream.
// Calls from several threads are safe: one builds, those that want the same list wait for it, the
// others do not.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "causal_schedule.h"
#include "choreo/runtime.h"

namespace schedule {

struct DeviceSchedule {
  choreo::view<const uint64_t, 1> tasks;  // [TASKS], words of task_word.h
  choreo::view<const int32_t, 2> bins;    // [CTAS, 2], where each CTA's tasks begin and end
  CausalShape shape;
  int64_t fixed_cost = 0;
  Order order = Order::Sections;
  double build_ms = 0, upload_ms = 0;
  double imbalance = 1;  // estimated load of the heaviest bin over the mean of all

  int64_t task_count() const { return tasks.extent[0]; }
  int64_t bin_count() const { return bins.extent[0]; }
};

// The estimated load of the heaviest bin over the mean; 1 if there is nothing to do.
inline double Imbalance(const TaskList& list, int64_t fixed_cost) {
  int64_t heaviest = 0, total = 0;
  for (size_t bin = 0; bin < list.bins.size(); bin += 2) {
    int64_t load = 0;
    for (int32_t i = list.bins[bin]; i < list.bins[bin + 1]; ++i) {
      load += TileCost(Unpack(list.tasks[i]).tile, fixed_cost);
    }
    heaviest = std::max(heaviest, load);
    total += load;
  }
  if (total == 0) return 1;
  return static_cast<double>(heaviest) * static_cast<double>(list.bins.size() / 2) /
         static_cast<double>(total);
}

class ScheduleCache {
 public:
  std::shared_ptr<const DeviceSchedule> Get(const CausalShape& shape, int64_t bins,
                                            int64_t fixed_cost, Order order,
                                            choreo::Stream stream) {
    CheckSchedule(shape, bins, fixed_cost);
    const std::shared_ptr<Entry> entry =
        Find({CurrentDevice(), shape.batch, shape.heads, shape.tiles, bins, fixed_cost, order});
    const std::lock_guard<std::mutex> lock(entry->mutex);
    // What throws on the way leaves the entry empty, and the next call tries again.
    if (entry->lists == nullptr) entry->lists = Upload(shape, bins, fixed_cost, order, stream);
    // The pointer shares ownership of the buffers.
    return {entry->lists, &entry->lists->schedule};
  }

  // Forgets every list; those still held by a caller stay alive. For callers whose shapes go on
  // changing: the cache itself never forgets.
  void Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
  }

 private:
  // Device, batch, heads, tiles, bins, fixed cost, order.
  using Key = std::tuple<int, int64_t, int64_t, int64_t, int64_t, int64_t, Order>;

  struct Lists {
    explicit Lists(const TaskList& list)
        : tasks(std::max<int64_t>(static_cast<int64_t>(list.tasks.size()), 1)),
          bins(static_cast<int64_t>(list.bins.size())) {}
    choreo::Buffer<uint64_t> tasks;  // never of size 0, so that the view has an address
    choreo::Buffer<int32_t> bins;
    DeviceSchedule schedule{};
  };

  struct Entry {
    std::mutex mutex;
    std::shared_ptr<Lists> lists;
  };

  static int CurrentDevice() {
    int device = 0;
#ifndef CHOREO_TARGET_SIM
    choreo::host::check_cuda(cudaGetDevice(&device), "cudaGetDevice");
#endif
    return device;
  }

  std::shared_ptr<Entry> Find(const Key& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) entry = std::make_shared<Entry>();
    return entry;
  }

  static std::shared_ptr<Lists> Upload(const CausalShape& shape, int64_t bins, int64_t fixed_cost,
                                       Order order, choreo::Stream stream) {
    using Clock = std::chrono::steady_clock;
    const auto ms = [](Clock::time_point from, Clock::time_point to) {
      return std::chrono::duration<double, std::milli>(to - from).count();
    };
    const auto start = Clock::now();
    const TaskList list = BuildCausalSchedule(shape, bins, fixed_cost, order);
    const auto built = Clock::now();
    auto lists = std::make_shared<Lists>(list);
    lists->tasks.upload(std::span<const uint64_t>(list.tasks), stream);
    lists->bins.upload(std::span<const int32_t>(list.bins), stream);
    const auto uploaded = Clock::now();
    DeviceSchedule& result = lists->schedule;
    result.tasks = choreo::row_major<const uint64_t>(lists->tasks.data(), list.tasks.size());
    result.bins = choreo::row_major<const int32_t>(lists->bins.data(), bins, 2);
    result.shape = shape;
    result.fixed_cost = fixed_cost;
    result.order = order;
    result.build_ms = ms(start, built);
    result.upload_ms = ms(built, uploaded);
    result.imbalance = Imbalance(list, fixed_cost);
    return lists;
  }

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Entry>> entries_;
};

}  // namespace schedule
