// Whole files in and out. Errors are values: the system's words for what went wrong.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace choreo {

struct FileText {
  std::string text;
  std::string error;  // empty: `text` is the file's content
  bool ok() const { return error.empty(); }
};

// At most `max_bytes` bytes of the regular file (or pipe) `path`.
FileText ReadFile(const std::string& path, size_t max_bytes = std::numeric_limits<size_t>::max());

// Writes a temporary file beside `path` and renames it over `path`: a reader sees the old text or
// the new one, never a part. Keeps the permissions of a file that is replaced. The error, if any.
std::optional<std::string> WriteFileAtomically(const std::string& path, std::string_view text);

}  // namespace choreo
