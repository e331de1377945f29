// proxy-fences: what ordinary accesses wrote to shared memory becomes visible to the tensor core only
// through `fence.proxy.async` in each writing thread, in front of the barrier that hands it over.
// Follows which tiles were written since the last fence; loops to a fixed point.
#include <set>

#include "ir/walk.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

class FenceInsertion {
 public:
  explicit FenceInsertion(const ir::Kernel& kernel) : kernel_(kernel) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
        ir::ForEachSubExpr(kernel, root, [&](ir::ExprId e) {
          if (const auto* desc = std::get_if<ir::SmemDesc>(&kernel.exprs[e].node)) {
            read_by_tensor_core_.insert(desc->storage);
          }
        });
      });
    });
  }

  ir::Region Rewrite(const ir::Region& region) {
    ir::Region out;
    for (const ir::Op& op : region.ops) {
      const bool hands_over = std::holds_alternative<ir::CtaBarrier>(op.node) ||
                              std::holds_alternative<ir::NamedBarrierSync>(op.node) ||
                              std::holds_alternative<ir::SyncWarp>(op.node) ||
                              std::holds_alternative<ir::WgmmaFence>(op.node);
      if (hands_over && !unfenced_.empty()) {
        out.ops.push_back({op.loc, ir::FenceProxyAsync{}});
        unfenced_.clear();
      }
      if (std::holds_alternative<ir::FenceProxyAsync>(op.node)) unfenced_.clear();
      for (const ir::StorageId id : ir::DirectStorageUse(kernel_, op).writes) {
        if (read_by_tensor_core_.contains(id)) unfenced_.insert(id);
      }
      out.ops.push_back(Inside(op));
    }
    return out;
  }

 private:
  ir::Op Inside(const ir::Op& op) {
    ir::Op changed = op;
    if (auto* branch = std::get_if<ir::If>(&changed.node)) {
      const std::set<ir::StorageId> before = unfenced_;
      branch->then_body = Rewrite(branch->then_body);
      const std::set<ir::StorageId> after_then = std::exchange(unfenced_, before);
      branch->else_body = Rewrite(branch->else_body);
      unfenced_.insert(after_then.begin(), after_then.end());
      return changed;
    }
    ir::VisitRegions(changed, [&](ir::Region& body) {
      // A loop: what its end leaves unfenced, its start meets.
      const ir::Region original = body;
      std::set<ir::StorageId> entry = unfenced_;
      while (true) {
        unfenced_ = entry;
        body = Rewrite(original);
        const size_t before = entry.size();
        entry.insert(unfenced_.begin(), unfenced_.end());
        if (entry.size() == before) break;
      }
      unfenced_ = entry;
    });
    return changed;
  }

  const ir::Kernel& kernel_;
  std::set<ir::StorageId> read_by_tensor_core_;
  std::set<ir::StorageId> unfenced_;
};

}  // namespace

ir::Kernel ProxyFences(ir::Kernel kernel, PassContext&) {
  ir::Region body = FenceInsertion(kernel).Rewrite(kernel.body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
