#include "driver/tune_verdicts.h"

#include <gmock/gmock.h>

#include "driver/tune_progress.h"

namespace choreo::driver {
namespace {

using testing::HasSubstr;
using End = TuneMeasurement::End;

TuneProgram Built(const std::string& label, int registers) {
  TuneProgram program;
  program.label = label;
  program.key = program.binary = label;
  program.reported = true;
  program.report.registers = registers;
  return program;
}

TuneTurns Timed(const std::vector<double>& ms, double reference = 1) {
  TuneTurns turns;
  turns.verified = true;
  for (const double figure : ms)
    turns.samples.push_back({{reference}, {figure}, {reference * 1.01}});
  return turns;
}

// The defaults, one that is better, one within the noise of 1 %, one that was refused, one that is
// wrong.
class TuneVerdictsTest : public testing::Test {
 protected:
  TuneVerdictsTest() {
    programs = {Built("defaults", 168), Built("A=1", 160), Built("A=2", 152), Built("A=3", 255),
                Built("A=4", 100)};
    programs[3].binary.clear();
    programs[3].refused = "kernel `k` spills";
    measurement.turns = {{}, Timed({0.9, 0.95, 0.92}), Timed({1.0, 1.001, 1.002}), {}, {}};
    measurement.turns[0].verified = true;
    measurement.turns[4].failed = "wrong";
  }
  TuneVerdicts Judge() const { return JudgeTuning({programs, &measurement, reference, 3, true}); }

  std::vector<TuneProgram> programs;
  TuneMeasurement measurement;
  std::string reference;
};

TEST_F(TuneVerdictsTest, OfACompleteMeasurement) {
  const TuneVerdicts verdicts = Judge();
  ASSERT_EQ(verdicts.lines.size(), 5u);
  EXPECT_EQ(verdicts.lines[0].verdict, "the reference");
  EXPECT_DOUBLE_EQ(*verdicts.lines[0].ms, 1.005);
  EXPECT_EQ(verdicts.lines[1].verdict, "best");
  EXPECT_EQ(verdicts.lines[2].verdict, "no difference");
  EXPECT_EQ(verdicts.lines[3].verdict, "refused: kernel `k` spills");
  EXPECT_EQ(verdicts.lines[4].verdict, "failed: wrong");
  EXPECT_EQ(verdicts.winner, 1u);
  EXPECT_EQ(verdicts.status, "Complete: 3 rounds");
  EXPECT_THAT(verdicts.result, HasSubstr("A=1 is 1.0924 times as fast as the defaults"));
  EXPECT_THAT(verdicts.result, HasSubstr("the noise is 1.00 %"));
}

TEST_F(TuneVerdictsTest, NobodyWinsByLessThanTheNoise) {
  measurement.turns[1] = Timed({0.998, 0.999, 1.0});
  const TuneVerdicts verdicts = Judge();
  EXPECT_FALSE(verdicts.winner);
  EXPECT_EQ(verdicts.lines[1].verdict, "no difference");
  EXPECT_THAT(verdicts.result, HasSubstr("No difference above the noise of 1.00 %"));
}

TEST_F(TuneVerdictsTest, WhoWasDroppedOrDidNotFinishCannotWin) {
  measurement.turns[1].samples.resize(1);
  measurement.turns[1].dropped_after = 0;
  EXPECT_FALSE(Judge().winner);
  EXPECT_EQ(Judge().lines[1].verdict, "dropped after round 1");
  measurement.turns[1].dropped_after.reset();
  measurement.end = End::Interrupted;
  EXPECT_FALSE(Judge().winner);
  EXPECT_EQ(Judge().lines[1].verdict, "1 of 3 rounds");
  EXPECT_THAT(Judge().status, HasSubstr("Incomplete: interrupted"));
}

TEST_F(TuneVerdictsTest, BesideAnotherReferenceTheDefaultsAreStillToBeBeaten) {
  reference = "v4";
  measurement.turns[0] = Timed({0.8, 0.8, 0.8});
  const TuneVerdicts verdicts = Judge();
  ASSERT_EQ(verdicts.lines.size(), 6u);
  EXPECT_EQ(verdicts.lines[0].verdict, "the reference");
  EXPECT_EQ(verdicts.lines[1].verdict, "the defaults");
  EXPECT_EQ(verdicts.lines[2].verdict, "slower");
  EXPECT_FALSE(verdicts.winner);
}

TEST_F(TuneVerdictsTest, WithoutTheDefaultsTheReferenceIsToBeBeaten) {
  reference = "v4";
  programs[0].binary.clear();
  programs[0].refused = "no memory";
  measurement.turns[0] = {};
  EXPECT_EQ(Judge().winner, 1u);
  EXPECT_THAT(Judge().result, HasSubstr("as fast as the reference"));
  measurement.turns[1] = Timed({1.1, 1.1, 1.1});
  EXPECT_THAT(Judge().result, HasSubstr("the reference stays ahead"));
}

TEST_F(TuneVerdictsTest, WithoutACardOrAtAll) {
  measurement.end = End::NoDevice;
  measurement.turns.assign(5, {});
  EXPECT_EQ(Judge().lines[0].verdict, "built, not run");
  EXPECT_EQ(Judge().result, "No sm_90 device: 4 of 5 candidates were built, none was run.");
  const TuneVerdicts none = JudgeTuning({programs, nullptr, "", 3, true});
  EXPECT_EQ(none.status, "Incomplete: nothing was run");
  EXPECT_EQ(none.lines[3].verdict, "refused: kernel `k` spills");
}

TEST(TuneTable, CellsAreQuoted) {
  TuneLine line{"A=\"1,2\"", 168, 0, 0.5, TuneSummary{3, 0.5, 0.55, 1.1, 1.05, 1.15}, "a | b"};
  const TuneTable table{"k.co", "the defaults", "Complete", "Done.", {line}};
  EXPECT_EQ(RenderCsv(table),
            "candidate,registers,spill_bytes,ms,ratio,ratio_low,ratio_high,verdict\n"
            "\"A=\"\"1,2\"\"\",168,0,0.5000,1.1000,1.0500,1.1500,a | b\n");
  EXPECT_EQ(
      RenderMarkdown(table),
      "# k.co\n\nComplete.\n"
      "The ratio is the time of the defaults over the candidate's: above 1 it is faster.\n\n"
      "| candidate | registers | spilled | ms     | ratio (range)             | verdict |\n"
      "| --------- | --------- | ------- | ------ | ------------------------- | ------- |\n"
      "| A=\"1,2\"   | 168       | 0       | 0.5000 | 1.1000 (1.0500 to 1.1500) | a \\| b  |\n"
      "\nDone.\n");
}

TEST(TuneProgress, TimeLeft) {
  EXPECT_EQ(TimeLeft(10, 0, 5), "");
  EXPECT_EQ(TimeLeft(10, 5, 0), "");
  EXPECT_EQ(TimeLeft(10, 5, 20), "about 40 s");
  EXPECT_EQ(TimeLeft(10, 1, 18), "about 3 min");
  EXPECT_EQ(TimeLeft(100, 1, 144), "about 4.0 h");
}

}  // namespace
}  // namespace choreo::driver
