// The boxes that one TMA copy is made of. A tile of swizzled panels takes one box a panel, an axis
// longer than a box several. Of a multicast each box is the part of one CTA of the cluster. In: the
// views of both sides. Out: boxes that lie densely in shared memory, with tensor maps added to the
// host part and the checks the launcher makes for them; or a diagnostic that names what no box can
// express.
#pragma once

#include <optional>
#include <vector>

#include "passes/divisors.h"
#include "passes/pass.h"

namespace choreo::passes {

struct TmaBox {
  int32_t map = 0;
  std::vector<ir::ExprId> at;  // in the tensor, outermost axis first
  ir::ExprId shared_index;     // first element in the shared storage
  ir::Multicast multicast;     // of a part of the box for each CTA of the cluster
};

struct TmaBoxes {
  std::vector<TmaBox> boxes;
  int64_t bytes = 0;  // of all boxes, what lies outside the tensor included
};

std::optional<TmaBoxes> MakeTmaBoxes(ir::ExprBuilder& build, PassContext& context,
                                     const Divisors& divisors, const ir::View& global,
                                     const ir::View& shared, bool store, ir::Loc loc,
                                     bool multicast = false);

}  // namespace choreo::passes
