// lower-fragments: operations on fragments as unrolled loops over the elements that a lane owns.
// Logical indices become arithmetic on the lane (ir::FragLayout); a branch around one assignment
// becomes a select; 16-bit fragments are written two elements at a time; a row is reduced over its
// four lanes by shuffles; 16-bit tiles are stored by stmatrix where they allow it.
#include <functional>

#include "ir/walk.h"
#include "passes/addressing.h"
#include "passes/fragment.h"
#include "passes/non_negative.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

constexpr int kQuad = 4;       // lanes that share a row
constexpr int kRowPair = 8;    // distance of a lane's two rows
constexpr int kWarpRows = 16;  // rows of a warp

class FragmentLowering {
 public:
  explicit FragmentLowering(ir::Kernel& kernel)
      : kernel_(kernel), build_(kernel), ranges_(kernel), divisors_(kernel) {
    using ir::Intrinsic;
    const auto call = [&](Intrinsic i) { return build_.Call(i, {}); };
    // Where the lane's first element lies in a fragment.
    row_ = build_.NewVar("lane_row", Elem::kS32, ir::VarKind::Let);
    column_ = build_.NewVar("lane_column", Elem::kS32, ir::VarKind::Let);
    rows_ = build_.Add(build_.Mul(build_.Mod(call(Intrinsic::WarpIdx), kQuad), kWarpRows),
                       build_.Div(call(Intrinsic::LaneIdx), kQuad));
    columns_ = build_.Mul(build_.Mod(call(Intrinsic::LaneIdx), kQuad), 2);
  }

  void Run() {
    ir::Region body = Rewrite(kernel_.body);
    const ir::Loc none;
    body.ops.insert(body.ops.begin(),
                    {{none, ir::Let{row_, rows_}}, {none, ir::Let{column_, columns_}}});
    kernel_.body = std::move(body);
  }

 private:
  using Body = std::function<void(ir::ExprId element, ir::Region& out)>;

  ir::Region Rewrite(const ir::Region& region);
  void ForElements(int count, const Body& body, ir::Region& out, ir::Loc loc);
  void Fill(const ir::FragFill& fill, ir::Region& out, ir::Loc loc);
  void Copy(const ir::FragCopy& copy, ir::Region& out, ir::Loc loc);
  ir::ExprId Combine(ir::ReduceKind reduce, ir::ExprId a, ir::ExprId b);
  ir::ExprId Computed(ir::ExprId value);
  void Reduce(const ir::FragReduce& reduce, bool non_negative, ir::Region& out, ir::Loc loc);
  void AllReduce(const ir::FragAllReduce& reduce, ir::Region& out, ir::Loc loc);
  bool StoreMatrices(const ir::MmaStore& store, ir::Region& out, ir::Loc loc);
  void Apply(const ir::Apply& apply, ir::Region& out, ir::Loc loc);
  void Load(const ir::MmaLoad& load, ir::Region& out, ir::Loc loc);
  void Store(const ir::MmaStore& store, ir::Region& out, ir::Loc loc);

  ir::Region ApplyBody(const ir::Apply& apply, ir::ExprId element);
  ir::Region Selects(ir::Region region);
  // `value` in f32 if it is a 16-bit value rounded from f32, else invalid.
  ir::ExprId Unrounded(ir::ExprId value);

