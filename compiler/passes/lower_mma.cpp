// lower-mma: each MMA as one WGMMA group. Fence, the K slices in order, commit; descriptors of
// shared operands advance by constants. A fill that only the MMA sees becomes its zero scale-d.
// Groups retire in their order, so a wait names how many younger ones may stay in flight: the
// groups in flight are followed over branches and loops, a set of possible queues (oldest first),
// and a wait takes the largest depth that retires its future in each of them. Futures then are
// gone. Descriptor strides follow the PTX manual, "Asynchronous warpgroup level matrix shared
// memory layout".
#include <algorithm>
#include <optional>

#include "ir/walk.h"
#include "passes/addressing.h"
#include "passes/fragment.h"
#include "passes/mma_queues.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

constexpr int kCoreRows = 8;         // rows of a core matrix
constexpr int kDescriptorUnit = 16;  // bytes that one step of a descriptor's address means

// How the K slices of a shared operand lie: the descriptor of the first, and the way to slice k.
struct Operand {
  ir::ExprId descriptor;
  int64_t panel_step = 0;  // descriptor units from panel to panel
  int slices_a_panel = 1;
  int64_t slice_step = 0;  // descriptor units from slice to slice in a panel

  int64_t Advance(int k) const {
    return k / slices_a_panel * panel_step + k % slices_a_panel * slice_step;
  }
};

class MmaLowering {
 public:
  MmaLowering(ir::Kernel& kernel, PassContext& context)
      : kernel_(kernel),
        context_(context),
        build_(kernel),
        divisors_(kernel),
        in_flight_(kernel.body) {}

  ir::Region Rewrite(const ir::Region& region);

 private:
  ir::Op Inside(const ir::Op& op);
  ir::Region Loop(const ir::Region& body);
  void Wait(const ir::FutureWait& wait, ir::Region& out, ir::Loc loc);
  std::optional<Operand> KMajor(ir::ViewId id, ir::Region& out, ir::Loc loc);
  std::optional<Operand> NMajor(ir::ViewId id, ir::Region& out, ir::Loc loc);
  // Row and column where the view starts in its tile; nothing if no descriptor can say so.
  struct Start {
    ir::ExprId row, column;
  };
  std::optional<Start> StartOf(const ir::View& view, int64_t column_unit, ir::Loc loc);
  ir::ExprId Offset(const ir::View& view, const Start& start);
  ir::ExprId Named(const ir::View& view, ir::ExprId descriptor, ir::Region& out, ir::Loc loc);
  void Refuse(const ir::View& view, std::string_view why, ir::Loc loc);
  void Lower(const ir::Mma& mma, bool overwrite, ir::Region& out, ir::Loc loc);
  std::vector<bool> FillsTakenByMma(const ir::Region& region) const;
  bool Touches(const ir::Op& op, ir::StorageId frag) const;

  ir::Kernel& kernel_;
  PassContext& context_;
  ir::ExprBuilder build_;
  Divisors divisors_;
  MmaQueues in_flight_;
};

bool MmaLowering::Touches(const ir::Op& op, ir::StorageId frag) const {
  const ir::StorageUse use = ir::AllStorageUse(kernel_, op);
  const auto has = [&](const std::vector<ir::StorageId>& ids) {
    return std::find(ids.begin(), ids.end(), frag) != ids.end();
  };
  return has(use.reads) || has(use.writes);
}

// For each op: is it a zero fill whose accumulator is next touched by an MMA of this region?
std::vector<bool> MmaLowering::FillsTakenByMma(const ir::Region& region) const {
  std::vector<bool> taken(region.ops.size());
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const auto* fill = std::get_if<ir::FragFill>(&region.ops[i].node);
    if (fill == nullptr) continue;
    const auto* value = std::get_if<ir::FloatConst>(&kernel_.exprs[fill->value].node);
    if (value == nullptr || value->value != 0.0) continue;
    for (size_t k = i + 1; k < region.ops.size(); ++k) {
      if (const auto* mma = std::get_if<ir::Mma>(&region.ops[k].node);
          mma != nullptr && mma->acc == fill->frag) {
        taken[i] = mma->a_frag != fill->frag;
        break;
      }
      if (Touches(region.ops[k], fill->frag)) break;
    }
  }
  return taken;
}

