// Task words: every field to its limit and no further, each refused by name.
#include "schedule/task_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace schedule {
namespace {

using ::testing::HasSubstr;

std::string RefusalOf(const Task& task) {
  try {
    Pack(task);
  } catch (const choreo::error& e) {
    EXPECT_EQ(e.code, choreo::status::invalid_argument);
    return e.what();
  }
  return "";
}

TEST(TaskWord, HasItsFieldsWhereTileFunctionsLook) {
  EXPECT_EQ(Pack({5, 3, 2}), 5u | uint64_t{3} << 24 | uint64_t{2} << 44);
  EXPECT_EQ(Pack({0, 0, 0}), 0u);
}

TEST(TaskWord, KeepsEveryFieldToItsLimit) {
  constexpr int64_t kTile = kMaxTiles - 1, kHead = kMaxHeads - 1, kBatch = kMaxBatch - 1;
  for (const Task& task : {Task{kTile, 0, 0}, Task{0, kHead, 0}, Task{0, 0, kBatch},
                           Task{kTile, kHead, kBatch}, Task{1023, 127, 3}}) {
    EXPECT_EQ(Unpack(Pack(task)), task);
  }
  EXPECT_EQ(Pack({kTile, kHead, kBatch}), ~uint64_t{0});
}

TEST(TaskWord, RefusesByNameWhatDoesNotFit) {
  EXPECT_THAT(RefusalOf({16777216, 0, 0}),
              HasSubstr("the query tile of a task is 16777216, but must be from 0 to 16777215"));
  EXPECT_THAT(RefusalOf({0, 1048576, 0}),
              HasSubstr("the head of a task is 1048576, but must be from 0 to 1048575"));
  EXPECT_THAT(RefusalOf({0, 0, 1048576}),
              HasSubstr("the batch of a task is 1048576, but must be from 0 to 1048575"));
  EXPECT_THAT(RefusalOf({-1, 0, 0}), HasSubstr("query tile of a task is -1"));
  EXPECT_THAT(RefusalOf({0, -1, 0}), HasSubstr("head of a task is -1"));
  EXPECT_THAT(RefusalOf({0, 0, -1}), HasSubstr("batch of a task is -1"));
}

}  // namespace
}  // namespace schedule
