#include "sim/tile_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "ir/walk.h"
#include "sim/scalar.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kGroupThreads = 128;
constexpr unsigned kOnGroup = 1, kOnThread = 2;  // what a value depends on

ThreadBits Range(int first, int count) {
  ThreadBits bits;
  for (int t = first; t < std::min(first + count, kMaxCtaThreads); ++t) {
    bits.set(static_cast<size_t>(t));
  }
  return bits;
}

}  // namespace

// Walks the kernel once for the dependence of variables, then for the plan.
class TilePlanner {
 public:
  TilePlanner(const ir::Kernel& kernel, TilePlan& plan) : kernel_(kernel), plan_(plan) {
    depends_.resize(kernel.vars.size(), 0);
    declared_at_.resize(kernel.vars.size(), 0);
    do {
      changed_ = false;
      FindDependence(kernel.body);
    } while (changed_);
    scope_.active = Range(0, plan.threads_);
    scope_.size = plan.threads_;
    Visit(kernel.body);
    plan.contributions_.assign(kernel.storages.size(), 0);
    for (const auto& [key, count] : needed_) plan.contributions_[key.first.value] += count;
  }
  const std::vector<ThreadBits>& splits() const { return splits_; }

 private:
  struct Scope {
    ThreadBits active;
    int size = 0;          // threads of one group of the innermost level
    bool grouped = false;  // a level narrower than the block was named
    int depth = 0;         // of inthreads
  };
  struct Generation {  // triggers of one block that complete one generation together
    ir::StorageId event;
    bool after = false;
    ir::ExprId order;
    std::map<int, int64_t> counts;  // by who contributes
  };

