// `.at`: tile coordinates, elements and orders; `arr[i]`; one extent of a span; proofs about
// indices.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {

Value Checker::CheckAt(ast::ExprId id, const ast::MethodCall& node) {
  const Value base = Check(node.base);
  if (base.is_error()) {
    for (const ast::ExprId arg : node.args) Check(arg);
    return ErrorValue();
  }
  if (base.open == Value::Open::Subspan) return CheckTileAt(id, node, base);
  switch (base.type.kind) {
    case TypeKind::Event:
      return CheckEventAt(id, node, base);
    case TypeKind::View:
    case TypeKind::DataFuture:
    case TypeKind::Fragment:
      if (!NeedClosed(node.base, base)) return ErrorValue();
      return CheckElement(id, node, base);
    default:
      break;
  }
  for (const ast::ExprId arg : node.args) Check(arg);
  diag::Builder builder =
      Report(diag::kinds::NotATile, file_.exprs[node.base].range, "`.at`", Describe(base.type));
  if (base.type.kind == TypeKind::TileArray) builder.Note({}, "one tile of an array is `name[i]`");
  return ErrorValue();
}

// `.at` on `subspan(…)` or `subspan(…).step(…)`: element offset = coordinate × spacing.
Value Checker::CheckTileAt(ast::ExprId id, const ast::MethodCall& node, const Value& open) {
  const std::vector<Argument> args = Arguments(node.args);
  const auto* call = file_.As<ast::MethodCall>(node.base);
  const ast::MethodCall* step = nullptr;
  if (call && call->name.text == "step") {
    step = call;
    call = file_.As<ast::MethodCall>(step->base);
  }
  CHOREO_CHECK(call && call->name.text == "subspan");
  const Value tensor = values_[call->base.value];
  if (!NeedRank(node.name.range, "`.at`", args.size(), open.type.extents.size())) {
    return ErrorValue();
  }
  // Which axes were left whole, and the spacing of each: tuples count as their elements.
  std::vector<bool> whole;
  for (const ast::ExprId arg : call->args) {
    const Value& value = values_[arg.value];
    const bool list = value.type.kind == TypeKind::Tuple || value.type.kind == TypeKind::Shape;
    whole.insert(whole.end(), list ? value.elements.size() : 1,
                 value.type.kind == TypeKind::Wildcard);
  }
  std::vector<Value> spacing;
  for (const Extent& extent : open.type.extents) spacing.push_back(IntegerOf(extent));
  if (step) {
    spacing.clear();
    for (const ast::ExprId arg : step->args) {
      const Value& value = values_[arg.value];
      if (value.elements.empty()) {
        spacing.push_back(value);
      } else {
        spacing.insert(spacing.end(), value.elements.begin(), value.elements.end());
      }
    }
  }
  bool failed = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& arg = args[i].value;
    const SourceRange range = file_.exprs[args[i].expr].range;
    if (arg.is_error()) {
      failed = true;
    } else if (whole[i]) {
      if (arg.type.kind == TypeKind::Wildcard || arg.constant == 0) continue;
      Report(diag::kinds::WholeAxis, range, i, Spelled(args[i].expr));
      failed = true;
    } else if (arg.type.kind == TypeKind::Wildcard) {
      Report(diag::kinds::CoordinateMissing, range, i, open.type.extents[i].text);
      failed = true;
    } else if (!NeedInteger(args[i].expr, arg, "a tile coordinate")) {
      failed = true;
    } else {
      Value start = Plain(Elem::kS32);
      if (arg.poly && spacing[i].poly) start.poly = Mul(*arg.poly, *spacing[i].poly);
      CheckTileBounds(args[i].expr, i, start, open.type.extents[i], tensor.type.extents[i],
                      tensor.type.storage == ast::StorageClass::Global);
    }
  }
  if (failed) return ErrorValue();
  (void)id;
  Value tile = open;
  tile.open = Value::Open::No;
  return tile;
}

// A tile of `tile` elements from `start` of an axis of `whole` elements: a tail of a tensor may
// cross its edge, a part of a shared or local tile may not.
void Checker::CheckTileBounds(ast::ExprId id, size_t axis, const Value& start, const Extent& tile,
                              const Extent& whole, bool may_have_tail) {
  const auto end = PolyOf(whole);
  bool below = false, always = false;
  const SourceRange range = file_.exprs[id].range;
  if (CanLeave(start, end, &below, &always)) {
    Report(diag::kinds::TileOutside, range, RangeText(start), tile.text, axis, whole.text);
    return;
  }
  if (may_have_tail) return;
  Value last = start;
  const auto extent = PolyOf(tile);
  std::optional<Poly> sum;
  if (start.poly && extent) sum = Add(*start.poly, *extent);
  last.poly = sum ? Sub(*sum, Poly::Constant(1)) : std::nullopt;
  last.constant.reset();
  if (CanLeave(last, end, &below, &always)) {
    Report(diag::kinds::TileOutside, range, RangeText(start), tile.text, axis, whole.text);
  }
}

