// A CTA of the tile evaluator: threads in lockstep, whole tiles as dense arrays.
// Scalars are kept a thread, fragments a warpgroup (one value an element, no lane ownership; a
// partial row holds the sum, or maximum, over its lanes), shared tiles row-major without swizzle.
// Statements execute for all threads of their scope before the next. Roles and other paths that
// events order are strands (tile_plan.h): each executes the whole kernel for its threads, and they
// meet where threads act together. Asynchronous operations happen at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "sim/cta.h"
#include "sim/finding.h"
#include "sim/scalar.h"
#include "sim/strands.h"
#include "sim/tile_plan.h"

namespace choreo::sim {

struct TileLaunch {
  const ir::Module* module = nullptr;
  const ir::Kernel* kernel = nullptr;
  const TilePlan* plan = nullptr;
  std::vector<ParamMemory> params;                  // by storage
  std::vector<std::vector<int64_t>> param_strides;  // by storage
  int threads = 0;
  uint64_t step_limit = 0;
  Findings findings;
  std::string failed_assert;
};

// A view, evaluated for one thread.
struct Window {
  ir::StorageId storage;
  uint8_t* data = nullptr;    // of the tile [slot], or of the parameter
  int64_t low = 0, high = 0;  // linear indices that exist
  int64_t offset = 0;
  std::vector<int64_t> extents, strides, start;  // of the base
  struct Axis {
    size_t base;
    int64_t extent, step;
  };
  std::vector<Axis> axes;
  // Where the element at `index` (one an axis) lies; null where it is beyond the base extents.
  uint8_t* At(std::span<const int64_t> index, int64_t bytes, bool& outside) const;
  bool operator==(const Window&) const = default;
};
inline bool operator==(const Window::Axis& a, const Window::Axis& b) {
  return a.base == b.base && a.extent == b.extent && a.step == b.step;
}

class TileCta {
 public:
  // `vars`: what the host bound, by variable.
  TileCta(TileLaunch& launch, const std::vector<Value>& vars);
  void Run(std::span<const int64_t> block);

 private:
  using Threads = std::span<const int>;
  enum class Flow : uint8_t { Running, Continued, Broken, Returned };

  // ---- control (tile_cta.cpp) ----
  void Exec(const ir::Region& region, Threads threads, int scope);
  template <class Node>
  void ExecNode(const Node& node, Threads threads, int scope);
  std::vector<int> Where(ir::ExprId condition, Threads threads);
  // The threads that leave an iteration for the next one, of those that entered it.
  std::vector<int> NextIteration(Threads threads);
  void SetFlow(Threads threads, Flow flow);
  bool Step();

  // ---- strands and events (tile_events.cpp) ----
  bool concurrent() const { return launch_.plan->strands().size() > 1; }
  // Executes `act` once for all threads that the plan says act together, when all have come.
  void Together(const void* node, const TilePlan::OpPlan& plan, Threads threads,
                const std::function<void(Threads)>& act);
  void Meet(const void* node, const ThreadBits& members, Threads threads,
            const std::function<void(Threads)>& act);
  void WaitFor(const std::string& what, Threads threads, std::function<bool()> ready);
  void ReportDeadlock();
  struct EventSlot {
    int64_t complete = 0;                      // generations
    std::map<int64_t, int64_t> contributions;  // to later ones
  };
  struct Turn {
    EventSlot* slot = nullptr;
    int64_t generation = 0;
    std::string name;
  };
  Turn TurnOf(ir::StorageId event, ir::ExprId order, Threads threads,
              std::vector<std::vector<int64_t>>& counts);
  void Exec(const ir::EventWait& op, Threads threads, int scope);
  void Exec(const ir::EventTrigger& op, Threads threads, int scope);
  // Counts the threads; the generation of the barrier that they belong to.
  int64_t Arrive(int64_t id, int64_t needed, Threads threads);
  void Exec(const ir::NamedBarrierSync& op, Threads threads, int scope);
  void Exec(const ir::NamedBarrierArrive& op, Threads threads, int scope);
  // Operations are complete when they are issued.
  void Exec(const ir::FutureWait&, Threads, int) {}
  void Exec(const ir::FutureMove&, Threads, int) {}

  void Exec(const ir::Let& op, Threads threads, int scope);
  void Exec(const ir::VarDecl& op, Threads threads, int scope);
  void Exec(const ir::Assign& op, Threads threads, int scope);
  void Exec(const ir::For& op, Threads threads, int scope);
  void Exec(const ir::While& op, Threads threads, int scope);
  void Exec(const ir::If& op, Threads threads, int scope);
  void Exec(const ir::Break& op, Threads threads, int scope);
  void Exec(const ir::Continue& op, Threads threads, int scope);
  void Exec(const ir::Return& op, Threads threads, int scope);
  void Exec(const ir::Parallel& op, Threads threads, int scope);
  void Exec(const ir::InThreads& op, Threads threads, int scope);
  void Exec(const ir::Assert& op, Threads threads, int scope);
  void Exec(const ir::RawCpp& op, Threads threads, int scope);
  void Exec(const ir::OpaqueCall& op, Threads threads, int scope);
  void Exec(const ir::SyncShared&, Threads, int) {}
  void Exec(const ir::SetMaxNReg&, Threads, int) {}
  void Exec(const ir::Vote& op, Threads threads, int scope);
  void Exec(const ir::Sleep&, Threads, int) {}

