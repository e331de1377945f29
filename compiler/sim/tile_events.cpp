// Strands of the tile evaluator: where they meet, and the generations of events they wait for.
#include <algorithm>

#include "sim/tile_cta.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int kGroupThreads = 128;

std::string ThreadsName(std::span<const int> threads) {
  if (threads.size() == 1) return fmt::format("thread {}", threads[0]);
  return fmt::format("threads {}-{}", threads.front(), threads.back());
}

}  // namespace

void TileCta::WaitFor(const std::string& what, Threads threads, std::function<bool()> ready) {
  if (ready()) return;
  // Other strands run in between: what belongs to this one is kept here.
  const ir::Loc loc = loc_;
  const bool flow_changed = flow_changed_;
  blocked_[threads[0]] = {loc, fmt::format("{} wait{} for {}", ThreadsName(threads),
                                           threads.size() == 1 ? "s" : "", what)};
  strands_.Wait([this, ready = std::move(ready)] { return stop_ || ready(); });
  blocked_.erase(threads[0]);
  loc_ = loc;
  flow_changed_ = flow_changed;
}

void TileCta::ReportDeadlock() {
  CHOREO_CHECK(!blocked_.empty(), "no strand of the tile evaluator can run");
  std::string text;
  ir::Loc other;
  const ir::Loc first = blocked_.begin()->second.loc;
  for (const auto& [thread, blocked] : blocked_) {
    text += fmt::format("{}{} at {}:{}", text.empty() ? "" : "; ", blocked.what, blocked.loc.line,
                        blocked.loc.column);
    if (blocked.loc != first) other = blocked.loc;
  }
  launch_.findings.Add(diag::kinds::SimDeadlock, first, other, text);
  stop_ = true;
}

void TileCta::Meet(const void* node, const ThreadBits& members, Threads threads,
                   const std::function<void(Threads)>& act) {
  std::vector<int> all;
  for (int t = 0; t < threads_; ++t) {
    if (members.test(static_cast<size_t>(t))) all.push_back(t);
  }
  if (all.size() == threads.size()) return act(threads);
  const std::pair<const void*, int> key{node, all[0]};
  std::vector<int>& here = meetings_[key];
  here.insert(here.end(), threads.begin(), threads.end());
  int64_t& met = met_[key];
  if (here.size() == all.size()) {
    here.clear();
    act(all);
    ++met;
    return;
  }
  WaitFor(fmt::format("the others of threads {}-{}", all.front(), all.back()), threads,
          [&met, before = met] { return met != before; });
}

void TileCta::Together(const void* node, const TilePlan::OpPlan& plan, Threads threads,
                       const std::function<void(Threads)>& act) {
  if (plan.unit == kMaxCtaThreads) {
    Meet(node, plan.active, threads, act);
  } else if (plan.unit == kGroupThreads) {
    ThreadBits group;
    const int first = threads[0] / kGroupThreads * kGroupThreads;
    for (int t = first; t < std::min(first + kGroupThreads, threads_); ++t) {
      group.set(static_cast<size_t>(t));
    }
    Meet(node, plan.active & group, threads, act);
  } else {
    act(threads);
  }
  if (!plan.join_after || stop_) return;
  const bool flow_changed = flow_changed_;
  Meet(node, plan.active, threads, [](Threads) {});
  flow_changed_ = flow_changed;
}

TileCta::Turn TileCta::TurnOf(ir::StorageId event, ir::ExprId order, Threads threads,
                              std::vector<std::vector<int64_t>>& counts) {
  const ir::Storage& storage = StorageOf(event);
  std::vector<EventSlot>& slots = events_[event.value];
  if (!order.valid()) {
    const int64_t generation = counts[event.value][static_cast<size_t>(threads[0])];
    for (const int t : threads) ++counts[event.value][static_cast<size_t>(t)];
    return {&slots[0], generation, fmt::format("`{}`", storage.name)};
  }
  const auto count = static_cast<int64_t>(slots.size());
  const int64_t at = EvalInt(order, threads[0]);
  if (at < 0) {
    launch_.findings.Add(diag::kinds::SimOutOfBounds, loc_, storage.loc, at, storage.name, 0,
                         int64_t{0xffffffff});
    stop_ = true;
    return {&slots[0], 0, {}};
  }
  // An order may be given modulo twice the slots: it goes on from the path's last one.
  int64_t& last = counts[event.value][static_cast<size_t>(threads[0])];
  const int64_t order_now =
      at >= last ? at : last + (at - last % (2 * count) + 2 * count) % (2 * count);
  for (const int t : threads) counts[event.value][static_cast<size_t>(t)] = order_now;
  return {&slots[static_cast<size_t>(order_now % count)], order_now / count,
          fmt::format("slot {} of `{}`", order_now % count, storage.name)};
}

void TileCta::Exec(const ir::EventWait& op, Threads threads, int) {
  const Turn turn = TurnOf(op.event, op.order, threads, waits_);
  if (stop_) return;
  WaitFor(fmt::format("generation {} of {}", turn.generation, turn.name), threads,
          [&turn] { return turn.slot->complete > turn.generation; });
}

void TileCta::Exec(const ir::NamedBarrierSync& op, Threads threads, int) {
  const int64_t id = EvalInt(op.id, threads[0]);
  const int64_t generation = Arrive(id, op.threads, threads);
  // A single strand executes both sides one after the other.
  if (!concurrent()) return;
  WaitFor(fmt::format("named barrier {}", id), threads,
          [this, id, generation] { return barriers_[id].complete > generation; });
}

void TileCta::Exec(const ir::NamedBarrierArrive& op, Threads threads, int) {
  Arrive(EvalInt(op.id, threads[0]), op.threads, threads);
}

int64_t TileCta::Arrive(int64_t id, int64_t needed, Threads threads) {
  NamedBarrier& barrier = barriers_[id];
  const int64_t generation = barrier.complete;
  barrier.arrived += static_cast<int64_t>(threads.size());
  if (barrier.arrived >= needed) {
    barrier.arrived -= needed;
    ++barrier.complete;
  }
  return generation;
}

void TileCta::Exec(const ir::EventTrigger& op, Threads threads, int) {
  const Turn turn = TurnOf(op.event, op.order, threads, triggers_);
  if (stop_) return;
  const int64_t needed = launch_.plan->Contributions(op.event);
  // Generation 0 of a ready event is given.
  const int64_t generation = turn.generation + (StorageOf(op.event).ready ? 1 : 0);
  std::map<int64_t, int64_t>& contributions = turn.slot->contributions;
  contributions[generation] +=
      op.futures.empty() ? static_cast<int64_t>(threads.size()) : int64_t{1};
  for (auto next = contributions.find(turn.slot->complete);
       next != contributions.end() && next->second >= needed;
       next = contributions.find(turn.slot->complete)) {
    contributions.erase(next);
    ++turn.slot->complete;
  }
}

}  // namespace choreo::sim
