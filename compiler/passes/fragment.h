// Facts about fragments that several passes need.
#pragma once

#include "ir/builder.h"
#include "ir/ir.h"

namespace choreo::passes {

inline constexpr int kFragmentRows = 64;
inline constexpr int kMmaK = 16;

// Elements of a fragment that one lane owns: two rows of a row fragment, N/2 of a 64×N one.
inline int LaneElements(const ir::Kernel& kernel, const ir::Storage& frag) {
  if (frag.layout == ir::FragLayout::Row) return 2;
  return static_cast<int>(*ir::AsInt(kernel, frag.dims[1]) / 2);
}
// 32-bit registers that it takes.
inline int LaneRegisters(const ir::Kernel& kernel, const ir::Storage& frag) {
  return (LaneElements(kernel, frag) * Bits(frag.elem) + 31) / 32;
}

}  // namespace choreo::passes
