// What is not simulated: text of `__cpp__` and device functions of the host text. The finding says
// that results are void; what such code may have written counts as written, so that no finding
// about uninitialised values follows from it.
#include <algorithm>

#include "ir/walk.h"
#include "sim/cta.h"

namespace choreo::sim {
namespace {

void CountAsWritten(Warp& w, ir::StorageId id) {
  Cta& cta = *w.cta;
  const Program& program = cta.program();
  const ir::Storage& storage = cta.launch->kernel->storages[id];
  if (storage.kind == ir::StorageKind::Frag || storage.kind == ir::StorageKind::Local) {
    const auto slots = static_cast<int32_t>(SlotsOf(storage.elem));
    for (int32_t i = 0; i < program.elements[id.value]; ++i) {
      const Slot slot = program.ElementSlot(id, i);
      for (int32_t part = 0; part < slots; ++part) {
        w.regs.poison[slot + static_cast<Slot>(part)] &= ~w.active;
      }
    }
  } else if (storage.kind == ir::StorageKind::Shared) {
    const auto begin = static_cast<size_t>(storage.byte_offset);
    const auto bytes = static_cast<size_t>(storage.tile_bytes) *
                       static_cast<size_t>(std::max(storage.array_size, 1));
    const size_t end = std::min(begin + bytes, cta.shared_poison.size());
    std::fill(cta.shared_poison.begin() + static_cast<long>(begin),
              cta.shared_poison.begin() + static_cast<long>(end), uint8_t{0});
  }
}

}  // namespace

std::string OpaqueName(const ir::OpNode& node) {
  const auto* call = std::get_if<ir::OpaqueCall>(&node);
  return call == nullptr ? "`__cpp__` code" : fmt::format("`{}`, a device function,", call->callee);
}

void ExecOpaque(Warp& w, const FlatOp& op) {
  Cta& cta = *w.cta;
  cta.findings().Add(diag::kinds::SimOpaqueCode, cta.Loc(w), {}, OpaqueName(*op.node));
  const auto* call = std::get_if<ir::OpaqueCall>(op.node);
  if (call == nullptr) return;
  for (const ir::StorageId frag : call->frags) {
    TouchFrag(w, frag, true);
    CountAsWritten(w, frag);
  }
  const ir::Kernel& kernel = *cta.launch->kernel;
  ir::ForEachAddress(*call, [&](ir::ExprId element, bool written) {
    if (written) CountAsWritten(w, ir::StorageOfElement(kernel, element));
  });
}

}  // namespace choreo::sim
