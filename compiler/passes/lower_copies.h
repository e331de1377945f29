// The state of lower-copies, in three files: what a copy becomes (lower_copies.cpp), by which
// threads and behind which barriers (copy_executors.cpp), and copies that TMA makes
// (lower_tma_copies.cpp). In: a tile-state kernel whose shared memory is planned. Out: its body
// without copies.
#pragma once

#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "ir/walk.h"
#include "passes/barrier_state.h"
#include "passes/divisors.h"
#include "passes/flight_queues.h"
#include "passes/pass.h"
#include "passes/ranges.h"
#include "passes/scope.h"

namespace choreo::passes {

class CopyLowering {
 public:
  CopyLowering(ir::Kernel& kernel, PassContext& context)
      : kernel_(kernel),
        context_(context),
        build_(kernel),
        dependence_(kernel),
        scope_(kernel, kernel.host.threads),
        ranges_(kernel),
        divisors_(kernel) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      if (const auto id = IdOf(op)) barriers_of_source_.set(static_cast<size_t>(*id));
    });
  }

  ir::Region Run() {
    FindWriters(kernel_.body);
    FindCopies();
    ir::Region out = Rewrite(kernel_.body, 0);
    FinishStores(out);
    return out;
  }

 private:
  void FindWriters(const ir::Region& region);
  void FindCopies();
  // The id of a named barrier, if the op is one and it is a constant.
  std::optional<int64_t> IdOf(const ir::Op& op) const {
    const auto* sync = std::get_if<ir::NamedBarrierSync>(&op.node);
    const auto* arrive = std::get_if<ir::NamedBarrierArrive>(&op.node);
    if (sync == nullptr && arrive == nullptr) return std::nullopt;
    return build_.AsInt(sync != nullptr ? sync->id : arrive->id);
  }
  ir::Region Rewrite(const ir::Region& region, unsigned control) {
    ir::Region out;
    for (const ir::Op& op : region.ops) RewriteOp(op, out, control);
    return out;
  }

  // The threads that execute a copy together. No expressions: those of an earlier round of a loop
  // are gone.
  struct Executors {
    int threads = 0;
    int first = 0;            // of the CTA
    bool each_group = false;  // every group of `threads` threads for itself, wherever it starts
    bool whole_cta = false;
    bool each_alone = false;  // every thread does all of it by itself
    int barrier = 0;          // named, the first of as many as groups; 0: none needed
  };
  ir::ExprId BarrierId(const Executors& who);
  ir::ExprId IndexOf(const Executors& who);  // of this thread among them

  void RewriteOp(const ir::Op& op, ir::Region& out, unsigned control);
  template <class Loop>
  ir::Region RewriteLoop(const Loop& loop, unsigned control);
  // `number`: each has to know which of them it is, so they must be adjacent.
  std::optional<Executors> ExecutorsOf(unsigned depends, ir::Loc loc, unsigned control,
                                       bool number = true);
  // The first of `count` neighbouring ids that this set of threads has; none is in the source.
  int NamedBarrier(const ThreadSet& threads, int count, ir::Loc loc);
  void Barrier(const Executors& who, ir::Region& out, ir::Loc loc);
  void Copy(const ir::CopySync& copy, ir::Region& out, ir::Loc loc, unsigned control);
  void Fill(const ir::FillTile& fill, ir::Region& out, ir::Loc loc, unsigned control);
  void Start(const ir::CopyAsync& copy, ir::Region& out, ir::Loc loc, unsigned control);
  void Wait(const ir::FutureWait& wait, ir::Region& out, ir::Loc loc);
  void Move(const ir::FutureMove& move);
  void NoteStarted(ir::VarId future, const Executors& who);
  void Load(const ir::TmaLoad& load, ir::Region& out, ir::Loc loc, unsigned control);
  void Store(const ir::TmaStore& store, ir::Region& out, ir::Loc loc, unsigned control);
  void Vote(const ir::Vote& vote, ir::Region& out, ir::Loc loc, unsigned control);
  void ByFirst(const Executors& who, ir::Region body, ir::Region& out, ir::Loc loc);
  void AwaitStores(const ir::Op& op, ir::Region& out);
  bool Diverges(const ir::Op& op) const;
  bool Releases(const ir::Op& op, const ThreadSet& storers, ir::StorageId tile) const;
  void FinishStores(ir::Region& out);
  bool ReadAnywhere(ir::StorageId id) const;
  std::optional<size_t> IssuePlace(const ir::Region& issue, const ir::View& src,
                                   const ir::View& dst, const ir::Region& out) const;

  ir::Kernel& kernel_;
  PassContext& context_;
  ir::ExprBuilder build_;
  Dependence dependence_;
  ScopeTracker scope_;
  Ranges ranges_;
  Divisors divisors_;
  BarrierState state_;
  // Futures on which copies are started, themselves or by moves; and who made those of each.
  std::set<ir::VarId> copies_;
  std::map<ir::VarId, Executors> started_;
  int started_changes_ = 0;
  FlightQueues in_flight_;  // their groups of cp.async
  struct PendingStore {
    Executors who;
    ThreadSet threads;
    ir::Loc loc;
  };
  std::map<ir::StorageId, ThreadSet> writers_;       // of shared tiles, by all ops of the kernel
  std::map<int, PendingStore> stores_;               // by the number of their source view
  std::map<ir::ViewId, ir::StorageId> load_events_;  // of loads without a future, by their target
  std::map<std::string, int> named_barriers_;
  int next_barrier_ = 1;  // 0 is the CTA's
  std::bitset<kHardwareBarriers> barriers_of_source_;
};

}  // namespace choreo::passes
