// States of row fragments (language §6). Each lane that owns a row holds one value for it: the same
// in all of them (agreed, or zero, which is agreed and a part alike), or its own part of a sum or
// maximum. In: a typed function. Out: diagnostics where a part is taken for the whole, and the
// like. States are followed through control flow; loops are walked until their entry state is
// stable, then reported on.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "sema/checker.h"
#include "sema/row_states.h"
#include "sema/walk.h"

namespace choreo::sema {
namespace {

constexpr int kMaxRounds = 8;

}  // namespace

RowState Join(RowState a, RowState b) {
  if (a == b) return a;
  if (a == RowState::Opaque || b == RowState::Opaque) return RowState::Opaque;
  if (a == RowState::Unfilled || b == RowState::Unfilled) return RowState::Unfilled;
  if (a == RowState::Zero) return b;
  if (b == RowState::Zero) return a;
  return RowState::Unusable;
}

void RowStates::State::Merge(const State& other) {
  if (other.dead) return;
  if (dead) {
    *this = other;
    return;
  }
  for (auto& [row, state] : rows) {
    const auto it = other.rows.find(row);
    if (it != other.rows.end()) state = Join(state, it->second);
  }
  for (const auto& [row, state] : other.rows) rows.try_emplace(row, state);
  for (const auto& [scalar, value] : other.scalars) scalars.try_emplace(scalar, value);
}

bool RowStates::IsRow(EntityId id) const {
  const Type& type = result_.entities[id].type;
  return type.kind == TypeKind::Fragment && type.rank() == 1;
}

std::optional<EntityId> RowStates::RowOf(ast::ExprId id) const {
  const auto it = id.valid() ? result_.refs.find(id) : result_.refs.end();
  if (it == result_.refs.end() || !IsRow(it->second)) return std::nullopt;
  return it->second;
}

std::optional<EntityId> RowStates::ElementOf(ast::ExprId id) const {
  const auto* call = file_.As<ast::MethodCall>(id);
  return call && call->name.text == "at" ? RowOf(call->base) : std::nullopt;
}

std::string RowStates::NameOf(EntityId row) const { return result_.entities[row].name; }

// The state that a read finds; what must not be read is reported, once.
RowState RowStates::Read(EntityId row, SourceRange range) {
  const auto it = state_.rows.find(row);
  if (it == state_.rows.end()) return RowState::Opaque;
  if (it->second == RowState::Unfilled) {
    if (report_) {
      diags_.Emit(diag::kinds::RowUnfilled, range, NameOf(row))
          .Note(result_.entities[row].declared, "it is declared here, without an initialiser");
    }
    it->second = RowState::Opaque;
  } else if (it->second == RowState::Unusable) {
    if (report_) diags_.Emit(diag::kinds::RowUnusable, range, NameOf(row));
    it->second = RowState::Opaque;
  }
  return it->second;
}

// ---- statements -------------------------------------------------------------------------------

// Walks `body` from the current state until what enters an iteration is stable.
void RowStates::Loop(ast::StmtId body) {
  const std::vector<State> outer_breaks = std::move(breaks_),
                           outer_continues = std::move(continues_);
  const bool report = report_;
  State entry = state_;
  report_ = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    state_ = entry;
    breaks_.clear(), continues_.clear();
    Visit(body);
    for (const State& at : continues_) state_.Merge(at);
    State next = entry;
    next.Merge(state_);
    if (next.rows == entry.rows && next.scalars == entry.scalars) break;
    entry = std::move(next);
  }
  report_ = report;
  state_ = entry;
  breaks_.clear(), continues_.clear();
  Visit(body);
  state_ = std::move(entry);
  for (const State& at : breaks_) state_.Merge(at);
  breaks_ = outer_breaks;
  continues_ = outer_continues;
}

void RowStates::VisitIf(const ast::If& node) {
  const Part condition = apply_rank_ > 0 ? Condition(node.condition) : Part::Agreed;
  if (apply_rank_ == 0) VisitExpr(node.condition);
  const bool lane = condition == Part::Lane;
  lane_control_ += lane;
  const State before = state_;
  Visit(node.then_body);
  State then_state = std::move(state_);
  state_ = before;
  Visit(node.else_body);
  state_.Merge(then_state);
  lane_control_ -= lane;
}

void RowStates::VisitApply(ast::StmtId id, const ast::Apply& node) {
  const int outer = apply_rank_;
  apply_rank_ = static_cast<int>(node.vars.size());
  const auto vars = result_.declared.find(id);
  columns_.clear();
  if (vars != result_.declared.end() && vars->second.size() == 2) columns_.insert(vars->second[1]);
  Visit(node.body);
  apply_rank_ = outer;
}

void RowStates::VisitStorage(ast::StmtId id, const ast::StorageDecl& node) {
  const auto declared = result_.declared.find(id);
  if (declared == result_.declared.end()) return;
  for (size_t i = 0; i < node.declarators.size() && i < declared->second.size(); ++i) {
    const EntityId entity = declared->second[i];
    if (!IsRow(entity)) continue;
    RowState state = RowState::Unfilled;
    if (node.declarators[i].init == ast::StorageDeclarator::Init::Fill) {
      const ast::ExprId fill = node.declarators[i].fill;
      state = IsZero(fill) ? RowState::Zero : RowState::Agreed;
      if (report_ && Evaluate(fill) == Part::Lane) {
        diags_.Emit(diag::kinds::RowLaneValue, file_.exprs[fill].range, NameOf(entity));
      }
    }
    state_.rows[entity] = state;
  }
}

