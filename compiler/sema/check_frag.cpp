// Fragments: `apply`, their elements, and the collective built-ins on them.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {

// The fragment whose elements `F.span` runs over.
std::optional<Type> Checker::CheckElementSpan(ast::ExprId span, size_t vars, SourceRange range) {
  const Value& shape = Check(span);
  if (shape.is_error()) return std::nullopt;
  const auto* member = file_.As<ast::Member>(span);
  const bool of_fragment = member && member->name.text == "span" &&
                           values_[member->base.value].type.kind == TypeKind::Fragment;
  if (!of_fragment) {
    diag::Builder builder = Report(diag::kinds::ApplySpan, file_.exprs[span].range, Spelled(span));
    if (member && AsTile(values_[member->base.value])) {
      builder.Note({}, "the elements of a tile are visited by `foreach {i, j} in [n, m]`");
    }
    return std::nullopt;
  }
  const Type& frag = values_[member->base.value].type;
  if (!NeedRank(range, "the variables", vars, frag.extents.size())) return std::nullopt;
  return frag;
}

std::vector<EntityId> Checker::DeclareElementVars(const std::vector<ast::Name>& vars,
                                                  const Type& frag) {
  std::vector<EntityId> declared;
  for (size_t i = 0; i < vars.size(); ++i) {
    Value value;
    if (i < frag.extents.size() && frag.extents[i].value) {
      value = VariableValue(vars[i].text, frag.extents[i],
                            Poly::Constant(*frag.extents[i].value - 1), TypeKind::Scalar);
    }
    declared.push_back(DeclareNew(EntityKind::ElementVar, vars[i], std::move(value)));
  }
  return declared;
}

void Checker::CheckApply(ast::StmtId id, const ast::Apply& node) {
  const SourceRange range = file_.exprs[node.span].range;
  if (apply_) Report(diag::kinds::ApplyNested, file_.stmts[id].range);
  const auto frag = CheckElementSpan(node.span, node.vars.size(), range);
  const std::optional<Apply> outer = apply_;
  const int loops = loop_depth_;
  loop_depth_ = 0;
  scopes_.Push(true);
  result_.declared[id] = DeclareElementVars(node.vars, frag ? *frag : Type());
  apply_ = Apply{result_.declared[id], frag ? *frag : Type()};
  CheckBody(node.body);
  apply_ = outer;
  scopes_.Pop();
  loop_depth_ = loops;
}

// Fragments of the same mapping are indexed with the variables of the `apply`.
void Checker::CheckFragmentIndex(ast::ExprId id, const std::vector<Argument>& indices,
                                 const Type& frag) {
  const SourceRange range = file_.exprs[id].range;
  if (!apply_) {
    Report(diag::kinds::FragmentOutsideApply, range, Spelled(id));
    return;
  }
  if (apply_->frag.kind == TypeKind::Error) return;
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto entity = EntityOf(indices[i].expr);
    if (i < apply_->vars.size() && entity == apply_->vars[i]) continue;
    const std::string want = i < apply_->vars.size()
                                 ? fmt::format("`{}`", result_.entities[apply_->vars[i]].name)
                                 : std::string("a second variable of the `apply`");
    Report(diag::kinds::FragmentIndex, file_.exprs[indices[i].expr].range, Spelled(indices[i].expr),
           want);
    return;
  }
  if (frag.rank() == 2 && !SameExtents(frag.extents, apply_->frag.extents)) {
    Report(diag::kinds::FragmentMapping, range, ShapeText(frag.extents),
           ShapeText(apply_->frag.extents));
  }
}

// A fragment by name, of 1 or 2 axes as asked (0: either).
std::optional<EntityId> Checker::NeedFragment(ast::ExprId id, int rank, std::string_view what) {
  const Value& value = Check(id);
  if (value.is_error()) return std::nullopt;
  if (value.type.kind == TypeKind::Fragment && (rank == 0 || value.type.rank() == rank)) {
    return value.root;
  }
  Report(diag::kinds::NotAFragment, file_.exprs[id].range, what,
         rank == 1   ? "a fragment of rows"
         : rank == 2 ? "a fragment with two axes"
                     : "a fragment",
         Describe(value.type));
  return std::nullopt;
}

Value Checker::CheckFragmentCopy(ast::ExprId id, const ast::Call& node) {
  if (!NeedArguments(id, node, 2)) return ErrorValue();
  Value none;
  none.type.kind = TypeKind::Void;
  const auto to = NeedFragment(node.args[0], 0, "`copy`");
  const auto from = NeedFragment(node.args[1], 0, "`copy`");
  if (!to || !from) return none;
  const Type &target = values_[node.args[0].value].type, &source = values_[node.args[1].value].type;
  const SourceRange range = file_.exprs[id].range;
  if (!SameShape(range, "`copy`", source, target)) return none;
  if (source.elem != target.elem) {
    Report(diag::kinds::ElementMismatch, range, "`copy`", Spelling(source.elem),
           Spelling(target.elem))
        .Note({}, "`apply` with `__to` converts element by element");
  }
  return none;
}

// reduce_max(row, acc, 1), reduce_sum(row, acc, 1)
Value Checker::CheckReduce(ast::ExprId id, const ast::Call& node) {
  if (!NeedArguments(id, node, 3)) return ErrorValue();
  Value none;
  none.type.kind = TypeKind::Void;
  const std::string what = fmt::format("`{}`", node.callee.text);
  const auto row = NeedFragment(node.args[0], 1, what);
  const auto acc = NeedFragment(node.args[1], 2, what);
  const auto axis = NeedConstant(node.args[2], "the axis of a reduction");
  if (axis && *axis != 1) {
    Report(diag::kinds::ReduceAxis, file_.exprs[node.args[2]].range, node.callee.text, *axis);
  }
  if (!row || !acc) return none;
  const Elem to = values_[node.args[0].value].type.elem;
  const Elem from = values_[node.args[1].value].type.elem;
  if (to != from) {
    Report(diag::kinds::ElementMismatch, file_.exprs[id].range, what, Spelling(from), Spelling(to));
  }
  NeedShuffled(node.args[0], node.callee.text);
  return none;
}

// The lanes of a row exchange values of 32 bits or less.
void Checker::NeedShuffled(ast::ExprId row, std::string_view function) {
  const Type& type = values_[row.value].type;
  if (Bits(type.elem) <= 32) return;
  Report(diag::kinds::OperandType, file_.exprs[row].range, function, Describe(type));
}

// all_reduce_sum(row), all_reduce_max(row)
Value Checker::CheckAllReduce(ast::ExprId id, const ast::Call& node) {
  if (!NeedArguments(id, node, 1)) return ErrorValue();
  if (NeedFragment(node.args[0], 1, fmt::format("`{}`", node.callee.text))) {
    NeedShuffled(node.args[0], node.callee.text);
  }
  Value none;
  none.type.kind = TypeKind::Void;
  return none;
}

}  // namespace choreo::sema
