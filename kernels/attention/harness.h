// The verification and timing of every attention kernel: `main` is one call of attention::Main.
// In: the command line, and two launchers (the kernel; the tile function that fills inputs). Out: a
// report on stdout, optionally JSON lines, and the exit status: 0 passed, 1 failed, 2 wrong usage,
// 77 skipped for want of an sm_90 device.
// The same text serves the CUDA and the simulator target; it needs choreo/runtime.h and C++20
// alone.
#pragma once

#include <cstdio>

#include "../harness/run.h"
#include "choreo/runtime.h"
#include "harness/options.h"
#include "harness/report.h"
#include "harness/session.h"

namespace attention {

using harness::kExitNoDevice;

// `attend(q, k, v, o, stream)` launches the kernel on [B, S, heads, Dim] views; `fill(x, seed,
// tensor, limit, stream)` launches the input generator on a [rows, Dim] view.
template <class T, int Dim, class Attend, class Fill>
int Main(const char* kernel, int argc, char** argv, Attend attend, Fill fill) {
  return harness::ExitStatus(kernel, [&] {
    const Options options = ParseOptions(argc, argv);
    if (options.help) {
      std::printf("%s", UsageText(kernel).c_str());
      return true;
    }
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
    return passed;
  });
}

}  // namespace attention
