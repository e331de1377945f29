// MMAs: accumulators, operands, shapes.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

std::string_view Layout(ast::MmaLayout layout) {
  return layout == ast::MmaLayout::Row ? "row" : "col";
}

}  // namespace

Value Checker::CheckMmaFill(ast::ExprId id, const ast::MmaFill& node) {
  const SourceRange range = file_.exprs[id].range;
  Check(node.value);
  const bool converts = Convert(node.value, node.type, "the accumulator");
  if (node.type != Elem::kF32) {
    Report(diag::kinds::AccumulatorType, range, Spelling(node.type));
    return ErrorValue();
  }
  if (!InWarpgroup()) {
    Report(diag::kinds::OutsideWarpgroup, range, "an accumulator");
    return ErrorValue();
  }
  if (!converts) return ErrorValue();
  Value value;
  value.type.kind = TypeKind::Fragment;
  value.type.elem = Elem::kF32;
  value.type.storage = ast::StorageClass::Frag;
  return value;
}

// The accumulator's entity, if the operand is one: made by `mma.fill`, or a declared f32 fragment.
std::optional<EntityId> Checker::CheckAccumulator(ast::ExprId id) {
  const Value value = Check(id);
  const auto entity = EntityOf(id);
  if (entity) {
    const EntityKind kind = result_.entities[*entity].kind;
    const bool fragment = value.type.kind == TypeKind::Fragment && value.type.rank() == 2 &&
                          value.type.elem == Elem::kF32;
    if (kind == EntityKind::Accumulator) return entity;
    if (kind == EntityKind::Storage && fragment) return entity;
  }
  if (value.is_error()) return std::nullopt;
  Report(diag::kinds::NotAnAccumulator, file_.exprs[id].range, Spelled(id), Describe(value.type));
  return std::nullopt;
}

// A: a shared tile or a fragment of 16-bit elements, 64 rows.
std::optional<Type> Checker::CheckOperandA(ast::ExprId id) {
  const Value value = Check(id);
  const SourceRange range = file_.exprs[id].range;
  if (value.is_error()) return std::nullopt;
  std::optional<Value> tile = value.type.kind == TypeKind::Fragment ? value : AsTile(value);
  if (tile && !NeedClosed(id, *tile)) return std::nullopt;
  const bool shared =
      tile && tile->type.kind == TypeKind::View && tile->type.storage == ast::StorageClass::Shared;
  const bool fragment = tile && tile->type.kind == TypeKind::Fragment;
  if (!shared && !fragment) {
    diag::Builder builder = Report(diag::kinds::MmaOperand, range, "A", Describe(value.type),
                                   "a shared tile or a fragment of 16-bit elements");
    if (tile && tile->type.storage == ast::StorageClass::Global) {
      builder.Note({}, "copy it first: `a_s = dma.copy … => shared;`");
    }
    return std::nullopt;
  }
  const Type& type = tile->type;
  if (!IsHalf(type.elem)) {
    diag::Builder builder = Report(diag::kinds::MmaElement, range, "A", Describe(type));
    if (fragment) {
      builder.Note({},
                   "convert it element by element: `apply {i, j} in x.span x.at(i, j) = "
                   "__to<bf16>(acc.at(i, j));`");
    }
    return std::nullopt;
  }
  if (type.rank() != 2) {
    NeedRank(range, "operand A", type.rank(), 2);
    return std::nullopt;
  }
  if (type.extents[0].value != 64) {
    if (const auto entity = EntityOf(id)) odd_loads_.erase(*entity);
    Report(diag::kinds::MmaRows, range, type.extents[0].text)
        .Note({}, "take this warpgroup's rows: `.chunkat(wgm, _)` or `.subspan(64, _).at(wgm, 0)`");
    return std::nullopt;
  }
  return type;
}

std::optional<Type> Checker::CheckOperandB(ast::ExprId id) {
  const Value value = Check(id);
  const SourceRange range = file_.exprs[id].range;
  if (value.is_error()) return std::nullopt;
  if (value.type.kind == TypeKind::Fragment) {
    const auto entity = EntityOf(id);
    const auto load = entity ? loaded_from_.find(*entity) : loaded_from_.end();
    if (load == loaded_from_.end()) {
      Report(diag::kinds::MmaOperand, range, "B", Describe(value.type), "a shared tile");
      return std::nullopt;
    }
    odd_loads_.erase(*entity);
    diag::Builder builder = Report(diag::kinds::MmaLoadedB, range, Spelled(id));
    if (SpelledInPlace(load->second)) {
      builder.Fix(range, std::string(sources_.Text(file_.exprs[load->second].range)));
    }
    return std::nullopt;
  }
  const std::optional<Value> tile = AsTile(value);
  if (tile && !NeedClosed(id, *tile)) return std::nullopt;
  if (!tile || tile->type.storage != ast::StorageClass::Shared) {
    diag::Builder builder =
        Report(diag::kinds::MmaOperand, range, "B", Describe(value.type), "a shared tile");
    if (tile && tile->type.storage == ast::StorageClass::Global) {
      builder.Note({}, "copy it first: `b_s = dma.copy … => shared;`");
    }
    return std::nullopt;
  }
  if (!IsHalf(tile->type.elem)) {
    Report(diag::kinds::MmaElement, range, "B", Describe(tile->type));
    return std::nullopt;
  }
  if (tile->type.rank() != 2) {
    NeedRank(range, "operand B", tile->type.rank(), 2);
    return std::nullopt;
  }
  return tile->type;
}

