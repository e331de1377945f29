// Vector clocks. A component counts the release points of one agent; who has seen count n of it is
// ordered after everything that the agent did up to its n-th release point.
// The components of a CTA, numbered through its cluster: its warps (ordinary accesses of all their
// lanes), the tensor core for each warpgroup (MMAs in order of issue), the progress of each warp
// (control, not memory: what it has got past), the slots of its mbarriers (completed phases: what
// TMA loads wrote), and, made on demand, single threads: their ordinary accesses, and reads and
// writes of their TMA stores.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace choreo::sim {

class Clock {  // components that were never raised are 0
 public:
  uint32_t operator[](size_t component) const {
    return component < at_.size() ? at_[component] : 0;
  }
  void Raise(size_t component, uint32_t to) {
    if (component >= at_.size()) at_.resize(component + 1, 0);
    at_[component] = std::max(at_[component], to);
  }
  // Only the components for which keep(component) holds.
  template <class Keep>
  Clock Filtered(const Keep& keep) const {
    Clock out;
    for (size_t i = 0; i < at_.size(); ++i) {
      if (at_[i] != 0 && keep(i)) out.Raise(i, at_[i]);
    }
    return out;
  }
  void Join(const Clock& other) {
    if (other.at_.size() > at_.size()) at_.resize(other.at_.size(), 0);
    for (size_t i = 0; i < other.at_.size(); ++i) at_[i] = std::max(at_[i], other.at_[i]);
  }
  friend bool operator==(const Clock&, const Clock&) = default;

 private:
  std::vector<uint32_t> at_;
};

// What an agent is ordered after: everything `seen`; of that, what is `fenced` also for accesses
// through the async proxy (components of warps and threads only).
struct Knowledge {
  Clock seen, fenced;
  void Join(const Knowledge& other) {
    seen.Join(other.seen);
    fenced.Join(other.fenced);
  }
};

enum class AgentKind : uint8_t { Warp, Mma, Progress, Slot, Thread, StoreRead, StoreWrite };

struct Agent {  // what a component stands for
  AgentKind kind = AgentKind::Warp;
  uint32_t index = 0;  // of the warp, warpgroup or slot
  uint32_t lane = 0;   // of threads and their stores
};

// The components of one CTA, in the list of all CTAs of its cluster.
class Agents {
 public:
  void Reset(std::vector<Agent>& list, uint32_t warps, uint32_t groups, uint32_t slots) {
    list_ = &list;
    warp_ = Add(AgentKind::Warp, warps);
    mma_ = Add(AgentKind::Mma, groups);
    progress_ = Add(AgentKind::Progress, warps);
    slot_ = Add(AgentKind::Slot, slots);
  }
  uint32_t Warp(uint32_t warp) const { return warp_ + warp; }
  uint32_t Mma(uint32_t group) const { return mma_ + group; }
  uint32_t Progress(uint32_t warp) const { return progress_ + warp; }
  uint32_t Slot(uint32_t slot) const { return slot_ + slot; }
  uint32_t NewOfThread(AgentKind kind, uint32_t warp, uint32_t lane) {
    list_->push_back({kind, warp, lane});
    return static_cast<uint32_t>(list_->size() - 1);
  }
  const Agent& operator[](uint32_t component) const { return (*list_)[component]; }

 private:
  uint32_t Add(AgentKind kind, uint32_t count) {
    const auto first = static_cast<uint32_t>(list_->size());
    for (uint32_t i = 0; i < count; ++i) list_->push_back({kind, i, 0});
    return first;
  }
  std::vector<Agent>* list_ = nullptr;
  uint32_t warp_ = 0, mma_ = 0, progress_ = 0, slot_ = 0;
};

}  // namespace choreo::sim
