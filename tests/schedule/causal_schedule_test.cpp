// Properties of the task lists, over shapes, numbers of bins and orders of every kind: complete,
// balanced, deterministic, near in time for K/V; and what each order promises besides.
#include "schedule/causal_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "schedule/validate.h"

namespace schedule {

void PrintTo(Order order, std::ostream* out) { *out << OrderName(order); }

void PrintTo(const CausalShape& shape, std::ostream* out) {
  *out << "batch " << shape.batch << " heads " << shape.heads << " tiles " << shape.tiles;
}

namespace {

using ::testing::Combine;
using ::testing::HasSubstr;
using ::testing::Values;

std::span<const uint64_t> TasksOf(const TaskList& list, size_t bin) {
  return std::span(list.tasks)
      .subspan(list.bins[2 * bin], list.bins[2 * bin + 1] - list.bins[2 * bin]);
}

size_t BinCount(const TaskList& list) { return list.bins.size() / 2; }

int64_t EntryOf(const Task& task, const CausalShape& shape) {
  return task.batch * shape.heads + task.head;
}

// The heaviest bin over the mean.
double ImbalanceOf(const TaskList& list, int64_t fixed_cost) {
  int64_t heaviest = 0, total = 0;
  for (size_t bin = 0; bin < BinCount(list); ++bin) {
    int64_t load = 0;
    for (const uint64_t word : TasksOf(list, bin)) load += 2 * (Unpack(word).tile + 1) + fixed_cost;
    heaviest = std::max(heaviest, load);
    total += load;
  }
  return double(heaviest) * double(BinCount(list)) / double(total);
}

constexpr Order kOrders[] = {Order::Sections, Order::Pairs};

TaskList Build(const CausalShape& shape, int64_t bins, Order order, int64_t fixed_cost = 4) {
  return BuildCausalSchedule(shape, bins, fixed_cost, order);
}

class CausalSchedule : public testing::TestWithParam<std::tuple<CausalShape, int, Order>> {
 protected:
  const CausalShape shape_ = std::get<0>(GetParam());
  const int bins_ = std::get<1>(GetParam());
  const Order order_ = std::get<2>(GetParam());
  const TaskList list_ = Build(shape_, bins_, order_);
};

// What the order of sections or of pairs alone promises.
class SectionsOrder : public testing::TestWithParam<std::tuple<CausalShape, int>> {
 protected:
  const CausalShape shape_ = std::get<0>(GetParam());
  const int bins_ = std::get<1>(GetParam());
  const TaskList list_ = Build(shape_, bins_, Order::Sections);
};

class PairsOrder : public SectionsOrder {
 protected:
  const TaskList list_ = Build(shape_, bins_, Order::Pairs);
};

TEST_P(CausalSchedule, HasEveryTileExactlyOnce) {
  EXPECT_EQ(Validate(list_, shape_), "");
  EXPECT_EQ(BinCount(list_), size_t(bins_));
  // The same without the library's own judge.
  std::vector<uint64_t> want;
  for (int64_t b = 0; b < shape_.batch; ++b) {
    for (int64_t h = 0; h < shape_.heads; ++h) {
      for (int64_t t = 0; t < shape_.tiles; ++t) want.push_back(Pack({t, h, b}));
    }
  }
  std::vector<uint64_t> got = list_.tasks;
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, want);
}

TEST_P(PairsOrder, KeepsPairsTogether) {
  const int64_t pairs = shape_.batch * shape_.heads / 2;
  if (pairs * shape_.tiles < 4 * bins_) return;          // single entries
  std::map<std::pair<int64_t, int64_t>, size_t> bin_of;  // of pair and tile
  for (size_t bin = 0; bin < BinCount(list_); ++bin) {
    for (const uint64_t word : TasksOf(list_, bin)) {
      const Task task = Unpack(word);
      const auto at = std::pair(EntryOf(task, shape_) / 2, task.tile);
      const auto [place, first] = bin_of.insert({at, bin});
      ASSERT_EQ(place->second, bin) << "pair " << at.first << " tile " << at.second;
    }
  }
}

TEST_P(PairsOrder, SortsEachBinByEntryAndThenByDescendingTile) {
  for (size_t bin = 0; bin < BinCount(list_); ++bin) {
    const auto words = TasksOf(list_, bin);
    for (size_t i = 1; i < words.size(); ++i) {
      const Task before = Unpack(words[i - 1]), task = Unpack(words[i]);
      const int64_t entry = EntryOf(task, shape_), entry_before = EntryOf(before, shape_);
      ASSERT_TRUE(entry_before < entry || (entry_before == entry && before.tile > task.tile))
          << "bin " << bin << " task " << i;
    }
  }
}

TEST_P(CausalSchedule, IsDeterministic) {
  const TaskList again = Build(shape_, bins_, order_);
  EXPECT_EQ(again.tasks, list_.tasks);
  EXPECT_EQ(again.bins, list_.bins);
}

TEST_P(CausalSchedule, IsWithinOneTileOfTheMean) {
  const int64_t units = shape_.batch * shape_.heads * shape_.tiles;
  if (units == 0) return;
  const double mean = double(shape_.batch * shape_.heads) *
                      double(shape_.tiles * (shape_.tiles + 1) + 4 * shape_.tiles) / bins_;
  EXPECT_LE(ImbalanceOf(list_, 4), 1 + double(TileCost(shape_.tiles - 1, 4)) / mean);
}

// Sections as the header tells: of half the entries that fill the bins for one longest tile, and of
// all of them at the end.
int64_t SectionOf(int64_t entry, const CausalShape& shape, int64_t bins) {
  const int64_t entries = shape.batch * shape.heads;
  if (entries * shape.tiles <= 4 * bins) return 0;
  const auto together =
      std::max<int64_t>(std::llround(2 * double(bins) / double(shape.tiles + 1)), 1);
  const int64_t tail = entries - std::min(together, entries);
  return std::min(entry, tail) / std::max<int64_t>(together / 2, 1) + (entry >= tail ? entries : 0);
}

TEST_P(SectionsOrder, TakesSectionsInOrderAndTheirTilesDescending) {
  for (size_t bin = 0; bin < BinCount(list_); ++bin) {
    const auto words = TasksOf(list_, bin);
    for (size_t i = 1; i < words.size(); ++i) {
      const Task before = Unpack(words[i - 1]), task = Unpack(words[i]);
      const int64_t section_before = SectionOf(EntryOf(before, shape_), shape_, bins_);
      const int64_t section = SectionOf(EntryOf(task, shape_), shape_, bins_);
      ASSERT_TRUE(section_before < section ||
                  (section_before == section && before.tile >= task.tile))
          << "bin " << bin << " task " << i;
    }
  }
}

// Before the last section no task starts, by the estimate, ahead of one that is due before it.
TEST_P(SectionsOrder, StartsTasksInTheOrderInWhichTheyAreDue) {
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> starts;  // of section, -tile, entry
  for (size_t bin = 0; bin < BinCount(list_); ++bin) {
    int64_t clock = 0;
    for (const uint64_t word : TasksOf(list_, bin)) {
      const Task task = Unpack(word);
      const int64_t entry = EntryOf(task, shape_), section = SectionOf(entry, shape_, bins_);
      starts[{section, -task.tile, entry}] = clock;
      clock += TileCost(task.tile, 4);
    }
  }
  const int64_t last =
      SectionOf(std::max<int64_t>(shape_.batch * shape_.heads - 1, 0), shape_, bins_);
  int64_t before = 0;
  for (const auto& [due, clock] : starts) {
    if (std::get<0>(due) == last) break;
    ASSERT_GE(clock, before) << "entry " << std::get<2>(due) << " tile " << -std::get<1>(due);
    before = clock;
  }
}

const auto kShapes = Values(CausalShape{4, 32, 32}, CausalShape{4, 32, 64}, CausalShape{1, 8, 32},
                            CausalShape{1, 1, 1}, CausalShape{1, 1, 37}, CausalShape{1, 1, 300},
                            CausalShape{3, 7, 40}, CausalShape{1, 33, 64}, CausalShape{5, 1, 9},
                            CausalShape{2, 3, 1}, CausalShape{64, 1, 2}, CausalShape{0, 8, 4},
                            CausalShape{2, 0, 4}, CausalShape{2, 8, 0});
const auto kBinCounts = Values(1, 2, 7, 78, 114, 132, 264, 1000);

INSTANTIATE_TEST_SUITE_P(Shapes, CausalSchedule,
                         Combine(kShapes, kBinCounts, testing::ValuesIn(kOrders)));
INSTANTIATE_TEST_SUITE_P(Shapes, SectionsOrder, Combine(kShapes, kBinCounts));
INSTANTIATE_TEST_SUITE_P(Shapes, PairsOrder, Combine(kShapes, kBinCounts));

class CausalScheduleBalance : public testing::TestWithParam<Order> {
 protected:
  TaskList Build(const CausalShape& shape, int64_t bins, int64_t fixed_cost = 4) const {
    return schedule::Build(shape, bins, GetParam(), fixed_cost);
  }
};

TEST_P(CausalScheduleBalance, IsWithinHalfAPercentAtLargeSizes) {
  for (const int64_t seq : {4096, 8192, 16384}) {
    for (const int64_t bins : {114, 132, 264}) {
      const TaskList list = Build({4, 32, seq / 128}, bins);
      EXPECT_LE(ImbalanceOf(list, 4), 1.005) << seq << " on " << bins;
    }
  }
}

TEST_P(CausalScheduleBalance, HoldsForOtherFixedCosts) {
  for (const int64_t fixed_cost : {0, 1, 3, 10, 25}) {
    const CausalShape shape{4, 32, 64};
    const TaskList list = Build(shape, 132, fixed_cost);
    EXPECT_EQ(Validate(list, shape), "");
    EXPECT_LE(ImbalanceOf(list, fixed_cost), 1.005) << fixed_cost;
  }
}

TEST_P(CausalScheduleBalance, IsWithinTwoPercentForSmallBatches) {
  for (const CausalShape& shape : {CausalShape{1, 8, 32}, CausalShape{2, 4, 32}}) {
    EXPECT_LE(ImbalanceOf(Build(shape, 132), 4), 1.02);
  }
}

TEST_P(CausalScheduleBalance, DividesTheUnitsOfTwoBinsAnewWhereExchangesDoNotHelp) {
  // By exchanges alone the heaviest bins are 3.7, 2.6 and 2.1 % above what the costs allow.
  EXPECT_LE(ImbalanceOf(Build({1, 12, 32}, 132), 4), 1.025);
  EXPECT_LE(ImbalanceOf(Build({1, 8, 48}, 132), 4), 1.025);
  EXPECT_LE(ImbalanceOf(Build({1, 8, 32}, 78), 4), 1.005);
}

TEST_P(CausalScheduleBalance, HoldsForShortSequences) {
  // Four tiles a bin and less: no part of them can be left as it falls.
  EXPECT_LE(ImbalanceOf(Build({32, 4, 4}, 132), 4), 1.04);
  EXPECT_LE(ImbalanceOf(Build({32, 4, 8}, 132), 4), 1.02);
  EXPECT_LE(ImbalanceOf(Build({3, 7, 40}, 264), 4), 1.01);
}

TEST_P(CausalScheduleBalance, DoesNotPairWhatWouldLeaveBinsIdle) {
  // 4 pairs of 32 tiles on 132 bins: as pairs, 4 bins would have nothing.
  const TaskList list = Build({1, 8, 32}, 132);
  for (size_t bin = 0; bin < BinCount(list); ++bin) EXPECT_FALSE(TasksOf(list, bin).empty());
}

TEST_P(CausalScheduleBalance, LeavesBinsEmptyOnlyForWantOfTiles) {
  const TaskList list = Build({1, 1, 5}, 8);
  std::vector<size_t> sizes;
  for (size_t bin = 0; bin < 8; ++bin) sizes.push_back(TasksOf(list, bin).size());
  EXPECT_THAT(sizes, ::testing::ElementsAre(1, 1, 1, 1, 1, 0, 0, 0));
}

TEST_P(CausalScheduleBalance, TakesLongSequencesAndManyHeads) {
  const CausalShape shape{1, 128, 131072 / 128};
  const TaskList list = Build(shape, 132);
  EXPECT_EQ(Validate(list, shape), "");
  EXPECT_LE(ImbalanceOf(list, 4), 1.005);
}

TEST_P(CausalScheduleBalance, TakesManyHeadsWithoutTiles) {
  EXPECT_TRUE(Build({kMaxBatch, kMaxHeads, 0}, 3).tasks.empty());
  EXPECT_EQ(Build({0, 1, kMaxTiles}, 3).bins, std::vector<int32_t>(6, 0));
}

INSTANTIATE_TEST_SUITE_P(Orders, CausalScheduleBalance, testing::ValuesIn(kOrders));

TEST(CausalScheduleOrder, IsInSectionsUnlessAskedOtherwise) {
  const CausalShape shape{4, 32, 32};
  EXPECT_EQ(BuildCausalSchedule(shape, 132).tasks, Build(shape, 132, Order::Sections).tasks);
  EXPECT_NE(BuildCausalSchedule(shape, 132).tasks, Build(shape, 132, Order::Pairs).tasks);
}

// Heads that are in work at one moment if CTAs advance as the costs say, on average.
double HeadsAtOnce(const TaskList& list, const CausalShape& shape) {
  std::vector<std::tuple<int64_t, int, int64_t>> events;  // time, +1 or -1, entry
  for (size_t bin = 0; bin < BinCount(list); ++bin) {
    int64_t clock = 0;
    for (const uint64_t word : TasksOf(list, bin)) {
      const Task task = Unpack(word);
      events.emplace_back(clock, 1, EntryOf(task, shape));
      clock += TileCost(task.tile, 4);
      events.emplace_back(clock, -1, EntryOf(task, shape));
    }
  }
  std::sort(events.begin(), events.end());
  std::map<int64_t, int> live;
  int64_t before = 0;
  double area = 0;
  for (const auto& [clock, change, entry] : events) {
    area += double(live.size()) * double(clock - before);
    before = clock;
    if ((live[entry] += change) == 0) live.erase(entry);
  }
  return area / double(before);
}

class CausalScheduleLocality : public testing::TestWithParam<Order> {};

TEST_P(CausalScheduleLocality, ReadsFewHeadsAtOnce) {
  // K and V of a head are 64 KiB a tile of 128 rows of 128 bf16; an H200 has 50 MiB of L2.
  for (const int64_t tiles : {32, 64, 128}) {
    const CausalShape shape{4, 32, tiles};
    const double mib = HeadsAtOnce(Build(shape, 132, GetParam()), shape) * double(tiles) / 16;
    EXPECT_LE(mib, 32) << tiles;
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, CausalScheduleLocality, testing::ValuesIn(kOrders));

TEST(CausalSchedulePairs, EndBinsWithShortTiles) {
  for (const int64_t tiles : {32, 64, 128}) {
    const TaskList list = Build({4, 32, tiles}, 132, Order::Pairs);
    for (size_t bin = 0; bin < BinCount(list); ++bin) {
      const auto words = TasksOf(list, bin);
      int64_t heaviest = 0;
      for (const uint64_t word : words) heaviest = std::max(heaviest, Unpack(word).tile);
      EXPECT_LT(Unpack(words.back()).tile, heaviest) << tiles << " tiles, bin " << bin;
    }
  }
}

template <class Body>
std::string RefusalOf(const Body& body) {
  try {
    body();
  } catch (const choreo::error& e) {
    EXPECT_EQ(e.code, choreo::status::invalid_argument);
    return e.what();
  }
  return "";
}

std::string RefusalOf(const CausalShape& shape, int64_t bins = 132, int64_t fixed_cost = 4) {
  return RefusalOf([&] { BuildCausalSchedule(shape, bins, fixed_cost); });
}

TEST(CausalScheduleRefusal, NamesWhatDoesNotFit) {
  EXPECT_THAT(RefusalOf({1, 1, 16777217}),
              HasSubstr("query tiles is 16777217, but must be from 0 to 16777216"));
  EXPECT_THAT(RefusalOf({1, 1048577, 1}), HasSubstr("heads is 1048577"));
  EXPECT_THAT(RefusalOf({1048577, 1, 1}), HasSubstr("batch is 1048577"));
  EXPECT_THAT(RefusalOf({-1, 1, 1}), HasSubstr("batch is -1"));
  EXPECT_THAT(RefusalOf({1048576, 1048576, 16777216}), HasSubstr("batch * heads is"));
  EXPECT_THAT(
      RefusalOf({1024, 1024, 2048}),
      HasSubstr("batch * heads is 1048576, but must be from 0 to 1048575 (2048 query tiles"));
  EXPECT_THAT(RefusalOf({1, 1, 1}, 0), HasSubstr("the number of bins is 0, but must be from 1"));
  EXPECT_THAT(RefusalOf({1, 1, 1}, -3), HasSubstr("the number of bins is -3"));
  EXPECT_THAT(RefusalOf({1, 1, 1}, 1048577), HasSubstr("the number of bins is 1048577"));
  EXPECT_THAT(RefusalOf({1, 1, 1}, 1, -1), HasSubstr("the fixed cost of a tile is -1"));
}

TEST(CausalScheduleFixedCost, ComesFromTheEnvironment) {
  const auto with = [](const char* value) {
    setenv("CHOREO_SCHED_FIXED_COST", value, 1);
    return FixedCostFromEnvironment();
  };
  unsetenv("CHOREO_SCHED_FIXED_COST");
  EXPECT_EQ(FixedCostFromEnvironment(), 4);
  EXPECT_EQ(with(""), 4);
  EXPECT_EQ(with("0"), 0);
  EXPECT_EQ(with("17"), 17);
  for (const char* bad : {"x", "4x", "-1", "4.5", " 4", "1048577", "99999999999999999999"}) {
    EXPECT_THAT(RefusalOf([&] { with(bad); }),
                HasSubstr("`CHOREO_SCHED_FIXED_COST`: `" + std::string(bad) +
                          "` is not an integer from 0 to 1048576"));
  }
  unsetenv("CHOREO_SCHED_FIXED_COST");
}

TEST(Validate, NamesWhatIsWrong) {
  const CausalShape shape{2, 3, 4};
  const TaskList good = Build(shape, 2, Order::Pairs);
  const auto problem = [&](auto&& spoil) {
    TaskList list = good;
    spoil(list);
    return Validate(list, shape);
  };
  const auto at = [&](const Task& task) {
    return std::find(good.tasks.begin(), good.tasks.end(), Pack(task)) - good.tasks.begin();
  };
  const int64_t one = at({3, 1, 1});
  EXPECT_EQ(problem([](TaskList&) {}), "");
  EXPECT_EQ(problem([&](TaskList& list) {
              list.tasks.erase(list.tasks.begin() + one);
              list.bins = {0, 23};
            }),
            "tile 3 of head 1, batch 1 is missing");
  EXPECT_EQ(problem([&](TaskList& list) { list.tasks[at({0, 0, 0})] = list.tasks[one]; }),
            "tile 3 of head 1, batch 1 is listed twice");
  EXPECT_EQ(problem([&](TaskList& list) { list.tasks[one] = Pack({4, 1, 1}); }),
            "tile 4 of head 1, batch 1 is not of this shape");
  EXPECT_EQ(problem([](TaskList& list) { list.bins = {0, 10, 11, 24}; }),
            "bin 1 is tasks 11 to 24, but must begin at 10 and end by 24");
  EXPECT_EQ(problem([](TaskList& list) { list.bins = {0, 10, 9, 24}; }),
            "bin 1 is tasks 9 to 24, but must begin at 10 and end by 24");
  EXPECT_EQ(problem([](TaskList& list) { list.bins = {0, 10}; }), "task 10 is in no bin");
  EXPECT_EQ(problem([](TaskList& list) { list.bins = {0, 24, 24}; }),
            "the bins are not pairs of a begin and an end");
}

}  // namespace
}  // namespace schedule
