// What one warp does with events and barriers, in program order, and the loops around them.
// In: a tile-state kernel. Out: a tree of steps; narrowed scopes are resolved, branches are not:
// the events in them are `unknown`.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "passes/scope.h"
#include "passes/uniform_form.h"

namespace choreo::passes {

struct WarpStep {
  enum class Kind : uint8_t { Wait, Trigger, Barrier, Loop } kind;
  const ir::Op* op = nullptr;
  ir::StorageId event;         // Wait, Trigger
  bool whole_warp = false;     // all lanes execute it
  UniformForm turns;           // Loop: how often
  std::vector<WarpStep> body;  // Loop
};

struct WarpEvents {
  std::vector<WarpStep> steps;
  // Events whose waits and triggers cannot be counted: under branches, in loops whose turns are not
  // known, or in a warp that may leave its role.
  std::set<ir::StorageId> unknown;
  bool may_block = false;  // a wait or a barrier stands in such a place
  bool narrows = false;  // an event or a barrier of some of the threads only stands in such a place
};

WarpEvents EventsOfWarp(const ir::Kernel& kernel, int warp);

}  // namespace choreo::passes
