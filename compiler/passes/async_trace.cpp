#include "passes/async_trace.h"

#include <algorithm>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

constexpr size_t kMostSteps = 8000;  // of a trace; a longer one is cut off
constexpr size_t kMostWork = 80000;  // ops executed for a trace
constexpr int64_t kPlainIterations = 2;

bool IsAsync(const ir::Op& op) {
  const ir::OpNode& node = op.node;
  return std::holds_alternative<ir::Mma>(node) || std::holds_alternative<ir::TmaLoad>(node) ||
         std::holds_alternative<ir::TmaStore>(node) ||
         std::holds_alternative<ir::CopyAsync>(node) ||
         std::holds_alternative<ir::CopySync>(node) || std::holds_alternative<ir::FillTile>(node) ||
         std::holds_alternative<ir::SyncShared>(node) ||
         std::holds_alternative<ir::FutureWait>(node) ||
         std::holds_alternative<ir::FutureMove>(node) ||
         std::holds_alternative<ir::EventWait>(node) ||
         std::holds_alternative<ir::EventTrigger>(node) ||
         std::holds_alternative<ir::InThreads>(node);
}

// What makes the rest of a region depend on a condition.
bool Leaves(const ir::Op& op) {
  return std::holds_alternative<ir::Break>(op.node) ||
         std::holds_alternative<ir::Continue>(op.node) ||
         std::holds_alternative<ir::Return>(op.node);
}

// The views of an op that are not operands of its expressions.
struct ViewsOfOp {
  const std::function<void(ir::ViewId, bool write)>& visit;
  void operator()(const ir::Mma& op) const { visit(op.a, false), visit(op.b, false); }
  void operator()(const ir::CopySync& op) const { visit(op.src, false), visit(op.dst, true); }
  void operator()(const ir::CopyAsync& op) const { visit(op.src, false), visit(op.dst, true); }
  void operator()(const ir::TmaLoad& op) const { visit(op.src, false), visit(op.dst, true); }
  void operator()(const ir::TmaStore& op) const { visit(op.src, false), visit(op.dst, true); }
  void operator()(const ir::FillTile& op) const { visit(op.dst, true); }
  void operator()(const ir::StoreElem& op) const { visit(op.dest, true); }
  void operator()(const ir::MmaLoad& op) const { visit(op.src, false); }
  void operator()(const ir::MmaStore& op) const { visit(op.dst, true); }
  template <class Node>
  void operator()(const Node&) const {}
};

void AddUses(const ir::Kernel& kernel, const ir::Op& op, OpUses& uses) {
  const ir::StorageUse direct = ir::DirectStorageUse(kernel, op);
  const auto frag = [&](ir::StorageId id, bool write) {
    if (kernel.storages[id].kind == ir::StorageKind::Frag)
      uses.frags.push_back({id, write, op.loc});
  };
  for (const ir::StorageId id : direct.reads) frag(id, false);
  for (const ir::StorageId id : direct.writes) frag(id, true);
  const bool store = std::holds_alternative<ir::TmaStore>(op.node);
  const auto view = [&](ir::ViewId id, bool write) {
    if (!id) return;
    const ir::StorageKind kind = kernel.storages[kernel.views[id].storage].kind;
    if (kind != ir::StorageKind::Shared && !(store && write)) return;
    uses.views.push_back({id, write, op.loc});
  };
  std::visit(ViewsOfOp{view}, op.node);
  if (const auto* call = std::get_if<ir::OpaqueCall>(&op.node)) {
    ir::ForEachAddress(*call, [&](ir::ExprId element, bool written) {
      const auto* first = std::get_if<ir::ViewElem>(&kernel.exprs[element].node);
      if (first != nullptr && written) view(first->view, true);
    });
  }
  ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
    ir::ForEachSubExpr(kernel, root, [&](ir::ExprId id) {
      const auto* element = std::get_if<ir::ViewElem>(&kernel.exprs[id].node);
      if (element != nullptr) view(element->view, false);
    });
  });
}

}  // namespace

