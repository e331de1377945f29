#include "driver/tune_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <mutex>
#include <thread>

#include "driver/compilation.h"
#include "driver/native_command.h"
#include "driver/ptxas_report.h"
#include "driver/session.h"
#include "driver/tune_sources.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;

std::string FirstError(const Compilation& compilation) {
  for (const diag::Diagnostic& d : compilation.diags.diagnostics()) {
    if (d.severity != diag::Severity::Error) continue;
    const std::string_view kind = diag::Info(d.kind).name;
    if (!d.range.valid()) return fmt::format("{} [{}]", d.message, kind);
    return fmt::format("{}: {} [{}]", compilation.sources.Describe(d.range.begin), d.message, kind);
  }
  return {};
}

TuneBuildRow RowOf(const PtxasReport& report) {
  TuneBuildRow row;
  for (const KernelReport& kernel : report.kernels) {
    row.registers = std::max(row.registers, kernel.registers);
    row.spill_bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
  }
  for (const Complaint& complaint : report.complaints) {
    if (row.complaint.empty() || (row.only_spills && !complaint.spill)) {
      row.complaint = fmt::format("kernel `{}` {}", complaint.kernel, complaint.what);
    }
    row.only_spills = row.only_spills && complaint.spill;
  }
  return row;
}

// Of what all programs of a run share and neither their texts nor the call shows: the runtime's
// headers, most of which only generated text includes; the simulator, which is linked; and the
// compiler's version, as another one may be installed at the same path.
std::string HashOfSurroundings(const TuneBuildInput& input) {
  std::vector<std::string> command = input.tool.command;
  command.push_back("--version");
  const ToolResult version = RunTool(command);
  // The folder beside it may hold other packages' headers.
  const std::string headers = HashOfFolder(input.installation.include_dir + "/choreo");
  const bool simulated = input.options.target_or_default() == Target::Sim;
  const FileText simulator = simulated ? ReadFile(input.installation.sim_library) : FileText();
  return HashOfParts({version.output, headers, simulator.text});
}

class Builder {
 public:
  Builder(const TuneBuildInput& input, TuneRows& rows, const Interruption& interruption,
          size_t count)
      : input_(input),
        surroundings_hash_(HashOfSurroundings(input)),
        rows_(rows),
        interruption_(interruption),
        progress_(count, input.progress) {}

  TuneProgram Build(const TuneCandidate& candidate) {
    TuneProgram program;
    program.label = candidate.Label();
    Options options = input_.options;
    for (std::string& define : candidate.Defines()) options.defines.push_back(std::move(define));
    const Compilation compilation = Compile(options.file, input_.text, ToCompileOptions(options));
    bool known = false;
    if (!compilation.ok()) {
      program.refused = FirstError(compilation);
    } else {
      known = Native(candidate, compilation.output, program);
    }
    if (interruption_.Asked() && program.binary.empty()) {
      program.refused.clear();
    } else {
      progress_.Step(Said(program, known), known);
    }
    return program;
  }

 private:
  std::string Said(const TuneProgram& program, bool known) const {
    if (!program.refused.empty()) {
      return fmt::format("{}: not measured: {}", program.label, program.refused);
    }
    std::string what = known ? "built before" : "built";
    if (program.reported) {
      what += fmt::format(", {} registers, {} bytes spilled", program.report.registers,
                          program.report.spill_bytes);
    }
    return fmt::format("{}: {}", program.label, what);
  }

  NativeJob JobOf(std::string source, std::string product) const {
    NativeJob job;
    job.target = input_.options.target_or_default();
    job.file = input_.options.file;
    job.include_dirs = input_.options.include_dirs;
    job.source = std::move(source);
    job.product = std::move(product);
    return job;
  }

