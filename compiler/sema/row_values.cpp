// What the elements and scalars of an `apply` are over the lanes of a row, and what assigning them
// makes of a row.
#include <fmt/format.h>

#include "sema/checker.h"
#include "sema/row_states.h"
#include "sema/walk.h"

namespace choreo::sema {

bool RowStates::IsZero(ast::ExprId id) const {
  if (const auto* literal = file_.As<ast::FloatLiteral>(id)) return literal->value == 0;
  if (const auto* unary = file_.As<ast::Unary>(id)) {
    return unary->op == ast::UnaryOp::Minus && IsZero(unary->operand);
  }
  if (const auto* call = file_.As<ast::Call>(id)) {
    return call->callee.text == "__to" && call->args.size() == 1 && IsZero(call->args[0]);
  }
  return id.valid() && result_.constants[id] == 0;
}

std::optional<EntityId> RowStates::RowIn(ast::ExprId expr) const {
  std::optional<EntityId> found;
  if (const auto row = ElementOf(expr)) {
    const auto it = state_.rows.find(*row);
    const bool partial = it != state_.rows.end() &&
                         (it->second == RowState::PartialSum || it->second == RowState::PartialMax);
    if (partial) return row;
  }
  ForEachOperand(file_.exprs[expr].node, [&](ast::ExprId operand) {
    if (!found) found = RowIn(operand);
  });
  return found;
}

void RowStates::ReportPart(ast::ExprId expr, Part part, std::string_view use) {
  if (!report_) return;
  const auto row = RowIn(expr);
  const auto ref = result_.refs.find(expr);
  const std::string name = row                         ? NameOf(*row)
                           : ref != result_.refs.end() ? result_.entities[ref->second].name
                                                       : std::string("this value");
  diags_
      .Emit(diag::kinds::RowPartialUsed, file_.exprs[expr].range, name,
            part == Part::Max ? "partial maximum" : "partial sum", use)
      .Note({}, part == Part::Max ? "`all_reduce_max` combines the lanes' parts"
                                  : "`all_reduce_sum` combines the lanes' parts");
}

// A value that goes into something else than a sum or maximum: partial ones must not.
RowStates::Part RowStates::Other(Part part, ast::ExprId expr, std::string_view use) {
  if (part != Part::Sum && part != Part::Max) return part;
  if (parts_count_) return Part::Lane;
  ReportPart(expr, part, use);
  return Part::Agreed;
}

RowStates::Part RowStates::AddParts(ast::ExprId at, Part a, ast::ExprId a_expr, Part b,
                                    ast::ExprId b_expr) {
  if (a == Part::Max) a = Other(a, a_expr, "an addition");
  if (b == Part::Max) b = Other(b, b_expr, "an addition");
  if (a == Part::Zero) return b;
  if (b == Part::Zero) return a;
  if (a == Part::Opaque) return b == Part::Sum ? b : a;
  if (b == Part::Opaque) return a == Part::Sum ? a : b;
  const bool mixes = !parts_count_ && ((a == Part::Sum && b == Part::Agreed) ||
                                       (a == Part::Agreed && b == Part::Sum));
  if (mixes) {
    if (report_) {
      const auto row = RowIn(a == Part::Sum ? a_expr : b_expr);
      diags_.Emit(diag::kinds::RowMixesAgreed, file_.exprs[at].range,
                  row ? NameOf(*row) : std::string("…"));
    }
    return Part::Sum;
  }
  if (a == Part::Sum || b == Part::Sum) return Part::Sum;
  return a == Part::Lane || b == Part::Lane ? Part::Lane : Part::Agreed;
}

RowStates::Part RowStates::MulParts(Part a, ast::ExprId a_expr, Part b, ast::ExprId b_expr) {
  constexpr std::string_view kUse = "a product with what no row agrees on";
  if (a == Part::Sum && (b == Part::Agreed || b == Part::Zero)) return b == Part::Zero ? b : a;
  if (b == Part::Sum && (a == Part::Agreed || a == Part::Zero)) return a == Part::Zero ? a : b;
  if (a == Part::Opaque && b != Part::Max) return b == Part::Sum || b == Part::Lane ? b : a;
  if (b == Part::Opaque && a != Part::Max) return a == Part::Sum || a == Part::Lane ? a : b;
  a = Other(a, a_expr, a == Part::Max ? "a product" : kUse);
  b = Other(b, b_expr, b == Part::Max ? "a product" : kUse);
  if (a == Part::Lane || b == Part::Lane) return Part::Lane;
  return a == Part::Zero || b == Part::Zero ? Part::Zero : Part::Agreed;
}

RowStates::Part RowStates::MaxParts(Part a, ast::ExprId a_expr, Part b, ast::ExprId b_expr) {
  if (a == Part::Sum) a = Other(a, a_expr, "a maximum");
  if (b == Part::Sum) b = Other(b, b_expr, "a maximum");
  if (a == Part::Max || b == Part::Max) return Part::Max;
  if (a == Part::Lane || b == Part::Lane) return Part::Lane;
  if (a == Part::Opaque || b == Part::Opaque) return Part::Opaque;
  return a == Part::Zero && b == Part::Zero ? Part::Zero : Part::Agreed;
}

RowStates::Part RowStates::EvaluateElement(ast::ExprId id, EntityId row) {
  switch (Read(row, file_.exprs[id].range)) {
    case RowState::Zero:
      return Part::Zero;
    case RowState::PartialSum:
      return Part::Sum;
    case RowState::PartialMax:
      return Part::Max;
    case RowState::Opaque:
      return Part::Opaque;
    default:
      return Part::Agreed;
  }
}

// What is computed from values none of which is a part.
RowStates::Part RowStates::Mixed(Part a, Part b) {
  if (a == Part::Lane || b == Part::Lane) return Part::Lane;
  return a == Part::Opaque || b == Part::Opaque ? Part::Opaque : Part::Agreed;
}

RowStates::Part RowStates::EvaluateBinary(const ast::Binary& node) {
  const Part a = Evaluate(node.left), b = Evaluate(node.right);
  switch (node.op) {
    case ast::BinaryOp::Add:
      return AddParts(node.left, a, node.left, b, node.right);
    case ast::BinaryOp::Mul:
      return MulParts(a, node.left, b, node.right);
    default:
      break;
  }
  const bool compares = node.op >= ast::BinaryOp::And && node.op <= ast::BinaryOp::NotEqual;
  const std::string_view use = node.op == ast::BinaryOp::Sub   ? "a difference"
                               : node.op == ast::BinaryOp::Div ? "a quotient"
                               : compares                      ? "a comparison"
                                                               : "this operation";
  const Part left = Other(a, node.left, use), right = Other(b, node.right, use);
  return Mixed(left, right);
}

RowStates::Part RowStates::EvaluateCall(const ast::Call& node) {
  std::vector<Part> parts;
  for (const ast::ExprId arg : node.args) parts.push_back(Evaluate(arg));
  const std::string& name = node.callee.text;
  if (name == "__max" && parts.size() == 2) {
    return MaxParts(parts[0], node.args[0], parts[1], node.args[1]);
  }
  if (name == "__fma" && parts.size() == 3) {
    const Part product = MulParts(parts[0], node.args[0], parts[1], node.args[1]);
    const ast::ExprId factor = parts[0] == Part::Sum ? node.args[0] : node.args[1];
    return AddParts(node.args[2], product, factor, parts[2], node.args[2]);
  }
  Part result = Part::Agreed;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Part part = Other(parts[i], node.args[i], fmt::format("`{}`", name));
    result = Mixed(result, part);
  }
  return result;
}

