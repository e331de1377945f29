// What `choreo tune` is going to try. In: the .co file and the command line. Out: its candidates,
// or diagnostics: of ranges that cannot be read, of macros that -D cannot set. Must hold
// afterwards: building with a candidate's -D gives the program that its name promises.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/session.h"
#include "driver/tune_candidates.h"

namespace choreo::driver {

struct TunePlan {
  std::string text;          // of the file
  std::string sources_hash;  // of it and of all that it includes
  std::vector<TuneCandidate> candidates;
};

// Nothing after errors, which are the session's; `usage` says what is wrong with `--only`.
std::optional<TunePlan> PlanTuning(Session& session, const std::string& runtime_include_dir,
                                   std::string& usage);

}  // namespace choreo::driver
