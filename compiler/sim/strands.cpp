#include "sim/strands.h"

#include <thread>
#include <utility>

#include "support/check.h"

namespace choreo::sim {

void Strands::Run(const std::vector<std::function<void()>>& bodies, std::function<void()> stuck) {
  strands_ = std::vector<Strand>(bodies.size());
  stuck_ = std::move(stuck);
  current_ = 0;
  failure_ = nullptr;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < bodies.size(); ++i) {
    threads.emplace_back([this, i, &bodies] { Body(i, bodies[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
}

void Strands::Body(size_t index, const std::function<void()>& body) {
  std::unique_lock<std::mutex> lock(mutex_);
  AwaitTurn(lock, index);
  try {
    body();
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
  strands_[index].done = true;
  PassOn();
}

void Strands::AwaitTurn(std::unique_lock<std::mutex>& lock, size_t index) {
  strands_[index].turn.wait(lock, [&] { return current_ == index; });
}

void Strands::PassOn() {
  const size_t count = strands_.size();
  for (int round = 0; round < 2; ++round) {
    bool all_done = true;
    for (size_t i = 1; i <= count; ++i) {
      const size_t next = (current_ + i) % count;
      Strand& strand = strands_[next];
      all_done = all_done && strand.done;
      if (strand.done || (strand.ready && !strand.ready())) continue;
      strand.ready = nullptr;
      current_ = next;
      strand.turn.notify_one();
      return;
    }
    if (all_done) return;
    CHOREO_CHECK(round == 0, "strands wait although nothing holds them");
    stuck_();
  }
}

void Strands::Wait(std::function<bool()> ready) {
  if (ready()) return;
  // Only the strand whose turn it is runs, and it holds the mutex.
  std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
  const size_t self = current_;
  strands_[self].ready = std::move(ready);
  PassOn();
  AwaitTurn(lock, self);
  lock.release();  // Body holds it
}

}  // namespace choreo::sim