  // ---- dependence ----
  unsigned Of(ir::ExprId expr) const {
    unsigned bits = 0;
    if (!expr) return bits;
    ir::ForEachSubExpr(kernel_, expr, [&](ir::ExprId e) {
      const ir::ExprNode& node = kernel_.exprs[e].node;
      if (const auto* ref = std::get_if<ir::VarRef>(&node)) bits |= depends_[ref->var.value];
      if (std::holds_alternative<ir::FragElem>(node)) bits |= kOnThread;
    });
    return bits;
  }
  unsigned Of(ir::ViewId view) const {
    unsigned bits = 0;
    const ir::View& v = kernel_.views[view];
    if (kernel_.storages[v.storage].kind == ir::StorageKind::Local) bits |= kOnThread;
    ir::ForEachExpr(v, [&](ir::ExprId e) { bits |= Of(e); });
    return bits;
  }
  void Add(ir::VarId var, unsigned bits) {
    unsigned& has = depends_[var.value];
    changed_ = changed_ || (has | bits) != has;
    has |= bits;
  }
  // Conditions between a variable's declaration and its assignment make it differ; those around
  // both hold for all who see it.
  void FindDependence(const ir::Region& region) {
    for (const ir::Op& op : region.ops) {
      unsigned condition = 0;
      if (const auto* let = std::get_if<ir::Let>(&op.node)) {
        Add(let->var, Of(let->value));
      } else if (const auto* vote = std::get_if<ir::Vote>(&op.node)) {
        Add(vote->var, vote->threads == kGroupThreads ? kOnGroup : kOnThread);
      } else if (const auto* atomic = std::get_if<ir::AtomicElem>(&op.node)) {
        if (atomic->var) Add(atomic->var, kOnGroup | kOnThread);
      } else if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) {
        declared_at_[decl->var.value] = conditions_.size();
        Add(decl->var, Of(decl->init));
      } else if (const auto* set = std::get_if<ir::Assign>(&op.node)) {
        unsigned bits = Of(set->value);
        for (size_t i = declared_at_[set->var.value]; i < conditions_.size(); ++i) {
          bits |= conditions_[i];
        }
        Add(set->var, bits);
      } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
        condition = Of(loop->low) | Of(loop->high) | Of(loop->step);
        Add(loop->var, condition);
      } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
        condition = Of(loop->condition);
      } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
        condition = Of(branch->condition);
      } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
        condition = Of(narrowed->predicate);
      } else if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        const unsigned bits = parallel->level == ir::Level::Block    ? 0
                              : parallel->level == ir::Level::Thread ? kOnThread
                                                                     : kOnGroup;
        for (const ir::VarId var : parallel->vars) Add(var, bits);
      } else if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
        for (const ir::VarId var : apply->vars) Add(var, kOnThread);
      }
      conditions_.push_back(condition);
      ir::VisitRegions(op, [&](const ir::Region& r) { FindDependence(r); });
      conditions_.pop_back();
    }
  }

  // ---- who comes by ----
  // The value of `e` for a thread; nothing if it is not made of parallel variables and constants.
  std::optional<Value> Static(ir::ExprId id, int t) const {
    const ir::Expr& e = kernel_.exprs[id];
    if (const auto* c = std::get_if<ir::IntConst>(&e.node)) return Value{c->value, 0};
    if (const auto* ref = std::get_if<ir::VarRef>(&e.node)) {
      const auto value = values_.find(ref->var);
      if (value != values_.end()) return Value{value->second[static_cast<size_t>(t)], 0};
      const auto let = lets_.find(ref->var);
      return let == lets_.end() ? std::nullopt : Static(let->second, t);
    }
    if (const auto* cast = std::get_if<ir::Cast>(&e.node)) {
      const auto value = Static(cast->operand, t);
      if (!value) return value;
      return EvalCast(kernel_.exprs[cast->operand].type, e.type, *value);
    }
    if (const auto* unary = std::get_if<ir::Unary>(&e.node)) {
      const auto value = Static(unary->operand, t);
      if (!value) return value;
      return EvalUnary(unary->op, kernel_.exprs[unary->operand].type, *value);
    }
    if (const auto* binary = std::get_if<ir::Binary>(&e.node)) {
      const auto a = Static(binary->left, t);
      const auto b = Static(binary->right, t);
      if (!a || !b) return std::nullopt;
      return EvalBinary(binary->op, kernel_.exprs[binary->left].type, *a, *b);
    }
    return std::nullopt;
  }

  void Enter(const ir::Parallel& parallel) {
    const int size = parallel.level == ir::Level::Warpgroup ? kGroupThreads
                     : parallel.level == ir::Level::Warp    ? kWarpThreads
                                                            : 1;
    int64_t count = 1;
    std::vector<int64_t> bounds;
    for (const ir::ExprId bound : parallel.bounds) {
      bounds.push_back(std::get<ir::IntConst>(kernel_.exprs[bound].node).value);
      count *= bounds.back();
    }
    ThreadBits members;
    for (int t = 0; t < plan_.threads_; ++t) {
      int64_t index = t % scope_.size / size;
      if (index < count) members.set(static_cast<size_t>(t));
      for (size_t v = bounds.size(); v-- > 0;) {
        auto& values = values_[parallel.vars[v]];
        values.resize(static_cast<size_t>(plan_.threads_));
        values[static_cast<size_t>(t)] = index % bounds[v];
        index /= bounds[v];
      }
    }
    scope_.active &= members;
    if (parallel.level == ir::Level::Thread) return;
    scope_.size = size;
    scope_.grouped = true;
  }
  void Enter(const ir::InThreads& narrowed) {
    for (int t = 0; t < plan_.threads_; ++t) {
      const auto bit = static_cast<size_t>(t);
      if (!scope_.active.test(bit)) continue;
      const auto value = Static(narrowed.predicate, t);
      CHOREO_CHECK(value.has_value(), "a predicate of `inthreads` is made of parallel variables");
      if (value->i == 0) scope_.active.reset(bit);
    }
    ++scope_.depth;
  }

  void Visit(const ir::Region& region) {
    std::vector<Generation> generations;
    Visit(region, generations);
  }

  void Visit(const ir::Region& region, std::vector<Generation>& generations) {
    const auto outer_loads = loads_;
    for (const ir::Op& op : region.ops) {
      const Scope outer = scope_;
      bool same_block = false;
      if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
        if (scope_.depth == 0 && scope_.size == plan_.threads_) JoinAfter(*parallel);
        Enter(*parallel);
        splits_.push_back(scope_.active);
      } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
        if (scope_.depth == 0 && !narrowed->async) JoinAfter(*narrowed);
        plan_.concurrent_ = plan_.concurrent_ || narrowed->async;
        same_block = !narrowed->async;
        Enter(*narrowed);
        splits_.push_back(scope_.active);
      } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
        lets_[let->var] = let->value;
      } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
        Trigger(*trigger, generations);
      } else {
        std::visit([&](const auto& node) { Plan(node); }, op.node);
      }
      ir::VisitRegions(op, [&](const ir::Region& inner) {
        if (same_block) {
          Visit(inner, generations);
        } else {
          Visit(inner);
        }
      });
      Close(op, generations);
      scope_ = outer;
    }
    loads_ = outer_loads;
  }

  // After an assignment to its order, in `op` or deeper, a trigger is of another generation.
  void Close(const ir::Op& op, std::vector<Generation>& generations) const {
    const auto close = [&](const ir::Op& inner) {
      const auto* set = std::get_if<ir::Assign>(&inner.node);
      if (set == nullptr) return;
      std::erase_if(generations, [&](const Generation& g) { return Uses(g.order, set->var); });
    };
    close(op);
    ir::VisitRegions(op, [&](const ir::Region& region) { ir::ForEachOp(region, close); });
  }

  bool Uses(ir::ExprId expr, ir::VarId var) const {
    bool uses = false;
    if (!expr) return uses;
    ir::ForEachSubExpr(kernel_, expr, [&](ir::ExprId id) {
      const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[id].node);
      uses = uses || (ref != nullptr && ref->var == var);
    });
    return uses;
  }

  // ---- ops that threads execute together ----
  template <class Node>
  void JoinAfter(const Node& node) {
    plan_.ops_[&node] = {scope_.active, 0, true};
  }
  template <class Node>
  void Together(const Node& node, int unit) {
    plan_.ops_[&node] = {scope_.active, unit, false};
  }
  // By all who come by, or by each group where the views differ between groups. What differs
  // between threads each does alone.
  int UnitFor(unsigned depends) const {
    if ((depends & kOnThread) != 0) return 0;
    if ((depends & kOnGroup) == 0 || !scope_.grouped) return kMaxCtaThreads;
    return scope_.size == kGroupThreads ? kGroupThreads : 0;
  }
  template <class Node>
  void Plan(const Node&) {}
  // Rows of a fragment are their warp's: each strand for its warps, which may branch around these.
  void Plan(const ir::Decl&) {}
  void Plan(const ir::Apply&) {}
  void Plan(const ir::FragCopy&) {}
  void Plan(const ir::FragReduce&) {}
  void Plan(const ir::FragAllReduce&) {}
  void Plan(const ir::MmaStore&) {}
  void Plan(const ir::Vote& op) {
    if (op.threads == kGroupThreads) Together(op, kGroupThreads);
  }
  void Plan(const ir::FragFill& op) { Together(op, kGroupThreads); }
  void Plan(const ir::Mma& op) { Together(op, kGroupThreads); }
  void Plan(const ir::MmaLoad& op) { Together(op, kGroupThreads); }
  void Plan(const ir::SyncShared& op) { Together(op, kMaxCtaThreads); }
  void Plan(const ir::CopySync& op) { Together(op, UnitFor(Of(op.src) | Of(op.dst))); }
  void Plan(const ir::CopyAsync& op) { Together(op, UnitFor(Of(op.src) | Of(op.dst))); }
  void Plan(const ir::FillTile& op) { Together(op, UnitFor(Of(op.dst))); }
  void Plan(const ir::TmaStore& op) { Together(op, UnitFor((Of(op.src) | Of(op.dst)) & kOnGroup)); }
  void Plan(const ir::TmaLoad& op) {
    loads_[op.future] = &op;
    Together(op, UnitFor((Of(op.src) | Of(op.dst)) & kOnGroup));
  }
  void Plan(const ir::NamedBarrierSync&) { plan_.concurrent_ = true; }
  void Plan(const ir::EventWait&) { plan_.concurrent_ = true; }

  // ---- generations ----
  void Trigger(const ir::EventTrigger& op, std::vector<Generation>& generations) {
    const bool after = !op.futures.empty();
    unsigned depends = Of(op.order);
    for (const ir::VarId future : op.futures) {
      const auto load = loads_.find(future);
      if (load != loads_.end()) depends |= Of(load->second->src) | Of(load->second->dst);
    }
    const int unit = after ? UnitFor(depends & kOnGroup) : 1;
    if (after) Together(op, unit);
    // Each trigger of a scalar event is a generation of its own for its path.
    auto same = std::find_if(generations.begin(), generations.end(), [&](const Generation& g) {
      return op.order.valid() && g.event == op.event && g.after == after &&
             ir::Same(kernel_, g.order, op.order);
    });
    if (same == generations.end()) {
      same = generations.insert(same, {op.event, after, op.order, {}});
    }
    const int step = std::max(unit, 1);
    for (int first = 0; first < plan_.threads_; first += step) {
      if ((scope_.active & Range(first, step)).none()) continue;
      // Plain triggers count from 0 up, bound ones from -1 down.
      const int who = after ? -1 - first : first;
      int64_t& needed = needed_[{op.event, who}];
      needed = std::max(needed, ++same->counts[who]);
    }
  }

  const ir::Kernel& kernel_;
  TilePlan& plan_;
  std::vector<unsigned> depends_;    // by variable
  std::vector<size_t> declared_at_;  // by variable: the depth of conditions
  std::vector<unsigned> conditions_;
  bool changed_ = false;
  Scope scope_;
  std::unordered_map<ir::VarId, std::vector<int64_t>> values_;  // of parallel variables, by thread
  std::unordered_map<ir::VarId, ir::ExprId> lets_;
  std::unordered_map<ir::VarId, const ir::TmaLoad*> loads_;
  std::map<std::pair<ir::StorageId, int>, int64_t> needed_;  // by event and who contributes
  std::vector<ThreadBits> splits_;
};

TilePlan::TilePlan(const ir::Kernel& kernel, int threads) : threads_(threads) {
  CHOREO_CHECK(threads <= kMaxCtaThreads, "a CTA of {} threads", threads);
  const TilePlanner planner(kernel, *this);
  FindStrands(planner.splits());
}

void TilePlan::FindStrands(const std::vector<ThreadBits>& splits) {
  // Warps of one warpgroup that come by the same places are one strand.
  std::map<std::pair<int, std::vector<bool>>, size_t> known;
  for (int first = 0; first < threads_; first += kWarpThreads) {
    const int count = std::min(kWarpThreads, threads_ - first);
    std::vector<bool> places;
    for (const ThreadBits& split : splits) places.push_back((split & Range(first, count)).any());
    const int group = concurrent_ ? first / kGroupThreads : 0;
    if (!concurrent_) places.clear();
    const auto [at, added] = known.try_emplace({group, places}, strands_.size());
    if (added) strands_.emplace_back();
    for (int t = first; t < first + count; ++t) strands_[at->second].push_back(t);
  }
}

}  // namespace choreo::sim
