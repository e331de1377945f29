// lower-copies: cooperative copies and fills as loops of vector accesses (cp.async from global to
// shared memory), with a barrier behind each, and in front of each one whose tile was accessed
// since the last barrier of all threads. Loops are followed to a fixed point, so a barrier that the
// other copy of the loop makes needless is not there. A copy from global memory is issued as soon
// as its tile is free, right behind the barrier that freed it, and waited for where the program has
// it: what stands between runs while the data is on its way.
// TMA stores get the barrier behind which one thread issues them; before their tile is written
// again, and at the end of the role, that thread waits until it has been read; so it does before a
// plain trigger, where other threads write the tile. A TMA load without a future becomes a load
// with one, bound to an event of its own that is waited for.
#include <algorithm>
#include <bitset>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "passes/barrier_state.h"
#include "passes/copy_loop.h"
#include "passes/pass.h"
#include "passes/scope.h"
#include "passes/tma_boxes.h"

namespace choreo::passes {
namespace {

constexpr int kHardwareBarriers = 16;

class CopyLowering {
 public:
  CopyLowering(ir::Kernel& kernel, PassContext& context)
      : kernel_(kernel),
        context_(context),
        build_(kernel),
        dependence_(kernel),
        scope_(kernel, kernel.host.threads),
        ranges_(kernel) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      if (const auto id = IdOf(op)) barriers_of_source_.set(static_cast<size_t>(*id));
    });
  }

  ir::Region Run() {
    FindWriters(kernel_.body);
    ir::Region out = Rewrite(kernel_.body, 0);
    FinishStores(out);
    return out;
  }

 private:
  void FindWriters(const ir::Region& region);
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
  void Load(const ir::TmaLoad& load, ir::Region& out, ir::Loc loc, unsigned control);
  void Store(const ir::TmaStore& store, ir::Region& out, ir::Loc loc, unsigned control);
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
  BarrierState state_;
  // Copies in flight by their futures: who waits for them.
  std::map<ir::VarId, Executors> started_;
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

void CopyLowering::FindWriters(const ir::Region& region) {
  for (const ir::Op& op : region.ops) {
    for (const ir::StorageId id : ir::DirectStorageUse(kernel_, op).writes) {
      if (kernel_.storages[id].kind == ir::StorageKind::Shared) {
        writers_[id] |= scope_.current().active;
      }
    }
    const auto* parallel = std::get_if<ir::Parallel>(&op.node);
    const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
    if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
    if (parallel != nullptr) scope_.Enter(*parallel);
    if (narrowed != nullptr) scope_.Enter(*narrowed);
    ir::VisitRegions(op, [&](const ir::Region& inner) { FindWriters(inner); });
    if (parallel != nullptr || narrowed != nullptr) scope_.Leave();
  }
}

template <class Loop>
ir::Region CopyLowering::RewriteLoop(const Loop& loop, unsigned control) {
  bool jumps = false;
  ir::ForEachOp(loop.body, [&](const ir::Op& op) {
    jumps |= std::holds_alternative<ir::Break>(op.node) ||
             std::holds_alternative<ir::Continue>(op.node) ||
             std::holds_alternative<ir::Return>(op.node);
  });
  BarrierState everything;
  everything.Add(ir::AllStorageUse(kernel_, loop.body));
  BarrierState entry = state_;
  if (jumps) entry.Join(everything);
  const size_t vars = kernel_.vars.size();
  const size_t exprs = kernel_.exprs.size();
  while (true) {
    state_ = entry;
    // An earlier round's body is dropped, and what was made for it.
    kernel_.vars.resize(vars);
    kernel_.exprs.resize(exprs);
    ir::Region body = Rewrite(loop.body, control);
    if (!entry.Join(state_) || context_.diags.has_errors()) {
      state_.Join(entry);  // the loop may not run
      return body;
    }
  }
}

