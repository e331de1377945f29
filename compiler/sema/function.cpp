// One function from parameters to the end, and Analyze over all of a file.
#include <fmt/format.h>

#include "sema/checker.h"
#include "sema/walk.h"

namespace choreo::sema {
namespace {

constexpr int kMaxWalks = 6;  // each finds shapes of accumulators that earlier ones made possible

}  // namespace

bool Checker::NamesAnything(ast::ExprId id) const {
  const ast::ExprNode& node = file_.exprs[id].node;
  bool names = std::holds_alternative<ast::NameRef>(node);
  ForEachOperand(node, [&](ast::ExprId operand) { names = names || NamesAnything(operand); });
  return names;
}

Extent Checker::ParamExtent(ast::ExprId dim, ast::FunctionId id) {
  const SourceRange range = file_.exprs[dim].range;
  const auto* name = file_.As<ast::NameRef>(dim);
  if (!name) {
    if (NamesAnything(dim)) {
      Report(diag::kinds::ParamExtent, range, Spelled(dim));
      return ExtentOf(1);
    }
    const Value& value = Check(dim);
    if (value.is_error()) return ExtentOf(1);
    if (!NeedInteger(dim, value, "an extent of a parameter")) return ExtentOf(1);
    if (!value.constant) return ExtentOf(1);
    NeedExtent(range, "an extent of a parameter", *value.constant);
    return ExtentOf(*value.constant);
  }
  if (const auto known = scopes_.Find(name->name)) {
    result_.refs[dim] = *known;
    const Value value = entity_values_[*known];
    result_.types.Grow(dim) = value.type;
    if (value.is_error()) return ExtentOf(1);
    if (!NeedInteger(dim, value, "an extent of a parameter")) return ExtentOf(1);
    return ExtentOf(value);
  }
  Value value = Plain(Elem::kS32);
  AtomInfo info;
  info.text = name->name;
  info.low = 0;
  value.poly = Poly::Of(syms_.Intern(std::move(info)));
  ++name_uses_[name->name];
  const EntityId entity = Declare(EntityKind::Dim, {name->name, range}, value);
  result_.refs[dim] = entity;
  result_.types.Grow(dim) = value.type;
  values_[dim.value] = value;
  result_.dims[id].push_back(entity);
  return ExtentOf(value);
}

void Checker::DeclareParam(const ast::Param& param, ast::FunctionId id) {
  Value value;
  value.type.elem = param.type;
  if (param.is_error) {
    result_.params[id].push_back(Declare(EntityKind::ScalarParam, param.name, ErrorValue()));
    return;
  }
  if (param.is_shaped) {
    value.type.kind = TypeKind::View;
    for (const ast::ExprId dim : param.dims) value.type.extents.push_back(ParamExtent(dim, id));
    const EntityId entity = DeclareNew(EntityKind::ShapedParam, param.name, std::move(value));
    entity_values_[entity].root = entity;
    result_.params[id].push_back(entity);
    return;
  }
  value = Plain(param.type);
  if (param.is_global) {
    Report(diag::kinds::ScalarParam, param.range, param.name.text,
           "`global` belongs to shaped parameters; scalars are passed by value");
  } else if (IsFloat(param.type) && Bits(param.type) == 8) {
    Report(diag::kinds::ScalarParam, param.range, param.name.text,
           "8-bit floats are passed in tensors only");
  }
  if (IsInteger(param.type)) {
    AtomInfo info;
    info.text = param.name.text;
    if (IsUnsigned(param.type)) info.low = 0;
    ++name_uses_[param.name.text];
    value.poly = Poly::Of(syms_.Intern(std::move(info)));
  }
  result_.params[id].push_back(DeclareNew(EntityKind::ScalarParam, param.name, std::move(value)));
}

void Checker::Walk(const ast::Function& function, ast::FunctionId id) {
  scopes_ = {};
  syms_ = {};
  values_.assign(file_.exprs.size(), {});
  name_uses_.clear();
  levels_.clear();
  threads_ = {};
  active_.set();
  apply_.reset();
  guards_ = {};
  loop_depth_ = inthreads_depth_ = role_depth_ = parallel_depth_ = loops_outside_role_ = 0;
  cta_threads_ = 1;
  cluster_ = 0;
  roles_.clear();
  outer_parallel_.reset();
  host_async_ = false;
  function_ = id;
  enclosing_.clear();
  swizzles_.clear();
  origins_.clear();
  loaded_from_.clear();
  odd_loads_.clear();
  fills_.clear();
  events_.clear();
  f64_warnings_.clear();
  plain_uses_.clear();
  atomic_uses_.clear();
  result_.params[id].clear();
  result_.dims[id].clear();

  scopes_.Push();
  for (const ast::Param& param : function.params) DeclareParam(param, id);
  const auto* body = file_.As<ast::Block>(function.body);
  if (body) {
    for (const ast::StmtId statement : body->statements) CheckStmt(statement);
  }
  scopes_.Pop();
  FinishFunction(function);
}

// What can only be said at the end.
void Checker::FinishFunction(const ast::Function& function) {
  if (!outer_parallel_ && function.body.valid()) {
    const auto* body = file_.As<ast::Block>(function.body);
    bool broken = false;  // a statement that was not understood may have been it
    for (const ast::StmtId statement : body ? body->statements : std::vector<ast::StmtId>()) {
      broken = broken || file_.As<ast::ErrorStmt>(statement);
    }
    if (!broken) Report(diag::kinds::NoParallel, function.name.range, function.name.text);
  }
  for (const auto& [entity, range] : odd_loads_) {
    Report(diag::kinds::MmaRows, range, result_.entities[entity].type.extents[0].text)
        .Note({}, "an operand B is named in the MMA as the shared tile it is");
  }
  CheckMixedAccesses(function);
  for (const Scopes::Violation& violation : scopes_.Violations()) {
    const Entity& outer = result_.entities[violation.outer];
    if (outer.type.kind == TypeKind::Error) continue;
    Report(diag::kinds::HidesReadName, violation.hiding, outer.name)
        .Note(outer.declared, "the outer one is declared here")
        .Note(violation.read, "and read here");
  }
  if (!host_async_) return;
  for (size_t i = 0; i < function.params.size(); ++i) {
    const EntityId entity = result_.params[function_][i];
    if (function.params[i].is_global || !result_.entities[entity].written) continue;
    Report(diag::kinds::AsyncHostParam, async_range_, function.params[i].name.text)
        .Note(function.params[i].range,
              "it lies in host memory; `global` in front makes it device memory");
  }
}

void Checker::CheckFunction(ast::FunctionId id, diag::Emitter& diags) {
  const ast::Function& function = file_.functions[id];
  const size_t entities = result_.entities.size();
  CHOREO_CHECK(entity_values_.size() == entities);
  shapes_.clear();
  for (int walk = 0; walk < kMaxWalks; ++walk) {
    diag::Emitter dropped;
    diags_ = &dropped;
    shapes_changed_ = false;
    Walk(function, id);
    result_.entities.resize(entities);
    entity_values_.resize(entities);
    if (!shapes_changed_) break;
  }
  diags_ = &diags;
  Walk(function, id);
}

Result Analyze(const ast::File& file, const SourceManager& sources, diag::Emitter& diags) {
  Result result;
  result.types.resize(file.exprs.size());
  result.constants.resize(file.exprs.size());
  Checker checker(file, sources, result);
  for (size_t i = 0; i < file.functions.size(); ++i) {
    const auto id = file.functions.IdAt(i);
    checker.CheckFunction(id, diags);
    CheckUniformity(file, result, id, diags);
    CheckRowStates(file, result, id, diags);
  }
  return result;
}

}  // namespace choreo::sema