bool Checker::CheckMmaShape(ast::ExprId id, const ast::Mma& node, const Type& a, const Type& b,
                            int64_t* n) {
  const SourceRange range = file_.exprs[id].range;
  const SourceRange b_range = file_.exprs[node.b].range;
  if (a.elem != b.elem) {
    Report(diag::kinds::MmaElementsDiffer, b_range, Spelling(a.elem), Spelling(b.elem));
    return false;
  }
  const bool row = node.b_layout == ast::MmaLayout::Row;
  const Extent &a_k = a.extents[1], &b_k = b.extents[row ? 1 : 0], &b_n = b.extents[row ? 0 : 1];
  if (!SameExtent(a_k, b_k)) {
    diag::Builder builder = Report(diag::kinds::MmaDepth, b_range, a_k.text, b_k.text,
                                   row ? "[N, K]" : "[K, N]", row ? "row.row" : "row.col");
    if (SameExtent(a_k, b_n)) {
      builder.Note({}, fmt::format("with B stored {} the MMA is `mma.row.{}`",
                                   row ? "[K, N]" : "[N, K]", row ? "col" : "row"));
    }
    return false;
  }
  if (!a_k.value || *a_k.value % 16 != 0) {
    Report(diag::kinds::MmaDepthMultiple, file_.exprs[node.a].range, a_k.text);
    return false;
  }
  if (!b_n.value || *b_n.value % 8 != 0 || *b_n.value > 256) {
    Report(diag::kinds::MmaColumns, b_range, b_n.text);
    return false;
  }
  (void)range;
  *n = *b_n.value;
  return true;
}

void Checker::NoteAccumulatorShape(EntityId acc, int64_t n, SourceRange range) {
  const auto fill = fills_.find(acc);
  if (fill == fills_.end()) return;
  AccumulatorShape& shape = shapes_[fill->second];
  if (!shape.extents.empty()) return;
  shape = {{ExtentOf(64), ExtentOf(n)}, range};
  shapes_changed_ = true;
}

Value Checker::CheckMma(ast::ExprId id, const ast::Mma& node) {
  const SourceRange range = file_.exprs[id].range;
  Value value;
  value.type.kind = node.async ? TypeKind::OpFuture : TypeKind::Void;
  const auto acc = CheckAccumulator(node.acc);
  if (acc && fills_.contains(*acc)) shapes_.try_emplace(fills_[*acc]);  // an MMA names it
  const auto a = CheckOperandA(node.a);
  const auto b = CheckOperandB(node.b);
  if (node.a_layout != ast::MmaLayout::Row) {
    Report(diag::kinds::MmaLayoutOfA, range, Layout(node.b_layout));
    return value;
  }
  if (!InWarpgroup()) {
    Report(diag::kinds::OutsideWarpgroup, range, "an MMA");
    return value;
  }
  int64_t n = 0;
  if (!acc || !a || !b || !CheckMmaShape(id, node, *a, *b, &n)) return value;
  NoteAccumulatorShape(*acc, n, range);
  const Entity& entity = result_.entities[*acc];
  if (entity.type.kind != TypeKind::Fragment || entity.type.extents[1].value == n) return value;
  diag::Builder builder =
      Report(diag::kinds::AccumulatorShapes, range, entity.name, ShapeText(entity.type.extents), n);
  const auto fill = fills_.find(*acc);
  if (fill != fills_.end()) {
    builder.Note(shapes_[fill->second].mma, "this MMA on it decides the shape");
  } else {
    builder.Note(entity.declared, "it is declared here");
  }
  return value;
}

// mma.load: a register operand A.
Value Checker::CheckMmaLoad(ast::ExprId id, const ast::MmaLoad& node) {
  const SourceRange range = file_.exprs[id].range;
  const auto tile = TileOf(node.source, "`mma.load`");
  if (!tile) return ErrorValue();
  if (tile->type.storage != ast::StorageClass::Shared || !IsHalf(tile->type.elem)) {
    Report(diag::kinds::MmaOperand, file_.exprs[node.source].range, "`mma.load`",
           Describe(tile->type), "a shared tile of 16-bit elements");
    return ErrorValue();
  }
  if (!NeedRank(range, "the source of `mma.load`", tile->type.rank(), 2)) return ErrorValue();
  if (!InWarpgroup()) {
    Report(diag::kinds::OutsideWarpgroup, range, "`mma.load`");
    return ErrorValue();
  }
  if (node.swizzle) NoteSwizzle(*tile, *node.swizzle, range);
  Value value;
  value.type = tile->type;
  value.type.kind = TypeKind::Fragment;
  value.type.storage = ast::StorageClass::Frag;
  return value;
}

void Checker::CheckMmaStore(ast::StmtId id, const ast::MmaStore& node) {
  const auto acc = NeedFragment(node.acc, 2, "`mma.store`");
  const auto tile = TileOf(node.tile, "the destination of `mma.store`");
  if (!acc || !tile) return;
  const Type& from = values_[node.acc.value].type;
  const SourceRange range = file_.exprs[node.tile].range;
  if (tile->type.storage == ast::StorageClass::Local) {
    Report(diag::kinds::MmaOperand, range, "`mma.store`", Describe(tile->type),
           "a shared or global tile");
    return;
  }
  if (!InWarpgroup()) {
    Report(diag::kinds::OutsideWarpgroup, file_.stmts[id].range, "`mma.store`");
    return;
  }
  MarkWritten(*tile);
  if (!SameShape(range, "`mma.store`", from, tile->type)) return;
  if (IsFloat(from.elem) != IsFloat(tile->type.elem)) {
    Report(diag::kinds::ElementMismatch, range, "`mma.store`", Spelling(from.elem),
           Spelling(tile->type.elem));
  }
}

}  // namespace choreo::sema
