// resource-checks: shared memory and the registers of live fragments against what the machine has.
// A kernel that cannot fit is refused by name, with the tiles or fragments that fill it. A role has
// the registers it asks for, everything else what the launch gives.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "ir/walk.h"
#include "passes/fragment.h"
#include "passes/pass.h"
#include "passes/streamed.h"

namespace choreo::passes {
namespace {

// Addresses, loop counters, descriptors and temporaries of a kernel without large expressions.
constexpr int kWorkingRegisters = 16;

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

const ir::RoleBegin* RoleOf(const ir::Region& region) {
  return region.ops.empty() ? nullptr : std::get_if<ir::RoleBegin>(&region.ops[0].node);
}
bool IsRole(const ir::Op& op) {
  const auto* branch = std::get_if<ir::If>(&op.node);
  return branch != nullptr && RoleOf(branch->then_body) != nullptr;
}

// Backward liveness of fragments over structured control flow.
class Liveness {
 public:
  using Set = std::set<ir::StorageId>;
  explicit Liveness(const ir::Kernel& kernel) : kernel_(kernel), streamed_(kernel) {}

  Set Before(const ir::Region& region, Set live) {
    for (size_t i = region.ops.size(); i-- > 0;) live = Before(region.ops[i], std::move(live));
    return live;
  }

  int peak = 0;
  Set at_peak;
  ir::Loc peak_loc;

 private:
  Set Before(const ir::Op& op, Set live) {
    if (IsRole(op)) return live;  // checked for themselves
    Note(live, op.loc);
    if (const auto* decl = std::get_if<ir::Decl>(&op.node)) {
      live.erase(decl->storage);
      return live;
    }
    if (const auto* branch = std::get_if<ir::If>(&op.node)) {
      Set other = Before(branch->else_body, live);
      live = Before(branch->then_body, std::move(live));
      live.merge(other);
    } else if (const ir::StorageId full = FullyWritten(kernel_, op); full) {
      live.erase(full);
    } else {
      ir::VisitRegions(op, [&](const ir::Region& body) {
        Set entry = live;
        while (true) {
          Set before = Before(body, entry);
          const size_t known = entry.size();
          entry.merge(before);
          if (entry.size() == known) break;
        }
        live = std::move(entry);
      });
    }
    // Element-wise loops read what they overwrite one element at a time: reads of the whole op
    // count.
    for (const ir::StorageId id : Reads(op)) live.insert(id);
    Note(live, op.loc);
    return live;
  }

  Set Reads(const ir::Op& op) const {
    Set out;
    const bool loop = std::holds_alternative<ir::For>(op.node) && FullyWritten(kernel_, op).valid();
    const ir::StorageUse use =
        loop ? ir::AllStorageUse(kernel_, op) : ir::DirectStorageUse(kernel_, op);
    for (const ir::StorageId id : use.reads) {
      if (kernel_.storages[id].kind == ir::StorageKind::Frag && id != FullyWritten(kernel_, op)) {
        out.insert(id);
      }
    }
    // A partial write needs the rest of the fragment.
    if (!loop && !FullyWritten(kernel_, op)) {
      for (const ir::StorageId id : use.writes) {
        if (kernel_.storages[id].kind == ir::StorageKind::Frag) out.insert(id);
      }
    }
    return out;
  }

  void Note(const Set& live, ir::Loc loc) {
    int registers = 0;
    for (const ir::StorageId id : live) {
      if (!streamed_.Has(id)) registers += LaneRegisters(kernel_, kernel_.storages[id]);
    }
    if (registers <= peak) return;
    peak = registers;
    at_peak = live;
    std::erase_if(at_peak, [&](ir::StorageId id) { return streamed_.Has(id); });
    peak_loc = loc;
  }

  const ir::Kernel& kernel_;
  Streamed streamed_;
};

void CheckRegion(const ir::Kernel& kernel, const ir::Region& region, int limit,
                 PassContext& context) {
  Liveness liveness(kernel);
  liveness.Before(region, {});
  if (liveness.peak + kWorkingRegisters <= limit) return;
  std::string fragments;
  for (const ir::StorageId id : liveness.at_peak) {
    const ir::Storage& frag = kernel.storages[id];
    if (!fragments.empty()) fragments += ", ";
    fragments += fmt::format("`{}` {}", frag.name, LaneRegisters(kernel, frag));
  }
  context.diags.Emit(diag::kinds::RegistersExceeded, context.Where(liveness.peak_loc), kernel.name,
                     liveness.peak + kWorkingRegisters, kernel.host.threads, limit, fragments);
}

void CheckRegisters(const ir::Kernel& kernel, PassContext& context) {
  int limit = kRegistersPerSm / kernel.host.threads / std::max(kernel.host.min_blocks, 1) /
              kRegisterGranule * kRegisterGranule;
  limit = std::min(limit, kRegistersPerThread);
  if (kernel.host.max_registers != 0) limit = std::min(limit, kernel.host.max_registers);
  CheckRegion(kernel, kernel.body, limit, context);
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    if (!IsRole(op)) return;
    const ir::Region& role = std::get<ir::If>(op.node).then_body;
    int own = limit;
    for (const ir::Op& inner : role.ops) {
      if (const auto* registers = std::get_if<ir::SetMaxNReg>(&inner.node)) own = registers->count;
    }
    CheckRegion(kernel, role, std::min(own, kRegistersPerThread), context);
  });
}

}  // namespace

ir::Kernel ResourceChecks(ir::Kernel kernel, PassContext& context) {
  CheckSharedMemory(kernel, context);
  CheckRegisters(kernel, context);
  return kernel;
}

}  // namespace choreo::passes