void CopyLowering::RewriteOp(const ir::Op& op, ir::Region& out, unsigned control) {
  AwaitStores(op, out);
  if (const auto* copy = std::get_if<ir::CopySync>(&op.node)) {
    Copy(*copy, out, op.loc, control);
    return;
  }
  if (const auto* fill = std::get_if<ir::FillTile>(&op.node)) {
    Fill(*fill, out, op.loc, control);
    return;
  }
  if (const auto* started = std::get_if<ir::CopyAsync>(&op.node)) {
    Start(*started, out, op.loc, control);
    return;
  }
  if (const auto* wait = std::get_if<ir::FutureWait>(&op.node)) {
    Wait(*wait, out, op.loc);
    return;
  }
  if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
    Load(*load, out, op.loc, control);
    return;
  }
  if (const auto* store = std::get_if<ir::TmaStore>(&op.node)) {
    Store(*store, out, op.loc, control);
    return;
  }
  state_.Add(ir::DirectStorageUse(kernel_, op));
  ir::Op changed;
  changed.loc = op.loc;
  if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
    scope_.Enter(*parallel);
    ir::Parallel copy = *parallel;
    copy.body = Rewrite(parallel->body, control);
    changed.Become(std::move(copy));
    scope_.Leave();
  } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
    const bool outermost = scope_.current().depth == 0;
    scope_.Enter(*narrowed);
    ir::InThreads copy = *narrowed;
    const BarrierState before = state_;
    // A role runs beside the others: what it meets is what was there when the roles began.
    copy.body = Rewrite(narrowed->body, control);
    if (outermost) FinishStores(copy.body);
    changed.Become(std::move(copy));
    scope_.Leave();
    if (narrowed->async) {
      state_ = before;
    } else if (outermost) {
      state_.Clear();  // joins all threads of the CTA
    }
  } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
    const unsigned bounds =
        dependence_.Of(loop->low) | dependence_.Of(loop->high) | dependence_.Of(loop->step);
    ir::For copy = *loop;
    copy.body = RewriteLoop(*loop, control | bounds);
    changed.Become(std::move(copy));
  } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
    ir::While copy = *loop;
    copy.body = RewriteLoop(*loop, control | dependence_.Of(loop->condition));
    changed.Become(std::move(copy));
  } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
    const unsigned inside = control | dependence_.Of(branch->condition);
    const BarrierState before = state_;
    ir::If copy{branch->condition, Rewrite(branch->then_body, inside), {}};
    BarrierState after_then = std::exchange(state_, before);
    copy.else_body = Rewrite(branch->else_body, inside);
    state_.Join(after_then);
    changed.Become(std::move(copy));
  } else if (std::holds_alternative<ir::SyncShared>(op.node)) {
    const size_t here = scope_.current().active.count();
    if (here != static_cast<size_t>(kernel_.host.threads)) {
      context_.diags.Emit(diag::kinds::SyncSharedNarrow, context_.Where(op.loc),
                          static_cast<int>(here), kernel_.host.threads);
    }
    changed.Become(ir::CtaBarrier{});
    state_.Clear();
  } else {
    changed = op;
    if (const auto* let = std::get_if<ir::Let>(&op.node)) scope_.Note(*let);
  }
  out.ops.push_back(std::move(changed));
}

int CopyLowering::NamedBarrier(const ThreadSet& threads, int count, ir::Loc loc) {
  const auto [it, added] = named_barriers_.try_emplace(threads.to_string(), 0);
  if (!added) return it->second;
  const auto taken = [&](int id) {
    return id < kHardwareBarriers && barriers_of_source_.test(static_cast<size_t>(id));
  };
  for (int i = 0; i < count; ++i) {
    if (taken(next_barrier_ + i)) next_barrier_ += i + 1, i = -1;
  }
  it->second = next_barrier_;
  next_barrier_ += count;
  if (next_barrier_ > kHardwareBarriers) {
    context_.diags.Emit(diag::kinds::TooManyBarriers, context_.Where(loc), kernel_.name);
  }
  return it->second;
}

