// The condition that picks the threads which act for others. In: the threads, each standing for
// itself or for the first of a few adjacent lanes. Out: a condition over the threads that come by.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "passes/scope.h"

namespace choreo::passes {

// Whether this is one of `who` among the threads of `active`, or one of the `lanes` from there on
// (a power of two); invalid: it always is.
ir::ExprId IsOneOf(ir::ExprBuilder& build, const std::vector<int>& who, const ThreadSet& active,
                   int lanes = 1);

}  // namespace choreo::passes
