// The results as files and text. In: one line a candidate. Out: `tune.csv`, `tune.md`; the same
// lines give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/tune_statistics.h"

namespace choreo::driver {

struct TuneLine {
  std::string candidate;
  std::optional<int> registers;  // of what was built for the GPU
  std::optional<int> spill_bytes;
  std::optional<double> ms;
  std::optional<TuneSummary> summary;  // beside the reference
  std::string verdict;
};

struct TuneTable {
  std::string program;    // "gemm_ws.co, --m 4096"
  std::string reference;  // what ratios are to; empty: nothing was timed
  std::string status;     // "complete" or why not
  std::string result;     // the sentence below the table
  std::vector<TuneLine> lines;
};

std::string RenderCsv(const TuneTable& table);
std::string RenderMarkdown(const TuneTable& table);

}  // namespace choreo::driver
