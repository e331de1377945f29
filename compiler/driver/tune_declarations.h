// The `// tune:` lines of a file. In: its text. Out: each macro with the values to try, in the
// order of the lines, and what is wrong with lines that cannot be read.
//
//     // tune: BLOCK_N in 64, 80, 96, 128
//     // tune: STAGES in 1..4
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/tune_text.h"

namespace choreo::driver {

struct TuneRange {
  std::string name;
  std::vector<std::string> values;  // at least one, no two the same
  TextSpan comment;
};

struct TuneProblem {
  TextSpan comment;
  std::string message;
};

struct TuneDeclarations {
  std::vector<TuneRange> ranges;
  std::vector<TuneProblem> problems;
};
TuneDeclarations ReadTuneDeclarations(std::string_view text);

}  // namespace choreo::driver
