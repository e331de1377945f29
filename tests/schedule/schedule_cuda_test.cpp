// The cache of task lists on the CUDA target, over a stand-in for the CUDA runtime: which streams
// it touches, when it waits, and that devices have lists of their own.
#include <gtest/gtest.h>

#include "fake_cuda.h"
#include "schedule/schedule_cache.h"

namespace schedule {
namespace {

using choreo::host::fake;
using choreo::host::FakeCuda;

choreo::Stream StreamNumber(uintptr_t number) {
  return choreo::Stream(reinterpret_cast<cudaStream_t>(number));
}

class ScheduleOnCuda : public testing::Test {
 protected:
  ScheduleOnCuda() { fake = FakeCuda(); }
  ScheduleCache cache_;
};

TEST_F(ScheduleOnCuda, UploadsOnTheStreamOfTheCallerAndWaitsForIt) {
  cache_.Get({1, 4, 8}, 3, 4, Order::Sections, StreamNumber(7));
  ASSERT_FALSE(fake.stream_calls.empty());
  for (const int64_t call : fake.stream_calls) EXPECT_EQ(std::abs(call), 7);
  // The last call is a wait: a kernel on another stream finds complete lists.
  EXPECT_EQ(fake.stream_calls.back(), -7);
}

TEST_F(ScheduleOnCuda, TouchesNoStreamOnLaterUse) {
  const auto first = cache_.Get({1, 4, 8}, 3, 4, Order::Sections, StreamNumber(7));
  fake.stream_calls.clear();
  const int allocations = fake.allocations;
  EXPECT_EQ(cache_.Get({1, 4, 8}, 3, 4, Order::Sections, StreamNumber(9)).get(), first.get());
  EXPECT_TRUE(fake.stream_calls.empty());
  EXPECT_EQ(fake.allocations, allocations);
}

TEST_F(ScheduleOnCuda, HasListsOfItsOwnOnEachDevice) {
  const auto first = cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {});
  fake.device = 1;
  const auto second = cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {});
  EXPECT_NE(first->tasks.data, second->tasks.data);
  EXPECT_EQ(cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {}).get(), second.get());
  fake.device = 0;
  EXPECT_EQ(cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {}).get(), first.get());
}

TEST_F(ScheduleOnCuda, TriesAgainAfterAFailedUpload) {
  fake.fault = cudaErrorUnknown;
  EXPECT_THROW(cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {}), choreo::error);
  fake.fault = cudaSuccess;
  EXPECT_EQ(cache_.Get({1, 4, 8}, 3, 4, Order::Sections, {})->task_count(), 32);
}

}  // namespace
}  // namespace schedule