  ir::ExprId RowSlot(ir::ExprId element) { return build_.Mod(build_.Div(element, 2), 2); }
  ir::ExprId Row(const ir::Storage& frag, ir::ExprId element) {
    const ir::ExprId slot = frag.layout == ir::FragLayout::Row ? element : RowSlot(element);
    return build_.Add(build_.Var(row_), build_.Mul(slot, kRowPair));
  }
  ir::ExprId Column(ir::ExprId element) {
    return build_.Add(build_.Add(build_.Var(column_), build_.Mul(build_.Div(element, 4), 8)),
                      build_.Mod(element, 2));
  }
  template <class NodeT>
  void Emit(ir::Region& out, ir::Loc loc, NodeT node) {
    out.ops.push_back({loc, std::move(node)});
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  Ranges ranges_;
  Divisors divisors_;
  ir::VarId row_, column_;
  ir::ExprId rows_, columns_;
};

void FragmentLowering::ForElements(int count, const Body& body, ir::Region& out, ir::Loc loc) {
  ir::For loop;
  loop.var = build_.NewVar("e", Elem::kS32, ir::VarKind::Loop, loc, build_.Int(count));
  loop.low = build_.Int(0);
  loop.high = build_.Int(count);
  loop.step = build_.Int(1);
  loop.unroll = -1;
  body(build_.Var(loop.var), loop.body);
  Emit(out, loc, std::move(loop));
}

ir::ExprId FragmentLowering::Unrounded(ir::ExprId value) {
  const ir::Expr& expr = kernel_.exprs[value];
  if (!IsHalf(expr.type)) return {};
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) {
    if (kernel_.exprs[cast->operand].type == Elem::kF32) return cast->operand;
  }
  if (const auto* constant = std::get_if<ir::FloatConst>(&expr.node)) {
    return build_.Float(constant->value, Elem::kF32);
  }
  return {};
}

void FragmentLowering::Fill(const ir::FragFill& fill, ir::Region& out, ir::Loc loc) {
  const ir::Storage frag = kernel_.storages[fill.frag];
  const int count = LaneElements(kernel_, frag);
  if (const ir::ExprId wide = Unrounded(fill.value); wide && count % 2 == 0) {
    ForElements(
        count / 2,
        [&](ir::ExprId w, ir::Region& body) {
          Emit(body, loc, ir::FragPack{fill.frag, w, wide, wide});
        },
        out, loc);
    return;
  }
  ForElements(
      count,
      [&](ir::ExprId e, ir::Region& body) {
        Emit(body, loc, ir::FragSet{fill.frag, {e}, fill.value});
      },
      out, loc);
}

void FragmentLowering::Copy(const ir::FragCopy& copy, ir::Region& out, ir::Loc loc) {
  ForElements(
      LaneElements(kernel_, kernel_.storages[copy.dst]),
      [&](ir::ExprId e, ir::Region& body) {
        Emit(body, loc, ir::FragSet{copy.dst, {e}, build_.FragElem(copy.src, {e})});
      },
      out, loc);
}

ir::ExprId FragmentLowering::Combine(ir::ReduceKind reduce, ir::ExprId a, ir::ExprId b) {
  return reduce == ir::ReduceKind::Max ? build_.Max(a, b) : build_.Add(a, b);
}

// A value in the type that it is computed in.
ir::ExprId FragmentLowering::Computed(ir::ExprId value) {
  return IsHalf(build_.TypeOf(value)) ? build_.Cast(value, Elem::kF32) : value;
}

