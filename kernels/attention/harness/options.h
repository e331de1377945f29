// Command line and environment of the attention drivers.
// In: argv, MHA_SEQ, CHOREO_DISABLE_TIMING. Out: Options, or a UsageError with one clear message.
// An option wins over the environment, the environment over the defaults of the target.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../../harness/command_line.h"
#include "../../schedule/task_list.h"

namespace attention {

using harness::kMaxExtent;
using harness::UsageError;

inline constexpr int64_t kMaxCtas = int64_t{1} << 20;
// Q and K are uniform within this, unless the driver is told otherwise.
inline constexpr float kSpread = 2.0f;

struct Options {
  int64_t batch = -1, heads = -1, kv_heads = -1;  // -1: the default of the target
  std::vector<int64_t> seqs;                      // empty: the defaults of the target
  int64_t warmup = 50, repeat = 200, rounds = 3, idle_ms = 0;
  int64_t check_repeat = 0, check_streams = 0;
  int64_t ctas = 0;  // of a persistent kernel; 0: the default of the target
  schedule::Order order = schedule::Order::Sections;  // of its task lists
  std::string shape;  // of a kernel that has several: run this one; empty: by the length
  int64_t offset = 0;
  uint32_t seed = 42;
  float spread = kSpread;
  std::string json;
  bool timing = true, verify = true, graph = false, help = false;
};

struct ShapeDefaults {
  int64_t batch, heads;
  std::vector<int64_t> seqs;
};

struct Shape {
  int64_t batch, heads, kv_heads, seq, dim;
  float spread = kSpread;  // Q and K are uniform between -spread and spread
  int64_t rows() const { return batch * seq * heads; }
  int64_t kv_rows() const { return batch * seq * kv_heads; }
  double flops() const { return 2.0 * batch * heads * double(seq) * seq * dim; }
};

inline ShapeDefaults DefaultShapes(bool simulated) {
  if (simulated) return {1, 2, {512}};
  return {4, 32, {4096, 8192, 16384}};
}

// Persistent kernels have two options and a variable more, and a third option those that come in
// several shapes.
enum class Grid { OneTileEach, Persistent, ByLength };

inline std::string UsageText(const std::string& kernel, Grid grid = Grid::OneTileEach) {
  std::string ctas, fixed_cost, shape;
  if (grid == Grid::ByLength) {
    shape =
        "  --shape NAME      run this shape of the kernel at every length (chosen by the length)\n";
  }
  if (grid != Grid::OneTileEach) {
    ctas =
        "  --ctas N          CTAs of the grid (SMs of the device; simulator: 4)\n"
        "  --schedule ORDER  order of the task lists: sections (tiles as they start, few heads at "
        "a\n"
        "                    time) or pairs (each list sorted by head) (sections)\n";
    fixed_cost =
        ", CHOREO_SCHED_FIXED_COST\n"
        "  (estimated cost of a tile, where a KV tile costs 2; each kernel has its own)";
  }
  return "usage: " + kernel +
         " [options]\n"
         "  --batch N         batch size (4; simulator: 1)\n"
         "  --heads N         query heads (32; simulator: 2)\n"
         "  --kv-heads N      key and value heads (as --heads)\n"
         "  --seq N[,N...]    sequence lengths (4096,8192,16384; simulator: 512)\n"
         "  --seed N          seed of the inputs (42)\n"
         "  --spread X        Q and K are uniform between -X and X (2); V is, between -1 and 1\n"
         "  --warmup N        launches before each timed round (50)\n"
         "  --repeat N        timed launches a round, back to back (200)\n"
         "  --rounds N        timed rounds; the median is reported (3)\n"
         "  --idle-ms N       pause before each round (0)\n"
         "  --graph           capture a launch in a CUDA graph and launch that, verified and "
         "timed\n"
         "  --check-repeat N  launch N times more and compare the outputs bitwise (0)\n"
         "  --check-streams N launch two shapes N times on two streams at once, and compare the\n"
         "                    outputs bitwise with those of each alone (0); the two are a length\n"
         "                    and the next of --seq, or for a single length two batch sizes\n" +
         ctas + shape +
         "  --offset N        start Q that many elements into its buffer (0), to try misalignment\n"
         "  --no-verify       skip verification, only time\n"
         "  --json FILE       write one JSON object a line for every measurement\n"
         "environment: MHA_SEQ (as --seq), CHOREO_DISABLE_TIMING=1 (verify only; the attention\n"
         "  kernel is then the first launch)" +
         fixed_cost +
         "\n"
         "exit status: 0 passed, 1 failed, 2 wrong usage, 77 no sm_90 device\n";
}

namespace internal {

inline void ApplyEnvironment(Options& options) {
  if (const char* seq = std::getenv("MHA_SEQ"); seq && *seq) {
    options.seqs = harness::ParseIntegers("environment variable `MHA_SEQ`", seq);
  }
  options.timing = harness::TimingWanted();
}

inline schedule::Order ParseOrder(const std::string& where, std::string_view text) {
  for (const auto order : {schedule::Order::Sections, schedule::Order::Pairs}) {
    if (text == schedule::OrderName(order)) return order;
  }
  throw UsageError(where + ": `" + std::string(text) + "` is neither `sections` nor `pairs`");
}

inline float ParseSpread(const std::string& where, std::string_view text) {
  float spread = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), spread);
  if (code != std::errc() || end != text.data() + text.size() || !(spread > 0 && spread <= 64)) {
    throw UsageError(where + ": `" + std::string(text) + "` is not a number above 0, up to 64");
  }
  return spread;
}