bool Overlap(const TileUse& a, const TileUse& b) {
  if (a.storage != b.storage || !a.slot || a.slot != b.slot) return false;
  if (a.whole || b.whole) return true;
  if (!a.exact || !b.exact || a.box.size() != b.box.size()) return false;
  for (size_t i = 0; i < a.box.size(); ++i) {
    const auto [start, extent] = a.box[i];
    const auto [other, other_extent] = b.box[i];
    if (start + extent <= other || other + other_extent <= start) return false;
  }
  return true;
}

// ---- what an op touches -----------------------------------------------------------------------

const OpUses& TraceBuilder::UsesOf(const ir::Op& op) {
  const auto [it, added] = uses_.try_emplace(&op);
  if (added) {
    AddUses(kernel_, op, it->second);
    if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
      ir::ForEachOp(apply->body, [&](const ir::Op& inner) { AddUses(kernel_, inner, it->second); });
    }
  }
  return it->second;
}

bool TraceBuilder::HasAsync(const ir::Op& op) {
  const auto [it, added] = has_async_.try_emplace(&op, false);
  if (!added) return it->second;
  bool found = false;
  ir::VisitRegions(op, [&](const ir::Region& region) {
    ir::ForEachOp(region,
                  [&](const ir::Op& inner) { found = found || IsAsync(inner) || Leaves(inner); });
  });
  return has_async_[&op] = found;
}

bool TraceBuilder::IsPlainLoop(const ir::Op& op) {
  const auto [it, added] = plain_.try_emplace(&op, false);
  if (!added) return it->second;
  bool plain = !HasAsync(op);
  std::vector<ir::VarId> own;
  ir::VisitRegions(op, [&](const ir::Region& region) {
    ir::ForEachOp(region, [&](const ir::Op& inner) {
      if (const auto* decl = std::get_if<ir::VarDecl>(&inner.node)) own.push_back(decl->var);
      const auto* set = std::get_if<ir::Assign>(&inner.node);
      if (set == nullptr || IsFloat(kernel_.vars[set->var].type)) return;
      plain = plain && std::find(own.begin(), own.end(), set->var) != own.end();
    });
  });
  return plain_[&op] = plain;
}

TileUse TraceBuilder::Tile(const OpUses::ViewUse& use) {
  const ir::View& view = kernel_.views[use.view];
  const ir::Storage& storage = kernel_.storages[view.storage];
  TileUse tile;
  tile.storage = view.storage;
  tile.write = use.write;
  tile.loc = use.loc;
  if (agents_.ElementsAreSlots(view.storage)) {
    tile.slot = values_->Value(view.start[0]);
    tile.exact = tile.whole = true;
    return tile;
  }
  tile.slot = view.slot ? values_->Value(view.slot) : std::optional<int64_t>(0);
  tile.exact = !view.base_offset;
  for (const ir::ExprId start : view.start) {
    const auto at = values_->Value(start);
    tile.exact = tile.exact && at.has_value();
    tile.box.emplace_back(at.value_or(0), 1);
  }
  for (const ir::View::Axis& axis : view.axes) {
    const auto extent = values_->Value(axis.extent);
    tile.exact = tile.exact && extent && (!axis.step || ir::AsInt(kernel_, axis.step) == 1);
    tile.box[static_cast<size_t>(axis.base_axis)].second = extent.value_or(1);
  }
  tile.whole = tile.exact && storage.kind == ir::StorageKind::Shared &&
               tile.box.size() == storage.dims.size();
  for (size_t i = 0; tile.whole && i < tile.box.size(); ++i) {
    tile.whole = tile.box[i].first == 0 &&
                 tile.box[i].second >= ir::AsInt(kernel_, storage.dims[i]).value_or(INT64_MAX);
  }
  return tile;
}

// ---- the straight line ------------------------------------------------------------------------

