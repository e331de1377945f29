// The verifier's rules for the tables beside the ops: variables, storages, views, parameters, host
// part.
#include <algorithm>

#include "ir/verifier_impl.h"

namespace choreo::ir {
namespace {

constexpr int64_t kMaxSharedBytes = 227 * 1024;  // of a CTA on sm_90

}  // namespace

bool KernelVerifier::ValidVar(VarId id) {
  if (id.value < kernel_.vars.size()) return true;
  Report("a variable is missing or does not exist");
  return false;
}
bool KernelVerifier::ValidStorage(StorageId id) {
  if (id.value < kernel_.storages.size()) return true;
  Report("a storage is missing or does not exist");
  return false;
}
bool KernelVerifier::ValidView(ViewId id) {
  if (id.value < kernel_.views.size()) return true;
  Report("a view is missing or does not exist");
  return false;
}

bool KernelVerifier::InScope(VarId id) {
  if (var_in_scope_[id.value] != 0) return true;
  Report("`{}` is not in scope", kernel_.vars[id].name);
  return false;
}

bool KernelVerifier::Alive(StorageId id) {
  if (!ValidStorage(id)) return false;
  const Storage& storage = kernel_.storages[id];
  const bool declared = storage.kind == StorageKind::Frag || storage.kind == StorageKind::Local;
  if (!declared || storage_alive_[id.value] != 0) return true;
  Report("`{}` is used outside the scope of its decl", storage.name);
  return false;
}

void KernelVerifier::Define(VarId id, std::initializer_list<VarKind> kinds) {
  if (!ValidVar(id)) return;
  const Var& var = kernel_.vars[id];
  bool fits = false;
  for (const VarKind kind : kinds) fits = fits || var.kind == kind;
  if (!fits) Report("`{}` is a variable of another kind", var.name);
  if (var_in_scope_[id.value] != 0) {
    Report("`{}` is defined where it is in scope already", var.name);
    return;
  }
  var_in_scope_[id.value] = 1;
  scope_vars_.push_back(id);
}

void KernelVerifier::Leave(Mark mark) {
  while (scope_vars_.size() > mark.vars) {
    var_in_scope_[scope_vars_.back().value] = 0;
    scope_vars_.pop_back();
  }
  while (scope_storages_.size() > mark.storages) {
    storage_alive_[scope_storages_.back().value] = 0;
    scope_storages_.pop_back();
  }
}

bool KernelVerifier::IsConstantDims(const Storage& storage) const {
  for (const ExprId dim : storage.dims) {
    const auto value = dim.value < kernel_.exprs.size() ? Constant(dim) : std::nullopt;
    if (!value || *value <= 0 || *value > INT32_MAX) return false;
  }
  return true;
}

void KernelVerifier::CheckStorage(StorageId id) {
  const Storage& storage = kernel_.storages[id];
  const bool scalar_event = storage.kind == StorageKind::Event && !IsLowered();
  if (storage.array_size < (scalar_event ? 0 : 1))
    Report("storage `{}` has {} tiles", storage.name, storage.array_size);
  if (storage.kind == StorageKind::Param) {
    const auto index = static_cast<size_t>(storage.param_index);
    if (storage.param_index < 0 || index >= kernel_.params.size() ||
        kernel_.params[index].storage != id) {
      Report("storage `{}` does not belong to parameter {}", storage.name, storage.param_index);
    }
    CheckList(storage.dims, Elem::kS32, "an extent of a parameter");
    CheckList(storage.strides, Elem::kS64, "a stride of a parameter");
    if (storage.dims.size() != storage.strides.size()) {
      Report("storage `{}` has {} extents and {} strides", storage.name, storage.dims.size(),
             storage.strides.size());
    }
    return;
  }
  if (!IsConstantDims(storage)) {
    Report("storage `{}` has extents that are no positive constants", storage.name);
    return;
  }
  if (storage.kind == StorageKind::Shared) CheckShared(storage);
  if (storage.kind == StorageKind::Event) CheckEvent(storage);
  CheckSlotNames(storage);
  if (storage.kind != StorageKind::Frag || storage.layout == FragLayout::None) {
    if (storage.kind == StorageKind::Frag && IsLowered()) {
      Report("fragment `{}` has no layout", storage.name);
    }
    return;
  }
  const bool row = storage.layout == FragLayout::Row;
  const bool rank_fits = storage.dims.size() == (row ? 1u : 2u);
  if (!rank_fits || *Constant(storage.dims[0]) != 64 ||
      (!row && *Constant(storage.dims[1]) % 8 != 0)) {
    Report("fragment `{}` is not {}", storage.name, row ? "[64]" : "[64, a multiple of 8]");
  }
}

void KernelVerifier::CheckSlotNames(const Storage& storage) {
  if (storage.slot_names.empty()) return;
  if (storage.kind != StorageKind::Event) {
    Report("storage `{}` names slots and is no event", storage.name);
    return;
  }
  const auto spaces = std::count(storage.slot_names.begin(), storage.slot_names.end(), ' ');
  if (spaces + 1 != storage.array_size) {
    Report("event `{}` has {} slots and {} names of slots", storage.name, storage.array_size,
           spaces + 1);
  }
}

void KernelVerifier::CheckShared(const Storage& storage) {
  const int32_t swizzle = storage.swizzle;
  const bool known =
      swizzle == 0 || swizzle == 16 || swizzle == 32 || swizzle == 64 || swizzle == 128;
  if (!known && (swizzle != -1 || IsLowered())) {
    Report("storage `{}` has swizzle {}", storage.name, swizzle);
  }
  if (storage.byte_offset < 0) {
    if (IsLowered()) Report("storage `{}` has no place in shared memory", storage.name);
    return;
  }
  int64_t bytes = Bytes(storage.elem);
  for (const ExprId dim : storage.dims) bytes *= *Constant(dim);
  if (storage.tile_bytes < bytes) {
    Report("storage `{}` needs {} bytes a tile and has {}", storage.name, bytes,
           storage.tile_bytes);
  }
  const int32_t alignment = swizzle > 0 ? 8 * swizzle : 16;
  if (storage.byte_offset % alignment != 0 ||
      (storage.array_size > 1 && storage.tile_bytes % alignment != 0)) {
    Report("storage `{}` is not aligned to {} bytes", storage.name, alignment);
  }
  const int64_t end = storage.byte_offset + int64_t{storage.tile_bytes} * storage.array_size;
  if (IsLowered() && end > kernel_.host.shared_bytes) {
    Report("storage `{}` ends at byte {} of {} of shared memory", storage.name, end,
           kernel_.host.shared_bytes);
  }
}

void KernelVerifier::CheckEvent(const Storage& storage) {
  if (storage.elem != Elem::kU64 || !storage.dims.empty()) {
    Report("event `{}` does not have one u64 a slot", storage.name);
  }
  if (storage.byte_offset < 0) return;  // lowered to something else than an mbarrier
  if (storage.byte_offset % 8 != 0 ||
      storage.byte_offset + int64_t{8} * storage.array_size > kernel_.host.shared_bytes) {
    Report("event `{}` has no place of its own in shared memory", storage.name);
  }
}

void KernelVerifier::CheckMaps() {
  constexpr int32_t kMaxBox = 256;  // elements an axis
  constexpr size_t kMaxRank = 5;
  for (const TensorMap& map : kernel_.host.maps) {
    const auto index = static_cast<size_t>(map.param);
    if (map.param < 0 || index >= kernel_.params.size() || !kernel_.params[index].shaped ||
        !ValidStorage(kernel_.params[index].storage)) {
      Report("a tensor map of parameter {}, which is not shaped", map.param);
      continue;
    }
    const Storage& storage = kernel_.storages[kernel_.params[index].storage];
    if (map.box.size() != storage.dims.size() || map.box.empty() || map.box.size() > kMaxRank) {
      Report("a tensor map of {} axes for `{}`", map.box.size(), storage.name);
      continue;
    }
    for (const int32_t extent : map.box) {
      if (extent < 1 || extent > kMaxBox) Report("a box extent of {}: 1 to {}", extent, kMaxBox);
    }
    const int64_t inner = int64_t{map.box.back()} * Bytes(storage.elem);
    if (inner % 16 != 0) Report("an inner box extent of {} bytes: a multiple of 16", inner);
    const bool known =
        map.swizzle == 0 || map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128;
    if (!known || (map.swizzle != 0 && inner > map.swizzle)) {
      Report("an inner box extent of {} bytes with swizzle {}", inner, map.swizzle);
    }
  }
}

void KernelVerifier::CheckView(ViewId id) {
  const View& view = kernel_.views[id];
  if (!ValidStorage(view.storage)) return;
  if (view.base_extents.size() != view.start.size()) {
    Report("view #{} has {} base extents and {} start coordinates", id.value,
           view.base_extents.size(), view.start.size());
  }
  std::vector<char> used(view.base_extents.size(), 0);
  for (const View::Axis& axis : view.axes) {
    const auto base = static_cast<size_t>(axis.base_axis);
    if (axis.base_axis < 0 || base >= used.size() || used[base] != 0) {
      Report("view #{} has an axis on base axis {}", id.value, axis.base_axis);
      return;
    }
    used[base] = 1;
    if (!axis.extent) Report("view #{} has an axis without extent", id.value);
  }
}

void KernelVerifier::CheckParams() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const Param& param = kernel_.params[i];
    if (param.shaped) {
      if (!ValidStorage(param.storage)) continue;
      const Storage& storage = kernel_.storages[param.storage];
      if (storage.kind != StorageKind::Param || storage.param_index != static_cast<int>(i) ||
          storage.elem != param.elem) {
        Report("parameter `{}` and storage `{}` do not fit", param.name, storage.name);
      }
    } else if (ValidVar(param.var)) {
      const Var& var = kernel_.vars[param.var];
      if (var.kind != VarKind::Param || var.type != param.elem) {
        Report("parameter `{}` and variable `{}` do not fit", param.name, var.name);
      }
    }
  }
}

