#include "driver/tune_declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace choreo::driver {
namespace {

constexpr int64_t kMaxRange = 1024;  // values of one `A..B`
constexpr int64_t kMaxBound = int64_t{1} << 32;

std::optional<int64_t> Integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads what stands behind `tune:`; `problem` says why it could not.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(TrimBlanks(text)) {}

  std::optional<TuneRange> Read() {
    range_.name = std::string(LeadingWord(rest_));
    if (range_.name.empty() || range_.name == "in")
      return Fail("expected the name of a macro after `tune:`");
    rest_ = TrimBlanks(rest_.substr(range_.name.size()));
    if (LeadingWord(rest_) != "in")
      return Fail(fmt::format("expected `in` after `{}`", range_.name));
    rest_ = rest_.substr(2);
    while (true) {
      const size_t comma = rest_.find(',');
      if (!Item(TrimBlanks(rest_.substr(0, comma)))) return std::nullopt;
      if (comma == rest_.npos) return std::move(range_);
      rest_.remove_prefix(comma + 1);
    }
  }

  std::string problem;

 private:
  std::nullopt_t Fail(std::string message) {
    problem = std::move(message);
    return std::nullopt;
  }

  bool Add(std::string value) {
    if (std::find(range_.values.begin(), range_.values.end(), value) != range_.values.end()) {
      Fail(fmt::format("`{}` stands twice among the values of `{}`", value, range_.name));
      return false;
    }
    range_.values.push_back(std::move(value));
    return true;
  }

  bool Item(std::string_view item) {
    if (item.empty()) {
      Fail(fmt::format("a value of `{}` is missing", range_.name));
      return false;
    }
    const size_t dots = item.find("..");
    if (dots == item.npos) return Add(std::string(item));
    const auto first = Integer(TrimBlanks(item.substr(0, dots)));
    const auto last = Integer(TrimBlanks(item.substr(dots + 2)));
    const auto small = [](int64_t value) { return value >= -kMaxBound && value <= kMaxBound; };
    if (!first || !last || !small(*first) || !small(*last) || *first > *last ||
        *last - *first >= kMaxRange) {
      Fail(fmt::format("`{}` is no range of whole numbers A..B with A <= B and at most {} values",
                       item, kMaxRange));
      return false;
    }
    for (int64_t value = *first; value <= *last; ++value) {
      if (!Add(std::to_string(value))) return false;
    }
    return true;
  }

  std::string_view rest_;
  TuneRange range_;
};

}  // namespace

TuneDeclarations ReadTuneDeclarations(std::string_view text) {
  TuneDeclarations result;
  for (const TextSpan& comment : ScanText(text).line_comments) {
    std::string_view line = text.substr(comment.begin, comment.end - comment.begin);
    line = TrimBlanks(line.substr(2));
    constexpr std::string_view kMark = "tune:";
    if (!line.starts_with(kMark)) continue;
    LineReader reader(line.substr(kMark.size()));
    if (auto range = reader.Read()) {
      range->comment = comment;
      result.ranges.push_back(std::move(*range));
    } else {
      result.problems.push_back({comment, reader.problem});
    }
  }
  return result;
}

}  // namespace choreo::driver
