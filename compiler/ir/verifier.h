// The rules that passes and back ends rely on, checked after every pass and on IR text that is
// read. Ids are valid, types agree, variables are in scope, the state allows the ops, hardware
// fields are in range. A module without violations can be printed and executed without further
// checks.
#pragma once

#include <string>
#include <vector>

#include "ir/ir.h"

namespace choreo::ir {

struct Violation {
  int kernel = -1;  // index in the module
  int op =
      -1;   // ordinal: host body, then body, each op before those in its regions; -1: not in an op
  Loc loc;  // of the op in the .co file
  std::string text;
};

// At most a few dozen: the first ones say enough.
std::vector<Violation> FindViolations(const Module& module);
// The same as lines of text with kernel and place; empty: the module is well formed.
std::vector<std::string> Verify(const Module& module);

}  // namespace choreo::ir