// `non_negative`: what the row holds before, so that a maximum over it is one of integers.
void FragmentLowering::Reduce(const ir::FragReduce& reduce, bool non_negative, ir::Region& out,
                              ir::Loc loc) {
  const bool max = reduce.reduce == ir::ReduceKind::Max;
  const Elem elem = kernel_.storages[reduce.row].elem;
  const bool bits = max && non_negative && elem == Elem::kF32;
  const auto combine = [&](ir::ExprId a, ir::ExprId b) {
    return bits ? build_.Call(ir::Intrinsic::MaxBits, {a, b}) : Combine(reduce.reduce, a, b);
  };
  if (!max) Fill({reduce.row, build_.Float(0.0, elem)}, out, loc);
  // First what the lane holds itself, then over the row's lanes. Four elements of a row are
  // combined before they meet the row's value: a chain of one value after the other would be four
  // times as long.
  const int count = LaneElements(kernel_, kernel_.storages[reduce.src]);
  const auto source = [&](ir::ExprId e) { return Computed(build_.FragElem(reduce.src, {e})); };
  const auto into_row = [&](ir::ExprId slot, ir::ExprId value, ir::Region& body) {
    const ir::ExprId row = Computed(build_.FragElem(reduce.row, {slot}));
    Emit(body, loc, ir::FragSet{reduce.row, {slot}, build_.Cast(combine(row, value), elem)});
  };
  constexpr int kFour = 4, kTwoRows = 8;  // elements of one row, of the lane's two
  if (count % kTwoRows == 0) {
    ForElements(
        count / kFour,
        [&](ir::ExprId four, ir::Region& body) {
          const ir::ExprId slot = build_.Mod(four, 2);
          const ir::ExprId e =
              build_.Add(build_.Mul(build_.Div(four, 2), kTwoRows), build_.Mul(slot, 2));
          const auto at = [&](int offset) { return source(build_.Add(e, offset)); };
          if (bits) {  // in the order of an instruction that takes the row's value and two more
            ir::ExprId top = build_.FragElem(reduce.row, {slot});
            for (const int offset : {0, 1, 4, 5}) top = combine(top, at(offset));
            Emit(body, loc, ir::FragSet{reduce.row, {slot}, top});
          } else {
            into_row(slot, combine(combine(at(0), at(1)), combine(at(4), at(5))), body);
          }
        },
        out, loc);
  } else {
    ForElements(
        count, [&](ir::ExprId e, ir::Region& body) { into_row(RowSlot(e), source(e), body); }, out,
        loc);
  }
  AllReduce({reduce.reduce, reduce.row}, out, loc);
}

// Over the four lanes of each row, by shuffles.
void FragmentLowering::AllReduce(const ir::FragAllReduce& reduce, ir::Region& out, ir::Loc loc) {
  const Elem elem = kernel_.storages[reduce.row].elem;
  ForElements(
      LaneElements(kernel_, kernel_.storages[reduce.row]),
      [&](ir::ExprId r, ir::Region& body) {
        for (const int distance : {1, 2}) {
          const ir::ExprId mine = Computed(build_.FragElem(reduce.row, {r}));
          const ir::ExprId other =
              build_.Call(ir::Intrinsic::ShflXor, {mine, build_.Int(distance)});
          const ir::ExprId both = Combine(reduce.reduce, mine, other);
          Emit(body, loc, ir::FragSet{reduce.row, {r}, build_.Cast(both, elem)});
        }
      },
      out, loc);
}

// `if (c) f.at(i, j) = v;` computes v or keeps the element: no branch.
ir::Region FragmentLowering::Selects(ir::Region region) {
  for (ir::Op& op : region.ops) {
    auto* branch = std::get_if<ir::If>(&op.node);
    if (branch == nullptr) continue;
    branch->then_body = Selects(std::move(branch->then_body));
    branch->else_body = Selects(std::move(branch->else_body));
    if (branch->then_body.ops.size() != 1 || !branch->else_body.ops.empty()) continue;
    const auto* set = std::get_if<ir::FragSet>(&branch->then_body.ops[0].node);
    if (set == nullptr) continue;
    const ir::ExprId kept = build_.FragElem(set->frag, set->index);
    const ir::ExprId value = build_.Select(branch->condition, set->value, kept);
    op.Become(ir::FragSet{set->frag, set->index, value});
  }
  return region;
}

// The body for one element: fragments by register, logical indices by arithmetic where they are
// values.
ir::Region FragmentLowering::ApplyBody(const ir::Apply& apply, ir::ExprId element) {
  const ir::Storage& frag = kernel_.storages[apply.frag];
  ir::Region body = Selects(apply.body);
  const bool rows_only = frag.layout == ir::FragLayout::Row;
  const auto register_of = [&](ir::StorageId id) {
    const bool row = kernel_.storages[id].layout == ir::FragLayout::Row;
    return row && !rows_only ? RowSlot(element) : element;
  };
  const ir::ExprId i = Row(frag, element);
  const ir::ExprId j = apply.vars.size() > 1 ? Column(element) : ir::ExprId();
  ir::ForEachOp(body, [&](ir::Op& op) {
    if (auto* set = std::get_if<ir::FragSet>(&op.node)) set->index = {register_of(set->frag)};
  });
  ir::ExprRewriter rewrite = [&](ir::ExprId e) -> ir::ExprId {
    const ir::ExprNode& node = kernel_.exprs[e].node;
    if (const auto* access = std::get_if<ir::FragElem>(&node)) {
      const ir::StorageId id = access->frag;
      return build_.FragElem(id, {register_of(id)});
    }
    if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
      if (ref->var == apply.vars[0]) return i;
      if (apply.vars.size() > 1 && ref->var == apply.vars[1]) return j;
    }
    return {};
  };
  ir::RewriteExprs(build_, body, rewrite);
  return body;
}

