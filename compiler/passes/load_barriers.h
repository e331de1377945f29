// Loads and copies with a future that several paths start together stand behind a barrier of these
// paths if one of them has used the tile before (lower-copies puts it there). In: a tile-state
// kernel. Out: the ops for which that is so on some way to them.
#pragma once

#include <set>

#include "ir/ir.h"

namespace choreo::passes {

std::set<const ir::Op*> LoadsBehindBarriers(const ir::Kernel& kernel);

}  // namespace choreo::passes
