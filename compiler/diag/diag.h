// Diagnostics as values: a kind from the registry, a place, a message, notes and fix-its.
// Phases emit through an Emitter; nothing is printed until a renderer is asked to (render.h).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/source.h"

namespace choreo::diag {

enum class Severity : uint8_t { Note, Warning, Error };

enum class DiagKind : uint16_t {
#define CHOREO_DIAG(kind, severity, message, explanation, ...) kind,
#include "diag/diag_kinds.def"
  kCount_,
};

// A registered kind together with the types of its arguments: a call with the wrong arguments does
// not compile.
template <class... Args>
struct DiagDef {
  DiagKind kind;
};

namespace kinds {
#define CHOREO_DIAG(kind, severity, message, explanation, ...) \
  inline constexpr DiagDef<__VA_ARGS__> kind{DiagKind::kind};
#include "diag/diag_kinds.def"
}  // namespace kinds

struct KindInfo {
  std::string_view name;  // stable, as printed in brackets
  Severity severity = Severity::Error;
  std::string_view message;  // fmt format
  std::string_view explanation;
};
const KindInfo& Info(DiagKind kind);
// The kind named `name`, or kCount_ if there is none.
DiagKind KindFromName(std::string_view name);

// Replace `range` by `text` (an empty range inserts).
struct FixIt {
  SourceRange range;
  std::string text;
  bool is_hint = false;  // shown, but not applied by --fix
};

struct Note {
  SourceRange range;  // may be invalid: a note without a place
  std::string message;
};

struct Diagnostic {
  DiagKind kind = DiagKind::kCount_;
  Severity severity = Severity::Error;
  SourceRange range;
  std::string message;
  std::vector<Note> notes;
  std::vector<FixIt> fixits;
};

// Adds notes and fix-its to the diagnostic just emitted. Valid until the next emission.
class Builder {
 public:
  explicit Builder(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
  Builder& Note(SourceRange range, std::string message);
  Builder& Fix(SourceRange range, std::string text);
  Builder& Hint(SourceRange range, std::string text);

 private:
  Diagnostic* diagnostic_;
};

// Collects the diagnostics of a run, in the order of emission. A repetition of kind, range and
// message is dropped together with its notes.
class Emitter {
 public:
  template <class... Args>
  Builder Emit(const DiagDef<Args...>& def, SourceRange range,
               const std::type_identity_t<Args>&... args) {
    return Add(def.kind, range, fmt::format(fmt::runtime(Info(def.kind).message), args...));
  }
  template <class... Args>
  Builder Emit(const DiagDef<Args...>& def, SourceLoc loc,
               const std::type_identity_t<Args>&... args) {
    return Emit(def, SourceRange(loc), args...);
  }
  // For a message that was made elsewhere, such as a finding of the simulator.
  Builder EmitText(DiagKind kind, SourceRange range, std::string message) {
    return Add(kind, range, std::move(message));
  }

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  size_t error_count() const { return error_count_; }
  bool has_errors() const { return error_count_ != 0; }

 private:
  Builder Add(DiagKind kind, SourceRange range, std::string message);

  std::vector<Diagnostic> diagnostics_;
  std::unordered_set<std::string> seen_;  // kind, range and message of each diagnostic
  Diagnostic duplicate_;                  // where notes of a suppressed repetition go
  size_t error_count_ = 0;
};

}  // namespace choreo::diag
