// What one CTA did, on modelled time: spans of cycles on tracks (one a role and warpgroup, the TMA
// engine, the tensor core). Order and overlap come from the execution; the lengths come from the
// cycle table of timeline.h and are not measurements. In: a trace that Run filled. Out: JSON that
// Perfetto and chrome://tracing open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace choreo::sim {

enum class SpanKind : uint8_t { Compute, Wait, Mma, Load, Store };

struct TraceSpan {
  uint32_t track = 0;
  SpanKind kind = SpanKind::Compute;
  std::string name;             // the text of a line, what is waited for, what is copied …
  uint32_t line = 0;            // of the .co file; 0: none
  uint64_t start = 0, end = 0;  // cycles
};

struct Trace {
  std::string kernel, source_name;
  uint64_t cta = 0;
  uint64_t cycles = 0;              // until the last warp exited
  std::vector<std::string> tracks;  // names
  std::vector<TraceSpan> spans;     // of a track in order of their starts
};

std::string_view Name(SpanKind kind);

// Spans of one track may overlap (loads in flight). The row of each: rows of a track hold spans
// that do not.
struct TraceRows {
  std::vector<uint32_t> row_of;         // by span: its row within its track
  std::vector<uint32_t> rows_of_track;  // by track: how many
};
TraceRows LayOutRows(const Trace& trace);

std::string WriteTraceJson(const Trace& trace);

}  // namespace choreo::sim