ir::Region MmaLowering::Rewrite(const ir::Region& region) {
  ir::Region out;
  const std::vector<bool> taken = FillsTakenByMma(region);
  std::vector<ir::StorageId> zero;
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const ir::Op& op = region.ops[i];
    if (taken[i]) {
      zero.push_back(std::get<ir::FragFill>(op.node).frag);
      continue;
    }
    if (const auto* mma = std::get_if<ir::Mma>(&op.node)) {
      const bool overwrite = std::erase(zero, mma->acc) != 0;
      Lower(*mma, overwrite, out, op.loc);
    } else if (const auto* wait = std::get_if<ir::FutureWait>(&op.node)) {
      Wait(*wait, out, op.loc);
    } else if (const auto* move = std::get_if<ir::FutureMove>(&op.node)) {
      if (in_flight_.IsMma(move->src)) {
        in_flight_.Move(*move);
      } else {
        out.ops.push_back(op);  // of loads
      }
    } else {
      out.ops.push_back(Inside(op));
    }
  }
  return out;
}

ir::Op MmaLowering::Inside(const ir::Op& op) {
  ir::Op changed = op;
  if (auto* branch = std::get_if<ir::If>(&changed.node)) {
    const MmaQueues::State before = in_flight_.state();
    branch->then_body = Rewrite(branch->then_body);
    const MmaQueues::State after_then = in_flight_.state();
    in_flight_.Set(before);
    branch->else_body = Rewrite(branch->else_body);
    in_flight_.Join(after_then);
  } else if (auto* loop = std::get_if<ir::For>(&changed.node)) {
    loop->body = Loop(loop->body);
  } else if (auto* loop = std::get_if<ir::While>(&changed.node)) {
    loop->body = Loop(loop->body);
  } else if (auto* narrowed = std::get_if<ir::InThreads>(&changed.node)) {
    // Other threads, other queues; those that do not come by keep theirs.
    const MmaQueues::State before = in_flight_.state();
    narrowed->body = Rewrite(narrowed->body);
    if (narrowed->async) {
      in_flight_.Set(before);
    } else {
      in_flight_.Join(before);
    }
  } else if (std::holds_alternative<ir::Break>(op.node)) {
    in_flight_.Break();
  } else if (std::holds_alternative<ir::Continue>(op.node)) {
    in_flight_.Continue();
  } else if (std::holds_alternative<ir::Return>(op.node)) {
    in_flight_.Set({});
  } else {
    ir::VisitRegions(changed, [&](ir::Region& inner) { inner = Rewrite(inner); });
  }
  return changed;
}

ir::Region MmaLowering::Loop(const ir::Region& body) {
  const size_t vars = kernel_.vars.size();
  const size_t exprs = kernel_.exprs.size();
  in_flight_.EnterLoop();
  while (true) {
    // An earlier round's body is dropped, and what was made for it.
    kernel_.vars.resize(vars);
    kernel_.exprs.resize(exprs);
    ir::Region out = Rewrite(body);
    if (!in_flight_.AgainFromLoopEnd() || context_.diags.has_errors()) {
      in_flight_.LeaveLoop();
      return out;
    }
  }
}

void MmaLowering::Wait(const ir::FutureWait& wait, ir::Region& out, ir::Loc loc) {
  ir::FutureWait others;  // of TMA loads
  std::vector<ir::VarId> mmas;
  for (const ir::VarId future : wait.futures) {
    (in_flight_.IsMma(future) ? mmas : others.futures).push_back(future);
  }
  if (!mmas.empty()) {
    if (const auto depth = in_flight_.Wait(mmas)) out.ops.push_back({loc, ir::WgmmaWait{*depth}});
    for (const ir::StorageId frag : in_flight_.RegistersOf(mmas)) {
      out.ops.push_back({loc, ir::FragTie{frag}});
    }
  }
  if (!others.futures.empty()) out.ops.push_back({loc, std::move(others)});
}

void MmaLowering::Refuse(const ir::View& view, std::string_view why, ir::Loc loc) {
  context_.diags.Emit(diag::kinds::MmaOperandLayout, context_.Where(loc),
                      kernel_.storages[view.storage].name, why);
}

