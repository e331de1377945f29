#include "sim/cover.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "sim/cta.h"

namespace choreo::sim {
namespace {

// "(0, 128, 1, 0)": the indices of the element `at` places from the lowest one.
std::string IndexOf(const ParamMemory& memory, int64_t at) {
  std::vector<size_t> axes(memory.extents.size());
  std::iota(axes.begin(), axes.end(), size_t{0});
  std::stable_sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    return std::abs(memory.strides[a]) > std::abs(memory.strides[b]);
  });
  std::vector<int64_t> index(axes.size());
  for (const size_t axis : axes) {
    const int64_t last = memory.extents[axis] - 1;
    const int64_t stride = std::abs(memory.strides[axis]);
    const int64_t steps = stride == 0 ? 0 : std::min(at / stride, last);
    at -= steps * stride;
    index[axis] = memory.strides[axis] < 0 ? last - steps : steps;
  }
  return fmt::format("({})", fmt::join(index, ", "));
}

// Calls f(places from the lowest element) for each element, the last axis fastest.
template <class F>
void ForEachElement(const ParamMemory& memory, F&& f) {
  std::vector<int64_t> index(memory.extents.size(), 0);
  int64_t at = -memory.low;
  while (true) {
    f(at);
    size_t axis = index.size();
    while (axis > 0) {
      --axis;
      at += memory.strides[axis];
      if (++index[axis] < memory.extents[axis]) break;
      at -= index[axis] * memory.strides[axis];
      index[axis] = 0;
      if (axis == 0) return;
    }
    if (index.empty()) return;
  }
}

}  // namespace

Coverage::Coverage(const ir::Kernel& kernel, const std::vector<ParamMemory>& params)
    : index_(kernel.storages.size(), -1) {
  for (const ir::Cover& cover : kernel.host.covers) {
    const ir::StorageId storage = kernel.params[static_cast<size_t>(cover.param)].storage;
    const ParamMemory& memory = params[storage.value];
    index_[storage.value] = static_cast<int>(params_.size());
    Param param;
    param.cover = cover;
    param.elements.resize(static_cast<size_t>(memory.high - memory.low));
    params_.push_back(std::move(param));
  }
}

bool Coverage::Store(Warp& w, const Place& place, int32_t bytes) {
  if (params_.empty() || index_[place.storage.value] < 0) return true;
  Cta& cta = *w.cta;
  const ParamMemory& memory = cta.launch->params[place.storage.value];
  const int32_t size = Bytes(cta.launch->kernel->storages[place.storage].elem);
  Param& param = params_[static_cast<size_t>(index_[place.storage.value])];
  const int64_t first = (place.data - memory.data) / size - memory.low;
  bool holds = true;
  for (int64_t at = first; at < first + bytes / size; ++at) {
    First& element = param.elements[static_cast<size_t>(at)];
    if (element.stored && holds) {
      holds = false;
      cta.findings().Add(diag::kinds::SimStoredTwice, cta.Loc(w), cta.launch->LocOf(element.op),
                         IndexOf(memory, at), std::string(cta.launch->NameOf(place.storage)),
                         WarpName(w), cta.id, element.cta);
    }
    if (!element.stored) element = {w.pc, cta.id, true};
  }
  return holds;
}

void Coverage::Excuse(ir::StorageId storage) {
  if (params_.empty() || index_[storage.value] < 0) return;
  params_[static_cast<size_t>(index_[storage.value])].excused = true;
}

void Coverage::Finish(Execution& launch) const {
  for (const Param& param : params_) {
    const ir::Param& declared = launch.kernel->params[static_cast<size_t>(param.cover.param)];
    const ParamMemory& memory = launch.params[declared.storage.value];
    if (param.excused || memory.high == memory.low) continue;
    int64_t missing = 0, first = 0, count = 0;
    ForEachElement(memory, [&](int64_t at) {
      ++count;
      if (param.elements[static_cast<size_t>(at)].stored) return;
      if (missing++ == 0) first = at;
    });
    if (missing == 0) continue;
    const ir::Loc loc{static_cast<uint32_t>(param.cover.line),
                      static_cast<uint32_t>(param.cover.column)};
    launch.findings.Add(diag::kinds::SimNotCovered, loc, {}, missing, count, declared.name,
                        IndexOf(memory, first));
  }
}

}  // namespace choreo::sim
