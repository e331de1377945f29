// Statements: dispatch, blocks, branches, loops, jumps and assertions.
#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"
#include "sema/walk.h"

namespace choreo::sema {

void Checker::CheckStmt(ast::StmtId id) {
  if (!id.valid()) return;
  const ast::StmtNode& node = file_.stmts[id].node;
  const ast::StmtId outer = statement_;
  statement_ = id;
  enclosing_.push_back(id);
  if (parallel_depth_ > 0 || AllowedBeforeParallel(id)) {
    if (const auto* x = std::get_if<ast::Block>(&node)) {
      scopes_.Push();
      CheckBlock(id);
      scopes_.Pop();
      (void)x;
    } else if (const auto* x = std::get_if<ast::ErrorStmt>(&node)) {
      for (const ast::Name& name : x->names) DeclareForgotten(name);
    } else if (const auto* x = std::get_if<ast::ScalarDecl>(&node)) {
      CheckScalarDecl(id, *x);
    } else if (const auto* x = std::get_if<ast::StorageDecl>(&node)) {
      CheckStorageDecl(id, *x);
    } else if (const auto* x = std::get_if<ast::Assign>(&node)) {
      CheckAssign(id, *x);
    } else if (const auto* x = std::get_if<ast::ExprStmt>(&node)) {
      CheckExprStmt(id, *x);
    } else if (const auto* x = std::get_if<ast::Parallel>(&node)) {
      CheckParallel(id, *x);
    } else if (const auto* x = std::get_if<ast::InThreads>(&node)) {
      CheckInThreads(id, *x);
    } else if (const auto* x = std::get_if<ast::Foreach>(&node)) {
      CheckForeach(id, *x);
    } else if (const auto* x = std::get_if<ast::With>(&node)) {
      CheckWith(id, *x);
    } else if (const auto* x = std::get_if<ast::If>(&node)) {
      CheckIf(*x);
    } else if (const auto* x = std::get_if<ast::While>(&node)) {
      CheckWhile(*x);
    } else if (std::holds_alternative<ast::Break>(node)) {
      CheckJump(id, "break");
    } else if (std::holds_alternative<ast::Continue>(node)) {
      CheckJump(id, "continue");
    } else if (std::holds_alternative<ast::Return>(node)) {
      CheckReturn(id);
    } else if (const auto* x = std::get_if<ast::Assert>(&node)) {
      CheckAssert(id, *x);
    } else if (const auto* x = std::get_if<ast::Apply>(&node)) {
      CheckApply(id, *x);
    } else if (const auto* x = std::get_if<ast::Wait>(&node)) {
      CheckWait(id, *x);
    } else if (const auto* x = std::get_if<ast::Trigger>(&node)) {
      CheckTrigger(id, *x);
    } else if (const auto* x = std::get_if<ast::MmaStore>(&node)) {
      CheckMmaStore(id, *x);
    } else if (std::holds_alternative<ast::SyncShared>(node)) {
      if (inthreads_depth_ > 0) Report(diag::kinds::SyncInsideInThreads, file_.stmts[id].range);
    } else if (const auto* x = std::get_if<ast::CallStmt>(&node)) {
      CheckCallStmt(id, *x);
    }
    if (!std::holds_alternative<ast::Parallel>(node)) CheckStmtAttributes(id);
  }
  FlushWarnings();
  enclosing_.pop_back();
  statement_ = outer;
}

// The statements of a Block, in the scope that is open.
void Checker::CheckBlock(ast::StmtId id) {
  const auto* block = file_.As<ast::Block>(id);
  CHOREO_CHECK(block);
  for (const ast::StmtId statement : block->statements) CheckStmt(statement);
}

void Checker::CheckBody(ast::StmtId id) {
  if (id.valid()) CheckStmt(id);
}

// Variables that decide a condition; `unknown` if something else does too.
std::vector<Atom> Checker::ConditionSources(ast::ExprId condition, bool* unknown) const {
  std::vector<Atom> sources;
  const ast::ExprNode& node = file_.exprs[condition].node;
  if (std::holds_alternative<ast::NameRef>(node)) {
    const auto entity = EntityOf(condition);
    if (!entity) return sources;
    const Value& value = entity_values_[*entity];
    if (value.poly) {
      sources = syms_.Sources(*value.poly);
    } else if (value.type.kind == TypeKind::Scalar && !value.real) {
      *unknown = true;
    }
    return sources;
  }
  if (values_[condition.value].is_element) *unknown = true;
  ForEachOperand(node, [&](ast::ExprId operand) {
    const std::vector<Atom> more = ConditionSources(operand, unknown);
    sources.insert(sources.end(), more.begin(), more.end());
  });
  return sources;
}

bool Checker::Escapes(ast::StmtId id) const {
  const ast::StmtNode& node = file_.stmts[id].node;
  if (std::holds_alternative<ast::Break>(node) || std::holds_alternative<ast::Continue>(node) ||
      std::holds_alternative<ast::Return>(node)) {
    return true;
  }
  bool escapes = false;
  ForEachInner(node, [&](ast::StmtId inner) { escapes = escapes || Escapes(inner); });
  return escapes;
}

void Checker::CheckIf(const ast::If& node) {
  const Value condition = Check(node.condition);
  NeedCondition(node.condition, condition);
  const Guards saved = guards_;
  bool unknown = false;
  for (const Atom atom : ConditionSources(node.condition, &unknown)) guards_.atoms.insert(atom);
  guards_.all = guards_.all || unknown || condition.constant.has_value();
  CheckBody(node.then_body);
  CheckBody(node.else_body);
  // After a branch that leaves, the condition still holds for what follows.
  const bool escapes =
      Escapes(node.then_body) || (node.else_body.valid() && Escapes(node.else_body));
  if (!escapes) guards_ = saved;
}

void Checker::CheckWhile(const ast::While& node) {
  const Guards saved = guards_;
  NeedCondition(node.condition, Check(node.condition));
  guards_.all = true;
  ++loop_depth_, ++loops_outside_role_;
  scopes_.Push(true);
  CheckBody(node.body);
  scopes_.Pop();
  --loop_depth_, --loops_outside_role_;
  guards_ = saved;
}

// The bounded variable that `foreach x(lo : hi : step)` runs over, as a variable of its own.
Value Checker::SliceValue(const ast::Iteration& iteration, const Value& over) {
  const auto part = [&](ast::ExprId id, std::string_view what) {
    if (!id.valid()) return Value();
    const Value& value = Check(id);
    return NeedInteger(id, value, what) ? value : Value();
  };
  const Value low = part(iteration.low, "the start of a `foreach`");
  const Value high = part(iteration.high, "the end of a `foreach`");
  const Value step = part(iteration.step, "the step of a `foreach`");
  const Extent& bound = *over.type.bound;
  if (step.constant && *step.constant <= 0) {
    Report(diag::kinds::LoopStep, file_.exprs[iteration.step].range, *step.constant);
  }
  if (low.constant && *low.constant < 0) {
    Report(diag::kinds::LoopRange, file_.exprs[iteration.low].range, "start", *low.constant,
           bound.text);
  }
  const bool end_beyond = high.constant && bound.value &&
                          (*high.constant > *bound.value || *high.constant < -*bound.value);
  if (end_beyond) {
    Report(diag::kinds::LoopRange, file_.exprs[iteration.high].range, "end", *high.constant,
           bound.text);
  }
  std::optional<Poly> end = PolyOf(bound);
  if (high.constant) {
    end = *high.constant >= 0 ? std::optional(Poly::Constant(*high.constant))
          : end               ? Add(*end, Poly::Constant(*high.constant))
                              : std::nullopt;
  } else if (iteration.high.valid()) {
    end = high.poly;
  }
  std::optional<Poly> last = end ? Sub(*end, Poly::Constant(1)) : std::nullopt;
  const bool exact =
      (!iteration.low.valid() || low.constant) && (!iteration.step.valid() || step.constant);
  if (step.constant && *step.constant > 1 && last && last->constant()) {
    const int64_t first = std::max<int64_t>(low.constant.value_or(0), 0);
    if (*last->constant() >= first) {
      last = Poly::Constant(*last->constant() - (*last->constant() - first) % *step.constant);
    }
  } else if (step.constant && *step.constant > 1) {
    last.reset();
  }
  if (!exact) last.reset();
  return VariableValue(iteration.var.text, bound, last, TypeKind::Bounded,
                       low.constant.value_or(0));
}

EntityId Checker::DeclareIteration(const ast::Iteration& iteration) {
  if (iteration.bound.valid()) {
    const Value& bound = values_[iteration.bound.value];
    Value value;
    if (!bound.is_error()) {
      const Extent extent = ExtentOf(bound);
      const auto end = PolyOf(extent);
      value = VariableValue(iteration.var.text, extent,
                            end ? Sub(*end, Poly::Constant(1)) : std::nullopt, TypeKind::Bounded);
    }
    return DeclareNew(EntityKind::LoopVar, iteration.var, std::move(value));
  }
  const auto over = scopes_.Find(iteration.var.text);
  if (!over) {
    ReportUnknown(iteration.var);
  } else {
    scopes_.RecordRead(*over, iteration.var.range);
    const Value variable = entity_values_[*over];
    if (variable.type.kind == TypeKind::Bounded && variable.type.bound) {
      Value slice = SliceValue(iteration, variable);
      const EntityId id = Declare(EntityKind::LoopVar, iteration.var, std::move(slice));
      result_.entities[id].over = *over;
      return id;
    }
    if (!variable.is_error()) {
      Report(diag::kinds::LoopOverUnbounded, iteration.var.range, iteration.var.text,
             Describe(variable.type));
    }
  }
  for (const ast::ExprId part : {iteration.low, iteration.high, iteration.step}) {
    if (part.valid()) Check(part);
  }
  return Declare(EntityKind::LoopVar, iteration.var, ErrorValue());
}

void Checker::CheckForeach(ast::StmtId id, const ast::Foreach& node) {
  for (const ast::Iteration& iteration : node.iterations) {
    if (!iteration.bound.valid()) continue;
    const Value& bound = Check(iteration.bound);
    if (!NeedInteger(iteration.bound, bound, "the bound of a `foreach`")) {
      values_[iteration.bound.value] = ErrorValue();
    }
  }
  if (node.unroll.valid()) {
    const auto count = NeedConstant(node.unroll, "the count of `unroll`");
    if (count) NeedExtent(file_.exprs[node.unroll].range, "the count of `unroll`", *count);
  }
  const Guards saved = guards_;
  ++loop_depth_, ++loops_outside_role_;
  scopes_.Push(true);
  std::vector<EntityId> declared;
  for (const ast::Iteration& iteration : node.iterations) {
    declared.push_back(DeclareIteration(iteration));
  }
  result_.declared[id] = std::move(declared);
  FlushWarnings();
  CheckBody(node.body);
  scopes_.Pop();
  --loop_depth_, --loops_outside_role_;
  guards_ = saved;
}

// with idx = {x, y} in [n, m]
void Checker::CheckWith(ast::StmtId id, const ast::With& node) {
  for (const ast::ExprId bound : node.bounds) {
    if (!NeedInteger(bound, Check(bound), "the bound of a `with` variable")) {
      values_[bound.value] = ErrorValue();
    }
  }
  scopes_.Push();
  std::vector<EntityId> declared;
  Value tuple;
  tuple.type.kind = TypeKind::Tuple;
  for (size_t i = 0; i < node.vars.size(); ++i) {
    Value value;
    if (i < node.bounds.size() && !values_[node.bounds[i].value].is_error()) {
      const Extent bound = ExtentOf(values_[node.bounds[i].value]);
      const auto end = PolyOf(bound);
      value = VariableValue(node.vars[i].text, bound,
                            end ? Sub(*end, Poly::Constant(1)) : std::nullopt, TypeKind::Bounded);
    } else {
      tuple.type.kind = TypeKind::Error;
    }
    if (!value.is_error()) tuple.type.extents.push_back(ExtentOf(value));
    tuple.elements.push_back(value);
    declared.push_back(DeclareNew(EntityKind::WithVar, node.vars[i], std::move(value)));
  }
  if (node.tuple) {
    declared.push_back(DeclareNew(EntityKind::WithTuple, *node.tuple, std::move(tuple)));
  }
  result_.declared[id] = std::move(declared);
  CheckBody(node.body);
  scopes_.Pop();
}

void Checker::CheckJump(ast::StmtId id, std::string_view word) {
  if (loop_depth_ == 0) Report(diag::kinds::JumpOutsideLoop, file_.stmts[id].range, word);
}

void Checker::CheckReturn(ast::StmtId id) {
  if (cluster_ > 1) Report(diag::kinds::ClusterReturn, file_.stmts[id].range);
}

void Checker::CheckAssert(ast::StmtId, const ast::Assert& node) {
  const Value& condition = Check(node.condition);
  if (!NeedCondition(node.condition, condition)) return;
  if (condition.constant && *condition.constant == 0) {
    Report(diag::kinds::AssertNeverHolds, file_.exprs[node.condition].range,
           Spelled(node.condition), node.message);
  }
  if (parallel_depth_ == 0) AssumeHolds(node.condition);
}

// What the host checks before the launch may be relied on behind it.
void Checker::AssumeHolds(ast::ExprId condition) {
  const auto* binary = file_.As<ast::Binary>(condition);
  if (!binary) return;
  if (binary->op == ast::BinaryOp::And) {
    AssumeHolds(binary->left);
    AssumeHolds(binary->right);
  }
  if (binary->op != ast::BinaryOp::Equal) return;
  const auto* remainder = file_.As<ast::Binary>(binary->left);
  const Value& right = values_[binary->right.value];
  if (remainder && remainder->op == ast::BinaryOp::Mod && right.constant == 0) {
    const Value& value = values_[remainder->left.value];
    const Value& factor = values_[remainder->right.value];
    if (value.poly && factor.constant) syms_.AssumeMultiple(*value.poly, *factor.constant);
    return;
  }
  const Value& left = values_[binary->left.value];
  if (left.poly && right.poly) syms_.AssumeEqual(*left.poly, *right.poly);
}

void Checker::CheckExprStmt(ast::StmtId, const ast::ExprStmt& node) {
  const Value& value = Check(node.expr);
  if (value.is_error() || value.type.kind == TypeKind::Void) return;
  if (file_.As<ast::IncDec>(node.expr) || file_.As<ast::Atomic>(node.expr)) return;
  const ast::ExprNode& expr = file_.exprs[node.expr].node;
  const auto* dma = std::get_if<ast::DmaCopy>(&expr);
  const auto* tma = std::get_if<ast::TmaCopy>(&expr);
  if ((dma && !dma->async && !dma->target.anonymous) || (tma && !tma->async)) return;
  Report(diag::kinds::ResultDropped, file_.exprs[node.expr].range, Describe(value.type));
}

// Before the outermost `parallel` stand only scalars and assertions.
bool Checker::AllowedBeforeParallel(ast::StmtId id) {
  const ast::StmtNode& node = file_.stmts[id].node;
  const auto* expr = std::get_if<ast::ExprStmt>(&node);
  const bool allowed =
      std::holds_alternative<ast::ScalarDecl>(node) || std::holds_alternative<ast::Assign>(node) ||
      (expr && file_.As<ast::IncDec>(expr->expr)) || std::holds_alternative<ast::Assert>(node) ||
      std::holds_alternative<ast::Parallel>(node) || std::holds_alternative<ast::ErrorStmt>(node);
  const bool parallel = std::holds_alternative<ast::Parallel>(node);
  if (allowed && (!outer_parallel_ || parallel)) return true;
  const auto* block = std::get_if<ast::Block>(&node);
  if (block && block->statements.empty()) return true;
  diag::Builder builder =
      Report(diag::kinds::OutsideParallel, file_.stmts[id].range, ast::Describe(file_.stmts[id]),
             outer_parallel_ ? "after" : "before");
  if (outer_parallel_) builder.Note(*outer_parallel_, "the kernel is this `parallel`");
  // Names that it would declare are not to be reported where they are used.
  if (const auto* decl = std::get_if<ast::StorageDecl>(&node)) {
    for (const auto& declarator : decl->declarators) DeclareForgotten(declarator.name);
  } else if (const auto* assign = std::get_if<ast::Assign>(&node)) {
    if (const auto* name = file_.As<ast::NameRef>(assign->target)) {
      DeclareForgotten({name->name, file_.exprs[assign->target].range});
    }
  } else if (const auto* scalar = std::get_if<ast::ScalarDecl>(&node)) {
    for (const auto& declarator : scalar->declarators) DeclareForgotten(declarator.name);
  }
  return false;
}

}  // namespace choreo::sema
