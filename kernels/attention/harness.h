// The verification and timing of every attention kernel: `main` is one call of attention::Main.
// In: the command line, and two launchers (the kernel; the tile function that fills inputs). Out: a
// report on stdout, optionally JSON lines, and the exit status: 0 passed, 1 failed, 2 wrong usage,
// 77 skipped for want of an sm_90 device.
// The same text serves the CUDA and the simulator target; it needs choreo/runtime.h and C++20
// alone.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include "choreo/runtime.h"
#include "harness/options.h"
#include "harness/report.h"
#include "harness/session.h"

namespace attention {

inline constexpr int kExitNoDevice = 77;  // the status by which test runners know a skipped test

// `attend(q, k, v, o, stream)` launches the kernel on [B, S, heads, Dim] views; `fill(x, seed,
// tensor, limit, stream)` launches the input generator on a [rows, Dim] view.
template <class T, int Dim, class Attend, class Fill>
int Main(const char* kernel, int argc, char** argv, Attend attend, Fill fill) {
  Options options;
  try {
    options = ParseOptions(argc, argv);
  } catch (const UsageError& e) {
    std::fprintf(stderr, "%s: %s\n", kernel, e.what());
    return 2;
  }
  if (options.help) {
    std::printf("%s", UsageText(kernel).c_str());
    return 0;
  }
  try {
    const choreo::Device device = choreo::current_device();
    const ShapeDefaults defaults = DefaultShapes(device.simulated);
    Report report(kernel, ElementName<T>(), device, options);
    bool passed = true;
    for (const int64_t seq : options.seqs.empty() ? defaults.seqs : options.seqs) {
      const Shape shape = MakeShape(options, defaults, seq, Dim);
      Session<T, Attend, Fill> session(shape, options, device, attend, fill, report);
      passed = session.Run() && passed;
    }
    report.Close(passed);
    return passed ? 0 : 1;
  } catch (const UsageError& e) {
    std::fprintf(stderr, "%s: %s\n", kernel, e.what());
    return 2;
  } catch (const choreo::error& e) {
    const bool no_device =
        e.code == choreo::status::no_device || e.code == choreo::status::unsupported_device;
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s%s\n", kernel, e.what(),
                 no_device ? " (skipped: no sm_90 device)" : "");
    return no_device ? kExitNoDevice : 1;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s\n", kernel, e.what());
    return 1;
  }
}

}  // namespace attention