// Every variable that exists before the launch gets its value from an argument.
void KernelVerifier::CheckLaunchVars() {
  std::vector<char> bound(kernel_.vars.size(), 0);
  const auto bind = [&](ExprId id, VarKind kind) {
    const auto* ref = std::get_if<VarRef>(&kernel_.exprs[id].node);
    if (ref != nullptr && kernel_.vars[ref->var].kind == kind) bound[ref->var.value] = 1;
  };
  for (const Param& param : kernel_.params) {
    if (!param.shaped) {
      if (param.var.value < bound.size()) bound[param.var.value] = 1;
      continue;
    }
    if (param.storage.value >= kernel_.storages.size()) continue;
    for (const ExprId dim : kernel_.storages[param.storage].dims) bind(dim, VarKind::Dim);
    for (const ExprId id : kernel_.storages[param.storage].strides) bind(id, VarKind::Stride);
  }
  for (size_t i = 0; i < kernel_.vars.size(); ++i) {
    if (var_in_scope_[i] != 0 && bound[i] == 0) {
      Report("no parameter gives `{}` a value", kernel_.vars[kernel_.vars.IdAt(i)].name);
    }
  }
}

void KernelVerifier::CheckHost() {
  const HostPart& host = kernel_.host;
  if (host.block_vars.size() != host.block_bounds.size()) {
    Report("{} block variables and {} bounds", host.block_vars.size(), host.block_bounds.size());
  }
  for (const VarId var : host.block_vars) ValidVar(var);
  CheckList(host.block_bounds, Elem::kS32, "a bound of a block variable");
  for (const ExprId extent : host.grid) {
    if (extent && Typed(extent, Elem::kS64, "a grid extent")) CheckExpr(extent);
  }
  for (const HostCheck& check : host.checks) {
    if (check.param < 0 || static_cast<size_t>(check.param) >= kernel_.params.size() ||
        !kernel_.params[check.param].shaped) {
      Report("a host check of parameter {}, which is not shaped", check.param);
      continue;
    }
    const StorageId storage = kernel_.params[check.param].storage;
    const bool of_axis = check.kind == HostCheck::Kind::StrideMultiple ||
                         check.kind == HostCheck::Kind::ExtentMultiple;
    if (of_axis && ValidStorage(storage) &&
        (check.axis < 0 ||
         static_cast<size_t>(check.axis) >= kernel_.storages[storage].dims.size())) {
      Report("a host check of axis {} of parameter {}", check.axis, check.param);
    }
  }
  for (const Cover& cover : host.covers) {
    const auto param = static_cast<size_t>(cover.param);
    if (cover.param < 0 || param >= kernel_.params.size() || !kernel_.params[param].shaped) {
      Report("the promise to cover parameter {}, which is not shaped", cover.param);
    }
  }
  CheckMaps();
  if (!IsLowered()) return;
  if (host.threads < 1 || host.threads > 1024) {
    Report("{} threads a CTA: not 1 to 1024", host.threads);
  }
  if (host.min_blocks < 1) Report("{} CTAs a processor", host.min_blocks);
  if (host.cluster != 1 && host.cluster != 2 && host.cluster != 4 && host.cluster != 8) {
    Report("a cluster of {}: 1, 2, 4 or 8 CTAs", host.cluster);
  }
  if (host.shared_bytes < 0 || host.shared_bytes > kMaxSharedBytes) {
    Report("{} bytes of shared memory: the limit is {}", host.shared_bytes, kMaxSharedBytes);
  }
}

void KernelVerifier::CheckTables() {
  for (size_t i = 0; i < kernel_.vars.size(); ++i) {
    const VarId id = kernel_.vars.IdAt(i);
    const VarKind kind = kernel_.vars[id].kind;
    if (kind == VarKind::Dim || kind == VarKind::Stride || kind == VarKind::Param) {
      var_in_scope_[i] = 1;
    }
    // What a bound may refer to depends on where the variable is defined: only its id is checked
    // here.
    if (const ExprId bound = kernel_.vars[id].bound) {
      Typed(bound, kernel_.vars[id].type, "the bound of a variable");
    }
  }
  CheckParams();
  for (size_t i = 0; i < kernel_.storages.size(); ++i) CheckStorage(kernel_.storages.IdAt(i));
  for (size_t i = 0; i < kernel_.views.size(); ++i) CheckView(kernel_.views.IdAt(i));
  if (out_.empty()) CheckLaunchVars();
}

}  // namespace choreo::ir
