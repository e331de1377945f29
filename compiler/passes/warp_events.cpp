#include "passes/warp_events.h"

#include <map>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

// Where threads wait for others that come to it too.
bool IsBarrier(const ir::Op& op) {
  const auto* vote = std::get_if<ir::Vote>(&op.node);
  return std::holds_alternative<ir::NamedBarrierSync>(op.node) ||
         std::holds_alternative<ir::NamedBarrierVote>(op.node) ||
         (vote != nullptr && vote->threads > kWarpSize) ||
         std::holds_alternative<ir::CtaBarrier>(op.node);
}

class Walker {
 public:
  Walker(const ir::Kernel& kernel, int warp)
      : kernel_(kernel),
        threads_(ThreadRange(warp * kWarpSize, kWarpSize)),
        scope_(kernel, kernel.host.threads),
        forms_(kernel) {}

  WarpEvents Run() {
    Walk(kernel_.body, out_.steps);
    if (leaves_) MarkUnknown(kernel_.body);
    return std::move(out_);
  }

 private:
  void Walk(const ir::Region& region, std::vector<WarpStep>& steps) {
    for (const ir::Op& op : region.ops) WalkOp(op, steps);
  }

  void WalkOp(const ir::Op& op, std::vector<WarpStep>& steps) {
    if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
      scope_.Enter(*parallel);
      for (const ir::VarId var : parallel->vars) NoteIndex(var);
      Walk(parallel->body, steps);
      scope_.Leave();
    } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
      scope_.Enter(*narrowed);
      const bool whole = WholeWarp();
      if ((scope_.current().active & threads_).any()) Walk(narrowed->body, steps);
      scope_.Leave();
      // What a part of the warp assigned differs between its lanes.
      if (whole != WholeWarp()) Forget(narrowed->body);
    } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      scope_.Note(*let);
      forms_.Set(let->var, forms_.Of(let->value));
    } else if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) {
      forms_.Set(decl->var, forms_.Of(decl->init));
    } else if (const auto* set = std::get_if<ir::Assign>(&op.node)) {
      forms_.Set(set->var, forms_.Of(set->value));
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      Loop(op, *loop, steps);
    } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
      Loop(op, *loop, steps);
    } else if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) {
      steps.push_back({WarpStep::Kind::Wait, &op, wait->event, WholeWarp(), {}, {}});
    } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
      steps.push_back({WarpStep::Kind::Trigger, &op, trigger->event, WholeWarp(), {}, {}});
    } else if (IsBarrier(op)) {
      steps.push_back({WarpStep::Kind::Barrier, &op, {}, WholeWarp(), {}, {}});
    } else if (std::holds_alternative<ir::Return>(op.node)) {
      leaves_ = true;
    } else {
      ir::VisitRegions(op, [&](const ir::Region& inner) { MarkUnknown(inner); });
    }
  }

  void Loop(const ir::Op& op, const ir::For& loop, std::vector<WarpStep>& steps) {
    const auto low = forms_.Of(loop.low), high = forms_.Of(loop.high), step = forms_.Of(loop.step);
    if (!low || !high || !step || AsConstant(*step) != 1) return MarkUnknown(loop.body);
    forms_.Set(loop.var, Sum(*low, UniformForms::Turn(depth_), 1));
    LoopBody(op, loop.body, Counters(loop.body), Sum(*high, *low, -1), steps);
  }

  // `while (i < bound)` whose body adds 1 to `i` once, always.
  void Loop(const ir::Op& op, const ir::While& loop, std::vector<WarpStep>& steps) {
    const std::map<ir::VarId, UniformForm> counters = Counters(loop.body);
    const auto* less = std::get_if<ir::Binary>(&kernel_.exprs[loop.condition].node);
    const ir::VarRef* counter = nullptr;
    if (less != nullptr && less->op == ir::BinaryOp::Lt) {
      counter = std::get_if<ir::VarRef>(&kernel_.exprs[less->left].node);
    }
    const auto step = counter == nullptr ? counters.end() : counters.find(counter->var);
    if (step == counters.end() || AsConstant(step->second) != 1) return MarkUnknown(loop.body);
    const auto first = forms_.Of(less->left);
    const UniformForms before = forms_;
    Forget(loop.body);  // the bound is the same in each turn, or not known
    const auto bound = forms_.Of(less->right);
    if (!first || !bound) return MarkUnknown(loop.body);
    forms_ = before;
    LoopBody(op, loop.body, counters, Sum(*bound, *first, -1), steps);
  }

  void LoopBody(const ir::Op& op, const ir::Region& body,
                const std::map<ir::VarId, UniformForm>& counters, UniformForm turns,
                std::vector<WarpStep>& steps) {
    bool breaks = false;
    ir::ForEachOp(body, [&](const ir::Op& inner) {
      breaks = breaks || std::holds_alternative<ir::Break>(inner.node) ||
               std::holds_alternative<ir::Continue>(inner.node);
    });
    if (breaks) return MarkUnknown(body);
    std::map<ir::VarId, std::optional<UniformForm>> starts;
    for (const auto& [var, step] : counters) starts[var] = forms_.Of(var);
    Forget(body);
    for (const auto& [var, step] : counters) {
      const auto advance = Product(UniformForms::Turn(depth_), step);
      if (starts[var] && advance) forms_.Set(var, Sum(*starts[var], *advance, 1));
    }
    WarpStep inner{WarpStep::Kind::Loop, &op, {}, WholeWarp(), std::move(turns), {}};
    ++depth_;
    Walk(body, inner.body);
    --depth_;
    Forget(body);
    steps.push_back(std::move(inner));
  }

  // The variables from outside to which each turn of the loop adds a constant, once and always.
  std::map<ir::VarId, UniformForm> Counters(const ir::Region& body) const {
    std::map<ir::VarId, int> assignments;
    ir::ForEachOp(body, [&](const ir::Op& op) {
      if (const auto* set = std::get_if<ir::Assign>(&op.node)) ++assignments[set->var];
      if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) assignments[decl->var] = 2;
    });
    std::map<ir::VarId, UniformForm> counters;
    for (const ir::Op& op : body.ops) {
      const auto* set = std::get_if<ir::Assign>(&op.node);
      if (set == nullptr || assignments[set->var] != 1) continue;
      const auto* add = std::get_if<ir::Binary>(&kernel_.exprs[set->value].node);
      if (add == nullptr || add->op != ir::BinaryOp::Add) continue;
      const auto* self = std::get_if<ir::VarRef>(&kernel_.exprs[add->left].node);
      const auto* step = std::get_if<ir::IntConst>(&kernel_.exprs[add->right].node);
      if (self == nullptr || self->var != set->var || step == nullptr) continue;
      counters[set->var] = Sum({}, {{"", step->value}}, 1);
    }
    return counters;
  }

  // The values of what the region assigns are not known from here on.
  void Forget(const ir::Region& region) {
    ir::ForEachOp(region, [&](const ir::Op& op) {
      if (const auto* set = std::get_if<ir::Assign>(&op.node)) forms_.Set(set->var, std::nullopt);
    });
  }

  // What stands in the region is counted by nobody.
  void MarkUnknown(const ir::Region& region) {
    Forget(region);
    ir::ForEachOp(region, [&](const ir::Op& op) {
      const auto* wait = std::get_if<ir::EventWait>(&op.node);
      if (wait != nullptr) out_.unknown.insert(wait->event);
      out_.may_block = out_.may_block || wait != nullptr || IsBarrier(op);
      const auto* narrowed = std::get_if<ir::InThreads>(&op.node);
      if (narrowed != nullptr) {
        ir::ForEachOp(narrowed->body, [&](const ir::Op& inner) {
          out_.narrows = out_.narrows || IsBarrier(inner) ||
                         std::holds_alternative<ir::EventWait>(inner.node) ||
                         std::holds_alternative<ir::EventTrigger>(inner.node);
        });
      }
      if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
        out_.unknown.insert(trigger->event);
      }
      leaves_ = leaves_ || std::holds_alternative<ir::Return>(op.node);
    });
  }

  void NoteIndex(ir::VarId var) {
    const std::vector<int>& values = scope_.Values(var);
    const auto first = static_cast<size_t>(FirstOf(threads_));
    for (size_t lane = 1; lane < kWarpSize; ++lane) {
      if (values[first + lane] != values[first]) return;
    }
    forms_.SetIndex(var, values[first]);
  }

  bool WholeWarp() const { return (threads_ & ~scope_.current().active).none(); }

  const ir::Kernel& kernel_;
  const ThreadSet threads_;
  ScopeTracker scope_;
  UniformForms forms_;
  WarpEvents out_;
  int depth_ = 0;
  bool leaves_ = false;
};

}  // namespace

WarpEvents EventsOfWarp(const ir::Kernel& kernel, int warp) { return Walker(kernel, warp).Run(); }

}  // namespace choreo::passes