Trace TraceBuilder::Build(size_t agent, const Launch& launch, const HandOvers& told,
                          HandOvers& tells) {
  agent_ = agent;
  launch_ = &launch;
  values_.emplace(kernel_, elements_, launch.values, launch.tiles);
  shared_.emplace(kernel_, told, agent, agents_.all()[agent].threads.count() == 1);
  values_->Use(&*shared_);
  trace_ = {};
  scope_ = {ThreadRange(0, kernel_.host.threads)};
  blocks_ = block_ = 0;
  work_ = 0;
  occurrences_.clear();
  Run(kernel_.body);
  tells.Add(shared_->tells(), !trace_.guessed);
  return std::move(trace_);
}

void TraceBuilder::Emit(StepKind kind, const ir::Op& op) {
  if (kind == StepKind::Join) shared_->ForgetAll();
  Step step;
  step.kind = kind;
  step.op = &op;
  step.block = block_;
  step.occurrence = occurrences_[&op]++;
  const OpUses& uses = UsesOf(op);
  if (!uses.frags.empty()) step.frags = &uses.frags;
  for (const OpUses::ViewUse& use : uses.views) step.tiles.push_back(Tile(use));
  trace_.steps.push_back(std::move(step));
}

TraceBuilder::Flow TraceBuilder::Run(const ir::Region& region) {
  const int outer = std::exchange(block_, ++blocks_);
  const Flow flow = RunOps(region);
  block_ = outer;
  return flow;
}

TraceBuilder::Flow TraceBuilder::RunOps(const ir::Region& region) {
  Flow flow = Flow::Next;
  for (const ir::Op& op : region.ops) {
    if (++work_ > kMostWork || trace_.steps.size() > kMostSteps) {
      trace_.whole = false;
      flow = Flow::Return;
    } else {
      flow = Run(op);
    }
    if (flow != Flow::Next) break;
  }
  return flow;
}

TraceBuilder::Flow TraceBuilder::Run(const ir::Op& op) {
  const ir::OpNode& node = op.node;
  if (const auto* loop = std::get_if<ir::For>(&node)) return RunFor(op, *loop);
  if (const auto* loop = std::get_if<ir::While>(&node)) return RunWhile(op, *loop);
  if (const auto* branch = std::get_if<ir::If>(&node)) return RunIf(op, *branch);
  if (const auto* parallel = std::get_if<ir::Parallel>(&node)) {
    if (agents_.Enters(agent_, op)) {
      for (const ir::VarId var : parallel->vars) values_->Set(var, agents_.Value(agent_, var));
    }
    return RunScope(op, parallel->body);
  }
  if (const auto* narrowed = std::get_if<ir::InThreads>(&node)) {
    const Flow flow = RunScope(op, narrowed->body);
    // An outermost `inthreads` that is no role ends in a barrier of the CTA.
    const bool nested = scope_.back().count() != static_cast<size_t>(kernel_.host.threads);
    if (!narrowed->async && !nested) {
      Emit(StepKind::Join, op);
      trace_.steps.back().partners = agents_.Partners(agent_, scope_.back(), false);
      trace_.steps.back().tiles.clear();
    }
    return flow;
  }
  if (std::holds_alternative<ir::Break>(node)) return Flow::Break;
  if (std::holds_alternative<ir::Continue>(node)) return Flow::Continue;
  if (std::holds_alternative<ir::Return>(node)) return Flow::Return;
  if (IsAsync(op)) {
    AsyncOp(op);
    return Flow::Next;
  }
  const OpUses& uses = UsesOf(op);
  if (!uses.frags.empty() || !uses.views.empty()) Emit(StepKind::Use, op);
  Follow(op);
  return Flow::Next;
}

