#include "driver/tune_statistics.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace choreo::driver {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TuneSample Sample(double before, double ms, double after) { return {{before}, {ms}, {after}}; }

TEST(TuneStatistics, TheRatioIsToTheMeanOfTheNeighbours) {
  EXPECT_DOUBLE_EQ(RatioOf(Sample(0.9, 0.5, 1.1)), 2.0);
  // Over several shapes: the geometric mean, so that a long one does not drown a short one.
  EXPECT_THAT(RatioOf({{1, 100}, {0.5, 200}, {1, 100}}), DoubleNear(1.0, 1e-12));
}

TEST(TuneStatistics, SamplesWithoutSenseAreNone) {
  EXPECT_TRUE(IsSound(Sample(1, 1, 1)));
  EXPECT_FALSE(IsSound({{}, {}, {}}));
  EXPECT_FALSE(IsSound({{1}, {1, 2}, {1}}));
  EXPECT_FALSE(IsSound(Sample(1, 0, 1)));
  EXPECT_FALSE(IsSound(Sample(1, 1, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_FALSE(IsSound(Sample(-1, 1, 1)));
}

TEST(TuneStatistics, MedianAndRange) {
  EXPECT_FALSE(Summarise({}));
  const auto summary = Summarise({Sample(1, 0.5, 1), Sample(1, 2, 1), Sample(1.2, 1, 0.8)});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->rounds, 3u);
  EXPECT_DOUBLE_EQ(summary->ms, 1);
  EXPECT_DOUBLE_EQ(summary->reference_ms, 1);
  EXPECT_DOUBLE_EQ(summary->ratio, 1);
  EXPECT_DOUBLE_EQ(summary->low, 0.5);
  EXPECT_DOUBLE_EQ(summary->high, 2);
}

// Rows of a run on a card: the whole card became slower by 4 % meanwhile, the neighbours differ by
// 1 %.
TEST(TuneStatistics, ADriftOfTheCardIsNoNoise) {
  const std::vector<TuneSample> samples = {Sample(1.00, 1, 1.01), Sample(1.01, 1, 1.02),
                                           Sample(1.02, 1, 1.03), Sample(1.03, 1, 1.04)};
  EXPECT_THAT(NoiseOf(samples), DoubleNear(0.01, 1e-12));
  EXPECT_EQ(NoiseOf({}), 0);
}

TEST(TuneStatistics, OneOfManyPairsMayBeFarOff) {
  std::vector<TuneSample> samples(39, Sample(1, 1, 1.002));
  samples.push_back(Sample(1, 1, 1.3));
  EXPECT_THAT(NoiseOf(samples), DoubleNear(0.002, 1e-12));
  EXPECT_THAT(NoiseOf({Sample(1, 1, 1), Sample(1, 1, 0.9)}), DoubleNear(0.1, 1e-12));
}

TEST(TuneStatistics, ADifferenceCountsAboveTheNoise) {
  EXPECT_EQ(Compare(1.02, 1, 0.01), Comparison::Faster);
  EXPECT_EQ(Compare(1.005, 1, 0.01), Comparison::Same);
  EXPECT_EQ(Compare(0.98, 1, 0.01), Comparison::Slower);
  EXPECT_EQ(Compare(1.02, 1.02, 0), Comparison::Same);
}

TEST(TuneStatistics, TheWinnerBeatsTheDefaultsByMoreThanTheNoise) {
  EXPECT_EQ(WinnerOf({std::nullopt, 1.02, 1.05, std::nullopt, 1.05}, 1, 0.01), 2u);
  EXPECT_EQ(WinnerOf({std::nullopt, 1.02, 1.05}, 1, 0.06), std::nullopt);
  EXPECT_EQ(WinnerOf({std::nullopt, 1.02, 1.05}, 1.06, 0.001), std::nullopt);
}

TEST(TuneStatistics, EverySecondRoundIsReversed) {
  EXPECT_THAT(TurnsOf({1, 2, 3}, 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(TurnsOf({1, 2, 3}, 1), ElementsAre(3, 2, 1));
  EXPECT_THAT(TurnsOf({1, 2, 3}, 2), ElementsAre(1, 2, 3));
}

TEST(TuneStatistics, TheFasterHalfGoesOn) {
  const std::vector<size_t> five = {10, 11, 12, 13, 14};
  const std::vector<double> ratios = {0.9, 1.2, 1.0, 1.0, 1.1};
  EXPECT_THAT(Survivors(five, ratios, 2), ElementsAre(11, 12, 14));
  EXPECT_THAT(Survivors(five, ratios, 4), ElementsAre(11, 12, 13, 14));
  EXPECT_EQ(Survivors(five, ratios, 5), five);
  EXPECT_EQ(Survivors(five, ratios, 0), five);
}

}  // namespace
}  // namespace choreo::driver
