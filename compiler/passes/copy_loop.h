// The loop of one cooperative copy or fill: which elements each thread moves, in the widest accesses
// that both sides allow, with zeros for what lies outside the source and nothing outside the target.
#pragma once

#include <functional>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace choreo::passes {

struct CopyLoop {
  ir::Kernel& kernel;
  ir::ExprBuilder& build;
  ir::Loc loc;
  int threads;       // that share the work
  ir::ExprId index;  // of this one among them

  // Appends the loop, and the wait for what it copied asynchronously. No barriers.
  void Copy(const ir::View& src, const ir::View& dst, ir::Region& out);
  void Fill(const ir::View& dst, ir::ExprId value, ir::Region& out);

 private:
  using Body = std::function<void(const std::vector<ir::ExprId>& at, ir::Region& out)>;
  // For every group of `vector` elements of the extents that is this thread's.
  void ForEach(const std::vector<ir::View::Axis>& axes, int vector, const Body& body,
               ir::Region& out);
  void Move(const ir::View& src, const ir::View& dst, int vector,
            const std::vector<ir::ExprId>& at, ir::Region& out);
  template <class NodeT>
  void Emit(ir::Region& out, NodeT node) {
    out.ops.push_back({loc, std::move(node)});
  }
};

}  // namespace choreo::passes
