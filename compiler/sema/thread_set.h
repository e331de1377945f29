// Exact sets of the threads of a CTA, and the values that parallel variables have in each of them.
// In: the nesting of `parallel` below the grid and the predicates of `inthreads`. Out: which
// threads execute, and over which of their neighbours a variable differs.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sema/sema.h"

namespace choreo::sema {

inline constexpr int kMaxThreads = 1024;
inline constexpr int kWarp = 32;
inline constexpr int kWarpgroup = 128;
using ThreadSet = std::bitset<kMaxThreads>;

// Between which executing threads a value may differ.
enum Difference : uint8_t {
  kBetweenWarpgroups = 1,
  kBetweenWarps = 2,  // of one warpgroup
  kBetweenLanes = 4,  // of one warp
  kAnywhere = 7,
};

class ThreadSpace {
 public:
  // One dimension list of a parallel: `{r, c} by [4, 64] : thread`. Block dimensions are left out.
  void Push(ast::Level level, std::vector<EntityId> vars, std::vector<int64_t> bounds);
  void Pop();

  // The innermost warpgroup or warp that is named, else the CTA.
  ast::Level scope() const;
  // Threads the dimensions name; those beyond the bounds are no part of it.
  ThreadSet All() const;
  // The variable's value in a thread, if it is one of this space or was: a scalar that was assigned
  // where it was keeps what it got. -1 in a thread that had none.
  std::optional<int64_t> ValueIn(EntityId var, int thread) const;
  std::optional<std::pair<int64_t, int64_t>> RangeIn(EntityId var, const ThreadSet& threads) const;
  // Bits of Difference.
  uint8_t Differs(EntityId var, const ThreadSet& threads) const;
  std::vector<EntityId> Variables() const;

 private:
  struct Frame {
    ast::Level level;
    std::vector<EntityId> vars;
    std::vector<int64_t> bounds;
    int64_t count;
  };
  using Frames = std::vector<Frame>;
  // Ordinal of the thread among those of the frame's level, within what the frames around it name.
  static int64_t Ordinal(const Frames& frames, size_t frame, int thread);
  static std::optional<int64_t> ValueIn(const Frames& frames, EntityId var, int thread);

  Frames frames_;
  std::unordered_map<EntityId, Frames> left_;  // by variable
};

// Threads of `among` in which a predicate of comparisons with constants holds; nothing if it has
// another form.
std::optional<ThreadSet> Holds(const ast::File& file, const Result& result,
                               const ThreadSpace& space, ast::ExprId predicate,
                               const ThreadSet& among);

}  // namespace choreo::sema