RowStates::Part RowStates::EvaluateConditional(const ast::Conditional& node) {
  const Part condition = Condition(node.condition);
  const Part a = Evaluate(node.then_value), b = Evaluate(node.else_value);
  const auto may_be_sum = [](Part part) {
    return part == Part::Sum || part == Part::Zero || part == Part::Opaque;
  };
  if (may_be_sum(a) && may_be_sum(b)) return a == Part::Sum || b == Part::Zero ? a : b;
  if (a == b && a == Part::Max) return a;
  const Part x = Other(a, node.then_value, "a choice"), y = Other(b, node.else_value, "a choice");
  return condition == Part::Lane ? condition : Mixed(x, y);
}

RowStates::Part RowStates::Condition(ast::ExprId id) { return Other(Evaluate(id), id, "a branch"); }

RowStates::Part RowStates::Evaluate(ast::ExprId id) {
  if (!id.valid()) return Part::Agreed;
  if (IsZero(id)) return Part::Zero;
  const ast::ExprNode& node = file_.exprs[id].node;
  if (const auto it = result_.refs.find(id); it != result_.refs.end()) {
    const Entity& entity = result_.entities[it->second];
    if (entity.kind == EntityKind::ParallelVar) {
      return entity.level == ast::Level::Thread ? Part::Lane : Part::Agreed;
    }
    if (entity.kind == EntityKind::ElementVar) {
      return columns_.contains(it->second) ? Part::Lane : Part::Agreed;
    }
    const auto scalar = state_.scalars.find(it->second);
    return scalar == state_.scalars.end() ? Part::Agreed : scalar->second;
  }
  if (const auto row = ElementOf(id)) return EvaluateElement(id, *row);
  // VisitExpr looks into a vote; its result is one value for the lanes.
  if (std::holds_alternative<ast::AnyOf>(node)) return Part::Agreed;
  if (const auto* x = std::get_if<ast::Binary>(&node)) return EvaluateBinary(*x);
  if (const auto* x = std::get_if<ast::Call>(&node)) return EvaluateCall(*x);
  if (const auto* x = std::get_if<ast::Conditional>(&node)) return EvaluateConditional(*x);
  if (const auto* x = std::get_if<ast::Unary>(&node)) {
    if (x->op == ast::UnaryOp::Plus) return Evaluate(x->operand);
    return Other(Evaluate(x->operand), x->operand,
                 x->op == ast::UnaryOp::Minus ? "a negation" : "this operation");
  }
  if (const auto* x = std::get_if<ast::MethodCall>(&node)) {
    const Type& base = result_.types[x->base];
    if (x->name.text == "at" && base.kind == TypeKind::Fragment) return Part::Lane;
    // An element of a tile is one value for whoever reads it.
    Part result = Part::Agreed;
    for (const ast::ExprId arg : x->args) {
      if (Other(Evaluate(arg), arg, "an index") == Part::Lane) result = Part::Lane;
    }
    if (Evaluate(x->base) == Part::Lane) result = Part::Lane;
    return result;
  }
  Part result = Part::Agreed;
  ForEachOperand(node, [&](ast::ExprId operand) {
    if (Other(Evaluate(operand), operand, "this operation") == Part::Lane) result = Part::Lane;
  });
  return result;
}

