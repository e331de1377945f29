// Views: `.subspan`, `.step`, `.view`, `.from`, `.chunkat`, `.span_as`, `.sqz`, and the members
// `.span` and
// `.data`. No data moves: a view is a type and a root.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

constexpr std::array<std::string_view, 11> kMembers = {
    "subspan", "at", "step", "view", "from", "span", "data", "chunkat", "span_as", "sqz", "span"};

bool IsOne(const Extent& extent) { return extent.value == 1; }

}  // namespace

std::vector<Checker::Argument> Checker::Arguments(const std::vector<ast::ExprId>& args) {
  std::vector<Argument> flat;
  for (const ast::ExprId arg : args) {
    const Value& value = Check(arg);
    const bool list = value.type.kind == TypeKind::Tuple || value.type.kind == TypeKind::Shape;
    if (!list) {
      flat.push_back({arg, value});
      continue;
    }
    for (const Value& element : value.elements) flat.push_back({arg, element});
  }
  return flat;
}

bool Checker::NeedRank(SourceRange range, std::string_view what, size_t have, size_t want) {
  if (have == want) return true;
  Report(diag::kinds::RankMismatch, range, what, have, want);
  return false;
}

std::optional<Value> Checker::AsTile(const Value& value) const {
  if (value.type.kind == TypeKind::View) return value;
  if (value.type.kind != TypeKind::DataFuture) return std::nullopt;
  Value tile = value;
  tile.type.kind = TypeKind::View;
  return tile;
}

bool Checker::NeedClosed(ast::ExprId id, const Value& value) {
  if (value.open == Value::Open::No) return true;
  const bool subspan = value.open == Value::Open::Subspan;
  Report(diag::kinds::OpenView, file_.exprs[id].range, subspan ? "subspan" : "view",
         subspan ? "at" : "from")
      .Hint(SourceRange({file_.exprs[id].range.begin.file, file_.exprs[id].range.end},
                        file_.exprs[id].range.end),
            subspan ? ".at(…)" : ".from(…)");
  return false;
}

std::optional<Value> Checker::TileOf(ast::ExprId id, std::string_view what) {
  const Value& value = Check(id);
  if (value.is_error()) return std::nullopt;
  std::optional<Value> tile = AsTile(value);
  if (!tile) {
    diag::Builder builder =
        Report(diag::kinds::NotATile, file_.exprs[id].range, what, Describe(value.type));
    if (value.type.kind == TypeKind::TileArray)
      builder.Note({}, "one tile of an array is `name[i]`");
    return std::nullopt;
  }
  return NeedClosed(id, *tile) ? tile : std::nullopt;
}

Value Checker::CheckMember(ast::ExprId id, const ast::Member& node) {
  const Value& base = Check(node.base);
  if (base.is_error()) return ErrorValue();
  const TypeKind kind = base.type.kind;
  if (node.name.text == "data") {
    if (kind == TypeKind::DataFuture) return *AsTile(base);
    Report(diag::kinds::NoData, file_.exprs[id].range, Describe(base.type));
    return ErrorValue();
  }
  if (node.name.text == "span") {
    if (kind != TypeKind::View && kind != TypeKind::DataFuture && kind != TypeKind::Fragment &&
        kind != TypeKind::TileArray) {
      Report(diag::kinds::NotATile, file_.exprs[node.base].range, "`.span`", Describe(base.type));
      return ErrorValue();
    }
    Value shape;
    shape.type.kind = TypeKind::Shape;
    shape.type.extents = base.type.extents;
    shape.root = base.root;
    for (const Extent& extent : base.type.extents) shape.elements.push_back(IntegerOf(extent));
    return shape;
  }
  diag::Builder builder =
      Report(diag::kinds::UnknownMember, node.name.range, node.name.text, Describe(base.type));
  if (std::find(kMembers.begin(), kMembers.end(), node.name.text) != kMembers.end()) {
    builder.Note({}, fmt::format("it takes arguments: `.{}(…)`", node.name.text));
  } else {
    Suggest(builder, node.name.range, node.name.text, {kMembers.begin(), kMembers.end()});
  }
  return ErrorValue();
}

