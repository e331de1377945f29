// Entities: their declaration, and what a name stands for.
#include <fmt/format.h>

#include "sema/checker.h"
#include "support/edit_distance.h"

namespace choreo::sema {

EntityId Checker::AddEntity(EntityKind kind, const ast::Name& name, Value value) {
  Entity entity{kind,           name.text, name.range, value.type, ast::Level::Thread,
                value.constant, false,     EntityId()};
  if (kind == EntityKind::MutableScalar) entity.constant.reset();
  const EntityId id = result_.entities.Add(std::move(entity));
  const EntityId same = entity_values_.Add(std::move(value));
  CHOREO_CHECK(same == id);
  return id;
}

EntityId Checker::Declare(EntityKind kind, const ast::Name& name, Value value) {
  const EntityId id = AddEntity(kind, name, std::move(value));
  scopes_.Declare(name.text, id);
  return id;
}

EntityId Checker::DeclareNew(EntityKind kind, const ast::Name& name, Value value) {
  if (const auto before = scopes_.FindInnermost(name.text)) {
    const Entity& entity = result_.entities[*before];
    if (entity.type.kind != TypeKind::Error && value.type.kind != TypeKind::Error) {
      Report(diag::kinds::Redeclared, name.range, name.text)
          .Note(entity.declared, fmt::format("`{}` is declared here", name.text));
      value = ErrorValue();
    }
  }
  return Declare(kind, name, std::move(value));
}

void Checker::DeclareForgotten(const ast::Name& name) {
  Declare(EntityKind::Scalar, name, ErrorValue());
}

void Checker::ReportUnknown(const ast::Name& name) {
  std::vector<std::string_view> candidates;
  for (const std::string_view visible : scopes_.VisibleNames()) {
    const auto entity = scopes_.Find(std::string(visible));
    if (entity && result_.entities[*entity].type.kind != TypeKind::Error) {
      candidates.push_back(visible);
    }
  }
  diag::Builder builder = Report(diag::kinds::UnknownName, name.range, name.text);
  Suggest(builder, name.range, name.text, std::move(candidates));
  scopes_.DeclareOutermost(name.text, AddEntity(EntityKind::Scalar, name, ErrorValue()));
}

std::optional<EntityId> Checker::EntityOf(ast::ExprId id) const {
  if (!id.valid()) return std::nullopt;
  const auto it = result_.refs.find(id);
  return it == result_.refs.end() ? std::nullopt : std::optional(it->second);
}

void Checker::Suggest(diag::Builder builder, SourceRange range, const std::string& name,
                      std::vector<std::string_view> candidates) {
  const auto closest = ClosestNames(name, candidates, 1);
  if (closest.empty()) return;
  if (sources_.Text(range) == name) {
    builder.Hint(range, std::string(closest[0]));
  } else {
    builder.Note({}, fmt::format("did you mean `{}`?", closest[0]));
  }
}

Value Checker::CheckName(ast::ExprId id, const ast::NameRef& name) {
  const SourceRange range = file_.exprs[id].range;
  const auto entity = scopes_.Find(name.name);
  if (!entity) {
    ReportUnknown({name.name, range});
    return ErrorValue();
  }
  result_.refs[id] = *entity;
  scopes_.RecordRead(*entity, range);
  return entity_values_[*entity];
}

// A variable that takes every value from `low` to `high`.
Value Checker::VariableValue(const std::string& name, const Extent& bound,
                             const std::optional<Poly>& high, TypeKind kind, int64_t low) {
  Value value;
  value.type.kind = kind;
  value.type.elem = Elem::kS32;
  if (kind == TypeKind::Bounded) value.type.bound = bound;
  const int use = ++name_uses_[name];
  AtomInfo info;
  info.text = use == 1 ? name : fmt::format("{}'{}", name, use);
  info.is_variable = true;
  info.low = low;
  info.high = high;
  value.poly = Poly::Of(syms_.Intern(std::move(info)));
  return value;
}

}  // namespace choreo::sema
