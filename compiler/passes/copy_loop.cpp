#include "passes/copy_loop.h"

#include <algorithm>

#include "passes/addressing.h"

namespace choreo::passes {
namespace {

constexpr int kMostBytes = 16;       // of one access
constexpr int64_t kFullUnroll = 16;  // accesses a thread up to which the loop is unrolled
constexpr int kLeastAsyncBytes = 4;  // cp.async moves 4, 8 or 16 bytes

}  // namespace

void CopyLoop::ForEach(const std::vector<ir::View::Axis>& axes, int vector, const Body& body,
                       ir::Region& out) {
  // The number of vectors along each axis, of all, and of one row of the first axis.
  std::vector<ir::ExprId> counts;
  ir::ExprId total = build.Int(1);
  ir::ExprId row = build.Int(1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool last = i + 1 == axes.size();
    counts.push_back(last ? build.Div(axes[i].extent, vector) : axes[i].extent);
    total = build.Mul(total, counts.back());
    if (i != 0) row = build.Mul(row, counts.back());
  }
  const auto coordinates = [&](ir::ExprId item) {
    std::vector<ir::ExprId> at(axes.size());
    ir::ExprId rest = item;
    for (size_t i = axes.size(); i-- > 0;) {
      const ir::ExprId c = i == 0 ? rest : build.Mod(rest, counts[i]);
      at[i] = i + 1 == axes.size() ? build.Mul(c, vector) : c;
      if (i != 0) rest = build.Div(rest, counts[i]);
    }
    return at;
  };
  const auto constant = build.AsInt(total);
  ir::Region before;
  ir::For loop;
  if (!constant) {
    loop.var = build.NewVar("item", Elem::kS32, ir::VarKind::Loop, loc);
    loop.low = index;
    loop.high = total;
    loop.step = build.Int(threads);
    body({{}, coordinates(build.Var(loop.var)), {}, 0}, before, loop.body);
    Emit(out, std::move(loop));
    return;
  }
  const int64_t trips = (*constant + threads - 1) / threads;
  if (trips == 0) return;
  loop.var = build.NewVar("step", Elem::kS32, ir::VarKind::Loop, loc);
  loop.low = build.Int(0);
  loop.high = build.Int(trips);
  loop.step = build.Int(1);
  loop.unroll = trips <= kFullUnroll ? -1 : 0;
  const ir::ExprId number = build.Var(loop.var);
  const ir::ExprId item = build.Add(build.Mul(number, threads), index);
  Step step;
  const auto row_vectors = build.AsInt(row);
  if (axes.size() > 1 && row_vectors && threads % *row_vectors == 0) {
    step.number = number;
    step.advance = threads / *row_vectors;
    step.first = coordinates(index);
    step.at = step.first;
    step.at[0] = build.Add(build.Mul(number, step.advance), step.first[0]);
  } else {
    step.at = coordinates(item);
  }
  if (*constant % threads == 0) {
    body(step, before, loop.body);
  } else {
    ir::If guard{build.Lt(item, total), {}, {}};
    body(step, before, guard.then_body);
    Emit(loop.body, std::move(guard));
  }
  for (ir::Op& op : before.ops) out.ops.push_back(std::move(op));
  Emit(out, std::move(loop));
}

// How far the linear index moves if the first coordinate grows by `advance`; nothing if that
// depends on where it is (swizzled rows that are not whole atoms apart, reshaped views).
std::optional<ir::ExprId> CopyLoop::StrideOfStep(const ir::View& view, int64_t advance) {
  const ir::Storage& storage = kernel.storages[view.storage];
  const ir::View::Axis& axis = view.axes[0];
  const auto base_axis = static_cast<size_t>(axis.base_axis);
  const auto axis_step = axis.step ? build.AsInt(axis.step) : std::optional<int64_t>(1);
  if (!axis_step || IsReshaped(kernel, view) || base_axis + 1 == storage.dims.size()) {
    return std::nullopt;
  }
  if (storage.kind == ir::StorageKind::Param) {
    return build.Mul(storage.strides[base_axis], build.Int(advance * *axis_step, Elem::kS64));
  }
  int64_t rows = advance * *axis_step;
  for (size_t i = base_axis + 1; i + 1 < storage.dims.size(); ++i) {
    rows *= *build.AsInt(storage.dims[i]);
  }
  if (storage.kind == ir::StorageKind::Shared && storage.swizzle > 16 && rows % 8 != 0) {
    return std::nullopt;
  }
  const int64_t width = storage.kind == ir::StorageKind::Shared ? PanelElements(kernel, storage)
                                                                : *build.AsInt(storage.dims.back());
  return build.Int(rows * width);
}

ir::ExprId CopyLoop::Index(const ir::View& view, const Step& step, std::string_view name,
                           ir::Region& before) {
  const auto stride = step.number ? StrideOfStep(view, step.advance) : std::nullopt;
  if (!stride) return LinearIndex(build, view, BaseCoordinates(build, view, step.at));
  const ir::ExprId first = LinearIndex(build, view, BaseCoordinates(build, view, step.first));
  const Elem type = build.TypeOf(first);
  const ir::VarId var = build.NewVar(std::string(name), type, ir::VarKind::Let, loc);
  Emit(before, ir::Let{var, first});
  return build.Add(build.Var(var), build.Mul(build.Cast(step.number, type), *stride));
}

void CopyLoop::Move(const ir::View& src, const ir::View& dst, int vector, const Step& step,
                    ir::Region& before, ir::Region& out) {
  const ir::Storage& from = kernel.storages[src.storage];
  const ir::Storage& to = kernel.storages[dst.storage];
  const Elem elem = from.elem;
  const int bytes = vector * Bytes(elem);
  const ir::ExprId src_index = Index(src, step, "from", before);
  const ir::ExprId dst_index = Index(dst, step, "to", before);
  const ir::ExprId readable =
      InsideCondition(build, ranges, src, BaseCoordinates(build, src, step.at));
  const ir::ExprId writable =
      InsideCondition(build, ranges, dst, BaseCoordinates(build, dst, step.at));
  ir::Region* region = &out;
  ir::If clip;
  if (writable) {
    clip.condition = writable;
    region = &clip.then_body;
  }
  const bool asynchronous = from.kind == ir::StorageKind::Param &&
                            to.kind == ir::StorageKind::Shared && bytes >= kLeastAsyncBytes;
  if (asynchronous) {
    const ir::ExprId valid =
        readable ? build.Select(readable, build.Int(bytes), build.Int(0)) : ir::ExprId();
    Emit(*region, ir::CpAsync{dst.storage, dst_index, src.storage, src_index, bytes, valid});
  } else {
    ir::CopyVec move{dst.storage, dst_index, src.storage, src_index, bytes};
    if (readable) {
      ir::If tail{readable, {}, {}};
      Emit(tail.then_body, std::move(move));
      const ir::ExprId zero = IsFloat(elem) ? build.Float(0.0, elem) : build.Int(0, elem);
      if (vector == 1) {
        Emit(tail.else_body, ir::MemStore{dst.storage, dst_index, zero});
      } else {
        Emit(tail.else_body,
             ir::StoreVec{dst.storage, dst_index,
                          std::vector<ir::ExprId>(static_cast<size_t>(vector), zero)});
      }
      Emit(*region, std::move(tail));
    } else {
      Emit(*region, std::move(move));
    }
  }
  if (writable) Emit(out, std::move(clip));
}

void CopyLoop::Copy(const ir::View& src, const ir::View& dst, ir::Region& out) {
  const int vector = std::min(VectorElements(kernel, divisors, src, kMostBytes),
                              VectorElements(kernel, divisors, dst, kMostBytes));
  const int bytes = vector * Bytes(kernel.storages[src.storage].elem);
  RequireAlignment(kernel, src, bytes);
  RequireAlignment(kernel, dst, bytes);
  // The extents of both sides are equal; those of a shared or local side are constants.
  const bool dst_constant = kernel.storages[dst.storage].kind != ir::StorageKind::Param;
  ForEach(
      dst_constant ? dst.axes : src.axes, vector,
      [&](const Step& step, ir::Region& before, ir::Region& region) {
        Move(src, dst, vector, step, before, region);
      },
      out);
  if (kernel.storages[src.storage].kind == ir::StorageKind::Param &&
      kernel.storages[dst.storage].kind == ir::StorageKind::Shared && bytes >= kLeastAsyncBytes) {
    Emit(out, ir::CpAsyncCommit{});
    Emit(out, ir::CpAsyncWait{0});
  }
}

void CopyLoop::Fill(const ir::View& dst, ir::ExprId value, ir::Region& out) {
  ForEach(
      dst.axes, 1,
      [&](const Step& step, ir::Region& before, ir::Region& region) {
        Emit(region, ir::MemStore{dst.storage, Index(dst, step, "to", before), value});
      },
      out);
}

}  // namespace choreo::passes
