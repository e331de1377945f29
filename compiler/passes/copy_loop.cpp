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
  // The number of vectors along each axis, and of all.
  std::vector<ir::ExprId> counts;
  ir::ExprId total = build.Int(1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool last = i + 1 == axes.size();
    counts.push_back(last ? build.Div(axes[i].extent, vector) : axes[i].extent);
    total = build.Mul(total, counts.back());
  }
  const auto body_at = [&](ir::ExprId item, ir::Region& region) {
    std::vector<ir::ExprId> at(axes.size());
    ir::ExprId rest = item;
    for (size_t i = axes.size(); i-- > 0;) {
      const ir::ExprId c = i == 0 ? rest : build.Mod(rest, counts[i]);
      at[i] = i + 1 == axes.size() ? build.Mul(c, vector) : c;
      if (i != 0) rest = build.Div(rest, counts[i]);
    }
    body(at, region);
  };
  const auto constant = build.AsInt(total);
  ir::For loop;
  if (!constant) {
    loop.var = build.NewVar("item", Elem::kS32, ir::VarKind::Loop, loc);
    loop.low = index;
    loop.high = total;
    loop.step = build.Int(threads);
    body_at(build.Var(loop.var), loop.body);
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
  const ir::VarId item = build.NewVar("item", Elem::kS32, ir::VarKind::Let, loc);
  Emit(loop.body, ir::Let{item, build.Add(build.Mul(build.Var(loop.var), threads), index)});
  if (*constant % threads == 0) {
    body_at(build.Var(item), loop.body);
  } else {
    ir::If guard{build.Lt(build.Var(item), total), {}, {}};
    body_at(build.Var(item), guard.then_body);
    Emit(loop.body, std::move(guard));
  }
  Emit(out, std::move(loop));
}

void CopyLoop::Move(const ir::View& src, const ir::View& dst, int vector,
                    const std::vector<ir::ExprId>& at, ir::Region& out) {
  const ir::Storage& from = kernel.storages[src.storage];
  const ir::Storage& to = kernel.storages[dst.storage];
  const Elem elem = from.elem;
  const int bytes = vector * Bytes(elem);
  const std::vector<ir::ExprId> src_at = BaseCoordinates(build, src, at);
  const std::vector<ir::ExprId> dst_at = BaseCoordinates(build, dst, at);
  const ir::ExprId src_index = LinearIndex(build, src, src_at);
  const ir::ExprId dst_index = LinearIndex(build, dst, dst_at);
  const ir::ExprId readable = InsideCondition(build, src, src_at);
  const ir::ExprId writable = InsideCondition(build, dst, dst_at);
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
  const int vector =
      std::min(VectorElements(kernel, src, kMostBytes), VectorElements(kernel, dst, kMostBytes));
  const int bytes = vector * Bytes(kernel.storages[src.storage].elem);
  RequireAlignment(kernel, src, bytes);
  RequireAlignment(kernel, dst, bytes);
  // The extents of both sides are equal; those of a shared or local side are constants.
  const bool dst_constant = kernel.storages[dst.storage].kind != ir::StorageKind::Param;
  ForEach(dst_constant ? dst.axes : src.axes, vector,
          [&](const std::vector<ir::ExprId>& at, ir::Region& region) {
            Move(src, dst, vector, at, region);
          },
          out);
  if (kernel.storages[src.storage].kind == ir::StorageKind::Param &&
      kernel.storages[dst.storage].kind == ir::StorageKind::Shared && bytes >= kLeastAsyncBytes) {
    Emit(out, ir::CpAsyncCommit{});
    Emit(out, ir::CpAsyncWait{0});
  }
}

void CopyLoop::Fill(const ir::View& dst, ir::ExprId value, ir::Region& out) {
  ForEach(dst.axes, 1,
          [&](const std::vector<ir::ExprId>& at, ir::Region& region) {
            const ir::ExprId place = LinearIndex(build, dst, BaseCoordinates(build, dst, at));
            Emit(region, ir::MemStore{dst.storage, place, value});
          },
          out);
}

}  // namespace choreo::passes
