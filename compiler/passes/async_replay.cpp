#include "passes/async_replay.h"

#include <algorithm>

namespace choreo::passes {
namespace {

using Rule = Obligations::Rule;

constexpr size_t kMostAccesses = 256;  // remembered of a tile

bool IsLoad(const Step& step) { return step.kind == StepKind::Load; }

}  // namespace

void Knowledge::Learn(const Knowledge& other) {
  clock.resize(std::max(clock.size(), other.clock.size()));
  for (size_t i = 0; i < other.clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
  instances.resize(std::max(instances.size(), other.instances.size()));
  for (size_t i = 0; i < other.instances.size(); ++i) {
    if (other.instances[i]) instances[i] = true;
  }
}

void Knowledge::Complete(int instance) {
  const auto index = static_cast<size_t>(instance);
  if (index >= instances.size()) instances.resize(index + 1);
  instances[index] = true;
}

Replay::Replay(const CheckInputs& in, const std::vector<Trace>& traces)
    : in_(in), traces_(traces), states_(traces.size()) {
  for (size_t agent = 0; agent < traces.size(); ++agent) {
    states_[agent].knowledge.clock.resize(traces.size());
    for (const Step& step : traces[agent].steps) {
      if (step.kind == StepKind::EventWait) awaited_.insert({EventOf(step), TriggerOf(step)});
      if (step.kind != StepKind::EventTrigger) continue;
      ++needed_[{EventOf(step), step.generation}][agent];
      int64_t& total = totals_[EventOf(step)][agent];
      total = std::max(total, step.generation + 1);
    }
  }
}

Replay::EventId Replay::EventOf(const Step& step) {
  if (const auto* wait = std::get_if<ir::EventWait>(&step.op->node)) return wait->event;
  return std::get<ir::EventTrigger>(step.op->node).event;
}

int64_t Replay::TriggerOf(const Step& wait) const {
  const ir::Storage& event = Of(EventOf(wait));
  return wait.generation - (event.ready ? std::max(event.array_size, 1) : 0);
}

// Collective ops are one for all of their partners.
Replay::OpKey Replay::KeyOf(const Step& step, size_t agent) const {
  return {{step.op, step.occurrence}, step.partners.empty() ? agent : step.partners[0]};
}

void Replay::Run() {
  // Those that fill tiles go ahead as far as they can.
  std::vector<size_t> order;
  for (const bool fills : {true, false}) {
    for (size_t agent = 0; agent < traces_.size(); ++agent) {
      const auto& steps = traces_[agent].steps;
      if (std::any_of(steps.begin(), steps.end(), IsLoad) == fills) order.push_back(agent);
    }
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (const size_t agent : order) {
      while (states_[agent].next < traces_[agent].steps.size() && Advance(agent)) progress = true;
    }
  }
  const bool ended = std::all_of(order.begin(), order.end(), [&](size_t agent) {
    return states_[agent].next == traces_[agent].steps.size();
  });
  if (in_.findings.has_errors()) return;
  CheckReleases();
  if (ended) {
    BlameUnawaited();
  } else {
    BlameStuck();
  }
}

bool Replay::IsComplete(EventId event, int64_t trigger) const {
  if (trigger < 0) return true;
  const auto totals = totals_.find(event);
  const auto needed = needed_.find({event, trigger});
  const auto generation = generations_.find({event, trigger});
  if (totals == totals_.end() || needed == needed_.end() || generation == generations_.end()) {
    return false;
  }
  return std::all_of(totals->second.begin(), totals->second.end(), [&](const auto& entry) {
    const auto need = needed->second.find(entry.first);
    const auto have = generation->second.arrived.find(entry.first);
    return need != needed->second.end() && have != generation->second.arrived.end() &&
           have->second == need->second;
  });
}

bool Replay::CanPass(size_t agent, const Step& step) {
  if (step.kind == StepKind::Join) return PassJoin(agent, step);
  if (step.kind != StepKind::EventWait) return true;
  return IsComplete(EventOf(step), TriggerOf(step));
}

bool Replay::PassJoin(size_t agent, const Step& step) {
  Meeting& meeting = meetings_[KeyOf(step, agent)];
  if (meeting.arrived.insert(agent).second) meeting.knowledge.Learn(states_[agent].knowledge);
  const bool all = std::all_of(step.partners.begin(), step.partners.end(),
                               [&](size_t partner) { return meeting.arrived.contains(partner); });
  if (!all) return false;
  states_[agent].knowledge.Learn(meeting.knowledge);
  if (meeting.open) return true;
  // The last to arrive does the copy for all.
  meeting.open = true;
  const int index = static_cast<int>(states_[agent].next);
  for (const TileUse& use : step.tiles) Touch(agent, index, use, -1, step);
  states_[agent].knowledge.clock[agent] = index + 1;
  meeting.knowledge.Learn(states_[agent].knowledge);
  return true;
}

bool Replay::Advance(size_t agent) {
  State& state = states_[agent];
  const int index = static_cast<int>(state.next);
  const Step& step = StepAt(agent, index);
  if (!CanPass(agent, step)) return false;
  switch (step.kind) {
    case StepKind::Use:
      for (const TileUse& use : step.tiles) Touch(agent, index, use, -1, step);
      break;
    case StepKind::Mma:
    case StepKind::Load:
      Issue(agent, index, step);
      break;
    case StepKind::Store:
      Store(agent, index, step);
      break;
    case StepKind::FutureWait:
      for (const int issue : step.issues) state.knowledge.Complete(state.instances.at(issue));
      break;
    case StepKind::EventWait: {
      const int64_t trigger = TriggerOf(step);
      state.waits.push_back({index, EventOf(step), trigger, step.generation});
      if (trigger >= 0) state.knowledge.Learn(generations_.at({EventOf(step), trigger}).published);
      break;
    }
    case StepKind::EventTrigger:
      Trigger(agent, index, step);
      break;
    case StepKind::Join:
    case StepKind::FutureMove:
      break;
  }
  state.knowledge.clock[agent] = index + 1;
  ++state.next;
  return true;
}

void Replay::Issue(size_t agent, int index, const Step& step) {
  const auto [it, first] = instances_.try_emplace(KeyOf(step, agent), loads_.size());
  const int instance = it->second;
  if (first) loads_.push_back({agent, IsLoad(step) ? index : -1});
  states_[agent].instances[index] = instance;
  if (first) {
    for (const TileUse& use : step.tiles) Touch(agent, index, use, instance, step);
  }
  // Without a future it is complete when the statement is.
  const auto* mma = std::get_if<ir::Mma>(&step.op->node);
  if (mma != nullptr && !mma->future) states_[agent].knowledge.Complete(instance);
}

void Replay::Trigger(size_t agent, int, const Step& step) {
  Generation& generation = generations_[{EventOf(step), step.generation}];
  ++generation.arrived[agent];
  if (std::get<ir::EventTrigger>(step.op->node).futures.empty()) {
    Knowledge knowledge = states_[agent].knowledge;
    generation.published.Learn(knowledge);
    return;
  }
  for (const int issue : step.issues) {
    generation.published.Complete(states_[agent].instances.at(issue));
  }
}

void Replay::Store(size_t agent, int index, const Step& step) {
  for (const TileUse& use : step.tiles) {
    if (!use.write) {
      Touch(agent, index, use, -1, step);
      continue;
    }
    if (!use.exact) continue;
    const OpKey key = KeyOf(step, agent);
    for (const auto& [other, stored] : stores_) {
      if (other == key || stored.first == agent || !Overlap(stored.second, use)) continue;
      in_.findings.Add(diag::kinds::StoresOverlap, use.loc, Of(use.storage).name, Role(agent))
          .Note(stored.second.loc, "the other store");
    }
    stores_.try_emplace(key, agent, use);
  }
}

bool Replay::Known(size_t agent, const Access& access) const {
  const Knowledge& knowledge = states_[agent].knowledge;
  if (access.instance >= 0) return knowledge.Knows(access.instance);
  return access.agent == agent || knowledge.clock[access.agent] > access.step;
}

// Ordinary accesses of one role to one tile are left to the simulator: barriers of copies and
// single elements order them in ways that traces do not show.
bool Replay::Matters(const Access& a, size_t agent, int instance) const {
  if (a.instance >= 0 || instance >= 0) return true;
  return in_.agents.all()[a.agent].role != in_.agents.all()[agent].role;
}

void Replay::Touch(size_t agent, int index, const TileUse& use, int instance, const Step& step) {
  if (Of(use.storage).kind != ir::StorageKind::Shared) return;
  const Rule rule = use.write ? Rule::Released : Rule::Filled;
  if (!use.slot) {
    in_.obligations.Left(*step.op, rule);
    return;
  }
  in_.obligations.Met(*step.op, rule);
  TileState& tile = tiles_[{use.storage, *use.slot}];
  const bool store = step.kind == StepKind::Store;
  const auto partner = [&](const Access& a) {
    return std::find(step.partners.begin(), step.partners.end(), a.agent) != step.partners.end();
  };
  const auto unordered = [&](const Access& other) {
    return !Known(agent, other) && Overlap(other.use, use) && Matters(other, agent, instance);
  };
  const auto says = [&](const Access& other, bool early) {
    if (blamed_.contains(step.op) || blamed_.contains(StepAt(other.agent, other.step).op)) {
      return false;
    }
    return read_early_.try_emplace(use.storage, early).first->second == early;
  };
  for (const Access& write : tile.writes) {
    // A store by TMA comes after all who execute it.
    if (!unordered(write) || (store && write.instance < 0 && partner(write))) continue;
    if (says(write, !use.write)) {
      if (use.write) {
        WrittenTwice(agent, index, use, write);
      } else {
        ReadUnfilled(agent, index, use, write);
      }
    }
    blamed_.insert(step.op);
    // From here on as if it had been waited for.
    if (write.instance >= 0) states_[agent].knowledge.Complete(write.instance);
  }
  if (use.write) {
    for (const Access& read : tile.reads) {
      if (!unordered(read) || !says(read, false)) continue;
      RefilledEarly(agent, index, use, read);
      blamed_.insert(StepAt(read.agent, read.step).op);
    }
    NoteGuards(agent, use, tile);
    if (use.whole) tile = {};
    if (tile.writes.size() < kMostAccesses) tile.writes.push_back({agent, index, instance, use});
    return;
  }
  if (store) return;  // whoever writes the tile next waits for it
  for (Access& read : tile.reads) {
    if (instance < 0 && read.instance < 0 && read.agent == agent &&
        StepAt(agent, read.step).op == step.op) {
      read.step = index;
      return;
    }
  }
  if (tile.reads.size() < kMostAccesses) tile.reads.push_back({agent, index, instance, use});
}

// Which event told this agent that the readers are done: the first whose generation knew it.
void Replay::NoteGuards(size_t agent, const TileUse& use, const TileState& tile) {
  for (const Access& read : tile.reads) {
    if (read.agent == agent || !Known(agent, read)) continue;
    for (const Acquired& wait : states_[agent].waits) {
      if (wait.trigger < 0) continue;
      const Knowledge& published = generations_.at({wait.event, wait.trigger}).published;
      const bool knew = read.instance >= 0 ? published.Knows(read.instance)
                                           : published.clock.size() > read.agent &&
                                                 published.clock[read.agent] > read.step;
      if (!knew) continue;
      const int64_t slots = std::max(Of(wait.event).array_size, 1);
      guards_[{wait.event, wait.trigger % slots}].insert({use.storage, *use.slot});
      break;
    }
  }
}

// A slot may not be given back while an MMA reads it, even where nobody fills it again.
void Replay::CheckReleases() {
  for (size_t agent = 0; agent < traces_.size(); ++agent) {
    std::map<int, const Step*> reading;  // MMAs not waited for, by their steps
    for (size_t i = 0; i < traces_[agent].steps.size(); ++i) {
      const Step& step = traces_[agent].steps[i];
      const auto* mma = std::get_if<ir::Mma>(&step.op->node);
      if (mma != nullptr && mma->future) reading[static_cast<int>(i)] = &step;
      for (const int issue : step.issues) reading.erase(issue);
      if (step.kind != StepKind::EventTrigger) continue;
      const int64_t slots = std::max(Of(EventOf(step)).array_size, 1);
      const auto guarded = guards_.find({EventOf(step), step.generation % slots});
      if (guarded == guards_.end()) continue;
      in_.obligations.Met(*step.op, Rule::Released);
      for (const auto& [issue, read] : reading) {
        for (const TileUse& use : read->tiles) {
          if (!use.slot || !guarded->second.contains({use.storage, *use.slot})) continue;
          in_.findings
              .Add(diag::kinds::ReleasedBeforeRead, step.op->loc, Of(EventOf(step)).name,
                   TileName(use), Role(agent))
              .Note(use.loc, "the MMA that reads it is issued here and is waited for later");
        }
      }
    }
  }
}

}  // namespace choreo::passes
