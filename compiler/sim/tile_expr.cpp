// Expressions, views and storage of the tile evaluator.
#include <variant>

#include "sim/tile_cta.h"
#include "support/check.h"

namespace choreo::sim {

int64_t TileCta::Constant(ir::ExprId id) const {
  const auto* value = std::get_if<ir::IntConst>(&kernel_.exprs[id].node);
  CHOREO_CHECK(value != nullptr, "an extent is not constant");
  return value->value;
}

Value TileCta::Eval(ir::ExprId id, int thread) {
  const ir::Expr& expr = kernel_.exprs[id];
  if (const auto* node = std::get_if<ir::IntConst>(&expr.node)) return {node->value, 0};
  if (const auto* node = std::get_if<ir::FloatConst>(&expr.node)) return {0, node->value};
  if (const auto* node = std::get_if<ir::VarRef>(&expr.node)) return Var(node->var, thread);
  if (const auto* node = std::get_if<ir::Unary>(&expr.node)) {
    return EvalUnary(node->op, kernel_.exprs[node->operand].type, Eval(node->operand, thread));
  }
  if (const auto* node = std::get_if<ir::Binary>(&expr.node)) {
    const Value left = Eval(node->left, thread);
    if (node->op == ir::BinaryOp::And && left.i == 0) return {0, 0};
    if (node->op == ir::BinaryOp::Or && left.i != 0) return {1, 0};
    const auto value =
        EvalBinary(node->op, kernel_.exprs[node->left].type, left, Eval(node->right, thread));
    if (value) return *value;
    launch_.findings.Add(diag::kinds::SimDivisionByZero, loc_, {},
                         fmt::format("thread {}", thread));
    return {};
  }
  if (const auto* node = std::get_if<ir::Select>(&expr.node)) {
    return Eval(EvalInt(node->condition, thread) != 0 ? node->then_value : node->else_value,
                thread);
  }
  if (const auto* node = std::get_if<ir::Cast>(&expr.node)) {
    return EvalCast(kernel_.exprs[node->operand].type, expr.type, Eval(node->operand, thread));
  }
  if (const auto* node = std::get_if<ir::Call>(&expr.node))
    return EvalCallNode(expr, *node, thread);
  if (const auto* node = std::get_if<ir::FragElem>(&expr.node)) {
    return Element(node->frag, node->index, thread);
  }
  if (const auto* node = std::get_if<ir::ViewElem>(&expr.node)) {
    const uint8_t* at = Single(node->view, thread);
    return at == nullptr ? Value{} : LoadValue(expr.type, at);
  }
  CHOREO_UNREACHABLE("a lowered expression in tile state");
}

Value TileCta::EvalCallNode(const ir::Expr& expr, const ir::Call& call, int thread) {
  Value args[3];
  CHOREO_CHECK(!call.args.empty() && call.args.size() <= 3, "`{}` in tile state",
               ir::Spelling(call.callee));
  for (size_t i = 0; i < call.args.size(); ++i) args[i] = Eval(call.args[i], thread);
  const std::optional<Value> value = EvalCall(call.callee, expr.type, args);
  if (value) return *value;
  launch_.findings.Add(diag::kinds::SimDivisionByZero, loc_, {}, fmt::format("thread {}", thread));
  return {};
}

Window TileCta::Open(ir::ViewId id, int thread) {
  const ir::View& view = kernel_.views[id];
  const ir::Storage& storage = StorageOf(view.storage);
  Window w;
  w.storage = view.storage;
  const auto integer = [&](ir::ExprId e, int64_t otherwise) {
    return e.valid() ? EvalInt(e, thread) : otherwise;
  };
  for (const ir::ExprId e : view.base_extents) w.extents.push_back(EvalInt(e, thread));
  for (const ir::ExprId e : view.start) w.start.push_back(EvalInt(e, thread));
  for (const ir::View::Axis& axis : view.axes) {
    w.axes.push_back(
        {static_cast<size_t>(axis.base_axis), EvalInt(axis.extent, thread), integer(axis.step, 1)});
  }
  w.offset = integer(view.base_offset, 0);
  w.strides.resize(w.extents.size());
  int64_t stride = 1;
  for (size_t i = w.extents.size(); i-- > 0;) {
    w.strides[i] = stride;
    stride *= w.extents[i];
  }
  if (storage.kind == ir::StorageKind::Param) {
    const ParamMemory& memory = launch_.params[view.storage.value];
    w.data = memory.data;
    w.low = memory.low;
    w.high = memory.high;
    // A reshape is of contiguous data; the tensor itself has the caller's strides.
    bool whole = !view.base_offset.valid() && storage.dims.size() == w.extents.size();
    for (size_t i = 0; whole && i < storage.dims.size(); ++i) {
      whole = EvalInt(storage.dims[i], thread) == w.extents[i];
    }
    if (whole) w.strides = launch_.param_strides[view.storage.value];
    return w;
  }
  const int64_t slot = integer(view.slot, 0);
  const int64_t count = count_[view.storage.value];
  w.high = count;
  if (slot < 0 || slot >= storage.array_size) {
    launch_.findings.Add(diag::kinds::SimOutOfBounds, loc_, storage.loc, slot, storage.name, 0,
                         storage.array_size - 1);
    w.high = 0;
    return w;
  }
  int64_t tile = slot;
  if (storage.kind == ir::StorageKind::Local) tile += int64_t{thread} * storage.array_size;
  const std::vector<int>& instances = instances_[view.storage.value];
  if (!instances.empty()) {
    tile += int64_t{instances[static_cast<size_t>(thread / 32)]} * storage.array_size;
  }
  w.data = memory_[view.storage.value].data() + tile * count * Bytes(storage.elem);
  return w;
}

uint8_t* Window::At(std::span<const int64_t> index, int64_t bytes, bool& outside) const {
  std::vector<int64_t> at = start;
  for (size_t i = 0; i < axes.size(); ++i) at[axes[i].base] += index[i] * axes[i].step;
  int64_t linear = offset;
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= extents[i]) return nullptr;
    linear += at[i] * strides[i];
  }
  outside = linear < low || linear >= high;
  return outside ? nullptr : data + linear * bytes;
}

uint8_t* TileCta::Single(ir::ViewId view, int thread) {
  const Window w = Open(view, thread);
  const ir::Storage& storage = StorageOf(w.storage);
  bool outside = false;
  uint8_t* at = w.At({}, Bytes(storage.elem), outside);
  if (at == nullptr) {
    int64_t linear = w.offset;
    for (size_t i = 0; i < w.start.size(); ++i) linear += w.start[i] * w.strides[i];
    launch_.findings.Add(diag::kinds::SimOutOfBounds, loc_, storage.loc, linear, storage.name,
                         w.low, w.high - 1);
  }
  return at;
}

Value& TileCta::Element(ir::StorageId frag, const std::vector<ir::ExprId>& index, int thread) {
  const int64_t i = EvalInt(index[0], thread);
  const int64_t j = index.size() > 1 ? EvalInt(index[1], thread) : 0;
  const size_t id = frag.value;
  const bool outside = i < 0 || i >= rows_[id] || j < 0 || j >= columns_[id];
  if (outside) {
    const ir::Storage& storage = StorageOf(frag);
    launch_.findings.Add(diag::kinds::SimOutOfBounds, loc_, storage.loc, i * columns_[id] + j,
                         storage.name, 0, count_[id] - 1);
  }
  return outside ? FragAt(frag, thread / 128, 0) : FragAt(frag, thread / 128, i, j);
}

}  // namespace choreo::sim
