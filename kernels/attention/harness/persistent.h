// The launcher of a persistent kernel as the harness wants it: a callable on views and a stream.
// In: launch(q, k, v, o, tasks, bins, stream), what a task is, the number of lists and their order.
// Out: each call launches the kernel with the task lists of its shape, which are built and uploaded
// once. Must hold: nothing is launched for a shape without tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "../../schedule/schedule_cache.h"
#include "choreo/arithmetic.h"
#include "choreo/runtime.h"
#include "options.h"
#include "report.h"

namespace attention {

// What a task is: so many query rows, computed by so many CTAs together (a cluster). Its cost is
// that of schedule/causal_schedule.h, with this fixed part unless the environment says otherwise.
struct Tasks {
  int64_t rows;
  int64_t ctas = 1;
  int64_t fixed_cost = schedule::kDefaultFixedCost;
};

template <class Launch>
class PersistentAttend {
 public:
  // `task.fixed_cost` is what it is here, whatever the environment says.
  PersistentAttend(Launch launch, Tasks task, int64_t bins, schedule::Order order)
      : launch_(std::move(launch)), task_(task), bins_(bins), order_(order) {}

  ScheduleFigures Plan(const Shape& shape, choreo::Stream stream) const {
    const auto lists = Lists(shape.batch, shape.heads, shape.seq, stream);
    return {lists->order,       lists->bin_count() * task_.ctas,
            lists->bin_count(), lists->task_count(),
            lists->fixed_cost,  lists->imbalance,
            lists->build_ms,    lists->upload_ms};
  }

  template <class Queries, class Keys, class Values, class Output>
  void operator()(Queries q, Keys k, Values v, Output o, choreo::Stream stream) const {
    const auto lists = Lists(q.extent[0], q.extent[2], q.extent[1], stream);
    if (lists->task_count() == 0) return;
    launch_(q, k, v, o, lists->tasks, lists->bins, stream);
  }

 private:
  // The cache goes on holding what it gives, so the lists outlive the kernels that read them.
  auto Lists(int64_t batch, int64_t heads, int64_t seq, choreo::Stream stream) const {
    return cache_->Get({batch, heads, choreo::cdiv(seq, task_.rows)}, bins_, task_.fixed_cost,
                       order_, stream);
  }

  Launch launch_;
  Tasks task_;
  int64_t bins_;
  schedule::Order order_;
  std::shared_ptr<schedule::ScheduleCache> cache_ = std::make_shared<schedule::ScheduleCache>();
};

namespace internal {

inline Tasks TasksWanted(Tasks tasks) {
  try {
    tasks.fixed_cost = schedule::FixedCostFromEnvironment(tasks.fixed_cost);
    return tasks;
  } catch (const choreo::error& e) {
    throw UsageError(e.what());
  }
}

// One list for all CTAs that compute a task together.
inline int64_t BinsWanted(const Options& options, const Tasks& tasks) {
  constexpr int64_t kSimulated = 4;  // several tasks a CTA already at small shapes
  if (options.ctas > 0) {
    if (options.ctas % tasks.ctas != 0) {
      throw UsageError("option `--ctas`: " + std::to_string(options.ctas) +
                       " is not a multiple of " + std::to_string(tasks.ctas) +
                       ", the CTAs of a cluster of this kernel");
    }
    return options.ctas / tasks.ctas;
  }
  const choreo::Device device = choreo::current_device();
  return (device.simulated ? kSimulated : device.sm_count) / tasks.ctas;
}

}  // namespace internal

}  // namespace attention
