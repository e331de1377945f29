// The harness of persistent attention kernels: what a kernel is given, its own options, and that
// two shapes on two streams are compared with what each gives alone.
#define CHOREO_TARGET_SIM
#include "attention/persistent_harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "attention/harness.h"
#include "schedule/causal_schedule.h"

namespace attention {
namespace {

using choreo::bf16;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kDim = 16, kBlock = 32;
using Input = choreo::view<const bf16, 4>;
using Output = choreo::view<bf16, 4>;
using TaskWords = choreo::view<const uint64_t, 1>;
using CtaBins = choreo::view<const int32_t, 2>;

// Rows of one query tile, attended in f32.
void AttendTile(Input q, Input k, Input v, Output o, const schedule::Task& task) {
  const auto at = [](const auto& x, int64_t b, int64_t s, int64_t h) {
    return x.data + b * x.stride[0] + s * x.stride[1] + h * x.stride[2];
  };
  const int64_t b = task.batch, h = task.head;
  const int64_t end = std::min((task.tile + 1) * kBlock, q.extent[1]);
  for (int64_t s = task.tile * kBlock; s < end; ++s) {
    std::vector<float> sum(kDim, 0.0f);
    float total = 0;
    for (int64_t t = 0; t <= s; ++t) {
      float score = 0;
      for (int d = 0; d < kDim; ++d) score += float(at(q, b, s, h)[d]) * float(at(k, b, t, h)[d]);
      const float weight = std::exp(score / std::sqrt(float(kDim)));
      total += weight;
      for (int d = 0; d < kDim; ++d) sum[d] += weight * float(at(v, b, t, h)[d]);
    }
    for (int d = 0; d < kDim; ++d) at(o, b, s, h)[d] = bf16(sum[d] / total);
  }
}

void AttendTasks(Input q, Input k, Input v, Output o, TaskWords tasks, CtaBins bins) {
  for (int64_t cta = 0; cta < bins.extent[0]; ++cta) {
    for (int32_t i = bins.data[2 * cta]; i < bins.data[2 * cta + 1]; ++i) {
      AttendTile(q, k, v, o, schedule::Unpack(tasks.data[i]));
    }
  }
}

void Fill(choreo::view<bf16, 2> x, uint32_t seed, uint32_t tensor, float limit, choreo::Stream) {
  for (int64_t row = 0; row < x.extent[0]; ++row) {
    GenerateRow<bf16>(seed, {tensor, limit}, row, x.extent[1],
                      [&](int64_t col, bf16 value) { x.data[row * x.stride[0] + col] = value; });
  }
}

// `see(o, tasks, bins, launch)` follows each launch.
using See = std::function<void(Output, TaskWords, CtaBins, int)>;

template <attention::Tasks kTasks = attention::Tasks{kBlock}>
int RunPersistent(std::vector<std::string> arguments, const See& see = {}) {
  arguments.insert(arguments.begin(), "test");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int launches = 0;
  return MainPersistent<bf16, kDim, kTasks>(
      "test", int(argv.size()), argv.data(),
      [&](Input q, Input k, Input v, Output o, TaskWords tasks, CtaBins bins, choreo::Stream) {
        AttendTasks(q, k, v, o, tasks, bins);
        if (see) see(o, tasks, bins, launches);
        ++launches;
      },
      Fill);
}

const std::vector<std::string> kSmall = {"--batch", "2", "--heads", "3", "--seq", "70"};

std::vector<std::string> With(std::vector<std::string> arguments,
                              const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(PersistentHarness, GivesTheKernelListsOfItsShape) {
  int launches = 0;
  EXPECT_EQ(RunPersistent(kSmall,
                          [&](Output, TaskWords tasks, CtaBins bins, int) {
                            ++launches;
                            EXPECT_EQ(tasks.extent[0], 2 * 3 * 3);
                            EXPECT_EQ(bins.extent[0], 4);
                            EXPECT_EQ(bins.extent[1], 2);
                          }),
            0);
  EXPECT_EQ(launches, 1);
}

TEST(PersistentHarness, RunsAnyNumberOfCtas) {
  for (const std::string ctas : {"1", "7", "132", "500"}) {
    EXPECT_EQ(RunPersistent(With(kSmall, {"--ctas", ctas}),
                            [&](Output, TaskWords, CtaBins bins, int) {
                              EXPECT_EQ(bins.extent[0], std::stoi(ctas));
                            }),
              0);
  }
}

TEST(PersistentHarness, OrdersTheListsAsAsked) {
  const auto with = [](const std::vector<std::string>& options) {
    std::vector<uint64_t> words;
    EXPECT_EQ(RunPersistent(With({"--batch", "2", "--heads", "4", "--seq", "200"}, options),
                            [&](Output, TaskWords tasks, CtaBins, int) {
                              words.assign(tasks.data, tasks.data + tasks.extent[0]);
                            }),
              0);
    return words;
  };
  const schedule::CausalShape shape{2, 4, 7};
  const auto in = [&](schedule::Order order) {
    return schedule::BuildCausalSchedule(shape, 4, schedule::kDefaultFixedCost, order).tasks;
  };
  EXPECT_EQ(with({"--schedule", "pairs"}), in(schedule::Order::Pairs));
  EXPECT_EQ(with({"--schedule", "sections"}), in(schedule::Order::Sections));
  EXPECT_EQ(with({}), in(schedule::Order::Sections));
  EXPECT_NE(with({}), with({"--schedule", "pairs"}));
}

TEST(PersistentHarness, UploadsTheListsOfAShapeOnce) {
  std::set<const void*> addresses;
  EXPECT_EQ(RunPersistent(With(kSmall, {"--check-repeat", "3"}),
                          [&](Output, TaskWords tasks, CtaBins bins, int) {
                            addresses.insert(tasks.data);
                            addresses.insert(bins.data);
                          }),
            0);
  EXPECT_EQ(addresses.size(), 2u);
}

TEST(PersistentHarness, LaunchesNothingForNothing) {
  const auto unexpected = [](Output, TaskWords, CtaBins, int) { FAIL() << "launched"; };
  EXPECT_EQ(RunPersistent({"--batch", "0"}, unexpected), 0);
  EXPECT_EQ(RunPersistent({"--seq", "0"}, unexpected), 0);
}

TEST(PersistentHarness, RefusesAnOutputThatMissesATask) {
  // The last task's tile is as if it had not been listed.
  const auto forget = [](Output o, TaskWords tasks, CtaBins, int) {
    const schedule::Task task = schedule::Unpack(tasks.data[tasks.extent[0] - 1]);
    o.data[task.batch * o.stride[0] + task.tile * kBlock * o.stride[1] + task.head * o.stride[2]] =
        bf16::from_bits(0xffff);
  };
  EXPECT_EQ(RunPersistent(kSmall, forget), 1);
}

TEST(PersistentHarness, RefusesMisuse) {
  EXPECT_EQ(RunPersistent({"--ctas", "0"}), 2);
  EXPECT_EQ(RunPersistent({"--ctas", "1048577"}), 2);
  EXPECT_EQ(RunPersistent({"--ctas"}), 2);
  EXPECT_EQ(RunPersistent({"--schedule", "heads"}), 2);
  EXPECT_EQ(RunPersistent({"--schedule"}), 2);
  setenv("CHOREO_SCHED_FIXED_COST", "four", 1);
  EXPECT_EQ(RunPersistent(kSmall), 2);
  setenv("CHOREO_SCHED_FIXED_COST", "9", 1);
  EXPECT_EQ(RunPersistent(kSmall), 0);
  unsetenv("CHOREO_SCHED_FIXED_COST");
  // A shape whose heads no task word can hold; it has no rows, so that nothing is allocated.
  EXPECT_EQ(RunPersistent({"--heads", "1048577", "--seq", "0"}), 1);
}

TEST(PersistentHarness, TellsTheListsApartFromTheKernel) {
  const std::string path = testing::TempDir() + "/persistent_rows.jsonl";
  EXPECT_EQ(RunPersistent(With(kSmall, {"--json", path, "--ctas", "5"})), 0);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("{\"row\": \"schedule\""));
  EXPECT_THAT(text.str(),
              HasSubstr("\"order\": \"sections\", \"ctas\": 5, \"tasks\": 18, \"fixed_cost\": 4"));
  EXPECT_THAT(text.str(), HasSubstr("\"schedule_build_ms\": "));
  EXPECT_THAT(text.str(), HasSubstr("\"schedule_upload_ms\": "));
  std::filesystem::remove(path);
}

// A list for each cluster; the tasks of this one cost nothing but their KV tiles.
TEST(PersistentHarness, GivesClustersOneListEach) {
  constexpr attention::Tasks kPairs{kBlock, 2, 0};
  const std::string path = testing::TempDir() + "/cluster_rows.jsonl";
  const auto lists = [](int64_t want) {
    return [want](Output, TaskWords, CtaBins bins, int) { EXPECT_EQ(bins.extent[0], want); };
  };
  EXPECT_EQ(RunPersistent<kPairs>(With(kSmall, {"--json", path, "--ctas", "6"}), lists(3)), 0);
  EXPECT_EQ(RunPersistent<kPairs>(kSmall, lists(2)), 0);
  EXPECT_EQ(RunPersistent<kPairs>(With(kSmall, {"--ctas", "5"})), 2);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"ctas\": 6, \"tasks\": 18, \"fixed_cost\": 0"));
  EXPECT_THAT(text.str(), HasSubstr("\"lists\": 3"));
  std::filesystem::remove(path);
  setenv("CHOREO_SCHED_FIXED_COST", "9", 1);
  EXPECT_EQ(internal::TasksWanted(kPairs).fixed_cost, 9);
  unsetenv("CHOREO_SCHED_FIXED_COST");
  EXPECT_EQ(internal::TasksWanted(kPairs).fixed_cost, 0);
  EXPECT_EQ(internal::TasksWanted({kBlock}).fixed_cost, schedule::kDefaultFixedCost);
}

