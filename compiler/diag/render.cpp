#include "diag/render.h"

#include <algorithm>

#include "diag/source_line.h"

namespace choreo::diag {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kMagenta = "\x1b[1;35m";
constexpr std::string_view kCyan = "\x1b[1;36m";
constexpr std::string_view kGreen = "\x1b[1;32m";
constexpr size_t kMaxFixText = 80;

std::string_view ColorOf(Severity severity) {
  return severity == Severity::Error ? kRed : severity == Severity::Warning ? kMagenta : kCyan;
}

class TextRenderer {
 public:
  TextRenderer(const SourceManager& sources, const RenderOptions& options)
      : sources_(sources), options_(options) {}

  std::string Render(const Diagnostic& diagnostic) {
    Head(diagnostic.range, diagnostic.severity, diagnostic.message);
    out_ += fmt::format(" [{}]\n", Info(diagnostic.kind).name);
    Snippet(diagnostic.range);
    for (const FixIt& fix : diagnostic.fixits) Fix(diagnostic.range, fix);
    for (const Note& note : diagnostic.notes) {
      Head(note.range, Severity::Note, note.message);
      out_ += '\n';
      Snippet(note.range);
    }
    return std::move(out_);
  }

 private:
  std::string Paint(std::string_view color, std::string_view text) const {
    return options_.color ? fmt::format("{}{}{}", color, text, kReset) : std::string(text);
  }

  void Head(SourceRange range, Severity severity, std::string_view message) {
    const std::string place = range.valid() ? sources_.Describe(range.begin) : "choreo";
    out_ += fmt::format("{} {} {}", Paint(kBold, place + ":"),
                        Paint(ColorOf(severity), std::string(SeverityName(severity)) + ":"),
                        Paint(kBold, message));
  }

  void Snippet(SourceRange range) {
    if (!range.valid()) return;
    const LineColumn at = sources_.Position(range.begin);
    const std::string_view line = sources_.Line(range.begin.file, at.line);
    const size_t begin = at.column - 1;
    const size_t length = std::max(range.end, range.begin.offset) - range.begin.offset;
    const SourceLine shown = PrintableLine(line, begin, begin + length, options_.columns);
    const std::string number = fmt::format("{:>5}", at.line);
    out_ += fmt::format("{} | {}\n", number, shown.text);
    out_ += fmt::format("{:>{}} | {}\n", "", number.size(), Paint(kGreen, shown.underline));
  }

  // A fix-it says what to do in words: the place is underlined already, unless it is another one.
  void Fix(SourceRange of, const FixIt& fix) {
    const std::string_view old = fix.range.valid() ? sources_.Text(fix.range) : std::string_view();
    std::string what = old.empty() ? fmt::format("insert `{}`", Shorten(fix.text))
                       : fix.text.empty()
                           ? fmt::format("remove `{}`", Shorten(old))
                           : fmt::format("replace `{}` by `{}`", Shorten(old), Shorten(fix.text));
    if (fix.range.valid() && !(fix.range == of)) {
      what += fmt::format(" at {}", sources_.Describe(fix.range.begin));
    }
    out_ += fmt::format("{:>5} = {} {}\n", "", Paint(kGreen, fix.is_hint ? "hint:" : "fix:"), what);
  }

  static std::string Shorten(std::string_view text) {
    std::string one_line(text.substr(0, kMaxFixText));
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    if (text.size() > kMaxFixText) one_line += "...";
    return one_line;
  }

  const SourceManager& sources_;
  const RenderOptions& options_;
  std::string out_;
};

std::string Counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::Note:
      return "note";
    case Severity::Warning:
      return "warning";
    case Severity::Error:
      return "error";
  }
  CHOREO_UNREACHABLE();
}

std::string RenderText(const SourceManager& sources, const Diagnostic& diagnostic,
                       const RenderOptions& options) {
  return TextRenderer(sources, options).Render(diagnostic);
}

std::string RenderText(const SourceManager& sources, std::span<const Diagnostic> diagnostics,
                       const RenderOptions& options) {
  std::string out;
  size_t errors = 0, warnings = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    out += RenderText(sources, diagnostic, options);
    errors += diagnostic.severity == Severity::Error ? 1 : 0;
    warnings += diagnostic.severity == Severity::Warning ? 1 : 0;
  }
  if (errors != 0 && warnings != 0) {
    out += fmt::format("{} and {}\n", Counted(errors, "error"), Counted(warnings, "warning"));
  } else if (errors + warnings != 0) {
    out += errors != 0 ? Counted(errors, "error") : Counted(warnings, "warning");
    out += '\n';
  }
  return out;
}

}  // namespace choreo::diag
