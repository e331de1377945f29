// The tiles of data futures. `f.data` is the tile of the operation that f holds. A future that is
// bound once names it; of one that takes other operations, in loops and branches or by `f = g`, the
// slot and the offsets are kept in variables that go with the future, wherever the text alone does
// not say which operation it holds.
#include <algorithm>
#include <array>

#include "lower/context.h"
#include "sema/walk.h"

namespace choreo::lower {
namespace {

// The parts of a view that may differ from one operation of a future to the next.
std::vector<ir::ExprId*> PlaceOf(ir::View& view) {
  std::vector<ir::ExprId*> parts{&view.slot, &view.base_offset};
  for (ir::ExprId& start : view.start) parts.push_back(&start);
  return parts;
}

}  // namespace

// The data futures that take another operation, or another future's, in a statement or below.
void Lowering::FindRebound(ast::StmtId id, std::vector<sema::EntityId>& rebound) const {
  const auto kind = in_.sema.assigns.find(id);
  if (kind != in_.sema.assigns.end() && kind->second == sema::AssignKind::RebindFuture) {
    const sema::EntityId entity = in_.sema.refs.at(in_.file.As<ast::Assign>(id)->target);
    if (Ent(entity).type.kind == sema::TypeKind::DataFuture) rebound.push_back(entity);
  }
  sema::ForEachInner(in_.file.stmts[id].node,
                     [&](ast::StmtId inner) { FindRebound(inner, rebound); });
}

void Lowering::WatchFutures(ast::StmtId body) {
  std::vector<sema::EntityId> rebound;
  FindRebound(body, rebound);
  for (const sema::EntityId entity : rebound) future_tiles_[entity];
}

// Control flow that rebinds futures begins or ends here: which operation they hold depends on it.
void Lowering::Unsettle(std::initializer_list<ast::StmtId> regions) {
  std::vector<sema::EntityId> rebound;
  for (const ast::StmtId region : regions) {
    if (region.valid()) FindRebound(region, rebound);
  }
  for (const sema::EntityId entity : rebound) {
    FutureTile& tile = future_tiles_.at(entity);
    tile.settled = !tile.place;  // one that is declared further inside
  }
}

bool Lowering::SameButPlace(const ir::View& place, const ir::View& view) const {
  const auto same = [&](ir::ExprId a, ir::ExprId b) {
    return a.valid() == b.valid() && (!a || build_.Same(a, b));
  };
  ir::View a = place, b = view;
  if (a.storage != b.storage || a.axes.size() != b.axes.size() ||
      !std::equal(a.base_extents.begin(), a.base_extents.end(), b.base_extents.begin(),
                  b.base_extents.end(), same)) {
    return false;
  }
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i].base_axis != b.axes[i].base_axis || !same(a.axes[i].extent, b.axes[i].extent) ||
        !same(a.axes[i].step, b.axes[i].step)) {
      return false;
    }
  }
  const std::vector<ir::ExprId*> parts = PlaceOf(a), others = PlaceOf(b);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool kept =
        *parts[i] && std::holds_alternative<ir::VarRef>(kernel_.exprs[*parts[i]].node);
    if (kept ? !*others[i] : !same(*parts[i], *others[i])) return false;
  }
  return true;
}

// Whether a part is the same in any window of these extents: the only slot, the start of a whole
// axis.
bool Lowering::IsFixed(const ir::View& view, size_t part) const {
  if (part == 0) return kernel_.storages[view.storage].array_size <= 1;
  if (part == 1) return false;
  const auto base = static_cast<int32_t>(part - 2);
  const auto axis = std::find_if(view.axes.begin(), view.axes.end(),
                                 [&](const auto& a) { return a.base_axis == base; });
  const ir::ExprId whole = view.base_extents[part - 2];
  const std::optional<int64_t> extent =
      axis == view.axes.end() ? std::optional<int64_t>(1) : build_.AsInt(axis->extent);
  return build_.AsInt(view.start[part - 2]) == 0 && extent && extent == build_.AsInt(whole);
}

