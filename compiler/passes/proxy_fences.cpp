// proxy-fences: what ordinary accesses wrote to shared memory becomes visible to the tensor core
// and to TMA only through `fence.proxy.async` in each writing thread, in front of the barrier (or
// arrival) that hands it over; what TMA overwrites must be fenced after ordinary reads, too.
// Follows which tiles were accessed since the last fence, those of cp.async from their wait on, for
// only then have the writes happened; loops to a fixed point.
#include <algorithm>
#include <set>
#include <utility>

#include "ir/walk.h"
#include "passes/pass.h"

namespace choreo::passes {
namespace {

class FenceInsertion {
 public:
  explicit FenceInsertion(const ir::Kernel& kernel) : kernel_(kernel) {
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      if (const auto* store = std::get_if<ir::TmaStoreBox>(&op.node)) {
        used_asynchronously_.insert(store->src);
      }
      if (const auto* load = std::get_if<ir::TmaLoadBox>(&op.node)) {
        used_asynchronously_.insert(load->dst);
        written_by_tma_.insert(load->dst);
      }
      ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
        ir::ForEachSubExpr(kernel, root, [&](ir::ExprId e) {
          if (const auto* desc = std::get_if<ir::SmemDesc>(&kernel.exprs[e].node)) {
            used_asynchronously_.insert(desc->storage);
            read_by_mma_.insert(desc->storage);
          }
        });
      });
    });
  }

  ir::Region Rewrite(const ir::Region& region) {
    ir::Region out;
    for (const ir::Op& op : region.ops) {
      const bool hands_over = HandsOver(op);
      if (hands_over && !state_.unfenced.empty()) {
        out.ops.push_back({op.loc, ir::FenceProxyAsync{}});
        state_.unfenced.clear();
      }
      if (std::holds_alternative<ir::FenceProxyAsync>(op.node)) state_.unfenced.clear();
      if (std::holds_alternative<ir::CpAsyncWait>(op.node)) {
        state_.unfenced.insert(state_.in_flight.begin(), state_.in_flight.end());
        // A wait for all leaves nothing in flight; one for some may have left anything.
        if (std::get<ir::CpAsyncWait>(op.node).pending == 0) state_.in_flight.clear();
      }
      const bool asynchronous = std::holds_alternative<ir::CpAsync>(op.node);
      const bool by_tma = std::holds_alternative<ir::TmaLoadBox>(op.node) ||
                          std::holds_alternative<ir::TmaStoreBox>(op.node);
      const ir::StorageUse use = ir::DirectStorageUse(kernel_, op);
      for (const ir::StorageId id : use.writes) {
        if (by_tma || !used_asynchronously_.contains(id)) continue;
        (asynchronous ? state_.in_flight : state_.unfenced).insert(id);
      }
      for (const ir::StorageId id : use.reads) {
        const bool ordinary = !by_tma && !OnlyDescribes(op, id);
        if (ordinary && written_by_tma_.contains(id)) state_.unfenced.insert(id);
      }
      out.ops.push_back(Inside(op));
      // A fence waits for the stores before it. What the program does next runs meanwhile, if the
      // fence stands here and not in front of the MMA; behind a loop that only stores it anew.
      const ir::Loc* store = StoreOfOperand(op);
      if (retries_ == 0 && (store != nullptr || Retries(op))) {
        out.ops.push_back({store != nullptr ? *store : op.loc, ir::FenceProxyAsync{}});
        state_.unfenced.clear();
      }
    }
    return out;
  }

 private:
  // Where a loop stores a fragment by stmatrix to a tile that MMAs read; null: it does not.
  const ir::Loc* StoreOfOperand(const ir::Op& op) const {
    const auto* loop = std::get_if<ir::For>(&op.node);
    if (loop == nullptr || loop->unroll != -1) return nullptr;
    const ir::Loc* loc = nullptr;
    ir::ForEachOp(loop->body, [&](const ir::Op& inner) {
      const auto* store = std::get_if<ir::StMatrix>(&inner.node);
      if (store != nullptr && read_by_mma_.contains(store->dst)) loc = &inner.loc;
    });
    return loc;
  }
  // A `while` that stores an operand, maybe more than once, and hands nothing over in between.
  bool Retries(const ir::Op& op) const {
    if (!std::holds_alternative<ir::While>(op.node)) return false;
    bool stores = false, hands_over = false;
    ir::VisitRegions(op, [&](const ir::Region& body) {
      ir::ForEachOp(body, [&](const ir::Op& inner) {
        stores |= StoreOfOperand(inner) != nullptr;
        hands_over |= HandsOver(inner);
      });
    });
    return stores && !hands_over;
  }
  static bool HandsOver(const ir::Op& op) {
    return std::holds_alternative<ir::CtaBarrier>(op.node) ||
           std::holds_alternative<ir::ClusterBarrier>(op.node) ||
           std::holds_alternative<ir::NamedBarrierSync>(op.node) ||
           std::holds_alternative<ir::NamedBarrierArrive>(op.node) ||
           std::holds_alternative<ir::NamedBarrierVote>(op.node) ||
           std::holds_alternative<ir::SyncWarp>(op.node) || IsArrival(op) ||
           std::holds_alternative<ir::TmaLoadBox>(op.node) ||
           std::holds_alternative<ir::TmaStoreBox>(op.node) ||
           std::holds_alternative<ir::WgmmaFence>(op.node);
  }
  // An arrival, or a branch that is one thread's arrival: the fence is every accessing thread's.
  static bool IsArrival(const ir::Op& op) {
    if (std::holds_alternative<ir::MbarrierArrive>(op.node) ||
        std::holds_alternative<ir::MbarrierArriveCluster>(op.node)) {
      return true;
    }
    const auto* branch = std::get_if<ir::If>(&op.node);
    return branch != nullptr && branch->else_body.ops.empty() && !branch->then_body.ops.empty() &&
           (std::holds_alternative<ir::MbarrierArrive>(branch->then_body.ops[0].node) ||
            std::holds_alternative<ir::MbarrierArriveCluster>(branch->then_body.ops[0].node) ||
            std::holds_alternative<ir::MbarrierExpectTx>(branch->then_body.ops[0].node) ||
            std::holds_alternative<ir::TmaStoreBox>(branch->then_body.ops[0].node));
  }
  // Whether the op names the storage in descriptors alone: the tensor core reads it.
  bool OnlyDescribes(const ir::Op& op, ir::StorageId id) const {
    if (std::holds_alternative<ir::Wgmma>(op.node)) return true;
    bool describes = false, reads = false;
    ir::ForEachExpr(kernel_, op, [&](ir::ExprId root) {
      ir::ForEachSubExpr(kernel_, root, [&](ir::ExprId e) {
        const auto* desc = std::get_if<ir::SmemDesc>(&kernel_.exprs[e].node);
        const auto* elem = std::get_if<ir::MemElem>(&kernel_.exprs[e].node);
        describes = describes || (desc != nullptr && desc->storage == id);
        reads = reads || (elem != nullptr && elem->storage == id);
      });
    });
    return describes && !reads;
  }

  struct State {
    std::set<ir::StorageId> in_flight;  // written by cp.async that was not waited for
    std::set<ir::StorageId> unfenced;   // written, and not fenced since

    // Whether anything was new.
    bool Join(const State& other) {
      const size_t before = in_flight.size() + unfenced.size();
      in_flight.insert(other.in_flight.begin(), other.in_flight.end());
      unfenced.insert(other.unfenced.begin(), other.unfenced.end());
      return in_flight.size() + unfenced.size() != before;
    }
  };

  ir::Op Inside(const ir::Op& op) {
    ir::Op changed = op;
    if (auto* branch = std::get_if<ir::If>(&changed.node)) {
      const State before = state_;
      branch->then_body = Rewrite(branch->then_body);
      const State after_then = std::exchange(state_, before);
      branch->else_body = Rewrite(branch->else_body);
      state_.Join(after_then);
      return changed;
    }
    const bool retries = Retries(op);
    retries_ += retries;
    ir::VisitRegions(changed, [&](ir::Region& body) {
      // A loop: what its end leaves unfenced, its start meets.
      const ir::Region original = body;
      State entry = state_;
      do {
        state_ = entry;
        body = Rewrite(original);
      } while (entry.Join(state_));
      state_ = entry;
    });
    retries_ -= retries;
    return changed;
  }

  const ir::Kernel& kernel_;
  std::set<ir::StorageId> used_asynchronously_;  // by the tensor core or TMA
  std::set<ir::StorageId> written_by_tma_;
  std::set<ir::StorageId> read_by_mma_;
  State state_;
  int retries_ = 0;  // around here
};

}  // namespace

ir::Kernel ProxyFences(ir::Kernel kernel, PassContext&) {
  ir::Region body = FenceInsertion(kernel).Rewrite(kernel.body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