std::optional<CopyLowering::Executors> CopyLowering::ExecutorsOf(unsigned depends, ir::Loc loc,
                                                                 unsigned control, bool number) {
  const Scope& scope = scope_.current();
  Executors who;
  if ((depends & kOnThread) != 0 || scope.single_thread()) {
    who.threads = 1;
    who.each_alone = true;
    return who;
  }
  constexpr unsigned kOnGroups = kOnWarpgroup | kOnWarp;
  if ((depends & kOnGroups) == 0 && (control & kOnGroups) != 0) {
    context_.diags.Emit(diag::kinds::JointCopyDiverges, context_.Where(loc));
    return std::nullopt;
  }
  if (scope.level != ir::Level::Block && (depends & kOnGroups) != 0) {
    const int size = scope.level == ir::Level::Warpgroup ? kWarpgroupSize : kWarpSize;
    who.threads = size;
    who.each_group = true;
    if (size == kWarpgroupSize) {
      who.barrier = NamedBarrier(ThreadRange(0, 0), kernel_.host.threads / kWarpgroupSize, loc);
    }
    return who;
  }
  if (scope.active.none()) return std::nullopt;  // no thread comes by
  int first = 0;
  while (!scope.active.test(static_cast<size_t>(first))) ++first;
  const int count = static_cast<int>(scope.active.count());
  const bool adjacent = scope.active == ThreadRange(first, count);
  if ((number && !adjacent) || (count != kernel_.host.threads && !scope.whole_warps())) {
    context_.diags.Emit(diag::kinds::ScatteredThreads, context_.Where(loc), count);
    return std::nullopt;
  }
  who.threads = count;
  who.first = first;
  who.whole_cta = count == kernel_.host.threads;
  if (!who.whole_cta && count > kWarpSize) {
    who.barrier = NamedBarrier(scope.active, 1, loc);
  }
  return who;
}

ir::ExprId CopyLowering::IndexOf(const Executors& who) {
  const ir::ExprId tid = build_.Call(ir::Intrinsic::ThreadIdx, {});
  if (who.each_alone) return build_.Int(0);
  return who.each_group ? build_.Mod(tid, who.threads) : build_.Sub(tid, who.first);
}

void CopyLowering::Barrier(const Executors& who, ir::Region& out, ir::Loc loc) {
  if (who.each_alone && scope_.current().single_thread()) return;
  const auto here = static_cast<int>(scope_.current().active.count());
  if (who.whole_cta || (who.each_alone && here == kernel_.host.threads)) {
    out.ops.push_back({loc, ir::CtaBarrier{}});
    state_.Clear();
  } else if (who.each_alone && here > kWarpSize) {
    const int number = NamedBarrier(scope_.current().active, 1, loc);
    out.ops.push_back({loc, ir::NamedBarrierSync{build_.Int(number), here}});
  } else if (who.barrier != 0) {
    ir::ExprId id = build_.Int(who.barrier);
    if (who.each_group) {
      id = build_.Add(
          build_.Div(build_.Call(ir::Intrinsic::WarpIdx, {}), kWarpgroupSize / kWarpSize), id);
    }
    out.ops.push_back({loc, ir::NamedBarrierSync{id, who.threads}});
  } else {
    out.ops.push_back({loc, ir::SyncWarp{}});
  }
}

bool CopyLowering::ReadAnywhere(ir::StorageId id) const {
  const ir::StorageUse use = ir::AllStorageUse(kernel_, kernel_.body);
  return std::find(use.reads.begin(), use.reads.end(), id) != use.reads.end();
}

