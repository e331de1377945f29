#include "passes/mma_queues.h"

#include "ir/walk.h"

namespace choreo::passes {
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

}  // namespace choreo::passes
