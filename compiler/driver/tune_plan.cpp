#include "driver/tune_plan.h"

#include "driver/tune_declarations.h"
#include "driver/tune_sources.h"
#include "lex/encoding.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

namespace kinds = diag::kinds;

class Planner {
 public:
  Planner(Session& session, const std::string& runtime_include_dir)
      : session_(session), c_(session.compilation()) {
    dirs_ = session.options().include_dirs;
    dirs_.push_back(runtime_include_dir);
  }

  std::optional<TunePlan> Run(std::string& usage) {
    const Options& options = session_.options();
    if (!Read()) return std::nullopt;
    std::vector<TuneRange> ranges = Declared();
    if (session_.ok()) CheckMacros(ranges);
    if (!session_.ok()) return std::nullopt;
    ranges = WithoutDefined(std::move(ranges), options.defines);
    auto narrowed = Narrowed(std::move(ranges), options.only, usage);
    if (!narrowed) return std::nullopt;
    const size_t count = CountCandidates(*narrowed);
    if (count > kMaxTuneCandidates) {
      session_.diags().Emit(kinds::TuneTooMany, SourceRange(), count, kMaxTuneCandidates);
      return std::nullopt;
    }
    std::vector<std::optional<std::string>> defaults;
    for (const TuneRange& range : *narrowed) {
      defaults.push_back(FindMacro(sources_, range.name).default_text);
    }
    return TunePlan{text_, HashOfSources(sources_), MakeCandidates(*narrowed, defaults)};
  }

 private:
  bool Read() {
    const std::string& file = session_.options().file;
    FileText read = ReadFile(file, lex::kMaxFileBytes + 1);
    if (!read.ok()) {
      session_.diags().Emit(kinds::InputNotReadable, SourceRange(), file, read.error);
      return false;
    }
    text_ = std::move(read.text);
    c_.file = c_.sources.Add(file, text_);
    if (!lex::CheckEncoding(c_.sources, c_.file, c_.diags)) return false;
    sources_ = ReadTuneSources(file, text_, dirs_);
    return true;
  }

  SourceRange Place(TextSpan span) const { return {{c_.file, span.begin}, span.end}; }

  std::vector<TuneRange> Declared() {
    TuneDeclarations declarations = ReadTuneDeclarations(text_);
    for (const TuneProblem& problem : declarations.problems) {
      session_.diags().Emit(kinds::TuneSyntax, Place(problem.comment), problem.message);
    }
    std::vector<TuneRange>& ranges = declarations.ranges;
    for (size_t i = 0; i < ranges.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (ranges[j].name != ranges[i].name) continue;
        session_.diags()
            .Emit(kinds::TuneRepeated, Place(ranges[i].comment), ranges[i].name)
            .Note(Place(ranges[j].comment), "here");
        break;
      }
    }
    if (ranges.empty() && session_.ok()) {
      session_.diags().Emit(kinds::TuneNoRanges, SourceRange(), session_.options().file);
    }
    return std::move(ranges);
  }

  void CheckMacros(const std::vector<TuneRange>& ranges) {
    for (const TuneRange& range : ranges) {
      const MacroUse use = FindMacro(sources_, range.name);
      if (use.fixed) {
        const TuneSource& source = sources_[use.fixed->source];
        const FileId file =
            use.fixed->source == 0 ? c_.file : c_.sources.Add(source.name, source.text);
        session_.diags()
            .Emit(kinds::TuneNotSettable, Place(range.comment), range.name)
            .Note(SourceRange({file, use.fixed->offset}), "it is defined here");
      } else if (!use.read) {
        session_.diags().Emit(kinds::TuneNotRead, Place(range.comment), range.name);
      }
    }
  }

  Session& session_;
  Compilation& c_;
  std::vector<std::string> dirs_;
  std::string text_;
  std::vector<TuneSource> sources_;
};

}  // namespace

std::optional<TunePlan> PlanTuning(Session& session, const std::string& runtime_include_dir,
                                   std::string& usage) {
  return Planner(session, runtime_include_dir).Run(usage);
}

}  // namespace choreo::driver
