#include "driver/tune_candidates.h"

#include <fmt/format.h>

#include <algorithm>

namespace choreo::driver {
namespace {

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string Listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += fmt::format("{}`{}`", out.empty() ? "" : ", ", name);
  return out;
}

}  // namespace

std::string TuneCandidate::Label() const {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  if (!defaults) return text;
  return text.empty() ? "defaults" : fmt::format("defaults ({})", text);
}

std::vector<std::string> TuneCandidate::Defines() const {
  std::vector<std::string> defines;
  if (defaults) return defines;
  for (const auto& [name, value] : values) defines.push_back(name + "=" + value);
  return defines;
}

std::vector<TuneRange> WithoutDefined(std::vector<TuneRange> ranges,
                                      const std::vector<std::string>& defines) {
  std::erase_if(ranges, [&](const TuneRange& range) {
    return std::any_of(defines.begin(), defines.end(), [&](const std::string& define) {
      return LeadingWord(define) == range.name;
    });
  });
  return ranges;
}

std::optional<std::vector<TuneRange>> Narrowed(std::vector<TuneRange> ranges,
                                               const std::string& only, std::string& problem) {
  if (only.empty()) return ranges;
  std::vector<std::vector<std::string>> chosen(ranges.size());
  size_t current = ranges.size();
  for (std::string_view rest = only;;) {
    const size_t comma = rest.find(',');
    std::string_view item = TrimBlanks(rest.substr(0, comma));
    if (const size_t equals = item.find('='); equals != item.npos) {
      const std::string_view name = TrimBlanks(item.substr(0, equals));
      item = TrimBlanks(item.substr(equals + 1));
      const auto at = std::find_if(ranges.begin(), ranges.end(),
                                   [&](const TuneRange& range) { return range.name == name; });
      current = static_cast<size_t>(at - ranges.begin());
      if (at == ranges.end()) {
        std::vector<std::string> names;
        for (const TuneRange& range : ranges) names.push_back(range.name);
        problem = fmt::format("`{}` has no range here; there are {}", name,
                              names.empty() ? "none" : Listed(names));
        return std::nullopt;
      }
    }
    const std::string value(item);
    if (current == ranges.size()) {
      problem = fmt::format("`{}`: expected NAME=VALUE", value);
      return std::nullopt;
    }
    if (!Contains(ranges[current].values, value)) {
      problem = fmt::format("`{}` is no declared value of `{}`; there are {}", value,
                            ranges[current].name, Listed(ranges[current].values));
      return std::nullopt;
    }
    if (!Contains(chosen[current], value)) chosen[current].push_back(value);
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (chosen[i].empty()) continue;
    std::erase_if(ranges[i].values, [&](const std::string& v) { return !Contains(chosen[i], v); });
  }
  return ranges;
}

size_t CountCandidates(const std::vector<TuneRange>& ranges) {
  size_t count = 1;
  for (const TuneRange& range : ranges) {
    count *= range.values.size();
    if (count > kMaxTuneCandidates) return count;
  }
  return count;
}

std::vector<TuneCandidate> MakeCandidates(const std::vector<TuneRange>& ranges,
                                          const std::vector<std::optional<std::string>>& defaults) {
  TuneCandidate first;
  first.defaults = true;
  bool known = true;
  for (size_t i = 0; i < ranges.size(); ++i) {
    known = known && defaults[i].has_value();
    if (defaults[i]) first.values.emplace_back(ranges[i].name, *defaults[i]);
  }
  std::vector<TuneCandidate> candidates = {first};
  const size_t count = CountCandidates(ranges);
  for (size_t number = 0; number < count && !ranges.empty(); ++number) {
    TuneCandidate candidate;
    size_t rest = number;
    for (size_t i = ranges.size(); i-- > 0;) {
      const std::vector<std::string>& values = ranges[i].values;
      candidate.values.emplace_back(ranges[i].name, values[rest % values.size()]);
      rest /= values.size();
    }
    std::reverse(candidate.values.begin(), candidate.values.end());
    if (!known || candidate.values != first.values) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace choreo::driver
