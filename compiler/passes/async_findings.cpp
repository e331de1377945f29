#include "passes/async_findings.h"

#include <algorithm>
#include <tuple>

namespace choreo::passes {

bool Findings::Contains(const Finding& finding) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Finding& known) {
    return known.kind == finding.kind && known.loc == finding.loc;
  });
}

Finding& Findings::AddText(diag::DiagKind kind, ir::Loc loc, std::string message) {
  Finding finding{kind, loc, std::move(message), {}};
  if (Contains(finding)) return repeated_ = std::move(finding);
  all_.push_back(std::move(finding));
  return all_.back();
}

void Findings::Take(const Finding& finding) {
  if (!Contains(finding)) all_.push_back(finding);
}

bool Findings::has_errors() const {
  return std::any_of(all_.begin(), all_.end(), [](const Finding& finding) {
    return diag::Info(finding.kind).severity == diag::Severity::Error;
  });
}

void Findings::DropErrors() { KeepOnly(diag::DiagKind::kCount_); }

void Findings::KeepOnly(diag::DiagKind kind) {
  std::erase_if(all_, [&](const Finding& finding) {
    return finding.kind != kind && diag::Info(finding.kind).severity == diag::Severity::Error;
  });
}

void Findings::Emit(PassContext& context) const {
  std::vector<const Finding*> sorted;
  for (const Finding& finding : all_) sorted.push_back(&finding);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Finding* a, const Finding* b) {
    return std::tie(a->loc.line, a->loc.column) < std::tie(b->loc.line, b->loc.column);
  });
  for (const Finding* finding : sorted) {
    diag::Builder builder =
        context.diags.EmitText(finding->kind, context.Where(finding->loc), finding->message);
    for (const auto& [loc, text] : finding->notes) builder.Note(context.Where(loc), text);
  }
}

}  // namespace choreo::passes
