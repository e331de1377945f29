// The commands of `choreo`, one file each. In: the parsed options. Out: the exit status; what there
// is to say goes to the standard streams.
#pragma once

#include "driver/options.h"

namespace choreo::driver {

int RunCompile(const Options& options);
int RunBuild(const Options& options);
int RunCheck(const Options& options);  // also `run` and `view`
int RunExplain(const Options& options);
int RunTune(const Options& options);

// What main() does.
int Main(int argc, const char* const* argv);

}  // namespace choreo::driver
