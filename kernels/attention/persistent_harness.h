// The same verification and timing as harness.h for kernels whose CTAs take tasks from lists.
// In: as there, and what a task is; the launcher of the kernel gets the lists too. Out: as there,
// and what building and uploading the lists took. More options: --ctas, --schedule, and
// CHOREO_SCHED_FIXED_COST in the environment.
#pragma once

#include "harness/driver.h"
#include "harness/persistent.h"

namespace attention {

// `attend(q, k, v, o, tasks, bins, stream)`: as for Main, with tasks [TASKS] (words of
// schedule/task_word.h) and bins [BINS, 2] (begin and end of the tasks of each CTA, or of each
// cluster) in device memory.
template <class T, int Dim, Tasks kTasks, class Attend, class Fill>
int MainPersistent(const char* kernel, int argc, char** argv, Attend attend, Fill fill) {
  return internal::RunDriver<T, Dim>(
      kernel, argc, argv, Grid::Persistent,
      [&](const Options& options) {
        return PersistentAttend<Attend>(attend, internal::TasksWanted(kTasks),
                                        internal::BinsWanted(options, kTasks), options.order);
      },
      fill);
}

}  // namespace attention
