// Atomic operations on elements, and what mixes with them.
#include <fmt/format.h>

#include <algorithm>

#include "ast/spelling.h"
#include "sema/checker.h"

namespace choreo::sema {
namespace {

bool IsAtomicType(Elem elem) {
  return elem == Elem::kS32 || elem == Elem::kU32 || elem == Elem::kU64;
}

}  // namespace

// `atomic.add x.at(i), v`: the element before.
Value Checker::CheckAtomic(ast::ExprId id, const ast::Atomic& node) {
  const std::string op = fmt::format("atomic.{}", ast::Spelling(node.op));
  const size_t before = plain_uses_.size();
  const Value element = Check(node.element);
  // The element itself was noted last, after those that its indices read.
  if (plain_uses_.size() > before && plain_uses_.back().range == file_.exprs[node.element].range) {
    atomic_uses_.push_back(plain_uses_.back());
    plain_uses_.pop_back();
  }
  const Value value = Check(node.value);
  if (element.is_error()) return ErrorValue();
  if (apply_) {
    Report(diag::kinds::AtomicInApply, file_.exprs[id].range, op);
    return ErrorValue();
  }
  if (!CheckAtomicElement(node.element, element, op)) return ErrorValue();
  MarkWritten(element);
  if (value.is_error()) return ErrorValue();
  if (!Convert(node.value, element.type.elem, fmt::format("the value of `{}`", op))) {
    return ErrorValue();
  }
  return Plain(element.type.elem);
}

bool Checker::CheckAtomicElement(ast::ExprId id, const Value& element, std::string_view op) {
  const SourceRange range = file_.exprs[id].range;
  const auto root = element.root.valid() ? std::optional(result_.entities[element.root])
                                         : std::optional<Entity>();
  const bool memory =
      root && (root->kind == EntityKind::ShapedParam ||
               ((root->kind == EntityKind::Storage || root->kind == EntityKind::DataFuture) &&
                root->type.storage == ast::StorageClass::Shared));
  if (!element.is_element || !memory) {
    std::string what = Describe(element.type);
    if (element.is_element && root) {
      what = root->type.kind == TypeKind::Fragment ? "an element of a fragment"
                                                   : "an element that each thread has of its own";
    }
    diag::Builder builder = Report(diag::kinds::AtomicTarget, range, op, what);
    if (!element.is_element && AsTile(element)) {
      builder.Note({}, "an element of a tile is `x.at(i, j)`");
    }
    return false;
  }
  if (IsAtomicType(element.type.elem)) return true;
  Report(diag::kinds::AtomicType, range, op, Spelling(element.type.elem));
  return false;
}

// `x.at(0, 3)` of a parameter itself.
void Checker::NoteElement(const std::vector<Argument>& args, EntityId root, SourceRange range) {
  if (!root.valid() || result_.entities[root].kind != EntityKind::ShapedParam) return;
  ElementUse use{root, {}, range};
  for (const Argument& arg : args) {
    if (!arg.value.constant) return;
    use.index.push_back(*arg.value.constant);
  }
  plain_uses_.push_back(std::move(use));
}

bool Checker::HasOneCta(const ast::Function& function) const {
  const auto* body = file_.As<ast::Block>(function.body);
  for (const ast::StmtId statement : body ? body->statements : std::vector<ast::StmtId>()) {
    const auto* parallel = file_.As<ast::Parallel>(statement);
    if (!parallel) continue;
    return std::all_of(parallel->dims.begin(), parallel->dims.end(), [&](const auto& dim) {
      return dim.level != ast::Level::Block ||
             std::all_of(dim.bounds.begin(), dim.bounds.end(),
                         [&](ast::ExprId bound) { return values_[bound.value].constant == 1; });
    });
  }
  return false;
}

// Within a launch nothing orders the accesses of one CTA with those of another.
void Checker::CheckMixedAccesses(const ast::Function& function) {
  if (atomic_uses_.empty() || HasOneCta(function)) return;
  for (const ElementUse& plain : plain_uses_) {
    for (const ElementUse& atomic : atomic_uses_) {
      if (plain.root != atomic.root || plain.index != atomic.index) continue;
      Report(diag::kinds::AtomicBesidePlain, plain.range, result_.entities[plain.root].name)
          .Note(atomic.range, "the atomic operation is here");
      break;
    }
  }
}

}  // namespace choreo::sema
