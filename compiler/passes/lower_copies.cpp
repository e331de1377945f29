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
#include "passes/lower_copies.h"

#include <algorithm>
#include <iterator>

#include "passes/copy_loop.h"

namespace choreo::passes {

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
  in_flight_.EnterLoop();
  while (true) {
    state_ = entry;
    const int started_before = started_changes_;
    // An earlier round's body is dropped, and what was made for it.
    kernel_.vars.resize(vars);
    kernel_.exprs.resize(exprs);
    ir::Region body = Rewrite(loop.body, control);
    const bool other = entry.Join(state_) || started_changes_ != started_before;
    const bool groups = in_flight_.AgainFromLoopEnd();
    if (other && !groups) in_flight_.AgainAnyway();
    if ((!other && !groups) || context_.diags.has_errors()) {
      in_flight_.LeaveLoop();
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
  if (const auto* move = std::get_if<ir::FutureMove>(&op.node);
      move != nullptr && copies_.contains(move->src)) {
    Move(*move);
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
  if (const auto* vote = std::get_if<ir::Vote>(&op.node); vote && vote->threads > kWarpSize) {
    Vote(*vote, out, op.loc, control);
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
    const FlightQueues::State flying = in_flight_.state();
    // A role runs beside the others: what it meets is what was there when the roles began.
    copy.body = Rewrite(narrowed->body, control);
    if (outermost) FinishStores(copy.body);
    changed.Become(std::move(copy));
    scope_.Leave();
    if (narrowed->async) {
      state_ = before;
      in_flight_.Set(flying);
    } else {
      if (outermost) state_.Clear();  // joins all threads of the CTA
      in_flight_.Join(flying);
    }
  } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
    ir::For copy = *loop;
    copy.body = RewriteLoop(*loop, control | dependence_.OfControl(op));
    changed.Become(std::move(copy));
  } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
    ir::While copy = *loop;
    copy.body = RewriteLoop(*loop, control | dependence_.OfControl(op));
    changed.Become(std::move(copy));
  } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
    const unsigned inside = control | dependence_.OfControl(op);
    const BarrierState before = state_;
    const FlightQueues::State flying = in_flight_.state();
    ir::If copy{branch->condition, Rewrite(branch->then_body, inside), {}};
    BarrierState after_then = std::exchange(state_, before);
    const FlightQueues::State flying_after_then = in_flight_.state();
    in_flight_.Set(flying);
    copy.else_body = Rewrite(branch->else_body, inside);
    state_.Join(after_then);
    in_flight_.Join(flying_after_then);
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
    if (std::holds_alternative<ir::Break>(op.node)) in_flight_.Break();
    if (std::holds_alternative<ir::Continue>(op.node)) in_flight_.Continue();
    if (std::holds_alternative<ir::Return>(op.node)) in_flight_.Set({});
  }
  out.ops.push_back(std::move(changed));
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
      if (const auto* vote = std::get_if<ir::Vote>(&inner.node)) blocks |= used.contains(vote->var);
      if (const auto* atomic = std::get_if<ir::AtomicElem>(&inner.node)) {
        blocks |= used.contains(atomic->var);
      }
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
  CopyLoop loop{kernel_, build_, ranges_, divisors_, loc, who->threads, IndexOf(*who)};
  ir::Region issue;
  loop.Copy(src, dst, issue);
  auto place = static_cast<std::ptrdiff_t>(out.ops.size());
  if (std::holds_alternative<ir::CpAsyncWait>(issue.ops.back().node)) in_flight_.RetireAll();
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
  CopyLoop loop{kernel_, build_, ranges_, divisors_, loc, who->threads, IndexOf(*who)};
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
  CopyLoop loop{kernel_, build_, ranges_, divisors_, loc, who->threads, IndexOf(*who)};
  ir::Region issue;
  loop.Copy(src, dst, issue);
  if (std::holds_alternative<ir::CpAsyncWait>(issue.ops.back().node)) {
    issue.ops.pop_back();
    in_flight_.Issue(copy.future);
  }
  std::move(issue.ops.begin(), issue.ops.end(), std::back_inserter(out.ops));
  NoteStarted(copy.future, *who);
  state_.reads.insert(src.storage);
  state_.writes.insert(dst.storage);
}

void CopyLowering::NoteStarted(ir::VarId future, const Executors& who) {
  const auto [it, added] = started_.try_emplace(future, who);
  if (!added && it->second.threads >= who.threads) return;
  it->second = who;
  ++started_changes_;  // waits further up in a loop have to know
}

void CopyLowering::FindCopies() {
  bool changed = true;
  while (changed) {
    const size_t before = copies_.size();
    ir::ForEachOp(kernel_.body, [&](const ir::Op& op) {
      if (const auto* copy = std::get_if<ir::CopyAsync>(&op.node)) copies_.insert(copy->future);
      const auto* move = std::get_if<ir::FutureMove>(&op.node);
      if (move != nullptr && copies_.contains(move->src)) copies_.insert(move->dst);
    });
    changed = copies_.size() != before;
  }
}

// The groups are in the queue already; only who waits for them changes its name.
void CopyLowering::Move(const ir::FutureMove& move) {
  in_flight_.Move(move);
  const auto who = started_.find(move.src);
  if (who != started_.end()) NoteStarted(move.dst, Executors(who->second));
}

// Copies land in the order of their issue, so the wait leaves the younger ones in flight.
void CopyLowering::Wait(const ir::FutureWait& wait, ir::Region& out, ir::Loc loc) {
  ir::FutureWait others;
  std::vector<ir::VarId> copies;
  const Executors* widest = nullptr;
  for (const ir::VarId future : wait.futures) {
    if (!copies_.contains(future)) {
      others.futures.push_back(future);
      continue;
    }
    copies.push_back(future);
    const auto it = started_.find(future);
    if (it == started_.end()) continue;
    if (widest == nullptr || it->second.threads > widest->threads) widest = &it->second;
  }
  if (!copies.empty()) {
    if (const auto depth = in_flight_.Wait(copies))
      out.ops.push_back({loc, ir::CpAsyncWait{*depth}});
    if (widest != nullptr && !widest->each_alone) Barrier(*widest, out, loc);
  }
  if (!others.futures.empty()) out.ops.push_back({loc, std::move(others)});
}

ir::Kernel LowerCopies(ir::Kernel kernel, PassContext& context) {
  CopyLowering lowering(kernel, context);
  ir::Region body = lowering.Run();
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