inline void ApplyOption(Options& options, const harness::CommandOption& option, Grid grid) {
  const std::string where = "option `" + std::string(option.name) + "`";
  int64_t seed = options.seed;
  const harness::IntegerOption fields[] = {
      {"--batch", &options.batch, 0, kMaxExtent},
      {"--heads", &options.heads, 0, kMaxExtent},
      {"--kv-heads", &options.kv_heads, 0, kMaxExtent},
      {"--seed", &seed, 0, 0xffffffffll},
      {"--warmup", &options.warmup, 0, 1'000'000},
      {"--repeat", &options.repeat, 1, 1'000'000},
      {"--rounds", &options.rounds, 1, 1'000},
      {"--idle-ms", &options.idle_ms, 0, 3'600'000},
      {"--check-repeat", &options.check_repeat, 0, 1'000'000},
      {"--check-streams", &options.check_streams, 0, 1'000'000},
      {"--offset", &options.offset, 0, 4096},
  };
  if (option.name == "--spread") {
    options.spread = ParseSpread(where, harness::Required(where, option.value));
  } else if (option.name == "--seq") {
    options.seqs = harness::ParseIntegers(where, harness::Required(where, option.value));
  } else if (option.name == "--json") {
    options.json = std::string(harness::Required(where, option.value));
  } else if (option.name == "--shape" && grid == Grid::ByLength) {
    options.shape = std::string(harness::Required(where, option.value));
  } else if (option.name == "--ctas" && grid != Grid::OneTileEach) {
    options.ctas =
        harness::ParseInteger(where, harness::Required(where, option.value), 1, kMaxCtas);
  } else if (option.name == "--schedule" && grid != Grid::OneTileEach) {
    options.order = ParseOrder(where, harness::Required(where, option.value));
  } else if (!harness::TakeInteger(fields, option)) {
    throw harness::UnknownOption(option.name);
  }
  options.seed = uint32_t(seed);
}

}  // namespace internal

inline Options ParseOptions(int argc, char** argv, Grid grid = Grid::OneTileEach) {
  Options options;
  internal::ApplyEnvironment(options);
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      continue;
    }
    if (name == "--no-verify") {
      options.verify = false;
      continue;
    }
    if (name == "--graph") {
      options.graph = true;
      continue;
    }
    internal::ApplyOption(options, harness::NextOption(argc, argv, i), grid);
  }
  if (!options.verify && !options.timing) {
    throw UsageError("--no-verify together with CHOREO_DISABLE_TIMING=1 leaves nothing to do");
  }
  return options;
}

inline Shape MakeShape(const Options& options, const ShapeDefaults& defaults, int64_t seq,
                       int64_t dim) {
  Shape shape{options.batch < 0 ? defaults.batch : options.batch,
              options.heads < 0 ? defaults.heads : options.heads,
              options.kv_heads,
              seq,
              dim,
              options.spread};
  if (shape.kv_heads < 0) shape.kv_heads = shape.heads;
  if (shape.kv_heads == 0 ? shape.heads != 0 : shape.heads % shape.kv_heads != 0) {
    throw UsageError("--heads " + std::to_string(shape.heads) +
                     " is not a multiple of --kv-heads " + std::to_string(shape.kv_heads));
  }
  const double rows = double(shape.batch) * double(seq) * double(shape.heads);
  if (rows > double(kMaxExtent)) {
    throw UsageError("batch * seq * heads = " + std::to_string(rows) + " rows; at most 2147483647");
  }
  return shape;
}

}  // namespace attention
