#include "sema/thread_set.h"

#include <gtest/gtest.h>

namespace choreo::sema {
namespace {

constexpr EntityId kP(0), kT(1), kR(2), kC(3);

TEST(ThreadSet, WarpgroupsAndTheirThreads) {
  ThreadSpace space;
  space.Push(ast::Level::Warpgroup, {kP}, {3});
  space.Push(ast::Level::Thread, {kT}, {128});
  EXPECT_EQ(space.All().count(), 384u);
  EXPECT_EQ(space.scope(), ast::Level::Warpgroup);
  EXPECT_EQ(space.ValueIn(kP, 300), 2);
  EXPECT_EQ(space.ValueIn(kT, 300), 44);
  EXPECT_EQ(space.Differs(kP, space.All()), kBetweenWarpgroups);
  EXPECT_EQ(space.Differs(kT, space.All()), kBetweenWarps | kBetweenLanes);
}

TEST(ThreadSet, NarrowedVariablesDifferLess) {
  ThreadSpace space;
  space.Push(ast::Level::Warpgroup, {kP}, {3});
  space.Push(ast::Level::Thread, {kT}, {128});
  ThreadSet first_warp, lanes;
  for (int thread = 0; thread < 384; ++thread) {
    first_warp[thread] = thread % 128 < 32;
    lanes[thread] = thread % 128 == 32;
  }
  EXPECT_EQ(space.Differs(kT, first_warp), kBetweenLanes);
  EXPECT_EQ(space.Differs(kT, lanes), 0);
  EXPECT_EQ(space.RangeIn(kT, lanes), (std::pair<int64_t, int64_t>(32, 32)));
}

TEST(ThreadSet, TuplesCountRowMajor) {
  ThreadSpace space;
  space.Push(ast::Level::Thread, {kR, kC}, {4, 16});
  EXPECT_EQ(space.All().count(), 64u);
  EXPECT_EQ(space.ValueIn(kR, 35), 2);
  EXPECT_EQ(space.ValueIn(kC, 35), 3);
  EXPECT_EQ(space.scope(), ast::Level::Block);
}

TEST(ThreadSet, WarpsOfAWarpgroup) {
  ThreadSpace space;
  space.Push(ast::Level::Warpgroup, {}, {2});
  space.Push(ast::Level::Warp, {kR}, {4});
  space.Push(ast::Level::Thread, {kC}, {32});
  EXPECT_EQ(space.ValueIn(kR, 128 + 70), 2);
  EXPECT_EQ(space.ValueIn(kC, 128 + 70), 6);
  EXPECT_EQ(space.Differs(kR, space.All()), kBetweenWarps);
  EXPECT_EQ(space.scope(), ast::Level::Warp);
  space.Pop();
  space.Pop();
  EXPECT_EQ(space.scope(), ast::Level::Warpgroup);
}

}  // namespace
}  // namespace choreo::sema
