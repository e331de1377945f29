#include "passes/scope.h"

#include <algorithm>

#include "ir/walk.h"

namespace choreo::passes {
namespace {

int LevelSize(ir::Level level) {
  switch (level) {
    case ir::Level::Block:
      return 0;
    case ir::Level::Warpgroup:
      return kWarpgroupSize;
    case ir::Level::Warp:
      return kWarpSize;
    case ir::Level::Thread:
      return 1;
  }
  CHOREO_UNREACHABLE();
}

int64_t Product(const ir::Kernel& kernel, const std::vector<ir::ExprId>& bounds) {
  int64_t product = 1;
  for (const ir::ExprId bound : bounds) {
    const auto value = ir::AsInt(kernel, bound);
    CHOREO_CHECK(value.has_value(), "bounds of parallels inside a block are constants");
    product *= *value;
  }
  return product;
}

int64_t WidestParallel(const ir::Kernel& kernel, const ir::Region& region) {
  int64_t widest = 0;
  ir::ForEachOp(region, [&](const ir::Op& op) {
    if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
      const int64_t groups = Product(kernel, parallel->bounds);
      const int64_t own = groups * std::max(LevelSize(parallel->level), 1);
      // A parallel in a parallel divides its group, which is at least as wide as the level says.
      const int64_t inner = groups * WidestParallel(kernel, parallel->body);
      widest = std::max({widest, own, inner});
    }
  });
  return widest;
}

unsigned LevelBit(ir::Level level) {
  switch (level) {
    case ir::Level::Block:
      return 0;
    case ir::Level::Warpgroup:
      return kOnWarpgroup;
    case ir::Level::Warp:
      return kOnWarp;
    case ir::Level::Thread:
      return kOnThread;
  }
  CHOREO_UNREACHABLE();
}

}  // namespace

int FirstOf(const ThreadSet& threads) {
  int first = 0;
  while (first < kMaxThreads && !threads.test(static_cast<size_t>(first))) ++first;
  return first;
}

ThreadSet ThreadRange(int first, int count) {
  ThreadSet set;
  for (int t = first; t < first + count; ++t) set.set(static_cast<size_t>(t));
  return set;
}

bool Scope::whole_warps() const {
  for (int first = 0; first < kMaxThreads; first += kWarpSize) {
    const size_t lanes = (active & ThreadRange(first, kWarpSize)).count();
    if (lanes != 0 && lanes != kWarpSize) return false;
  }
  return true;
}

int CtaThreads(const ir::Kernel& kernel) {
  constexpr int kDefaultThreads = 128;
  int64_t threads = WidestParallel(kernel, kernel.body);
  if (threads == 0) threads = kernel.host.max_threads_bound;
  if (threads == 0) threads = kDefaultThreads;
  return static_cast<int>((threads + kWarpSize - 1) / kWarpSize * kWarpSize);
}

// ---- dependence -------------------------------------------------------------------------------

Dependence::Dependence(const ir::Kernel& kernel) : kernel_(kernel) {
  bits_.resize(kernel.vars.size());
  declared_at_.resize(kernel.vars.size());
  do {
    changed_ = false;
    Visit(kernel.body);
  } while (changed_);
}

void Dependence::Add(ir::VarId var, unsigned bits) {
  if ((bits_[var] | bits) == bits_[var]) return;
  bits_[var] |= bits;
  changed_ = true;
}

unsigned Dependence::Of(ir::ExprId expr) const {
  if (!expr) return 0;
  unsigned bits = 0;
  ir::ForEachSubExpr(kernel_, expr, [&](ir::ExprId e) {
    const ir::ExprNode& node = kernel_.exprs[e].node;
    if (const auto* ref = std::get_if<ir::VarRef>(&node)) bits |= bits_[ref->var];
    // Fragments and local arrays differ between threads; memory may.
    if (std::holds_alternative<ir::FragElem>(node)) bits |= kOnThread;
    if (const auto* element = std::get_if<ir::ViewElem>(&node)) {
      const ir::Storage& storage = kernel_.storages[kernel_.views[element->view].storage];
      if (storage.kind == ir::StorageKind::Local) bits |= kOnThread;
    }
  });
  return bits;
}

unsigned Dependence::Of(const ir::View& view) const {
  unsigned bits = 0;
  ir::ForEachExpr(view, [&](ir::ExprId e) { bits |= Of(e); });
  return bits;
}

unsigned Dependence::OfControl(const ir::Op& op) const {
  if (const auto* branch = std::get_if<ir::If>(&op.node)) return Of(branch->condition);
  if (const auto* loop = std::get_if<ir::While>(&op.node)) {
    return Of(loop->condition) | OfJumps(loop->body, 0);
  }
  const auto* loop = std::get_if<ir::For>(&op.node);
  if (loop == nullptr) return 0;
  return Of(loop->low) | Of(loop->high) | Of(loop->step) | OfJumps(loop->body, 0);
}

