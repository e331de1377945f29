// Failures that a kernel latched in its error word while nobody was waiting for it.
// A launch without host synchronisation leaves a poll here; the next synchronising call of the host
// API (Stream::sync, Event::sync, a copy) asks every poll and throws the first failure found.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace choreo::host {

class DeferredErrors {
 public:
  // Returns true when its launch is over; sets `failure` if that one failed.
  using Poll = std::function<bool(std::exception_ptr& failure)>;

  // Never destroyed: its polls hold CUDA events, which must not outlive the CUDA runtime's own end.
  static DeferredErrors& instance() {
    static auto* const errors = new DeferredErrors;
    return *errors;
  }

  void add(Poll poll) {
    const std::lock_guard<std::mutex> lock(mutex_);
    polls_.push_back(std::move(poll));
  }

  void raise() {
    std::exception_ptr failure;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = 0; i < polls_.size() && failure == nullptr;) {
        if (polls_[i](failure)) {
          polls_.erase(polls_.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  std::mutex mutex_;
  std::vector<Poll> polls_;
};

}  // namespace choreo::host
