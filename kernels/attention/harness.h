// The verification and timing of every attention kernel: `main` is one call of attention::Main.
// In: the command line, and two launchers (the kernel; the tile function that fills inputs). Out: a
// report on stdout, optionally JSON lines, and the exit status: 0 passed, 1 failed, 2 wrong usage,
// 77 skipped for want of an sm_90 device.
// The same text serves the CUDA and the simulator target; it needs choreo/runtime.h and C++20
// alone.
#pragma once

#include "harness/driver.h"

namespace attention {

using harness::kExitNoDevice;

// `attend(q, k, v, o, stream)` launches the kernel on [B, S, heads, Dim] views; `fill(x, seed,
// tensor, limit, stream)` launches the input generator on a [rows, Dim] view.
template <class T, int Dim, class Attend, class Fill>
int Main(const char* kernel, int argc, char** argv, Attend attend, Fill fill) {
  return internal::RunDriver<T, Dim>(
      kernel, argc, argv, Grid::OneTileEach, [&](const Options&) { return attend; }, fill);
}

}  // namespace attention
