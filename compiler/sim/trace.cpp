#include "sim/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace choreo::sim {

std::string_view Name(SpanKind kind) {
  switch (kind) {
    case SpanKind::Compute:
      return "compute";
    case SpanKind::Wait:
      return "wait";
    case SpanKind::Mma:
      return "mma";
    case SpanKind::Load:
      return "load";
    case SpanKind::Store:
      return "store";
  }
  return "";
}

TraceRows LayOutRows(const Trace& trace) {
  TraceRows rows;
  rows.row_of.resize(trace.spans.size());
  rows.rows_of_track.assign(trace.tracks.size(), 1);
  std::vector<std::vector<uint64_t>> ends(trace.tracks.size());  // by track, row
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    const TraceSpan& span = trace.spans[i];
    std::vector<uint64_t>& of_track = ends[span.track];
    const auto fits = [&](uint64_t end) { return end <= span.start; };
    auto row = std::find_if(of_track.begin(), of_track.end(), fits);
    if (row == of_track.end()) row = of_track.insert(row, 0);
    *row = span.end;
    rows.row_of[i] = static_cast<uint32_t>(row - of_track.begin());
    uint32_t& count = rows.rows_of_track[span.track];
    count = std::max(count, static_cast<uint32_t>(of_track.size()));
  }
  return rows;
}

std::string WriteTraceJson(const Trace& trace) {
  using Json = nlohmann::ordered_json;
  const TraceRows rows = LayOutRows(trace);
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", 0},
                    {"args", {{"name", trace.kernel + ", modelled cycles"}}}});
  std::vector<uint32_t> first;  // thread id of each track's first row
  uint32_t next = 0;
  for (size_t track = 0; track < trace.tracks.size(); ++track) {
    first.push_back(next);
    for (uint32_t row = 0; row < rows.rows_of_track[track]; ++row, ++next) {
      Json name = {{"name", "thread_name"}, {"ph", "M"}, {"pid", 0}, {"tid", next}};
      name["args"] = {{"name", trace.tracks[track]}};
      Json order = {{"name", "thread_sort_index"}, {"ph", "M"}, {"pid", 0}, {"tid", next}};
      order["args"] = {{"sort_index", next}};
      events.push_back(std::move(name));
      events.push_back(std::move(order));
    }
  }
  for (size_t i = 0; i < trace.spans.size(); ++i) {
    const TraceSpan& span = trace.spans[i];
    // The format's unit is a microsecond; one stands for a cycle here.
    events.push_back({{"name", span.name},
                      {"cat", Name(span.kind)},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", first[span.track] + rows.row_of[i]},
                      {"ts", span.start},
                      {"dur", span.end - span.start},
                      {"args", {{"line", span.line}}}});
  }
  Json document;
  document["traceEvents"] = std::move(events);
  document["otherData"] = {{"time", "modelled: cycles of a table, not measured"},
                           {"kernel", trace.kernel},
                           {"source", trace.source_name},
                           {"cta", trace.cta},
                           {"cycles", trace.cycles}};
  return document.dump(1) + "\n";
}

}  // namespace choreo::sim