void RowStates::Visit(ast::StmtId id) {
  if (!id.valid() || state_.dead) return;
  const ast::StmtNode& node = file_.stmts[id].node;
  if (const auto* x = std::get_if<ast::Block>(&node)) {
    for (const ast::StmtId inner : x->statements) Visit(inner);
  } else if (const auto* x = std::get_if<ast::StorageDecl>(&node)) {
    VisitStorage(id, *x);
  } else if (const auto* x = std::get_if<ast::ScalarDecl>(&node)) {
    VisitScalars(id, *x);
  } else if (const auto* x = std::get_if<ast::Assign>(&node)) {
    VisitAssign(id, *x);
  } else if (const auto* x = std::get_if<ast::ExprStmt>(&node)) {
    VisitExpr(x->expr);
  } else if (const auto* x = std::get_if<ast::If>(&node)) {
    VisitIf(*x);
  } else if (const auto* x = std::get_if<ast::Apply>(&node)) {
    VisitApply(id, *x);
  } else if (const auto* x = std::get_if<ast::Foreach>(&node)) {
    Loop(x->body);
  } else if (const auto* x = std::get_if<ast::While>(&node)) {
    VisitExpr(x->condition);
    Loop(x->body);
  } else if (const auto* x = std::get_if<ast::InThreads>(&node)) {
    const State before = state_;
    Visit(x->body);
    State after = before;  // warpgroups outside keep their rows; a role's end is no place
    if (!x->async) after.Merge(state_);
    state_ = std::move(after);
  } else if (std::holds_alternative<ast::Break>(node)) {
    breaks_.push_back(state_);
    state_.dead = true;
  } else if (std::holds_alternative<ast::Continue>(node)) {
    continues_.push_back(state_);
    state_.dead = true;
  } else if (std::holds_alternative<ast::Return>(node)) {
    state_.dead = true;
  } else if (const auto* x = std::get_if<ast::Assert>(&node)) {
    if (apply_rank_ > 0) Condition(x->condition);
  } else if (const auto* x = std::get_if<ast::CallStmt>(&node)) {
    for (const ast::ExprId arg : x->args) {
      if (const auto row = RowOf(arg)) state_.rows[*row] = RowState::Opaque;
    }
  } else if (std::holds_alternative<ast::RawCpp>(node)) {
    for (auto& [row, state] : state_.rows) state = RowState::Opaque;
  } else {
    ForEachInner(node, [&](ast::StmtId inner) { Visit(inner); });
  }
}

// ---- operations on whole rows -----------------------------------------------------------------

void RowStates::VisitExpr(ast::ExprId id) {
  if (!id.valid()) return;
  const ast::ExprNode& node = file_.exprs[id].node;
  if (const auto* vote = std::get_if<ast::AnyOf>(&node)) {
    parts_count_ = vote->parts;
    Condition(vote->condition);
    parts_count_ = false;
    return;
  }
  if (const auto* call = std::get_if<ast::Call>(&node)) VisitCall(id, *call);
  ForEachOperand(node, [&](ast::ExprId operand) { VisitExpr(operand); });
}

void RowStates::VisitCall(ast::ExprId id, const ast::Call& call) {
  const std::string& name = call.callee.text;
  const auto row = call.args.empty() ? std::nullopt : RowOf(call.args[0]);
  if (!row) return;
  const SourceRange range = file_.exprs[call.args[0]].range;
  if (name == "copy" && call.args.size() == 2) {
    const auto from = RowOf(call.args[1]);
    state_.rows[*row] = from ? Read(*from, file_.exprs[call.args[1]].range) : RowState::Opaque;
  } else if (name == "reduce_sum") {
    state_.rows[*row] = RowState::Agreed;
  } else if (name == "reduce_max") {
    const RowState old = Read(*row, range);
    if (old == RowState::PartialSum && report_) {
      diags_.Emit(diag::kinds::RowPartialUsed, range, NameOf(*row), "partial sum",
                  "the running maximum of `reduce_max`");
    }
    state_.rows[*row] = RowState::Agreed;
  } else if (name == "all_reduce_sum" || name == "all_reduce_max") {
    const RowState own = name == "all_reduce_sum" ? RowState::PartialSum : RowState::PartialMax;
    const RowState old = Read(*row, range);
    if (old != own && old != RowState::Zero && old != RowState::Opaque && report_) {
      diags_.Emit(diag::kinds::RowAllReduce, file_.exprs[id].range, name, NameOf(*row),
                  old == RowState::Agreed       ? "agreed already"
                  : old == RowState::PartialSum ? "a partial sum"
                                                : "a partial maximum");
    }
    state_.rows[*row] = RowState::Agreed;
  }
}

void CheckRowStates(const ast::File& file, const Result& result, ast::FunctionId function,
                    diag::Emitter& diags) {
  RowStates(file, result, diags).Run(file.functions[function].body);
}

}  // namespace choreo::sema
