// Events that a named barrier can stand for: hand-offs of one slot between fixed sets of whole
// warps that provably alternate, each trigger behind the waits for the generation before. A named
// barrier holds one generation: an arrival for the next one while a waiter of this one has yet to
// come would be counted to the wrong one.
//
// In: a tile-state kernel with its event sites. Out: for each such event its waiters and triggers.
// The proof: let E be waited for by warp w and triggered by warp v in loops that turn equally
// often. Between two triggers of E, v waits for an event F; w triggers F as often a turn as v waits
// for it, and behind its wait for E. So v's wait for F shows that w has waited for E in that turn.
#pragma once

#include <map>

#include "passes/event_sites.h"

namespace choreo::passes {

struct HandOff {
  ThreadSet waiters, triggers;
};

std::map<ir::StorageId, HandOff> FindHandOffs(const ir::Kernel& kernel, const EventSites& sites);

}  // namespace choreo::passes
