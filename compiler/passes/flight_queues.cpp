#include "passes/flight_queues.h"

#include <algorithm>
#include <limits>

namespace choreo::passes {
namespace {

constexpr size_t kMostInFlight = 16;  // groups that are followed
constexpr int32_t kDeepestWait = 7;   // PTX ISA, wgmma.wait_group; deep enough for cp.async

}  // namespace

void FlightQueues::Issue(ir::VarId future) {
  State next;
  for (Queue queue : state_) {
    queue.push_back(future);
    if (queue.size() > kMostInFlight) {
      queue.erase(queue.begin());
      unbounded_ = true;
    }
    next.insert(std::move(queue));
  }
  state_ = std::move(next);
}

std::optional<int32_t> FlightQueues::Wait(const std::vector<ir::VarId>& futures) {
  int32_t depth = std::numeric_limits<int32_t>::max();
  for (const Queue& queue : state_) {
    for (const ir::VarId future : futures) {
      const auto last = std::find(queue.rbegin(), queue.rend(), future);
      if (last == queue.rend()) continue;
      depth = std::min(depth, static_cast<int32_t>(last - queue.rbegin()));
    }
  }
  if (unbounded_) depth = 0;
  if (depth == std::numeric_limits<int32_t>::max()) return std::nullopt;
  depth = std::min(depth, kDeepestWait);
  State next;
  for (Queue queue : state_) {
    if (queue.size() > static_cast<size_t>(depth)) queue.erase(queue.begin(), queue.end() - depth);
    next.insert(std::move(queue));
  }
  state_ = std::move(next);
  return depth;
}

void FlightQueues::RetireAll() {
  if (!state_.empty()) state_ = {Queue()};
}

void FlightQueues::Move(const ir::FutureMove& move) {
  State next;
  for (Queue queue : state_) {
    std::replace(queue.begin(), queue.end(), move.src, move.dst);
    next.insert(std::move(queue));
  }
  state_ = std::move(next);
}

void FlightQueues::EnterLoop() { loops_.push_back({state_, {}, {}}); }

bool FlightQueues::AgainFromLoopEnd() {
  LoopState& loop = loops_.back();
  loop.next.insert(state_.begin(), state_.end());
  const size_t known = loop.entry.size();
  loop.entry.insert(loop.next.begin(), loop.next.end());
  if (loop.entry.size() == known) return false;
  AgainAnyway();
  return true;
}

void FlightQueues::AgainAnyway() {
  LoopState& loop = loops_.back();
  loop.next.clear();
  loop.left.clear();
  state_ = loop.entry;
}

// The loop may end at its head, where every entry state is possible, or by a break.
void FlightQueues::LeaveLoop() {
  state_ = std::move(loops_.back().entry);
  Join(loops_.back().left);
  loops_.pop_back();
}

void FlightQueues::Break() {
  loops_.back().left.insert(state_.begin(), state_.end());
  state_.clear();
}

void FlightQueues::Continue() {
  loops_.back().next.insert(state_.begin(), state_.end());
  state_.clear();
}

}  // namespace choreo::passes
