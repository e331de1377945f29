// Attributes of `parallel` and of MMAs, `call` statements, and register reallocation.
#include <fmt/format.h>

#include <algorithm>

#include "sema/checker.h"

namespace choreo::sema {

void Checker::CheckLaunchBounds(const ast::Attribute& attribute) {
  const auto fail = [&](SourceRange range, std::string_view rule) {
    Report(diag::kinds::AttributeArguments, range, "launch_bounds", rule);
  };
  if (attribute.args.empty() || attribute.args.size() > 2) {
    fail(attribute.name.range,
         "it takes `_` or a thread count, then the least number of CTAs an SM");
    return;
  }
  if (!file_.As<ast::Wildcard>(attribute.args[0])) {
    const auto threads = NeedConstant(attribute.args[0], "the thread count of `launch_bounds`");
    if (threads && (*threads < 1 || *threads > kMaxThreads)) {
      fail(file_.exprs[attribute.args[0]].range, "a CTA has 1 to 1024 threads");
    }
  } else {
    Check(attribute.args[0]);
  }
  if (attribute.args.size() < 2) return;
  const auto blocks = NeedConstant(attribute.args[1], "the CTA count of `launch_bounds`");
  if (blocks && (*blocks < 1 || *blocks > 32)) {
    fail(file_.exprs[attribute.args[1]].range, "an SM holds 1 to 32 CTAs");
  }
}

// covers(O, …): parameters that the body stores; that it does is known at its end.
void Checker::CheckCovers(const ast::Attribute& attribute) {
  const auto fail = [&](SourceRange range) {
    Report(diag::kinds::AttributeArguments, range, "covers",
           "it names shaped parameters that this tile function stores, each once");
  };
  if (attribute.args.empty()) fail(attribute.name.range);
  std::vector<EntityId> seen;
  for (const ast::ExprId arg : attribute.args) {
    const Value& value = Check(arg);
    if (value.is_error()) continue;
    const auto ref = result_.refs.find(arg);
    const bool param =
        ref != result_.refs.end() && result_.entities[ref->second].kind == EntityKind::ShapedParam;
    if (!param || std::find(seen.begin(), seen.end(), ref->second) != seen.end()) {
      fail(file_.exprs[arg].range);
      continue;
    }
    seen.push_back(ref->second);
  }
}

void Checker::CheckCovered(const ast::Attribute& attribute) {
  for (const ast::ExprId arg : attribute.args) {
    const auto ref = result_.refs.find(arg);
    if (ref == result_.refs.end()) continue;
    const Entity& entity = result_.entities[ref->second];
    if (entity.kind != EntityKind::ShapedParam || entity.written) continue;
    Report(diag::kinds::AttributeArguments, file_.exprs[arg].range, "covers",
           fmt::format("`{}` is never stored here", entity.name));
  }
}

// cluster(n) or cluster(n, 1, 1)
void Checker::CheckCluster(const ast::Attribute& attribute) {
  const auto fail = [&](SourceRange range, const std::string& rule) {
    Report(diag::kinds::AttributeArguments, range, "cluster", rule);
  };
  cluster_ = 1;
  if (attribute.args.size() != 1 && attribute.args.size() != 3) {
    return fail(attribute.name.range,
                "it takes a number of CTAs: `cluster(n)` or `cluster(n, 1, 1)`");
  }
  constexpr const char* kAxes[] = {"x", "y", "z"};
  for (size_t i = 0; i < attribute.args.size(); ++i) {
    const SourceRange range = file_.exprs[attribute.args[i]].range;
    const auto count = NeedConstant(attribute.args[i], "the size of a cluster");
    if (!count) continue;
    if (i > 0 && *count != 1) {
      fail(range, fmt::format("{} CTAs along {}: the grid is folded into x, and so is a cluster; "
                              "write `cluster(n)`",
                              *count, kAxes[i]));
    } else if (i == 0 && *count != 1 && *count != 2 && *count != 4 && *count != 8) {
      fail(range, fmt::format("{} CTAs: a cluster has 1, 2, 4 or 8", *count));
    } else if (i == 0) {
      cluster_ = *count;
    }
  }
}

void Checker::CheckParallelAttributes(const ast::Parallel& node, bool outermost) {
  const ast::Attribute *bounds = nullptr, *registers = nullptr, *covers = nullptr,
                       *cluster = nullptr;
  for (const ast::Attribute& attribute : node.attributes) {
    const std::string& name = attribute.name.text;
    if (name != "launch_bounds" && name != "maxnreg" && name != "covers" && name != "cluster") {
      diag::Builder builder =
          Report(diag::kinds::UnknownAttribute, attribute.name.range, name,
                 "`parallel` takes `launch_bounds`, `maxnreg`, `covers` and `cluster`");
      Suggest(builder, attribute.name.range, name,
              {"launch_bounds", "maxnreg", "covers", "cluster"});
      continue;
    }
    if (!outermost) {
      Report(diag::kinds::AttributeArguments, attribute.name.range, name,
             "it belongs to the outermost `parallel`");
      continue;
    }
    const ast::Attribute*& seen = name == "maxnreg"   ? registers
                                  : name == "covers"  ? covers
                                  : name == "cluster" ? cluster
                                                      : bounds;
    if (seen) {
      Report(diag::kinds::AttributeArguments, attribute.name.range, name, "it stands here twice");
      continue;
    }
    seen = &attribute;
    if (name == "launch_bounds") {
      CheckLaunchBounds(attribute);
      continue;
    }
    if (name == "covers") {
      CheckCovers(attribute);
      continue;
    }
    if (name == "cluster") {
      CheckCluster(attribute);
      continue;
    }
    const auto count = attribute.args.size() == 1
                           ? NeedConstant(attribute.args[0], "the register count of `maxnreg`")
                           : std::nullopt;
    if (attribute.args.size() != 1 || (count && (*count < 1 || *count > 255))) {
      Report(diag::kinds::AttributeArguments, attribute.name.range, name,
             "it takes one register count, 1 to 255");
    }
  }
  if (bounds && registers) {
    Report(diag::kinds::AttributeArguments, registers->name.range, "maxnreg",
           "a kernel has either `launch_bounds` or `maxnreg`");
  }
}

void Checker::CheckStmtAttributes(ast::StmtId id) {
  for (const ast::Attribute& attribute : file_.stmts[id].attributes) {
    if (attribute.name.text == "schedule") {
      CheckSchedule(id, attribute);
      continue;
    }
    diag::Builder builder =
        Report(diag::kinds::UnknownAttribute, attribute.name.range, attribute.name.text,
               "a statement takes `schedule`, an MMA only");
    Suggest(builder, attribute.name.range, attribute.name.text, {"schedule"});
  }
}

// [[schedule(k_tiles(7, 6, …))]]: a permutation of the MMA's K slices.
void Checker::CheckSchedule(ast::StmtId id, const ast::Attribute& attribute) {
  const auto fail = [&](SourceRange range, const std::string& rule) {
    Report(diag::kinds::Schedule, range, rule);
  };
  ast::ExprId expr;
  if (const auto* assign = file_.As<ast::Assign>(id)) expr = assign->value;
  if (const auto* statement = file_.As<ast::ExprStmt>(id)) expr = statement->expr;
  const auto* mma = expr.valid() ? file_.As<ast::Mma>(expr) : nullptr;
  if (!mma) return fail(attribute.name.range, "it stands before an MMA");
  const auto* order = attribute.args.size() == 1 ? file_.As<ast::Call>(attribute.args[0]) : nullptr;
  if (!order || order->callee.text != "k_tiles") {
    return fail(attribute.name.range, "it is written `schedule(k_tiles(…))`");
  }
  std::vector<int64_t> slices;
  for (const ast::ExprId arg : order->args) {
    const auto slice = NeedConstant(arg, "a K slice");
    if (!slice) return;
    slices.push_back(*slice);
  }
  const Type& a = values_[mma->a.value].type;
  if (a.rank() != 2 || !a.extents[1].value) return;
  const int64_t count = *a.extents[1].value / 16;
  const SourceRange range = file_.exprs[attribute.args[0]].range;
  if (static_cast<int64_t>(slices.size()) != count) {
    return fail(range, fmt::format("this MMA has {} K slices of 16, and {} are listed", count,
                                   slices.size()));
  }
  std::vector<int64_t> sorted = slices;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < count; ++i) {
    if (sorted[i] != i) {
      return fail(range, fmt::format("each of the K slices 0…{} stands in it once", count - 1));
    }
  }
}

