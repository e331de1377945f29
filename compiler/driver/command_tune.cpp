// `choreo tune`: builds a program with each set of values that its `// tune:` lines declare,
// verifies them, and measures them in turn beside a reference.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "driver/commands.h"
#include "driver/session.h"
#include "driver/tune_build.h"
#include "driver/tune_interruption.h"
#include "driver/tune_measure.h"
#include "driver/tune_plan.h"
#include "driver/tune_sources.h"
#include "driver/tune_verdicts.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;
namespace kinds = diag::kinds;
using End = TuneMeasurement::End;

class Tune {
 public:
  Tune(Session& session, const Options& options)
      : session_(session),
        options_(options),
        cuda_(options.target_or_default() == Target::Cuda),
        folder_(options.tune_dir.empty() ? "tune" : options.tune_dir),
        installation_(FindInstallation()) {}

  // The exit status, but for errors, which are the session's.
  int Run() {
    std::string usage;
    const auto plan = PlanTuning(session_, installation_.include_dir, usage);
    if (!usage.empty()) {
      const Exit exit = UsageError("tune", fmt::format("`--only`: {}", usage));
      fmt::print(stderr, "{}", exit.text);
      return exit.status;
    }
    const Tool tool = cuda_ ? FindNvcc() : FindHostCompiler();
    if (!plan || !Ready(tool)) return kExitOk;
    TuneRows rows(folder_ + "/rows.jsonl");
    if (!Written(rows)) return kExitOk;

    const Interruption interruption;
    programs_ = BuildCandidates({options_, plan->text, plan->sources_hash, tool, installation_,
                                 folder_ + "/bin", Progress()},
                                plan->candidates, rows, interruption);
    int status = kExitOk;
    std::optional<TuneMeasurement> measurement;
    if (interruption.Asked()) {
      measurement = TuneMeasurement{End::Interrupted, {}, {}};
      measurement->turns.resize(programs_.size());
      status = kExitInterrupted;
    } else if (FindReference()) {
      measurement = Measure(reference_, Contenders(), MeasureOptions(), rows, interruption);
      status = Judge(*measurement);
    }
    Publish(measurement ? &*measurement : nullptr, plan->candidates);
    Written(rows);
    return status;
  }

 private:
  // Diagnostics as JSON have the error stream to themselves.
  std::FILE* Progress() const { return options_.json() ? stdout : stderr; }

  bool Fail(const std::string& path, std::string_view why) {
    session_.diags().Emit(kinds::OutputNotWritable, SourceRange(), path, why);
    return false;
  }

  bool Written(const TuneRows& rows) {
    return rows.error().empty() || Fail(folder_ + "/rows.jsonl", rows.error());
  }

  // Whether there is all that building needs.
  bool Ready(const Tool& tool) {
    if (!tool.ok()) {
      session_.diags().Emit(kinds::ToolNotFound, SourceRange(), cuda_ ? "nvcc" : "a C++ compiler",
                            tool.problem);
      return false;
    }
    std::vector<std::string> parts = {installation_.include_dir + "/choreo/runtime.h"};
    if (!cuda_) parts.push_back(installation_.sim_library);
    std::error_code error;
    for (const std::string& part : parts) {
      if (fs::exists(part, error)) continue;
      session_.diags().Emit(kinds::InstallationIncomplete, SourceRange(), part,
                            "a part of this choreo");
      return false;
    }
    fs::create_directories(folder_ + "/bin", error);
    return !error || Fail(folder_, error.message());
  }

  // What the candidates are measured beside.
  bool FindReference() {
    const TuneProgram& defaults = programs_[0];
    if (!options_.reference.empty()) {
      const FileText program = ReadFile(options_.reference);
      if (!program.ok()) return ReferenceFailed(options_.reference, program.error);
      reference_ = {options_.reference, HashOfParts({program.text}), options_.reference};
      return true;
    }
    reference_ = {defaults.label, defaults.key, defaults.binary};
    return !defaults.binary.empty() || ReferenceFailed(defaults.label, defaults.refused);
  }

  bool ReferenceFailed(const std::string& label, const std::string& why) {
    session_.diags().Emit(kinds::TuneReference, SourceRange(), fmt::format("`{}`", label), why);
    return false;
  }

  std::vector<TuneContender> Contenders() const {
    std::vector<TuneContender> contenders;
    for (const TuneProgram& program : programs_) {
      contenders.push_back({program.label, program.key, program.binary});
    }
    contenders[0].stays = true;
    return contenders;
  }

  TuneMeasureOptions MeasureOptions() const {
    TuneMeasureOptions options;
    options.arguments = options_.native_args;
    options.rounds = options_.rounds;
    options.keep = options_.keep_candidates;
    options.timeout_s = options_.timeout;
    options.timed = cuda_;
    options.folder = folder_;
    options.progress = Progress();
    return options;
  }

  int Judge(const TuneMeasurement& measurement) {
    for (size_t i = 0; i < programs_.size(); ++i) {
      const std::string& failed = measurement.turns[i].failed;
      if (failed.empty()) continue;
      session_.diags().Emit(kinds::TuneWrongResults, SourceRange(), programs_[i].label, failed);
    }
    switch (measurement.end) {
      case End::Complete:
        break;
      case End::NoDevice:
        return kExitNoDevice;
      case End::ReferenceFailed:
        ReferenceFailed(reference_.label, measurement.why);
        break;
      case End::Interrupted:
        return kExitInterrupted;
    }
    return kExitOk;
  }

  void Publish(const TuneMeasurement* measurement, const std::vector<TuneCandidate>& candidates) {
    const TuneVerdicts verdicts =
        JudgeTuning({programs_, measurement, options_.reference, options_.rounds, cuda_});
    std::vector<std::string> program = {fs::path(options_.file).filename().string()};
    for (const std::string& define : options_.defines) program.push_back("-D" + define);
    if (!options_.native_args.empty()) program.push_back("--");
    program.insert(program.end(), options_.native_args.begin(), options_.native_args.end());
    TuneTable table{ShellLine(program), {}, verdicts.status, verdicts.result, verdicts.lines};
    const auto compared = [](const TuneLine& line) { return line.summary.has_value(); };
    if (std::any_of(table.lines.begin(), table.lines.end(), compared)) {
      table.reference =
          options_.reference.empty() ? "the defaults" : fmt::format("`{}`", options_.reference);
    }
    std::string winner;
    if (verdicts.winner) {
      std::vector<std::string> line;
      for (const std::string& define : options_.defines) line.push_back("-D" + define);
      for (const std::string& define : candidates[*verdicts.winner].Defines()) {
        line.push_back("-D" + define);
      }
      winner = ShellLine(line);
    }
    std::string page = RenderMarkdown(table);
    fmt::print("{}", page);
    if (!winner.empty()) {
      fmt::print("\n{}\n", winner);
      page += fmt::format("\n```text\n{}\n```\n", winner);
    }
    std::fflush(stdout);
    for (const auto& [name, text] :
         {std::pair<std::string, std::string>{"tune.csv", RenderCsv(table)}, {"tune.md", page}}) {
      const std::string path = folder_ + "/" + name;
      if (const auto error = WriteFileAtomically(path, text)) Fail(path, *error);
    }
  }

  Session& session_;
  const Options& options_;
  const bool cuda_;
  const std::string folder_;
  const Installation installation_;
  std::vector<TuneProgram> programs_;
  TuneContender reference_;
};

}  // namespace

int RunTune(const Options& options) {
  Session session(options);
  const int status = Tune(session, options).Run();
  const int errors = session.Finish();
  return status != kExitOk ? status : errors;
}

}  // namespace choreo::driver