// What turned out to be one constant everywhere is one: an MMA wants to know it.
void Lowering::SettlePlaces() {
  for (const auto& [var, values] : places_) {
    const auto value = build_.AsInt(values[0]);
    const bool same = value && std::all_of(values.begin(), values.end(),
                                           [&](ir::ExprId e) { return build_.AsInt(e) == value; });
    if (!same) continue;
    for (size_t i = 0; i < kernel_.exprs.size(); ++i) {
      ir::Expr& expr = kernel_.exprs[kernel_.exprs.IdAt(i)];
      const auto* ref = std::get_if<ir::VarRef>(&expr.node);
      if (ref != nullptr && ref->var == var) expr.node = ir::IntConst{*value};
    }
  }
}

// `entity` now stands for `view`, whose parts are frozen.
void Lowering::BindTile(sema::EntityId entity, ir::View view) {
  bindings_[entity] = view;
  const auto it = future_tiles_.find(entity);
  if (it == future_tiles_.end()) return;
  FutureTile& tile = it->second;
  tile.settled = true;
  if (tile.place && !SameButPlace(*tile.place, view)) {
    if (!tile.other) tile.other = loc_range_;
    return;
  }
  const bool first = !tile.place;
  if (first) tile.place = view;
  constexpr std::array kNames = {"slot", "offset"};
  const std::vector<ir::ExprId*> kept = PlaceOf(*tile.place), values = PlaceOf(view);
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!*kept[i]) continue;
    if (first) {
      if (IsFixed(view, i)) continue;
      const std::string name =
          fmt::format("{}_{}", Ent(entity).name, i < kNames.size() ? kNames[i] : "start");
      const ir::VarId var =
          build_.NewVar(name, kernel_.exprs[*values[i]].type, ir::VarKind::Mutable, loc_);
      Emit(ir::VarDecl{var, *values[i]});
      *kept[i] = build_.Var(var);
      places_[var].push_back(*values[i]);
    } else if (const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[*kept[i]].node)) {
      const ir::VarId var = ref->var;
      const ir::ExprId value = Convert(*values[i], kernel_.vars[var].type);
      Emit(ir::Assign{var, value});
      places_[var].push_back(value);
    }
  }
}

ir::View Lowering::TileOfFuture(sema::EntityId entity) const {
  const auto it = future_tiles_.find(entity);
  if (it != future_tiles_.end() && !it->second.settled) return *it->second.place;
  return std::get<ir::View>(bindings_.at(entity));
}

// Where control flow decides which operation the future holds, it must be one tile, or one array of
// them, whichever it is.
void Lowering::CheckFutureTiles() {
  SettlePlaces();
  for (const sema::EntityId entity : unsettled_uses_) {
    // What was moved into it counts as well.
    std::vector<sema::EntityId> reached{entity};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const sema::EntityId from : future_tiles_.at(reached[i]).sources) {
        if (std::find(reached.begin(), reached.end(), from) == reached.end()) {
          reached.push_back(from);
        }
      }
    }
    const auto mixed = std::find_if(reached.begin(), reached.end(), [&](sema::EntityId e) {
      return future_tiles_.at(e).other.has_value();
    });
    if (mixed == reached.end()) continue;
    in_.diags
        .Emit(diag::kinds::DataOfSeveralTiles, *future_tiles_.at(entity).used, Ent(entity).name)
        .Note(*future_tiles_.at(*mixed).other,
              fmt::format("`{}` takes an operation on another tile here", Ent(*mixed).name));
  }
}

// `entity = from;`: what `from` holds goes to `entity`.
void Lowering::MoveFuture(sema::EntityId entity, sema::EntityId from) {
  if (futures_.contains(from)) Emit(ir::FutureMove{FutureOf(entity), FutureOf(from)});
  if (Ent(entity).type.kind != sema::TypeKind::DataFuture) return;
  const auto source = future_tiles_.find(from);
  const bool settled = source == future_tiles_.end() || source->second.settled;
  BindTile(entity, FreezeView(TileOfFuture(from), Ent(entity).name));
  const auto target = future_tiles_.find(entity);
  if (!settled && target != future_tiles_.end()) target->second.sources.push_back(from);
}

}  // namespace choreo::lower
