// pin-descriptors: where registers are scarce, what an MMA in a loop adds to the descriptor of a
// tile that stays the same is added at the MMA. The compiler below would take the sums out of the
// loop, two registers each, whether there is room for them or not; it moves nothing past a pinned
// value.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ir/walk.h"
#include "passes/fragment_registers.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

constexpr int kSumRegisters = 2;  // a descriptor has 64 bits

// A tile's descriptor, and what an MMA adds to it.
struct Sum {
  ir::VarId tile;
  int64_t distance = 0;
};

class Pinning {
 public:
  Pinning(ir::Kernel& kernel, ir::Region& unit) : kernel_(kernel), build_(kernel), unit_(unit) {
    ir::ForEachOp(unit, [&](const ir::Op& op) {
      if (const auto* let = std::get_if<ir::Let>(&op.node)) values_[let->var] = let->value;
    });
  }

  // What the sums take that stay the same in the innermost loop around their MMAs.
  int Registers() {
    std::vector<std::pair<ir::ExprId, int64_t>> sums;
    EachTile(unit_, nullptr, [&](ir::Region&, size_t, const Sum& sum) {
      const auto value = values_.find(sum.tile);
      const ir::ExprId tile = value == values_.end() ? build_.Var(sum.tile) : value->second;
      const bool known = std::any_of(sums.begin(), sums.end(), [&](const auto& other) {
        return other.second == sum.distance && ir::Same(kernel_, other.first, tile);
      });
      if (!known && sum.distance != 0) sums.emplace_back(tile, sum.distance);
    });
    return static_cast<int>(sums.size()) * kSumRegisters;
  }

  void Run() {
    EachTile(unit_, nullptr, [&](ir::Region& region, size_t mma, const Sum& sum) {
      if (pinned_.contains(sum.tile)) return;
      for (size_t i = 0; i < mma; ++i) {
        auto* let = std::get_if<ir::Let>(&region.ops[i].node);
        if (let == nullptr || let->var != sum.tile) continue;
        let->value = build_.Call(ir::Intrinsic::Pin, {let->value});
        pinned_.insert(let->var);
        return;
      }
      pinned_.insert(PinIn(region, mma, sum.tile));
    });
  }

 private:
  struct Loop {
    std::set<ir::VarId> lets, counters;  // of its body
  };

  static Loop LoopOf(const ir::Op& op) {
    Loop loop;
    ir::ForEachOp(op, [&](const ir::Op& inner) {
      if (const auto* let = std::get_if<ir::Let>(&inner.node)) loop.lets.insert(let->var);
      if (const auto* range = std::get_if<ir::For>(&inner.node)) loop.counters.insert(range->var);
    });
    return loop;
  }

  bool IsTheSame(ir::VarId var, const Loop& loop) const {
    switch (kernel_.vars[var].kind) {
      case ir::VarKind::Mutable:
        return false;
      case ir::VarKind::Loop:
        return !loop.counters.contains(var);
      case ir::VarKind::Let: {
        const auto value = values_.find(var);
        if (value == values_.end()) return false;
        return !loop.lets.contains(var) || IsTheSame(value->second, loop);
      }
      default:
        return true;
    }
  }

  bool IsTheSame(ir::ExprId root, const Loop& loop) const {
    bool same = true;
    ir::ForEachSubExpr(kernel_, root, [&](ir::ExprId e) {
      const ir::ExprNode& node = kernel_.exprs[e].node;
      if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
        same = same && IsTheSame(ref->var, loop);
      } else if (std::holds_alternative<ir::FragElem>(node) ||
                 std::holds_alternative<ir::ViewElem>(node) ||
                 std::holds_alternative<ir::MemElem>(node)) {
        same = false;
      }
    });
    return same;
  }

  std::optional<Sum> SumOf(ir::ExprId desc) const {
    if (!desc) return std::nullopt;
    ir::ExprId tile = desc;
    std::optional<int64_t> distance = 0;
    const auto* sum = std::get_if<ir::Binary>(&kernel_.exprs[desc].node);
    if (sum != nullptr && sum->op == ir::BinaryOp::Add) {
      tile = sum->left;
      distance = build_.AsInt(sum->right);
    }
    const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[tile].node);
    if (ref == nullptr || !distance) return std::nullopt;
    return Sum{ref->var, *distance};
  }

  // visit(region, index of the MMA in it, sum) for the operands that stay the same in `loop`, the
  // innermost one. The visitor may put ops in front of the MMA.
  template <class Visit>
  void EachTile(ir::Region& region, const Loop* loop, const Visit& visit) {
    for (size_t i = 0; i < region.ops.size(); ++i) {
      if (ir::IsRole(region.ops[i])) continue;  // a unit of its own
      if (std::holds_alternative<ir::Wgmma>(region.ops[i].node)) {
        if (loop == nullptr) continue;
        // Of the op as the visitor left it: both operands may be one tile.
        for (const auto operand : {&ir::Wgmma::a_desc, &ir::Wgmma::b_desc}) {
          const std::optional<Sum> sum = SumOf(std::get<ir::Wgmma>(region.ops[i].node).*operand);
          if (!sum || !IsTheSame(sum->tile, *loop)) continue;
          const size_t ops = region.ops.size();
          visit(region, i, *sum);
          i += region.ops.size() - ops;
        }
        continue;
      }
      const bool loops = std::holds_alternative<ir::For>(region.ops[i].node) ||
                         std::holds_alternative<ir::While>(region.ops[i].node);
      const Loop own = loops ? LoopOf(region.ops[i]) : Loop{};
      ir::VisitRegions(region.ops[i],
                       [&](ir::Region& inner) { EachTile(inner, loops ? &own : loop, visit); });
    }
  }

  // A pinned copy of the variable, in front of the MMA and for those behind it.
  ir::VarId PinIn(ir::Region& region, size_t mma, ir::VarId tile) {
    const ir::Loc loc = region.ops[mma].loc;
    const ir::VarId copy =
        build_.NewVar(kernel_.vars[tile].name + "_here", Elem::kU64, ir::VarKind::Let, loc);
    const ir::ExprId value = build_.Call(ir::Intrinsic::Pin, {build_.Var(tile)});
    const ir::VarSubstitution to_copy{{tile, build_.Var(copy)}};
    for (size_t i = mma; i < region.ops.size(); ++i) {
      if (!std::holds_alternative<ir::Wgmma>(region.ops[i].node)) continue;
      ir::RewriteExprs(build_, region.ops[i], ir::Substitute(kernel_, to_copy));
    }
    region.ops.insert(region.ops.begin() + static_cast<std::ptrdiff_t>(mma),
                      {loc, ir::Let{copy, value}});
    values_[copy] = value;
    return copy;
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  ir::Region& unit_;
  std::map<ir::VarId, ir::ExprId> values_;
  std::set<ir::VarId> pinned_;
};

}  // namespace

ir::Kernel PinDescriptors(ir::Kernel kernel, PassContext&) {
  ForEachRegisterBudget(kernel, [&](ir::Region& unit, int limit) {
    Pinning pinning(kernel, unit);
    const int sums = pinning.Registers();
    const int fragments = PeakOfFragments(kernel, unit).registers;
    if (sums != 0 && fragments + kWorkingRegisters + sums > limit) pinning.Run();
  });
  return kernel;
}

}  // namespace choreo::passes