std::optional<MmaLowering::Start> MmaLowering::StartOf(const ir::View& view, int64_t column_unit,
                                                       ir::Loc loc) {
  const ir::Storage& storage = kernel_.storages[view.storage];
  const size_t rank = storage.dims.size();
  const auto same_base = [&] {
    if (view.base_offset || view.base_extents.size() != rank) return false;
    for (size_t i = 0; i < rank; ++i) {
      if (!build_.Same(view.base_extents[i], storage.dims[i])) return false;
    }
    return true;
  };
  if (!same_base()) {
    Refuse(view, "it is reshaped by `span_as`", loc);
    return std::nullopt;
  }
  if (view.axes.size() != 2 || rank < 2 ||
      view.axes[0].base_axis != static_cast<int32_t>(rank) - 2 ||
      view.axes[1].base_axis != static_cast<int32_t>(rank) - 1) {
    Refuse(view, "its axes are not the last two of the tile", loc);
    return std::nullopt;
  }
  if (view.axes[0].step || view.axes[1].step) {
    Refuse(view, "it has steps", loc);
    return std::nullopt;
  }
  Start start{build_.Int(0), view.start.back()};
  for (size_t i = 0; i + 1 < rank; ++i) {
    start.row = build_.Add(build_.Mul(start.row, storage.dims[i]), view.start[i]);
  }
  if (divisors_.Of(start.row) % kCoreRows != 0) {
    Refuse(view, "its first row is not known to be a multiple of 8", loc);
    return std::nullopt;
  }
  if (divisors_.Of(start.column) % column_unit != 0) {
    Refuse(view, fmt::format("its first column is not known to be a multiple of {}", column_unit),
           loc);
    return std::nullopt;
  }
  return start;
}

// Byte offset in the storage of the view's first element; swizzling leaves it where it is, since
// rows start at multiples of 8 and columns at whole slices.
ir::ExprId MmaLowering::Offset(const ir::View& view, const Start& start) {
  const ir::Storage& storage = kernel_.storages[view.storage];
  const int64_t width = PanelElements(kernel_, storage);
  const int64_t size = Bytes(storage.elem);
  const int64_t panel_bytes = PanelRows(kernel_, storage) * width * size;
  ir::ExprId offset = build_.Add(build_.Mul(build_.Div(start.column, width), panel_bytes),
                                 build_.Add(build_.Mul(start.row, width * size),
                                            build_.Mul(build_.Mod(start.column, width), size)));
  if (view.slot) {
    offset = build_.Add(build_.Mul(build_.Cast(view.slot, Elem::kS32), TileBytes(kernel_, storage)),
                        offset);
  }
  return offset;
}

ir::ExprId MmaLowering::Named(const ir::View& view, ir::ExprId descriptor, ir::Region& out,
                              ir::Loc loc) {
  const std::string name = kernel_.storages[view.storage].name + "_desc";
  const ir::VarId var = build_.NewVar(name, Elem::kU64, ir::VarKind::Let, loc);
  out.ops.push_back({loc, ir::Let{var, descriptor}});
  return build_.Var(var);
}

// A stored [M, K], or B stored [N, K]: K runs along the rows.
std::optional<Operand> MmaLowering::KMajor(ir::ViewId id, ir::Region& out, ir::Loc loc) {
  const ir::View view = kernel_.views[id];
  const ir::Storage& storage = kernel_.storages[view.storage];
  const auto start = StartOf(view, kMmaK, loc);
  if (!start) return std::nullopt;
  const int swizzle = storage.swizzle;
  const int64_t panel_bytes = PanelRows(kernel_, storage) * swizzle;
  const int slice_bytes = kMmaK * Bytes(storage.elem);
  Operand operand;
  if (swizzle >= slice_bytes) {
    operand.slices_a_panel = swizzle / slice_bytes;
    operand.slice_step = slice_bytes / kDescriptorUnit;
    operand.panel_step = panel_bytes / kDescriptorUnit;
    if (operand.slices_a_panel > 1 && !build_.AsInt(start->column) &&
        divisors_.Of(start->column) % PanelElements(kernel_, storage) != 0) {
      Refuse(view, "its first column is not known to start a swizzled panel", loc);
      return std::nullopt;
    }
    // A start inside a panel: slices before the next panel are fewer.
    if (const auto column = build_.AsInt(start->column);
        column && *column % PanelElements(kernel_, storage) != 0 &&
        *column % PanelElements(kernel_, storage) + *build_.AsInt(view.axes[1].extent) >
            PanelElements(kernel_, storage)) {
      Refuse(view, "it crosses a swizzled panel that it does not start", loc);
      return std::nullopt;
    }
  } else {  // panels of 16 bytes: a slice is two of them
    operand.panel_step = 2 * panel_bytes / kDescriptorUnit;
  }
  const auto leading = static_cast<int32_t>(swizzle >= slice_bytes ? kDescriptorUnit : panel_bytes);
  operand.descriptor = Named(view,
                             build_.Desc(view.storage, Offset(view, *start), leading,
                                         kCoreRows * swizzle, swizzle == 16 ? 0 : swizzle),
                             out, loc);
  return operand;
}

