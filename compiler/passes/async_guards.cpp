// Which tiles an event guards, and what follows for one agent alone: a tile is not given back while
// an MMA reads it, nor read after it was given back.
#include <algorithm>

#include "passes/async_replay.h"

namespace choreo::passes {

using Rule = Obligations::Rule;

// Whether a wait stands beside the fill of another tile, in another block than this fill.
bool Replay::GuardsOther(size_t agent, int wait, int step, const TileUse& use) const {
  const int block = StepAt(agent, wait).block;
  if (block == StepAt(agent, step).block) return false;
  for (int i = wait + 1; i < step && StepAt(agent, i).block == block; ++i) {
    for (const TileUse& other : StepAt(agent, i).tiles) {
      if (other.write && other.storage != use.storage) return true;
    }
  }
  return false;
}

// The waits that stand before a fill (see `StandsBefore`).
std::vector<const Replay::Acquired*> Replay::WaitsBeside(size_t agent, int fill) const {
  const Shape& shape = shapes_[agent];
  const int block = StepAt(agent, fill).block;
  const auto binding = [&](int load) { return shape.completes[static_cast<size_t>(load)]; };
  int first = fill;
  while (first > shape.entered.at(block)) {
    --first;
    if (StepAt(agent, first).kind == StepKind::Load && binding(first) != binding(fill)) break;
  }
  std::vector<const Acquired*> beside;
  const auto& waits = states_[agent].waits;
  for (auto wait = waits.rbegin(); wait != waits.rend() && wait->step >= first; ++wait) {
    if (StepAt(agent, wait->step).block == block) beside.push_back(&*wait);
  }
  std::reverse(beside.begin(), beside.end());
  return beside;
}

// Whether the generation that was waited for knew the read to be over.
bool Replay::Tells(const Acquired& wait, const Access& read) const {
  if (wait.trigger < 0) return false;
  const Knowledge& published = generations_.at({wait.event, wait.trigger}).published;
  if (read.instance >= 0) return published.Knows(read.instance);
  return published.clock.size() > read.agent && published.clock[read.agent] > read.step;
}

// Which event told this agent that the readers are done, if one did and no other.
void Replay::NoteGuards(size_t agent, int step, const TileUse& use, const TileState& tile) {
  if (tile.reads.empty()) return;
  // Waits beside the fill are there for it; others count where there is none.
  std::vector<const Acquired*> waits = WaitsBeside(agent, step);
  const bool any_beside = !waits.empty();
  if (!any_beside) {
    for (const Acquired& wait : states_[agent].waits) {
      if (!GuardsOther(agent, wait.step, step, use)) waits.push_back(&wait);
    }
  }
  for (const Access& read : tile.reads) {
    if (read.agent == agent || !Known(agent, read)) continue;
    const bool places = read.use.exact && use.exact;
    if (places && !Overlap(read.use, use)) continue;  // of another part
    const Acquired* guard = nullptr;
    bool only = true;
    for (const Acquired* wait : waits) {
      if (!Tells(*wait, read)) continue;
      only = only && (guard == nullptr || guard->event == wait->event);
      if (guard == nullptr) guard = wait;
    }
    if (guard == nullptr || !only) continue;
    const int64_t slots = std::max(Of(guard->event).array_size, 1);
    std::vector<TileUse>& parts =
        guards_[guard->event][{guard->trigger % slots, {use.storage, *use.slot}}];
    const bool known = std::any_of(parts.begin(), parts.end(), [&](const TileUse& part) {
      return part.whole || (part.exact && use.exact && part.box == use.box);
    });
    if (!known) parts.push_back(use);
    if (any_beside) sure_[guard->event].insert(use.storage);
  }
}

// Whether the event is there for this tile as well, as far as is known.
bool Replay::MayGuard(EventId event, ir::StorageId tile) const {
  const auto sure = sure_.find(event);
  return sure == sure_.end() || sure->second.contains(tile);
}

// Whether a slot of the event has been seen to guard the tile: that slot, or, where slots and tiles
// of two arrays go together, any.
bool Replay::Guards(EventId event, int64_t slot, const TileKey& tile) const {
  const auto known = guards_.find(event);
  if (known == guards_.end()) return false;
  if (known->second.contains({slot, tile})) return true;
  if (tile.second != slot || Of(event).array_size != in_.agents.SlotsOf(tile.first)) return false;
  return std::any_of(known->second.begin(), known->second.end(), [&](const auto& entry) {
    return entry.first.second == TileKey(tile.first, entry.first.first);
  });
}

// The tiles that a trigger gives back.
std::vector<Replay::TileKey> Replay::ReleasedBy(const Step& trigger) const {
  std::vector<TileKey> tiles;
  const auto known = guards_.find(EventOf(trigger));
  if (known == guards_.end()) return tiles;
  const int64_t slot = trigger.generation % std::max(Of(EventOf(trigger)).array_size, 1);
  std::set<ir::StorageId> storages;
  for (const auto& [guarded, parts] : known->second) storages.insert(guarded.second.first);
  for (const ir::StorageId storage : storages) {
    // Something is wrong with the tile: nothing is concluded from what may be an accident.
    if (blamed_.read_early.contains(storage) && !MayGuard(EventOf(trigger), storage)) continue;
    for (int64_t i = 0; i < in_.agents.SlotsOf(storage); ++i) {
      if (Guards(EventOf(trigger), slot, {storage, i})) tiles.emplace_back(storage, i);
    }
  }
  return tiles;
}

// Which of the triggers gives back what is used, if one does. Of a use whose place is not known all
// events that guard parts of the tile must have been triggered.
const Step* Replay::ReleaserOf(const TileUse& use, const std::vector<const Step*>& triggers) const {
  const auto given_by = [&](EventId event) {
    return std::any_of(triggers.begin(), triggers.end(),
                       [&](const Step* trigger) { return EventOf(*trigger) == event; });
  };
  if (!use.exact && !use.whole) {
    for (const auto& [event, guarded] : guards_) {
      const bool guards = std::any_of(guarded.begin(), guarded.end(), [&](const auto& entry) {
        const auto& [storage, slot] = entry.first.second;
        return storage == use.storage && (!use.slot || *use.slot == slot);
      });
      if (guards && !given_by(event)) return nullptr;
    }
    return triggers.back();
  }
  const auto trigger = std::find_if(triggers.rbegin(), triggers.rend(),
                                    [&](const Step* by) { return ReleasesPart(*by, use); });
  return trigger == triggers.rend() ? nullptr : *trigger;
}

// Whether it gives back anything of this part of a tile.
bool Replay::ReleasesPart(const Step& trigger, const TileUse& use) const {
  const auto known = guards_.find(EventOf(trigger));
  if (known == guards_.end()) return false;
  for (const auto& [guarded, parts] : known->second) {
    if (guarded.second.first != use.storage) continue;
    for (TileUse part : parts) {
      part.slot = use.slot;  // slots are compared by `Guards`
      if (Overlap(part, use)) return true;
    }
  }
  return false;
}

// Whether a wait is in the block of a fill, with no load between them that arrives separately.
bool Replay::StandsBefore(size_t agent, int wait, int fill) const {
  if (StepAt(agent, wait).block != StepAt(agent, fill).block) return false;
  const auto binding = [&](int load) {
    return shapes_[agent].completes[static_cast<size_t>(load)];
  };
  for (int i = wait + 1; i < fill; ++i) {
    if (StepAt(agent, i).kind == StepKind::Load && binding(i) != binding(fill)) return false;
  }
  return true;
}

// The wait that stands for the release of the tile: of an event that has been seen to guard it;
// else one in the block of the fill; else of an event that guards nothing else. The latest of them.
const Replay::Acquired* Replay::GuardOf(size_t agent, int step, const TileUse& use, size_t reader) {
  const Acquired* guard = GuardSince(FillBefore(agent, step, use, false), agent, step, use, reader);
  if (guard != nullptr) return guard;
  // A wait for the whole tile stands in front of what fills other parts of it.
  return GuardSince(FillBefore(agent, step, use, true), agent, step, use, reader);
}

const Replay::Acquired* Replay::GuardSince(int filled, size_t agent, int step, const TileUse& use,
                                           size_t reader) {
  const TileKey key{use.storage, *use.slot};
  const Acquired* guard = nullptr;
  int best = 1;
  for (const Acquired& wait : states_[agent].waits) {
    if (wait.trigger < 0 || wait.step < filled || wait.step > step) continue;
    if (!IsRelease(wait.event)) continue;
    const int64_t slots = std::max(Of(wait.event).array_size, 1);
    const bool beside = StandsBefore(agent, wait.step, step);
    const bool reader_triggers = totals_[wait.event].contains(reader);
    const bool guards = Guards(wait.event, wait.trigger % slots, key);
    const int rank = guards && beside                              ? 5
                     : guards && MayGuard(wait.event, use.storage) ? 4
                     : beside && reader_triggers                   ? 3
                     : beside                                      ? 2
                     : guards_.contains(wait.event)                ? 0
                                                                   : 1;
    if (rank < best) continue;
    best = rank;
    guard = &wait;
  }
  return guard;
}

// Where one of those who trigger what was waited for has read the same part before, or of an event
// that gives tiles back another part of the tile; null: none has, and the event has other business,
// or the reader gives its part back by an event that nobody waits for.
const Step* Replay::ReleaseByAReader(const Acquired& wait, const TileUse& use,
                                     size_t reader) const {
  const auto waited = [&](EventId event) {
    return std::any_of(traces_.begin(), traces_.end(), [&](const Trace& trace) {
      return std::any_of(trace.steps.begin(), trace.steps.end(), [&](const Step& step) {
        return step.kind == StepKind::EventWait && EventOf(step) == event;
      });
    });
  };
  for (const auto& [event, totals] : totals_) {
    if (Of(event).ready && totals.contains(reader) && !waited(event)) return nullptr;
  }
  const auto reads = [&](const TileUse& other) {
    return !other.write && other.storage == use.storage && other.slot == use.slot &&
           (Of(wait.event).ready || Overlap(other, use));
  };
  for (const auto& [other, count] : totals_.at(wait.event)) {
    const Step* trigger = FindTrigger(other, wait.event, wait.trigger);
    if (trigger == nullptr) continue;
    for (const Step* step = traces_[other].steps.data(); step != trigger; ++step) {
      if (std::any_of(step->tiles.begin(), step->tiles.end(), reads)) return trigger;
    }
  }
  return nullptr;
}

// A slot that was given back is not read again before it was filled again.
void Replay::CheckStaleReads() {
  for (size_t agent = 0; agent < traces_.size(); ++agent) {
    std::map<TileKey, std::vector<const Step*>> released;
    for (size_t i = 0; i < traces_[agent].steps.size(); ++i) {
      const Step& step = traces_[agent].steps[i];
      if (step.kind == StepKind::EventTrigger) {
        for (const TileKey& tile : ReleasedBy(step)) released[tile].push_back(&step);
      } else if (step.kind == StepKind::EventWait) {
        const auto full = published_.find({EventOf(step), TriggerOf(step)});
        if (full == published_.end()) continue;
        for (const TileKey& tile : full->second) released.erase(tile);
      }
      for (const TileUse& use : step.tiles) {
        const auto given = use.slot ? released.find({use.storage, *use.slot}) : released.end();
        if (given == released.end()) continue;
        if (use.write) {
          released.erase(given);
          continue;
        }
        const Step* trigger = ReleaserOf(use, given->second);
        if (trigger == nullptr || !blamed_.ops.insert(step.op).second) continue;
        ReadAfterRelease(agent, static_cast<int>(i), use, *trigger);
      }
    }
  }
}

// An MMA reads for all threads of its warpgroup: none of them may be left out where the tile is
// given back.
void Replay::CheckReleasers() {
  for (size_t agent = 0; agent < traces_.size(); ++agent) {
    std::map<TileKey, std::pair<const Step*, const TileUse*>> read;
    for (const Step& step : traces_[agent].steps) {
      if (step.kind == StepKind::Mma) {
        for (const TileUse& use : step.tiles) {
          if (use.slot && !use.write) read[{use.storage, *use.slot}] = {&step, &use};
        }
      }
      if (step.kind != StepKind::EventTrigger) continue;
      const EventId event = EventOf(step);
      for (const TileKey& tile : ReleasedBy(step)) {
        const auto mma = read.find(tile);
        if (mma == read.end()) continue;
        const auto& [issue, use] = mma->second;
        if (ReleaserOf(*use, {&step}) == nullptr) continue;
        const auto& partners = issue->partners;
        const bool all = std::all_of(partners.begin(), partners.end(), [&, event](size_t partner) {
          return totals_.at(event).contains(partner);
        });
        if (all) continue;
        in_.findings
            .Add(diag::kinds::ReleasedBySome, step.op->loc, Of(event).name, TileName(*use),
                 Role(agent))
            .Note(use->loc, fmt::format("read here by all threads of warpgroup {}, of which only "
                                        "some trigger `{}`",
                                        in_.agents.all()[agent].warpgroup, Of(event).name));
      }
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
      const std::vector<TileKey> tiles = ReleasedBy(step);
      if (tiles.empty()) continue;
      in_.obligations.Met(*step.op, Rule::Released);
      for (const auto& [issue, read] : reading) {
        for (const TileUse& use : read->tiles) {
          const TileKey key{use.storage, use.slot.value_or(-1)};
          if (std::find(tiles.begin(), tiles.end(), key) == tiles.end()) continue;
          if (ReleaserOf(use, {&step}) == nullptr) continue;
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
