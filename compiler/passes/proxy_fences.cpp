// proxy-fences: what ordinary accesses wrote to shared memory becomes visible to the tensor core
// and to TMA only through `fence.proxy.async` in each writing thread, in front of the barrier (or
// arrival) that hands it over; what TMA overwrites must be fenced after ordinary reads, too.
// Follows which tiles were accessed since the last fence, those of cp.async from their wait on, for
// only then have the writes happened; loops to a fixed point. Where MMAs read what stmatrix stores,
// the fence stands early, but behind the last of the stores that one fence can serve.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

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

  // `open`: what the end of the region leaves unfenced, the region around it takes care of.
  ir::Region Rewrite(const ir::Region& region, bool open = false) {
    ir::Region out;
    for (size_t i = 0; i < region.ops.size(); ++i) {
      const ir::Op& op = region.ops[i];
      if ((HandsOver(op) || FencesOneWay(op)) && !state_.unfenced.empty()) Fence(out, op.loc);
      if (std::holds_alternative<ir::FenceProxyAsync>(op.node)) state_.Fenced();
      Access(op);
      out.ops.push_back(Inside(op));
      Leave(op);
      // A fence waits for the stores before it. What the program does next runs meanwhile, if the
      // fence stands here and not in front of the MMA.
      if (state_.operand && StoresOperands(op) && IsLastStore(region, i, open)) {
        const ir::Loc* store = StoreOfOperand(op);
        Fence(out, store != nullptr ? *store : op.loc);
      }
    }
    return out;
  }

 private:
  // Where an unrolled loop stores a fragment by stmatrix to a tile that MMAs read, and does nothing
  // that lets them; null: it does not.
  const ir::Loc* StoreOfOperand(const ir::Op& op) const {
    const auto* loop = std::get_if<ir::For>(&op.node);
    if (loop == nullptr || loop->unroll != -1) return nullptr;
    const ir::Loc* loc = nullptr;
    bool stops = false;
    ir::ForEachOp(loop->body, [&](const ir::Op& inner) {
      const auto* store = std::get_if<ir::StMatrix>(&inner.node);
      if (store != nullptr && read_by_mma_.contains(store->dst)) loc = &inner.loc;
      stops |= HandsOver(inner) || std::holds_alternative<ir::While>(inner.node) || Jumps(inner);
    });
    return stops ? nullptr : loc;
  }
  // What an op means for a fence that is due in front of it.
  enum class Delay {
    None,    // nothing
    Stores,  // it could stand behind it, for the op stores operands, too
    Stops,   // it could not: behind, or in the midst of it, others may have run on
  };
  // `place`: where `break` and `continue` of this place lead.
  enum class Place {
    Elsewhere,  // to where the fence does not stand
    InLoop,     // within an op that is asked about
    InRetry,    // the same, and one fence serves all that is stored here
  };
  Delay DelayOf(const ir::Op& op, Place place) const {
    if (HandsOver(op) || std::holds_alternative<ir::RoleBegin>(op.node) ||
        std::holds_alternative<ir::Return>(op.node) || (Jumps(op) && place == Place::Elsewhere)) {
      return Delay::Stops;
    }
    if (StoreOfOperand(op) != nullptr) return Delay::Stores;
    const bool counted = std::holds_alternative<ir::For>(op.node);
    if (counted && place == Place::Elsewhere) place = Place::InLoop;
    if (std::holds_alternative<ir::While>(op.node)) place = Place::InRetry;
    Delay delay = Delay::None;
    ir::VisitRegions(op, [&](const ir::Region& body) {
      for (const ir::Op& inner : body.ops) delay = std::max(delay, DelayOf(inner, place));
    });
    // A counted loop may store a lot, and fences each time. A `while` that stores does so anew:
    // nobody reads what it stored before.
    return counted && place == Place::InLoop && delay == Delay::Stores ? Delay::Stops : delay;
  }
  // Whether one fence behind the loop serves all that it stores.
  bool FencesBehind(const ir::Op& op) const {
    return InRetry() || StoreOfOperand(op) != nullptr ||
           (std::holds_alternative<ir::While>(op.node) &&
            DelayOf(op, Place::Elsewhere) == Delay::Stores);
  }
  bool InRetry() const { return !loops_.empty() && loops_.back().fenced_behind; }
  bool StoresOperands(const ir::Op& op) const {
    bool stores = StoreOfOperand(op) != nullptr;
    ir::VisitRegions(op, [&](const ir::Region& body) {
      ir::ForEachOp(body, [&](const ir::Op& inner) { stores |= StoreOfOperand(inner) != nullptr; });
    });
    return stores;
  }
  // Whether no store behind this one could have one fence with it.
  bool IsLastStore(const ir::Region& region, size_t at, bool open) const {
    const Place place = InRetry() ? Place::InRetry : Place::Elsewhere;
    for (size_t i = at + 1; i < region.ops.size(); ++i) {
      const Delay delay = DelayOf(region.ops[i], place);
      if (delay != Delay::None) return delay == Delay::Stops;
    }
    return !open;
  }
  // Whether the op is a branch that needs the fence one way alone: in it, the fence would still be
  // due after the other way, and everywhere behind.
  static bool FencesOneWay(const ir::Op& op) {
    const auto* branch = std::get_if<ir::If>(&op.node);
    if (branch == nullptr) return false;
    const auto hands_over = [](const ir::Region& body) {
      return std::any_of(body.ops.begin(), body.ops.end(), HandsOver);
    };
    return !ir::IsRole(op) && hands_over(branch->then_body) != hands_over(branch->else_body);
  }
  static bool Jumps(const ir::Op& op) {
    return std::holds_alternative<ir::Break>(op.node) ||
           std::holds_alternative<ir::Continue>(op.node);
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
    bool operand = false;               // among them what an MMA reads, by stmatrix

    void Fenced() {
      unfenced.clear();
      operand = false;
    }
    // Whether anything was new.
    bool Join(const State& other) {
      const size_t before = in_flight.size() + unfenced.size() + (operand ? 1 : 0);
      in_flight.insert(other.in_flight.begin(), other.in_flight.end());
      unfenced.insert(other.unfenced.begin(), other.unfenced.end());
      operand |= other.operand;
      return in_flight.size() + unfenced.size() + (operand ? 1 : 0) != before;
    }
  };
  struct Loop {
    bool fenced_behind = false;
    State at_continue, at_break;
  };

  void Fence(ir::Region& out, ir::Loc loc) {
    out.ops.push_back({loc, ir::FenceProxyAsync{}});
    state_.Fenced();
  }

  // What the op itself reads and writes.
  void Access(const ir::Op& op) {
    if (const auto* wait = std::get_if<ir::CpAsyncWait>(&op.node)) {
      state_.unfenced.insert(state_.in_flight.begin(), state_.in_flight.end());
      // A wait for all leaves nothing in flight; one for some may have left anything.
      if (wait->pending == 0) state_.in_flight.clear();
    }
    const bool asynchronous = std::holds_alternative<ir::CpAsync>(op.node);
    const bool matrices = std::holds_alternative<ir::StMatrix>(op.node);
    const bool by_tma = std::holds_alternative<ir::TmaLoadBox>(op.node) ||
                        std::holds_alternative<ir::TmaStoreBox>(op.node);
    const ir::StorageUse use = ir::DirectStorageUse(kernel_, op);
    for (const ir::StorageId id : use.writes) {
      if (by_tma || !used_asynchronously_.contains(id)) continue;
      (asynchronous ? state_.in_flight : state_.unfenced).insert(id);
      state_.operand |= matrices && read_by_mma_.contains(id);
    }
    for (const ir::StorageId id : use.reads) {
      const bool ordinary = !by_tma && !OnlyDescribes(op, id);
      if (ordinary && written_by_tma_.contains(id)) state_.unfenced.insert(id);
    }
  }

  // Where the op leaves the straight line, the state goes with it.
  void Leave(const ir::Op& op) {
    const bool to_next = std::holds_alternative<ir::Continue>(op.node);
    const bool to_end = std::holds_alternative<ir::Break>(op.node);
    if (!loops_.empty() && (to_next || to_end)) {
      (to_next ? loops_.back().at_continue : loops_.back().at_break).Join(state_);
    }
    if (to_next || to_end || std::holds_alternative<ir::Return>(op.node)) state_ = {};
  }

  ir::Op Inside(const ir::Op& op) {
    ir::Op changed = op;
    if (auto* branch = std::get_if<ir::If>(&changed.node)) {
      const State before = state_;
      branch->then_body = Rewrite(branch->then_body, !ir::IsRole(op));
      const State after_then = std::exchange(state_, before);
      branch->else_body = Rewrite(branch->else_body, true);
      state_.Join(after_then);
      return changed;
    }
    const bool behind = FencesBehind(op);
    ir::VisitRegions(changed, [&](ir::Region& body) {
      // A loop: what its end leaves unfenced, its start meets.
      const ir::Region original = body;
      State entry = state_;
      loops_.push_back({});
      do {
        loops_.back() = {.fenced_behind = behind};
        state_ = entry;
        body = Rewrite(original, behind);
        state_.Join(loops_.back().at_continue);
      } while (entry.Join(state_));
      state_ = entry;
      state_.Join(loops_.back().at_break);
      loops_.pop_back();
    });
    return changed;
  }

  const ir::Kernel& kernel_;
  std::set<ir::StorageId> used_asynchronously_;  // by the tensor core or TMA
  std::set<ir::StorageId> written_by_tma_;
  std::set<ir::StorageId> read_by_mma_;
  State state_;
  std::vector<Loop> loops_;  // around here, the innermost last
};

}  // namespace

ir::Kernel ProxyFences(ir::Kernel kernel, PassContext&) {
  ir::Region body = FenceInsertion(kernel).Rewrite(kernel.body);
  kernel.body = std::move(body);
  return kernel;
}

}  // namespace choreo::passes
