// Declarations of scalars and storage.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {

void Checker::CheckScalarDecl(ast::StmtId id, const ast::ScalarDecl& node) {
  std::vector<EntityId> declared;
  if (node.is_mutable && parallel_depth_ == 0) {
    Report(diag::kinds::OutsideParallel, file_.stmts[id].range, "a `mutable` scalar, one a thread,",
           "before");
    for (const ast::ScalarDeclarator& declarator : node.declarators) {
      DeclareForgotten(declarator.name);
    }
    return;
  }
  for (const ast::ScalarDeclarator& declarator : node.declarators) {
    Value value;
    if (!declarator.init.valid()) {
      Report(diag::kinds::MissingInitializer, declarator.name.range, declarator.name.text)
          .Hint(declarator.name.range, fmt::format("{} = 0", declarator.name.text));
      if (node.type) value = Plain(*node.type);
    } else {
      const Value init = Check(declarator.init);
      const Elem elem = node.type.value_or(init.type.elem);
      if (Convert(declarator.init, elem, fmt::format("`{}`", declarator.name.text))) {
        value = Plain(elem);
        const bool integer = IsInteger(elem) || Class(elem) == ElemClass::Bool;
        if (!node.is_mutable) {
          if (integer && IsFloat(init.type.elem)) {
            if (init.real) value.constant = static_cast<int64_t>(*init.real);
          } else if (integer) {
            value.constant = init.constant;
            value.poly = init.poly;
          } else {
            value.real = init.real;
            if (init.constant) value.real = static_cast<double>(*init.constant);
          }
          value.value_of = declarator.init;
        }
      } else if (node.type) {
        value = Plain(*node.type);  // the type is known whatever was wrong with the value
      }
    }
    if (!node.is_mutable && !value.is_error() && IsInteger(value.type.elem) && !value.poly &&
        !value.constant) {
      const int use = ++name_uses_[declarator.name.text];
      AtomInfo info;
      info.text = use == 1 ? declarator.name.text : fmt::format("{}'{}", declarator.name.text, use);
      if (IsUnsigned(value.type.elem)) info.low = 0;
      value.poly = Poly::Of(syms_.Intern(std::move(info)));
    }
    const EntityKind kind = node.is_mutable ? EntityKind::MutableScalar : EntityKind::Scalar;
    declared.push_back(DeclareNew(kind, declarator.name, std::move(value)));
  }
  result_.declared[id] = std::move(declared);
}

bool Checker::CheckFragmentShape(SourceRange range, Elem elem, const std::vector<Extent>& extents) {
  const auto fail = [&](std::string_view rule) {
    Report(diag::kinds::FragmentShape, range, ShapeText(extents), rule);
    return false;
  };
  if (extents.size() != 1 && extents.size() != 2) return fail("a fragment has one or two axes");
  if (extents[0].value != 64) return fail("a fragment has exactly 64 rows, those of one warpgroup");
  if (extents.size() == 2 && (!extents[1].value || *extents[1].value % 8 != 0)) {
    return fail("the columns of a fragment are a multiple of 8");
  }
  if (extents.size() == 2 && *extents[1].value > 256) {
    return fail("a fragment has at most 256 columns");
  }
  (void)elem;
  return true;
}

// Whether the declaration may stand where it does.
bool Checker::CheckStoragePlace(const ast::StorageDecl& node,
                                const ast::StorageDeclarator& declarator) {
  const SourceRange range = declarator.name.range;
  if (node.storage == ast::StorageClass::Frag && !InWarpgroup()) {
    Report(diag::kinds::OutsideWarpgroup, range,
           fmt::format("the fragment `{}`", declarator.name.text));
    return false;
  }
  const bool filled = node.storage == ast::StorageClass::Shared &&
                      declarator.init == ast::StorageDeclarator::Init::Fill;
  if ((node.is_event || filled) &&
      (loops_outside_role_ > 0 || role_depth_ > 0 || inthreads_depth_ > 0)) {
    Report(diag::kinds::StorageInLoop, range, node.is_event ? "an event" : "a filled shared tile",
           declarator.name.text, loops_outside_role_ > 0 ? "a loop" : "`inthreads`");
  }
  return true;
}

void Checker::CheckStorageDecl(ast::StmtId id, const ast::StorageDecl& node) {
  const std::vector<Argument> dims = Arguments(node.dims);
  if (node.is_cluster && cluster_ == 0) {
    Report(diag::kinds::NeedsCluster, file_.stmts[id].range, "an event of the cluster");
  }
  Value base;
  base.type.elem = node.type;
  base.type.storage = node.storage;
  base.type.kind = node.is_event                             ? TypeKind::Event
                   : node.storage == ast::StorageClass::Frag ? TypeKind::Fragment
                                                             : TypeKind::View;
  for (const Argument& dim : dims) {
    const SourceRange range = file_.exprs[dim.expr].range;
    if (dim.value.is_error() || !NeedInteger(dim.expr, dim.value, "an extent of a tile")) {
      base.type.kind = TypeKind::Error;
    } else if (!dim.value.constant) {
      Report(diag::kinds::NotConstant, range, "an extent of a declared tile", Spelled(dim.expr));
      base.type.kind = TypeKind::Error;
    } else if (!NeedExtent(range, "an extent of a tile", *dim.value.constant)) {
      base.type.kind = TypeKind::Error;
    }
    base.type.extents.push_back(ExtentOf(dim.value));
  }
  std::vector<EntityId> declared;
  for (const ast::StorageDeclarator& declarator : node.declarators) {
    Value value = base;
    if (!CheckStoragePlace(node, declarator)) value.type.kind = TypeKind::Error;
    if (value.type.kind == TypeKind::Fragment &&
        !CheckFragmentShape(declarator.name.range, node.type, base.type.extents)) {
      value.type.kind = TypeKind::Error;
    }
    if (declarator.array_size.valid()) {
      const auto size = NeedConstant(declarator.array_size, "the size of an array");
      if (!size) {
        value.type.kind = TypeKind::Error;
      } else if (!NeedExtent(file_.exprs[declarator.array_size].range, "the size of an array",
                             *size)) {
        value.type.kind = TypeKind::Error;
      } else {
        value.type.array_size = ExtentOf(*size);
        if (!node.is_event && !value.is_error()) value.type.kind = TypeKind::TileArray;
      }
    }
    if (declarator.init == ast::StorageDeclarator::Init::Fill) {
      Check(declarator.fill);
      Convert(declarator.fill, node.type, fmt::format("`{}`", declarator.name.text));
    }
    const EntityKind kind = node.is_event ? EntityKind::Event : EntityKind::Storage;
    const EntityId entity = DeclareNew(kind, declarator.name, std::move(value));
    entity_values_[entity].root = entity;
    if (node.is_event) {
      const SourceRange before = declarator.array_size.valid()
                                     ? file_.exprs[declarator.array_size].range
                                     : declarator.name.range;
      events_[entity] = {before, declarator.init == ast::StorageDeclarator::Init::Ready,
                         node.is_cluster};
    }
    declared.push_back(entity);
  }
  result_.declared[id] = std::move(declared);
}

}  // namespace choreo::sema
