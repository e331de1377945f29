// Views: windows on storage. Nothing here moves data.
#include "lower/context.h"

namespace choreo::lower {

ir::View Lowering::WholeStorage(ir::StorageId id, ir::ExprId slot) {
  const ir::Storage& storage = kernel_.storages[id];
  ir::View view;
  view.storage = id;
  view.slot = slot;
  view.base_extents = storage.dims;
  for (size_t i = 0; i < storage.dims.size(); ++i) {
    view.start.push_back(build_.Int(0));
    view.axes.push_back({static_cast<int32_t>(i), storage.dims[i], {}});
  }
  return view;
}

void Lowering::Advance(ir::View& view, size_t axis, ir::ExprId by) {
  const ir::View::Axis& a = view.axes[axis];
  const ir::ExprId elements = a.step ? build_.Mul(by, a.step) : by;
  ir::ExprId& start = view.start[static_cast<size_t>(a.base_axis)];
  start = build_.Add(start, elements);
}

ir::View Lowering::FreezeView(ir::View view, std::string_view name) {
  if (view.slot) view.slot = Freeze(view.slot, fmt::format("{}_slot", name));
  if (view.base_offset) view.base_offset = Freeze(view.base_offset, fmt::format("{}_offset", name));
  for (ir::ExprId& start : view.start) start = Freeze(start, fmt::format("{}_start", name));
  for (ir::View::Axis& axis : view.axes) {
    axis.extent = Freeze(axis.extent, fmt::format("{}_extent", name));
    if (axis.step) axis.step = Freeze(axis.step, fmt::format("{}_step", name));
  }
  return view;
}

// `base.subspan(e…)[.step(s…)][.at(c…)]`: tile coordinates count in steps, or in extents without.
ir::View Lowering::Subspan(const ast::MethodCall& subspan, const std::vector<ast::ExprId>* steps,
                           const std::vector<ast::ExprId>* at) {
  ir::View view = ViewOf(subspan.base);
  const std::vector<ir::ExprId> extents = Arguments(subspan.args, view);
  std::vector<ir::ExprId> spacing = extents;
  if (steps != nullptr) {
    const std::vector<ir::ExprId> given = Arguments(*steps, view);
    for (size_t i = 0; i < given.size(); ++i) {
      if (i >= steps->size() || !IsWildcard((*steps)[i])) spacing[i] = given[i];
    }
  }
  if (at != nullptr) {
    std::vector<ir::ExprId> coordinates;
    for (const ast::ExprId c : *at) {
      if (IsWildcard(c)) {
        coordinates.push_back(build_.Int(0));
      } else if (T(c).kind == sema::TypeKind::Tuple) {
        for (const ir::ExprId e : Elements(c)) coordinates.push_back(e);
      } else {
        coordinates.push_back(ScalarAs(c, Elem::kS32));
      }
    }
    CHOREO_CHECK(coordinates.size() == view.axes.size());
    for (size_t i = 0; i < coordinates.size(); ++i) {
      Advance(view, i, build_.Mul(coordinates[i], spacing[i]));
    }
  }
  for (size_t i = 0; i < view.axes.size(); ++i) view.axes[i].extent = extents[i];
  return view;
}

// Extents or steps, one an axis: integers, tuples and shapes; `_` is the whole axis.
std::vector<ir::ExprId> Lowering::Arguments(const std::vector<ast::ExprId>& args,
                                            const ir::View& view) {
  std::vector<ir::ExprId> out;
  for (const ast::ExprId arg : args) {
    const sema::TypeKind kind = T(arg).kind;
    if (IsWildcard(arg)) {
      CHOREO_CHECK(out.size() < view.axes.size());
      out.push_back(view.axes[out.size()].extent);
    } else if (kind == sema::TypeKind::Tuple || kind == sema::TypeKind::Shape) {
      for (const ir::ExprId e : Elements(arg)) out.push_back(e);
    } else {
      out.push_back(ScalarAs(arg, Elem::kS32));
    }
  }
  CHOREO_CHECK(out.size() == view.axes.size());
  return out;
}

// `base.view(e… : s…)[.from(o…)]`: a window at element offsets, every s-th element of an axis.
ir::View Lowering::Window(const ast::MethodCall& node, const std::vector<ast::ExprId>* from) {
  ir::View view = ViewOf(node.base);
  const std::vector<ir::ExprId> extents = Arguments(node.args, view);
  if (from != nullptr) {
    const std::vector<ir::ExprId> offsets = Offsets(*from);
    CHOREO_CHECK(offsets.size() == view.axes.size());
    for (size_t i = 0; i < offsets.size(); ++i) Advance(view, i, offsets[i]);
  }
  for (size_t i = 0; i < view.axes.size(); ++i) {
    view.axes[i].extent = extents[i];
    if (i < node.strides.size() && !IsWildcard(node.strides[i])) {
      const ir::ExprId stride = ScalarAs(node.strides[i], Elem::kS32);
      const ir::ExprId step = view.axes[i].step;
      view.axes[i].step = step ? build_.Mul(step, stride) : stride;
      if (build_.AsInt(view.axes[i].step) == 1) view.axes[i].step = {};
    }
  }
  return view;
}

std::vector<ir::ExprId> Lowering::Offsets(const std::vector<ast::ExprId>& args) {
  std::vector<ir::ExprId> out;
  for (const ast::ExprId arg : args) {
    if (IsWildcard(arg)) {
      out.push_back(build_.Int(0));
    } else if (T(arg).kind == sema::TypeKind::Tuple || T(arg).kind == sema::TypeKind::Shape) {
      for (const ir::ExprId e : Elements(arg)) out.push_back(e);
    } else {
      out.push_back(ScalarAs(arg, Elem::kS32));
    }
  }
  return out;
}

// `base.chunkat(p, _)`: the p-th of #p equal parts of each axis.
ir::View Lowering::Chunk(const ast::MethodCall& node) {
  ir::View view = ViewOf(node.base);
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (IsWildcard(node.args[i])) continue;
    const ir::ExprId parts = BoundOf(node.args[i]);
    const ir::ExprId extent = build_.Bin(ir::BinaryOp::Div, view.axes[i].extent, parts);
    Advance(view, i, build_.Mul(ScalarAs(node.args[i], Elem::kS32), extent));
    view.axes[i].extent = extent;
  }
  return view;
}

