// The parallel structure: nesting of levels, thread counts, `inthreads` and roles.
#include <fmt/format.h>

#include "sema/checker.h"
#include "sema/walk.h"

namespace choreo::sema {
namespace {

std::string_view Spelling(ast::Level level) {
  switch (level) {
    case ast::Level::Block:
      return "block";
    case ast::Level::Warpgroup:
      return "group-4";
    case ast::Level::Warp:
      return "group";
    case ast::Level::Thread:
      return "thread";
  }
  CHOREO_UNREACHABLE();
}

}  // namespace

bool Checker::CheckLevelOrder(const ast::ParallelDim& dim) {
  if (levels_.empty()) {
    if (dim.level == ast::Level::Block) return true;
    Report(diag::kinds::OuterLevel, dim.level_range, Spelling(dim.level));
    return false;
  }
  if (dim.level > levels_.back()) return true;
  Report(diag::kinds::LevelOrder, dim.level_range, Spelling(dim.level), Spelling(levels_.back()));
  return false;
}

// Inside a warpgroup or warp the next level names all of its threads.
bool Checker::CheckThreadCount(const ast::ParallelDim& dim, int64_t count) {
  const ast::Level outer = threads_.scope();
  int64_t want = 0;
  if (outer == ast::Level::Warp) want = kWarp;
  if (outer == ast::Level::Warpgroup) {
    want = dim.level == ast::Level::Warp ? kWarpgroup / kWarp : kWarpgroup;
  }
  if (want != 0 && count != want) {
    Report(diag::kinds::ThreadCount, dim.range, Spelling(outer), want, Spelling(dim.level), count);
    return false;
  }
  if (outer != ast::Level::Block) return true;
  const int64_t width = dim.level == ast::Level::Warpgroup ? kWarpgroup
                        : dim.level == ast::Level::Warp    ? kWarp
                                                           : 1;
  if (count > kMaxThreads / width) {
    Report(diag::kinds::TooManyThreads, dim.range, count, Spelling(dim.level),
           fmt::format("{}", kMaxThreads / width));
    return false;
  }
  cta_threads_ = std::max(cta_threads_, count * width);
  return true;
}

// Checks one `{x, y} by [X, Y] : level`; the bounds of levels below the grid are constants.
bool Checker::CheckDim(const ast::ParallelDim& dim, std::vector<int64_t>* bounds) {
  bool valid = true;
  for (const ast::ExprId bound : dim.bounds) {
    const Value& value = Check(bound);
    if (!NeedInteger(bound, value, "the bound of a parallel variable")) {
      valid = false;
      continue;
    }
    const SourceRange range = file_.exprs[bound].range;
    if (value.constant && !NeedExtent(range, "the bound of a parallel variable", *value.constant)) {
      valid = false;
    } else if (dim.level != ast::Level::Block && !value.constant) {
      Report(diag::kinds::NotConstant, range,
             fmt::format("the number of a `{}` level", Spelling(dim.level)), Spelled(bound));
      valid = false;
    }
    bounds->push_back(value.constant.value_or(1));
  }
  if (!CheckLevelOrder(dim)) return false;
  if (dim.level == ast::Level::Block) {
    if (dim.bounds.size() > 3) {
      Report(diag::kinds::GridAxes, dim.range, dim.bounds.size());
      return false;
    }
    return valid;
  }
  if (!valid) return false;
  int64_t count = 1;
  for (const int64_t bound : *bounds) {
    count = std::min(count * bound, int64_t{1} << 31);
  }
  return CheckThreadCount(dim, count);
}

void Checker::OpenDim(const ast::ParallelDim& dim, const std::vector<int64_t>& bounds,
                      std::vector<EntityId>* declared) {
  std::vector<EntityId> vars;
  for (size_t i = 0; i < dim.vars.size(); ++i) {
    Value value;
    if (i < dim.bounds.size() && !values_[dim.bounds[i].value].is_error() &&
        NeedInteger(dim.bounds[i], values_[dim.bounds[i].value], "the bound")) {
      const Extent bound = ExtentOf(values_[dim.bounds[i].value]);
      const auto end = PolyOf(bound);
      value = VariableValue(dim.vars[i].text, bound,
                            end ? Sub(*end, Poly::Constant(1)) : std::nullopt, TypeKind::Bounded);
    }
    const EntityId var = DeclareNew(EntityKind::ParallelVar, dim.vars[i], std::move(value));
    result_.entities[var].level = dim.level;
    vars.push_back(var);
    declared->push_back(var);
  }
  levels_.push_back(dim.level);
  if (dim.level != ast::Level::Block) threads_.Push(dim.level, std::move(vars), bounds);
}

void Checker::CheckParallel(ast::StmtId id, const ast::Parallel& node) {
  const SourceRange range = file_.stmts[id].range;
  const bool outermost = parallel_depth_ == 0;
  if (outermost && outer_parallel_) {
    Report(diag::kinds::SecondParallel, range).Note(*outer_parallel_, "the first is this one");
    return;
  }
  if (outermost) {
    outer_parallel_ = node.dims.empty() ? range : node.dims[0].range;
    host_async_ = node.async;
    async_range_ = *outer_parallel_;
    active_.set();
  } else if (node.async) {
    Report(diag::kinds::AsyncNested, node.dims.empty() ? range : node.dims[0].range, "parallel");
  }
  CheckParallelAttributes(node, outermost);

  const size_t levels = levels_.size();
  const int loops = loop_depth_;
  const ThreadSet outer_active = active_;
  loop_depth_ = 0;
  ++parallel_depth_;
  scopes_.Push();
  std::vector<EntityId> declared;
  size_t opened = 0;
  for (const ast::ParallelDim& dim : node.dims) {
    std::vector<int64_t> bounds;
    if (CheckDim(dim, &bounds)) {
      if (dim.level != ast::Level::Block) ++opened;
      OpenDim(dim, bounds, &declared);
    } else {
      for (const ast::Name& name : dim.vars) {
        declared.push_back(DeclareNew(EntityKind::ParallelVar, name, ErrorValue()));
      }
      // Statements inside are checked as if the level were right.
      levels_.push_back(dim.level);
      if (dim.level == ast::Level::Warpgroup || dim.level == ast::Level::Warp) {
        threads_.Push(dim.level, {}, {1});
        ++opened;
      }
    }
  }
  result_.declared[id] = std::move(declared);
  active_ &= threads_.All();
  FlushWarnings();
  CheckBody(node.body);
  scopes_.Pop();
  --parallel_depth_;
  levels_.resize(levels);
  for (; opened > 0; --opened) threads_.Pop();
  active_ = outer_active;
  loop_depth_ = loops;
  if (!outermost) return;
  for (const ast::Attribute& attribute : node.attributes) {
    if (attribute.name.text == "covers") CheckCovered(attribute);
    if (attribute.name.text != "launch_bounds" || attribute.args.empty()) continue;
    const Value& threads = values_[attribute.args[0].value];
    if (threads.constant && *threads.constant < cta_threads_) {
      Report(diag::kinds::AttributeArguments, file_.exprs[attribute.args[0]].range, "launch_bounds",
             fmt::format("{} threads are fewer than the {} of this CTA", *threads.constant,
                         cta_threads_));
    }
  }
}

// Comparisons of parallel variables with constants, joined by `&& || !`. `simple`: a conjunction of
// ranges, so that the range of each variable says it all.
bool Checker::CheckPredicate(ast::ExprId id, bool* simple) {
  if (const auto* unary = file_.As<ast::Unary>(id); unary && unary->op == ast::UnaryOp::Not) {
    *simple = false;
    return CheckPredicate(unary->operand, simple);
  }
  const auto* binary = file_.As<ast::Binary>(id);
  if (binary && (binary->op == ast::BinaryOp::And || binary->op == ast::BinaryOp::Or)) {
    if (binary->op == ast::BinaryOp::Or) *simple = false;
    return CheckPredicate(binary->left, simple) && CheckPredicate(binary->right, simple);
  }
  const bool comparison =
      binary && binary->op >= ast::BinaryOp::Less && binary->op <= ast::BinaryOp::NotEqual;
  if (comparison) {
    if (binary->op == ast::BinaryOp::NotEqual) *simple = false;
    const auto is_variable = [&](ast::ExprId side) {
      const auto entity = EntityOf(side);
      return entity && result_.entities[*entity].kind == EntityKind::ParallelVar;
    };
    const bool left = is_variable(binary->left), right = is_variable(binary->right);
    const ast::ExprId variable = left ? binary->left : binary->right;
    const ast::ExprId other = left ? binary->right : binary->left;
    if (left != right && values_[other.value].constant) {
      if (result_.entities[*EntityOf(variable)].level != ast::Level::Block) return true;
      Report(diag::kinds::PredicateOfBlock, file_.exprs[variable].range, Spelled(variable));
      return false;
    }
  }
  Report(diag::kinds::PredicateForm, file_.exprs[id].range, Spelled(id));
  return false;
}

void Checker::CheckRoles(SourceRange range, const ThreadSet& threads) {
  for (const Role& role : roles_) {
    if ((role.threads & threads).none()) continue;
    size_t first = 0;
    while (!(role.threads & threads)[first]) ++first;
    Report(diag::kinds::RolesOverlap, range, first)
        .Note(role.range, "the other role with this thread is here");
    return;
  }
  roles_.push_back({range, threads});
}

void Checker::CheckInThreads(ast::StmtId id, const ast::InThreads& node) {
  const SourceRange range = file_.exprs[node.predicate].range;
  const Value predicate = Check(node.predicate);
  bool simple = true;
  const bool valid = !predicate.is_error() && CheckPredicate(node.predicate, &simple);
  if (node.async && inthreads_depth_ > 0) {
    Report(diag::kinds::AsyncNested, file_.exprs[node.predicate].range, "inthreads");
  }
  const ThreadSet outer_active = active_;
  const Guards saved = guards_;
  std::vector<std::pair<Atom, SymTable::Range>> narrowed;
  if (valid) {
    const auto holds = Holds(file_, result_, threads_, node.predicate, active_);
    if (holds) {
      active_ = *holds;
      if (holds->none()) {
        Report(diag::kinds::PredicateNeverHolds, range, Spelled(node.predicate));
      } else {
        if (node.async && inthreads_depth_ == 0) CheckRoles(range, *holds);
        for (const EntityId var : threads_.Variables()) {
          const auto bounds = threads_.RangeIn(var, *holds);
          const auto& poly = entity_values_[var].poly;
          if (!bounds || !poly || poly->terms().size() != 1) continue;
          const Atom atom = poly->terms().begin()->first.front();
          narrowed.emplace_back(atom, syms_.Narrow(atom, bounds->first, bounds->second));
        }
      }
    }
    bool unknown = false;
    if (!simple) {
      for (const Atom atom : ConditionSources(node.predicate, &unknown)) guards_.atoms.insert(atom);
    }
  }
  const int loops = loop_depth_;
  loop_depth_ = 0;
  ++inthreads_depth_;
  if (node.async) ++role_depth_;
  CheckBody(node.body);
  if (node.async) --role_depth_;
  --inthreads_depth_;
  loop_depth_ = loops;
  for (auto it = narrowed.rbegin(); it != narrowed.rend(); ++it) {
    syms_.Restore(it->first, std::move(it->second));
  }
  active_ = outer_active;
  guards_ = saved;
  (void)id;
}

}  // namespace choreo::sema
