#include "diag/fixit.h"

#include <algorithm>

#include "support/file.h"

namespace choreo::diag {
namespace {

bool SamePlace(const FixIt& a, const FixIt& b) { return a.range == b.range && a.text == b.text; }

// Whether both change a byte, or insert at the same place or inside the other. Text inserted right
// before or after a replaced range does not collide with it.
bool Overlap(const FixIt& a, const FixIt& b) {
  if (a.range.begin.file != b.range.begin.file) return false;
  const uint32_t a_begin = a.range.begin.offset, b_begin = b.range.begin.offset;
  if (a_begin == a.range.end && b_begin == b.range.end) return a_begin == b_begin;
  return a_begin < b.range.end && b_begin < a.range.end;
}

// The fix-its of a diagnostic that --fix applies.
std::vector<const FixIt*> Applicable(const Diagnostic& diagnostic) {
  std::vector<const FixIt*> fixes;
  for (const FixIt& fix : diagnostic.fixits) {
    if (!fix.is_hint && fix.range.valid() && fix.range.end >= fix.range.begin.offset) {
      fixes.push_back(&fix);
    }
  }
  return fixes;
}

std::string Rewrite(std::string_view text, std::vector<const FixIt*>& fixes) {
  // At one offset an insertion comes before the replacement of what follows.
  std::stable_sort(fixes.begin(), fixes.end(), [](const FixIt* a, const FixIt* b) {
    return std::pair(a->range.begin.offset, a->range.end) <
           std::pair(b->range.begin.offset, b->range.end);
  });
  std::string out;
  size_t at = 0;
  for (const FixIt* fix : fixes) {
    const size_t begin = std::min<size_t>(fix->range.begin.offset, text.size());
    out += text.substr(at, begin - at);
    out += fix->text;
    at = std::min<size_t>(fix->range.end, text.size());
  }
  out += text.substr(at);
  return out;
}

}  // namespace

Fixes ApplyFixIts(const SourceManager& sources, std::span<const Diagnostic> diagnostics) {
  Fixes result;
  std::vector<const FixIt*> accepted;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::vector<const FixIt*> fixes = Applicable(diagnostic);
    if (fixes.empty()) continue;
    std::vector<const FixIt*> added;
    bool collides = false;
    for (const FixIt* fix : fixes) {
      const auto same = [&](const FixIt* other) { return SamePlace(*fix, *other); };
      if (std::any_of(accepted.begin(), accepted.end(), same))
        continue;  // another asked for it too
      const auto overlaps = [&](const FixIt* other) { return Overlap(*fix, *other); };
      collides |= std::any_of(accepted.begin(), accepted.end(), overlaps) ||
                  std::any_of(added.begin(), added.end(), overlaps);
      added.push_back(fix);
    }
    if (collides) {
      ++result.skipped;
      continue;
    }
    accepted.insert(accepted.end(), added.begin(), added.end());
    ++result.applied;
  }
  for (size_t i = 0; i < sources.file_count(); ++i) {
    const FileId file(static_cast<uint32_t>(i));
    std::vector<const FixIt*> here;
    std::copy_if(accepted.begin(), accepted.end(), std::back_inserter(here),
                 [&](const FixIt* fix) { return fix->range.begin.file == file; });
    if (here.empty()) continue;
    const size_t count = here.size();
    result.files.push_back({file, Rewrite(sources.Text(file), here), count});
  }
  return result;
}

std::vector<std::string> WriteFixes(const SourceManager& sources, const Fixes& fixes) {
  std::vector<std::string> errors;
  for (const FixedFile& fixed : fixes.files) {
    const std::string name(sources.Name(fixed.file));
    if (const auto error = WriteFileAtomically(name, fixed.text)) {
      errors.push_back(fmt::format("{}: {}", name, *error));
    }
  }
  return errors;
}

}  // namespace choreo::diag