Value Checker::CheckMethod(ast::ExprId id, const ast::MethodCall& node) {
  const std::string& name = node.name.text;
  if (name == "at") return CheckAt(id, node);
  if (name == "step") return CheckStep(id, node);
  if (name == "from") return CheckFrom(id, node);
  const Value& base = Check(node.base);
  if (base.is_error()) {
    for (const ast::ExprId arg : node.args) Check(arg);
    return ErrorValue();
  }
  if (name.empty()) return CheckSpanElement(id, node, base);
  if (name == "span") {
    const TypeKind kind = base.type.kind;
    if (kind == TypeKind::View || kind == TypeKind::DataFuture || kind == TypeKind::Fragment ||
        kind == TypeKind::TileArray) {
      Value shape;
      shape.type.kind = TypeKind::Shape;
      shape.type.extents = base.type.extents;
      for (const Extent& extent : base.type.extents) shape.elements.push_back(IntegerOf(extent));
      return CheckSpanElement(id, node, shape);
    }
  }
  const bool known = name == "subspan" || name == "view" || name == "chunkat" ||
                     name == "span_as" || name == "sqz";
  if (!known && name != "span") {
    for (const ast::ExprId arg : node.args) Check(arg);
    diag::Builder builder =
        Report(diag::kinds::UnknownMember, node.name.range, name, Describe(base.type));
    Suggest(builder, node.name.range, name, {kMembers.begin(), kMembers.end()});
    return ErrorValue();
  }
  const std::optional<Value> tile = AsTile(base);
  if (!tile) {
    for (const ast::ExprId arg : node.args) Check(arg);
    diag::Builder builder = Report(diag::kinds::NotATile, file_.exprs[node.base].range,
                                   fmt::format("`.{}`", name), Describe(base.type));
    if (base.type.kind == TypeKind::TileArray)
      builder.Note({}, "one tile of an array is `name[i]`");
    return ErrorValue();
  }
  if (!NeedClosed(node.base, *tile)) return ErrorValue();
  if (name == "subspan") return CheckSubspan(id, node, *tile);
  if (name == "view") return CheckWindow(id, node, *tile);
  if (name == "chunkat") return CheckChunkAt(id, node, *tile);
  if (name == "span_as") return CheckSpanAs(id, node, *tile);
  return CheckSqueeze(id, node, *tile);
}

Value Checker::CheckSubspan(ast::ExprId, const ast::MethodCall& node, const Value& base) {
  const std::vector<Argument> args = Arguments(node.args);
  if (!NeedRank(node.name.range, "`.subspan`", args.size(), base.type.extents.size())) {
    return ErrorValue();
  }
  Value tile = base;
  tile.open = Value::Open::Subspan;
  bool one_row = true;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].value.is_error()) return ErrorValue();
    Extent& extent = tile.type.extents[i];
    const Extent whole = extent;
    if (args[i].value.type.kind != TypeKind::Wildcard) {
      if (!NeedInteger(args[i].expr, args[i].value, "an extent of `.subspan`")) return ErrorValue();
      extent = ExtentOf(args[i].value);
      const SourceRange range = file_.exprs[args[i].expr].range;
      if (extent.value && !NeedExtent(range, "an extent of `.subspan`", *extent.value)) {
        return ErrorValue();
      }
      if (extent.value && whole.value && *extent.value > *whole.value) {
        Report(diag::kinds::TileTooLarge, range, *extent.value, *whole.value, i);
        return ErrorValue();
      }
    }
    if (!one_row && extent.value && whole.value && *extent.value < *whole.value) {
      tile.scattered = true;
    }
    one_row = one_row && IsOne(extent);
  }
  if (one_row) tile.scattered = false;
  return tile;
}

