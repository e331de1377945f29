// resource-checks: shared memory and the registers of live fragments against what the machine has.
// A kernel that cannot fit is refused by name, with the tiles or fragments that fill it.
#include "passes/fragment.h"
#include "passes/fragment_registers.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

void CheckSharedMemory(const ir::Kernel& kernel, PassContext& context) {
  if (kernel.host.shared_bytes <= kSharedLimit) return;
  std::string tiles;
  for (const ir::Storage& storage : kernel.storages) {
    if (storage.kind != ir::StorageKind::Shared) continue;
    if (!tiles.empty()) tiles += ", ";
    tiles += fmt::format("`{}` {}", storage.name, int64_t{storage.tile_bytes} * storage.array_size);
  }
  context.diags.Emit(diag::kinds::SharedMemoryExceeded, context.Where(kernel.loc), kernel.name,
                     kernel.host.shared_bytes, kSharedLimit, tiles);
}

void CheckRegisters(const ir::Kernel& kernel, PassContext& context) {
  ForEachRegisterBudget(kernel, [&](const ir::Region& region, int limit) {
    const FragmentPeak peak = PeakOfFragments(kernel, region);
    const int needed = peak.registers + kWorkingRegisters;
    if (needed <= limit) return;
    std::string fragments;
    for (const ir::StorageId id : peak.live) {
      const ir::Storage& frag = kernel.storages[id];
      if (!fragments.empty()) fragments += ", ";
      fragments += fmt::format("`{}` {}", frag.name, LaneRegisters(kernel, frag));
    }
    context.diags.Emit(diag::kinds::RegistersExceeded, context.Where(peak.loc), kernel.name, needed,
                       kernel.host.threads, limit, fragments);
  });
}

}  // namespace

ir::Kernel ResourceChecks(ir::Kernel kernel, PassContext& context) {
  CheckSharedMemory(kernel, context);
  CheckRegisters(kernel, context);
  return kernel;
}

}  // namespace choreo::passes
