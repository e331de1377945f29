// The cache of task lists on the simulator target: what it gives, that it gives the same again, and
// use by many threads.
#define CHOREO_TARGET_SIM
#include "schedule/schedule_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "schedule/validate.h"

namespace schedule {
namespace {

TaskList Downloaded(const DeviceSchedule& lists) {
  TaskList list;
  list.tasks.assign(lists.tasks.data, lists.tasks.data + lists.tasks.extent[0]);
  list.bins.assign(lists.bins.data, lists.bins.data + 2 * lists.bins.extent[0]);
  return list;
}

TEST(ScheduleCache, GivesTheListsInDeviceMemory) {
  ScheduleCache cache;
  const CausalShape shape{2, 6, 10};
  const auto lists = cache.Get(shape, 7, 4, Order::Sections, {});
  EXPECT_EQ(lists->task_count(), 120);
  EXPECT_EQ(lists->bin_count(), 7);
  EXPECT_EQ(lists->bins.extent[1], 2);
  EXPECT_EQ(lists->bins.stride[0], 2);
  EXPECT_EQ(Validate(Downloaded(*lists), shape), "");
  EXPECT_EQ(Downloaded(*lists).tasks, BuildCausalSchedule(shape, 7, 4).tasks);
  EXPECT_GT(lists->build_ms, 0);
  EXPECT_GE(lists->upload_ms, 0);
  EXPECT_GE(lists->imbalance, 1);
  EXPECT_LT(lists->imbalance, 1.05);
}

TEST(ScheduleCache, GivesTheSameListsAgain) {
  ScheduleCache cache;
  const auto first = cache.Get({1, 8, 16}, 12, 4, Order::Sections, choreo::Stream::create());
  EXPECT_EQ(cache.Get({1, 8, 16}, 12, 4, Order::Sections, choreo::Stream::create()).get(),
            first.get());
}

TEST(ScheduleCache, TellsShapesBinsFixedCostsAndOrdersApart) {
  ScheduleCache cache;
  std::set<const uint64_t*> addresses;
  for (const CausalShape& shape : {CausalShape{2, 8, 16}, CausalShape{8, 2, 16},
                                   CausalShape{16, 2, 8}, CausalShape{2, 8, 17}}) {
    for (const int64_t bins : {3, 4}) {
      for (const int64_t fixed_cost : {4, 5}) {
        for (const Order order : {Order::Sections, Order::Pairs}) {
          const auto lists = cache.Get(shape, bins, fixed_cost, order, {});
          EXPECT_EQ(Downloaded(*lists).tasks,
                    BuildCausalSchedule(shape, bins, fixed_cost, order).tasks);
          EXPECT_EQ(lists->bin_count(), bins);
          EXPECT_EQ(lists->order, order);
          addresses.insert(lists->tasks.data);
        }
      }
    }
  }
  EXPECT_EQ(addresses.size(), 32u);
}

TEST(ScheduleCache, HasAddressesForNothingToDo) {
  ScheduleCache cache;
  const auto lists = cache.Get({0, 8, 16}, 5, 4, Order::Sections, {});
  EXPECT_EQ(lists->task_count(), 0);
  EXPECT_NE(lists->tasks.data, nullptr);
  EXPECT_EQ(Downloaded(*lists).bins, std::vector<int32_t>(10, 0));
  EXPECT_EQ(lists->imbalance, 1);
}

TEST(ScheduleCache, RefusesAndStaysUsable) {
  ScheduleCache cache;
  EXPECT_THROW(cache.Get({1, 1, 1}, 0, 4, Order::Sections, {}), choreo::error);
  EXPECT_THROW(cache.Get({1, kMaxHeads + 1, 1}, 1, 4, Order::Sections, {}), choreo::error);
  EXPECT_EQ(cache.Get({1, 1, 1}, 1, 4, Order::Sections, {})->task_count(), 1);
}

TEST(ScheduleCache, LeavesListsInUseAlive) {
  auto cache = std::make_unique<ScheduleCache>();
  const auto lists = cache->Get({1, 4, 8}, 3, 4, Order::Sections, {});
  cache->Clear();
  EXPECT_NE(cache->Get({1, 4, 8}, 3, 4, Order::Sections, {}).get(), lists.get());
  cache.reset();
  EXPECT_EQ(Validate(Downloaded(*lists), {1, 4, 8}), "");
}

TEST(ScheduleCache, BuildsOnceForManyThreads) {
  ScheduleCache cache;
  constexpr int kThreads = 8, kShapes = 5;
  std::vector<std::vector<std::shared_ptr<const DeviceSchedule>>> got(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4 * kShapes; ++i) {
        got[t].push_back(cache.Get({2, 16, 16 + (i + t) % kShapes}, 30, 4, Order::Sections, {}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<const DeviceSchedule*> lists;
  for (const auto& of_thread : got) {
    for (const auto& one : of_thread) lists.insert(one.get());
  }
  EXPECT_EQ(lists.size(), size_t(kShapes));
  for (const DeviceSchedule* one : lists) EXPECT_EQ(Validate(Downloaded(*one), one->shape), "");
}

}  // namespace
}  // namespace schedule
