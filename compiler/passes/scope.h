// Which threads of a CTA execute an op, and in what groups: known exactly, from the nested
// `parallel` and `inthreads` around it. Predicates are evaluated for every thread of the CTA.
#pragma once

#include <bitset>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace choreo::passes {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kWarpSize = 32;
inline constexpr int kWarpgroupSize = 128;
// Named barriers of a CTA, number 0 for all of its threads among them.
inline constexpr int kHardwareBarriers = 16;
using ThreadSet = std::bitset<kMaxThreads>;

// The threads [first, first + count).
ThreadSet ThreadRange(int first, int count);
// The lowest; kMaxThreads if there is none.
int FirstOf(const ThreadSet& threads);

// Where an op stands. `level` is the widest group that executes it together: Block, Warpgroup, Warp
// (`thread` only names). `group_vars` number these groups in the CTA, outermost first.
struct Scope {
  ir::Level level = ir::Level::Block;
  std::vector<ir::VarId> group_vars;
  ThreadSet active;           // of the CTA
  bool named_thread = false;  // inside a `parallel … : thread`
  int depth = 0;              // of inthreads around it
  bool single_thread() const { return active.count() == 1; }
  bool whole_warps() const;  // every warp is active with all of its lanes or with none
};

// How many threads a CTA has: the widest nest of parallels, the user's bound if there is none;
// always whole warps.
int CtaThreads(const ir::Kernel& kernel);

// What makes a variable differ between threads: bits of levels.
enum DependenceBits : unsigned { kOnWarpgroup = 1, kOnWarp = 2, kOnThread = 4 };

// For every variable, on which thread indices its value may depend, through assignments and the
// conditions between them and its declaration: those around both hold for all who see it.
class Dependence {
 public:
  explicit Dependence(const ir::Kernel& kernel);
  unsigned Of(ir::VarId var) const { return bits_[var]; }
  unsigned Of(ir::ExprId expr) const;
  unsigned Of(const ir::View& view) const;
  // Of which way threads go in a branch or loop. Where one may `break` or `continue` and others go
  // on, that makes the loop differ between them.
  unsigned OfControl(const ir::Op& op) const;

 private:
  unsigned OfJumps(const ir::Region& body, unsigned around) const;
  void Visit(const ir::Region& region);
  void VisitUnder(unsigned condition, const ir::Region& region);
  void Add(ir::VarId var, unsigned bits);
  unsigned ConditionsSince(size_t depth) const;

  const ir::Kernel& kernel_;
  IndexedVector<ir::VarId, unsigned> bits_;
  IndexedVector<ir::VarId, size_t> declared_at_;  // depth of conditions
  std::vector<unsigned> conditions_;              // around the op, outermost first
  bool changed_ = false;
};

// Follows the scopes down a kernel's body. A pass walks its regions itself and tells the tracker of
// each Parallel and InThreads that it enters and leaves.
class ScopeTracker {
 public:
  ScopeTracker(const ir::Kernel& kernel, int threads);
  const Scope& current() const { return stack_.back().scope; }
  int threads() const { return threads_; }
  void Enter(const ir::Parallel& parallel);
  void Enter(const ir::InThreads& inthreads);
  // A branch on thread indices narrows like `inthreads`. False, and nothing is entered, if the
  // condition is made of other values, too.
  bool EnterWhere(ir::ExprId condition, bool holds);
  void Note(const ir::Let& let);  // names of values that predicates may use
  void Leave();
  // Smallest and largest value of `e` over the active threads, if it is made of parallel variables
  // and constants.
  std::optional<std::pair<int64_t, int64_t>> RangeOf(ir::ExprId e) const;
  // Whether `var` is a parallel variable of the CTA whose parallel was entered.
  bool IsParallelVar(ir::VarId var) const { return values_.contains(var); }
  // The value of a parallel variable in each thread of the CTA, once its parallel was entered.
  const std::vector<int>& Values(ir::VarId var) const { return values_.at(var); }

 private:
  struct Frame {
    Scope scope;
    int size = 0;  // threads of one group of the innermost level
  };
  // The value of `e` for thread `t`; nothing if it is not made of parallel variables and constants.
  std::optional<int64_t> Value(ir::ExprId e, int t) const;

  const ir::Kernel& kernel_;
  int threads_;
  std::vector<Frame> stack_;
  // For each parallel variable, its value in each thread of the CTA; and named values.
  std::unordered_map<ir::VarId, std::vector<int>> values_;
  std::unordered_map<ir::VarId, ir::ExprId> lets_;
};

}  // namespace choreo::passes
