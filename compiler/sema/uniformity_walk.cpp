// The statements and collective operations that the uniformity analysis visits.
#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"
#include "sema/uniformity.h"
#include "sema/walk.h"

namespace choreo::sema {

void Uniformity::CheckCopy(ast::ExprId id, std::string_view op, ast::ExprId source,
                           ast::ExprId target) {
  if (!CheckOperand(op, source, "the source") || !CheckOperand(op, target, "the destination")) {
    return;
  }
  // A copy whose views are the same in all warpgroups is done once, by all of them.
  Dependence views = Of(source);
  views.Add(Of(target));
  const uint8_t apart = Differs(views) & ~ScopeMask();
  CheckControl(file_.exprs[id].range, op, kAnywhere & ~apart);
}

void Uniformity::VisitUnder(Control control, ast::ExprId id) {
  controls_.push_back(std::move(control));
  VisitExpr(id);
  controls_.pop_back();
}

// What each warp does for its own rows of a fragment: warps may go different ways around it.
void Uniformity::CheckOfWarps(SourceRange range, std::string_view op) {
  if (CheckControl(range, op, ScopeMask() & kBetweenLanes)) CheckWhole(range, op, true);
}

void Uniformity::VisitVote(ast::ExprId id, const ast::AnyOf& vote) {
  VisitExpr(vote.span);
  VisitUnder({{}, {{}, kBetweenLanes}, Control::Kind::Apply, id}, vote.condition);
  const SourceRange range = file_.exprs[id].range;
  const std::string_view op = vote.warp ? "`any_of.warp`" : "`any_of`";
  if (vote.warp) return CheckOfWarps(range, op);
  if (CheckControl(range, op, ScopeMask())) CheckWhole(range, op, false);
}

// Collective operations inside an expression. What stands right of `&&`, `||` and `?` is executed
// where the left side says so.
void Uniformity::VisitExpr(ast::ExprId id) {
  if (!id.valid()) return;
  const ast::Expr& expr = file_.exprs[id];
  const auto under = [&](ast::ExprId left) {
    return Control{{}, Of(left), Control::Kind::Branch, left};
  };
  if (const auto* vote = std::get_if<ast::AnyOf>(&expr.node)) return VisitVote(id, *vote);
  if (const auto* x = std::get_if<ast::Binary>(&expr.node);
      x && (x->op == ast::BinaryOp::And || x->op == ast::BinaryOp::Or)) {
    VisitExpr(x->left);
    return VisitUnder(under(x->left), x->right);
  }
  if (const auto* x = std::get_if<ast::Conditional>(&expr.node)) {
    VisitExpr(x->condition);
    VisitUnder(under(x->condition), x->then_value);
    return VisitUnder(under(x->condition), x->else_value);
  }
  ForEachOperand(expr.node, [&](ast::ExprId operand) { VisitExpr(operand); });
  if (const auto* x = std::get_if<ast::DmaCopy>(&expr.node)) {
    CheckCopy(id, "`dma.copy`", x->source, x->target.view);
  } else if (const auto* x = std::get_if<ast::TmaCopy>(&expr.node)) {
    CheckOperand("the TMA copy", x->source, "the source") &&
        CheckOperand("the TMA copy", x->target.view, "the destination") &&
        CheckControl(expr.range, "the TMA copy", ScopeMask());
  } else if (const auto* x = std::get_if<ast::Mma>(&expr.node)) {
    CheckOperand("the MMA", x->a, "A") && CheckOperand("the MMA", x->b, "B") &&
        CheckControl(expr.range, "the MMA", ScopeMask());
  } else if (const auto* x = std::get_if<ast::MmaLoad>(&expr.node)) {
    CheckOperand("`mma.load`", x->source, "the source") &&
        CheckControl(expr.range, "`mma.load`", ScopeMask());
  } else if (std::holds_alternative<ast::MmaFill>(expr.node)) {
    CheckControl(expr.range, "`mma.fill`", ScopeMask());
  } else if (const auto* x = std::get_if<ast::Call>(&expr.node)) {
    const std::string& name = x->callee.text;
    const std::string op = fmt::format("`{}`", name);
    if (name.starts_with("__bar_")) {
      CheckControl(expr.range, op, ScopeMask());
    } else if (name == "copy" || name.starts_with("reduce_") || name.starts_with("all_reduce_")) {
      CheckOfWarps(expr.range, op);
    }
  } else if (const auto* x = std::get_if<ast::IncDec>(&expr.node)) {
    Assigned(x->operand, {});
  }
}

void Uniformity::Assigned(ast::ExprId target, const Dependence& value) {
  const auto it = result_.refs.find(target);
  if (report_ || it == result_.refs.end()) return;
  if (result_.entities[it->second].kind != EntityKind::MutableScalar) return;
  const size_t home = home_[it->second];
  std::vector<Control> controls(
      controls_.begin() + static_cast<long>(std::min(home, controls_.size())), controls_.end());
  assignments_[it->second].push_back({value, std::move(controls)});
}

void Uniformity::VisitDeclared(ast::StmtId id) {
  const auto it = result_.declared.find(id);
  if (it == result_.declared.end()) return;
  const auto* assign = file_.As<ast::Assign>(id);
  const auto* decl = file_.As<ast::ScalarDecl>(id);
  for (size_t i = 0; i < it->second.size(); ++i) {
    const EntityId entity = it->second[i];
    home_[entity] = controls_.size();
    ast::ExprId init;
    if (assign) init = assign->value;
    if (decl && i < decl->declarators.size()) init = decl->declarators[i].init;
    const Dependence value = Of(init);
    of_[entity] = value;
    if (result_.entities[entity].kind == EntityKind::View) aliases_[entity] = init;
    const bool is_mutable = result_.entities[entity].kind == EntityKind::MutableScalar;
    if (result_.entities[entity].kind == EntityKind::Scalar && init.valid()) {
      scalars_[entity] = init;
    }
    if (is_mutable && !report_) assignments_[entity].push_back({value, {}});
  }
}

// One shared tile has one initial value.
void Uniformity::VisitStorage(const ast::StorageDecl& node) {
  for (const ast::StorageDeclarator& declarator : node.declarators) {
    if (!report_ || !declarator.fill.valid() || node.storage != ast::StorageClass::Shared) continue;
    const uint8_t bits = Differs(Of(declarator.fill));
    if (bits == 0) continue;
    diags_.Emit(diag::kinds::InitializerKind, file_.exprs[declarator.fill].range,
                declarator.name.text,
                fmt::format("its initial value differs between {}, and a shared tile has one",
                            Between(bits)));
  }
}

void Uniformity::VisitLoop(ast::StmtId id, const std::vector<ast::ExprId>& bounds,
                           ast::StmtId body) {
  Dependence control = jumps_[id];
  for (const ast::ExprId bound : bounds) {
    VisitExpr(bound);
    control.Add(Of(bound));
  }
  controls_.push_back({id, std::move(control), Control::Kind::Loop});
  Visit(body);
  controls_.pop_back();
}

void Uniformity::VisitInThreads(ast::StmtId id, const ast::InThreads& node) {
  const ThreadSet outer = active_;
  if (const auto holds = Holds(file_, result_, space_, node.predicate, active_)) active_ = *holds;
  // No control for what stands inside, which is executed by these threads only; but a scalar that
  // is assigned inside and read outside differs between them and the others.
  controls_.push_back({id, Of(node.predicate), Control::Kind::InThreads});
  Visit(node.body);
  controls_.pop_back();
  active_ = outer;
}

void Uniformity::VisitParallel(ast::StmtId id, const ast::Parallel& node) {
  const auto it = result_.declared.find(id);
  size_t next = 0, opened = 0;
  const ThreadSet outer = active_;
  for (const ast::ParallelDim& dim : node.dims) {
    std::vector<EntityId> vars;
    for (size_t i = 0; i < dim.vars.size() && it != result_.declared.end(); ++i) {
      if (next < it->second.size()) vars.push_back(it->second[next++]);
    }
    if (dim.level == ast::Level::Block) continue;
    std::vector<int64_t> bounds;
    for (const ast::ExprId bound : dim.bounds)
      bounds.push_back(result_.constants[bound].value_or(1));
    space_.Push(dim.level, std::move(vars), std::move(bounds));
    ++opened;
  }
  active_ &= space_.All();
  if (opened > 0 && !report_) named_ |= active_;
  Visit(node.body);
  for (; opened > 0; --opened) space_.Pop();
  active_ = outer;
}

void Uniformity::VisitJump(ast::StmtId id, std::string_view word, bool leaves_function) {
  Dependence condition;
  for (size_t i = controls_.size(); i-- > 0;) {
    const Control::Kind kind = controls_[i].kind;
    const bool is_loop = kind == Control::Kind::Loop;
    // A `break` that finds no loop first is reported as such.
    const bool boundary = kind == Control::Kind::Apply || kind == Control::Kind::InThreads;
    if (boundary && !leaves_function) return;
    if (is_loop && !report_) jumps_[controls_[i].id].Add(condition);
    if (is_loop && !leaves_function) break;
    if (controls_[i].kind != Control::Kind::InThreads) condition.Add(controls_[i].dependence);
  }
  // Warps may leave a loop apart: it then is control that differs around what stands in it.
  uint8_t bits = Differs(condition) & ScopeMask();
  if (!leaves_function) bits &= kBetweenLanes;
  for (const Control& control : controls_) {
    // The other threads would wait where an `inthreads` joins.
    const auto* narrowing = file_.As<ast::InThreads>(control.id);
    if (leaves_function && narrowing && !narrowing->async) bits |= kBetweenLanes;
  }
  if (report_ && bits != 0) {
    diags_.Emit(diag::kinds::NonUniformJump, file_.stmts[id].range, word, Between(bits));
  }
}

void Uniformity::Visit(ast::StmtId id) {
  if (!id.valid()) return;
  const ast::Stmt& stmt = file_.stmts[id];
  const ast::StmtNode& node = stmt.node;
  if (const auto* x = std::get_if<ast::Block>(&node)) {
    for (const ast::StmtId inner : x->statements) Visit(inner);
  } else if (const auto* x = std::get_if<ast::ScalarDecl>(&node)) {
    for (const auto& declarator : x->declarators) VisitExpr(declarator.init);
    VisitDeclared(id);
  } else if (const auto* x = std::get_if<ast::StorageDecl>(&node)) {
    VisitStorage(*x);
  } else if (const auto* x = std::get_if<ast::Assign>(&node)) {
    VisitExpr(x->target);
    VisitExpr(x->value);
    const auto kind = result_.assigns.find(id);
    if (kind != result_.assigns.end() && kind->second == AssignKind::Declare) {
      VisitDeclared(id);
    } else {
      Assigned(x->target, Of(x->value));
      CheckFragmentElement(x->target);
    }
  } else if (const auto* x = std::get_if<ast::ExprStmt>(&node)) {
    VisitExpr(x->expr);
  } else if (const auto* x = std::get_if<ast::Parallel>(&node)) {
    VisitParallel(id, *x);
  } else if (const auto* x = std::get_if<ast::InThreads>(&node)) {
    VisitInThreads(id, *x);
  } else if (const auto* x = std::get_if<ast::Foreach>(&node)) {
    std::vector<ast::ExprId> bounds;
    const auto declared = result_.declared.find(id);
    for (size_t i = 0; i < x->iterations.size(); ++i) {
      const ast::Iteration& iteration = x->iterations[i];
      Dependence start = Of(iteration.low);
      start.Add(Of(iteration.step));
      for (const ast::ExprId part :
           {iteration.bound, iteration.low, iteration.high, iteration.step}) {
        if (part.valid()) bounds.push_back(part);
      }
      if (declared != result_.declared.end() && i < declared->second.size()) {
        of_[declared->second[i]] = start;
      }
    }
    VisitLoop(id, bounds, x->body);
  } else if (const auto* x = std::get_if<ast::With>(&node)) {
    for (const ast::ExprId bound : x->bounds) VisitExpr(bound);
    Visit(x->body);
  } else if (const auto* x = std::get_if<ast::If>(&node)) {
    VisitExpr(x->condition);
    controls_.push_back({id, Of(x->condition), Control::Kind::Branch});
    Visit(x->then_body);
    Visit(x->else_body);
    controls_.pop_back();
  } else if (const auto* x = std::get_if<ast::While>(&node)) {
    VisitLoop(id, {x->condition}, x->body);
  } else if (const auto* x = std::get_if<ast::Apply>(&node)) {
    controls_.push_back({id, {{}, kBetweenLanes}, Control::Kind::Apply});
    Visit(x->body);
    controls_.pop_back();
  } else if (std::holds_alternative<ast::Return>(node)) {
    VisitJump(id, "return", true);
  } else if (std::holds_alternative<ast::Break>(node)) {
    VisitJump(id, "break", false);
  } else if (std::holds_alternative<ast::Continue>(node)) {
    VisitJump(id, "continue", false);
  } else if (const auto* x = std::get_if<ast::Assert>(&node)) {
    VisitExpr(x->condition);
  } else if (const auto* x = std::get_if<ast::Wait>(&node)) {
    bool operands = true;
    for (const ast::ExprId operand : x->operands) {
      VisitExpr(operand);
      operands = CheckOperand("`wait`", operand, "the event") && operands;
    }
    if (operands) CheckControl(stmt.range, "`wait`", ScopeMask());
  } else if (const auto* x = std::get_if<ast::Trigger>(&node)) {
    VisitExpr(x->event);
    if (CheckOperand("`trigger`", x->event, "the event")) {
      CheckControl(stmt.range, "`trigger`", ScopeMask());
    }
  } else if (const auto* x = std::get_if<ast::MmaStore>(&node)) {
    if (CheckOperand("`mma.store`", x->tile, "the destination")) {
      CheckOfWarps(stmt.range, "`mma.store`");
    }
  } else if (std::holds_alternative<ast::SyncShared>(node)) {
    CheckControl(stmt.range, "`sync.shared`", kAnywhere);
  } else if (const auto* x = std::get_if<ast::CallStmt>(&node)) {
    for (const ast::ExprId arg : x->args) VisitExpr(arg);
    // A function that gets a fragment may exchange values between its lanes.
    const bool collective = x->callee.text.find("setreg_") != std::string::npos ||
                            std::any_of(x->args.begin(), x->args.end(), [&](ast::ExprId arg) {
                              return result_.types[arg].kind == TypeKind::Fragment;
                            });
    if (collective) {
      CheckControl(stmt.range, fmt::format("`{}`", x->callee.text), ScopeMask());
    }
  }
}

}  // namespace choreo::sema
