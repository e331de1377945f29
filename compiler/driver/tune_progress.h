// What `choreo tune` says while it works: a line a step, with what is
// left. Threads may share one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace choreo::driver {

// "about 40 s", "about 3 min"; nothing while it cannot be known.
std::string TimeLeft(double elapsed_s, size_t done, size_t left);

class TuneProgress {
 public:
  TuneProgress(size_t steps, std::FILE* out) : left_(steps), out_(out) {}

  // One step is done, in a moment if it was known from an earlier run.
  void Step(std::string_view what, bool known = false);
  // Fewer or more steps are left than was thought.
  void SetLeft(size_t steps) { left_ = steps; }

 private:
  using Clock = std::chrono::steady_clock;

  std::mutex mutex_;
  Clock::time_point last_ = Clock::now();
  double elapsed_s_ = 0;  // of the steps that were not known
  size_t done_ = 0, left_;
  std::FILE* out_;
};

}  // namespace choreo::driver
