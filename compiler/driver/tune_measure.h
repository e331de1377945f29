// Programs to samples, one process at a time. In: programs that were built, the reference. Out: for
// each program what its verification and its turns gave. Each is verified before it is timed; in a
// round the candidates run in turn, with a run of the reference before the first and after each.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "driver/tune_interruption.h"
#include "driver/tune_rows.h"

namespace choreo::driver {

struct TuneContender {
  std::string label;
  std::string key;     // of the program
  std::string binary;  // empty: not to be run
  bool stays = false;  // is never dropped: others are compared with it
};

struct TuneMeasureOptions {
  std::vector<std::string> arguments;  // for the program
  uint64_t rounds = 3;
  size_t keep = 8;
  uint64_t timeout_s = 300;
  bool timed = true;  // the simulator has no times
  std::string folder;
  std::FILE* progress = nullptr;
};

struct TuneTurns {     // of one contender
  std::string failed;  // not empty: its verification or a run, and why
  bool verified = false;
  std::vector<TuneSample> samples;      // by round
  std::optional<size_t> dropped_after;  // the round, from 0
};

struct TuneMeasurement {
  enum class End : uint8_t { Complete, NoDevice, ReferenceFailed, Interrupted };
  End end = End::Complete;
  std::string why;               // of NoDevice and ReferenceFailed: what the program said
  std::vector<TuneTurns> turns;  // of the contenders
};

TuneMeasurement Measure(const TuneContender& reference,
                        const std::vector<TuneContender>& contenders,
                        const TuneMeasureOptions& options, TuneRows& rows,
                        const Interruption& interruption);

}  // namespace choreo::driver