void FragmentLowering::Apply(const ir::Apply& apply, ir::Region& out, ir::Loc loc) {
  const ir::Storage frag = kernel_.storages[apply.frag];
  const int count = LaneElements(kernel_, frag);
  // One 16-bit element from an f32 value: both of a register at once.
  if (apply.body.ops.size() == 1 && count % 2 == 0 && frag.layout == ir::FragLayout::Accumulator) {
    const auto* set = std::get_if<ir::FragSet>(&apply.body.ops[0].node);
    if (set != nullptr && IsHalf(kernel_.storages[set->frag].elem) &&
        kernel_.storages[set->frag].layout == ir::FragLayout::Accumulator &&
        Unrounded(set->value)) {
      ForElements(
          count / 2,
          [&](ir::ExprId w, ir::Region& body) {
            const ir::ExprId first = build_.Mul(w, 2);
            const auto value = [&](ir::ExprId e) {
              const ir::Region one = ApplyBody(apply, e);
              return Unrounded(std::get<ir::FragSet>(one.ops[0].node).value);
            };
            const ir::ExprId low = value(first);
            const ir::ExprId high = value(build_.Add(first, 1));
            Emit(body, loc, ir::FragPack{set->frag, w, low, high});
          },
          out, loc);
      return;
    }
  }
  ForElements(
      count,
      [&](ir::ExprId e, ir::Region& body) {
        ir::Region lowered = Rewrite(ApplyBody(apply, e));
        const bool stores = [&] {
          bool found = false;
          ir::ForEachOp(lowered, [&](const ir::Op& op) {
            found |= std::holds_alternative<ir::StoreElem>(op.node);
          });
          return found;
        }();
        if (frag.layout == ir::FragLayout::Row && stores) {
          // Four lanes hold the row: the first stores it.
          ir::If owner{build_.Eq(build_.Var(column_), build_.Int(0)), std::move(lowered), {}};
          Emit(body, loc, std::move(owner));
        } else {
          body = std::move(lowered);
        }
      },
      out, loc);
}

// Lanes 8m…8m+7 of ldmatrix name the rows of matrix m: rows 8·(m%2), columns 8·(m/2) of a 16×16
// slice.
void FragmentLowering::Load(const ir::MmaLoad& load, ir::Region& out, ir::Loc loc) {
  const ir::View view = kernel_.views[load.src];
  const ir::Storage frag = kernel_.storages[load.frag];
  const int slices = LaneElements(kernel_, frag) / 8;
  const ir::ExprId lane = build_.Call(ir::Intrinsic::LaneIdx, {});
  const ir::ExprId warp = build_.Mod(build_.Call(ir::Intrinsic::WarpIdx, {}), kQuad);
  const ir::ExprId matrix = build_.Div(lane, 8);
  const ir::ExprId row =
      build_.Add(build_.Mul(warp, kWarpRows),
                 build_.Add(build_.Mul(build_.Mod(matrix, 2), kRowPair), build_.Mod(lane, 8)));
  ForElements(
      slices,
      [&](ir::ExprId k, ir::Region& body) {
        const ir::ExprId column =
            build_.Add(build_.Mul(k, kMmaK), build_.Mul(build_.Div(matrix, 2), 8));
        const ir::ExprId index =
            LinearIndex(build_, view, BaseCoordinates(build_, view, {row, column}));
        Emit(body, loc, ir::LdMatrix{load.frag, build_.Mul(k, 4), view.storage, index, 4});
      },
      out, loc);
}

