#include "passes/mma_queues.h"

#include <algorithm>
#include <limits>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

constexpr size_t kMostInFlight = 16;  // groups that are followed
constexpr int32_t kDeepestWait = 7;   // PTX ISA, wgmma.wait_group

}  // namespace

MmaQueues::MmaQueues(const ir::Region& body) {
  std::vector<ir::FutureMove> moves;
  ir::ForEachOp(body, [&](const ir::Op& op) {
    if (const auto* mma = std::get_if<ir::Mma>(&op.node); mma != nullptr && mma->future) {
      registers_[mma->future].insert(mma->acc);
      if (mma->a_frag) registers_[mma->future].insert(mma->a_frag);
    }
    if (const auto* move = std::get_if<ir::FutureMove>(&op.node)) moves.push_back(*move);
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (const ir::FutureMove& move : moves) {
      const auto from = registers_.find(move.src);
      if (from == registers_.end()) continue;
      const std::set<ir::StorageId> moved = from->second;
      std::set<ir::StorageId>& to = registers_[move.dst];
      const size_t before = to.size();
      to.insert(moved.begin(), moved.end());
      changed = changed || to.size() != before;
    }
  }
}

std::vector<ir::StorageId> MmaQueues::RegistersOf(const std::vector<ir::VarId>& futures) const {
  std::set<ir::StorageId> all;
  for (const ir::VarId future : futures) {
    const auto& own = registers_.at(future);
    all.insert(own.begin(), own.end());
  }
  return {all.begin(), all.end()};
}

void MmaQueues::Issue(ir::VarId future) {
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

std::optional<int32_t> MmaQueues::Wait(const std::vector<ir::VarId>& futures) {
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

void MmaQueues::RetireAll() {
  if (!state_.empty()) state_ = {Queue()};
}

void MmaQueues::Move(const ir::FutureMove& move) {
  State next;
  for (Queue queue : state_) {
    std::replace(queue.begin(), queue.end(), move.src, move.dst);
    next.insert(std::move(queue));
  }
  state_ = std::move(next);
}

void MmaQueues::EnterLoop() { loops_.push_back({state_, {}, {}}); }

bool MmaQueues::AgainFromLoopEnd() {
  LoopState& loop = loops_.back();
  loop.next.insert(state_.begin(), state_.end());
  const size_t known = loop.entry.size();
  loop.entry.insert(loop.next.begin(), loop.next.end());
  if (loop.entry.size() == known) return false;
  loop.next.clear();
  loop.left.clear();
  state_ = loop.entry;
  return true;
}

// The loop may end at its head, where every entry state is possible, or by a break.
void MmaQueues::LeaveLoop() {
  state_ = std::move(loops_.back().entry);
  Join(loops_.back().left);
  loops_.pop_back();
}

void MmaQueues::Break() {
  loops_.back().left.insert(state_.begin(), state_.end());
  state_.clear();
}

void MmaQueues::Continue() {
  loops_.back().next.insert(state_.begin(), state_.end());
  state_.clear();
}

}  // namespace choreo::passes
