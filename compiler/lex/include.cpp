#include "lex/include.h"

#include <filesystem>
#include <system_error>

#include "lex/encoding.h"
#include "support/file.h"

namespace choreo::lex {
namespace {

namespace fs = std::filesystem;
namespace kinds = diag::kinds;

}  // namespace

FileId IncludeFiles::Open(std::string_view name, bool angled, SourceRange place) {
  std::vector<fs::path> candidates;
  if (fs::path(name).is_absolute()) {
    candidates.emplace_back(name);
  } else {
    const fs::path including(sources_.Name(place.begin.file));
    if (!angled) candidates.push_back(including.parent_path() / name);
    for (const std::string& folder : folders_) candidates.push_back(fs::path(folder) / name);
  }
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    if (fs::exists(candidate, error) && !fs::is_directory(candidate, error)) {
      return Load(candidate.string(), place);
    }
  }
  diag::Builder builder = diags_.Emit(kinds::IncludeNotFound, place, name);
  for (const fs::path& candidate : candidates) {
    builder.Note(SourceRange(), fmt::format("there is no `{}`", candidate.string()));
  }
  return {};
}

FileId IncludeFiles::Load(const std::string& path, SourceRange place) {
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  const std::string& key = error ? path : real;
  if (const auto it = by_real_path_.find(key); it != by_real_path_.end()) return it->second;

  FileText read = ReadFile(path, kMaxFileBytes + 1);
  FileId file;
  if (!read.ok()) {
    diags_.Emit(kinds::IncludeNotReadable, place, path, read.error);
  } else {
    file = sources_.Add(path, std::move(read.text));
    names_.push_back(path);
    if (!CheckEncoding(sources_, file, diags_)) file = {};
  }
  by_real_path_.emplace(key, file);
  return file;
}

}  // namespace choreo::lex
