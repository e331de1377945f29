// Registers that fragments take at once, and how many a thread has. In: lowered fragments, roles as
// branches. Fragments that stream-fragments will make a block at a time do not count.
#pragma once

#include <functional>
#include <set>

#include "ir/ir.h"

namespace choreo::passes {

// Addresses, loop counters, descriptors and temporaries of a kernel without large expressions.
inline constexpr int kWorkingRegisters = 16;

struct FragmentPeak {
  int registers = 0;  // of a thread
  std::set<ir::StorageId> live;
  ir::Loc loc;
};

// Where most registers of fragments are live in `region`; roles in it are left to themselves.
FragmentPeak PeakOfFragments(const ir::Kernel& kernel, const ir::Region& region);

// The kernel's body and each of its roles, with the registers that a thread has there: a role has
// what it asks for, everything else what the launch gives.
void ForEachRegisterBudget(ir::Kernel& kernel,
                           const std::function<void(ir::Region&, int limit)>& visit);
void ForEachRegisterBudget(const ir::Kernel& kernel,
                           const std::function<void(const ir::Region&, int limit)>& visit);

}  // namespace choreo::passes
