#include "passes/async_elements.h"

#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "ir/fold.h"
#include "ir/walk.h"

namespace choreo::passes {
namespace {

// Values vary from one element to the next with this period; it is no length of a range, so that
// two ranges do not hold the same values.
constexpr int kTurn = 5;

// How many elements the ranges of a launch have: several short tasks, then one, two and three.
int64_t RangeLength(int tiles) {
  constexpr int kOfShort = 4, kMost = 3;
  return tiles == 1 ? kOfShort : std::min(tiles - 1, kMost);
}

}  // namespace

ReadElements::ReadElements(const ir::Kernel& kernel)
    : kernel_(kernel), uses_(kernel.storages.size(), Use::Written), shifts_(uses_.size(), 0) {
  for (const ir::Param& param : kernel.params) {
    if (param.shaped && !param.written) uses_[param.storage.value] = Use::Plain;
  }
  FollowVariables();
  for (size_t i = 0; i < kernel.exprs.size(); ++i) FindUses(kernel.exprs.IdAt(i));
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    if (const auto* loop = std::get_if<ir::For>(&op.node)) FindRange(loop->low, loop->high);
  });
}

// Which elements the values of variables come from, over any number of assignments.
void ReadElements::FollowVariables() {
  for (bool changed = true; changed;) {
    changed = false;
    const auto flow = [&](ir::VarId to, ir::ExprId from) {
      Views& views = sources_[to];
      const size_t before = views.size();
      views.merge(Reach(from));
      changed = changed || views.size() != before;
    };
    ir::ForEachOp(kernel_.body, [&](const ir::Op& op) {
      if (const auto* let = std::get_if<ir::Let>(&op.node)) flow(let->var, let->value);
      if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) flow(decl->var, decl->init);
      if (const auto* set = std::get_if<ir::Assign>(&op.node)) flow(set->var, set->value);
      if (const auto* loop = std::get_if<ir::For>(&op.node)) flow(loop->var, loop->low);
    });
  }
}

ReadElements::Views ReadElements::Reach(ir::ExprId e) const {
  Views views;
  if (!e) return views;
  const ir::ExprNode& node = kernel_.exprs[e].node;
  if (const auto* element = std::get_if<ir::ViewElem>(&node)) {
    views.insert(element->view);
  } else if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
    const auto known = sources_.find(ref->var);
    if (known != sources_.end()) views = known->second;
  } else {
    ir::ForEachOperand(kernel_, e, [&](ir::ExprId operand) { views.merge(Reach(operand)); });
  }
  return views;
}

void ReadElements::FindUses(ir::ExprId e) {
  const ir::ExprNode& node = kernel_.exprs[e].node;
  if (const auto* element = std::get_if<ir::ViewElem>(&node)) {
    const ir::View& view = kernel_.views[element->view];
    for (const ir::ExprId start : view.start) {
      for (const ir::ViewId from : Reach(start)) {
        if (kernel_.views[from].storage == view.storage) SetUse(view.storage, Use::Link);
      }
    }
  }
  const auto* binary = std::get_if<ir::Binary>(&node);
  if (binary == nullptr) return;
  if (binary->op == ir::BinaryOp::BitAnd || binary->op == ir::BinaryOp::Shr) Pack(*binary);
  if (binary->op == ir::BinaryOp::Sub || ir::IsComparison(binary->op)) {
    FindRange(binary->left, binary->right);
  }
}

// Two elements of one parameter that are the ends of a loop, or subtracted or compared.
void ReadElements::FindRange(ir::ExprId low, ir::ExprId high) {
  const Views left = Reach(low), right = Reach(high);
  for (const ir::ViewId a : left) {
    for (const ir::ViewId b : right) {
      if (a != b && kernel_.views[a].storage == kernel_.views[b].storage) {
        SetUse(kernel_.views[a].storage, Use::Range);
      }
    }
  }
}

void ReadElements::Pack(const ir::Binary& node) {
  const auto amount = ir::AsInt(kernel_, node.right);
  if (!amount || *amount <= 0) return;
  const bool mask = node.op == ir::BinaryOp::BitAnd;
  // Of `(word >> 24) & 0xfffff` the shift says where a field begins, and the mask nothing.
  if (mask && std::holds_alternative<ir::Binary>(kernel_.exprs[node.left].node)) return;
  const int shift =
      mask ? std::bit_width(static_cast<uint64_t>(*amount)) : static_cast<int>(*amount);
  for (const ir::ViewId view : Reach(node.left)) {
    const ir::StorageId storage = kernel_.views[view].storage;
    SetUse(storage, Use::Packed);
    int& known = shifts_[storage.value];
    // A mask of the whole word tells less than a shift.
    if (shift < Bits(kernel_.storages[storage].elem) && (known == 0 || shift < known))
      known = shift;
  }
}

void ReadElements::SetUse(ir::StorageId storage, Use use) {
  Use& known = uses_[storage.value];
  if (known != Use::Written) known = std::max(known, use);
}

std::optional<int64_t> ReadElements::Value(ir::StorageId storage, const std::vector<int64_t>& index,
                                           int tiles) const {
  int64_t sum = 0, key = 0;
  for (const int64_t at : index) {
    sum += at;
    key = 8 * key + at;
  }
  const int64_t turn = (key % kTurn + kTurn) % kTurn;
  int64_t value = 0;
  switch (uses_[storage.value]) {
    case Use::Written:
      return std::nullopt;
    case Use::Plain:  // 3, 1, 4, 2, 5, 8, 6, …
      value = tiles + (key - turn) + (3 * turn + 2) % kTurn;
      break;
    case Use::Range:  // neighbours along any axis enclose a range
      value = RangeLength(tiles) * sum;
      break;
    case Use::Packed: {
      const int shift = shifts_[storage.value];
      const int64_t less[kTurn] = {1, tiles, 2, 4, 3};
      value = std::max<int64_t>(tiles - less[turn], 0);
      if (shift > 0) value = (value & ((int64_t{1} << shift) - 1)) | key << shift;
      break;
    }
    case Use::Link:
      value = tiles + kTurn * sum;
      break;
  }
  return ir::WrapToElem(value, kernel_.storages[storage].elem);
}

}  // namespace choreo::passes
