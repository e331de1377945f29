// The launcher of a persistent kernel as the harness wants it: a callable on views and a stream.
// In: launch(q, k, v, o, tasks, bins, stream), the rows of a query tile, the CTAs and the
// order of their lists. Out:
// each call launches the kernel with the task lists of its shape, which are built and uploaded
// once. Must hold: nothing is launched for a shape without tasks.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "../../schedule/schedule_cache.h"
#include "choreo/arithmetic.h"
#include "choreo/runtime.h"
#include "options.h"
#include "report.h"

namespace attention {

template <class Launch>
class PersistentAttend {
 public:
  PersistentAttend(Launch launch, int64_t block_m, int64_t ctas, int64_t fixed_cost,
                   schedule::Order order)
      : launch_(std::move(launch)),
        block_m_(block_m),
        ctas_(ctas),
        fixed_cost_(fixed_cost),
        order_(order) {}

  ScheduleFigures Plan(const Shape& shape, choreo::Stream stream) const {
    const auto lists = Lists(shape.batch, shape.heads, shape.seq, stream);
    return {lists->order,     lists->bin_count(), lists->task_count(), lists->fixed_cost,
            lists->imbalance, lists->build_ms,    lists->upload_ms};
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
    return cache_->Get({batch, heads, choreo::cdiv(seq, block_m_)}, ctas_, fixed_cost_, order_,
                       stream);
  }

  Launch launch_;
  int64_t block_m_, ctas_, fixed_cost_;
  schedule::Order order_;
  std::shared_ptr<schedule::ScheduleCache> cache_ = std::make_shared<schedule::ScheduleCache>();
};

namespace internal {

inline int64_t FixedCostWanted() {
  try {
    return schedule::FixedCostFromEnvironment();
  } catch (const choreo::error& e) {
    throw UsageError(e.what());
  }
}

inline int64_t CtasWanted(const Options& options) {
  constexpr int64_t kSimulated = 4;  // several tasks a CTA already at small shapes
  if (options.ctas > 0) return options.ctas;
  const choreo::Device device = choreo::current_device();
  return device.simulated ? kSimulated : device.sm_count;
}

}  // namespace internal

}  // namespace attention
