#include "passes/non_negative.h"

#include <cmath>

#include "ir/walk.h"

namespace choreo::passes {

bool NonNegativeRows::IsNonNegative(ir::ExprId value) const {
  const auto* constant = std::get_if<ir::FloatConst>(&kernel_.exprs[value].node);
  return constant != nullptr && !std::signbit(constant->value) && !std::isnan(constant->value);
}

ir::StorageId NonNegativeRows::Set(const ir::Op& op) const {
  if (const auto* fill = std::get_if<ir::FragFill>(&op.node)) {
    return IsNonNegative(fill->value) ? fill->frag : ir::StorageId();
  }
  if (const auto* reduce = std::get_if<ir::FragReduce>(&op.node)) {
    const bool keeps = reduce->reduce == ir::ReduceKind::Max && Has(reduce->row);
    return keeps ? reduce->row : ir::StorageId();
  }
  if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
    if (apply->vars.size() != 1 || apply->body.ops.size() != 1) return {};
    const auto* set = std::get_if<ir::FragSet>(&apply->body.ops[0].node);
    const bool whole = set != nullptr && set->frag == apply->frag && set->index.size() == 1;
    if (!whole || !IsNonNegative(set->value)) return {};
    const auto* index = std::get_if<ir::VarRef>(&kernel_.exprs[set->index[0]].node);
    if (index != nullptr && index->var == apply->vars[0]) return apply->frag;
  }
  return {};
}

void NonNegativeRows::Note(const ir::Op& op) {
  const ir::StorageId row = Set(op);
  if (!rows_.empty()) {
    for (const ir::StorageId written : ir::AllStorageUse(kernel_, op).writes) rows_.erase(written);
  }
  if (row) rows_.insert(row);
}

}  // namespace choreo::passes