void Checker::CheckCallStmt(ast::StmtId id, const ast::CallStmt& node) {
  std::string_view name = node.callee.text;
  constexpr std::string_view kPrefix = "croq::cuda::";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  if (name == "setreg_dec" || name == "setreg_inc") {
    CheckSetReg(id, node);
    return;
  }
  if (name == "nanosleep") {
    CheckNanosleep(id, node);
    return;
  }
  for (const ast::ExprId arg : node.args) {
    const Value& value = Check(arg);
    switch (value.type.kind) {
      case TypeKind::Error:
      case TypeKind::Scalar:
      case TypeKind::Bounded:
      case TypeKind::Fragment:
        continue;
      case TypeKind::View:
      case TypeKind::DataFuture:
        if (NeedClosed(arg, value)) MarkWritten(value);
        continue;
      default:
        Report(diag::kinds::CallArgument, file_.exprs[arg].range, node.callee.text,
               Describe(value.type));
    }
  }
}

void Checker::CheckNanosleep(ast::StmtId id, const ast::CallStmt& node) {
  if (node.args.size() != 1) {
    for (const ast::ExprId arg : node.args) Check(arg);
    Report(diag::kinds::ArgumentCount, file_.stmts[id].range, node.callee.text, 1,
           node.args.size());
    return;
  }
  const Value& time = Check(node.args[0]);
  if (time.type.kind != TypeKind::Error) NeedInteger(node.args[0], time, "the time");
}

void Checker::CheckSetReg(ast::StmtId id, const ast::CallStmt& node) {
  const SourceRange range = file_.stmts[id].range;
  if (node.args.size() != 1) {
    for (const ast::ExprId arg : node.args) Check(arg);
    Report(diag::kinds::ArgumentCount, range, node.callee.text, 1, node.args.size());
    return;
  }
  const auto count = NeedConstant(node.args[0], "the register count");
  if (role_depth_ == 0 || inthreads_depth_ > 1) {
    Report(diag::kinds::SetRegPlace, range, node.callee.text);
    return;
  }
  if (count && (*count < 24 || *count > 256 || *count % 8 != 0)) {
    Report(diag::kinds::SetRegValue, file_.exprs[node.args[0]].range, node.callee.text, *count);
  }
}

}  // namespace choreo::sema