// To a shared tile of 16-bit elements whose rows are whole 16-byte chunks: 8×8 matrices by
// stmatrix.
bool FragmentLowering::StoreMatrices(const ir::MmaStore& store, ir::Region& out, ir::Loc loc) {
  constexpr int kChunk = 16;  // bytes of a row of a matrix
  constexpr int kMatrixColumns = 8;
  const ir::View view = kernel_.views[store.dst];
  const ir::Storage frag = kernel_.storages[store.frag];
  const Elem elem = kernel_.storages[view.storage].elem;
  if (kernel_.storages[view.storage].kind != ir::StorageKind::Shared || !IsHalf(elem) ||
      frag.layout != ir::FragLayout::Accumulator ||
      (frag.elem != Elem::kF32 && frag.elem != elem) ||
      VectorElements(kernel_, divisors_, view, kChunk) * Bytes(elem) != kChunk) {
    return false;
  }
  for (size_t axis = 0; axis < view.base_extents.size(); ++axis) {
    if (!InsideBase(kernel_, ranges_, view, axis)) return false;
  }
  // Words are packed for one instruction at a time: all at once would double the registers.
  const bool packs = frag.elem != elem;
  ir::StorageId words = store.frag;
  if (packs) {
    ir::Storage packed = frag;
    packed.name = frag.name + "_words";
    packed.elem = elem;
    packed.dims[1] = build_.Int(2 * kMatrixColumns);
    words = kernel_.storages.Add(std::move(packed));
  }
  // Lane l names row l%8 of matrix l/8: of the upper or lower eight rows, then of the next columns.
  const ir::ExprId lane = build_.Call(ir::Intrinsic::LaneIdx, {});
  const ir::ExprId warp = build_.Mod(build_.Call(ir::Intrinsic::WarpIdx, {}), kQuad);
  const ir::ExprId row = build_.Add(build_.Mul(warp, kWarpRows), build_.Mod(lane, kWarpRows));
  const ir::ExprId right = build_.Mul(build_.Div(lane, kWarpRows), kMatrixColumns);
  // In panels all blocks lie at one place, but for bits that the swizzle leaves free: computed
  // once, the place takes one register and not one for each block.
  const ir::Storage& tile = kernel_.storages[view.storage];
  const int columns = LaneElements(kernel_, frag) * 2;
  const int64_t width = PanelElements(kernel_, tile);
  const int64_t blocks_of_panel = width / (2 * kMatrixColumns);
  const int64_t panel = PanelRows(kernel_, tile) * width;
  const auto start = build_.AsInt(view.start.back());
  ir::VarId place;
  if (tile.swizzle >= 32 && columns % (2 * kMatrixColumns) == 0 && !IsReshaped(kernel_, view) &&
      start && *start % width == 0) {
    place = build_.NewVar(frag.name + "_place", Elem::kS32, ir::VarKind::Let, loc);
    Emit(out, loc,
         ir::Let{place, LinearIndex(build_, view, BaseCoordinates(build_, view, {row, right}))});
  }
  const auto matrices = [&](ir::ExprId block, int count, ir::Region& body) {
    const ir::ExprId first = build_.Mul(block, 4);
    if (packs) {
      Emit(body, loc, ir::Decl{words});
      for (int q = 0; q < count; ++q) {
        const ir::ExprId e = build_.Mul(build_.Add(first, q), 2);
        Emit(body, loc,
             ir::FragPack{words, build_.Int(q), build_.FragElem(store.frag, {e}),
                          build_.FragElem(store.frag, {build_.Add(e, 1)})});
      }
    }
    const ir::ExprId word = packs ? build_.Int(0) : first;
    const auto at = [&](ir::ExprId column) {
      return LinearIndex(build_, view, BaseCoordinates(build_, view, {row, column}));
    };
    const ir::ExprId column = build_.Mul(block, 2 * kMatrixColumns);
    ir::ExprId index;
    if (place) {
      const ir::ExprId within = build_.Mod(block, blocks_of_panel);
      index = build_.Add(build_.Bin(ir::BinaryOp::BitXor, build_.Var(place),
                                    build_.Mul(within, 2 * kMatrixColumns)),
                         build_.Mul(build_.Div(block, blocks_of_panel), panel));
    } else {
      index = at(count == 4 ? build_.Add(column, right) : column);
    }
    Emit(body, loc, ir::StMatrix{view.storage, index, words, word, count});
  };
  const int blocks = columns / (2 * kMatrixColumns);
  if (blocks > 0) {
    ForElements(
        blocks, [&](ir::ExprId block, ir::Region& body) { matrices(block, 4, body); }, out, loc);
  }
  if (columns % (2 * kMatrixColumns) != 0) matrices(build_.Int(blocks), 2, out);
  return true;
}

