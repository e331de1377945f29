#include "diag/verify.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "diag/render.h"

namespace choreo::diag {
namespace {

constexpr uint32_t kAnyLine = 0;

struct Expectation {
  Severity severity = Severity::Error;
  SourceLoc comment;
  FileId file;
  uint32_t line = kAnyLine;
  std::string_view text;
  std::string_view kind;  // empty for a note
  uint32_t missing = 1;   // how often it is still to be met
};

// Something a run reported: a diagnostic or one of its notes.
struct Finding {
  Severity severity;
  SourceRange range;
  std::string_view message;
  std::string_view kind;
  bool must_be_expected = true;
};

// Reads the comments of one file.
class Reader {
 public:
  Reader(const SourceManager& sources, FileId file, std::vector<Expectation>& expectations,
         std::string& report)
      : sources_(sources),
        file_(file),
        text_(sources.Text(file)),
        expectations_(expectations),
        report_(report) {}

  void Run() {
    constexpr std::string_view kStart = "expected-";
    for (size_t at = text_.find(kStart); at != text_.npos; at = text_.find(kStart, at_)) {
      start_ = at;
      at_ = at + kStart.size();
      if (InComment(at)) One();
    }
  }

 private:
  // A comment opens before `at` on its line. (A string that holds `//` is not worth more care.)
  bool InComment(size_t at) const {
    const size_t newline = at == 0 ? text_.npos : text_.rfind('\n', at - 1);
    const size_t line_start = newline == text_.npos ? 0 : newline + 1;
    const std::string_view before = text_.substr(line_start, at - line_start);
    return before.find("//") != before.npos || before.find("/*") != before.npos;
  }

  void One() {
    Expectation expectation;
    expectation.comment = {file_, static_cast<uint32_t>(start_)};
    expectation.file = file_;
    if (Eat("error")) {
      expectation.severity = Severity::Error;
    } else if (Eat("warning")) {
      expectation.severity = Severity::Warning;
    } else if (Eat("note")) {
      expectation.severity = Severity::Note;
    } else {
      return;  // some other word, as in a sentence
    }
    expectation.line = sources_.Position(expectation.comment).line;
    if (Eat("@") && !Place(expectation)) return Malformed("expected `@+N`, `@-N`, `@N` or `@*`");
    SkipSpaces();
    if (const auto count = Number()) expectation.missing = *count;
    SkipSpaces();
    const auto text = Enclosed("{{", "}}");
    if (!text) return Malformed("expected `{{part of the message}}` on the same line");
    expectation.text = *text;
    SkipSpaces();
    const auto kind = Enclosed("[", "]");
    if (!kind && expectation.severity != Severity::Note) {
      return Malformed("expected `[kind]` after the text");
    }
    expectation.kind = kind.value_or(std::string_view());
    if (!expectation.kind.empty() && KindFromName(expectation.kind) == DiagKind::kCount_) {
      return Malformed(fmt::format("there is no kind `{}`", expectation.kind));
    }
    expectations_.push_back(expectation);
  }

  bool Place(Expectation& expectation) {
    if (Eat("*")) {
      expectation.line = kAnyLine;
      return true;
    }
    const int sign = Eat("+") ? 1 : Eat("-") ? -1 : 0;
    const auto number = Number();
    if (!number) return false;
    const int64_t base = sign == 0 ? 0 : expectation.line;
    const int64_t line = base + (sign < 0 ? -1 : 1) * static_cast<int64_t>(*number);
    if (line <= 0 || line > sources_.LineCount(file_)) return false;
    expectation.line = static_cast<uint32_t>(line);
    return true;
  }

  bool Eat(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void SkipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::optional<uint32_t> Number() {
    uint32_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(rest - text_.data());
    return value;
  }
  std::optional<std::string_view> Enclosed(std::string_view open, std::string_view close) {
    if (!Eat(open)) return std::nullopt;
    size_t end = text_.find(close, at_);
    // "{{a}}}" holds "a}".
    while (end != text_.npos && text_.substr(end + close.size(), 1) == close.substr(0, 1)) ++end;
    if (end == text_.npos || text_.substr(at_, end - at_).find('\n') != text_.npos) {
      return std::nullopt;
    }
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + close.size();
    return inside;
  }
  void Malformed(std::string_view why) {
    report_ += fmt::format("{}: malformed expectation: {}\n",
                           sources_.Describe({file_, static_cast<uint32_t>(start_)}), why);
  }

  const SourceManager& sources_;
  FileId file_;
  std::string_view text_;
  size_t start_ = 0, at_ = 0;
  std::vector<Expectation>& expectations_;
  std::string& report_;
};

bool Meets(const SourceManager& sources, const Finding& finding, const Expectation& expectation) {
  if (expectation.missing == 0 || finding.severity != expectation.severity) return false;
  if (!expectation.kind.empty() && finding.kind != expectation.kind) return false;
  if (finding.message.find(expectation.text) == std::string_view::npos) return false;
  if (expectation.line == kAnyLine) return true;
  return finding.range.valid() && finding.range.begin.file == expectation.file &&
         sources.Position(finding.range.begin).line == expectation.line;
}

std::vector<Finding> Flatten(std::span<const Diagnostic> diagnostics) {
  std::vector<Finding> findings;
  for (const Diagnostic& d : diagnostics) {
    const std::string_view kind = Info(d.kind).name;
    findings.push_back({d.severity, d.range, d.message, kind, d.severity != Severity::Note});
    for (const Note& note : d.notes) {
      findings.push_back({Severity::Note, note.range, note.message, kind, false});
    }
  }
  return findings;
}

}  // namespace

VerifyResult VerifyDiagnostics(const SourceManager& sources,
                               std::span<const Diagnostic> diagnostics) {
  VerifyResult result;
  std::vector<Expectation> expectations;
  for (size_t i = 0; i < sources.file_count(); ++i) {
    Reader(sources, FileId(static_cast<uint32_t>(i)), expectations, result.report).Run();
  }
  // A place that is named goes before `@*`, so that the general expectation does not take its
  // finding.
  std::stable_partition(expectations.begin(), expectations.end(),
                        [](const Expectation& e) { return e.line != kAnyLine; });
  for (const Finding& finding : Flatten(diagnostics)) {
    const auto it = std::find_if(expectations.begin(), expectations.end(),
                                 [&](const Expectation& e) { return Meets(sources, finding, e); });
    if (it != expectations.end()) {
      --it->missing;
    } else if (finding.must_be_expected) {
      result.report +=
          fmt::format("{}: {} not expected: {} [{}]\n", sources.Describe(finding.range.begin),
                      SeverityName(finding.severity), finding.message, finding.kind);
    }
  }
  for (const Expectation& e : expectations) {
    if (e.missing == 0) continue;
    const std::string where = e.line == kAnyLine ? "anywhere" : fmt::format("on line {}", e.line);
    result.report +=
        fmt::format("{}: {} expected {} but not seen: {{{{{}}}}} [{}]\n",
                    sources.Describe(e.comment), SeverityName(e.severity), where, e.text, e.kind);
  }
  return result;
}

}  // namespace choreo::diag
