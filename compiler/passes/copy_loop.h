// The loop of one cooperative copy or fill: which elements each thread moves, in the widest
// accesses that both sides allow, with zeros for what lies outside the source and nothing outside
// the target.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/divisors.h"
#include "passes/ranges.h"

namespace choreo::passes {

struct CopyLoop {
  ir::Kernel& kernel;
  ir::ExprBuilder& build;
  const Ranges& ranges;
  const Divisors& divisors;
  ir::Loc loc;
  int threads;       // that share the work
  ir::ExprId index;  // of this one among them

  // Appends the loop, and the wait for what it copied asynchronously. No barriers.
  void Copy(const ir::View& src, const ir::View& dst, ir::Region& out);
  void Fill(const ir::View& dst, ir::ExprId value, ir::Region& out);

 private:
  // Where a thread's element lies in a view in one step of the loop. Where every step goes equally
  // far along the first axis (`advance`), the index at step 0 is computed once, in front of the
  // loop.
  struct Step {
    std::vector<ir::ExprId> first;  // coordinates at step 0
    std::vector<ir::ExprId> at;     // coordinates in this step
    ir::ExprId number;              // of the step; invalid: steps are not regular
    int64_t advance = 0;            // rows of the first axis from step to step
  };
  using Body = std::function<void(const Step& step, ir::Region& before, ir::Region& out)>;
  // For every group of `vector` elements of the extents that is this thread's.
  void ForEach(const std::vector<ir::View::Axis>& axes, int vector, const Body& body,
               ir::Region& out);
  // The linear index of the step's element; what does not change goes `before` the loop.
  ir::ExprId Index(const ir::View& view, const Step& step, std::string_view name,
                   ir::Region& before);
  std::optional<ir::ExprId> StrideOfStep(const ir::View& view, int64_t advance);
  void Move(const ir::View& src, const ir::View& dst, int vector, const Step& step,
            ir::Region& before, ir::Region& out);
  template <class NodeT>
  void Emit(ir::Region& out, NodeT node) {
    out.ops.push_back({loc, std::move(node)});
  }
};

}  // namespace choreo::passes
