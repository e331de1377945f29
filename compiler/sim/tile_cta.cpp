#include "sim/tile_cta.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

#include "sim/op_states.h"
#include "support/check.h"

namespace choreo::sim {

TileCta::TileCta(TileLaunch& launch, const std::vector<Value>& vars)
    : launch_(launch), kernel_(*launch.kernel), threads_(launch.threads) {
  const auto threads = static_cast<size_t>(threads_);
  flow_.assign(threads, Flow::Running);
  for (const Value& value : vars) vars_.insert(vars_.end(), threads, value);
  const size_t groups = (threads + 127) / 128;
  for (const ir::Storage& storage : kernel_.storages) {
    int64_t count = 1;
    const bool param = storage.kind == ir::StorageKind::Param;
    for (size_t i = 0; i < storage.dims.size() && !param; ++i) count *= Constant(storage.dims[i]);
    count_.push_back(count);
    rows_.push_back(param ? 0 : storage.dims.empty() ? 1 : Constant(storage.dims[0]));
    columns_.push_back(storage.dims.size() == 2 && !param ? Constant(storage.dims[1]) : 1);
    auto& frags = frags_.emplace_back();
    auto& memory = memory_.emplace_back();
    auto& instances = instances_.emplace_back();
    auto& slots = events_.emplace_back();
    waits_.emplace_back(storage.kind == ir::StorageKind::Event ? threads : 0);
    triggers_.emplace_back(storage.kind == ir::StorageKind::Event ? threads : 0);
    if (storage.kind == ir::StorageKind::Event) {
      slots.resize(static_cast<size_t>(std::max(storage.array_size, 1)));
      for (EventSlot& slot : slots) slot.complete = storage.ready ? 1 : 0;
      continue;
    }
    const int64_t bytes = count * storage.array_size * Bytes(storage.elem);
    if (storage.kind == ir::StorageKind::Frag) {
      frags.assign(groups, std::vector<Value>(static_cast<size_t>(count)));
    } else if (!param) {
      const bool local = storage.kind == ir::StorageKind::Local;
      const size_t warps = (threads + 31) / 32;
      const size_t copies = local ? threads : storage.anonymous ? warps : 1;
      if (!local && storage.anonymous) instances.assign(warps, 0);
      // All ones: NaN for floats, so that what was never written shows.
      memory.assign(static_cast<size_t>(bytes) * copies, 0xff);
    }
  }
}

void TileCta::Run(std::span<const int64_t> block) {
  for (size_t i = 0; i < block.size(); ++i) {
    for (int t = 0; t < threads_; ++t) Var(kernel_.host.block_vars[i], t).i = block[i];
  }
  const auto& strands = launch_.plan->strands();
  if (!concurrent()) return Exec(kernel_.body, strands[0], threads_);
  std::vector<std::function<void()>> bodies;
  for (const std::vector<int>& threads : strands) {
    bodies.push_back([this, &threads] { Exec(kernel_.body, threads, threads_); });
  }
  strands_.Run(bodies, [this] { ReportDeadlock(); });
}

template <class Node>
void TileCta::ExecNode(const Node& node, Threads threads, int scope) {
  if constexpr (kStatesOf<Node> == OpStates::Lowered || std::is_same_v<Node, std::monostate>) {
    CHOREO_UNREACHABLE("a lowered op in tile state");
  } else {
    const TilePlan::OpPlan* plan = concurrent() ? launch_.plan->Find(&node) : nullptr;
    if (plan == nullptr) return Exec(node, threads, scope);
    Together(&node, *plan, threads, [&](Threads all) { Exec(node, all, scope); });
  }
}

void TileCta::Exec(const ir::Region& region, Threads threads, int scope) {
  std::vector<int> kept;
  for (const ir::Op& op : region.ops) {
    if (threads.empty() || stop_) return;
    loc_ = op.loc;
    flow_changed_ = false;
    std::visit([&](const auto& node) { ExecNode(node, threads, scope); }, op.node);
    if (!flow_changed_) continue;
    std::vector<int> running;
    for (const int t : threads) {
      if (flow_[static_cast<size_t>(t)] == Flow::Running) running.push_back(t);
    }
    kept = std::move(running);
    threads = kept;
  }
}

bool TileCta::Step() {
  if (++steps_ <= launch_.step_limit) return true;
  launch_.findings.Add(diag::kinds::SimStepLimit, loc_, {}, launch_.step_limit);
  stop_ = true;
  return false;
}

void TileCta::Exec(const ir::Vote& op, Threads threads, int) {
  std::map<int, bool> any;  // by warp or warpgroup
  for (const int t : threads) {
    bool& holds = any[t / op.threads];
    holds = holds || Eval(op.value, t).i != 0;
  }
  for (const int t : threads) Var(op.var, t) = Value{any[t / op.threads] ? 1 : 0};
}

void TileCta::Exec(const ir::Let& op, Threads threads, int) {
  for (const int t : threads) Var(op.var, t) = Eval(op.value, t);
}
void TileCta::Exec(const ir::VarDecl& op, Threads threads, int) {
  for (const int t : threads) Var(op.var, t) = Eval(op.init, t);
}
void TileCta::Exec(const ir::Assign& op, Threads threads, int) {
  for (const int t : threads) Var(op.var, t) = Eval(op.value, t);
}

std::vector<int> TileCta::Where(ir::ExprId condition, Threads threads) {
  std::vector<int> where;
  for (const int t : threads) {
    if (EvalInt(condition, t) != 0) where.push_back(t);
  }
  return where;
}

void TileCta::SetFlow(Threads threads, Flow flow) {
  for (const int t : threads) flow_[static_cast<size_t>(t)] = flow;
  flow_changed_ = true;
}
void TileCta::Exec(const ir::Break&, Threads threads, int) { SetFlow(threads, Flow::Broken); }
void TileCta::Exec(const ir::Continue&, Threads threads, int) { SetFlow(threads, Flow::Continued); }
void TileCta::Exec(const ir::Return&, Threads threads, int) { SetFlow(threads, Flow::Returned); }

std::vector<int> TileCta::NextIteration(Threads threads) {
  std::vector<int> next;
  for (const int t : threads) {
    Flow& flow = flow_[static_cast<size_t>(t)];
    if (flow == Flow::Continued) flow = Flow::Running;
    if (flow == Flow::Running) next.push_back(t);
  }
  return next;
}

void TileCta::Exec(const ir::For& op, Threads threads, int scope) {
  struct Bounds {
    int64_t high, step;
  };
  std::vector<Bounds> bounds(static_cast<size_t>(threads_));
  for (const int t : threads) {
    bounds[static_cast<size_t>(t)] = {EvalInt(op.high, t), EvalInt(op.step, t)};
    Var(op.var, t) = Eval(op.low, t);
  }
  const std::vector<int> entered(threads.begin(), threads.end());
  std::vector<int> running = entered;
  while (!stop_) {
    std::erase_if(running, [&](int t) {
      const Bounds& b = bounds[static_cast<size_t>(t)];
      const int64_t value = Var(op.var, t).i;
      return b.step > 0 ? value >= b.high : value <= b.high;
    });
    if (running.empty() || !Step()) break;
    Exec(op.body, running, scope);
    running = NextIteration(running);
    for (const int t : running) Var(op.var, t).i += bounds[static_cast<size_t>(t)].step;
  }
  for (const int t : entered) {
    Flow& flow = flow_[static_cast<size_t>(t)];
    if (flow == Flow::Broken) flow = Flow::Running;
  }
  flow_changed_ = true;
}

void TileCta::Exec(const ir::While& op, Threads threads, int scope) {
  const std::vector<int> entered(threads.begin(), threads.end());
  std::vector<int> running = entered;
  while (!stop_) {
    running = Where(op.condition, running);
    if (running.empty() || !Step()) break;
    Exec(op.body, running, scope);
    running = NextIteration(running);
  }
  for (const int t : entered) {
    Flow& flow = flow_[static_cast<size_t>(t)];
    if (flow == Flow::Broken) flow = Flow::Running;
  }
  flow_changed_ = true;
}

void TileCta::Exec(const ir::If& op, Threads threads, int scope) {
  const std::vector<int> taken = Where(op.condition, threads);
  std::vector<int> other;
  std::set_difference(threads.begin(), threads.end(), taken.begin(), taken.end(),
                      std::back_inserter(other));
  if (!taken.empty()) Exec(op.then_body, taken, scope);
  if (!other.empty()) Exec(op.else_body, other, scope);
  flow_changed_ = true;
}

void TileCta::Exec(const ir::Parallel& op, Threads threads, int scope) {
  int size = 1;
  if (op.level == ir::Level::Warpgroup) size = 128;
  if (op.level == ir::Level::Warp) size = 32;
  std::vector<int64_t> bounds;
  int64_t count = 1;
  for (const ir::ExprId bound : op.bounds) {
    bounds.push_back(Constant(bound));
    count *= bounds.back();
  }
  std::vector<int> inside;
  for (const int t : threads) {
    int64_t index = t % scope / size;
    if (index >= count) continue;
    inside.push_back(t);
    for (size_t v = op.vars.size(); v-- > 0;) {
      Var(op.vars[v], t).i = index % bounds[v];
      index /= bounds[v];
    }
  }
  // `thread` names threads; the scope that acts together stays.
  Exec(op.body, inside, op.level == ir::Level::Thread ? scope : size);
}

void TileCta::Exec(const ir::InThreads& op, Threads threads, int scope) {
  Exec(op.body, Where(op.predicate, threads), scope);
  flow_changed_ = true;
}

void TileCta::Exec(const ir::Assert& op, Threads threads, int) {
  for (const int t : threads) {
    if (EvalInt(op.condition, t) != 0 || !launch_.failed_assert.empty()) continue;
    launch_.failed_assert =
        fmt::format("{} ({}:{})", op.message, launch_.module->source_name, loc_.line);
  }
}

void TileCta::Exec(const ir::RawCpp&, Threads, int) {
  launch_.findings.Add(diag::kinds::SimOpaqueCode, loc_, {}, std::string("`__cpp__` code"));
}

void TileCta::Exec(const ir::OpaqueCall& op, Threads, int) {
  launch_.findings.Add(diag::kinds::SimOpaqueCode, loc_, {}, OpaqueName(ir::OpNode(op)));
}

}  // namespace choreo::sim
