// Launches that stand for all launches, and the values that scalars have in them.
// In: a tile-state kernel. Out: small launches that pass the host's asserts, with every tiled
// extent a few tiles long, from one tile to two turns of the longest ring and beyond. What the
// analysis finds wrong in one of them is wrong in a program that the host accepts; nothing is
// executed.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"
#include "passes/async_elements.h"
#include "passes/async_hand_over.h"

namespace choreo::passes {

// Values of variables; a variable without one is not known.
using Values = std::vector<std::optional<int64_t>>;

struct Launch {
  Values values;      // of dimensions, scalar parameters and block coordinates; by variable
  int tiles = 1;      // how long the tiled extents are
  bool first = true;  // the CTA: the first of the grid, or the last
  // What extents are divided by is 1, so that the shares of a CTA are as long; else tiles.
  bool long_shares = false;
};

// Ascending by `tiles`, those with long shares after the others. Empty: no launch was found that
// passes the asserts.
std::vector<Launch> SampleLaunches(const ir::Kernel& kernel, const ReadElements& elements);
// The slots of the longest ring of events; at least 1.
int LongestRing(const ir::Kernel& kernel);

// Integer expressions for one group of threads. Elements of parameters that the kernel only reads
// have made-up values.
class Evaluator {
 public:
  Evaluator(const ir::Kernel& kernel, const ReadElements& elements, Values values, int tiles)
      : kernel_(kernel), elements_(&elements), values_(std::move(values)), tiles_(tiles) {}

  std::optional<int64_t> Value(ir::ExprId e) const;
  std::optional<int64_t> Get(ir::VarId var) const { return values_[var.value]; }
  void Set(ir::VarId var, std::optional<int64_t> value) { values_[var.value] = value; }
  // Where elements of shared tiles are looked up; null: they are not known.
  void Use(const KnownElements* shared) { shared_ = shared; }
  // The single element that a view without axes is, if its place is known.
  std::optional<ElementPlace> PlaceOf(const ir::View& view) const;

 private:
  std::optional<int64_t> ValueOfBinary(const ir::Binary& node) const;
  std::optional<int64_t> ValueOfCall(const ir::Call& node, Elem type) const;
  std::optional<int64_t> Element(const ir::View& view) const;

  const ir::Kernel& kernel_;
  const ReadElements* elements_;
  const KnownElements* shared_ = nullptr;
  Values values_;
  int tiles_;
};

}  // namespace choreo::passes
