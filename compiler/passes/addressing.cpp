#include "passes/addressing.h"

#include <algorithm>
#include <numeric>

namespace choreo::passes {
namespace {

constexpr int64_t kAtomRows = 8;  // rows of a swizzle atom and of a core matrix

int64_t Inner(const ir::Kernel& kernel, const ir::Storage& storage) {
  return storage.dims.empty() ? 1 : *ir::AsInt(kernel, storage.dims.back());
}

// Row-major index over the view's base extents.
ir::ExprId RowMajor(ir::ExprBuilder& build, const ir::View& view,
                    const std::vector<ir::ExprId>& coordinates, Elem type) {
  ir::ExprId index = build.Int(0, type);
  for (size_t i = 0; i < coordinates.size(); ++i) {
    index = build.Add(build.Mul(index, build.Cast(view.base_extents[i], type)),
                      build.Cast(coordinates[i], type));
  }
  if (view.base_offset) index = build.Add(index, build.Cast(view.base_offset, type));
  return index;
}

// A reshaped parameter has one row-major order only if its strides leave no gaps.
void RequireContiguous(ir::Kernel& kernel, int32_t param) {
  for (const ir::HostCheck& known : kernel.host.checks) {
    if (known.kind == ir::HostCheck::Kind::Contiguous && known.param == param) return;
  }
  kernel.host.checks.push_back({ir::HostCheck::Kind::Contiguous, param, 0, 0});
}

ir::ExprId Swizzled(ir::ExprBuilder& build, ir::ExprId element, const ir::Storage& storage) {
  ir::Intrinsic swizzle;
  switch (storage.swizzle) {
    case 32:
      swizzle = ir::Intrinsic::Swizzle32;
      break;
    case 64:
      swizzle = ir::Intrinsic::Swizzle64;
      break;
    case 128:
      swizzle = ir::Intrinsic::Swizzle128;
      break;
    default:
      return element;
  }
  const int64_t bytes = Bytes(storage.elem);
  return build.Bin(ir::BinaryOp::Div, build.Call(swizzle, {build.Mul(element, bytes)}), bytes);
}

}  // namespace

bool IsReshaped(const ir::Kernel& kernel, const ir::View& view) {
  const ir::Storage& storage = kernel.storages[view.storage];
  if (view.base_offset || view.base_extents.size() != storage.dims.size()) return true;
  for (size_t i = 0; i < storage.dims.size(); ++i) {
    if (!ir::Same(kernel, view.base_extents[i], storage.dims[i])) return true;
  }
  return false;
}

int64_t PanelElements(const ir::Kernel& kernel, const ir::Storage& storage) {
  CHOREO_CHECK(storage.swizzle >= 0);
  return storage.swizzle == 0 ? Inner(kernel, storage) : storage.swizzle / Bytes(storage.elem);
}

int64_t TileRows(const ir::Kernel& kernel, const ir::Storage& storage) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < storage.dims.size(); ++i) rows *= *ir::AsInt(kernel, storage.dims[i]);
  return rows;
}

int64_t PanelRows(const ir::Kernel& kernel, const ir::Storage& storage) {
  const int64_t rows = TileRows(kernel, storage);
  return storage.swizzle == 0 ? rows : (rows + kAtomRows - 1) / kAtomRows * kAtomRows;
}

int64_t TileAlignment(const ir::Storage& storage) {
  return storage.swizzle == 0 ? 128 : kAtomRows * storage.swizzle;
}

int64_t TileBytes(const ir::Kernel& kernel, const ir::Storage& storage) {
  const int64_t width = PanelElements(kernel, storage);
  const int64_t panels = (Inner(kernel, storage) + width - 1) / width;
  const int64_t bytes = panels * PanelRows(kernel, storage) * width * Bytes(storage.elem);
  const int64_t alignment = TileAlignment(storage);
  return (bytes + alignment - 1) / alignment * alignment;
}

std::vector<ir::ExprId> BaseCoordinates(ir::ExprBuilder& build, const ir::View& view,
                                        const std::vector<ir::ExprId>& at) {
  CHOREO_CHECK(at.size() == view.axes.size());
  std::vector<ir::ExprId> coordinates = view.start;
  for (size_t i = 0; i < at.size(); ++i) {
    const ir::View::Axis& axis = view.axes[i];
    const ir::ExprId by = axis.step ? build.Mul(at[i], axis.step) : at[i];
    ir::ExprId& c = coordinates[static_cast<size_t>(axis.base_axis)];
    c = build.Add(c, by);
  }
  return coordinates;
}

