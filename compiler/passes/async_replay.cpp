#include "passes/async_replay.h"

#include <algorithm>

namespace choreo::passes {
namespace {

using Rule = Obligations::Rule;

constexpr size_t kMostAccesses = 256;  // remembered of a tile

bool IsLoad(const Step& step) { return step.kind == StepKind::Load; }

bool SamePlace(const TileUse& a, const TileUse& b) {
  return a.exact == b.exact && a.whole == b.whole && a.box == b.box;
}

}  // namespace

void History::Learn(const History& other) {
  clock.resize(std::max(clock.size(), other.clock.size()));
  for (size_t i = 0; i < other.clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
  words.resize(std::max(words.size(), other.words.size()));
  for (size_t i = 0; i < other.words.size(); ++i) words[i] |= other.words[i];
}

void Knowledge::Learn(const Knowledge& other) {
  History::Learn(other);
  others.Learn(other.others);
}

void Knowledge::LearnFromCluster(const Knowledge& other) {
  Learn(other);
  others.Learn(static_cast<const History&>(other));
}

void Knowledge::Complete(int instance) {
  const auto bit = static_cast<size_t>(instance);
  if (bit / 64 >= words.size()) words.resize(bit / 64 + 1);
  words[bit / 64] |= uint64_t{1} << bit % 64;
}

Replay::Replay(const CheckInputs& in, const std::vector<Trace>& traces, Blamed& blamed)
    : in_(in), traces_(traces), blamed_(blamed), shapes_(traces.size()), states_(traces.size()) {
  for (size_t agent = 0; agent < traces.size(); ++agent) {
    states_[agent].knowledge.clock.resize(traces.size());
    Shape& shape = shapes_[agent];
    shape.completes.assign(traces[agent].steps.size(), -1);
    for (size_t i = 0; i < traces[agent].steps.size(); ++i) {
      const Step& step = traces[agent].steps[i];
      shape.entered.try_emplace(step.block, static_cast<int>(i));
      for (const int issue : step.issues) {
        int& completes = shape.completes[static_cast<size_t>(issue)];
        if (completes < 0) completes = static_cast<int>(i);
      }
      if (step.kind == StepKind::EventWait) awaited_.insert({EventOf(step), TriggerOf(step)});
      if (step.kind != StepKind::EventTrigger) continue;
      ++needed_[{EventOf(step), step.generation}][agent];
      int64_t& total = totals_[EventOf(step)][agent];
      total = std::max(total, step.generation + 1);
    }
    NotePublished(agent);
  }
}

// The tiles that the generations of events tell to be full: those of the loads that a trigger
// binds, else all that the agent wrote since its last trigger.
void Replay::NotePublished(size_t agent) {
  std::set<TileKey> written;
  for (const Step& step : traces_[agent].steps) {
    for (const TileUse& use : step.tiles) {
      if (use.write && use.slot && Of(use.storage).kind == ir::StorageKind::Shared) {
        written.insert({use.storage, *use.slot});
      }
    }
    if (step.kind != StepKind::EventTrigger || Of(EventOf(step)).ready) continue;
    std::set<TileKey>& published = published_[{EventOf(step), step.generation}];
    for (const int issue : step.issues) {
      for (const TileUse& use : StepAt(agent, issue).tiles) {
        if (!use.write || !use.slot) continue;
        published.insert({use.storage, *use.slot});
        written.erase({use.storage, *use.slot});
      }
    }
    if (step.issues.empty()) published.merge(std::exchange(written, {}));
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
  if (ended) CheckReleasers();
  if (ended) CheckStaleReads();
  if (in_.findings.has_errors()) return;
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
      if (trigger < 0) break;
      const Knowledge& published = generations_.at({EventOf(step), trigger}).published;
      if (Of(EventOf(step)).cluster) {
        state.knowledge.LearnFromCluster(published);
      } else {
        state.knowledge.Learn(published);
      }
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
  // A load is issued once; an MMA is the work of all, and each of them must know its operands.
  if (first || !IsLoad(step)) {
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
      const auto& others = stored.first->partners;
      const bool same_path = std::any_of(others.begin(), others.end(), [&](size_t partner) {
        return std::find(step.partners.begin(), step.partners.end(), partner) !=
               step.partners.end();
      });
      if (other == key || same_path || !Overlap(stored.second, use)) continue;
      in_.findings.Add(diag::kinds::StoresOverlap, use.loc, Of(use.storage).name, Role(agent))
          .Note(stored.second.loc, "the other store");
    }
    stores_.try_emplace(key, &step, use);
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
  return !SameRole(a.agent, agent);
}

bool Replay::IsMulticast(size_t agent, int step) const {
  const auto* load = std::get_if<ir::TmaLoad>(&StepAt(agent, step).op->node);
  return load != nullptr && load->multicast;
}

// A multicast load writes to the tile of every CTA: what was done with it here, and is known here
// to be over, must be known to be over in the others too, which do the same.
void Replay::CheckMulticast(size_t agent, int step, const TileUse& use, const TileState& tile) {
  const History& others = states_[agent].knowledge.others;
  const auto over = [&](const Access& access) {
    if (access.instance >= 0) return others.Knows(access.instance);
    return access.agent < others.clock.size() && others.clock[access.agent] > access.step;
  };
  const auto check = [&](const std::vector<Access>& accesses) {
    for (const Access& access : accesses) {
      const ir::Op* its = StepAt(access.agent, access.step).op;
      // Loads for all are waited for in front of the reads.
      if (IsMulticast(access.agent, access.step) || !Overlap(access.use, use) || over(access) ||
          blamed_.ops.contains(its) || !blamed_.ops.insert(StepAt(agent, step).op).second) {
        continue;
      }
      RefilledInOthers(agent, step, use, access);
      return;
    }
  };
  check(tile.reads);
  check(tile.writes);
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
  // Whether this is news, then put to `culprit`; else it follows from what was found before.
  const auto says = [&](const Access& other, bool early, const ir::Op* culprit) {
    const ir::Op* its = StepAt(other.agent, other.step).op;
    const bool alike = blamed_.read_early.try_emplace(use.storage, early).first->second == early;
    if (!alike || blamed_.ops.contains(step.op) || blamed_.ops.contains(its)) return false;
    blamed_.ops.insert(culprit);
    return true;
  };
  for (const Access& write : tile.writes) {
    // A store by TMA comes after all who execute it.
    if (!unordered(write) || (store && write.instance < 0 && partner(write))) continue;
    if (!use.write && ComesTooEarly(agent, index, use, write)) {
      const Access read{agent, index, instance, use};
      if (says(write, false, step.op)) RefilledEarly(write.agent, write.step, write.use, read);
    } else if (says(write, !use.write, step.op)) {
      if (use.write) {
        WrittenTwice(agent, index, use, write);
      } else {
        ReadUnfilled(agent, index, use, write);
      }
    }
    // From here on as if it had been waited for.
    if (write.instance >= 0) states_[agent].knowledge.Complete(write.instance);
  }
  if (use.write) {
    for (const Access& read : tile.reads) {
      // Whoever of its role writes the tile next waits for a store by TMA.
      const bool stored = StepAt(read.agent, read.step).kind == StepKind::Store;
      if (!unordered(read) || (stored && SameRole(read.agent, agent))) continue;
      if (!says(read, false, StepAt(read.agent, read.step).op)) continue;
      RefilledEarly(agent, index, use, read);
    }
    if (IsMulticast(agent, index)) CheckMulticast(agent, index, use, tile);
    NoteGuards(agent, index, use, tile);
    if (use.whole) tile = {};
    if (tile.writes.size() < kMostAccesses) tile.writes.push_back({agent, index, instance, use});
    return;
  }
  // The last time stands for all of them. An MMA does once the one before it is complete.
  for (Access& read : tile.reads) {
    if (read.agent != agent || StepAt(agent, read.step).op != step.op) continue;
    if ((instance < 0) != (read.instance < 0)) continue;
    if (instance >= 0 && (!Known(agent, read) || !SamePlace(read.use, use))) continue;
    read.step = index;
    read.instance = instance;
    return;
  }
  if (tile.reads.size() < kMostAccesses) tile.reads.push_back({agent, index, instance, use});
}

}  // namespace choreo::passes