TEST(PersistentHarness, TellsItsOwnOptionsOnly) {
  EXPECT_THAT(UsageText("k", Grid::Persistent), HasSubstr("--ctas"));
  EXPECT_THAT(UsageText("k", Grid::Persistent), HasSubstr("CHOREO_SCHED_FIXED_COST"));
  EXPECT_THAT(UsageText("k", Grid::Persistent), HasSubstr("--schedule"));
  EXPECT_THAT(UsageText("k"), Not(HasSubstr("--ctas")));
  EXPECT_THAT(UsageText("k"), Not(HasSubstr("--schedule")));
  EXPECT_THAT(UsageText("k"), Not(HasSubstr("CHOREO_SCHED_FIXED_COST")));
}

TEST(Streams, InterleaveALengthWithTheNext) {
  std::vector<int64_t> lengths;
  EXPECT_EQ(
      RunPersistent({"--seq", "40,70", "--check-streams", "3"},
                    [&](Output o, TaskWords, CtaBins, int) { lengths.push_back(o.extent[1]); }),
      0);
  // Each verified, each alone once more, then in turn.
  EXPECT_THAT(lengths, ::testing::ElementsAre(40, 70, 70, 40, 70, 40, 70, 40, 70, 40));
}

TEST(Streams, InterleaveASingleLengthWithAnotherBatch) {
  std::vector<int64_t> batches;
  EXPECT_EQ(
      RunPersistent({"--seq", "40", "--check-streams", "2"},
                    [&](Output o, TaskWords, CtaBins, int) { batches.push_back(o.extent[0]); }),
      0);
  EXPECT_THAT(batches, ::testing::ElementsAre(1, 2, 2, 1, 2, 1, 2, 1));
}

