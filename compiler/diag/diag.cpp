#include "diag/diag.h"

#include <algorithm>
#include <array>

namespace choreo::diag {
namespace {

constexpr std::array<KindInfo, static_cast<size_t>(DiagKind::kCount_) + 1> kInfos = {{
#define CHOREO_DIAG(kind, severity, message, explanation, ...) \
  KindInfo{#kind, Severity::severity, message, explanation},
#include "diag/diag_kinds.def"
    KindInfo{},
}};

// Each message is checked against its argument types by the compiler: an unknown placeholder or a
// brace that is not doubled does not build.
#define CHOREO_DIAG(kind, severity, message, explanation, ...) \
  [[maybe_unused]] constexpr ::fmt::format_string<__VA_ARGS__> kCheckOf##kind = message;
#include "diag/diag_kinds.def"

}  // namespace

const KindInfo& Info(DiagKind kind) {
  CHOREO_CHECK(kind < DiagKind::kCount_, "kind {}", static_cast<int>(kind));
  return kInfos[static_cast<size_t>(kind)];
}

DiagKind KindFromName(std::string_view name) {
  const auto end = kInfos.end() - 1;
  const auto it =
      std::find_if(kInfos.begin(), end, [&](const KindInfo& info) { return info.name == name; });
  return static_cast<DiagKind>(it - kInfos.begin());
}

Builder& Builder::Note(SourceRange range, std::string message) {
  diagnostic_->notes.push_back({range, std::move(message)});
  return *this;
}

Builder& Builder::Fix(SourceRange range, std::string text) {
  diagnostic_->fixits.push_back({range, std::move(text), false});
  return *this;
}

Builder& Builder::Hint(SourceRange range, std::string text) {
  diagnostic_->fixits.push_back({range, std::move(text), true});
  return *this;
}

Builder Emitter::Add(DiagKind kind, SourceRange range, std::string message) {
  std::string key = fmt::format("{}:{}:{}:{}:{}", static_cast<int>(kind), range.begin.file.value,
                                range.begin.offset, range.end, message);
  Diagnostic diagnostic{kind, Info(kind).severity, range, std::move(message), {}, {}};
  if (!seen_.insert(std::move(key)).second) {
    duplicate_ = std::move(diagnostic);
    return Builder(&duplicate_);
  }
  if (diagnostic.severity == Severity::Error) ++error_count_;
  diagnostics_.push_back(std::move(diagnostic));
  return Builder(&diagnostics_.back());
}

}  // namespace choreo::diag