// A window of a tensor stands anywhere: it may cross an edge, and some of the windows that a
// variable places may lie outside, as the rows above and below an image do. All of them may not.
void Checker::CheckWindowBounds(ast::ExprId id, size_t axis, const Value& start, const Extent& tile,
                                const Extent& whole) {
  const auto extent = PolyOf(tile);
  Value last = start;
  if (!last.poly && last.constant) last.poly = Poly::Constant(*last.constant);
  const auto end = last.poly && extent ? Add(*last.poly, *extent) : std::nullopt;
  last.poly = end ? Sub(*end, Poly::Constant(1)) : std::nullopt;
  last.constant.reset();
  bool below = false, always = false;
  const auto all_leave = [&](const Value& index, bool under) {
    return CanLeave(index, PolyOf(whole), &below, &always) && always && below == under;
  };
  if (!all_leave(start, false) && !all_leave(last, true)) return;
  Report(diag::kinds::TileOutside, file_.exprs[id].range, RangeText(start), tile.text, axis,
         whole.text);
}

Value Checker::CheckElement(ast::ExprId id, const ast::MethodCall& node, const Value& base) {
  const std::vector<Argument> args = Arguments(node.args);
  const SourceRange range = file_.exprs[id].range;
  for (const Argument& arg : args) {
    if (arg.value.is_error()) return ErrorValue();
  }
  if (!NeedRank(node.name.range, "`.at`", args.size(), base.type.extents.size())) {
    return ErrorValue();
  }
  Value element = Plain(base.type.elem);
  element.root = base.root;
  element.is_element = true;
  if (base.type.kind == TypeKind::Fragment) {
    CheckFragmentIndex(id, args, base.type);
    return element;
  }
  if (parallel_depth_ == 0) {
    Report(diag::kinds::HostValue, range, Spelled(id));
    return ErrorValue();
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (!NeedInteger(args[i].expr, args[i].value, "an index")) return ErrorValue();
    bool below = false, always = false;
    if (CanLeave(args[i].value, PolyOf(base.type.extents[i]), &below, &always)) {
      Report(diag::kinds::IndexOutside, file_.exprs[args[i].expr].range, Spelled(args[i].expr),
             always ? "is" : "can be", RangeText(args[i].value), i, base.type.extents[i].text);
    }
  }
  if (file_.As<ast::NameRef>(node.base)) NoteElement(args, base.root, range);
  return element;
}

Value Checker::CheckSpanElement(ast::ExprId id, const ast::MethodCall& node, const Value& shape) {
  const SourceRange range = file_.exprs[id].range;
  if (shape.type.kind != TypeKind::Shape && shape.type.kind != TypeKind::Tuple) {
    for (const ast::ExprId arg : node.args) Check(arg);
    Report(diag::kinds::NotAShape, range, "`t(i)`", Describe(shape.type));
    return ErrorValue();
  }
  if (node.args.size() != 1) {
    for (const ast::ExprId arg : node.args) Check(arg);
    Report(diag::kinds::ArgumentCount, range, node.name.text.empty() ? "t(i)" : ".span", 1,
           node.args.size());
    return ErrorValue();
  }
  const auto index = NeedConstant(node.args[0], "the index of an extent or tuple element");
  if (!index) return ErrorValue();
  if (*index < 0 || *index >= static_cast<int64_t>(shape.elements.size())) {
    Report(diag::kinds::NoSuchAxis, file_.exprs[node.args[0]].range, *index, Describe(shape.type),
           shape.elements.size());
    return ErrorValue();
  }
  return shape.elements[*index];
}

// arr[i]: a tile of an array. On a ring of events only priming is written so.
Value Checker::CheckIndex(ast::ExprId id, const ast::Index& node) {
  const Value base = Check(node.base);
  const Value index = Check(node.index);
  if (base.is_error() || index.is_error()) return ErrorValue();
  const bool array = base.type.kind == TypeKind::TileArray;
  if (!array && !(base.type.kind == TypeKind::Event && base.type.array_size)) {
    diag::Builder builder =
        Report(diag::kinds::NotAnArray, file_.exprs[id].range, Describe(base.type));
    if (AsTile(base)) builder.Note({}, "an element of a tile is `x.at(i, j)`");
    return ErrorValue();
  }
  if (!NeedInteger(node.index, index, "an array index")) return ErrorValue();
  bool below = false, always = false;
  const Extent& size = *base.type.array_size;
  if (CanLeave(index, PolyOf(size), &below, &always)) {
    Report(diag::kinds::IndexOutside, file_.exprs[node.index].range, Spelled(node.index),
           always ? "is" : "can be", RangeText(index), 0, size.text);
    return ErrorValue();
  }
  Value item = base;
  item.type.array_size.reset();
  if (!array) return item;
  const bool frag = base.type.storage == ast::StorageClass::Frag;
  item.type.kind = frag ? TypeKind::Fragment : TypeKind::View;
  if (frag && !index.constant) {
    Report(diag::kinds::NotConstant, file_.exprs[node.index].range,
           "the index of an array of fragments", Spelled(node.index));
    return ErrorValue();
  }
  return item;
}

}  // namespace choreo::sema