// B stored [K, N]: K counts rows.
std::optional<Operand> MmaLowering::NMajor(ir::ViewId id, ir::Region& out, ir::Loc loc) {
  const ir::View view = kernel_.views[id];
  const ir::Storage& storage = kernel_.storages[view.storage];
  const auto start = StartOf(view, PanelElements(kernel_, storage), loc);
  if (!start) return std::nullopt;
  const int swizzle = storage.swizzle;
  auto leading = static_cast<int32_t>(PanelRows(kernel_, storage) * swizzle);
  int32_t stride = kCoreRows * swizzle;
  if (swizzle == 16) std::swap(leading, stride);  // the two change roles without swizzle
  Operand operand;
  operand.panel_step = int64_t{kMmaK} * swizzle / kDescriptorUnit;
  operand.descriptor = Named(
      view,
      build_.Desc(view.storage, Offset(view, *start), leading, stride, swizzle == 16 ? 0 : swizzle),
      out, loc);
  return operand;
}

void MmaLowering::Lower(const ir::Mma& mma, bool overwrite, ir::Region& out, ir::Loc loc) {
  const ir::View& b_view = kernel_.views[mma.b];
  const Elem elem = kernel_.storages[b_view.storage].elem;
  const size_t k_axis = mma.b_row ? 1 : 0;
  const int64_t k = *build_.AsInt(b_view.axes[k_axis].extent);
  const auto n = static_cast<int32_t>(*build_.AsInt(b_view.axes[1 - k_axis].extent));
  const int slices = static_cast<int>(k / kMmaK);
  std::optional<Operand> a;
  if (mma.a) {
    a = KMajor(mma.a, out, loc);
    if (!a) return;
  }
  const std::optional<Operand> b = mma.b_row ? KMajor(mma.b, out, loc) : NMajor(mma.b, out, loc);
  if (!b) return;
  const auto emit = [&](auto node) { out.ops.push_back({loc, std::move(node)}); };
  if (!overwrite) emit(ir::FragTie{mma.acc});
  if (mma.a_frag) emit(ir::FragTie{mma.a_frag});
  emit(ir::WgmmaFence{});
  for (int i = 0; i < slices; ++i) {
    const int slice = mma.k_order.empty() ? i : mma.k_order[static_cast<size_t>(i)];
    ir::Wgmma op;
    op.acc = mma.acc;
    if (a) {
      op.a_desc = build_.Add(a->descriptor, a->Advance(slice));
    } else {
      op.a_frag = mma.a_frag;
      op.a_word = slice * kMmaK / 4;
    }
    op.b_desc = build_.Add(b->descriptor, b->Advance(slice));
    op.n = n;
    op.elem = elem;
    op.trans_b = !mma.b_row;
    op.scale_d = build_.Int(overwrite && i == 0 ? 0 : 1);
    emit(std::move(op));
  }
  emit(ir::WgmmaCommit{});
  if (mma.future) {
    in_flight_.Issue(mma.future);
    return;
  }
  emit(ir::WgmmaWait{0});
  emit(ir::FragTie{mma.acc});
  in_flight_.RetireAll();
}

}  // namespace

ir::Kernel LowerMma(ir::Kernel kernel, PassContext& context) {
  ir::Region body = MmaLowering(kernel, context).Rewrite(kernel.body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
