#include "passes/elected.h"

namespace choreo::passes {

ir::ExprId IsOneOf(ir::ExprBuilder& build, const std::vector<int>& who, const ThreadSet& active,
                   int lanes) {
  if (who.size() * static_cast<size_t>(lanes) == active.count()) return {};
  const auto is = [&](ir::ExprId index, int first) {
    if (lanes == 1) return build.Eq(index, first);
    return first == 0 ? build.Lt(index, build.Int(lanes))
                      : build.Eq(build.Div(index, lanes), first / lanes);
  };
  const ir::ExprId tid = build.Call(ir::Intrinsic::ThreadIdx, {});
  const ir::ExprId lane = build.Call(ir::Intrinsic::LaneIdx, {});
  // One thread of each whole warp or warpgroup, the same in each.
  for (const int size : {kWarpgroupSize, kWarpSize}) {
    ThreadSet covered;
    bool same = true;
    for (const int t : who) {
      same = same && t % size == who[0] % size;
      covered |= ThreadRange(t / size * size, size);
    }
    if (!same || (active & ~covered).any()) continue;
    if (size == kWarpSize) return is(lane, who[0] % size);
    // Active in one warp of the group only: its lane says it.
    const ThreadSet warps = ThreadRange(who[0] / kWarpSize * kWarpSize, kWarpSize);
    if (who.size() == 1 && (active & ~warps).none()) return is(lane, who[0] % kWarpSize);
    return is(build.Mod(tid, size), who[0] % size);
  }
  ir::ExprId any;
  for (const int t : who) {
    any = any ? build.Or(any, is(tid, t)) : is(tid, t);
  }
  return any;
}

}  // namespace choreo::passes