  // ---- tiles (tile_ops.cpp) ----
  void Exec(const ir::Decl& op, Threads threads, int scope);
  void Exec(const ir::FragSet& op, Threads threads, int scope);
  void Exec(const ir::StoreElem& op, Threads threads, int scope);
  void Exec(const ir::AtomicElem& op, Threads threads, int scope);
  void Exec(const ir::Apply& op, Threads threads, int scope);
  void Exec(const ir::CopySync& op, Threads threads, int scope);
  void Exec(const ir::CopyAsync& op, Threads threads, int scope);
  void Exec(const ir::TmaLoad& op, Threads threads, int scope);
  void Exec(const ir::TmaStore& op, Threads threads, int scope);
  void Exec(const ir::FillTile& op, Threads threads, int scope);
  void Exec(const ir::FragFill& op, Threads threads, int scope);
  void Exec(const ir::FragCopy& op, Threads threads, int scope);
  void Exec(const ir::FragReduce& op, Threads threads, int scope);
  // Rows hold the combination of their lanes already.
  void Exec(const ir::FragAllReduce&, Threads, int) {}
  void Exec(const ir::Mma& op, Threads threads, int scope);
  void Exec(const ir::MmaLoad& op, Threads threads, int scope);
  void Exec(const ir::MmaStore& op, Threads threads, int scope);
  void CopyTile(const Window& from, const Window& to, Elem elem);
  void Copy(const void* node, ir::ViewId src, ir::ViewId dst, Threads threads);
  void ChooseInstances(const void* node, ir::ViewId src, ir::ViewId dst, Threads threads);
  // Calls f(warpgroup, its first thread) for each warpgroup among `threads`.
  template <class F>
  void ForEachGroup(Threads threads, F&& f);
  // Calls f(the first thread, the first row, the end of the rows) for the rows of `frag` of each
  // warp among `threads`.
  template <class F>
  void ForEachWarpRows(Threads threads, ir::StorageId frag, F&& f);
  // Calls f(warpgroup, row) for each of these rows.
  template <class F>
  void ForEachRow(Threads threads, ir::StorageId frag, F&& f);
  std::vector<float> Operand(ir::ViewId view, int thread, int64_t rows, int64_t columns);

  // ---- expressions and storage (tile_expr.cpp) ----
  Value Eval(ir::ExprId id, int thread);
  int64_t EvalInt(ir::ExprId id, int thread) { return Eval(id, thread).i; }
  Value EvalCallNode(const ir::Expr& expr, const ir::Call& call, int thread);
  Window Open(ir::ViewId view, int thread);
  uint8_t* Single(ir::ViewId view, int thread);
  Value& Element(ir::StorageId frag, const std::vector<ir::ExprId>& index, int thread);
  Value& FragAt(ir::StorageId frag, int group, int64_t i, int64_t j = 0) {
    return frags_[frag.value][static_cast<size_t>(group)]
                 [static_cast<size_t>(i * columns_[frag.value] + j)];
  }
  int64_t Constant(ir::ExprId id) const;
  const ir::Storage& StorageOf(ir::StorageId id) const { return kernel_.storages[id]; }
  Value& Var(ir::VarId var, int thread) {
    return vars_[var.value * static_cast<size_t>(threads_) + static_cast<size_t>(thread)];
  }

  TileLaunch& launch_;
  const ir::Kernel& kernel_;
  int threads_;
  ir::Loc loc_;
  uint64_t steps_ = 0;
  bool stop_ = false;
  std::vector<Value> vars_;  // by variable, by thread
  std::vector<Flow> flow_;   // by thread
  bool flow_changed_ = false;
  std::vector<int64_t> count_, columns_, rows_;         // by storage: elements of a tile
  std::vector<std::vector<std::vector<Value>>> frags_;  // by storage, warpgroup
  std::vector<std::vector<uint8_t>> memory_;            // shared: tiles; local: thread, then tiles
  Strands strands_;
  std::map<std::pair<const void*, int>, std::vector<int>> meetings_;  // who has come
  std::map<std::pair<const void*, int>, int64_t> met_;                // how often all had come
  std::vector<std::vector<EventSlot>> events_;                        // by storage, slot
  // By storage, thread: the next generation of a scalar event, the last order of a ring.
  std::vector<std::vector<int64_t>> waits_, triggers_;
  struct NamedBarrier {
    int64_t arrived = 0, complete = 0;  // threads of the current generation; generations
  };
  std::map<int64_t, NamedBarrier> barriers_;  // by id
  struct Blocked {
    ir::Loc loc;
    std::string what;
  };
  std::map<int, Blocked> blocked_;  // by first thread
  // An anonymous shared tile has an instance for each group whose copy has another source: by
  // storage, the instance that a warp uses.
  std::vector<std::vector<int>> instances_;
};

}  // namespace choreo::sim
