// The same verification and timing as persistent_harness.h for kernels that come in several shapes,
// one of which is chosen by the sequence length. In: as there, and the table of shapes. Out: as
// there, and which shape ran. One more option: --shape.
#pragma once

#include "harness/by_length.h"
#include "harness/driver.h"
#include "persistent_harness.h"

namespace attention {

// `attend(shape, q, k, v, o, tasks, bins, stream)`: as for MainPersistent, for the shape of a row
// of `rows`, which stay alive.
template <class T, int Dim, class Attend, class Fill>
int MainByLength(const char* kernel, std::span<const ShapeRow> rows, int argc, char** argv,
                 Attend attend, Fill fill) {
  return internal::RunDriver<T, Dim>(
      kernel, argc, argv, Grid::ByLength,
      [&](const Options& options) { return ByLengthAttend<Attend>(attend, rows, options); }, fill);
}

}  // namespace attention
