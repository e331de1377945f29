// hoist-descriptors: a WGMMA descriptor of a tile that a loop chooses (a slot of a ring, the rows
// of a warpgroup) is that of the storage's start, made once a role, plus the way to the tile in
// units of the descriptor. The address field has 14 bits and shared memory fewer than 2^14 such
// units, so that the sum never carries into the fields behind it (PTX manual, "Matrix descriptor").
#include <map>
#include <optional>
#include <tuple>

#include "ir/walk.h"
#include "passes/addressing.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

constexpr int kDescriptorUnit = 16;  // bytes

class Hoisting {
 public:
  explicit Hoisting(ir::Kernel& kernel) : kernel_(kernel), build_(kernel), divisors_(kernel) {}

  // In roles alone: without them a loop waits for its copies anyway. v1 gained nothing.
  void Run() { Roles(kernel_.body); }

 private:
  using Key = std::tuple<ir::StorageId, int32_t, int32_t, int32_t>;

  void Roles(ir::Region& region) {
    for (ir::Op& op : region.ops) {
      auto* role = std::get_if<ir::InThreads>(&op.node);
      if (role != nullptr && role->async) {
        Unit(role->body);
      } else {
        ir::VisitRegions(op, [&](ir::Region& inner) { Roles(inner); });
      }
    }
  }

  void Unit(ir::Region& unit) {
    bases_.clear();
    replaced_.clear();
    first_.clear();
    FindBases(unit, false);
    if (bases_.empty()) return;
    UseBases(unit);
    ir::RewriteExprs(build_, unit, ir::Substitute(kernel_, replaced_));
    auto at = unit.ops.begin();
    while (at != unit.ops.end() && std::holds_alternative<ir::SetMaxNReg>(at->node)) ++at;
    unit.ops.insert(at, first_.begin(), first_.end());
  }

  // The descriptor that the op names, if a distance in whole units leads to it. By value: the store
  // of expressions grows meanwhile.
  std::optional<ir::SmemDesc> DescriptorOf(const ir::Op& op) const {
    const auto* let = std::get_if<ir::Let>(&op.node);
    if (let == nullptr) return std::nullopt;
    const auto* desc = std::get_if<ir::SmemDesc>(&kernel_.exprs[let->value].node);
    if (desc == nullptr || divisors_.Of(desc->byte_offset) % kDescriptorUnit != 0) {
      return std::nullopt;
    }
    return *desc;
  }

  static Key KeyOf(const ir::SmemDesc& desc) {
    return {desc.storage, desc.leading_bytes, desc.stride_bytes, desc.swizzle};
  }

  // Those that a loop makes again and again.
  void FindBases(const ir::Region& region, bool in_loop) {
    for (const ir::Op& op : region.ops) {
      const std::optional<ir::SmemDesc> desc = DescriptorOf(op);
      if (desc && in_loop) {
        const Key key = KeyOf(*desc);
        if (bases_.contains(key)) continue;
        const ir::Storage& storage = kernel_.storages[desc->storage];
        const ir::VarId var =
            build_.NewVar(storage.name + "_desc", Elem::kU64, ir::VarKind::Let, op.loc);
        bases_[key] = var;
        const auto& [id, leading, stride, swizzle] = key;
        first_.push_back(
            {op.loc, ir::Let{var, build_.Desc(id, build_.Int(0), leading, stride, swizzle)}});
        continue;
      }
      const bool loops =
          std::holds_alternative<ir::For>(op.node) || std::holds_alternative<ir::While>(op.node);
      ir::VisitRegions(op, [&](const ir::Region& inner) { FindBases(inner, in_loop || loops); });
    }
  }

  void UseBases(ir::Region& region) {
    std::vector<ir::Op> out;
    for (ir::Op& op : region.ops) {
      ir::VisitRegions(op, [&](ir::Region& inner) { UseBases(inner); });
      const std::optional<ir::SmemDesc> desc = DescriptorOf(op);
      const auto base = desc ? bases_.find(KeyOf(*desc)) : bases_.end();
      if (base == bases_.end()) {
        out.push_back(std::move(op));
        continue;
      }
      auto& let = std::get<ir::Let>(op.node);
      const ir::ExprId units = build_.Div(desc->byte_offset, kDescriptorUnit);
      const ir::ExprId from = build_.Var(base->second);
      if (build_.AsInt(units) == 0) {
        replaced_[let.var] = from;
        continue;
      }
      kernel_.vars[let.var].name = kernel_.storages[desc->storage].name + "_tile";
      let.value = build_.Add(from, build_.Cast(build_.Cast(units, Elem::kU32), Elem::kU64));
      out.push_back(std::move(op));
    }
    region.ops = std::move(out);
  }

  ir::Kernel& kernel_;
  ir::ExprBuilder build_;
  Divisors divisors_;
  std::map<Key, ir::VarId> bases_;  // of this unit
  ir::VarSubstitution replaced_;    // descriptors that are their base's
  std::vector<ir::Op> first_;       // what makes the bases
};

}  // namespace

ir::Kernel HoistDescriptors(ir::Kernel kernel, PassContext&) {
  Hoisting(kernel).Run();
  return kernel;
}

}  // namespace choreo::passes