Value Checker::CheckStep(ast::ExprId id, const ast::MethodCall& node) {
  const Value& base = Check(node.base);
  const std::vector<Argument> args = Arguments(node.args);
  if (base.is_error()) return ErrorValue();
  const auto* subspan = file_.As<ast::MethodCall>(node.base);
  if (base.open != Value::Open::Subspan || !subspan || subspan->name.text != "subspan") {
    Report(diag::kinds::StepOrder, file_.exprs[id].range, "step", "subspan");
    return ErrorValue();
  }
  if (!NeedRank(node.name.range, "`.step`", args.size(), base.type.extents.size())) {
    return ErrorValue();
  }
  for (const Argument& arg : args) {
    if (!NeedInteger(arg.expr, arg.value, "a spacing of `.step`")) return ErrorValue();
    if (arg.value.constant &&
        !NeedExtent(file_.exprs[arg.expr].range, "a spacing of `.step`", *arg.value.constant)) {
      return ErrorValue();
    }
  }
  return base;
}

Value Checker::CheckWindow(ast::ExprId, const ast::MethodCall& node, const Value& base) {
  const std::vector<Argument> extents = Arguments(node.args);
  const std::vector<Argument> strides = Arguments(node.strides);
  Value window = base;
  window.open = Value::Open::Window;
  window.type.extents.clear();
  for (const Argument& arg : extents) {
    if (!NeedInteger(arg.expr, arg.value, "an extent of `.view`")) return ErrorValue();
    window.type.extents.push_back(ExtentOf(arg.value));
    if (arg.value.constant &&
        !NeedExtent(file_.exprs[arg.expr].range, "an extent of `.view`", *arg.value.constant)) {
      return ErrorValue();
    }
  }
  for (const Argument& arg : strides) {
    if (!NeedInteger(arg.expr, arg.value, "a stride of `.view`")) return ErrorValue();
  }
  if (strides.empty()) {
    if (!NeedRank(node.name.range, "`.view`", extents.size(), base.type.extents.size())) {
      return ErrorValue();
    }
    for (size_t i = 0; i < extents.size(); ++i) {
      const Extent &own = window.type.extents[i], &whole = base.type.extents[i];
      if (own.value && whole.value && *own.value > *whole.value) {
        Report(diag::kinds::TileTooLarge, file_.exprs[extents[i].expr].range, *own.value,
               *whole.value, i);
        return ErrorValue();
      }
      if (i > 0 && own.value && whole.value && *own.value < *whole.value) window.scattered = true;
    }
  } else {
    if (!NeedRank(node.name.range, "the strides of `.view`", strides.size(), extents.size())) {
      return ErrorValue();
    }
    window.scattered = true;
  }
  return window;
}

Value Checker::CheckFrom(ast::ExprId id, const ast::MethodCall& node) {
  const Value base = Check(node.base);
  const std::vector<Argument> args = Arguments(node.args);
  if (base.is_error()) return ErrorValue();
  const auto* window = file_.As<ast::MethodCall>(node.base);
  if (base.open != Value::Open::Window || !window || window->name.text != "view") {
    Report(diag::kinds::StepOrder, file_.exprs[id].range, "from", "view");
    return ErrorValue();
  }
  const Value& tensor = values_[window->base.value];
  if (!NeedRank(node.name.range, "`.from`", args.size(), tensor.type.extents.size())) {
    return ErrorValue();
  }
  bool failed = false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!NeedInteger(args[i].expr, args[i].value, "an offset of `.from`")) {
      failed = true;
    } else if (!window->strides.empty()) {
      continue;
    } else if (tensor.type.storage == ast::StorageClass::Global) {
      CheckWindowBounds(args[i].expr, i, args[i].value, base.type.extents[i],
                        tensor.type.extents[i]);
    } else {
      CheckTileBounds(args[i].expr, i, args[i].value, base.type.extents[i], tensor.type.extents[i],
                      false);
    }
  }
  if (failed) return ErrorValue();
  Value tile = base;
  tile.open = Value::Open::No;
  return tile;
}

