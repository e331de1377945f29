#include "driver/tune_candidates.h"

#include <gmock/gmock.h>

#include "driver/tune_build.h"

namespace choreo::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<TuneRange> kRanges = {{"A", {"1", "2"}, {}}, {"B", {"x", "y", "z"}, {}}};

std::vector<std::string> Labels(const std::vector<TuneRange>& ranges,
                                const std::vector<std::optional<std::string>>& defaults) {
  std::vector<std::string> labels;
  for (const TuneCandidate& c : MakeCandidates(ranges, defaults)) labels.push_back(c.Label());
  return labels;
}

TEST(TuneCandidates, TheDefaultsThenAllOtherCombinations) {
  EXPECT_THAT(Labels(kRanges, {"1", "y"}), ElementsAre("defaults (A=1 B=y)", "A=1 B=x", "A=1 B=z",
                                                       "A=2 B=x", "A=2 B=y", "A=2 B=z"));
  // Defaults that the ranges lack, or that are not known, take nothing away.
  EXPECT_EQ(Labels(kRanges, {"3", "y"}).size(), 7u);
  EXPECT_EQ(Labels(kRanges, {std::nullopt, "y"})[0], "defaults (B=y)");
  EXPECT_EQ(Labels(kRanges, {std::nullopt, "y"}).size(), 7u);
  EXPECT_THAT(Labels({}, {}), ElementsAre("defaults"));
}

TEST(TuneCandidates, OnlyOthersThanTheDefaultsAreDefined) {
  const auto candidates = MakeCandidates(kRanges, {"1", "x"});
  EXPECT_THAT(candidates[0].Defines(), IsEmpty());
  EXPECT_THAT(candidates[1].Defines(), ElementsAre("A=1", "B=y"));
}

TEST(TuneCandidates, WhatIsDefinedOnTheCommandLineIsFixed) {
  EXPECT_EQ(WithoutDefined(kRanges, {"AA=1", "B"}).size(), 1u);
  EXPECT_EQ(WithoutDefined(kRanges, {"A=7"})[0].name, "B");
}

TEST(TuneCandidates, Narrowed) {
  std::string problem;
  const auto one = Narrowed(kRanges, "B=z,A=2, B=x", problem);
  ASSERT_TRUE(one);
  EXPECT_THAT((*one)[0].values, ElementsAre("2"));
  EXPECT_THAT((*one)[1].values, ElementsAre("x", "z"));  // in the order of the declaration
  EXPECT_THAT((*Narrowed(kRanges, "B=y,z", problem))[1].values, ElementsAre("y", "z"));
  EXPECT_EQ((*Narrowed(kRanges, "", problem))[1].values.size(), 3u);
  EXPECT_EQ(problem, "");
}

TEST(TuneCandidates, NarrowedToWhatIsNotThere) {
  std::string problem;
  EXPECT_FALSE(Narrowed(kRanges, "C=1", problem));
  EXPECT_THAT(problem, HasSubstr("there are `A`, `B`"));
  EXPECT_FALSE(Narrowed(kRanges, "A=3", problem));
  EXPECT_THAT(problem, HasSubstr("no declared value of `A`"));
  EXPECT_FALSE(Narrowed(kRanges, "A=1,", problem));
  EXPECT_FALSE(Narrowed(kRanges, "1", problem));
  EXPECT_THAT(problem, HasSubstr("NAME=VALUE"));
}

TEST(TuneCandidates, TheCountSaturates) {
  EXPECT_EQ(CountCandidates(kRanges), 6u);
  const TuneRange wide{"A", std::vector<std::string>(1024, "1"), {}};
  EXPECT_GT(CountCandidates(std::vector<TuneRange>(64, wide)), kMaxTuneCandidates);
}

TEST(TuneCandidates, FileNames) {
  EXPECT_EQ(FileNameOf("A=1 T=8.0f"), "A-1,T-8.0f");
  EXPECT_EQ(FileNameOf("A=../x/$y"), "A-..-x--y");
  EXPECT_LE(FileNameOf(std::string(1000, 'a')).size(), 120u);
}

}  // namespace
}  // namespace choreo::driver