// `base.span_as([dims])`: the same contiguous elements in another shape. All axes but the first
// that is not of extent 1 must be whole, else the elements are not contiguous.
ir::View Lowering::SpanAs(ast::ExprId, const ast::MethodCall& node) {
  const ir::View from = ViewOf(node.base);
  std::vector<ir::ExprId> dims;
  for (const ast::ExprId arg : node.args) {
    for (const ir::ExprId e : Elements(arg)) dims.push_back(e);
  }
  ir::View view;
  view.storage = from.storage;
  view.slot = from.slot;
  ir::ExprId offset = build_.Int(0, Elem::kS64);
  ir::ExprId stride = build_.Int(1, Elem::kS64);
  for (size_t i = from.base_extents.size(); i-- > 0;) {
    offset = build_.Add(offset, build_.Mul(Convert(from.start[i], Elem::kS64), stride));
    stride = build_.Mul(stride, Convert(from.base_extents[i], Elem::kS64));
  }
  if (from.base_offset) offset = build_.Add(offset, from.base_offset);
  if (build_.AsInt(offset) != 0) view.base_offset = offset;
  for (size_t i = 0; i < dims.size(); ++i) {
    view.base_extents.push_back(dims[i]);
    view.start.push_back(build_.Int(0));
    view.axes.push_back({static_cast<int32_t>(i), dims[i], {}});
  }
  return view;
}

ir::View Lowering::Element(const ir::View& base, const std::vector<ast::ExprId>& at) {
  ir::View view = base;
  const std::vector<ir::ExprId> offsets = Offsets(at);
  CHOREO_CHECK(offsets.size() == view.axes.size());
  for (size_t i = 0; i < offsets.size(); ++i) Advance(view, i, offsets[i]);
  view.axes.clear();
  return view;
}

ir::View Lowering::MethodView(ast::ExprId id, const ast::MethodCall& node) {
  const std::string& name = node.name.text;
  const auto* base = in_.file.As<ast::MethodCall>(node.base);
  if (name == "subspan") return Subspan(node, nullptr, nullptr);
  if (name == "view") return Window(node, nullptr);
  if (name == "chunkat") return Chunk(node);
  if (name == "span_as") return SpanAs(id, node);
  if (name == "step" && base != nullptr && base->name.text == "subspan") {
    return Subspan(*base, &node.args, nullptr);
  }
  if (name == "from" && base != nullptr && base->name.text == "view") {
    return Window(*base, &node.args);
  }
  if (name == "at") {
    // Tile coordinates directly on a subspan; anything else is an element.
    if (base != nullptr && base->name.text == "subspan") return Subspan(*base, nullptr, &node.args);
    if (base != nullptr && base->name.text == "step") {
      const auto* subspan = in_.file.As<ast::MethodCall>(base->base);
      CHOREO_CHECK(subspan != nullptr && subspan->name.text == "subspan");
      return Subspan(*subspan, &base->args, &node.args);
    }
    return Element(ViewOf(node.base), node.args);
  }
  if (name == "sqz") {
    ir::View view = ViewOf(node.base);
    std::erase_if(view.axes, [&](const ir::View::Axis& a) { return build_.AsInt(a.extent) == 1; });
    return view;
  }
  CHOREO_UNREACHABLE("view method `{}`", name);
}

ir::View Lowering::ViewOf(ast::ExprId id) {
  const ast::Expr& expr = E(id);
  if (std::holds_alternative<ast::NameRef>(expr.node)) {
    const sema::EntityId entity = in_.sema.refs.at(id);
    const auto future = future_tiles_.find(entity);
    if (future != future_tiles_.end() && !future->second.settled) {
      if (!future->second.used) unsettled_uses_.push_back(entity);
      if (!future->second.used) future->second.used = expr.range;
      return *future->second.place;
    }
    const Binding& binding = bindings_.at(entity);
    if (const auto* view = std::get_if<ir::View>(&binding)) return *view;
    if (const auto* storage = std::get_if<ir::StorageId>(&binding)) {
      return WholeStorage(*storage, {});
    }
    CHOREO_UNREACHABLE("`{}` is not a view", std::get<ast::NameRef>(expr.node).name);
  }
  if (const auto* node = std::get_if<ast::Index>(&expr.node)) {
    ir::View view = ViewOf(node->base);
    view.slot = ScalarAs(node->index, Elem::kS32);
    return view;
  }
  if (const auto* node = std::get_if<ast::Member>(&expr.node)) {
    CHOREO_CHECK(node->name.text == "data", "member `{}`", node->name.text);
    return ViewOf(node->base);
  }
  if (const auto* node = std::get_if<ast::MethodCall>(&expr.node)) return MethodView(id, *node);
  if (const auto* node = std::get_if<ast::DmaCopy>(&expr.node)) return Copy(*node, {}, "tile");
  if (const auto* node = std::get_if<ast::TmaCopy>(&expr.node)) return Tma(*node, {}, "tile");
  CHOREO_UNREACHABLE("{} is not a view", ast::Describe(expr));
}

}  // namespace choreo::lower