Value Checker::CheckChunkAt(ast::ExprId, const ast::MethodCall& node, const Value& base) {
  const std::vector<Argument> args = Arguments(node.args);
  if (!NeedRank(node.name.range, "`.chunkat`", args.size(), base.type.extents.size())) {
    return ErrorValue();
  }
  Value tile = base;
  for (size_t i = 0; i < args.size(); ++i) {
    const Value& arg = args[i].value;
    if (arg.is_error()) return ErrorValue();
    if (arg.type.kind == TypeKind::Wildcard) continue;
    const SourceRange range = file_.exprs[args[i].expr].range;
    if (arg.type.kind != TypeKind::Bounded || !arg.type.bound) {
      Report(diag::kinds::ChunkNeedsBound, range, Spelled(args[i].expr), Describe(arg.type));
      return ErrorValue();
    }
    Extent& extent = tile.type.extents[i];
    const auto whole = PolyOf(extent), parts = PolyOf(*arg.type.bound);
    if (!whole || !parts) return ErrorValue();
    std::optional<Poly> chunk = DivideExactly(*whole, *parts);
    if (!chunk && !extent.value && arg.type.bound->value &&
        syms_.KnownMultiple(*whole, *arg.type.bound->value)) {
      chunk = Opaque(fmt::format("(({}) / ({}))", extent.text, arg.type.bound->text), whole, parts,
                     0, {});
    }
    if (!chunk) {
      diag::Builder builder =
          Report(diag::kinds::ChunkDoesNotDivide, range, extent.text, arg.type.bound->text, i);
      if (!extent.value) {
        builder.Note({}, fmt::format("state before `parallel` that it does: `assert({} % {} == 0, "
                                     "\"…\");`",
                                     extent.text, arg.type.bound->text));
      }
      return ErrorValue();
    }
    if (i > 0 && arg.type.bound->value != 1) tile.scattered = true;
    extent = ExtentOf(*chunk);
  }
  return tile;
}

Value Checker::CheckSpanAs(ast::ExprId id, const ast::MethodCall& node, const Value& base) {
  const std::vector<Argument> args = Arguments(node.args);
  Value view = base;
  view.type.extents.clear();
  std::optional<Poly> have = Poly::Constant(1), want = Poly::Constant(1);
  for (const Argument& arg : args) {
    if (!NeedInteger(arg.expr, arg.value, "an extent of `.span_as`")) return ErrorValue();
    view.type.extents.push_back(ExtentOf(arg.value));
    const auto factor = PolyOf(view.type.extents.back());
    want = want && factor ? Mul(*want, *factor) : std::nullopt;
  }
  if (args.empty()) {
    NeedRank(node.name.range, "`.span_as`", 0, 1);
    return ErrorValue();
  }
  for (const Extent& extent : base.type.extents) {
    const auto factor = PolyOf(extent);
    have = have && factor ? Mul(*have, *factor) : std::nullopt;
  }
  const SourceRange range = file_.exprs[id].range;
  if (!have || !want || !syms_.KnownEqual(*have, *want)) {
    Report(diag::kinds::SpanAsSize, range, ShapeText(view.type.extents),
           want ? syms_.Text(*want) : "?", ShapeText(base.type.extents),
           have ? syms_.Text(*have) : "?");
    return ErrorValue();
  }
  if (base.scattered) {
    Report(diag::kinds::SpanAsScattered, range, Spelled(node.base));
    return ErrorValue();
  }
  return view;
}

Value Checker::CheckSqueeze(ast::ExprId id, const ast::MethodCall& node, const Value& base) {
  if (!node.args.empty()) {
    for (const ast::ExprId arg : node.args) Check(arg);
    Report(diag::kinds::ArgumentCount, file_.exprs[id].range, ".sqz", 0, node.args.size());
    return ErrorValue();
  }
  Value view = base;
  std::erase_if(view.type.extents, IsOne);
  if (view.type.extents.empty()) view.type.extents.push_back(ExtentOf(1));
  return view;
}

}  // namespace choreo::sema