// ---- assignments ------------------------------------------------------------------------------

void RowStates::SetScalar(EntityId scalar, Part part) {
  if (lane_control_ > 0 && part != Part::Sum && part != Part::Max) part = Part::Lane;
  if (part == Part::Agreed || part == Part::Zero) {
    state_.scalars.erase(scalar);
  } else {
    state_.scalars[scalar] = part;
  }
}

void RowStates::VisitScalars(ast::StmtId id, const ast::ScalarDecl& node) {
  const auto declared = result_.declared.find(id);
  for (size_t i = 0; i < node.declarators.size(); ++i) {
    VisitExpr(node.declarators[i].init);
    const Part part = Evaluate(node.declarators[i].init);
    if (declared != result_.declared.end() && i < declared->second.size()) {
      SetScalar(declared->second[i], part);
    }
  }
}

// Whether `id` is `row.at(i) + …` with the row as one term: the others are added to it.
bool RowStates::SelfTerms(ast::ExprId id, EntityId row, std::vector<ast::ExprId>* others) const {
  if (ElementOf(id) == row) return true;
  const auto* binary = file_.As<ast::Binary>(id);
  if (binary && (binary->op == ast::BinaryOp::Add || binary->op == ast::BinaryOp::Sub)) {
    if (SelfTerms(binary->left, row, others)) {
      others->push_back(binary->right);
      return true;
    }
    if (binary->op == ast::BinaryOp::Add && SelfTerms(binary->right, row, others)) {
      others->push_back(binary->left);
      return true;
    }
  }
  const auto* call = file_.As<ast::Call>(id);
  if (call && call->callee.text == "__fma" && call->args.size() == 3 &&
      SelfTerms(call->args[2], row, others)) {
    others->push_back(call->args[0]);
    others->push_back(call->args[1]);
    return true;
  }
  return false;
}

void RowStates::Accumulate(EntityId row, SourceRange range, bool sum) {
  const RowState old = Read(row, range);
  const RowState own = sum ? RowState::PartialSum : RowState::PartialMax;
  const bool starts = old == own || old == RowState::Zero || old == RowState::Opaque ||
                      (!sum && old == RowState::Agreed);
  if (!starts && report_) {
    diags_.Emit(diag::kinds::RowAccumulates, range, NameOf(row),
                old == RowState::Agreed       ? "agreed by all lanes"
                : old == RowState::PartialSum ? "a partial sum"
                                              : "a partial maximum",
                sum ? "sum" : "maximum",
                sum ? "zero or a partial sum" : "an agreed value or a partial maximum");
  }
  state_.rows[row] = own;
}

