// Copies: dma.copy, tma.load, tma.copy, and the swizzle of the shared tiles they fill.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

// What `trigger` names for an event in the old spelling. The index of a ring was a slot; a trigger
// takes the order, which only its author knows.
std::string TriggeredEvent(std::string_view text) {
  const size_t index = text.find('[');
  return index == std::string_view::npos ? std::string(text)
                                         : fmt::format("{}.at(order)", text.substr(0, index));
}

}  // namespace

bool Checker::SameShape(SourceRange range, std::string_view what, const Type& a, const Type& b) {
  if (a.rank() != b.rank()) {
    diag::Builder builder =
        Report(diag::kinds::ShapeMismatch, range, what, ShapeText(a.extents), ShapeText(b.extents));
    builder.Note({}, "`.sqz()` drops axes of extent 1");
    return false;
  }
  if (SameExtents(a.extents, b.extents)) return true;
  Report(diag::kinds::ShapeMismatch, range, what, ShapeText(a.extents), ShapeText(b.extents));
  return false;
}

// Accesses of one tile that name a swizzle name the same, and its rows are whole swizzle units.
void Checker::NoteSwizzle(const Value& tile, int width, SourceRange range) {
  if (!tile.root.valid()) return;
  const Entity& root = result_.entities[tile.root];
  if (root.type.extents.empty() || !root.type.extents.back().value) return;
  const auto [it, is_new] = swizzles_.try_emplace(tile.root, SwizzleUse{width, range});
  if (!is_new) {
    if (it->second.width == width) return;
    Report(diag::kinds::SwizzleDisagrees, range, root.name, width, it->second.width)
        .Note(it->second.range, "the other access is here");
    return;
  }
  const int64_t bytes = *root.type.extents.back().value * Bytes(root.type.elem);
  if (bytes % width == 0) return;
  std::string fitting;
  for (const int other : {128, 64, 32}) {
    if (bytes % other == 0) fitting += fmt::format("{}{}", fitting.empty() ? "" : ", ", other);
  }
  Report(diag::kinds::SwizzleWidth, range, width, Describe(root.type), bytes,
         fitting.empty() ? "none fits; leave `.swiz` out" : fmt::format("what fits: {}", fitting));
}

// The tile that a copy fills, after both sides were checked. Anonymous tiles have no root yet.
Value Checker::CheckCopyOperands(ast::ExprId id, ast::ExprId source, const ast::CopyTarget& target,
                                 std::optional<int> swizzle, std::string_view op) {
  const SourceRange range = file_.exprs[id].range;
  const auto from = TileOf(source, fmt::format("the source of `{}`", op));
  std::optional<Value> to;
  if (target.anonymous) {
    if (!from) return ErrorValue();
    to = *from;
    to->root = EntityId();
    to->scattered = false;
    to->type.storage = *target.anonymous;
    for (const Extent& extent : from->type.extents) {
      if (extent.value) continue;
      Report(diag::kinds::NotConstant, target.range, "an extent of an anonymous tile",
             fmt::format("`{}`", extent.text));
      return ErrorValue();
    }
  } else if (target.view.valid()) {
    to = TileOf(target.view, fmt::format("the destination of `{}`", op));
  }
  if (!from || !to) return ErrorValue();
  if (!target.anonymous) {
    MarkWritten(*to);
    if (from->type.elem != to->type.elem) {
      Report(diag::kinds::ElementMismatch, range, fmt::format("`{}`", op),
             Spelling(from->type.elem), Spelling(to->type.elem));
      return *to;
    }
    if (!SameShape(range, fmt::format("`{}`", op), from->type, to->type)) return *to;
  }
  if (!swizzle) return *to;
  const bool to_shared = to->type.storage == ast::StorageClass::Shared;
  if (!to_shared && from->type.storage != ast::StorageClass::Shared) {
    Report(diag::kinds::SwizzleWithoutShared, range, *swizzle);
  } else {
    NoteSwizzle(to_shared ? *to : *from, *swizzle, range);
  }
  return *to;
}

