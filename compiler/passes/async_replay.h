// Replays the traces of one CTA against each other: who waits for which generation, and whether
// each access to a shared tile is ordered with the others by waits and triggers (happens-before,
// with MMAs and loads as operations of their own that are complete where they are waited for). In:
// checked traces of all agents in one launch. Out: findings, and what tells of a launch that cannot
// end. The order of the replay does not matter to what is found: accesses are compared by
// knowledge, not by time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "passes/async_checks.h"

namespace choreo::passes {

// What happened in a CTA.
struct History {
  std::vector<int> clock;       // of each agent, how many of its steps
  std::vector<uint64_t> words;  // complete asynchronous operations, a bit each
  void Learn(const History& other);
  bool Knows(int instance) const {
    const auto bit = static_cast<size_t>(instance);
    return bit / 64 < words.size() && (words[bit / 64] >> bit % 64 & 1) != 0;
  }
};

// What an agent, or a generation that it waited for, knows to have happened: in its own CTA, and in
// every other one of its cluster, which does the same.
struct Knowledge : History {
  History others;
  void Learn(const Knowledge& other);
  // What others of the cluster published, beside its own CTA.
  void LearnFromCluster(const Knowledge& other);
  void Complete(int instance);
};

// Where a finding stands already, what else is met there follows from it: ops, and for each tile
// whether it is read too early (else it is filled too early). Kept over all launches.
struct Blamed {
  std::set<const ir::Op*> ops;
  std::map<ir::StorageId, bool> read_early;
};

class Replay {
 public:
  Replay(const CheckInputs& in, const std::vector<Trace>& traces, Blamed& blamed);
  void Run();
  // Findings that only count if every launch shows them: deadlocks and trip counts.
  const Findings& endings() const { return endings_; }

 private:
  using EventId = ir::StorageId;
  struct Access {
    size_t agent = 0;
    int step = 0;
    int instance = -1;  // of an asynchronous operation; else ordinary
    TileUse use;
  };
  struct TileState {
    std::vector<Access> writes;  // since the last one of the whole tile, it included
    std::vector<Access> reads;
  };
  struct Generation {
    std::map<size_t, int> arrived;  // triggers of each agent
    Knowledge published;
  };
  struct Meeting {  // of the partners of a Join
    std::set<size_t> arrived;
    bool open = false;
    Knowledge knowledge;
  };
  struct Acquired {  // a wait that an agent has passed
    int step = 0;
    EventId event;
    int64_t trigger = -1;  // the generation by its number of triggers; -1: given
    int64_t wait = 0;      // by its number of waits
  };
  struct Shape {                           // what is looked up of a trace
    std::vector<int> completes;            // of each step, the first that completes it; -1: none
    std::unordered_map<int, int> entered;  // of each block, its first step
  };
  struct State {
    size_t next = 0;
    Knowledge knowledge;
    std::map<int, int> instances;  // of its issuing steps
    std::vector<Acquired> waits;
  };
  struct Loaded {  // an instance of a load
    size_t agent = 0;
    int step = 0;
  };
  using OpKey = std::pair<std::pair<const ir::Op*, int>, size_t>;
  using TileKey = std::pair<ir::StorageId, int64_t>;

  // async_replay.cpp
  bool Advance(size_t agent);  // one step; false: it has to wait
  bool CanPass(size_t agent, const Step& step);
  bool PassJoin(size_t agent, const Step& step);
  void Issue(size_t agent, int index, const Step& step);
  void Trigger(size_t agent, int index, const Step& step);
  void Store(size_t agent, int index, const Step& step);
  void Touch(size_t agent, int index, const TileUse& use, int instance, const Step& step);
  bool Known(size_t agent, const Access& access) const;
  bool Matters(const Access& a, size_t agent, int instance) const;
  bool IsComplete(EventId event, int64_t trigger) const;
  int64_t TriggerOf(const Step& wait) const;
  OpKey KeyOf(const Step& step, size_t agent) const;
  static EventId EventOf(const Step& step);
  void NotePublished(size_t agent);
  bool IsMulticast(size_t agent, int step) const;
  void CheckMulticast(size_t agent, int step, const TileUse& use, const TileState& tile);