// `row.at(i) = row.at(i) + x` and `= __max(row.at(i), x)` with an x that each lane has its own of.
bool RowStates::Accumulates(EntityId row, const ast::Assign& node) {
  const SourceRange range = file_.exprs[node.target].range;
  std::vector<ast::ExprId> others;
  bool sum = true;
  const bool compound = node.op == ast::BinaryOp::Add || node.op == ast::BinaryOp::Sub;
  const auto* call = file_.As<ast::Call>(node.value);
  if (compound) {
    others = {node.value};
  } else if (node.op) {
    return false;
  } else if (call && call->callee.text == "__max" && call->args.size() == 2) {
    const bool left = ElementOf(call->args[0]) == row;
    if (!left && ElementOf(call->args[1]) != row) return false;
    others = {call->args[left ? 1 : 0]};
    sum = false;
  } else if (!SelfTerms(node.value, row, &others) || others.empty()) {
    return false;
  }
  bool lane = false;
  for (const ast::ExprId other : others) {
    const bool report = report_;
    report_ = false;  // evaluated again where this is no accumulation
    const State saved = state_;
    const Part part = Evaluate(other);
    state_ = saved;
    report_ = report;
    if (part == Part::Sum || part == Part::Max) return false;
    lane = lane || part == Part::Lane;
  }
  // In `apply {i, j}` whatever is added, is added once an element that the lane owns.
  if (!lane && (apply_rank_ < 2 || !sum)) return false;
  for (const ast::ExprId other : others) Evaluate(other);
  Accumulate(row, range, sum);
  return true;
}

void RowStates::AssignRow(EntityId row, const ast::Assign& node) {
  if (Accumulates(row, node)) return;
  const SourceRange range = file_.exprs[node.target].range;
  Part part = Evaluate(node.value);
  if (node.op) {
    const Part old = EvaluateElement(node.target, row);
    switch (*node.op) {
      case ast::BinaryOp::Add:
        part = AddParts(node.target, old, node.target, part, node.value);
        break;
      case ast::BinaryOp::Mul:
        part = MulParts(old, node.target, part, node.value);
        break;
      default: {
        const Part left = Other(old, node.target, "this assignment");
        part = Other(part, node.value, "this assignment");
        if (part == Part::Zero || left == Part::Lane)
          part = left == Part::Lane ? left : Part::Agreed;
      }
    }
  }
  const bool differs =
      part == Part::Lane || (lane_control_ > 0 && (part == Part::Agreed || part == Part::Zero));
  if (differs && report_) diags_.Emit(diag::kinds::RowLaneValue, range, NameOf(row));
  state_.rows[row] = differs || part == Part::Opaque ? RowState::Opaque
                     : part == Part::Zero            ? RowState::Zero
                     : part == Part::Sum             ? RowState::PartialSum
                     : part == Part::Max             ? RowState::PartialMax
                                                     : RowState::Agreed;
}

void RowStates::VisitAssign(ast::StmtId id, const ast::Assign& node) {
  VisitExpr(node.value);
  const auto kind = result_.assigns.find(id);
  if (kind == result_.assigns.end()) return;
  if (const auto row = ElementOf(node.target); row && apply_rank_ > 0) {
    AssignRow(*row, node);
    return;
  }
  const Type& type = result_.types[node.value];
  if (type.kind != TypeKind::Scalar && type.kind != TypeKind::Bounded) return;
  Part part = Evaluate(node.value);
  if (kind->second == AssignKind::SetElement) {
    const auto* at = file_.As<ast::MethodCall>(node.target);
    const bool fragment = at && result_.types[at->base].kind == TypeKind::Fragment;
    Other(part, node.value, fragment ? "a fragment with two axes" : "a store");
    return;
  }
  const auto target = result_.refs.find(node.target);
  if (target == result_.refs.end()) return;
  if (node.op) {
    const auto old = state_.scalars.find(target->second);
    if (old != state_.scalars.end() && part != Part::Sum) part = old->second;
  }
  SetScalar(target->second, part);
}

}  // namespace choreo::sema
