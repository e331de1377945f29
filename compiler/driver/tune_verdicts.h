// From measurements to a table and a winner. In: programs, what their turns gave, how the
// measurement ended. Out: the lines of the table in the order of the candidates, the sentence below
// it, and the candidate that is better than the defaults by more than the noise, if one is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/tune_build.h"
#include "driver/tune_measure.h"
#include "driver/tune_table.h"

namespace choreo::driver {

struct TuneOutcome {
  const std::vector<TuneProgram>& programs;  // the defaults first
  const TuneMeasurement* measurement;        // of these programs; null: there was none
  std::string reference;  // label of one that is not among the programs; empty: the defaults
  uint64_t rounds = 3;
  bool timed = true;
};

struct TuneVerdicts {
  std::vector<TuneLine> lines;
  std::string status, result;
  std::optional<size_t> winner;  // index of a program
};
TuneVerdicts JudgeTuning(const TuneOutcome& outcome);

}  // namespace choreo::driver