  // async_guards.cpp
  void NoteGuards(size_t agent, int step, const TileUse& use, const TileState& tile);
  bool GuardsOther(size_t agent, int wait, int step, const TileUse& use) const;
  std::vector<const Acquired*> WaitsBeside(size_t agent, int fill) const;
  bool Tells(const Acquired& wait, const Access& read) const;
  bool MayGuard(EventId event, ir::StorageId tile) const;
  bool Guards(EventId event, int64_t slot, const TileKey& tile) const;
  std::vector<TileKey> ReleasedBy(const Step& trigger) const;
  bool ReleasesPart(const Step& trigger, const TileUse& use) const;
  const Step* ReleaserOf(const TileUse& use, const std::vector<const Step*>& triggers) const;
  bool StandsBefore(size_t agent, int wait, int fill) const;
  const Acquired* GuardOf(size_t agent, int step, const TileUse& use, size_t reader);
  const Acquired* GuardSince(int filled, size_t agent, int step, const TileUse& use, size_t reader);
  const Step* ReleaseByAReader(const Acquired& wait, const TileUse& use, size_t reader) const;
  void CheckStaleReads();
  void CheckReleases();
  void CheckReleasers();

  // async_blame.cpp
  void ReadUnfilled(size_t agent, int step, const TileUse& use, const Access& write);
  void RefilledEarly(size_t agent, int step, const TileUse& use, const Access& read);
  void WrittenTwice(size_t agent, int step, const TileUse& use, const Access& write);
  void RefilledInOthers(size_t agent, int step, const TileUse& use, const Access& access);
  bool BelongsToNextFill(const Access& read, int released, const Step& release) const;
  void ReadAfterRelease(size_t agent, int step, const TileUse& use, const Step& release);
  bool ComesTooEarly(size_t agent, int step, const TileUse& use, const Access& write) const;
  bool WaitsForFill(const Step& step, const TileUse& use) const;
  bool IsRelease(EventId event) const;
  int FillBefore(size_t agent, int step, const TileUse& use, bool same_part) const;
  bool WrongSlot(size_t agent, int step, const TileUse& use, EventId full);
  bool RefillsOtherSlot(size_t agent, int step, const TileUse& use);
  std::optional<Acquired> LastWait(size_t agent, int before, EventId event) const;
  std::optional<int64_t> PublishedSlot(EventId event, int64_t trigger, ir::StorageId tile) const;
  ir::VarId UnwaitedAt(const Access& write, const Step& trigger) const;
  const Step* PublisherOf(const Access& write) const;
  const Step* FindTrigger(size_t agent, EventId event, int64_t generation) const;

  // async_endings.cpp
  void BlameStuck();
  bool Shortage(size_t agent, const Step& wait);
  bool NotReady(size_t agent, const Step& wait);
  bool Unequal(size_t agent);
  void BlameUnawaited();

  const Step& StepAt(size_t agent, int step) const {
    return traces_[agent].steps[static_cast<size_t>(step)];
  }
  const std::string& Role(size_t agent) const { return in_.agents.all()[agent].name; }
  bool SameRole(size_t a, size_t b) const {
    return in_.agents.all()[a].role == in_.agents.all()[b].role;
  }
  const ir::Storage& Of(ir::StorageId id) const { return in_.kernel.storages[id]; }
  std::string TileName(const TileUse& use) const;

  const CheckInputs& in_;
  const std::vector<Trace>& traces_;
  Blamed& blamed_;
  Findings endings_;
  std::vector<Shape> shapes_;
  std::vector<State> states_;
  std::map<TileKey, TileState> tiles_;
  std::map<std::pair<EventId, int64_t>, Generation> generations_;
  // Triggers of each agent in each generation, and how many generations each agent triggers.
  std::map<std::pair<EventId, int64_t>, std::map<size_t, int>> needed_;
  std::map<EventId, std::map<size_t, int64_t>> totals_;
  std::set<std::pair<EventId, int64_t>> awaited_;
  std::map<OpKey, Meeting> meetings_;
  std::map<OpKey, int> instances_;
  std::vector<Loaded> loads_;  // by instance; MMAs have a step of -1
  std::map<OpKey, std::pair<const Step*, TileUse>> stores_;
  std::map<std::pair<EventId, int64_t>, std::set<TileKey>> published_;
  // The tiles that slots of release events guard.
  std::map<EventId, std::map<std::pair<int64_t, TileKey>, std::vector<TileUse>>> guards_;
  // Those that were waited for beside the fill. Other waits may know of the readers by accident.
  std::map<EventId, std::set<ir::StorageId>> sure_;
};

}  // namespace choreo::passes