// Of the conditions around the jumps of the loop whose body this is.
unsigned Dependence::OfJumps(const ir::Region& body, unsigned around) const {
  unsigned bits = 0;
  for (const ir::Op& op : body.ops) {
    const bool jumps =
        std::holds_alternative<ir::Break>(op.node) || std::holds_alternative<ir::Continue>(op.node);
    if (jumps) bits |= around;
    const auto* branch = std::get_if<ir::If>(&op.node);
    if (branch == nullptr) continue;
    const unsigned inside = around | Of(branch->condition);
    bits |= OfJumps(branch->then_body, inside) | OfJumps(branch->else_body, inside);
  }
  return bits;
}

unsigned Dependence::ConditionsSince(size_t depth) const {
  unsigned bits = 0;
  for (size_t i = depth; i < conditions_.size(); ++i) bits |= conditions_[i];
  return bits;
}

void Dependence::VisitUnder(unsigned condition, const ir::Region& region) {
  conditions_.push_back(condition);
  Visit(region);
  conditions_.pop_back();
}

void Dependence::Visit(const ir::Region& region) {
  for (const ir::Op& op : region.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      Add(let->var, Of(let->value));
    } else if (const auto* vote = std::get_if<ir::Vote>(&op.node)) {
      Add(vote->var, kOnWarpgroup | (vote->threads == kWarpSize ? kOnWarp : 0u));
    } else if (const auto* atomic = std::get_if<ir::AtomicElem>(&op.node)) {
      if (atomic->var) Add(atomic->var, kOnWarpgroup | kOnWarp | kOnThread);
    } else if (const auto* atomic = std::get_if<ir::AtomicMem>(&op.node)) {
      if (atomic->var) Add(atomic->var, kOnWarpgroup | kOnWarp | kOnThread);
    } else if (const auto* vote = std::get_if<ir::NamedBarrierVote>(&op.node)) {
      Add(vote->var, kOnWarpgroup);
    } else if (const auto* decl = std::get_if<ir::VarDecl>(&op.node)) {
      declared_at_[decl->var] = conditions_.size();
      Add(decl->var, Of(decl->init));
    } else if (const auto* assign = std::get_if<ir::Assign>(&op.node)) {
      Add(assign->var, Of(assign->value) | ConditionsSince(declared_at_[assign->var]));
    } else if (const auto* loop = std::get_if<ir::For>(&op.node)) {
      Add(loop->var, Of(loop->low) | Of(loop->high) | Of(loop->step));
      VisitUnder(OfControl(op), loop->body);
    } else if (const auto* loop = std::get_if<ir::While>(&op.node)) {
      VisitUnder(OfControl(op), loop->body);
    } else if (const auto* branch = std::get_if<ir::If>(&op.node)) {
      VisitUnder(Of(branch->condition), branch->then_body);
      VisitUnder(Of(branch->condition), branch->else_body);
    } else if (const auto* parallel = std::get_if<ir::Parallel>(&op.node)) {
      for (const ir::VarId var : parallel->vars) Add(var, LevelBit(parallel->level));
      Visit(parallel->body);
    } else if (const auto* narrowed = std::get_if<ir::InThreads>(&op.node)) {
      VisitUnder(Of(narrowed->predicate), narrowed->body);
    } else if (const auto* apply = std::get_if<ir::Apply>(&op.node)) {
      for (const ir::VarId var : apply->vars) Add(var, kOnThread);
      VisitUnder(kOnThread, apply->body);
    }
  }
}

// ---- scopes -----------------------------------------------------------------------------------

ScopeTracker::ScopeTracker(const ir::Kernel& kernel, int threads)
    : kernel_(kernel), threads_(threads) {
  Frame frame;
  frame.scope.active = ThreadRange(0, threads);
  frame.size = threads;
  stack_.push_back(std::move(frame));
}

void ScopeTracker::Enter(const ir::Parallel& parallel) {
  Frame frame = stack_.back();
  const int outer_size = frame.size;
  const int64_t groups = Product(kernel_, parallel.bounds);
  const int size = parallel.level == ir::Level::Thread ? 1 : LevelSize(parallel.level);
  // Thread t is number (t % outer_size) of its outer group; that divided by the size is its index,
  // split over the variables, the last running fastest.
  ThreadSet members;
  std::vector<std::vector<int>> values(parallel.vars.size(), std::vector<int>(threads_));
  for (int t = 0; t < threads_; ++t) {
    int64_t index = (t % outer_size) / size;
    if (index < groups) members.set(static_cast<size_t>(t));
    for (size_t v = parallel.vars.size(); v-- > 0;) {
      const int64_t bound = *ir::AsInt(kernel_, parallel.bounds[v]);
      values[v][static_cast<size_t>(t)] = static_cast<int>(index % bound);
      index /= bound;
    }
  }
  for (size_t v = 0; v < parallel.vars.size(); ++v) values_[parallel.vars[v]] = values[v];
  frame.scope.active &= members;
  if (parallel.level == ir::Level::Thread) {
    frame.scope.named_thread = true;
  } else {
    frame.scope.level = parallel.level;
    auto& vars = frame.scope.group_vars;
    vars.insert(vars.end(), parallel.vars.begin(), parallel.vars.end());
    frame.size = size;
  }
  stack_.push_back(std::move(frame));
}

