// What a group of threads does in one launch, as far as pipelines are concerned: a straight line of
// asynchronous operations, waits, triggers, and accesses to fragments and shared tiles.
// Control flow of a kernel does not depend on how its roles interleave, so each group has one trace
// a launch; the checks read traces and never the program. In: a tile-state kernel with its thread
// count. Out: the agents of a CTA and their traces.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/async_hand_over.h"
#include "passes/async_launch.h"
#include "passes/load_barriers.h"
#include "passes/pass.h"
#include "passes/scope.h"

namespace choreo::passes {

// Threads of one warpgroup that execute exactly the same ops. The agents of one warpgroup and role
// are one path of the language, split where nested `inthreads` narrow it.
struct Agent {
  int warpgroup = 0;
  const ir::Op* role = nullptr;  // the `inthreads.async` around it; null: the CTA
  ThreadSet threads;
  std::string name;  // for messages: "role `p > 0`"
};

// The agents of a kernel's CTA and which threads come by each op.
class Agents {
 public:
  Agents(const ir::Kernel& kernel, const PassContext& context);
  const std::vector<Agent>& all() const { return agents_; }
  const Dependence& dependence() const { return dependence_; }
  // Whether an agent enters the body of a Parallel or InThreads.
  bool Enters(size_t agent, const ir::Op& op) const;
  const ThreadSet& ScopeOf(const ir::Op& op) const { return scopes_[index_.at(&op)].second; }
  // The value that a parallel variable has in all threads of the agent.
  std::optional<int64_t> Value(size_t agent, ir::VarId var) const;
  // The agents that meet at a collective op of these views: where a view depends on the warpgroup
  // each has its own, else all threads of the scope together.
  std::vector<size_t> Partners(size_t agent, const ThreadSet& scope, bool own_warpgroup) const;
  // Whether each element of a tile is a slot of its own: a few integers that are only accessed one
  // by one, as threads hand them over. Else the slots of a tile are those of its array.
  bool ElementsAreSlots(ir::StorageId tile) const { return element_slots_.contains(tile); }
  int64_t SlotsOf(ir::StorageId tile) const;

 private:
  void Visit(const ir::Region& region, const ir::Op* role);
  void Split(const PassContext& context);

  const ir::Kernel& kernel_;
  Dependence dependence_;
  ScopeTracker scope_;
  std::vector<std::pair<const ir::Op*, ThreadSet>> scopes_;  // Parallels and InThreads
  std::unordered_map<const ir::Op*, size_t> index_;
  std::unordered_map<const ir::Op*, const ir::Op*> roles_;  // of each scope
  std::unordered_map<ir::VarId, std::vector<int>> values_;
  std::unordered_map<ir::StorageId, int64_t> element_slots_;
  std::vector<Agent> agents_;
};

struct FragUse {
  ir::StorageId frag;
  bool write = false;
  ir::Loc loc;
};

// An access to a tile of shared memory, or (stores by TMA) to a region of a parameter.
struct TileUse {
  ir::StorageId storage;
  std::optional<int64_t> slot;  // not known: nothing is said about it
  bool write = false;
  bool exact = false;                            // `box` is known
  bool whole = false;                            // the whole tile
  std::vector<std::pair<int64_t, int64_t>> box;  // start and extent, an axis each
  ir::Loc loc;
};
bool Overlap(const TileUse& a, const TileUse& b);

enum class StepKind : uint8_t {
  Use,    // ordinary accesses
  Mma,    // issue; complete at once if the op has no future
  Load,   // TMA load or asynchronous copy; complete at once if it has no future
  Store,  // TMA store
  Join,   // a barrier of `partners`, around a copy that they do together
  FutureWait,
  FutureMove,
  EventWait,
  EventTrigger,
};

struct Step {
  StepKind kind = StepKind::Use;
  const ir::Op* op = nullptr;
  int block = 0;                                // which execution of a region it is in
  int occurrence = 0;                           // how many times the agent executed the op before
  const std::vector<FragUse>* frags = nullptr;  // null: none
  std::vector<TileUse> tiles;
  std::optional<int64_t> order;  // of a ring operation
  std::vector<size_t> partners;  // Join, collective Load: agents, this one included
  // Set by the checks of single traces:
  std::vector<int> issues;  // FutureWait, EventTrigger: the steps whose instances they complete
  int64_t generation = -1;  // EventWait, EventTrigger: how many this path had before
};

struct Trace {
  std::vector<Step> steps;
  bool whole = true;     // false: cut off, the program goes on
  bool guessed = false;  // a condition or trip count around asynchronous ops was not known
};

// The uses of an op without its regions; an `apply` with its body.
struct OpUses {
  struct ViewUse {
    ir::ViewId view;
    bool write = false;
    ir::Loc loc;
  };
  std::vector<FragUse> frags;
  std::vector<ViewUse> views;
};

class TraceBuilder {
 public:
  TraceBuilder(const ir::Kernel& kernel, const Agents& agents, const ReadElements& elements)
      : kernel_(kernel),
        agents_(agents),
        elements_(elements),
        behind_barriers_(LoadsBehindBarriers(kernel)) {}
  // `told`: what traces of the last round handed over; what this one does is added to `tells`.
  Trace Build(size_t agent, const Launch& launch, const HandOvers& told, HandOvers& tells);

 private:
  enum class Flow : uint8_t { Next, Break, Continue, Return };

  Flow Run(const ir::Region& region);
  Flow RunOps(const ir::Region& region);
  Flow Run(const ir::Op& op);
  Flow RunFor(const ir::Op& op, const ir::For& loop);
  Flow RunWhile(const ir::Op& op, const ir::While& loop);
  Flow RunIf(const ir::Op& op, const ir::If& branch);
  Flow RunScope(const ir::Op& op, const ir::Region& body);
  bool Decide(const ir::Op& op, ir::ExprId condition);
  bool Guess(ir::ExprId condition);
  void Emit(StepKind kind, const ir::Op& op);
  void AsyncOp(const ir::Op& op);
  void Load(const ir::Op& op, ir::ViewId src, ir::ViewId dst);
  std::vector<size_t> PartnersOf(ir::ViewId src, ir::ViewId dst) const;
  void Follow(const ir::Op& op);
  TileUse Tile(const OpUses::ViewUse& use);
  const OpUses& UsesOf(const ir::Op& op);
  bool HasAsync(const ir::Op& op);     // in its regions
  bool IsPlainLoop(const ir::Op& op);  // computes, and changes no integer that lives on

  const ir::Kernel& kernel_;
  const Agents& agents_;
  const ReadElements& elements_;
  std::set<const ir::Op*> behind_barriers_;
  std::unordered_map<const ir::Op*, OpUses> uses_;
  std::unordered_map<const ir::Op*, bool> has_async_, plain_;
  // Of the trace being built:
  size_t agent_ = 0;
  const Launch* launch_ = nullptr;
  std::optional<Evaluator> values_;
  std::optional<KnownElements> shared_;
  Trace trace_;
  std::vector<ThreadSet> scope_;
  int blocks_ = 0, block_ = 0;
  size_t work_ = 0;
  std::unordered_map<const ir::Op*, int> occurrences_;
};

}  // namespace choreo::passes