ir::ExprId LinearIndex(ir::ExprBuilder& build, const ir::View& view,
                       const std::vector<ir::ExprId>& coordinates) {
  const ir::Kernel& kernel = build.kernel();
  const ir::Storage& storage = kernel.storages[view.storage];
  const bool reshaped = IsReshaped(kernel, view);
  if (storage.kind == ir::StorageKind::Param) {
    if (reshaped) {
      RequireContiguous(build.kernel(), storage.param_index);
      return RowMajor(build, view, coordinates, Elem::kS64);
    }
    ir::ExprId index = build.Int(0, Elem::kS64);
    for (size_t i = 0; i < coordinates.size(); ++i) {
      index =
          build.Add(index, build.Mul(build.Cast(coordinates[i], Elem::kS64), storage.strides[i]));
    }
    return index;
  }
  const int64_t inner = Inner(kernel, storage);
  ir::ExprId row = build.Int(0);
  ir::ExprId column = build.Int(0);
  if (reshaped) {
    const ir::ExprId linear = RowMajor(build, view, coordinates, Elem::kS32);
    row = build.Bin(ir::BinaryOp::Div, linear, inner);
    column = build.Bin(ir::BinaryOp::Mod, linear, inner);
  } else if (!coordinates.empty()) {
    for (size_t i = 0; i + 1 < coordinates.size(); ++i) {
      row = build.Add(build.Mul(row, storage.dims[i]), coordinates[i]);
    }
    column = coordinates.back();
  }
  ir::ExprId index;
  const int64_t width =
      storage.kind == ir::StorageKind::Shared ? PanelElements(kernel, storage) : inner;
  if (width >= inner) {
    index = build.Add(build.Mul(row, width), column);
  } else {
    const int64_t panel = PanelRows(kernel, storage) * width;
    index =
        build.Add(build.Mul(build.Bin(ir::BinaryOp::Div, column, width), panel),
                  build.Add(build.Mul(row, width), build.Bin(ir::BinaryOp::Mod, column, width)));
  }
  if (storage.kind == ir::StorageKind::Shared) index = Swizzled(build, index, storage);
  if (view.slot && build.AsInt(view.slot) != 0) {
    const int64_t tile = storage.kind == ir::StorageKind::Shared
                             ? TileBytes(kernel, storage) / Bytes(storage.elem)
                             : TileRows(kernel, storage) * inner;
    index = build.Add(build.Mul(build.Cast(view.slot, Elem::kS32), tile), index);
  }
  return index;
}

bool InsideBase(const ir::Kernel& kernel, const Ranges& ranges, const ir::View& view, size_t axis) {
  const ir::ExprId extent = view.base_extents[axis];
  int64_t reach = 1;  // base elements from the first to the last, both counted
  for (const ir::View::Axis& along : view.axes) {
    if (static_cast<size_t>(along.base_axis) != axis) continue;
    if (!along.step && ir::AsInt(kernel, view.start[axis]) == 0 &&
        ir::Same(kernel, along.extent, extent)) {
      return true;
    }
    const auto length = ir::AsInt(kernel, along.extent);
    const auto step = along.step ? ir::AsInt(kernel, along.step) : std::optional<int64_t>(1);
    if (!length || !step || *step <= 0) return false;
    if (*length <= 0) return true;
    reach = (*length - 1) * *step + 1;
  }
  return ranges.Inside(view.start[axis], reach, extent);
}

ir::ExprId InsideCondition(ir::ExprBuilder& build, const Ranges& ranges, const ir::View& view,
                           const std::vector<ir::ExprId>& coordinates) {
  ir::ExprId condition;
  for (size_t i = 0; i < coordinates.size(); ++i) {
    if (InsideBase(build.kernel(), ranges, view, i)) continue;
    // One unsigned comparison covers both ends.
    const ir::ExprId inside = build.Lt(build.Cast(coordinates[i], Elem::kU32),
                                       build.Cast(view.base_extents[i], Elem::kU32));
    condition = condition ? build.And(condition, inside) : inside;
  }
  return condition;
}

int VectorElements(const ir::Kernel& kernel, const Divisors& divisors, const ir::View& view,
                   int most_bytes) {
  const ir::Storage& storage = kernel.storages[view.storage];
  if (view.axes.empty() || IsReshaped(kernel, view)) return 1;
  const ir::View::Axis& last = view.axes.back();
  const auto extent = ir::AsInt(kernel, last.extent);
  const auto whole = ir::AsInt(kernel, view.base_extents.back());
  if (last.step || static_cast<size_t>(last.base_axis) + 1 != view.base_extents.size() || !extent ||
      !whole) {
    return 1;
  }
  int64_t divisor = std::gcd(*extent, *whole);
  divisor = std::gcd(divisor, divisors.Of(view.start.back()));
  if (storage.kind == ir::StorageKind::Shared) {
    divisor = std::gcd(divisor, PanelElements(kernel, storage));
  }
  if (storage.kind == ir::StorageKind::Local) divisor = 1;
  int64_t elements = 1;
  while (elements * 2 * Bytes(storage.elem) <= most_bytes && divisor % (elements * 2) == 0) {
    elements *= 2;
  }
  return static_cast<int>(elements);
}

void RequireAlignment(ir::Kernel& kernel, const ir::View& view, int bytes) {
  const ir::Storage& storage = kernel.storages[view.storage];
  if (storage.kind != ir::StorageKind::Param || bytes <= Bytes(storage.elem)) return;
  const auto require = [&](ir::HostCheck check) {
    for (ir::HostCheck& known : kernel.host.checks) {
      if (known.kind == check.kind && known.param == check.param && known.axis == check.axis) {
        known.value = std::max(known.value, check.value);
        return;
      }
    }
    kernel.host.checks.push_back(check);
  };
  require({ir::HostCheck::Kind::BaseAlignment, storage.param_index, 0, bytes});
  for (size_t axis = 0; axis + 1 < storage.dims.size(); ++axis) {
    require({ir::HostCheck::Kind::StrideMultiple, storage.param_index, static_cast<int32_t>(axis),
             bytes / Bytes(storage.elem)});
  }
}

}  // namespace choreo::passes