// Where in `out` the loads may be issued: behind the last barrier of all threads in this region, if
// nothing from there on touches the tile or defines what the loads compute with.
std::optional<size_t> CopyLowering::IssuePlace(const ir::Region& issue, const ir::View& src,
                                               const ir::View& dst, const ir::Region& out) const {
  const ir::StorageUse all = ir::AllStorageUse(kernel_, kernel_.body);
  if (std::find(all.writes.begin(), all.writes.end(), src.storage) != all.writes.end()) {
    return std::nullopt;
  }
  std::set<ir::VarId> used;
  ir::ForEachOp(issue, [&](const ir::Op& op) {
    ir::ForEachExpr(kernel_, op, [&](ir::ExprId root) {
      ir::ForEachSubExpr(kernel_, root, [&](ir::ExprId e) {
        if (const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[e].node))
          used.insert(ref->var);
      });
    });
  });
  const auto in_the_way = [&](const ir::Op& op) {
    bool blocks = false;
    const auto look = [&](const ir::Op& inner) {
      const ir::StorageUse use = ir::DirectStorageUse(kernel_, inner);
      const auto touches = [&](const std::vector<ir::StorageId>& ids) {
        return std::find(ids.begin(), ids.end(), dst.storage) != ids.end();
      };
      blocks |= touches(use.reads) || touches(use.writes);
      if (const auto* let = std::get_if<ir::Let>(&inner.node)) blocks |= used.contains(let->var);
      if (const auto* decl = std::get_if<ir::VarDecl>(&inner.node)) {
        blocks |= used.contains(decl->var);
      }
      if (const auto* set = std::get_if<ir::Assign>(&inner.node)) blocks |= used.contains(set->var);
      blocks |= std::holds_alternative<ir::Break>(inner.node) ||
                std::holds_alternative<ir::Continue>(inner.node) ||
                std::holds_alternative<ir::Return>(inner.node) ||
                std::holds_alternative<ir::RawCpp>(inner.node);
      const auto barrier = IdOf(inner);  // of the source: what it guards is not known
      blocks |= barrier && barriers_of_source_.test(static_cast<size_t>(*barrier));
    };
    look(op);
    ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, look); });
    return blocks;
  };
  for (size_t i = out.ops.size(); i-- > 0;) {
    if (std::holds_alternative<ir::CtaBarrier>(out.ops[i].node)) return i + 1;
    if (in_the_way(out.ops[i])) return std::nullopt;
  }
  return std::nullopt;
}

void CopyLowering::Copy(const ir::CopySync& copy, ir::Region& out, ir::Loc loc, unsigned control) {
  const ir::View src = kernel_.views[copy.src];
  const ir::View dst = kernel_.views[copy.dst];
  const ir::StorageKind dst_kind = kernel_.storages[dst.storage].kind;
  unsigned depends = dependence_.Of(src) | dependence_.Of(dst);
  if (dst_kind == ir::StorageKind::Local ||
      kernel_.storages[src.storage].kind == ir::StorageKind::Local) {
    depends |= kOnThread;
  }
  const auto who = ExecutorsOf(depends, loc, control);
  if (!who) return;
  // Readers and writers of the target, and writers of the source, must be done.
  if ((dst_kind != ir::StorageKind::Local && state_.Touched(dst.storage)) ||
      (kernel_.storages[src.storage].kind != ir::StorageKind::Local &&
       state_.writes.contains(src.storage))) {
    Barrier(*who, out, loc);
  }
  CopyLoop loop{kernel_, build_, ranges_, loc, who->threads, IndexOf(*who)};
  ir::Region issue;
  loop.Copy(src, dst, issue);
  auto place = static_cast<std::ptrdiff_t>(out.ops.size());
  if (std::holds_alternative<ir::CpAsyncWait>(issue.ops.back().node) && who->whole_cta) {
    ir::Op wait = std::move(issue.ops.back());
    issue.ops.pop_back();
    if (const auto earlier = IssuePlace(issue, src, dst, out)) {
      place = static_cast<std::ptrdiff_t>(*earlier);
    }
    out.ops.push_back(std::move(wait));
  }
  out.ops.insert(out.ops.begin() + place, std::make_move_iterator(issue.ops.begin()),
                 std::make_move_iterator(issue.ops.end()));
  state_.reads.insert(src.storage);
  state_.writes.insert(dst.storage);
  const bool seen_by_others = dst_kind == ir::StorageKind::Shared ||
                              (dst_kind == ir::StorageKind::Param && ReadAnywhere(dst.storage));
  if (seen_by_others && !who->each_alone) Barrier(*who, out, loc);
}

void CopyLowering::Fill(const ir::FillTile& fill, ir::Region& out, ir::Loc loc, unsigned control) {
  const ir::View dst = kernel_.views[fill.dst];
  const bool local = kernel_.storages[dst.storage].kind == ir::StorageKind::Local;
  const auto who =
      ExecutorsOf(dependence_.Of(dst) | (local ? unsigned{kOnThread} : 0u), loc, control);
  if (!who) return;
  if (!local && state_.Touched(dst.storage)) Barrier(*who, out, loc);
  CopyLoop loop{kernel_, build_, ranges_, loc, who->threads, IndexOf(*who)};
  loop.Fill(dst, fill.value, out);
  state_.writes.insert(dst.storage);
  if (!local && !who->each_alone) Barrier(*who, out, loc);
}

