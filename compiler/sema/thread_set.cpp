#include "sema/thread_set.h"

#include <algorithm>

namespace choreo::sema {
namespace {

std::optional<bool> Compare(ast::BinaryOp op, int64_t a, int64_t b) {
  switch (op) {
    case ast::BinaryOp::Less:
      return a < b;
    case ast::BinaryOp::LessEqual:
      return a <= b;
    case ast::BinaryOp::Greater:
      return a > b;
    case ast::BinaryOp::GreaterEqual:
      return a >= b;
    case ast::BinaryOp::Equal:
      return a == b;
    case ast::BinaryOp::NotEqual:
      return a != b;
    default:
      return std::nullopt;
  }
}

}  // namespace

void ThreadSpace::Push(ast::Level level, std::vector<EntityId> vars, std::vector<int64_t> bounds) {
  int64_t count = 1;
  for (const int64_t bound : bounds) count *= bound;
  frames_.push_back({level, std::move(vars), std::move(bounds), count});
}

void ThreadSpace::Pop() {
  for (const EntityId var : frames_.back().vars) left_[var] = frames_;
  frames_.pop_back();
}

ast::Level ThreadSpace::scope() const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (frame->level != ast::Level::Thread) return frame->level;
  }
  return ast::Level::Block;
}

int64_t ThreadSpace::Ordinal(const Frames& frames, size_t frame, int thread) {
  int64_t within = thread;
  for (size_t i = 0; i < frame; ++i) {
    if (frames[i].level == ast::Level::Warpgroup) within %= kWarpgroup;
    if (frames[i].level == ast::Level::Warp) within %= kWarp;
  }
  switch (frames[frame].level) {
    case ast::Level::Warpgroup:
      return within / kWarpgroup;
    case ast::Level::Warp:
      return within / kWarp;
    default:
      return within;
  }
}

ThreadSet ThreadSpace::All() const {
  ThreadSet set;
  if (frames_.empty()) return set.set();
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    bool inside = true;
    for (size_t i = 0; i < frames_.size(); ++i) {
      inside = inside && Ordinal(frames_, i, thread) < frames_[i].count;
    }
    set[thread] = inside;
  }
  return set;
}

std::optional<int64_t> ThreadSpace::ValueIn(const Frames& frames, EntityId var, int thread) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const Frame& frame = frames[i];
    const auto it = std::find(frame.vars.begin(), frame.vars.end(), var);
    if (it == frame.vars.end()) continue;
    if (Ordinal(frames, i, thread) >= frame.count) return -1;
    int64_t rest = Ordinal(frames, i, thread);  // row-major: the last variable is the fastest
    for (size_t k = frame.vars.size(); k-- > 0;) {
      if (frame.bounds[k] <= 0) return std::nullopt;
      const int64_t value = rest % frame.bounds[k];
      if (frame.vars[k] == var) return value;
      rest /= frame.bounds[k];
    }
  }
  return std::nullopt;
}

std::optional<int64_t> ThreadSpace::ValueIn(EntityId var, int thread) const {
  if (const auto value = ValueIn(frames_, var, thread)) return value;
  const auto left = left_.find(var);
  return left == left_.end() ? std::nullopt : ValueIn(left->second, var, thread);
}

std::optional<std::pair<int64_t, int64_t>> ThreadSpace::RangeIn(EntityId var,
                                                                const ThreadSet& threads) const {
  std::optional<std::pair<int64_t, int64_t>> range;
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    if (!threads[thread]) continue;
    const auto value = ValueIn(var, thread);
    if (!value) return std::nullopt;
    if (!range) range = {*value, *value};
    range = {std::min(range->first, *value), std::max(range->second, *value)};
  }
  return range;
}

uint8_t ThreadSpace::Differs(EntityId var, const ThreadSet& threads) const {
  uint8_t differs = 0;
  std::optional<int64_t> first, in_warpgroup, in_warp;
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    if (thread % kWarpgroup == 0) in_warpgroup.reset();
    if (thread % kWarp == 0) in_warp.reset();
    if (!threads[thread]) continue;
    const auto value = ValueIn(var, thread);
    if (!value) return 0;  // a grid variable: one value a CTA
    if (in_warp && *in_warp != *value) {
      differs |= kBetweenLanes;
    } else if (!in_warp && in_warpgroup && *in_warpgroup != *value) {
      differs |= kBetweenWarps;
    } else if (!in_warp && !in_warpgroup && first && *first != *value) {
      differs |= kBetweenWarpgroups;
    }
    if (!first) first = value;
    if (!in_warpgroup) in_warpgroup = value;
    if (!in_warp) in_warp = value;
  }
  return differs;
}

std::vector<EntityId> ThreadSpace::Variables() const {
  std::vector<EntityId> vars;
  for (const Frame& frame : frames_) vars.insert(vars.end(), frame.vars.begin(), frame.vars.end());
  return vars;
}

std::optional<ThreadSet> Holds(const ast::File& file, const Result& result,
                               const ThreadSpace& space, ast::ExprId predicate,
                               const ThreadSet& among) {
  if (const auto* unary = file.As<ast::Unary>(predicate)) {
    if (unary->op != ast::UnaryOp::Not) return std::nullopt;
    const auto inner = Holds(file, result, space, unary->operand, among);
    return inner ? std::optional(among & ~*inner) : std::nullopt;
  }
  const auto* binary = file.As<ast::Binary>(predicate);
  if (!binary) return std::nullopt;
  if (binary->op == ast::BinaryOp::And || binary->op == ast::BinaryOp::Or) {
    const auto left = Holds(file, result, space, binary->left, among);
    const auto right = Holds(file, result, space, binary->right, among);
    if (!left || !right) return std::nullopt;
    return binary->op == ast::BinaryOp::And ? *left & *right : *left | *right;
  }
  const auto operand = [&](ast::ExprId id, int thread) -> std::optional<int64_t> {
    if (const auto it = result.refs.find(id); it != result.refs.end()) {
      if (result.entities[it->second].kind == EntityKind::ParallelVar) {
        return space.ValueIn(it->second, thread);
      }
    }
    return id.value < result.constants.size() ? result.constants[id] : std::nullopt;
  };
  ThreadSet set;
  for (int thread = 0; thread < kMaxThreads; ++thread) {
    if (!among[thread]) continue;
    const auto left = operand(binary->left, thread), right = operand(binary->right, thread);
    if (!left || !right) return std::nullopt;
    const auto holds = Compare(binary->op, *left, *right);
    if (!holds) return std::nullopt;
    set[thread] = *holds;
  }
  return set;
}

}  // namespace choreo::sema
