#include "driver/tune_rows.h"

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "driver/tune_text.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

using Json = nlohmann::ordered_json;

template <class Body>
void ForLines(std::string_view text, const Body& body) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    body(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
}

// An object, or null where the line is none.
Json ParseLine(std::string_view line) {
  Json json = Json::parse(line.begin(), line.end(), nullptr, false);
  return json.is_object() ? json : Json();
}

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

TuneRows::TuneRows(const std::string& path) {
  const FileText old = ReadFile(path);
  if (old.ok()) ForLines(old.text, [&](std::string_view line) { Learn(line); });
  file_.reset(std::fopen(path.c_str(), "ae"));
  if (!file_) {
    error_ = std::strerror(errno);
  } else if (!old.text.empty() && old.text.back() != '\n') {
    Append("\n");  // behind a line that was cut off
  }
}

void TuneRows::Learn(std::string_view line) {
  const Json json = ParseLine(line);
  if (json.is_null()) return;
  try {
    const std::string row = json.at("row"), key = json.at("key");
    if (row == "build") {
      builds_[key] = {json.at("registers"), json.at("spill_bytes"), json.at("complaint"),
                      json.at("only_spills")};
    } else if (row == "verify") {
      verified_[key] = json.at("ok");
    } else if (row == "sample") {
      TuneSample sample{json.at("before"), json.at("ms"), json.at("after")};
      if (IsSound(sample)) samples_[{key, json.at("round")}] = std::move(sample);
    }
  } catch (const Json::exception&) {
    return;  // a row of another version: as if it were not there
  }
}

void TuneRows::Append(const std::string& line) {
  if (!error_.empty()) return;
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    error_ = std::strerror(errno);
  }
}

std::optional<TuneBuildRow> TuneRows::Build(const std::string& key) const {
  const auto at = builds_.find(key);
  return at == builds_.end() ? std::nullopt : std::optional(at->second);
}

bool TuneRows::Verified(const std::string& key) const {
  const auto at = verified_.find(key);
  return at != verified_.end() && at->second;
}

std::optional<TuneSample> TuneRows::Sample(const std::string& key, size_t round) const {
  const auto at = samples_.find({key, round});
  return at == samples_.end() ? std::nullopt : std::optional(at->second);
}

void TuneRows::AddBuild(const std::string& key, const std::string& candidate,
                        const TuneBuildRow& row) {
  builds_[key] = row;
  Append(Line({{"row", "build"},
               {"key", key},
               {"candidate", candidate},
               {"registers", row.registers},
               {"spill_bytes", row.spill_bytes},
               {"complaint", row.complaint},
               {"only_spills", row.only_spills}}));
}

void TuneRows::AddVerification(const std::string& key, const std::string& candidate,
                               const std::string& why) {
  verified_[key] = why.empty();
  Append(Line({{"row", "verify"},
               {"key", key},
               {"candidate", candidate},
               {"ok", why.empty()},
               {"why", why}}));
}

void TuneRows::AddSample(const std::string& key, const std::string& candidate, size_t round,
                         const TuneSample& sample) {
  samples_[{key, round}] = sample;
  Append(Line({{"row", "sample"},
               {"key", key},
               {"candidate", candidate},
               {"round", round},
               {"before", sample.before},
               {"ms", sample.ms},
               {"after", sample.after}}));
}

TuneReport ReadTuneReport(std::string_view json_lines) {
  bool any = false, failed = false;
  TuneReport report;
  ForLines(json_lines, [&](std::string_view line) {
    const Json json = ParseLine(line);
    if (json.is_null()) return;
    const Json row = json.value("row", Json()), ok = json.value("ok", Json());
    const Json device = json.value("device", Json());
    if (report.device.empty() && device.is_string()) report.device = device;
    any = any || row == "verify";
    failed = failed || (row == "verify" ? ok != true : ok == false);
    const Json ms = json.value("ms", Json());
    if (row == "timing" && ms.is_number()) report.ms.push_back(ms);
  });
  report.verified = any && !failed;
  return report;
}

std::string TellingLine(std::string_view output) {
  std::string_view telling, last;
  ForLines(output, [&](std::string_view line) {
    line = TrimBlanks(line);
    if (line.empty()) return;
    last = line;
    const bool tells = line.find("error") != line.npos || line.find("FAILED") != line.npos;
    if (tells && telling.empty()) telling = line;
  });
  return std::string(telling.empty() ? last : telling);
}

}  // namespace choreo::driver