void ScopeTracker::Enter(const ir::InThreads& inthreads) {
  Frame frame = stack_.back();
  for (int t = 0; t < threads_; ++t) {
    if (!frame.scope.active.test(static_cast<size_t>(t))) continue;
    const auto value = Value(inthreads.predicate, t);
    CHOREO_CHECK(value.has_value(), "a predicate of `inthreads` is made of parallel variables");
    if (*value == 0) frame.scope.active.reset(static_cast<size_t>(t));
  }
  ++frame.scope.depth;
  stack_.push_back(std::move(frame));
}

bool ScopeTracker::EnterWhere(ir::ExprId condition, bool holds) {
  Frame frame = stack_.back();
  for (int t = 0; t < threads_; ++t) {
    if (!frame.scope.active.test(static_cast<size_t>(t))) continue;
    const auto value = Value(condition, t);
    if (!value) return false;
    if ((*value != 0) != holds) frame.scope.active.reset(static_cast<size_t>(t));
  }
  stack_.push_back(std::move(frame));
  return true;
}

void ScopeTracker::Note(const ir::Let& let) { lets_[let.var] = let.value; }

void ScopeTracker::Leave() {
  CHOREO_CHECK(stack_.size() > 1);
  stack_.pop_back();
}

std::optional<std::pair<int64_t, int64_t>> ScopeTracker::RangeOf(ir::ExprId e) const {
  std::optional<std::pair<int64_t, int64_t>> range;
  for (int t = 0; t < threads_; ++t) {
    if (!current().active.test(static_cast<size_t>(t))) continue;
    const auto value = Value(e, t);
    if (!value) return std::nullopt;
    if (!range) range = {*value, *value};
    range = {std::min(range->first, *value), std::max(range->second, *value)};
  }
  return range;
}

std::optional<int64_t> ScopeTracker::Value(ir::ExprId e, int t) const {
  const ir::ExprNode& node = kernel_.exprs[e].node;
  if (const auto* c = std::get_if<ir::IntConst>(&node)) return c->value;
  if (const auto* ref = std::get_if<ir::VarRef>(&node)) {
    if (const auto it = values_.find(ref->var); it != values_.end()) {
      return it->second[static_cast<size_t>(t)];
    }
    if (const auto it = lets_.find(ref->var); it != lets_.end()) return Value(it->second, t);
    return std::nullopt;
  }
  if (const auto* cast = std::get_if<ir::Cast>(&node)) return Value(cast->operand, t);
  if (const auto* call = std::get_if<ir::Call>(&node)) {
    if (call->callee == ir::Intrinsic::ThreadIdx) return t;
    if (call->callee == ir::Intrinsic::WarpIdx) return t / kWarpSize;
    if (call->callee == ir::Intrinsic::LaneIdx) return t % kWarpSize;
    return std::nullopt;
  }
  if (const auto* unary = std::get_if<ir::Unary>(&node)) {
    const auto v = Value(unary->operand, t);
    if (!v) return v;
    switch (unary->op) {
      case ir::UnaryOp::Neg:
        return -*v;
      case ir::UnaryOp::Not:
        return *v == 0;
      case ir::UnaryOp::BitNot:
        return ~*v;
    }
  }
  const auto* binary = std::get_if<ir::Binary>(&node);
  if (binary == nullptr) return std::nullopt;
  const auto a = Value(binary->left, t);
  const auto b = Value(binary->right, t);
  if (!a || !b) return std::nullopt;
  switch (binary->op) {
    case ir::BinaryOp::Add:
      return *a + *b;
    case ir::BinaryOp::Sub:
      return *a - *b;
    case ir::BinaryOp::Mul:
      return *a * *b;
    case ir::BinaryOp::Div:
      return *b == 0 ? std::nullopt : std::optional(*a / *b);
    case ir::BinaryOp::Mod:
      return *b == 0 ? std::nullopt : std::optional(*a % *b);
    case ir::BinaryOp::Shl:
      return *a << *b;
    case ir::BinaryOp::Shr:
      return *a >> *b;
    case ir::BinaryOp::BitAnd:
      return *a & *b;
    case ir::BinaryOp::BitOr:
      return *a | *b;
    case ir::BinaryOp::BitXor:
      return *a ^ *b;
    case ir::BinaryOp::And:
      return *a != 0 && *b != 0;
    case ir::BinaryOp::Or:
      return *a != 0 || *b != 0;
    case ir::BinaryOp::Lt:
      return *a < *b;
    case ir::BinaryOp::Le:
      return *a <= *b;
    case ir::BinaryOp::Gt:
      return *a > *b;
    case ir::BinaryOp::Ge:
      return *a >= *b;
    case ir::BinaryOp::Eq:
      return *a == *b;
    case ir::BinaryOp::Ne:
      return *a != *b;
  }
  CHOREO_UNREACHABLE();
}

}  // namespace choreo::passes
