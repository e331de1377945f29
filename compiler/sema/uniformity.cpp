// Uniformity (language §3): collective operations are executed together by all threads of their
// scope, so control around them, and their coordinates, slots and orders, may not differ between
// these threads.
//
// What a value depends on is kept symbolically (parallel variables, mutable scalars, loads) and
// judged where it is used, for the threads that execute there. The function is walked twice: once
// to see the assignments of every mutable scalar and the jumps of every loop, then to report.
#include "sema/uniformity.h"

#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"
#include "sema/walk.h"

namespace choreo::sema {

std::string_view Between(uint8_t bits) {
  if (bits & kBetweenLanes) return "the threads of a warp";
  return bits & kBetweenWarps ? "the warps of a warpgroup" : "the warpgroups";
}

Dependence Uniformity::OfEntity(EntityId id) const {
  Dependence result;
  switch (result_.entities[id].kind) {
    case EntityKind::ParallelVar:
      if (result_.entities[id].level != ast::Level::Block) result.on.insert(id);
      break;
    case EntityKind::MutableScalar:
      result.on.insert(id);
      break;
    case EntityKind::ElementVar:
      result.differs = kAnywhere;
      break;
    default:
      if (const auto it = of_.find(id); it != of_.end()) result = it->second;
  }
  return result;
}

Dependence Uniformity::Of(ast::ExprId id) const {
  Dependence result;
  if (!id.valid()) return result;
  const ast::ExprNode& node = file_.exprs[id].node;
  if (std::holds_alternative<ast::NameRef>(node)) {
    const auto it = result_.refs.find(id);
    return it == result_.refs.end() ? result : OfEntity(it->second);
  }
  if (const auto* vote = std::get_if<ast::AnyOf>(&node)) {
    result.differs = kBetweenWarpgroups | (vote->warp ? kBetweenWarps : 0);
    return result;
  }
  ForEachOperand(node, [&](ast::ExprId operand) { result.Add(Of(operand)); });
  // Each thread that executes an atomic operation finds another value.
  const bool atomic = std::holds_alternative<ast::Atomic>(node);
  if (atomic || (IsLoad(id) && !IsOneForAll(id))) result.differs = kAnywhere;
  return result;
}

// `x.at(i, j)` on a tile or fragment, not on `subspan` or an event.
bool Uniformity::IsLoad(ast::ExprId id) const {
  const auto* call = file_.As<ast::MethodCall>(id);
  return call && call->name.text == "at" && result_.types[id].kind == TypeKind::Scalar;
}

// Whether what is loaded from one place is one value for all threads: of a parameter that is never
// written, and of a shared tile, where accesses are ordered (what is not is a race, and found as
// one).
bool Uniformity::IsOneForAll(ast::ExprId id) const {
  for (;;) {
    if (const auto it = result_.refs.find(id); it != result_.refs.end()) {
      const Entity& entity = result_.entities[it->second];
      if (entity.kind == EntityKind::ShapedParam) return !entity.written;
      if (entity.kind == EntityKind::Storage) {
        return entity.type.storage == ast::StorageClass::Shared;
      }
      if (entity.kind != EntityKind::View) return false;
      const auto alias = aliases_.find(it->second);
      if (alias == aliases_.end()) return false;
      id = alias->second;
    } else if (const auto* call = file_.As<ast::MethodCall>(id)) {
      id = call->base;
    } else if (const auto* item = file_.As<ast::Index>(id)) {
      id = item->base;
    } else {
      return false;
    }
  }
}

uint8_t Uniformity::Possible() const {
  uint8_t bits = 0;
  int warpgroups = 0;
  for (int group = 0; group < kMaxThreads / kWarpgroup; ++group) {
    int warps = 0;
    for (int warp = 0; warp < kWarpgroup / kWarp; ++warp) {
      int lanes = 0;
      for (int lane = 0; lane < kWarp; ++lane) {
        lanes += active_[group * kWarpgroup + warp * kWarp + lane];
      }
      if (lanes > 1) bits |= kBetweenLanes;
      warps += lanes > 0;
    }
    if (warps > 1) bits |= kBetweenWarps;
    warpgroups += warps > 0;
  }
  return warpgroups > 1 ? bits | kBetweenWarpgroups : bits;
}

uint8_t Uniformity::Differs(const Dependence& dependence) const {
  std::set<EntityId> seen;
  return Differs(dependence, seen);
}

uint8_t Uniformity::Differs(const Dependence& dependence, std::set<EntityId>& seen) const {
  uint8_t bits = dependence.differs & Possible();
  for (const EntityId id : dependence.on) {
    if (!seen.insert(id).second) continue;
    if (result_.entities[id].kind == EntityKind::ParallelVar) {
      bits |= space_.Differs(id, active_);
      continue;
    }
    const auto it = assignments_.find(id);
    if (it == assignments_.end()) continue;
    for (const Assignment& assignment : it->second) {
      bits |= Differs(assignment.value, seen);
      // Control around the assignment that is not around this place too.
      for (const Control& control : assignment.controls) {
        if (!Encloses(control)) bits |= Differs(control.dependence, seen);
      }
    }
  }
  return bits;
}

bool Uniformity::Encloses(const Control& control) const {
  return std::any_of(controls_.begin(), controls_.end(), [&](const Control& around) {
    return around.id == control.id && around.part == control.part;
  });
}

uint8_t Uniformity::ScopeMask() const {
  switch (space_.scope()) {
    case ast::Level::Warpgroup:
      return kBetweenWarps | kBetweenLanes;
    case ast::Level::Warp:
      return kBetweenLanes;
    default:
      return kAnywhere;
  }
}

// Whether all threads of `mask` come here together. One message an operation.
bool Uniformity::CheckControl(SourceRange range, std::string_view op, uint8_t mask) {
  if (!report_) return true;
  for (const Control& control : controls_) {
    if (control.kind == Control::Kind::InThreads) continue;
    if (control.kind == Control::Kind::Apply) {
      const bool vote = control.part.valid();
      diags_.Emit(diag::kinds::CollectiveInApply, range, op, vote ? "`any_of`" : "`apply`");
      return false;
    }
    const uint8_t bits = Differs(control.dependence) & mask;
    if (bits == 0) continue;
    diags_.Emit(diag::kinds::NonUniformControl, range, op, Between(bits))
        .Note(HeaderOf(control), "the condition is here");
    return false;
  }
  return true;
}

bool Uniformity::CheckOperand(std::string_view op, ast::ExprId operand, std::string_view what) {
  if (!report_ || !operand.valid()) return true;
  const uint8_t bits = Differs(Of(operand)) & ScopeMask();
  if (bits == 0) return true;
  diags_.Emit(diag::kinds::NonUniformOperand, file_.exprs[operand].range, op, what, Between(bits));
  return false;
}

// The value in a thread, if it is made of parallel variables and constants.
std::optional<int64_t> Uniformity::ValueIn(ast::ExprId id, int thread) const {
  if (result_.constants[id]) return result_.constants[id];
  if (const auto ref = result_.refs.find(id); ref != result_.refs.end()) {
    const auto named = scalars_.find(ref->second);
    return named != scalars_.end() ? ValueIn(named->second, thread)
                                   : space_.ValueIn(ref->second, thread);
  }
  const auto* binary = file_.As<ast::Binary>(id);
  const auto a = binary == nullptr ? std::nullopt : ValueIn(binary->left, thread);
  const auto b = !a ? std::nullopt : ValueIn(binary->right, thread);
  if (!a || !b || *a < 0 || *b < 0) return std::nullopt;  // of any type
  switch (binary->op) {
    case ast::BinaryOp::Add:
      return *a + *b;
    case ast::BinaryOp::Sub:
      return *a - *b;
    case ast::BinaryOp::Mul:
      return *a * *b;
    case ast::BinaryOp::Div:
      return *b == 0 ? std::nullopt : std::optional(*a / *b);
    case ast::BinaryOp::Mod:
      return *b == 0 ? std::nullopt : std::optional(*a % *b);
    case ast::BinaryOp::Shr:
      return *b > 31 ? std::nullopt : std::optional(*a >> *b);
    case ast::BinaryOp::And:
      return *a != 0 && *b != 0;
    case ast::BinaryOp::Or:
      return *a != 0 || *b != 0;
    case ast::BinaryOp::Less:
      return *a < *b;
    case ast::BinaryOp::LessEqual:
      return *a <= *b;
    case ast::BinaryOp::Greater:
      return *a > *b;
    case ast::BinaryOp::GreaterEqual:
      return *a >= *b;
    case ast::BinaryOp::Equal:
      return *a == *b;
    case ast::BinaryOp::NotEqual:
      return *a != *b;
    default:
      return std::nullopt;
  }
}

// Differs, for the threads of a warp, but exact where the value of a part is known: `t / 32` is one
// for a warp.
bool Uniformity::DiffersInWarp(ast::ExprId id) const {
  bool known = true, same = true;
  for (int first = 0; known && first < kMaxThreads; first += kWarp) {
    std::optional<int64_t> value;
    for (int t = first; known && t < first + kWarp; ++t) {
      if (!active_[static_cast<size_t>(t)]) continue;
      const auto mine = ValueIn(id, t);
      known = mine.has_value();
      same = same && (!value || !mine || *value == *mine);
      value = mine;
    }
  }
  if (known) return !same;
  const ast::ExprNode& node = file_.exprs[id].node;
  const bool made_of_parts = std::holds_alternative<ast::Binary>(node) ||
                             std::holds_alternative<ast::Unary>(node) ||
                             (IsLoad(id) && IsOneForAll(id));
  if (!made_of_parts) return (Differs(Of(id)) & kBetweenLanes) != 0;
  bool differs = false;
  ForEachOperand(node, [&](ast::ExprId operand) { differs = differs || DiffersInWarp(operand); });
  return differs;
}

// An `apply` that sets elements is executed by whole warps: of a row, all lanes that hold it keep
// one value, and which elements a lane owns is no part of the language. (`inthreads` says who is
// meant.)
void Uniformity::CheckFragmentElement(ast::ExprId target) {
  const auto* at = file_.As<ast::MethodCall>(target);
  if (!report_ || at == nullptr || result_.types[at->base].kind != TypeKind::Fragment) return;
  for (const Control& control : controls_) {
    if (control.kind == Control::Kind::Apply) return;
    if (control.kind == Control::Kind::InThreads) continue;
    const auto* branch = file_.As<ast::If>(control.id);
    const ast::ExprId condition =
        control.part.valid() || branch == nullptr ? control.part : branch->condition;
    const uint8_t bits = Differs(control.dependence) & kBetweenLanes;
    if (bits == 0 || (condition.valid() && !DiffersInWarp(condition))) continue;
    const auto ref = result_.refs.find(at->base);
    const std::string op = fmt::format(
        "`apply` sets `{}`", ref == result_.refs.end() ? "" : result_.entities[ref->second].name);
    diags_.Emit(diag::kinds::NonUniformControl, file_.exprs[target].range, op, Between(bits))
        .Note(HeaderOf(control), "the condition is here");
    return;
  }
}

// Whether every warp (else warpgroup) that comes here comes with all its threads.
void Uniformity::CheckWhole(SourceRange range, std::string_view op, bool warp) {
  if (!report_) return;
  const int size = warp ? kWarp : kWarpgroup;
  for (int first = 0; first < kMaxThreads; first += size) {
    int here = 0;
    for (int t = first; t < first + size; ++t) here += active_[static_cast<size_t>(t)];
    if (here == 0 || here == size) continue;
    diags_.Emit(diag::kinds::PartialWarps, range, op, here, size, warp ? "warp" : "warpgroup");
    return;
  }
}

SourceRange Uniformity::HeaderOf(const Control& control) const {
  if (control.part.valid()) return file_.exprs[control.part].range;
  const ast::StmtId id = control.id;
  const ast::StmtNode& node = file_.stmts[id].node;
  if (const auto* x = std::get_if<ast::If>(&node)) return file_.exprs[x->condition].range;
  if (const auto* x = std::get_if<ast::While>(&node)) return file_.exprs[x->condition].range;
  if (const auto* x = std::get_if<ast::Foreach>(&node)) return x->iterations.front().var.range;
  return SourceRange(file_.stmts[id].range.begin);
}

void CheckUniformity(const ast::File& file, const Result& result, ast::FunctionId function,
                     diag::Emitter& diags) {
  Uniformity(file, result, diags).Run(file.functions[function].body);
}

}  // namespace choreo::sema