Value Checker::CheckDmaCopy(ast::ExprId id, const ast::DmaCopy& node) {
  Value tile = CheckCopyOperands(id, node.source, node.target, node.swizzle, "dma.copy");
  if (tile.is_error()) return tile;
  tile.type.kind = TypeKind::DataFuture;
  return tile;
}

// tma.copy.async<event>: the load and its event are two statements now.
void Checker::ReportInlineEvent(ast::ExprId id, const ast::TmaCopy& node) {
  const ast::Name& event = *node.inline_event;
  diag::Builder builder = Report(diag::kinds::TmaInlineEvent, event.range, event.text);
  const auto* statement = file_.As<ast::ExprStmt>(statement_);
  const SourceRange range = file_.exprs[id].range;
  const std::string text(sources_.Text(range));
  const std::string suffix = fmt::format("<{}>", event.text);
  const size_t op = text.find("copy"), argument = text.find(suffix);
  const size_t arrow = text.find("=>");
  const bool plain = statement && statement->expr == id && text.substr(0, 4) == "tma." &&
                     op != std::string::npos && argument != std::string::npos && argument < arrow &&
                     op < arrow && !node.is_load;
  const auto entity = scopes_.Find(event.text);
  const bool scalar_event = entity && result_.entities[*entity].type.kind == TypeKind::Event &&
                            !result_.entities[*entity].type.array_size;
  if (!plain || !scalar_event) {
    builder.Hint(range, fmt::format("load = tma.load.async …; trigger {} after load",
                                    TriggeredEvent(event.text)));
    return;
  }
  std::string fixed = text;
  fixed.erase(argument, suffix.size());
  fixed.replace(fixed.find("copy"), 4, "load");
  const std::string future = fmt::format("{}_load", event.text);
  builder.Fix(range,
              fmt::format("{} = {};\n    trigger {} after {}", future, fixed, event.text, future));
}

Value Checker::CheckTmaCopy(ast::ExprId id, const ast::TmaCopy& node) {
  const std::string_view op = node.is_load ? "tma.load" : "tma.copy";
  const SourceRange range = file_.exprs[id].range;
  const bool synchronous = node.multicast && cluster_ != 0 && !node.async;
  if (node.multicast && cluster_ == 0) {
    Report(diag::kinds::NeedsCluster, *node.multicast, "a multicast load");
  } else if (synchronous) {
    Report(diag::kinds::MulticastAsync, *node.multicast);
  }
  Value tile = CheckCopyOperands(id, node.source, node.target, node.swizzle, op);
  if (tile.is_error()) return tile;
  if (synchronous) return ErrorValue();
  const ast::StorageClass from = values_[node.source.value].type.storage;
  const bool loads =
      from == ast::StorageClass::Global && tile.type.storage == ast::StorageClass::Shared;
  const bool stores =
      from == ast::StorageClass::Shared && tile.type.storage == ast::StorageClass::Global;
  if (node.inline_event) {
    ReportInlineEvent(id, node);
    return ErrorValue();
  }
  if ((node.is_load && !loads) || (!loads && !stores)) {
    Report(diag::kinds::TmaDirection, range, op, Describe(values_[node.source.value].type),
           Describe(tile.type));
    return ErrorValue();
  }
  if (stores) {
    Value none;
    none.type.kind = TypeKind::Void;
    if (!node.async) return none;
    Report(diag::kinds::TmaStoreAsync, range);
    return ErrorValue();
  }
  if (!node.is_load) {
    diag::Builder builder = Report(diag::kinds::TmaCopyLoads, range, node.async ? ".async" : "");
    const std::string_view text = sources_.Text(range);
    const size_t word = text.find("copy");
    if (text.substr(0, 3) == "tma" && word != std::string_view::npos && word < text.find("=>")) {
      const auto begin = range.begin.offset + static_cast<uint32_t>(word);
      builder.Fix(SourceRange({range.begin.file, begin}, begin + 4), "load");
    }
  }
  tile.type.kind = TypeKind::DataFuture;
  return tile;
}

}  // namespace choreo::sema
