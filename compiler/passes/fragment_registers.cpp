#include "passes/fragment_registers.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "ir/walk.h"
#include "passes/fragment.h"
#include "passes/pass.h"
#include "passes/streamed.h"

namespace choreo::passes {
namespace {

// Backward liveness of fragments over structured control flow.
class Liveness {
 public:
  using Set = std::set<ir::StorageId>;
  explicit Liveness(const ir::Kernel& kernel) : kernel_(kernel), streamed_(kernel) {}

  Set Before(const ir::Region& region, Set live) {
    for (size_t i = region.ops.size(); i-- > 0;) live = Before(region.ops[i], std::move(live));
    return live;
  }

  FragmentPeak peak;

 private:
  Set Before(const ir::Op& op, Set live) {
    if (ir::IsRole(op)) return live;  // checked for themselves
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
    if (registers <= peak.registers) return;
    peak = {registers, live, loc};
    std::erase_if(peak.live, [&](ir::StorageId id) { return streamed_.Has(id); });
  }

  const ir::Kernel& kernel_;
  Streamed streamed_;
};

int LaunchLimit(const ir::Kernel& kernel) {
  int limit = kRegistersPerSm / kernel.host.threads / std::max(kernel.host.min_blocks, 1) /
              kRegisterGranule * kRegisterGranule;
  limit = std::min(limit, kRegistersPerThread);
  if (kernel.host.max_registers != 0) limit = std::min(limit, kernel.host.max_registers);
  return limit;
}

// The last that the role asks for, or `otherwise`.
int RoleLimit(const ir::Region& role, int otherwise) {
  int limit = otherwise;
  for (const ir::Op& op : role.ops) {
    if (const auto* registers = std::get_if<ir::SetMaxNReg>(&op.node)) limit = registers->count;
  }
  return std::min(limit, kRegistersPerThread);
}

template <class K, class Visit>
void VisitBudgets(K& kernel, const Visit& visit) {
  const int limit = LaunchLimit(kernel);
  visit(kernel.body, limit);
  using Op = std::conditional_t<std::is_const_v<K>, const ir::Op, ir::Op>;
  ir::ForEachOp(kernel.body, [&](Op& op) {
    if (!ir::IsRole(op)) return;
    auto& role = std::get<ir::If>(op.node).then_body;
    visit(role, RoleLimit(role, limit));
  });
}

}  // namespace

FragmentPeak PeakOfFragments(const ir::Kernel& kernel, const ir::Region& region) {
  Liveness liveness(kernel);
  liveness.Before(region, {});
  return liveness.peak;
}

void ForEachRegisterBudget(ir::Kernel& kernel,
                           const std::function<void(ir::Region&, int limit)>& visit) {
  VisitBudgets(kernel, visit);
}

void ForEachRegisterBudget(const ir::Kernel& kernel,
                           const std::function<void(const ir::Region&, int limit)>& visit) {
  VisitBudgets(kernel, visit);
}

}  // namespace choreo::passes
