#include "driver/tune_rows.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "driver/toolchain.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(TuneRows, WhatWasAddedIsThereTheNextTime) {
  const TemporaryFolder folder("x");
  const std::string path = folder.File("rows.jsonl");
  {
    TuneRows rows(path);
    rows.AddBuild("b", "A=\"1\"", {168, 24, "kernel `k` spills", true});
    rows.AddVerification("good", "A=1", "");
    rows.AddVerification("bad", "A=2", "\xff wrong");
    rows.AddSample("s", "A=1", 2, {{1.5}, {1.25}, {1.75}});
    EXPECT_EQ(rows.error(), "");
  }
  const TuneRows rows(path);
  ASSERT_TRUE(rows.Build("b"));
  EXPECT_EQ(rows.Build("b")->registers, 168);
  EXPECT_EQ(rows.Build("b")->spill_bytes, 24);
  EXPECT_EQ(rows.Build("b")->complaint, "kernel `k` spills");
  EXPECT_TRUE(rows.Build("b")->only_spills);
  EXPECT_FALSE(rows.Build("c"));
  EXPECT_TRUE(rows.Verified("good"));
  EXPECT_FALSE(rows.Verified("bad"));
  EXPECT_FALSE(rows.Verified("other"));
  ASSERT_TRUE(rows.Sample("s", 2));
  EXPECT_THAT(rows.Sample("s", 2)->ms, ElementsAre(1.25));
  EXPECT_THAT(rows.Sample("s", 2)->after, ElementsAre(1.75));
  EXPECT_FALSE(rows.Sample("s", 1));
}

TEST(TuneRows, LinesThatAreNoneArePassedOver) {
  const TemporaryFolder folder("x");
  const std::string path = folder.File("rows.jsonl");
  std::ofstream(path)
      << "not json\n[1]\n{\"row\": \"verify\"}\n{\"row\": 1, \"key\": \"x\"}\n"
      << "{\"row\": \"sample\", \"key\": \"s\", \"round\": 0, \"before\": [1], \"ms\": [], "
         "\"after\": [1]}\n"
      << "{\"row\": \"verify\", \"key\": \"v\", \"ok\": true}\n"
      << "{\"row\": \"verify\", \"key\": \"cut o";
  {
    TuneRows rows(path);
    EXPECT_TRUE(rows.Verified("v"));
    EXPECT_FALSE(rows.Sample("s", 0));
    rows.AddVerification("after the cut", "A=1", "");
  }
  EXPECT_TRUE(TuneRows(path).Verified("after the cut"));
}

TEST(TuneRows, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_THAT(TuneRows("/no/such/folder/rows.jsonl").error(), Not(IsEmpty()));
}

// As the harnesses of kernels/attention and kernels/gemm write them.
TEST(TuneRows, ReportsOfPrograms) {
  const TuneReport report = ReadTuneReport(
      "{\"row\": \"verify\", \"kernel\": \"mha_v5\", \"seq\": 4096, \"device\": \"NVIDIA H200\", "
      "\"ok\": true}\n"
      "{\"row\": \"round\", \"seq\": 4096, \"round\": 0, \"ms\": 1.5}\n"
      "{\"row\": \"timing\", \"seq\": 4096, \"verified\": true, \"ms\": 1.25}\n"
      "{\"row\": \"verify\", \"kernel\": \"mha_v5\", \"seq\": 8192, \"ok\": true}\n"
      "{\"row\": \"timing\", \"seq\": 8192, \"ms\": 5}\n");
  EXPECT_EQ(report.device, "NVIDIA H200");
  EXPECT_TRUE(report.verified);
  EXPECT_THAT(report.ms, ElementsAre(1.25, 5));
}

TEST(TuneRows, ReportsThatVerifyNothing) {
  EXPECT_FALSE(ReadTuneReport("").verified);
  EXPECT_FALSE(ReadTuneReport("{\"row\": \"timing\", \"ms\": 1}").verified);
  EXPECT_FALSE(ReadTuneReport("{\"row\": \"verify\"}").verified);
  EXPECT_FALSE(
      ReadTuneReport("{\"row\": \"verify\", \"ok\": true}\n{\"row\": \"verify\", \"ok\": false}")
          .verified);
  EXPECT_FALSE(
      ReadTuneReport("{\"row\": \"verify\", \"ok\": true}\n{\"row\": \"repeat\", \"ok\": false}")
          .verified);
  EXPECT_THAT(ReadTuneReport("{\"row\": \"timing\", \"ms\": null}\n7\n{").ms, IsEmpty());
}

TEST(TuneRows, TheLineThatTells) {
  EXPECT_EQ(TellingLine("start\n  verify   FAILED: 3 rows\nmha: FAILED\n"),
            "verify   FAILED: 3 rows");
  EXPECT_EQ(TellingLine("one\ntwo\n\n"), "two");
  EXPECT_EQ(TellingLine(""), "");
}

}  // namespace
}  // namespace choreo::driver
