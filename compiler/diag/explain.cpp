#include "diag/explain.h"

#include <algorithm>

#include "diag/diag.h"
#include "diag/render.h"
#include "support/edit_distance.h"

namespace choreo::diag {
namespace {

constexpr size_t kKinds = static_cast<size_t>(DiagKind::kCount_);

std::string_view WithoutBrackets(std::string_view name) {
  if (name.size() >= 2 && name.front() == '[' && name.back() == ']') {
    return name.substr(1, name.size() - 2);
  }
  return name;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of('\n');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") + 1 - begin);
}

// The message as it stands in the registry, with "…" where the arguments go.
std::string MessageForm(std::string_view message) {
  std::string out;
  for (size_t i = 0; i < message.size(); ++i) {
    const bool twice = i + 1 < message.size() && message[i + 1] == message[i];
    if ((message[i] == '{' || message[i] == '}') && twice) {
      out += message[i++];
    } else if (message[i] == '{') {
      i = std::min(message.find('}', i), message.size());
      out += "…";
    } else {
      out += message[i];
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> Explain(std::string_view name) {
  const DiagKind kind = KindFromName(WithoutBrackets(name));
  if (kind == DiagKind::kCount_) return std::nullopt;
  const KindInfo& info = Info(kind);
  return fmt::format("{}: {} [{}]\n\n{}\n", SeverityName(info.severity), MessageForm(info.message),
                     info.name, Trim(info.explanation));
}

std::vector<std::string_view> SimilarKinds(std::string_view name) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kKinds; ++i) names.push_back(Info(static_cast<DiagKind>(i)).name);
  return ClosestNames(WithoutBrackets(name), names);
}

std::string ListKinds() {
  std::string out;
  for (size_t i = 0; i < kKinds; ++i) {
    const KindInfo& info = Info(static_cast<DiagKind>(i));
    out += fmt::format("{:<32} {:<8} {}\n", info.name, SeverityName(info.severity),
                       MessageForm(info.message));
  }
  return out;
}

}  // namespace choreo::diag
