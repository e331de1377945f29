// Kernels in several shapes: which one a length or a name chooses, and what tables are.
#define CHOREO_TARGET_SIM
#include "attention/by_length_harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace attention {
namespace {

using choreo::bf16;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kDim = 16;
constexpr ShapeRow kRows[] = {{64, 0, "narrow", {32}},
                              {128, 1, "pair", {64, 2, 0}},
                              {256, 0, "narrow", {32, 1, 7}},
                              {kAnyLength, 2, "wide", {96, 1, 0}}};

// What a launch was given: the shape, the length, tasks and lists.
using Launch = std::vector<int64_t>;

std::vector<Launch> Launches(std::vector<std::string> arguments, int want = 0) {
  setenv("CHOREO_DISABLE_TIMING", "1", 1);
  // Nothing is computed: the verification fails after the launch.
  arguments.insert(arguments.begin(), {"k", "--batch", "1", "--heads", "1"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  std::vector<Launch> launches;
  const int status = MainByLength<bf16, kDim>(
      "k", kRows, int(argv.size()), argv.data(),
      [&](int shape, auto q, auto, auto, auto, auto tasks, auto bins, choreo::Stream) {
        launches.push_back({shape, q.extent[1], tasks.extent[0], bins.extent[0]});
      },
      [](auto...) {});
  EXPECT_EQ(status, want);
  unsetenv("CHOREO_DISABLE_TIMING");
  return launches;
}

TEST(ByLengthHarness, TheLengthChooses) {
  EXPECT_STREQ(ChooseShape(kRows, 0)->name, "narrow");
  EXPECT_EQ(ChooseShape(kRows, 64), &kRows[0]);
  EXPECT_EQ(ChooseShape(kRows, 65), &kRows[1]);
  EXPECT_EQ(ChooseShape(kRows, 256), &kRows[2]);
  EXPECT_EQ(ChooseShape(kRows, 1 << 30), &kRows[3]);
  EXPECT_THAT(Launches({"--seq", "64,128,300"}, 1),
              ElementsAre(Launch{0, 64, 2, 4}, Launch{1, 128, 2, 2}, Launch{2, 300, 4, 4}));
}

TEST(ByLengthHarness, ANameChoosesAtEveryLength) {
  EXPECT_EQ(ChooseShape(kRows, 100, "narrow"), &kRows[2]);
  EXPECT_EQ(ChooseShape(kRows, 1000, "narrow"), &kRows[2]);
  EXPECT_EQ(ChooseShape(kRows, 64, "wide"), &kRows[3]);
  EXPECT_EQ(ChooseShape(kRows, 64, "none"), nullptr);
  EXPECT_THAT(Launches({"--seq", "64,300", "--shape", "pair", "--ctas", "6"}, 1),
              ElementsAre(Launch{1, 64, 1, 3}, Launch{1, 300, 5, 3}));
}

TEST(ByLengthHarness, OddNumbersOfCtasAreForShapesWithoutClusters) {
  EXPECT_THAT(Launches({"--seq", "64,300", "--ctas", "3"}, 1),
              ElementsAre(Launch{0, 64, 2, 3}, Launch{2, 300, 4, 3}));
  EXPECT_THAT(Launches({"--seq", "64,128", "--ctas", "3"}, 2), IsEmpty());
  EXPECT_THAT(Launches({"--shape", "none"}, 2), IsEmpty());
  EXPECT_THAT(Launches({"--shape"}, 2), IsEmpty());
}

TEST(ByLengthHarness, TablesAscendToAnyLength) {
  constexpr ShapeRow kEnds[] = {{64, 0, "narrow", {32}}};
  constexpr ShapeRow kFalls[] = {
      {128, 0, "a", {32}}, {64, 1, "b", {32}}, {kAnyLength, 0, "a", {32}}};
  EXPECT_TRUE(IsShapeTable(kRows));
  EXPECT_FALSE(IsShapeTable(kEnds));
  EXPECT_FALSE(IsShapeTable(kFalls));
  EXPECT_FALSE(IsShapeTable({}));
  EXPECT_THAT(UsageText("k", Grid::ByLength), HasSubstr("--shape"));
  EXPECT_THAT(UsageText("k", Grid::ByLength), HasSubstr("--ctas"));
  EXPECT_THAT(UsageText("k", Grid::Persistent), Not(HasSubstr("--shape")));
}

}  // namespace
}  // namespace attention
