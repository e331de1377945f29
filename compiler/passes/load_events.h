// Loads that their own path waits for as futures get events of their own. In: a kernel in which
// copies are lowered. Out: no wait for the future of a TMA load is left; each such load is bound to
// its event behind its issue, and its wait is one on the event.
#pragma once

#include "ir/ir.h"

namespace choreo::passes {

void GiveLoadsTheirEvents(ir::Kernel& kernel);

}  // namespace choreo::passes
