// What `target = value;` means: it sets, refills, rebinds or declares.
#include <fmt/format.h>

#include "sema/checker.h"

namespace choreo::sema {
namespace {

bool MayBeHidden(EntityKind kind) {
  switch (kind) {
    case EntityKind::Dim:
    case EntityKind::ShapedParam:
    case EntityKind::ScalarParam:
    case EntityKind::Scalar:
    case EntityKind::ParallelVar:
    case EntityKind::LoopVar:
    case EntityKind::WithVar:
    case EntityKind::WithTuple:
    case EntityKind::ElementVar:
    case EntityKind::View:
    case EntityKind::Tuple:
      return true;
    default:
      return false;
  }
}

std::string_view WayToSet(EntityKind kind) {
  switch (kind) {
    case EntityKind::Accumulator:
    case EntityKind::LoadedFrag:
      return "it is refilled by `mma.fill` or `mma.load`; elements are set in `apply`, whole "
             "fragments "
             "by `copy`";
    case EntityKind::Storage:
      return "tiles are written by `dma.copy` or element by element, fragments in `apply` or by "
             "`copy`";
    case EntityKind::Event:
      return "events are completed by `trigger`";
    case EntityKind::DataFuture:
    case EntityKind::OpFuture:
      return "a future is bound to an operation of its own kind";
    default:
      return "its type stays what it was declared with";
  }
}

}  // namespace

void Checker::MarkWritten(const Value& value) {
  if (!value.root.valid()) return;
  Entity& root = result_.entities[value.root];
  if (root.kind == EntityKind::ShapedParam) root.written = true;
}

void Checker::CheckAssign(ast::StmtId id, const ast::Assign& node) {
  if (node.op) {
    CheckCompoundAssign(id, node);
  } else if (const auto* name = file_.As<ast::NameRef>(node.target)) {
    AssignName(id, node, *name);
  } else {
    AssignElement(id, node);
  }
}

void Checker::AssignElement(ast::StmtId id, const ast::Assign& node) {
  const Value target = Check(node.target);
  const Value& value = Check(node.value);
  result_.assigns[id] = AssignKind::SetElement;
  if (target.is_error()) return;
  if (!target.is_element) {
    Report(diag::kinds::NotAssignableHere, file_.exprs[node.target].range, Spelled(node.target),
           Describe(target.type));
    return;
  }
  MarkWritten(target);
  if (value.is_error()) return;
  Convert(node.value, target.type.elem, Spelled(node.target));
}

void Checker::CheckCompoundAssign(ast::StmtId id, const ast::Assign& node) {
  const Value target = Check(node.target);
  const Value value = Check(node.value);
  const auto entity = EntityOf(node.target);
  result_.assigns[id] = target.is_element ? AssignKind::SetElement : AssignKind::SetScalar;
  if (target.is_error() || value.is_error()) return;
  const SourceRange range = file_.exprs[node.target].range;
  const bool is_mutable = entity && result_.entities[*entity].kind == EntityKind::MutableScalar;
  if (!target.is_element && !is_mutable) {
    diag::Builder builder = Report(diag::kinds::AssignImmutable, range, Spelled(node.target), "=");
    if (entity) {
      builder.Note(result_.entities[*entity].declared, "it is declared here, without `mutable`");
    }
    return;
  }
  if (target.is_element) MarkWritten(target);
  if (!NeedArithmetic(node.value, value, "=")) return;
  WarnF64(node.target, target, node.value, value);
  const bool shift = *node.op == ast::BinaryOp::Shl || *node.op == ast::BinaryOp::Shr;
  const bool integer_only = shift || *node.op == ast::BinaryOp::Mod ||
                            *node.op == ast::BinaryOp::BitAnd || *node.op == ast::BinaryOp::BitOr ||
                            *node.op == ast::BinaryOp::BitXor;
  if (integer_only && (IsFloat(target.type.elem) || IsFloat(value.type.elem))) {
    const bool left = IsFloat(target.type.elem);
    Report(diag::kinds::OperandType, file_.exprs[left ? node.target : node.value].range, "=",
           Describe(left ? target.type : value.type));
    return;
  }
  const bool divides = *node.op == ast::BinaryOp::Div || *node.op == ast::BinaryOp::Mod;
  if (divides && value.constant == 0 && !IsFloat(target.type.elem)) {
    Report(diag::kinds::DivisionByZero, file_.exprs[node.value].range, "=");
    return;
  }
  if (shift) {
    const Elem promoted = CommonType(target.type.elem, target.type.elem);
    if (value.constant && (*value.constant < 0 || *value.constant >= Bits(promoted))) {
      Report(diag::kinds::ShiftCount, file_.exprs[node.value].range, *value.constant,
             Spelling(promoted));
    }
    return;
  }
  Convert(node.value, target.type.elem, Spelled(node.target));
}

void Checker::AssignName(ast::StmtId id, const ast::Assign& node, const ast::NameRef& name) {
  const Value value = Check(node.value);
  const SourceRange range = file_.exprs[node.target].range;
  const auto visible = scopes_.Find(name.name);
  result_.assigns[id] = AssignKind::Declare;
  if (visible) {
    const Entity& entity = result_.entities[*visible];
    if (!MayBeHidden(entity.kind)) {
      result_.refs[node.target] = *visible;
      if (AssignVisible(id, node, *visible, value)) {
        result_.types.Grow(node.target) = result_.entities[*visible].type;
      }
      return;
    }
    if (entity.type.kind == TypeKind::Error) {
      // Whatever it was meant to be, it is reported already.
    } else if (scopes_.FindInnermost(name.name)) {
      diag::Builder builder =
          Report(diag::kinds::AssignImmutable, range, fmt::format("`{}`", name.name), "=");
      builder.Note(entity.declared, "it is declared here, without `mutable`");
      if (entity.type.kind == TypeKind::Scalar) {
        builder.Hint(entity.declared,
                     fmt::format("mutable {} {}", Spelling(entity.type.elem), name.name));
      }
      return;
    } else {
      scopes_.RecordHiding(*visible, range);
    }
  }
  DeclareAssigned(id, node, name, value);
}

// The visible name is no scalar or view that could be hidden: the value goes into it.
bool Checker::AssignVisible(ast::StmtId id, const ast::Assign& node, EntityId target,
                            const Value& value) {
  const Entity entity = result_.entities[target];
  const SourceRange range = file_.exprs[node.target].range;
  if (entity.type.kind == TypeKind::Error) {
    // An accumulator without a shape, yet or at all.
    if (file_.As<ast::MmaFill>(node.value)) result_.assigns[id] = AssignKind::RefillFragment;
    return false;
  }
  if (entity.kind == EntityKind::MutableScalar) {
    result_.assigns[id] = AssignKind::SetScalar;
    return !value.is_error() &&
           Convert(node.value, entity.type.elem, fmt::format("`{}`", entity.name));
  }
  if (value.is_error()) return false;
  const bool is_fill = file_.As<ast::MmaFill>(node.value) != nullptr;
  const bool is_load = file_.As<ast::MmaLoad>(node.value) != nullptr;
  if (entity.type.kind == TypeKind::Fragment && (is_fill || is_load)) {
    result_.assigns[id] = AssignKind::RefillFragment;
    if (entity.type.rank() != 2 || entity.type.elem != value.type.elem ||
        (is_load && !SameExtents(entity.type.extents, value.type.extents))) {
      Report(diag::kinds::AssignType, range, entity.name, Describe(entity.type),
             is_fill ? "an accumulator of `f32`" : Describe(value.type));
      return false;
    }
    result_.types.Grow(node.value) = entity.type;
    values_[node.value.value].type = entity.type;
    if (is_load) loaded_from_[target] = file_.As<ast::MmaLoad>(node.value)->source;
    return true;
  }
  const bool future = entity.kind == EntityKind::DataFuture || entity.kind == EntityKind::OpFuture;
  if (future && value.type.kind == entity.type.kind) {
    result_.assigns[id] = AssignKind::RebindFuture;
    const bool same =
        entity.kind == EntityKind::OpFuture ||
        (value.type.elem == entity.type.elem && value.type.storage == entity.type.storage &&
         SameExtents(value.type.extents, entity.type.extents));
    if (!same) {
      Report(diag::kinds::AssignType, range, entity.name, Describe(entity.type),
             Describe(value.type));
      return false;
    }
    const FutureOrigin before = origins_[target], now = OriginOf(node.value);
    const auto started_as = [](FutureOrigin origin) {
      return origin == FutureOrigin::AsyncCopy ? "the future of a `dma.copy.async`"
                                               : "the future of a `tma.load.async`";
    };
    // They complete in different ways, and a wait has to know for which of them it is.
    if (before != now && before != FutureOrigin::Complete && now != FutureOrigin::Complete) {
      Report(diag::kinds::AssignType, range, entity.name, started_as(before), started_as(now));
      return false;
    }
    origins_[target] = now;
    const auto* copy = file_.As<ast::DmaCopy>(node.value);
    if (copy && copy->swizzle && copy->target.anonymous) {
      NoteSwizzle(entity_values_[target], *copy->swizzle, file_.exprs[node.value].range);
    }
    return true;
  }
  Report(diag::kinds::AssignType, range, entity.name, Describe(entity.type), Describe(value.type))
      .Note(entity.declared,
            fmt::format("`{}` is declared here; {}", entity.name, WayToSet(entity.kind)));
  return false;
}

void Checker::DeclareAssigned(ast::StmtId id, const ast::Assign& node, const ast::NameRef& name,
                              Value value) {
  const SourceRange range = file_.exprs[node.target].range;
  const ast::Name declared_name{name.name, range};
  EntityKind kind = EntityKind::Scalar;
  const bool is_fill = file_.As<ast::MmaFill>(node.value) != nullptr;
  bool is_accumulator = false;
  switch (value.type.kind) {
    case TypeKind::Error:
      if (is_fill) kind = EntityKind::Accumulator;  // an MMA on it is no second mistake
      break;
    case TypeKind::Scalar:
    case TypeKind::Bounded:
      value.is_element = false;
      value.root = EntityId();
      value.value_of = node.value;
      if (IsInteger(value.type.elem) && !value.poly) {
        const int use = ++name_uses_[name.name];
        AtomInfo info;
        info.text = use == 1 ? name.name : fmt::format("{}'{}", name.name, use);
        if (IsUnsigned(value.type.elem)) info.low = 0;
        value.poly = Poly::Of(syms_.Intern(std::move(info)));
      }
      break;
    case TypeKind::View:
      kind = EntityKind::View;
      if (!NeedClosed(node.value, value)) value = ErrorValue();
      break;
    case TypeKind::DataFuture:
      kind = EntityKind::DataFuture;
      break;
    case TypeKind::OpFuture:
      kind = EntityKind::OpFuture;
      break;
    case TypeKind::Tuple:
    case TypeKind::Shape:
      kind = EntityKind::Tuple;
      break;
    case TypeKind::Fragment:
      if (is_fill) {
        kind = EntityKind::Accumulator;
        is_accumulator = true;
        break;
      }
      if (file_.As<ast::MmaLoad>(node.value)) {
        kind = EntityKind::LoadedFrag;
        break;
      }
      [[fallthrough]];
    default:
      Report(diag::kinds::CannotName, range, name.name, Describe(value.type));
      value = ErrorValue();
  }
  if (parallel_depth_ == 0 && kind != EntityKind::Scalar && !value.is_error()) {
    Report(diag::kinds::OutsideParallel, range, "this declaration", "before");
    value = ErrorValue();
  }
  if (is_accumulator) {
    const auto shape = shapes_.find(id);
    if (shape != shapes_.end() && !shape->second.extents.empty()) {
      value.type.extents = shape->second.extents;
    } else {
      if (shape == shapes_.end()) {
        Report(diag::kinds::AccumulatorWithoutMma, range, name.name);
      }
      value = ErrorValue();
    }
    result_.types.Grow(node.value) = value.type;
  }
  const EntityId entity = Declare(kind, declared_name, value);
  if (is_accumulator) {
    fills_[entity] = id;
    entity_values_[entity].root = entity;
  }
  if (kind == EntityKind::LoadedFrag) {
    loaded_from_[entity] = file_.As<ast::MmaLoad>(node.value)->source;
    entity_values_[entity].root = entity;
    if (value.type.extents[0].value != 64) odd_loads_[entity] = file_.exprs[node.value].range;
  }
  if (kind == EntityKind::DataFuture || kind == EntityKind::OpFuture) {
    origins_[entity] = OriginOf(node.value);
    if (!value.root.valid()) {  // an anonymous tile lives in the future that names it
      entity_values_[entity].root = entity;
      const auto* copy = file_.As<ast::DmaCopy>(node.value);
      if (copy && copy->swizzle && copy->target.anonymous) {
        NoteSwizzle(entity_values_[entity], *copy->swizzle, file_.exprs[node.value].range);
      }
    }
  }
  result_.refs[node.target] = entity;
  result_.types.Grow(node.target) = value.type;
  result_.declared[id] = {entity};
}

}  // namespace choreo::sema