void FragmentLowering::Store(const ir::MmaStore& store, ir::Region& out, ir::Loc loc) {
  if (StoreMatrices(store, out, loc)) return;
  const ir::View view = kernel_.views[store.dst];
  const ir::Storage frag = kernel_.storages[store.frag];
  const Elem elem = kernel_.storages[view.storage].elem;
  const int count = LaneElements(kernel_, frag);
  const auto value = [&](ir::ExprId e) {
    return build_.Cast(build_.FragElem(store.frag, {e}), elem);
  };
  const int vector = VectorElements(kernel_, divisors_, view, 2 * Bytes(elem));
  const bool pairs = vector == 2 && Bytes(elem) >= 2;
  if (pairs) RequireAlignment(kernel_, view, 2 * Bytes(elem));
  ForElements(
      pairs ? count / 2 : count,
      [&](ir::ExprId step, ir::Region& body) {
        const ir::ExprId e = pairs ? build_.Mul(step, 2) : step;
        const std::vector<ir::ExprId> at = BaseCoordinates(build_, view, {Row(frag, e), Column(e)});
        const ir::ExprId index = LinearIndex(build_, view, at);
        const ir::ExprId inside = InsideCondition(build_, ranges_, view, at);
        ir::Region stored;
        if (pairs) {
          Emit(stored, loc, ir::StoreVec{view.storage, index, {value(e), value(build_.Add(e, 1))}});
        } else {
          Emit(stored, loc, ir::MemStore{view.storage, index, value(e)});
        }
        if (inside) {
          Emit(body, loc, ir::If{inside, std::move(stored), {}});
        } else {
          body = std::move(stored);
        }
      },
      out, loc);
}

ir::Region FragmentLowering::Rewrite(const ir::Region& region) {
  ir::Region out;
  NonNegativeRows non_negative(kernel_);
  for (const ir::Op& op : region.ops) {
    if (const auto* fill = std::get_if<ir::FragFill>(&op.node)) {
      Fill(*fill, out, op.loc);
    } else if (const auto* copy = std::get_if<ir::FragCopy>(&op.node)) {
      Copy(*copy, out, op.loc);
    } else if (const auto* reduce = std::get_if<ir::FragReduce>(&op.node)) {
      Reduce(*reduce, non_negative.Has(reduce->row), out, op.loc);
    } else if (const auto* all = std::get_if<ir::FragAllReduce>(&op.node)) {
      AllReduce(*all, out, op.loc);
    } else if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
      Apply(*apply, out, op.loc);
    } else if (const auto* load = std::get_if<ir::MmaLoad>(&op.node)) {
      Load(*load, out, op.loc);
    } else if (const auto* store = std::get_if<ir::MmaStore>(&op.node)) {
      Store(*store, out, op.loc);
    } else {
      ir::Op changed = op;
      ir::VisitRegions(changed, [&](ir::Region& inner) { inner = Rewrite(inner); });
      out.ops.push_back(std::move(changed));
    }
    non_negative.Note(op);
  }
  return out;
}

}  // namespace

ir::Kernel LowerFragments(ir::Kernel kernel, PassContext&) {
  FragmentLowering(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
