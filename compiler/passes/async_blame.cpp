// From two accesses that nothing orders, or agents that wait for ever, to the mistake behind it.
#include <algorithm>

#include "passes/async_replay.h"

namespace choreo::passes {
namespace {

using Rule = Obligations::Rule;

bool IsPlainTrigger(const Step& step) {
  const auto* trigger = std::get_if<ir::EventTrigger>(&step.op->node);
  return trigger != nullptr && trigger->futures.empty();
}

}  // namespace

std::string Replay::TileName(const TileUse& use) const {
  const ir::Storage& tile = Of(use.storage);
  if (tile.array_size <= 1 || !use.slot) return tile.name;
  return fmt::format("{}[{}]", tile.name, *use.slot);
}

// ---- small questions --------------------------------------------------------------------------

std::optional<Replay::Acquired> Replay::LastWait(size_t agent, int before, EventId event) const {
  std::optional<Acquired> last;
  for (const Acquired& wait : states_[agent].waits) {
    if (wait.step < before && wait.event == event) last = wait;
  }
  return last;
}

const Step* Replay::FindTrigger(size_t agent, EventId event, int64_t generation) const {
  for (const Step& step : traces_[agent].steps) {
    if (step.kind == StepKind::EventTrigger && EventOf(step) == event &&
        step.generation == generation) {
      return &step;
    }
  }
  return nullptr;
}

// The trigger that tells others of a write: the one that binds the load, else the next plain one.
const Step* Replay::PublisherOf(const Access& write) const {
  const auto& steps = traces_[write.agent].steps;
  const bool load = StepAt(write.agent, write.step).kind == StepKind::Load;
  for (size_t i = static_cast<size_t>(write.step) + 1; i < steps.size(); ++i) {
    if (steps[i].kind != StepKind::EventTrigger) continue;
    const auto& issues = steps[i].issues;
    if (std::find(issues.begin(), issues.end(), write.step) != issues.end()) return &steps[i];
  }
  for (size_t i = static_cast<size_t>(write.step) + 1; i < steps.size(); ++i) {
    if (!IsPlainTrigger(steps[i])) continue;
    // A ring that is ready at first gives tiles back; it tells of no write, unless nothing else
    // does.
    if (!load || !Of(EventOf(steps[i])).ready) return &steps[i];
  }
  return nullptr;
}

// The slot of `tile` that the loads of a generation fill.
std::optional<int64_t> Replay::PublishedSlot(EventId event, int64_t trigger,
                                             ir::StorageId tile) const {
  const auto totals = totals_.find(event);
  if (totals == totals_.end()) return std::nullopt;
  for (const auto& [agent, total] : totals->second) {
    const auto& steps = traces_[agent].steps;
    const Step* last_write = nullptr;
    for (const Step& step : steps) {
      for (const TileUse& use : step.tiles) {
        if (use.write && use.storage == tile) last_write = &step;
      }
      if (step.kind != StepKind::EventTrigger || EventOf(step) != event ||
          step.generation != trigger) {
        continue;
      }
      const Step* source = nullptr;
      for (const int issue : step.issues) {
        for (const TileUse& use : StepAt(agent, issue).tiles) {
          if (use.write && use.storage == tile) source = &StepAt(agent, issue);
        }
      }
      if (source == nullptr && IsPlainTrigger(step)) source = last_write;
      if (source == nullptr) continue;
      for (const TileUse& use : source->tiles) {
        if (use.write && use.storage == tile) return use.slot;
      }
    }
  }
  return std::nullopt;
}

// Whether the agent waited for a generation that fills another slot, and has not read that one.
bool Replay::WrongSlot(size_t agent, int step, const TileUse& use, EventId full) {
  const auto wait = LastWait(agent, step, full);
  if (!wait) return false;
  const auto slot = PublishedSlot(full, wait->trigger, use.storage);
  if (!slot || slot == use.slot) return false;
  for (int i = wait->step + 1; i < step; ++i) {
    for (const TileUse& other : StepAt(agent, i).tiles) {
      if (!other.write && other.storage == use.storage && other.slot == slot) return false;
    }
  }
  in_.findings
      .Add(diag::kinds::WrongTileSlot, use.loc, TileName(use), "read", Of(full).name, *slot,
           Role(agent))
      .Note(StepAt(agent, wait->step).op->loc, "the wait before it");
  return true;
}

// Whether the agent fills a slot again after a wait that stands for another slot: the waits right
// before the two fills are not a whole number of turns apart.
bool Replay::RefillsOtherSlot(size_t agent, int step, const TileUse& use) {
  int before = -1;
  for (int i = 0; i < step; ++i) {
    for (const TileUse& other : StepAt(agent, i).tiles) {
      if (other.write && other.storage == use.storage && other.slot == use.slot) before = i;
    }
  }
  const Acquired *first = nullptr, *last = nullptr;
  for (const Acquired& wait : states_[agent].waits) {
    if (wait.step < before) first = &wait;
    if (wait.step < step) last = &wait;
  }
  if (before < 0 || first == nullptr || first->event != last->event) return false;
  const int64_t slots = std::max(Of(last->event).array_size, 1);
  if ((last->wait - first->wait) % slots == 0) return false;
  in_.findings
      .Add(diag::kinds::WrongTileSlot, use.loc, TileName(use), "filled", Of(last->event).name,
           last->wait % slots, Role(agent))
      .Note(StepAt(agent, last->step).op->loc, "the wait before it")
      .Note(StepAt(agent, before).op->loc, "filled here before");
  return true;
}

// ---- accesses that nothing orders -------------------------------------------------------------

void Replay::ReadUnfilled(size_t agent, int step, const TileUse& use, const Access& write) {
  const Step* trigger = PublisherOf(write);
  if (write.agent == agent || trigger == nullptr) {
    in_.findings
        .Add(diag::kinds::ReadBeforeFilled, use.loc, TileName(use), "its load is not waited for",
             Role(agent))
        .Note(write.use.loc, fmt::format("filled here, by {}", Role(write.agent)));
    return;
  }
  const EventId event = EventOf(*trigger);
  if (Of(event).ready) {
    in_.findings.Add(diag::kinds::FullEventReady, Of(event).loc, Of(event).name, TileName(use))
        .Note(trigger->op->loc, fmt::format("triggered for it here, by {}", Role(write.agent)))
        .Note(use.loc, fmt::format("read here, by {}", Role(agent)));
    return;
  }
  if (WrongSlot(agent, step, use, event)) return;
  const bool late =
      IsPlainTrigger(*trigger) && StepAt(write.agent, write.step).kind == StepKind::Load;
  const std::string why = late ? fmt::format("`{}` is triggered without the load", Of(event).name)
                               : fmt::format("`{}` is not waited for", Of(event).name);
  in_.findings.Add(diag::kinds::ReadBeforeFilled, use.loc, TileName(use), why, Role(agent))
      .Note(write.use.loc, fmt::format("filled here, by {}", Role(write.agent)))
      .Note(trigger->op->loc, "complete with this trigger");
}

// The wait that stands for the release of the tile: of an event that has been seen to guard it,
// else the latest one that the reader triggers, else the latest for anybody's release.
const Replay::Acquired* Replay::GuardOf(size_t agent, const TileUse& use, size_t reader) {
  const TileKey key{use.storage, *use.slot};
  const Access& filled = tiles_[key].writes[0];
  const Acquired* guard = nullptr;
  int best = 0;
  for (const Acquired& wait : states_[agent].waits) {
    if (wait.trigger < 0 || (filled.agent == agent && wait.step < filled.step)) continue;
    const int64_t slots = std::max(Of(wait.event).array_size, 1);
    const auto known = guards_.find({wait.event, wait.trigger % slots});
    const bool guards = known != guards_.end() && known->second.contains(key);
    const int rank = guards ? 3 : totals_[wait.event].contains(reader) ? 2 : 1;
    if (rank < best) continue;
    best = rank;
    guard = &wait;
  }
  return guard;
}

void Replay::RefilledEarly(size_t agent, int step, const TileUse& use, const Access& read) {
  // A read from before the first fill waits for too little.
  const TileState& tile = tiles_[{use.storage, *use.slot}];
  if (tile.writes.empty()) {
    ReadUnfilled(read.agent, read.step, read.use, {agent, step, -1, use});
    return;
  }
  if (read.agent == agent) {
    const auto* mma = std::get_if<ir::Mma>(&StepAt(agent, read.step).op->node);
    CHOREO_CHECK(mma != nullptr && mma->future, "an agent knows its own complete reads");
    in_.findings
        .Add(diag::kinds::OperandInFlight, use.loc, TileName(use),
             in_.kernel.vars[mma->future].name, Role(agent))
        .Note(read.use.loc, "the MMA is issued here");
    return;
  }
  if (RefillsOtherSlot(agent, step, use)) return;
  const auto unguarded = [&](std::string_view why) {
    in_.findings.Add(diag::kinds::RefilledUnreleased, use.loc, TileName(use), why, Role(agent))
        .Note(read.use.loc, fmt::format("read here, by {}", Role(read.agent)));
  };
  const Acquired* guard = GuardOf(agent, use, read.agent);
  if (guard == nullptr) {
    unguarded("without waiting for its release");
    return;
  }
  const ir::Storage& event = Of(guard->event);
  const Step* release = FindTrigger(read.agent, guard->event, guard->trigger);
  if (release == nullptr) {
    const auto& others = totals_[guard->event];
    const size_t other = others.begin()->first;
    const Step* theirs = FindTrigger(other, guard->event, guard->trigger);
    in_.findings
        .Add(diag::kinds::ReleasedBySome, theirs->op->loc, event.name, TileName(use),
             Role(read.agent))
        .Note(read.use.loc, fmt::format("read here by warpgroup {}, which does not trigger `{}`",
                                        in_.agents.all()[read.agent].warpgroup, event.name))
        .Note(use.loc, fmt::format("filled again here, by {}", Role(agent)));
    return;
  }
  const auto& steps = traces_[read.agent].steps;
  const int released = static_cast<int>(release - steps.data());
  if (read.step > released) {
    // It reads what it has given back: most likely another slot than it waited for.
    for (const auto& [id, totals] : totals_) {
      if (!Of(id).ready && WrongSlot(read.agent, read.step, read.use, id)) return;
    }
  }
  in_.findings
      .Add(diag::kinds::ReleasedBeforeRead, release->op->loc, event.name, TileName(use),
           Role(read.agent))
      .Note(read.use.loc, read.step > released
                              ? "read here, after the release"
                              : "the MMA that reads it is issued here and is waited for later")
      .Note(use.loc, fmt::format("filled again here, by {}", Role(agent)));
}

void Replay::WrittenTwice(size_t agent, int step, const TileUse& use, const Access& write) {
  const bool ordinary = StepAt(agent, step).kind != StepKind::Load && write.instance < 0;
  if (ordinary || RefillsOtherSlot(agent, step, use)) return;
  in_.findings
      .Add(diag::kinds::RefilledUnreleased, use.loc, TileName(use),
           write.agent == agent ? "while its last fill may be on its way or unread"
                                : "while another role fills it",
           Role(agent))
      .Note(write.use.loc, fmt::format("filled here, by {}", Role(write.agent)));
}

// ---- launches that do not end -----------------------------------------------------------------

void Replay::BlameStuck() {
  std::vector<size_t> stuck;
  for (size_t agent = 0; agent < traces_.size(); ++agent) {
    if (states_[agent].next == traces_[agent].steps.size()) continue;
    if (StepAt(agent, static_cast<int>(states_[agent].next)).kind != StepKind::EventWait) return;
    stuck.push_back(agent);
  }
  const auto waits_at = [&](size_t agent) -> const Step& {
    return StepAt(agent, static_cast<int>(states_[agent].next));
  };
  for (const size_t agent : stuck) {
    if (Shortage(agent, waits_at(agent))) return;
  }
  for (const size_t agent : stuck) {
    if (NotReady(agent, waits_at(agent))) return;
  }
  Finding& finding = endings_.Add(diag::kinds::EventDeadlock, waits_at(stuck[0]).op->loc,
                                  Of(EventOf(waits_at(stuck[0]))).name, Role(stuck[0]));
  for (size_t i = 1; i < stuck.size(); ++i) {
    finding.Note(waits_at(stuck[i]).op->loc, fmt::format("{} waits for `{}`", Role(stuck[i]),
                                                         Of(EventOf(waits_at(stuck[i]))).name));
  }
}

// The generation that the agent waits for is triggered too rarely, whoever else goes on.
bool Replay::Shortage(size_t agent, const Step& wait) {
  const EventId event = EventOf(wait);
  const int64_t trigger = TriggerOf(wait);
  const auto totals = totals_.find(event);
  if (totals == totals_.end()) {
    if (Of(event).ready) {
      endings_
          .Add(diag::kinds::RingNeverReleased, wait.op->loc, Of(event).name,
               std::max(Of(event).array_size, 1), Role(agent))
          .Note(Of(event).loc, "declared here");
    } else {
      endings_.Add(diag::kinds::EventNeverTriggered, wait.op->loc, Of(event).name, Role(agent))
          .Note(Of(event).loc, "declared here");
    }
    return true;
  }
  int64_t most = 0;
  for (const auto& [other, total] : totals->second) most = std::max(most, total);
  for (const auto& [other, total] : totals->second) {
    if (total > trigger) continue;
    const Step* last = FindTrigger(other, event, total - 1);
    if (most > trigger) {
      endings_
          .Add(diag::kinds::TriggersDiffer, last->op->loc, Of(event).name, total, most, Role(other))
          .Note(wait.op->loc, fmt::format("{} waits for generation {} here", Role(agent), trigger));
      return true;
    }
    // How many waits there are in all.
    int64_t waits = 0;
    for (const Step& step : traces_[agent].steps) {
      if (step.kind == StepKind::EventWait && EventOf(step) == event) waits = step.generation + 1;
    }
    endings_
        .Add(diag::kinds::TripCountsDiffer, wait.op->loc, Of(event).name, waits, Role(agent),
             total + (Of(event).ready ? std::max(Of(event).array_size, 1) : 0))
        .Note(last->op->loc, fmt::format("triggered here, by {}", Role(other)));
    return true;
  }
  return false;
}

// Everybody waits, and this agent for the first generation of an event that is triggered only after
// what this agent does next: the event should be given at first.
bool Replay::NotReady(size_t agent, const Step& wait) {
  const EventId event = EventOf(wait);
  if (Of(event).ready || wait.generation != 0) return false;
  const auto& steps = traces_[agent].steps;
  const bool fills = std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(states_[agent].next),
                                 steps.end(), [](const Step& step) {
                                   return std::any_of(step.tiles.begin(), step.tiles.end(),
                                                      [](const TileUse& use) { return use.write; });
                                 });
  if (!fills) return false;
  for (const auto& [other, total] : totals_[event]) {
    if (states_[other].next == traces_[other].steps.size()) return false;
  }
  Finding& finding =
      endings_.Add(diag::kinds::EmptyRingNotReady, Of(event).loc, Of(event).name, Role(agent));
  finding.Note(wait.op->loc, "the first wait for it");
  for (const auto& [other, total] : totals_[event]) {
    finding.Note(FindTrigger(other, event, 0)->op->loc,
                 fmt::format("the first trigger, by {}, which waits itself", Role(other)));
  }
  return true;
}

// Loads on their way to an event that nobody waits for any more.
void Replay::BlameUnawaited() {
  for (size_t agent = 0; agent < traces_.size(); ++agent) {
    for (const Step& step : traces_[agent].steps) {
      if (step.kind != StepKind::EventTrigger || step.issues.empty()) continue;
      if (awaited_.contains({EventOf(step), step.generation})) {
        in_.obligations.Met(*step.op, Rule::Triggered);
        continue;
      }
      int64_t waited = 0;
      const Step* last = nullptr;
      for (const Trace& trace : traces_) {
        for (const Step& other : trace.steps) {
          if (other.kind != StepKind::EventWait || EventOf(other) != EventOf(step)) continue;
          waited = std::max(waited, other.generation + 1);
          last = &other;
        }
      }
      Finding& finding =
          endings_.Add(diag::kinds::LoadNeverAwaited, StepAt(agent, step.issues[0]).op->loc,
                       Of(EventOf(step)).name, step.generation + 1, Role(agent), waited);
      if (last != nullptr) finding.Note(last->op->loc, "waited for here");
      return;
    }
  }
}

}  // namespace choreo::passes
