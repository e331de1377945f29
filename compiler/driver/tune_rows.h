// What is known of earlier runs, and what programs report. In: `rows.jsonl` of the output folder,
// one object a line. Out: rows by key; new ones are appended and flushed as they come, so that a
// run that is cut off loses nothing that it measured. A key is a hash of all that the row depends
// on.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/tune_statistics.h"

namespace choreo::driver {

struct TuneBuildRow {
  int registers = 0;        // the most that a kernel of the program has
  int spill_bytes = 0;      // stores and loads of all kernels
  std::string complaint;    // of ptxas: spills, a stack, MMAs made synchronous; empty: none
  bool only_spills = true;  // nothing but what --allow-spills allows
};

class TuneRows {
 public:
  // Reads what `path` has; what is no row of ours is passed over. `error` if it cannot be written.
  explicit TuneRows(const std::string& path);

  const std::string& error() const { return error_; }

  std::optional<TuneBuildRow> Build(const std::string& key) const;
  bool Verified(const std::string& key) const;
  std::optional<TuneSample> Sample(const std::string& key, size_t round) const;

  void AddBuild(const std::string& key, const std::string& candidate, const TuneBuildRow& row);
  // `why` empty: verified. Others are kept for the reader, and tried again.
  void AddVerification(const std::string& key, const std::string& candidate,
                       const std::string& why);
  void AddSample(const std::string& key, const std::string& candidate, size_t round,
                 const TuneSample& sample);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void Learn(std::string_view line);
  void Append(const std::string& line);

  std::unique_ptr<std::FILE, Closer> file_;
  std::string error_;
  std::map<std::string, TuneBuildRow> builds_;
  std::map<std::string, bool> verified_;
  std::map<std::pair<std::string, size_t>, TuneSample> samples_;
};

// The file that a program wrote for `--json`: one object a line with at least "row"; rows with "ok"
// are checks, rows "timing" have "ms".
struct TuneReport {
  std::string device;      // as a row names it
  bool verified = false;   // there is a row "verify", and no check failed
  std::vector<double> ms;  // of the rows "timing", in order
};
TuneReport ReadTuneReport(std::string_view json_lines);

// The line of a program's output that says what went wrong; its last one if none stands out.
std::string TellingLine(std::string_view output);

}  // namespace choreo::driver