// ---- copies with a future ----

void CopyLowering::Start(const ir::CopyAsync& copy, ir::Region& out, ir::Loc loc,
                         unsigned control) {
  const ir::View src = kernel_.views[copy.src];
  const ir::View dst = kernel_.views[copy.dst];
  const auto who = ExecutorsOf(dependence_.Of(src) | dependence_.Of(dst), loc, control);
  if (!who) return;
  if (state_.Touched(dst.storage) || state_.writes.contains(src.storage)) Barrier(*who, out, loc);
  CopyLoop loop{kernel_, build_, ranges_, loc, who->threads, IndexOf(*who)};
  ir::Region issue;
  loop.Copy(src, dst, issue);
  if (std::holds_alternative<ir::CpAsyncWait>(issue.ops.back().node)) issue.ops.pop_back();
  std::move(issue.ops.begin(), issue.ops.end(), std::back_inserter(out.ops));
  started_[copy.future] = *who;
  state_.reads.insert(src.storage);
  state_.writes.insert(dst.storage);
}

// Copies land in their order, but how many younger ones are on their way is not followed: the wait
// is for all of the thread's.
void CopyLowering::Wait(const ir::FutureWait& wait, ir::Region& out, ir::Loc loc) {
  ir::FutureWait others;
  const Executors* widest = nullptr;
  for (const ir::VarId future : wait.futures) {
    const auto it = started_.find(future);
    if (it == started_.end()) {
      others.futures.push_back(future);
    } else if (widest == nullptr || it->second.threads > widest->threads) {
      widest = &it->second;
    }
  }
  if (widest != nullptr) {
    out.ops.push_back({loc, ir::CpAsyncWait{0}});
    if (!widest->each_alone) Barrier(*widest, out, loc);
  }
  if (!others.futures.empty()) out.ops.push_back({loc, std::move(others)});
}

// ---- TMA ----

void CopyLowering::Load(const ir::TmaLoad& load, ir::Region& out, ir::Loc loc, unsigned control) {
  const ir::View dst = kernel_.views[load.dst];
  // The threads that used the tile before must be done with it, unless an event says so: then
  // others use it.
  if (load.future && !state_.Touched(dst.storage)) {
    out.ops.push_back({loc, load});
    return;
  }
  const auto who =
      ExecutorsOf(dependence_.Of(kernel_.views[load.src]) | dependence_.Of(dst), loc, control);
  if (!who) return;
  if (state_.Touched(dst.storage) && !who->each_alone) Barrier(*who, out, loc);
  if (load.future) {
    out.ops.push_back({loc, load});
    return;
  }
  const auto [it, added] = load_events_.try_emplace(load.dst);
  if (added) {
    ir::Storage event;
    event.name = kernel_.storages[dst.storage].name + "_loaded";
    event.kind = ir::StorageKind::Event;
    event.elem = Elem::kU64;
    event.array_size = 0;
    event.loc = loc;
    it->second = kernel_.storages.Add(std::move(event));
  }
  const ir::StorageId loaded = it->second;
  ir::TmaLoad started = load;
  started.future = build_.NewVar("load", Elem::kU32, ir::VarKind::Future, loc);
  out.ops.push_back({loc, started});
  out.ops.push_back({loc, ir::EventTrigger{loaded, {}, {started.future}}});
  out.ops.push_back({loc, ir::EventWait{loaded, {}}});
}

void CopyLowering::Store(const ir::TmaStore& store, ir::Region& out, ir::Loc loc,
                         unsigned control) {
  const ir::View src = kernel_.views[store.src];
  const ir::View dst = kernel_.views[store.dst];
  const auto who = ExecutorsOf(dependence_.Of(src) | dependence_.Of(dst), loc, control, false);
  if (!who) return;
  const auto boxes = MakeTmaBoxes(build_, context_, dst, src, true, loc);
  if (!boxes) return;
  // Every writer is done, and its fence (proxy-fences) stands before this.
  Barrier(*who, out, loc);
  ir::Region issue;
  for (const TmaBox& box : boxes->boxes) {
    issue.ops.push_back({loc, ir::TmaStoreBox{box.map, box.at, src.storage, box.shared_index}});
  }
  issue.ops.push_back({loc, ir::TmaStoreCommit{}});
  ByFirst(*who, std::move(issue), out, loc);
  const auto number = static_cast<int>(store.src.value);
  state_.stores.insert({src.storage, number});
  state_.reads.insert(src.storage);
  stores_[number] = {*who, scope_.current().active, loc};
}

