// From agents that wait for ever, or loads that nobody waits for, to the mistake behind it.
#include <algorithm>

#include "passes/async_replay.h"

namespace choreo::passes {

using Rule = Obligations::Rule;

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
  for (const size_t agent : stuck) {
    if (Unequal(agent)) return;
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

// Nobody goes on, and later this agent would wait more often for an event than others trigger it:
// the roles do not go through the same turns.
bool Replay::Unequal(size_t agent) {
  std::map<EventId, const Step*> last;
  for (const Step& step : traces_[agent].steps) {
    if (step.kind == StepKind::EventWait) last[EventOf(step)] = &step;
  }
  for (const auto& [event, wait] : last) {
    if (Shortage(agent, *wait)) return true;
  }
  return false;
}

// Everybody waits, and this agent for the first generation of an event that is triggered only after
// what this agent does next: the event should be given at first.
bool Replay::NotReady(size_t agent, const Step& wait) {
  const EventId event = EventOf(wait);
  if (Of(event).ready || wait.generation != 0) return false;
  // It fills a tile between this wait and the next, or right behind the only one.
  const auto& steps = traces_[agent].steps;
  bool beside = false, before_next = false, again = false;
  for (size_t i = states_[agent].next + 1; i < steps.size() && !again; ++i) {
    again = steps[i].kind == StepKind::EventWait && EventOf(steps[i]) == event;
    if (steps[i].kind != StepKind::Load && steps[i].kind != StepKind::Join) continue;
    const bool writes = std::any_of(steps[i].tiles.begin(), steps[i].tiles.end(),
                                    [](const TileUse& use) { return use.write; });
    before_next = before_next || writes;
    beside = beside || (writes && steps[i].block == wait.block);
  }
  const bool fills = beside || (before_next && again);
  if (!fills) return false;
  for (const auto& [other, total] : totals_[event]) {
    if (states_[other].next == traces_[other].steps.size()) return false;
  }
  Finding& finding =
      endings_.Add(diag::kinds::EmptyRingNotReady, Of(event).loc, Of(event).name, Role(agent));
  finding.Note(wait.op->loc, "the first wait for it");
  const size_t other = totals_[event].begin()->first;
  finding.Note(FindTrigger(other, event, 0)->op->loc,
               fmt::format("the first trigger, by {}, which waits itself", Role(other)));
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