// The values that an op gives.
void TraceBuilder::Follow(const ir::Op& op) {
  const ir::OpNode& node = op.node;
  if (const auto* let = std::get_if<ir::Let>(&node)) {
    values_->Set(let->var, values_->Value(let->value));
  } else if (const auto* decl = std::get_if<ir::VarDecl>(&node)) {
    values_->Set(decl->var, values_->Value(decl->init));
  } else if (const auto* vote = std::get_if<ir::Vote>(&node)) {
    values_->Set(vote->var, std::nullopt);
  } else if (const auto* atomic = std::get_if<ir::AtomicElem>(&node)) {
    const auto place = values_->PlaceOf(kernel_.views[atomic->dest]);
    const auto value = values_->Value(atomic->value);
    const auto before = place ? shared_->Update(*atomic, *place, value) : std::nullopt;
    if (atomic->var) values_->Set(atomic->var, before);
  } else if (const auto* store = std::get_if<ir::StoreElem>(&node)) {
    const auto place = values_->PlaceOf(kernel_.views[store->dest]);
    if (place) {
      shared_->Store(*place, values_->Value(store->value));
    } else {
      shared_->Forget(kernel_.views[store->dest].storage);
    }
  } else if (const auto* set = std::get_if<ir::Assign>(&node)) {
    values_->Set(set->var, values_->Value(set->value));
  } else if (std::holds_alternative<ir::NamedBarrierSync>(node) ||
             std::holds_alternative<ir::RawCpp>(node) ||
             std::holds_alternative<ir::OpaqueCall>(node)) {
    shared_->ForgetAll();
  }
}

std::vector<size_t> TraceBuilder::PartnersOf(ir::ViewId src, ir::ViewId dst) const {
  unsigned depends = src ? agents_.dependence().Of(kernel_.views[src]) : 0;
  depends |= dst ? agents_.dependence().Of(kernel_.views[dst]) : 0;
  return agents_.Partners(agent_, scope_.back(), (depends & (kOnWarpgroup | kOnWarp)) != 0);
}

// What several paths start together, they start behind a barrier, if they used the tile before.
void TraceBuilder::Load(const ir::Op& op, ir::ViewId src, ir::ViewId dst) {
  const std::vector<size_t> partners = PartnersOf(src, dst);
  if (partners.size() > 1 && behind_barriers_.contains(&op)) {
    Emit(StepKind::Join, op);
    trace_.steps.back().tiles.clear();
    trace_.steps.back().partners = partners;
  }
  Emit(StepKind::Load, op);
  trace_.steps.back().partners = partners;
}

void TraceBuilder::AsyncOp(const ir::Op& op) {
  const ir::OpNode& node = op.node;
  const auto together = [&](ir::ViewId src, ir::ViewId dst) {
    trace_.steps.back().partners = PartnersOf(src, dst);
  };
  if (std::holds_alternative<ir::Mma>(node)) {
    Emit(StepKind::Mma, op);
    trace_.steps.back().partners = agents_.Partners(agent_, scope_.back(), true);
  } else if (const auto* load = std::get_if<ir::TmaLoad>(&node); load && load->future) {
    Load(op, load->src, load->dst);
  } else if (load != nullptr) {
    Emit(StepKind::Join, op);
    together(load->src, load->dst);
  } else if (const auto* copy = std::get_if<ir::CopyAsync>(&node)) {
    Load(op, copy->src, copy->dst);
  } else if (const auto* copy = std::get_if<ir::CopySync>(&node)) {
    Emit(StepKind::Join, op);
    together(copy->src, copy->dst);
  } else if (const auto* fill = std::get_if<ir::FillTile>(&node)) {
    if (kernel_.storages[kernel_.views[fill->dst].storage].kind != ir::StorageKind::Shared) return;
    Emit(StepKind::Join, op);
    together({}, fill->dst);
  } else if (std::holds_alternative<ir::SyncShared>(node)) {
    Emit(StepKind::Join, op);
    trace_.steps.back().partners = agents_.Partners(agent_, scope_.back(), false);
  } else if (const auto* store = std::get_if<ir::TmaStore>(&node)) {
    Emit(StepKind::Store, op);
    together(store->src, {});
  } else if (const auto* wait = std::get_if<ir::EventWait>(&node)) {
    Emit(StepKind::EventWait, op);
    trace_.steps.back().order = values_->Value(wait->order);
    shared_->Wait(wait->event);
  } else if (const auto* trigger = std::get_if<ir::EventTrigger>(&node)) {
    Emit(StepKind::EventTrigger, op);
    trace_.steps.back().order = values_->Value(trigger->order);
    shared_->Trigger(trigger->event);
  } else {
    const bool wait = std::holds_alternative<ir::FutureWait>(node);
    Emit(wait ? StepKind::FutureWait : StepKind::FutureMove, op);
  }
}

