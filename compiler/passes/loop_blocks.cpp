#include "passes/loop_blocks.h"

#include <algorithm>

#include "ir/fold.h"
#include "ir/walk.h"

namespace choreo::passes {

bool ForEachFragAccess(const ir::Kernel& kernel, const ir::Op& op,
                       const std::function<void(const FragAccess&)>& visit) {
  bool all = true;
  if (const auto* set = std::get_if<ir::FragSet>(&op.node)) {
    visit({set->frag, set->index[0]});
  } else if (const auto* pack = std::get_if<ir::FragPack>(&op.node)) {
    visit({pack->frag, pack->word, 2, 2});
  } else if (const auto* store = std::get_if<ir::StMatrix>(&op.node)) {
    visit({store->frag, store->word, 2, 2 * store->count});
  } else if (const auto* load = std::get_if<ir::LdMatrix>(&op.node)) {
    visit({load->frag, load->word, 2, 2 * load->count});
  } else if (std::holds_alternative<ir::Wgmma>(op.node) ||
             std::holds_alternative<ir::FragTie>(op.node) ||
             std::holds_alternative<ir::OpaqueCall>(op.node) ||
             std::holds_alternative<ir::RawCpp>(op.node)) {
    all = false;
  }
  ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
    ir::ForEachSubExpr(kernel, root, [&](ir::ExprId e) {
      const auto* elem = std::get_if<ir::FragElem>(&kernel.exprs[e].node);
      if (elem != nullptr) visit({elem->frag, elem->index[0]});
    });
  });
  return all;
}

std::optional<LoopBlocks> LoopBlocks::Of(const ir::Kernel& kernel, const ir::Op& op) {
  const auto* loop = std::get_if<ir::For>(&op.node);
  if (loop == nullptr || ir::AsInt(kernel, loop->low) != 0 || ir::AsInt(kernel, loop->step) != 1) {
    return std::nullopt;
  }
  const auto high = ir::AsInt(kernel, loop->high);
  if (!high || *high <= 0 || kernel.vars[loop->var].type != Elem::kS32) return std::nullopt;
  return LoopBlocks(kernel, *loop, static_cast<int>(*high));
}

std::optional<int64_t> LoopBlocks::ValueAt(ir::ExprId e, int64_t iteration) const {
  const ir::Expr& expr = kernel_->exprs[e];
  if (!IsInteger(expr.type) && expr.type != Elem::kBool) return std::nullopt;
  return Node(expr, iteration);
}

std::optional<int64_t> LoopBlocks::Node(const ir::Expr& expr, int64_t iteration) const {
  if (const auto* constant = std::get_if<ir::IntConst>(&expr.node)) return constant->value;
  if (const auto* ref = std::get_if<ir::VarRef>(&expr.node)) {
    return ref->var == var_ ? std::optional(iteration) : std::nullopt;
  }
  if (const auto* binary = std::get_if<ir::Binary>(&expr.node)) {
    const auto a = ValueAt(binary->left, iteration), b = ValueAt(binary->right, iteration);
    if (!a || !b) return std::nullopt;
    return ir::FoldInt(binary->op, kernel_->exprs[binary->left].type, *a, *b);
  }
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
    const auto a = ValueAt(cast->operand, iteration);
    return a ? std::optional(ir::WrapToElem(*a, expr.type)) : std::nullopt;
  }
  if (const auto* choice = std::get_if<ir::Select>(&expr.node)) {
    const auto condition = ValueAt(choice->condition, iteration);
    if (!condition) return std::nullopt;
    return ValueAt(*condition != 0 ? choice->then_value : choice->else_value, iteration);
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> LoopBlocks::Values(ir::ExprId e) const {
  std::vector<int64_t> values;
  for (int i = 0; i < count_; ++i) {
    const auto value = ValueAt(e, i);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

bool LoopBlocks::AccessesOwnBlock(ir::StorageId frag, int elements, int blocks, bool alike) const {
  const int own = elements / blocks, turns = count_ / blocks;
  bool inside = true;
  const auto check = [&](const FragAccess& access) {
    if (access.frag != frag || !inside) return;
    const auto values = Values(access.index);
    inside = values && own % access.unit == 0;
    for (int i = 0; inside && i < count_; ++i) {
      const int64_t start = int64_t{i / turns} * own;
      const int64_t first = (*values)[static_cast<size_t>(i)] * access.unit;
      const int64_t first_of_all = (*values)[static_cast<size_t>(i % turns)] * access.unit;
      inside = first >= start && first + access.count <= start + own &&
               (!alike || first - start == first_of_all);
    }
  };
  bool known = true;
  ir::ForEachOp(*body_, [&](const ir::Op& op) { known &= ForEachFragAccess(*kernel_, op, check); });
  return known && inside;
}

ir::ExprId LoopBlocks::With(ir::ExprBuilder& build, ir::ExprId e, ir::ExprId value) const {
  return ir::RewriteExpr(build, e, ir::Substitute(*kernel_, {{var_, value}}));
}

ir::ExprId LoopBlocks::Split(ir::ExprBuilder& build, ir::ExprId e, int blocks, ir::ExprId block,
                             ir::ExprId place) const {
  const auto values = Values(e);
  if (!values) return {};
  const auto turns = static_cast<size_t>(count_ / blocks);
  bool by_place = true, by_block = true, sum = build.TypeOf(e) == Elem::kS32;
  for (size_t i = 0; i < values->size(); ++i) {
    const int64_t value = (*values)[i];
    const int64_t of_place = (*values)[i % turns], of_block = (*values)[i - i % turns];
    by_place &= value == of_place;
    by_block &= value == of_block;
    sum &= value == of_place + of_block;
  }
  const auto at_place = [&] { return With(build, e, place); };
  const auto at_block = [&] {
    return With(build, e, build.Mul(block, static_cast<int64_t>(turns)));
  };
  if (by_place) return at_place();
  if (by_block) return at_block();
  return sum ? build.Add(at_block(), at_place()) : ir::ExprId();
}

}  // namespace choreo::passes
