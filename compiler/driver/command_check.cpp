// `choreo check`, `choreo run` and `choreo view`: everything `compile` does, then the simulator.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "driver/arguments.h"
#include "driver/commands.h"
#include "driver/execute.h"
#include "driver/session.h"
#include "sim/view.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;
namespace kinds = diag::kinds;

std::string Join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ", ";
    out += fmt::format("`{}`", name);
  }
  return out;
}

std::string Counted(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Check {
 public:
  Check(Session& session, const Options& options, std::vector<ShapeValue> shape)
      : session_(session), options_(options), shape_(std::move(shape)) {}

  void Run() {
    const ir::Module& module = *session_.compilation().lowered;
    if (!Select(module) || !NamesAreKnown(module)) return;
    for (const ir::Kernel* kernel : kernels_) {
      const std::vector<std::string> missing = Missing(module, *kernel);
      // What `--shape` does not reach is left out, unless nothing would be left or it was asked
      // for.
      if (missing.empty()) {
        RunKernel(module, *kernel);
      } else if (any_complete_) {
        summary_ += fmt::format("{}: not executed, `--shape` gives no value for {}\n", kernel->name,
                                Join(missing));
      } else {
        const bool own = !MissingNames(*kernel, shape_).empty();
        const ir::Kernel& of = own ? *kernel : *InputsOf(module, *kernel);
        session_.diags().Emit(kinds::MissingDimension, Place(of), Join(missing), of.name);
      }
    }
    if (options_.verify_diagnostics || options_.command == Command::View) return;
    const int proved = session_.compilation().obligations_proved;
    const int left = session_.compilation().obligations_left;
    if (proved + left > 0) {
      summary_ +=
          fmt::format("{}: {} proved, {} left to the simulator\n",
                      Counted(static_cast<uint64_t>(proved + left), "obligation"), proved, left);
    }
    summary_ += fmt::format("{}, static analysis and {}: {}\n", Counted(executed_, "tile function"),
                            Counted(runs_, "execution"), Counted(findings_, "finding"));
    session_.Write("", summary_);
  }

 private:
  bool Select(const ir::Module& module) {
    std::vector<std::string> names;
    for (const ir::Kernel& kernel : module.kernels) {
      names.push_back(kernel.name);
      // What makes inputs is executed with the kernel that it makes them for.
      const bool selected =
          options_.kernel.empty() ? !MakesInputs(module, kernel) : kernel.name == options_.kernel;
      if (selected) kernels_.push_back(&kernel);
    }
    if (kernels_.empty()) {
      session_.diags().Emit(kinds::UnknownTileFunction, SourceRange(), options_.kernel,
                            Join(names));
      return false;
    }
    any_complete_ = std::any_of(kernels_.begin(), kernels_.end(), [&](const ir::Kernel* kernel) {
      return Missing(module, *kernel).empty();
    });
    return true;
  }

  // Names without a value: of the kernel, then of what makes its inputs.
  std::vector<std::string> Missing(const ir::Module& module, const ir::Kernel& kernel) const {
    std::vector<std::string> missing = MissingNames(kernel, shape_);
    const ir::Kernel* inputs = InputsOf(module, kernel);
    if (inputs == nullptr) return missing;
    const std::vector<ShapeValue> values = Determined(kernel, shape_);
    for (const std::string& name : MissingNames(*inputs, values)) {
      if (std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
    }
    return missing;
  }

  bool NamesAreKnown(const ir::Module& module) {
    std::vector<std::string> known;
    const auto learn = [&](const ir::Kernel& kernel) {
      for (const std::string& name : ShapeNames(kernel)) {
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
      }
    };
    for (const ir::Kernel* kernel : kernels_) {
      learn(*kernel);
      if (const ir::Kernel* inputs = InputsOf(module, *kernel)) learn(*inputs);
    }
    bool ok = true;
    for (const ShapeValue& value : shape_) {
      if (std::find(known.begin(), known.end(), value.name) != known.end()) continue;
      session_.diags().Emit(kinds::UnknownDimension, SourceRange(), value.name,
                            known.empty() ? "none" : Join(known));
      ok = false;
    }
    return ok;
  }

  // The module's .co file, if that is what was compiled.
  FileId File() const {
    return options_.from_or_default() == InputKind::Co ? session_.compilation().file : FileId();
  }

  SourceRange Place(const ir::Kernel& kernel) const {
    const FileId file = File();
    const SourceManager& sources = session_.compilation().sources;
    if (!file.valid() || kernel.loc.line == 0) return {};
    return SourceRange(sources.LocAt(file, kernel.loc.line, kernel.loc.column));
  }

  void RunKernel(const ir::Module& module, const ir::Kernel& kernel) {
    const bool view = options_.command == Command::View;
    sim::Trace trace;
    ExecutionOptions how{view ? 1 : options_.schedules, options_.seed, options_.cta};
    if (view || !options_.trace.empty()) how.trace = &trace;
    how.inputs = InputsOf(module, kernel);
    const auto execution = Execute(module, kernel, shape_, how, session_.compilation().sources,
                                   File(), session_.diags());
    if (!execution) return;
    if (how.trace != nullptr && !Show(kernel, *execution, trace)) return;
    ++executed_;
    runs_ += execution->schedules;
    findings_ += execution->findings;
    summary_ += fmt::format("{}: {}, {}, {}\n", kernel.name, Counted(execution->ctas, "CTA"),
                            Counted(execution->schedules, "schedule"),
                            Counted(execution->findings, "finding"));
    if (options_.command == Command::Run) Results(kernel, *execution);
  }

  // The timeline, as the command wants it. One kernel has one; a second would overwrite it.
  bool Show(const ir::Kernel& kernel, const Execution& execution, const sim::Trace& trace) {
    if (options_.cta >= execution.ctas) {
      session_.diags().Emit(kinds::NoSuchCta, Place(kernel), options_.cta, kernel.name,
                            execution.ctas);
      return false;
    }
    if (shown_) {
      session_.diags().Emit(kinds::SeveralTimelines, Place(kernel), kernel.name);
      return false;
    }
    shown_ = true;
    if (!options_.trace.empty()) {
      session_.Write(options_.trace, sim::WriteTraceJson(trace));
    } else if (options_.output.ends_with(".svg")) {
      session_.Write(options_.output, sim::RenderSvg(trace));
    } else {
      session_.Write(options_.output, sim::RenderText(trace));
    }
    return true;
  }

  void Results(const ir::Kernel& kernel, const Execution& execution) {
    for (size_t i = 0; i < kernel.params.size(); ++i) {
      const ir::Param& param = kernel.params[i];
      if (!param.shaped || !param.written) continue;
      const std::vector<uint8_t>& bytes = execution.arguments[i].bytes;
      summary_ += fmt::format("  {}: {}\n", param.name, Digest(param.elem, bytes));
      if (options_.out_dir.empty()) continue;
      std::error_code error;
      fs::create_directories(options_.out_dir, error);
      const std::string path =
          fmt::format("{}/{}.{}.bin", options_.out_dir, kernel.name, param.name);
      session_.Write(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }

  Session& session_;
  const Options& options_;
  std::vector<ShapeValue> shape_;
  std::vector<const ir::Kernel*> kernels_;
  bool any_complete_ = false;
  bool shown_ = false;
  std::string summary_;
  uint64_t executed_ = 0, runs_ = 0, findings_ = 0;
};

}  // namespace

int RunCheck(const Options& options) {
  std::string problem;
  auto shape = ParseShape(options.shape, problem);
  if (!shape) {
    const Exit exit = UsageError(options.command == Command::Run    ? "run"
                                 : options.command == Command::View ? "view"
                                                                    : "check",
                                 problem);
    fmt::print(stderr, "{}", exit.text);
    return exit.status;
  }
  Session session(options);
  if (session.Compile()) Check(session, options, std::move(*shape)).Run();
  return session.Finish();
}

}  // namespace choreo::driver
