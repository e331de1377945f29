#include "passes/warp_events.h"

#include "ir/walk.h"

namespace choreo::passes {
namespace {

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
      if ((scope_.current().active & threads_).any()) Walk(narrowed->body, steps);
      scope_.Leave();
    } else if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      scope_.Note(*let);
      forms_.Note(*let);
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      Loop(op, *loop, steps);
    } else if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) {
      steps.push_back({WarpStep::Kind::Wait, &op, wait->event, WholeWarp(), {}, {}});
    } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
      steps.push_back({WarpStep::Kind::Trigger, &op, trigger->event, WholeWarp(), {}, {}});
    } else if (std::holds_alternative<ir::Return>(op.node)) {
      leaves_ = true;
    } else {
      ir::VisitRegions(op, [&](const ir::Region& inner) { MarkUnknown(inner); });
    }
  }

  void Loop(const ir::Op& op, const ir::For& loop, std::vector<WarpStep>& steps) {
    bool breaks = false;
    ir::ForEachOp(loop.body, [&](const ir::Op& inner) {
      breaks = breaks || std::holds_alternative<ir::Break>(inner.node) ||
               std::holds_alternative<ir::Continue>(inner.node);
    });
    const auto low = forms_.Of(loop.low), high = forms_.Of(loop.high), step = forms_.Of(loop.step);
    const bool counted = !breaks && low && low->empty() && high && step && AsConstant(*step) == 1;
    if (!counted) return MarkUnknown(loop.body);
    forms_.EnterLoop(loop.var, depth_);
    WarpStep inner{WarpStep::Kind::Loop, &op, {}, WholeWarp(), *high, {}};
    ++depth_;
    Walk(loop.body, inner.body);
    --depth_;
    steps.push_back(std::move(inner));
  }

  // What stands in the region is counted by nobody.
  void MarkUnknown(const ir::Region& region) {
    ir::ForEachOp(region, [&](const ir::Op& op) {
      if (const auto* wait = std::get_if<ir::EventWait>(&op.node)) out_.unknown.insert(wait->event);
      if (const auto* trigger = std::get_if<ir::EventTrigger>(&op.node)) {
        out_.unknown.insert(trigger->event);
      }
      leaves_ = leaves_ || std::holds_alternative<ir::Return>(op.node);
    });
  }

  void NoteIndex(ir::VarId var) {
    const std::vector<int>& values = scope_.Values(var);
    const auto first = static_cast<size_t>(FirstThread());
    for (size_t lane = 1; lane < kWarpSize; ++lane) {
      if (values[first + lane] != values[first]) return;
    }
    forms_.SetIndex(var, values[first]);
  }

  int FirstThread() const {
    int first = 0;
    while (!threads_.test(static_cast<size_t>(first))) ++first;
    return first;
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