  // Whether an earlier run had it.
  bool Native(const TuneCandidate& candidate, const std::string& text, TuneProgram& program) {
    program.key =
        HashOfParts({text, input_.sources_hash, surroundings_hash_,
                     ShellLine(NativeCommand(input_.tool, input_.installation, JobOf("", "")))});
    const std::string name = candidate.defaults ? "defaults" : FileNameOf(program.label);
    const std::string path = fmt::format("{}/{}.{}", input_.folder, name, program.key.substr(0, 8));
    std::error_code error;
    std::optional<TuneBuildRow> row;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      row = rows_.Build(program.key);
    }
    const bool known = row && fs::is_regular_file(path, error);
    if (!known) row = Make(text, path, program);
    if (!row) return false;
    program.report = *row;
    program.reported = input_.options.target_or_default() == Target::Cuda;
    const bool allowed = input_.options.allow_spills && row->only_spills;
    if (row->complaint.empty() || allowed) {
      program.binary = path;
    } else {
      program.refused = row->complaint;
    }
    return known;
  }

  std::optional<TuneBuildRow> Make(const std::string& text, const std::string& path,
                                   TuneProgram& program) {
    const bool cuda = input_.options.target_or_default() == Target::Cuda;
    const TemporaryFolder folder(path);
    const std::string stem = fs::path(input_.options.file).stem().string();
    const std::string source = folder.File(stem + (cuda ? ".cu" : ".cpp"));
    const auto failure = folder.ok() ? WriteFileAtomically(source, text) : folder.error();
    if (failure) {
      program.refused = fmt::format("cannot write `{}`: {}", source, *failure);
      return std::nullopt;
    }
    const std::string product = folder.File("product");
    const std::vector<std::string> command =
        NativeCommand(input_.tool, input_.installation, JobOf(source, product));
    const ToolResult result = RunTool(command);
    // A log that cannot be written is no reason not to measure.
    static_cast<void>(
        WriteFileAtomically(path + ".log", ShellLine(command) + "\n" + result.output));
    const std::string tool = fs::path(input_.tool.command[0]).filename().string();
    const PtxasReport report = cuda ? ReadPtxasReport(result.output) : PtxasReport();
    if (!result.problem.empty()) {
      program.refused = fmt::format("{} could not be started: {}", tool, result.problem);
    } else if (result.status != 0) {
      const std::string line = TellingLine(cuda ? report.other : result.output);
      program.refused = line.empty()
                            ? fmt::format("{} failed with exit status {}", tool, result.status)
                            : fmt::format("{}: {}", tool, line);
    } else {
      std::error_code error;
      fs::rename(product, path, error);
      if (error) program.refused = fmt::format("cannot write `{}`: {}", path, error.message());
    }
    if (!program.refused.empty()) return std::nullopt;
    TuneBuildRow row = RowOf(report);
    const std::lock_guard<std::mutex> lock(mutex_);
    rows_.AddBuild(program.key, program.label, row);
    return row;
  }

  const TuneBuildInput& input_;
  const std::string surroundings_hash_;
  TuneRows& rows_;
  const Interruption& interruption_;
  TuneProgress progress_;
  std::mutex mutex_;  // of rows_
};

}  // namespace

std::string FileNameOf(const std::string& label) {
  constexpr size_t kLongest = 120;
  std::string name;
  for (const char c : label.substr(0, kLongest)) {
    const bool plain = IsWordCharacter(c) || c == '.' || c == '+';
    name += plain ? c : c == ' ' ? ',' : '-';
  }
  return name;
}

std::vector<TuneProgram> BuildCandidates(const TuneBuildInput& input,
                                         const std::vector<TuneCandidate>& candidates,
                                         TuneRows& rows, const Interruption& interruption) {
  std::vector<TuneProgram> programs(candidates.size());
  Builder builder(input, rows, interruption, candidates.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next++) < candidates.size();) {
      programs[i].label = candidates[i].Label();
      if (!interruption.Asked()) programs[i] = builder.Build(candidates[i]);
    }
  };
  const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t jobs = input.options.jobs == 0 ? processors : input.options.jobs;
  std::vector<std::future<void>> workers;
  for (uint64_t i = 0; i < std::min<uint64_t>(jobs, candidates.size()); ++i) {
    workers.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& worker : workers) worker.get();
  return programs;
}

}  // namespace choreo::driver
