#include "driver/tune_progress.h"

#include <fmt/format.h>

namespace choreo::driver {

std::string TimeLeft(double elapsed_s, size_t done, size_t left) {
  if (done == 0 || left == 0) return {};
  const double seconds = elapsed_s / static_cast<double>(done) * static_cast<double>(left);
  if (seconds < 90) return fmt::format("about {:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("about {:.0f} min", seconds / 60);
  return fmt::format("about {:.1f} h", seconds / 3600);
}

void TuneProgress::Step(std::string_view what, bool known) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (!known) {
    ++done_;
    elapsed_s_ += std::chrono::duration<double>(now - last_).count();
  }
  last_ = now;
  if (left_ > 0) --left_;
  std::string rest = left_ == 0 ? std::string() : fmt::format("; {} to go", left_);
  if (const std::string time = TimeLeft(elapsed_s_, done_, left_); !time.empty())
    rest += ", " + time;
  fmt::print(out_, "tune: {}{}\n", what, rest);
  std::fflush(out_);
}

}  // namespace choreo::driver
