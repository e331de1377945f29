// The same verification and timing as harness.h for kernels whose CTAs take tasks from lists.
// In: as there, but the launcher of the kernel gets the lists too, and the rows of a query tile are
// told. Out: as there, and what building and uploading the lists took. More options: --ctas,
// --schedule, and CHOREO_SCHED_FIXED_COST in the environment.
#pragma once

#include "harness/driver.h"
#include "harness/persistent.h"

namespace attention {

// `attend(q, k, v, o, tasks, bins, stream)`: as for Main, with tasks [TASKS] (words of
// schedule/task_word.h) and bins [CTAS, 2] (begin and end of each CTA's tasks) in device memory.
template <class T, int Dim, int BlockM, class Attend, class Fill>
int MainPersistent(const char* kernel, int argc, char** argv, Attend attend, Fill fill) {
  return internal::RunDriver<T, Dim>(
      kernel, argc, argv, Grid::Persistent,
      [&](const Options& options) {
        const int64_t fixed_cost = internal::FixedCostWanted();
        return PersistentAttend<Attend>(attend, BlockM, internal::CtasWanted(options), fixed_cost,
                                        options.order);
      },
      fill);
}

}  // namespace attention
