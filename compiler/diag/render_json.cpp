#include <nlohmann/json.hpp>

#include "diag/render.h"

namespace choreo::diag {
namespace {

using Json = nlohmann::ordered_json;

void AddPlace(Json& object, const SourceManager& sources, SourceRange range) {
  if (!range.valid()) return;
  const LineColumn begin = sources.Position(range.begin);
  const uint32_t end_offset = std::max(range.end, range.begin.offset);
  const LineColumn end = sources.Position({range.begin.file, end_offset});
  object["file"] = sources.Name(range.begin.file);
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end"] = {{"line", end.line}, {"column", end.column}};
}

Json ToJson(const SourceManager& sources, const Diagnostic& diagnostic) {
  Json object;
  object["kind"] = Info(diagnostic.kind).name;
  object["severity"] = SeverityName(diagnostic.severity);
  AddPlace(object, sources, diagnostic.range);
  object["message"] = diagnostic.message;
  object["notes"] = Json::array();
  for (const Note& note : diagnostic.notes) {
    Json entry;
    AddPlace(entry, sources, note.range);
    entry["message"] = note.message;
    object["notes"].push_back(std::move(entry));
  }
  object["fixits"] = Json::array();
  for (const FixIt& fix : diagnostic.fixits) {
    Json entry;
    AddPlace(entry, sources, fix.range);
    entry["text"] = fix.text;
    entry["applied_by_fix"] = !fix.is_hint;
    object["fixits"].push_back(std::move(entry));
  }
  return object;
}

}  // namespace

std::string RenderJson(const SourceManager& sources, std::span<const Diagnostic> diagnostics) {
  Json array = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) array.push_back(ToJson(sources, diagnostic));
  // Messages may quote bytes of a file that is not UTF-8.
  return array.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace choreo::diag
