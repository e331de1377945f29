// Modelled timelines of the pipeline: who runs when, what overlaps, and the pictures of it.
#include <algorithm>

#include "sim/pipeline_test_util.h"
#include "sim/trace.h"
#include "sim/view.h"

namespace choreo::sim {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Trace TraceOf(const std::string& body, int slices) {
  const int k = 64 * slices;
  const auto size = static_cast<size_t>(k);
  const Aligned<bf16> a(RandomBf16(64 * size, 1)), b(RandomBf16(64 * size, 2));
  Aligned<bf16> c(64 * 64);
  Trace trace;
  RunOptions options;
  options.trace = &trace;
  const Report report =
      RunKernel(ReadKernel(LoweredText(kPipelineTables, kPipelineHost, body)), options,
                row_major(a.data, 64, k), row_major(b.data, 64, k), row_major(c.data, 64, 64));
  EXPECT_THAT(Kinds(report), IsEmpty());
  return trace;
}

std::vector<TraceSpan> SpansOf(const Trace& trace, const std::string& track) {
  const auto at = std::find(trace.tracks.begin(), trace.tracks.end(), track);
  EXPECT_NE(at, trace.tracks.end()) << track;
  std::vector<TraceSpan> spans;
  for (const TraceSpan& span : trace.spans) {
    if (at != trace.tracks.end() && span.track == at - trace.tracks.begin()) spans.push_back(span);
  }
  return spans;
}

TEST(TraceTest, TracksAndSpans) {
  const Trace trace = TraceOf(PipelineBody(), 6);
  EXPECT_EQ(trace.kernel, "k");
  EXPECT_THAT(trace.tracks, Contains("producer, warpgroup 0"));
  EXPECT_THAT(trace.tracks, Contains("consumer, warpgroup 1"));
  EXPECT_EQ(SpansOf(trace, "TMA loads").size(), 12u);
  EXPECT_EQ(SpansOf(trace, "TMA stores").size(), 1u);
  // The four slices of a step are one MMA: four times 64 / 2 cycles.
  const std::vector<TraceSpan> mmas = SpansOf(trace, "tensor core, warpgroup 1");
  ASSERT_EQ(mmas.size(), 6u);
  for (const TraceSpan& mma : mmas) {
    EXPECT_EQ(mma.name, "acc");
    EXPECT_EQ(mma.line, 14u);
    EXPECT_GE(mma.end - mma.start, 128u);
  }
  const std::vector<TraceSpan> consumer = SpansOf(trace, "consumer, warpgroup 1");
  const auto first_wait = std::find_if(consumer.begin(), consumer.end(), [](const TraceSpan& s) {
    return s.kind == SpanKind::Wait && s.line == 12;
  });
  ASSERT_NE(first_wait, consumer.end());
  EXPECT_EQ(first_wait->name, "slot 0 of `full`");
}

TEST(TraceTest, TimeIsConsistent) {
  const Trace trace = TraceOf(PipelineBody(), 6);
  uint64_t start = 0;
  for (const TraceSpan& span : trace.spans) {
    EXPECT_LT(span.start, span.end);
    EXPECT_LE(start, span.start);
    start = span.start;
    EXPECT_LT(span.track, trace.tracks.size());
  }
  // An MMA starts after the loads of its slice have landed.
  const std::vector<TraceSpan> loads = SpansOf(trace, "TMA loads");
  const std::vector<TraceSpan> mmas = SpansOf(trace, "tensor core, warpgroup 1");
  for (size_t i = 0; i < mmas.size(); ++i) {
    EXPECT_GE(mmas[i].start, loads[2 * i + 1].end) << i;
    EXPECT_GT(mmas[i].start, loads[2 * i].end) << i;
  }
  // Two stages: the loads of slice i + 2 wait for the MMA of slice i.
  for (size_t i = 0; i + 2 < mmas.size(); ++i) EXPECT_GT(loads[2 * i + 4].start, mmas[i].end);
  // The same execution gives the same trace.
  EXPECT_EQ(WriteTraceJson(trace), WriteTraceJson(TraceOf(PipelineBody(), 6)));
}

TEST(TraceTest, OverlappingSpansGetRowsOfTheirOwn) {
  const Trace trace = TraceOf(PipelineBody(), 4);
  const TraceRows rows = LayOutRows(trace);
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const TraceSpan &a = trace.spans[i], &b = trace.spans[j];
      if (a.track != b.track || rows.row_of[i] != rows.row_of[j]) continue;
      EXPECT_GE(a.start, b.end);
    }
  }
}

TEST(TraceTest, Pictures) {
  const Trace trace = TraceOf(PipelineBody(), 3);
  EXPECT_THAT(WriteTraceJson(trace), HasSubstr("\"name\": \"consumer, warpgroup 1\""));
  EXPECT_THAT(WriteTraceJson(trace), HasSubstr("modelled"));
  const std::string text = RenderText(trace, 60);
  EXPECT_THAT(text, HasSubstr("modelled (not measured)"));
  EXPECT_THAT(text, HasSubstr("tensor core, warpgroup 1"));
  EXPECT_THAT(text, HasSubstr("MM"));
  EXPECT_THAT(text, HasSubstr("LL"));
  const std::string svg = RenderSvg(trace);
  EXPECT_THAT(svg, testing::StartsWith("<svg"));
  EXPECT_THAT(svg, HasSubstr("modelled (not measured)"));
  EXPECT_THAT(svg, HasSubstr("slot 0 of `full`"));
  EXPECT_THAT(RenderSvg(trace, {0, 100}), HasSubstr("cycles 0 to 100"));
  EXPECT_THAT(RenderText(Trace{}), HasSubstr("modelled"));
}

TEST(TraceTest, FewerStagesTakeLonger) {
  // The same work with the second slot unused: load and MMA alternate.
  std::string single = PipelineBody();
  for (const char* var : {"%k", "%k.1"}) {
    const std::string slot = fmt::format("slot=({} % 2)", var);
    while (single.find(slot) != std::string::npos) single = Replaced(single, slot, "slot=0");
    const std::string half = fmt::format("({} / 2) % 2", var);
    while (single.find(half) != std::string::npos) {
      single = Replaced(single, half, fmt::format("{} % 2", var));
    }
  }
  std::string tables = kPipelineTables;
  for (const char* event : {"$full", "$empty"}) {
    const size_t at = tables.find(event);
    tables.replace(tables.find("array_size=2", at), 12, "array_size=1");
  }
  const int k = 64 * 6;
  const Aligned<bf16> a(RandomBf16(64 * k, 1)), b(RandomBf16(64 * k, 2));
  Aligned<bf16> c(64 * 64);
  Trace one;
  RunOptions options;
  options.trace = &one;
  const Report report =
      RunKernel(ReadKernel(LoweredText(tables, kPipelineHost, single)), options,
                row_major(a.data, 64, k), row_major(b.data, 64, k), row_major(c.data, 64, 64));
  EXPECT_THAT(Kinds(report), IsEmpty());
  EXPECT_GT(one.cycles, TraceOf(PipelineBody(), 6).cycles + 6 * 100);
}

}  // namespace
}  // namespace choreo::sim