TraceBuilder::Flow TraceBuilder::RunScope(const ir::Op& op, const ir::Region& body) {
  if (!agents_.Enters(agent_, op)) return Flow::Next;
  scope_.push_back(agents_.ScopeOf(op));
  const Flow flow = RunOps(body);  // narrowing is no control flow: the block goes on
  scope_.pop_back();
  return flow;
}

TraceBuilder::Flow TraceBuilder::RunFor(const ir::Op& op, const ir::For& loop) {
  if (!UsesOf(op).views.empty() || !UsesOf(op).frags.empty()) Emit(StepKind::Use, op);
  auto low = values_->Value(loop.low);
  auto high = values_->Value(loop.high);
  const auto step = values_->Value(loop.step);
  if (!low || !high || !step || *step == 0) {
    trace_.guessed = trace_.guessed || HasAsync(op);
    low = 0;
    high = launch_->tiles;
  }
  const int64_t by = step.value_or(1) == 0 ? 1 : step.value_or(1);
  int64_t iterations = 0;
  for (int64_t i = *low; by > 0 ? i < *high : i > *high; i += by) {
    if (IsPlainLoop(op) && ++iterations > kPlainIterations) break;
    values_->Set(loop.var, i);
    const Flow flow = Run(loop.body);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
  }
  return Flow::Next;
}

TraceBuilder::Flow TraceBuilder::RunWhile(const ir::Op& op, const ir::While& loop) {
  int64_t iterations = 0;
  while (true) {
    if (!UsesOf(op).views.empty() || !UsesOf(op).frags.empty()) Emit(StepKind::Use, op);
    const auto condition = values_->Value(loop.condition);
    if (condition == 0) break;
    if (!condition) {
      trace_.guessed = trace_.guessed || HasAsync(op);
      if (iterations >= launch_->tiles) break;
    }
    if (IsPlainLoop(op) && iterations >= kPlainIterations) break;
    ++iterations;
    const Flow flow = Run(loop.body);
    if (flow == Flow::Return) return flow;
    if (flow == Flow::Break) break;
    if (!trace_.whole) return Flow::Return;
  }
  return Flow::Next;
}

TraceBuilder::Flow TraceBuilder::RunIf(const ir::Op& op, const ir::If& branch) {
  if (!UsesOf(op).views.empty() || !UsesOf(op).frags.empty()) Emit(StepKind::Use, op);
  return Run(Decide(op, branch.condition) ? branch.then_body : branch.else_body);
}

bool TraceBuilder::Decide(const ir::Op& op, ir::ExprId condition) {
  if (const auto value = values_->Value(condition)) return *value != 0;
  trace_.guessed = trace_.guessed || HasAsync(op);
  return Guess(condition);
}

// Conditions that are not known are guessed alike in one launch, and a condition as the opposite of
// its negation, so that `if (c) f = …; if (c) wait f;` stays together.
bool TraceBuilder::Guess(ir::ExprId condition) {
  const bool base = launch_->tiles % 2 == 1;
  const ir::ExprNode& node = kernel_.exprs[condition].node;
  if (const auto* unary = std::get_if<ir::Unary>(&node)) {
    return unary->op == ir::UnaryOp::Not ? !Guess(unary->operand) : base;
  }
  if (const auto* binary = std::get_if<ir::Binary>(&node)) {
    const bool negated = binary->op == ir::BinaryOp::Ge || binary->op == ir::BinaryOp::Gt ||
                         binary->op == ir::BinaryOp::Ne;
    return negated ? !base : base;
  }
  return base;
}

}  // namespace choreo::passes
