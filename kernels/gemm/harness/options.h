// Command line and environment of the GEMM drivers.
// In: argv, CHOREO_DISABLE_TIMING. Out: Options, or a UsageError with one clear message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "../../harness/command_line.h"
#include "../../harness/run.h"

namespace gemm {

using harness::kMaxExtent;
using harness::UsageError;

struct Options {
  int64_t m = -1, n = -1, k = -1, ctas = -1;  // -1: the default of the target
  int64_t check_repeat = 0;
  uint32_t seed = 42;
  harness::Rounds rounds;
  std::string json;
  bool timing = true, verify = true, help = false;
};

// C [m, n] = A [m, k] · B [n, k]ᵀ. Rows are padded to 16 bytes, the unit of TMA's strides.
struct Shape {
  int64_t m, n, k;
  static int64_t Pitch(int64_t columns) { return (columns + 7) / 8 * 8; }
  double flops() const { return 2.0 * double(m) * double(n) * double(k); }
};

inline std::string UsageText(const std::string& kernel) {
  return "usage: " + kernel +
         " [options]\n"
         "  --m N, --n N, --k N  C [m, n] = A [m, k] · B [n, k]ᵀ (8192 each; simulator: 256, 512, "
         "256)\n"
         "  --ctas N             CTAs at work (as many as SMs; simulator: 3)\n"
         "  --seed N             seed of the inputs (42)\n"
         "  --warmup N           launches before each timed round (50)\n"
         "  --repeat N           timed launches a round, back to back (200)\n"
         "  --rounds N           timed rounds; the median is reported (3)\n"
         "  --idle-ms N          pause before each round (0)\n"
         "  --check-repeat N     launch N times more and compare the outputs bitwise (0)\n"
         "  --no-verify          skip verification, only time\n"
         "  --json FILE          write one JSON object a line for every measurement\n"
         "environment: CHOREO_DISABLE_TIMING=1 (verify only; the GEMM is then the first launch)\n"
         "exit status: 0 passed, 1 failed, 2 wrong usage, 77 no sm_90 device\n";
}

inline void ApplyOption(Options& options, const harness::CommandOption& option) {
  int64_t seed = options.seed;
  const harness::IntegerOption fields[] = {
      {"--m", &options.m, 0, kMaxExtent},
      {"--n", &options.n, 0, kMaxExtent},
      {"--k", &options.k, 1, kMaxExtent},
      {"--ctas", &options.ctas, 1, kMaxExtent},
      {"--seed", &seed, 0, 0xffffffffll},
      {"--warmup", &options.rounds.warmup, 0, 1'000'000},
      {"--repeat", &options.rounds.repeat, 1, 1'000'000},
      {"--rounds", &options.rounds.rounds, 1, 1'000},
      {"--idle-ms", &options.rounds.idle_ms, 0, 3'600'000},
      {"--check-repeat", &options.check_repeat, 0, 1'000'000},
  };
  if (option.name == "--json") {
    options.json = std::string(harness::Required("option `--json`", option.value));
  } else if (!harness::TakeInteger(fields, option)) {
    throw harness::UnknownOption(option.name);
  }
  options.seed = uint32_t(seed);
}

inline Options ParseOptions(int argc, char** argv) {
  Options options;
  options.timing = harness::TimingWanted();
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
    } else if (name == "--no-verify") {
      options.verify = false;
    } else {
      ApplyOption(options, harness::NextOption(argc, argv, i));
    }
  }
  if (!options.verify && !options.timing) {
    throw UsageError("--no-verify together with CHOREO_DISABLE_TIMING=1 leaves nothing to do");
  }
  return options;
}

inline Shape MakeShape(const Options& options, bool simulated) {
  const auto choose = [&](int64_t asked, int64_t device, int64_t simulator) {
    return asked >= 0 ? asked : simulated ? simulator : device;
  };
  return {choose(options.m, 8192, 256), choose(options.n, 8192, 512), choose(options.k, 8192, 256)};
}

}  // namespace gemm
