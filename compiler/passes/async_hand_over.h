// Integers that one group of threads hands to another through shared memory, such as the task that
// one lane took from a counter: what elements of shared tiles hold, followed along traces. A plain
// trigger tells what its path knows of them, and the wait for its generation learns it. In: what
// the last round of traces told (nothing at first). Out: what this round tells. Where anything is
// not known, nothing is said.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/ir.h"

namespace choreo::passes {

// An element of a tile: storage and slot, then its indices.
using ElementPlace = std::pair<std::pair<ir::StorageId, int64_t>, std::vector<int64_t>>;

class HandOvers {
 public:
  struct Element {
    int64_t version = 0;  // how many writes came before: the later one counts
    std::optional<int64_t> value;
    friend bool operator==(const Element&, const Element&) = default;
  };
  using Elements = std::map<ElementPlace, Element>;
  // By event and trigger of it, counted a path.
  std::map<std::pair<ir::StorageId, int64_t>, Elements> generations;
  // Who takes from a parameter by atomic operations, by agent.
  std::map<ir::StorageId, std::set<size_t>> takers;
  // What one agent tells. Unless its control flow is `sure`, only that it takes.
  void Add(const HandOvers& of_agent, bool sure);
  friend bool operator==(const HandOvers&, const HandOvers&) = default;
};

// What one agent knows.
class KnownElements {
 public:
  KnownElements(const ir::Kernel& kernel, const HandOvers& told, size_t agent, bool one_thread);

  std::optional<int64_t> Load(const ElementPlace& place) const;
  void Store(const ElementPlace& place, std::optional<int64_t> value);
  void Forget(ir::StorageId storage);  // written at a place that is not known
  void ForgetAll();                    // others may have written, without an event that tells
  // What an atomic operation finds. Several takers are taken to come in turn, and those of other
  // CTAs not at all.
  std::optional<int64_t> Update(const ir::AtomicElem& op, const ElementPlace& place,
                                std::optional<int64_t> value);
  void Wait(ir::StorageId event);
  void Trigger(ir::StorageId event);

  const HandOvers& tells() const { return tells_; }

 private:
  const ir::Kernel& kernel_;
  const HandOvers& told_;
  size_t agent_;
  bool one_thread_;
  std::set<ir::StorageId> bound_;    // events that complete with loads: they tell nothing here
  std::set<ir::StorageId> written_;  // tiles that are written otherwise than by elements
  HandOvers tells_;
  HandOvers::Elements elements_;
  std::map<ElementPlace, int64_t> taken_;  // atomic operations so far
  std::map<ir::StorageId, int64_t> waits_, triggers_;
};

// Whether a kernel hands integers over at all.
bool HandsOver(const ir::Kernel& kernel);
// The shared tiles of a few integers in one row, all of whose accesses are of single elements, and
// how many elements they have.
std::map<ir::StorageId, int64_t> TilesOfSlots(const ir::Kernel& kernel);

}  // namespace choreo::passes
