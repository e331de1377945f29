// Loads that their own path waits for as futures get events of their own. In: a kernel in which
// copies and MMAs are lowered. Out: no wait for a future and no move is left; each load that no
// trigger binds is bound to its event behind its issue, and its wait is one on the event. Futures
// that moves connect share a ring with a slot for each, whose order goes with the load.
#pragma once

#include "ir/ir.h"

namespace choreo::passes {

void GiveLoadsTheirEvents(ir::Kernel& kernel);

}  // namespace choreo::passes
