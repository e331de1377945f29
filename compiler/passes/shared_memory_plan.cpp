// shared-memory-plan: the layout of every shared tile and its place. A tile takes the swizzle its
// accesses name; without one, an MMA operand or the source of a TMA store takes the widest that its
// rows divide into; any other tile is row-major. No two tiles share memory.
#include <algorithm>

#include "ir/builder.h"
#include "ir/walk.h"
#include "passes/addressing.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

struct TileUse {
  int named_swizzle = 0;
  bool mma_operand = false;
  bool tma_source = false;
  bool any_row = false;          // TMA moves windows of it that may begin at any row
  const ir::Op* call = nullptr;  // whose function gets a pointer to it
};

int WidestSwizzle(int64_t row_bytes) {
  for (const int swizzle : {128, 64, 32}) {
    if (row_bytes % swizzle == 0) return swizzle;
  }
  return 16;
}

// Elements of all instances of the tile, or a number above any limit: 64 bits may not hold them.
int64_t Elements(const ir::Kernel& kernel, const ir::Storage& storage) {
  int64_t count = storage.array_size;
  for (const ir::ExprId dim : storage.dims) {
    count *= *ir::AsInt(kernel, dim);
    if (count > INT32_MAX) return INT32_MAX;
  }
  return count;
}

// Whether a window is not known to begin at a row that swizzles begin at.
bool BeginsAtAnyRow(ir::Kernel& kernel, const Divisors& divisors, ir::ViewId id) {
  constexpr int kSwizzleRows = 8;
  ir::ExprBuilder build(kernel);
  const ir::View view = kernel.views[id];
  const std::vector<ir::ExprId> dims = kernel.storages[view.storage].dims;
  if (view.base_offset || view.start.size() != dims.size()) return false;  // refused as it is
  ir::ExprId row = build.Int(0);
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    row = build.Add(build.Mul(row, dims[i]), view.start[i]);
  }
  return divisors.Of(row) % kSwizzleRows != 0;
}

}  // namespace

ir::Kernel SharedMemoryPlan(ir::Kernel kernel, PassContext& context) {
  const Divisors divisors(kernel);
  std::vector<TileUse> uses(kernel.storages.size());
  const auto use_of = [&](ir::ViewId view) -> TileUse& {
    return uses[kernel.views[view].storage.value];
  };
  const auto copied = [&](ir::ViewId src, ir::ViewId dst, int32_t swizzle) {
    const ir::StorageKind kind = kernel.storages[kernel.views[dst].storage].kind;
    TileUse& use = use_of(kind == ir::StorageKind::Shared ? dst : src);
    use.named_swizzle = std::max(use.named_swizzle, swizzle);
  };
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    if (const auto* copy = std::get_if<ir::CopySync>(&op.node)) {
      copied(copy->src, copy->dst, copy->swizzle);
    } else if (const auto* started = std::get_if<ir::CopyAsync>(&op.node)) {
      copied(started->src, started->dst, started->swizzle);
    } else if (const auto* load = std::get_if<ir::TmaLoad>(&op.node)) {
      copied(load->src, load->dst, load->swizzle);
      if (BeginsAtAnyRow(kernel, divisors, load->dst)) use_of(load->dst).any_row = true;
    } else if (const auto* store = std::get_if<ir::TmaStore>(&op.node)) {
      use_of(store->src).tma_source = true;
      if (BeginsAtAnyRow(kernel, divisors, store->src)) use_of(store->src).any_row = true;
    } else if (const auto* mma = std::get_if<ir::Mma>(&op.node)) {
      if (mma->a) use_of(mma->a).mma_operand = true;
      use_of(mma->b).mma_operand = true;
    } else if (const auto* load = std::get_if<ir::MmaLoad>(&op.node)) {
      use_of(load->src).mma_operand = true;
    } else if (const auto* call = std::get_if<ir::OpaqueCall>(&op.node)) {
      ir::ForEachAddress(*call, [&](ir::ExprId element, bool) {
        uses[ir::StorageOfElement(kernel, element).value].call = &op;
      });
    }
  });
  int64_t offset = 0;
  for (size_t i = 0; i < kernel.storages.size(); ++i) {
    ir::Storage& storage = kernel.storages[kernel.storages.IdAt(i)];
    if (storage.kind != ir::StorageKind::Shared) continue;
    // Far too large: said here, because places are 32-bit numbers.
    if (const int64_t bytes = Elements(kernel, storage) * Bytes(storage.elem);
        offset + bytes > INT32_MAX / 2) {
      context.diags.Emit(diag::kinds::SharedMemoryExceeded, context.Where(kernel.loc), kernel.name,
                         offset + bytes, kSharedLimit, fmt::format("`{}` {}", storage.name, bytes));
      return kernel;
    }
    const int64_t row_bytes =
        (storage.dims.empty() ? 1 : *ir::AsInt(kernel, storage.dims.back())) * Bytes(storage.elem);
    storage.swizzle = uses[i].named_swizzle;
    if (storage.swizzle == 0 && uses[i].mma_operand) storage.swizzle = WidestSwizzle(row_bytes);
    // Rows that no swizzle divides are stored as they are, and single ones.
    if (storage.swizzle == 0 && uses[i].tma_source && !uses[i].any_row && uses[i].call == nullptr &&
        WidestSwizzle(row_bytes) > 16) {
      storage.swizzle = WidestSwizzle(row_bytes);
    }
    if (uses[i].call != nullptr && storage.swizzle != 0) {
      const ir::Op& op = *uses[i].call;
      context.diags.Emit(
          diag::kinds::CallTileLayout, context.Where(op.loc),
          std::get<ir::OpaqueCall>(op.node).callee, storage.name,
          uses[i].named_swizzle != 0 ? "its loads swizzle it" : "MMAs read it in panels");
    }
    const int64_t alignment = TileAlignment(storage);
    storage.tile_bytes = static_cast<int32_t>(TileBytes(kernel, storage));
    offset = (offset + alignment - 1) / alignment * alignment;
    storage.byte_offset = static_cast<int32_t>(offset);
    offset += int64_t{storage.tile_bytes} * storage.array_size;
  }
  kernel.host.shared_bytes = offset;
  return kernel;
}

}  // namespace choreo::passes
