// What the tile evaluator must know of a kernel before it runs: which threads come by each op,
// which of them execute it together, and how many triggers complete a generation of an event.
// Paths that may run at different speeds (roles, warps told apart by `inthreads`) are strands; a
// kernel without roles and events is one strand.
#pragma once

#include <bitset>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace choreo::sim {

inline constexpr int kMaxCtaThreads = 1024;
using ThreadBits = std::bitset<kMaxCtaThreads>;

class TilePlan {
 public:
  TilePlan(const ir::Kernel& kernel, int threads);

  // The threads of each strand, each whole warps, in ascending order.
  const std::vector<std::vector<int>>& strands() const { return strands_; }

  // How an op (its node) is executed: by groups of `unit` threads among `active`, each together;
  // unit 0: every strand for itself.
  struct OpPlan {
    ThreadBits active;
    int unit = 0;
    bool join_after = false;  // all of `active` wait for each other behind it
  };
  const OpPlan* Find(const void* node) const {
    const auto it = ops_.find(node);
    return it == ops_.end() ? nullptr : &it->second;
  }
  // Contributions that complete a generation: one a thread for plain triggers, one a unit for
  // `trigger … after`.
  int64_t Contributions(ir::StorageId event) const { return contributions_[event.value]; }

 private:
  void FindStrands(const std::vector<ThreadBits>& splits);

  int threads_;
  bool concurrent_ = false;
  std::vector<std::vector<int>> strands_;
  std::unordered_map<const void*, OpPlan> ops_;
  std::vector<int64_t> contributions_;  // by storage

  friend class TilePlanner;
};

}  // namespace choreo::sim