// What one of the executors does for all.
void CopyLowering::ByFirst(const Executors& who, ir::Region body, ir::Region& out, ir::Loc loc) {
  if (who.each_alone) {
    std::move(body.ops.begin(), body.ops.end(), std::back_inserter(out.ops));
    return;
  }
  out.ops.push_back({loc, ir::If{build_.Eq(IndexOf(who), 0), std::move(body), {}}});
}

// Whether threads may go different ways in `op`: what all of them must do together comes before it.
bool CopyLowering::Diverges(const ir::Op& op) const {
  if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) return !narrowed->async;
  if (const auto* branch = std::get_if<ir::If>(&op.node)) {
    return dependence_.Of(branch->condition) != 0;
  }
  if (const auto* loop = std::get_if<ir::While>(&op.node)) {
    return dependence_.Of(loop->condition) != 0;
  }
  const auto* loop = std::get_if<ir::For>(&op.node);
  return loop != nullptr &&
         (dependence_.Of(loop->low) | dependence_.Of(loop->high) | dependence_.Of(loop->step)) != 0;
}

// Whether `op` may tell others that the tile is free: threads besides those that store it write it.
bool CopyLowering::Releases(const ir::Op& op, const ThreadSet& storers, ir::StorageId tile) const {
  const auto it = writers_.find(tile);
  if (it == writers_.end() || (it->second & ~storers).none()) return false;
  bool plain = false;
  const auto look = [&](const ir::Op& inner) {
    const auto* trigger = std::get_if<ir::EventTrigger>(&inner.node);
    plain |= trigger != nullptr && trigger->futures.empty();
  };
  look(op);
  if (Diverges(op)) {
    ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, look); });
  }
  return plain;
}

// In front of an op that writes a tile which a store may still be reading, or tells others to.
void CopyLowering::AwaitStores(const ir::Op& op, ir::Region& out) {
  if (state_.stores.empty()) return;
  ir::StorageUse use = ir::DirectStorageUse(kernel_, op);
  if (Diverges(op)) {
    ir::VisitRegions(op, [&](const ir::Region& region) {
      const ir::StorageUse inner = ir::AllStorageUse(kernel_, region);
      use.writes.insert(use.writes.end(), inner.writes.begin(), inner.writes.end());
    });
  }
  for (auto it = state_.stores.begin(); it != state_.stores.end();) {
    const PendingStore& store = stores_.at(it->second);
    const bool written =
        std::find(use.writes.begin(), use.writes.end(), it->first) != use.writes.end();
    if (!written && !Releases(op, store.threads, it->first)) {
      ++it;
      continue;
    }
    ir::Region read;
    read.ops.push_back({store.loc, ir::TmaStoreWait{0, true}});
    ByFirst(store.who, std::move(read), out, store.loc);
    // More threads may come by here than stored.
    std::optional<Executors> who = store.who;
    if (scope_.current().active != store.threads) who = ExecutorsOf(0, op.loc, 0);
    if (!who) return;
    Barrier(*who, out, op.loc);
    it = state_.stores.erase(it);
  }
}

// At the end of a role or of the kernel: shared memory must outlive the reads.
void CopyLowering::FinishStores(ir::Region& out) {
  for (const auto& [tile, number] : state_.stores) {
    const PendingStore& store = stores_.at(number);
    ir::Region read;
    read.ops.push_back({store.loc, ir::TmaStoreWait{0, true}});
    ByFirst(store.who, std::move(read), out, store.loc);
  }
  state_.stores.clear();
}

}  // namespace

ir::Kernel LowerCopies(ir::Kernel kernel, PassContext& context) {
  CopyLowering lowering(kernel, context);
  ir::Region body = lowering.Run();
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
