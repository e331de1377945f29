#include "ir/verifier.h"

#include <algorithm>

#include "ir/verifier_impl.h"
#include "ir/walk.h"

namespace choreo::ir {
namespace {

enum class OpStates { Both, Tile, Lowered };

OpStates StatesOf(const OpNode& node) {
  static constexpr std::array kStates = {
#define CHOREO_OP(Struct, name, states) OpStates::states,
#include "ir/op_kind.def"
      OpStates::Both};
  return kStates[node.index()];
}

}  // namespace

bool KernelVerifier::AllowedHere(const Op& op) {
  if (in_host_) {
    const bool fine =
        std::holds_alternative<Let>(op.node) || std::holds_alternative<Assert>(op.node);
    if (!fine) Report("not in a host body");
    return fine;
  }
  const OpStates states = StatesOf(op.node);
  const bool fine =
      (states != OpStates::Tile || !IsLowered()) && (states != OpStates::Lowered || !IsTile());
  if (!fine) Report("not in {} state", IsTile() ? "tile" : "lowered");
  return fine;
}

void KernelVerifier::CheckOp(const Op& op) {
  op_ordinal_ = next_ordinal_++;
  op_loc_ = op.loc;
  op_name_ = fmt::format("{}: ", Name(op.node));
  if (!AllowedHere(op)) return;
  bool fine = true;
  VisitFields(op, [&](const char* name, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, ExprId>) {
      if (field) fine = CheckExpr(field) && fine;
    } else if constexpr (std::is_same_v<Field, std::vector<ExprId>>) {
      for (const ExprId id : field) {
        if (!id) Report("{} has a missing element", name);
        fine = id.valid() && CheckExpr(id) && fine;
      }
    } else if constexpr (std::is_same_v<Field, ViewId>) {
      if (!field) return;
      fine = ValidView(field) && fine;
      if (!fine) return;
      // Views are evaluated where an op uses them: that is where their variables are in scope.
      ForEachExpr(kernel_.views[field], [&](ExprId id) { fine = CheckExpr(id, field) && fine; });
    }
  });
  if (!fine) return;
  std::visit([&](const auto& node) { Check(node); }, op.node);
}

void KernelVerifier::CheckRegion(const Region& region) {
  if (++depth_ > 1000) {
    Report("regions nest deeper than 1000 levels");
  } else {
    for (const Op& op : region.ops) CheckOp(op);
  }
  --depth_;
}

void KernelVerifier::Run() {
  var_in_scope_.assign(kernel_.vars.size(), 0);
  storage_alive_.assign(kernel_.storages.size(), 0);
  CheckTables();
  // The scalars of the host body hold for the launch; a kernel that needs them computes them again.
  const Mark mark = Enter();
  in_host_ = true;
  CheckRegion(kernel_.host.body);
  in_host_ = false;
  op_ordinal_ = -1;
  op_name_.clear();
  op_loc_ = kernel_.loc;
  CheckHost();
  Leave(mark);
  // Block indices are given by the launch until a pass defines them from block numbers.
  for (const VarId var : kernel_.host.block_vars) {
    const auto defines = [&](const Op& op) {
      const auto* let = std::get_if<Let>(&op.node);
      return let != nullptr && let->var == var;
    };
    const std::vector<Op>& ops = kernel_.body.ops;
    const bool defined = std::any_of(ops.begin(), ops.end(), defines);
    if (!IsLowered() && !defined && var.value < kernel_.vars.size()) var_in_scope_[var.value] = 1;
  }
  CheckRegion(kernel_.body);
}

std::vector<Violation> FindViolations(const Module& module) {
  std::vector<Violation> violations;
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    KernelVerifier(module, static_cast<int>(i), violations).Run();
  }
  return violations;
}

std::vector<std::string> Verify(const Module& module) {
  std::vector<std::string> lines;
  for (const Violation& violation : FindViolations(module)) {
    lines.push_back(fmt::format("kernel `{}` at {}:{}: {}", module.kernels[violation.kernel].name,
                                violation.loc.line, violation.loc.column, violation.text));
  }
  return lines;
}

}  // namespace choreo::ir