TEST(Streams, RefuseAnOutputThatDiffers) {
  for (const int launch : {4, 5, 8, 9}) {
    EXPECT_EQ(RunPersistent({"--seq", "40,70", "--check-streams", "3"},
                            [&](Output o, TaskWords, CtaBins, int at) {
                              if (at == launch) o.data[5].bits ^= 1;
                            }),
              1)
        << launch;
  }
}

TEST(Streams, ServeEveryKernel) {
  std::vector<std::string> arguments = {"test", "--seq", "40,70", "--check-streams", "2"};
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  int launches = 0;
  const auto attend = [&](Input q, Input k, Input v, Output o, choreo::Stream) {
    for (int64_t b = 0; b < q.extent[0]; ++b) {
      for (int64_t h = 0; h < q.extent[2]; ++h) {
        for (int64_t t = 0; t * kBlock < q.extent[1]; ++t) AttendTile(q, k, v, o, {t, h, b});
      }
    }
    ++launches;
  };
  EXPECT_EQ((Main<bf16, kDim>("test", int(argv.size()), argv.data(), attend, Fill)), 0);
  EXPECT_EQ(launches, 8);
  arguments[1] = "--ctas";
  EXPECT_EQ((Main<bf16, kDim>("test", 3, argv.data(), attend, Fill)), 2);
}

}  // namespace
}  // namespace attention
