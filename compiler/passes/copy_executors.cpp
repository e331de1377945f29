// Which threads make a copy together, which of them each is, and the barrier among them.
#include "passes/lower_copies.h"

#include <algorithm>

namespace choreo::passes {

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
  const int first = FirstOf(scope.active);
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

ir::ExprId CopyLowering::BarrierId(const Executors& who) {
  const ir::ExprId id = build_.Int(who.barrier);
  if (!who.each_group) return id;
  return build_.Add(build_.Div(build_.Call(ir::Intrinsic::WarpIdx, {}), kWarpgroupSize / kWarpSize),
                    id);
}

// A vote of the warpgroup meets at a barrier of its own; its memory effects are not counted on.
void CopyLowering::Vote(const ir::Vote& vote, ir::Region& out, ir::Loc loc, unsigned control) {
  const auto who = ExecutorsOf(kOnWarpgroup, loc, control, false);
  if (!who) return;
  CHOREO_CHECK(who->barrier != 0 && who->threads == vote.threads, "a vote outside a warpgroup");
  out.ops.push_back(
      {loc, ir::NamedBarrierVote{vote.var, vote.value, BarrierId(*who), vote.threads}});
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
    out.ops.push_back({loc, ir::NamedBarrierSync{BarrierId(who), who.threads}});
  } else {
    out.ops.push_back({loc, ir::SyncWarp{}});
  }
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
  return dependence_.OfControl(op) != 0;
}

}  // namespace choreo::passes
