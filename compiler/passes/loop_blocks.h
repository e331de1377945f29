// A loop over [0, count) cut into equal blocks: which registers of a fragment a block accesses, and
// expressions of the loop's variable by block and place in the block.
// In: a loop whose body is to run block by block. Values are computed for every iteration, so any
// form of an index will do that depends on nothing but the variable.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"

namespace choreo::passes {

// An access to `count` registers of a fragment from index · unit on, in elements.
struct FragAccess {
  ir::StorageId frag;
  ir::ExprId index;
  int unit = 1;
  int count = 1;
};
// Those of the op itself. False: it has accesses that have no index.
bool ForEachFragAccess(const ir::Kernel& kernel, const ir::Op& op,
                       const std::function<void(const FragAccess&)>& visit);

class LoopBlocks {
 public:
  // A loop from 0 on by ones, with a constant end; else none.
  static std::optional<LoopBlocks> Of(const ir::Kernel& kernel, const ir::Op& op);

  int count() const { return count_; }
  ir::VarId var() const { return var_; }
  // The value in every iteration; none if it depends on anything else.
  std::optional<std::vector<int64_t>> Values(ir::ExprId e) const;
  // Whether the body in block b of `blocks` accesses of the fragment's `elements` none but those of
  // block b. `alike`: at the same places in each block.
  bool AccessesOwnBlock(ir::StorageId frag, int elements, int blocks, bool alike) const;

  // The expression in block `block` at place `place` of a block, of `blocks`; invalid: only its
  // operands can be told.
  ir::ExprId Split(ir::ExprBuilder& build, ir::ExprId e, int blocks, ir::ExprId block,
                   ir::ExprId place) const;
  ir::ExprId With(ir::ExprBuilder& build, ir::ExprId e, ir::ExprId value) const;

 private:
  LoopBlocks(const ir::Kernel& kernel, const ir::For& loop, int count)
      : kernel_(&kernel), body_(&loop.body), var_(loop.var), count_(count) {}
  std::optional<int64_t> ValueAt(ir::ExprId e, int64_t iteration) const;
  std::optional<int64_t> Node(const ir::Expr& expr, int64_t iteration) const;

  const ir::Kernel* kernel_;
  const ir::Region* body_;
  ir::VarId var_;
  int count_;
};

}  // namespace choreo::passes
