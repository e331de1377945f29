// Where elements of views lie: coordinates in the base, linear indices into storage (with panels
// and swizzle for shared tiles), and which coordinates may fall outside.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "ir/ir.h"
#include "passes/divisors.h"
#include "passes/ranges.h"

namespace choreo::passes {

// Elements of one row of a panel; the row length itself for row-major tiles.
int64_t PanelElements(const ir::Kernel& kernel, const ir::Storage& storage);
// Rows of a shared or local tile (all axes but the last), and those of a panel (padded to 8).
int64_t TileRows(const ir::Kernel& kernel, const ir::Storage& storage);
int64_t PanelRows(const ir::Kernel& kernel, const ir::Storage& storage);
// Bytes of one tile, padding included; the alignment its start needs.
int64_t TileBytes(const ir::Kernel& kernel, const ir::Storage& storage);
int64_t TileAlignment(const ir::Storage& storage);

// Base coordinates (s32) of the element at `at` (one s32 an axis) of a view.
std::vector<ir::ExprId> BaseCoordinates(ir::ExprBuilder& build, const ir::View& view,
                                        const std::vector<ir::ExprId>& at);

// Whether the view's base is the storage in another shape (span_as).
bool IsReshaped(const ir::Kernel& kernel, const ir::View& view);

// The linear index of the element at base coordinates: s64 for parameters, s32 otherwise; see
// MemElem.
ir::ExprId LinearIndex(ir::ExprBuilder& build, const ir::View& view,
                       const std::vector<ir::ExprId>& coordinates);

// Whether base axis `axis` of the view stays inside the base for every value of its coordinates.
bool InsideBase(const ir::Kernel& kernel, const Ranges& ranges, const ir::View& view, size_t axis);

// The condition (bool) that the coordinates lie inside the base, over the axes that are not
// provably inside; invalid if none is left.
ir::ExprId InsideCondition(ir::ExprBuilder& build, const Ranges& ranges, const ir::View& view,
                           const std::vector<ir::ExprId>& coordinates);

// How many adjacent elements along the view's last axis can be accessed at once, at most `most`
// bytes: a power of two, by what is known of extents and starts.
int VectorElements(const ir::Kernel& kernel, const Divisors& divisors, const ir::View& view,
                   int most_bytes);
// Has the host check what such accesses of `bytes` need of a parameter's base and strides.
void RequireAlignment(ir::Kernel& kernel, const ir::View& view, int bytes);

}  // namespace choreo::passes
