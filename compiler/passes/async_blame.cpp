// From two accesses that nothing orders to the mistake behind it.
#include <algorithm>

#include "passes/async_replay.h"

namespace choreo::passes {
namespace {

bool IsPlainTrigger(const Step& step) {
  const auto* trigger = std::get_if<ir::EventTrigger>(&step.op->node);
  return trigger != nullptr && trigger->futures.empty();
}

}  // namespace

std::string Replay::TileName(const TileUse& use) const {
  const ir::Storage& tile = Of(use.storage);
  if (in_.agents.SlotsOf(use.storage) <= 1 || !use.slot) return tile.name;
  const bool element = in_.agents.ElementsAreSlots(use.storage);
  return element ? fmt::format("{}.at({})", tile.name, *use.slot)
                 : fmt::format("{}[{}]", tile.name, *use.slot);
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

// Whether the event gives tiles back: a trigger of it binds no loads.
bool Replay::IsRelease(EventId event) const {
  for (const Trace& trace : traces_) {
    for (const Step& step : trace.steps) {
      if (step.kind == StepKind::EventTrigger && EventOf(step) == event)
        return IsPlainTrigger(step);
    }
  }
  return false;
}

// The step of the agent's fill of the tile, or of this part of it, before this step; -1: none.
int Replay::FillBefore(size_t agent, int step, const TileUse& use, bool same_part) const {
  for (int i = step - 1; i >= 0; --i) {
    for (const TileUse& other : StepAt(agent, i).tiles) {
      const bool fills = other.write && other.storage == use.storage && other.slot == use.slot;
      if (fills && (!same_part || Overlap(other, use))) return i;
    }
  }
  return -1;
}

bool Replay::WaitsForFill(const Step& step, const TileUse& use) const {
  if (step.kind != StepKind::EventWait) return false;
  const auto full = published_.find({EventOf(step), TriggerOf(step)});
  return full != published_.end() && full->second.contains({use.storage, *use.slot});
}

// Whether a read that meets an unknown write is of the fill before it: the agent waited for that
// one, and waits for the new one later, or not at all because nobody told it of one.
bool Replay::ComesTooEarly(size_t agent, int step, const TileUse& use, const Access& write) const {
  const auto& waits = states_[agent].waits;
  const bool filled = std::any_of(waits.begin(), waits.end(), [&](const Acquired& wait) {
    return wait.step < step && WaitsForFill(StepAt(agent, wait.step), use);
  });
  const Step* trigger = PublisherOf(write);
  if (!filled || trigger == nullptr || write.agent == agent) return false;
  if (Of(EventOf(*trigger)).ready) return true;
  const auto& steps = traces_[agent].steps;
  return std::any_of(steps.begin() + step, steps.end(), [&](const Step& later) {
    return later.kind == StepKind::EventWait && EventOf(later) == EventOf(*trigger) &&
           TriggerOf(later) == trigger->generation;
  });
}

// The slot of `tile` that a generation tells to be full, if it is one.
std::optional<int64_t> Replay::PublishedSlot(EventId event, int64_t trigger,
                                             ir::StorageId tile) const {
  const auto published = published_.find({event, trigger});
  if (published == published_.end()) return std::nullopt;
  std::optional<int64_t> slot;
  for (const TileKey& key : published->second) {
    if (key.first != tile) continue;
    if (slot) return std::nullopt;
    slot = key.second;
  }
  return slot;
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
  const int before = FillBefore(agent, step, use, false);
  const Acquired *first = nullptr, *last = nullptr;
  for (const Acquired& wait : states_[agent].waits) {
    if (wait.step < before) first = &wait;
    if (wait.step < step) last = &wait;
  }
  if (before < 0 || first == nullptr || first->event != last->event) return false;
  if (!IsRelease(last->event) || !StandsBefore(agent, last->step, step)) return false;
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

// The future of a load that is on its way when a plain trigger publishes it.
ir::VarId Replay::UnwaitedAt(const Access& write, const Step& trigger) const {
  const auto& steps = traces_[write.agent].steps;
  const Step& issue = steps[static_cast<size_t>(write.step)];
  if (issue.kind != StepKind::Load || !IsPlainTrigger(trigger)) return {};
  for (size_t i = static_cast<size_t>(write.step) + 1; i < steps.size(); ++i) {
    if (&steps[i] == &trigger) break;
    const auto& issues = steps[i].issues;
    if (std::find(issues.begin(), issues.end(), write.step) != issues.end()) return {};
  }
  const auto* load = std::get_if<ir::TmaLoad>(&issue.op->node);
  return load != nullptr ? load->future : std::get<ir::CopyAsync>(issue.op->node).future;
}

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
  if (const ir::VarId load = UnwaitedAt(write, *trigger)) {
    in_.findings
        .Add(diag::kinds::TriggerWithoutLoad, trigger->op->loc, Of(event).name,
             in_.kernel.vars[load].name, Role(write.agent))
        .Note(write.use.loc, "the load is issued here and is still on its way")
        .Note(use.loc, fmt::format("read here, by {}", Role(agent)));
    return;
  }
  const std::string why = fmt::format("`{}` is not waited for", Of(event).name);
  in_.findings.Add(diag::kinds::ReadBeforeFilled, use.loc, TileName(use), why, Role(agent))
      .Note(write.use.loc, fmt::format("filled here, by {}", Role(write.agent)))
      .Note(trigger->op->loc, "complete with this trigger");
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
  const Acquired* guard = GuardOf(agent, step, use, read.agent);
  if (guard == nullptr) {
    unguarded("without waiting for its release");
    return;
  }
  const ir::Storage& event = Of(guard->event);
  const Step* release = FindTrigger(read.agent, guard->event, guard->trigger);
  if (release == nullptr) {
    const Step* theirs = ReleaseByAReader(*guard, use, read.agent);
    if (theirs == nullptr) {
      unguarded("without waiting for its release");
      return;
    }
    in_.findings
        .Add(diag::kinds::ReleasedBySome, theirs->op->loc, event.name, TileName(use),
             Role(read.agent))
        .Note(read.use.loc, fmt::format("read here by warpgroup {}, which does not trigger `{}`",
                                        in_.agents.all()[read.agent].warpgroup, event.name))
        .Note(use.loc, fmt::format("filled again here, by {}", Role(agent)));
    return;
  }
  const int released = static_cast<int>(release - traces_[read.agent].steps.data());
  if (read.step > released) {
    // Filled once more since, or by the reader itself: the wait stands for the fill before.
    const int own = FillBefore(read.agent, read.step, read.use, false);
    for (int i = released + 1; i < read.step; ++i) {
      if (i == own || WaitsForFill(StepAt(read.agent, i), read.use)) {
        unguarded("without waiting for its release");
        return;
      }
    }
    const Access fill{agent, step, -1, use};
    if (BelongsToNextFill(read, released, *release)) {
      ReadUnfilled(read.agent, read.step, read.use, fill);
    } else {
      ReadAfterRelease(read.agent, read.step, read.use, *release);
    }
    return;
  }
  in_.findings
      .Add(diag::kinds::ReleasedBeforeRead, release->op->loc, event.name, TileName(use),
           Role(read.agent))
      .Note(read.use.loc, "the MMA that reads it is issued here and is waited for later")
      .Note(use.loc, fmt::format("filled again here, by {}", Role(agent)));
}

// Whether a read after a release is meant for the next fill of the slot: the agent releases the
// slot again behind the read, and has not waited in between.
bool Replay::BelongsToNextFill(const Access& read, int released, const Step& release) const {
  const EventId event = EventOf(release);
  const int64_t slots = std::max(Of(event).array_size, 1);
  const auto& steps = traces_[read.agent].steps;
  const TileKey tile{read.use.storage, *read.use.slot};
  for (size_t i = static_cast<size_t>(released) + 1; i < steps.size(); ++i) {
    if (steps[i].kind == StepKind::EventWait) {
      const auto full = published_.find({EventOf(steps[i]), TriggerOf(steps[i])});
      if (full != published_.end() && full->second.contains(tile)) return false;
    }
    if (steps[i].kind == StepKind::EventTrigger && EventOf(steps[i]) == event &&
        steps[i].generation == release.generation + slots) {
      return static_cast<int>(i) > read.step;
    }
  }
  return false;
}

// It reads what it has given back: another slot than it waited for, or after the trigger.
void Replay::ReadAfterRelease(size_t agent, int step, const TileUse& use, const Step& release) {
  for (const auto& [id, totals] : totals_) {
    if (!Of(id).ready && WrongSlot(agent, step, use, id)) return;
  }
  in_.findings
      .Add(diag::kinds::ReleasedBeforeRead, release.op->loc, Of(EventOf(release)).name,
           TileName(use), Role(agent))
      .Note(use.loc, "read here, after the release");
}

// Given back in this CTA, and nobody asks the others.
void Replay::RefilledInOthers(size_t agent, int step, const TileUse& use, const Access& access) {
  const Acquired* guard = GuardOf(agent, step, use, access.agent);
  const bool local = guard != nullptr && !Of(guard->event).cluster;
  Finding& finding = in_.findings.Add(
      diag::kinds::MulticastUnreleased, use.loc, TileName(use),
      local ? fmt::format("`{}`, which says that it is free, is an event of this CTA alone",
                          Of(guard->event).name)
            : "no event of the cluster says that they are done with it",
      Role(agent));
  finding.Note(access.use.loc,
               fmt::format("{} here in each of them, by {}", access.use.write ? "written" : "read",
                           Role(access.agent)));
  if (local) finding.Note(Of(guard->event).loc, "`shared cluster event` would be one of all");
}

void Replay::WrittenTwice(size_t agent, int step, const TileUse& use, const Access& write) {
  const bool ordinary = StepAt(agent, step).kind != StepKind::Load && write.instance < 0;
  if (ordinary || RefillsOtherSlot(agent, step, use)) return;
  // Given back by somebody who had not waited for it to be full.
  const Acquired* guard = nullptr;
  for (const Acquired& wait : states_[agent].waits) {
    const bool counts = wait.trigger >= 0 && wait.step > write.step && write.agent == agent;
    if (counts && StandsBefore(agent, wait.step, step)) guard = &wait;
  }
  if (guard != nullptr) {
    const size_t other = totals_[guard->event].begin()->first;
    in_.findings
        .Add(diag::kinds::ReleasedBeforeRead,
             FindTrigger(other, guard->event, guard->trigger)->op->loc, Of(guard->event).name,
             TileName(use), Role(other))
        .Note(write.use.loc, "filled here, and not waited for before the release")
        .Note(use.loc, fmt::format("filled again here, by {}", Role(agent)));
    return;
  }
  in_.findings
      .Add(diag::kinds::RefilledUnreleased, use.loc, TileName(use),
           write.agent == agent ? "while its last fill may be on its way or unread"
                                : "while another role fills it",
           Role(agent))
      .Note(write.use.loc, fmt::format("filled here, by {}", Role(write.agent)));
}

}  // namespace choreo::passes
