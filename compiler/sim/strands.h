// Strands of execution that take turns: one runs until it has to wait, then the next that can.
// Deterministic; at no time do two run at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace choreo::sim {

class Strands {
 public:
  // Runs all bodies to their end, the first one first. `stuck` is called when every strand waits;
  // it must make all of them ready.
  void Run(const std::vector<std::function<void()>>& bodies, std::function<void()> stuck);
  // Called by the strand that runs: lets others run until `ready`. No switch if it is already.
  void Wait(std::function<bool()> ready);

 private:
  struct Strand {
    std::function<bool()> ready;  // empty: it can run
    bool done = false;
    std::condition_variable turn;
  };
  void Body(size_t index, const std::function<void()>& body);
  void PassOn();  // chooses who runs next
  void AwaitTurn(std::unique_lock<std::mutex>& lock, size_t index);

  std::mutex mutex_;
  std::vector<Strand> strands_;
  std::function<void()> stuck_;
  size_t current_ = 0;
  std::exception_ptr failure_;
};

}  // namespace choreo::sim
