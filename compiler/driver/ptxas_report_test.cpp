#include "driver/ptxas_report.h"

#include <gmock/gmock.h>

namespace choreo::driver {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

TEST(PtxasReport, ReadsACleanKernel) {
  const PtxasReport report = ReadPtxasReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z6mha_v1PKfi' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z6mha_v1PKfi\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 189 registers, used 1 barriers, 20 bytes cumulative stack size\n");
  ASSERT_THAT(report.kernels, SizeIs(1));
  EXPECT_EQ(report.kernels[0].name, "mha_v1");
  EXPECT_EQ(report.kernels[0].registers, 189);
  EXPECT_THAT(report.complaints, SizeIs(0));
  EXPECT_EQ(report.other, "");
}

TEST(PtxasReport, NamesTheTileFunctionOfAGeneratedKernel) {
  const PtxasReport report = ReadPtxasReport(
      "ptxas info    : Compiling entry function "
      "'_ZN10choreo_gen54_GLOBAL__N__a9f92b08_21_v1_manual_baseline_cu_6d6050ec17fill_input_"
      "kernelEPfi' for 'sm_90a'\n");
  ASSERT_THAT(report.kernels, SizeIs(1));
  EXPECT_EQ(report.kernels[0].name, "fill_input");
}

TEST(PtxasReport, NamesTheKernelThatSpills) {
  const PtxasReport report = ReadPtxasReport(
      "ptxas info    : Compiling entry function '_Z1aPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1aPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers\n"
      "ptxas info    : Compiling entry function '_Z1bPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1bPf\n"
      "    64 bytes stack frame, 60 bytes spill stores, 72 bytes spill loads\n"
      "ptxas info    : Used 255 registers\n");
  ASSERT_THAT(report.kernels, SizeIs(2));
  EXPECT_EQ(report.kernels[1].spill_store_bytes, 60);
  ASSERT_THAT(report.complaints, SizeIs(1));
  EXPECT_EQ(report.complaints[0].kernel, "b");
  EXPECT_THAT(report.complaints[0].what, HasSubstr("60 bytes of stores, 72 of loads"));
}

TEST(PtxasReport, SeesAStackWithoutSpills) {
  const PtxasReport report = ReadPtxasReport(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "    512 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n");
  ASSERT_THAT(report.complaints, SizeIs(1));
  EXPECT_THAT(report.complaints[0].what, HasSubstr("stack frame of 512 bytes"));
}

TEST(PtxasReport, SeesSerialisedMmas) {
  const PtxasReport report = ReadPtxasReport(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
      "serialized due to a call in the function '_Z1kPf'\n");
  ASSERT_THAT(report.complaints, SizeIs(1));
  EXPECT_EQ(report.complaints[0].kernel, "k");
  EXPECT_THAT(report.complaints[0].what, HasSubstr("C7510: Potential Performance Loss"));
}

TEST(PtxasReport, KeepsEverythingElseForTheUser) {
  const PtxasReport report =
      ReadPtxasReport("k.co(3): error: identifier \"x\" is undefined\n\n1 error detected\n");
  EXPECT_THAT(report.other, HasSubstr("identifier"));
  EXPECT_THAT(report.other, HasSubstr("1 error"));
  EXPECT_THAT(report.kernels, SizeIs(0));
}

}  // namespace
}  // namespace choreo::driver
