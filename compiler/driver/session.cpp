#include "driver/session.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "diag/fixit.h"
#include "diag/render.h"
#include "diag/verify.h"
#include "ir/printer.h"
#include "lex/encoding.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;

lex::CommandLineDefine ParseDefine(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, "1"};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string UsageProblem(const Options& options) {
  for (const std::string& name : options.dump_after) {
    if (name == "all") continue;
    bool known = name == "lower";
    for (const PhaseInfo& phase : Phases()) known = known || (phase.is_pass && phase.name == name);
    if (!known) {
      return fmt::format(
          "`--dump-after={}`: there is no such pass; "
          "`choreo compile --print-pipeline` lists them",
          name);
    }
  }
  const std::string problem =
      StopProblem(options.stop_after, options.emit, options.from_or_default());
  return problem.empty() ? std::string()
                         : fmt::format("`--stop-after={}`: {}", options.stop_after, problem);
}

bool UseColor() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
         term != nullptr && std::strcmp(term, "dumb") != 0;
}

// Characters that make gives a meaning to.
std::string MakeName(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == ' ' || c == '#' || c == '\\') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

}  // namespace

CompileOptions ToCompileOptions(const Options& options) {
  CompileOptions out;
  out.target = options.target_or_default();
  out.from = options.from_or_default();
  out.emit = options.emit;
  out.stop_after = options.stop_after;
  out.include_dirs = options.include_dirs;
  out.debug_waits_ms = static_cast<int>(options.debug_waits);
  out.mbarriers_only = options.mbarriers_only;
  for (const std::string& define : options.defines) out.defines.push_back(ParseDefine(define));
  // Only the product stays of what is built: its lines are those of the source.
  if ((options.command == Command::Build && !options.keep) || options.command == Command::Tune) {
    out.line_directives = codegen::LineDirectives::Source;
  }
  // What is executed needs no program text.
  if (options.command == Command::Check || options.command == Command::Run) {
    out.emit = Emit::Lowered;
  }
  if (!options.dump_after.empty()) {
    out.after_pass = [&options](std::string_view name, const ir::Module& module) {
      for (const std::string& wanted : options.dump_after) {
        if (wanted != name && wanted != "all") continue;
        fmt::print(stderr, "// IR after {}\n{}", name, ir::Print(module));
        break;
      }
    };
  }
  return out;
}

void Session::CompileOnce() {
  compilation_ = Compilation();
  // One byte more than may be compiled: the front end says what is wrong with too large a file.
  FileText file = ReadFile(options_.file, lex::kMaxFileBytes + 1);
  if (!file.ok()) {
    diags().Emit(diag::kinds::InputNotReadable, SourceRange(), options_.file, file.error);
    return;
  }
  compilation_ = driver::Compile(options_.file, std::move(file.text), ToCompileOptions(options_));
}

bool Session::Compile() {
  usage_problem_ = UsageProblem(options_);
  if (!usage_problem_.empty()) return false;
  size_t applied = 0, skipped = 0;
  // A fix may reveal another mistake; each round removes at least one, and the bound is far above
  // need.
  for (int round = 0; round < 16; ++round) {
    CompileOnce();
    if (!options_.fix || !compilation_.file.valid()) break;
    const diag::Fixes fixes =
        diag::ApplyFixIts(compilation_.sources, compilation_.diags.diagnostics());
    skipped = fixes.skipped;
    if (fixes.files.empty()) break;
    const std::vector<std::string> failures = diag::WriteFixes(compilation_.sources, fixes);
    for (const std::string& failure : failures) {
      const size_t colon = failure.find(": ");
      diags().Emit(diag::kinds::OutputNotWritable, SourceRange(), failure.substr(0, colon),
                   colon == failure.npos ? "" : failure.substr(colon + 2));
    }
    if (!failures.empty()) break;
    applied += fixes.applied;
  }
  if (options_.fix) PrintFixes(applied, skipped);
  return ok();
}

void Session::PrintFixes(size_t applied, size_t skipped) const {
  if (options_.json()) return;
  fmt::print(stderr, "choreo: note: {} fix-it{} applied{}\n", applied, applied == 1 ? "" : "s",
             skipped == 0 ? "" : fmt::format(", {} left out", skipped));
}

std::vector<std::string> Session::Inputs() const {
  std::vector<std::string> inputs = {options_.file};
  inputs.insert(inputs.end(), compilation_.included.begin(), compilation_.included.end());
  return inputs;
}

bool Session::MayWrite(const std::string& path) {
  for (const std::string& input : Inputs()) {
    std::error_code error;
    if (!fs::equivalent(path, input, error) || error || !fs::is_regular_file(path, error)) continue;
    diags().Emit(diag::kinds::OutputIsInput, SourceRange(), path);
    return false;
  }
  return true;
}

void Session::Write(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
      diags().Emit(diag::kinds::OutputNotWritable, SourceRange(), "<standard output>",
                   std::strerror(errno));
    }
    return;
  }
  if (!MayWrite(path)) return;
  if (const auto error = WriteFileAtomically(path, text)) {
    diags().Emit(diag::kinds::OutputNotWritable, SourceRange(), path, *error);
  }
}

void Session::WriteDependencies(const std::string& output, const std::vector<std::string>& inputs) {
  std::string text = MakeName(output) + ":";
  for (const std::string& input : inputs) text += " \\\n  " + MakeName(input);
  Write(output + ".d", text + "\n");
}

void Session::PrintTimes() const {
  double total = 0;
  for (const PhaseTime& phase : compilation_.times)
    total += static_cast<double>(phase.time.count());
  std::string table;
  for (const PhaseTime& phase : compilation_.times) {
    const double ns = static_cast<double>(phase.time.count());
    table += fmt::format("{:<24} {:>10.3f} ms {:>5.1f} %\n", phase.name, ns * 1e-6,
                         total == 0 ? 0.0 : 100 * ns / total);
  }
  fmt::print(stderr, "{}{:<24} {:>10.3f} ms\n", table, "total", total * 1e-6);
}

int Session::Finish() {
  if (!usage_problem_.empty()) {
    const Exit exit =
        UsageError(options_.command == Command::Compile ? "compile" : "", usage_problem_);
    fmt::print(stderr, "{}", exit.text);
    return exit.status;
  }
  const std::vector<diag::Diagnostic>& list = compilation_.diags.diagnostics();
  int status = compilation_.ok() ? kExitOk : kExitErrors;
  if (options_.verify_diagnostics) {
    const diag::VerifyResult verified = diag::VerifyDiagnostics(compilation_.sources, list);
    fmt::print(stderr, "{}", verified.report);
    status = verified.ok() ? kExitOk : kExitErrors;
  } else if (options_.json()) {
    fmt::print(stderr, "{}\n", diag::RenderJson(compilation_.sources, list));
  } else {
    diag::RenderOptions render;
    render.color = UseColor();
    fmt::print(stderr, "{}", diag::RenderText(compilation_.sources, list, render));
  }
  if (options_.time_passes) PrintTimes();
  return status;
}

}  // namespace choreo::driver
