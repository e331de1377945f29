// Candidates to programs. In: the .co text and sets of values. Out: for each a program that may be
// measured, or why there is none. Several are built at a time; what an earlier run built of the
// same texts and headers by the same call of the same compiler is taken as it is.
#pragma once

#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/toolchain.h"
#include "driver/tune_candidates.h"
#include "driver/tune_interruption.h"
#include "driver/tune_progress.h"
#include "driver/tune_rows.h"

namespace choreo::driver {

struct TuneProgram {
  std::string label;
  std::string key;        // of all that `binary` is made of and by; empty: not compiled
  std::string binary;     // empty: not to be measured
  std::string refused;    // why not; empty with `binary` empty: interrupted
  bool reported = false;  // `report` holds what ptxas said
  TuneBuildRow report;
};

struct TuneBuildInput {
  const Options& options;
  const std::string& text;  // of options.file
  std::string sources_hash;
  Tool tool;
  Installation installation;
  std::string folder;  // where programs go; exists
  std::FILE* progress;
};

std::vector<TuneProgram> BuildCandidates(const TuneBuildInput& input,
                                         const std::vector<TuneCandidate>& candidates,
                                         TuneRows& rows, const Interruption& interruption);

// A file name that a label gives.
std::string FileNameOf(const std::string& label);

}  // namespace choreo::driver
