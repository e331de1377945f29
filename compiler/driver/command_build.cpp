// `choreo build`: program text through nvcc or the host compiler, and ptxas's report judged.
// Everything is made in a folder of its own beside the output and renamed at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "driver/commands.h"
#include "driver/native_command.h"
#include "driver/ptxas_report.h"
#include "driver/session.h"
#include "driver/toolchain.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;
namespace kinds = diag::kinds;

OutputKind KindOf(const Options& options) {
  if (options.output_kind) return *options.output_kind;
  const std::string extension = fs::path(options.output).extension().string();
  if (extension == ".cubin") return OutputKind::Cubin;
  if (extension == ".fatbin") return OutputKind::Fatbin;
  return OutputKind::Binary;
}

class Build {
 public:
  Build(Session& session, const Options& options)
      : session_(session),
        options_(options),
        cuda_(options.target_or_default() == Target::Cuda),
        kind_(KindOf(options)),
        output_(options.output) {
    if (output_.empty()) {
      output_ = fs::path(options.file).stem().string();
      if (kind_ == OutputKind::Cubin) output_ += ".cubin";
      if (kind_ == OutputKind::Fatbin) output_ += ".fatbin";
    }
  }

  void Run() {
    const Tool tool = cuda_ ? FindNvcc() : FindHostCompiler();
    if (!tool.ok()) {
      session_.diags().Emit(kinds::ToolNotFound, SourceRange(), cuda_ ? "nvcc" : "a C++ compiler",
                            tool.problem);
      return;
    }
    if (!CheckInstallation() || !CheckOutput()) return;
    const TemporaryFolder folder(output_);
    if (!folder.ok()) {
      session_.diags().Emit(kinds::OutputNotWritable, SourceRange(), output_, folder.error());
      return;
    }
    const std::string extension = cuda_ ? ".cu" : ".cpp";
    source_ = folder.File(fs::path(options_.file).stem().string() + extension);
    product_ = folder.File("product");
    dependencies_ = folder.File("dependencies");
    session_.Write(source_, session_.compilation().output);
    if (options_.keep) session_.Write(output_ + extension, session_.compilation().output);
    if (!session_.ok()) return;

    const std::vector<std::string> command = Command(tool);
    fmt::print("{}\n", ShellLine(command));
    std::fflush(stdout);
    const ToolResult result = RunTool(command);
    if (cuda_) KeepLog(command, result);
    if (!Judge(tool, result)) return;
    Publish(folder);
  }

 private:
  bool CheckInstallation() {
    installation_ = FindInstallation();
    const std::string header = installation_.include_dir + "/choreo/runtime.h";
    std::error_code error;
    if (!fs::exists(header, error)) return Missing("the runtime headers", header);
    if (!cuda_ && !fs::exists(installation_.sim_library, error)) {
      return Missing("the simulator library", installation_.sim_library);
    }
    return true;
  }

  bool Missing(std::string_view what, const std::string& path) {
    session_.diags().Emit(kinds::InstallationIncomplete, SourceRange(), path,
                          fmt::format("{} of this choreo", what));
    return false;
  }

  bool CheckOutput() {
    std::error_code error;
    if (fs::is_directory(output_, error)) {
      session_.diags().Emit(kinds::OutputNotWritable, SourceRange(), output_, "Is a directory");
      return false;
    }
    return session_.MayWrite(output_);
  }

  std::vector<std::string> Command(const Tool& tool) const {
    NativeJob job;
    job.target = options_.target_or_default();
    job.kind = kind_;
    job.file = options_.file;
    job.include_dirs = options_.include_dirs;
    job.source = source_;
    job.product = product_;
    if (options_.write_dependencies) job.dependencies = dependencies_;
    job.arguments = options_.native_args;
    return NativeCommand(tool, installation_, job);
  }

  void KeepLog(const std::vector<std::string>& command, const ToolResult& result) {
    session_.Write(output_ + "-nvcc.log", ShellLine(command) + "\n" + result.output);
  }

  // Whether the product may be used.
  bool Judge(const Tool& tool, const ToolResult& result) {
    const std::string name = fs::path(tool.command[0]).filename().string();
    if (!result.problem.empty()) {
      session_.diags().Emit(kinds::ToolFailed, SourceRange(), tool.command[0],
                            fmt::format("could not be started: {}", result.problem));
      return false;
    }
    const PtxasReport report = cuda_ ? ReadPtxasReport(result.output) : PtxasReport();
    fmt::print(options_.json() ? stdout : stderr, "{}", cuda_ ? report.other : result.output);
    if (result.status != 0) {
      const std::string how = result.status > 128
                                  ? fmt::format("was ended by signal {}", result.status - 128)
                                  : fmt::format("failed with exit status {}", result.status);
      session_.diags().Emit(kinds::ToolFailed, SourceRange(), name, how);
      return false;
    }
    for (const Complaint& complaint : report.complaints) {
      session_.diags().Emit(kinds::PtxasComplaint, SourceRange(), complaint.kernel, complaint.what);
    }
    if (!report.complaints.empty()) return false;
    for (const KernelReport& kernel : report.kernels) {
      fmt::print("{}: {} registers, no stack, no spills\n", kernel.name, kernel.registers);
    }
    return true;
  }

  void Publish(const TemporaryFolder& folder) {
    std::error_code error;
    fs::rename(product_, output_, error);
    if (error) {
      session_.diags().Emit(kinds::OutputNotWritable, SourceRange(), output_, error.message());
      return;
    }
    if (options_.write_dependencies) {
      session_.WriteDependencies(output_, Dependencies(folder));
    }
  }

  // The inputs of both compilers; the generated text is none.
  std::vector<std::string> Dependencies(const TemporaryFolder& folder) const {
    std::vector<std::string> files = session_.Inputs();
    const std::string text = ReadFile(dependencies_).text;
    std::string word;
    const size_t colon = text.find(": ");
    for (size_t i = colon == text.npos ? text.size() : colon + 1; i <= text.size(); ++i) {
      const char c = i < text.size() ? text[i] : '\n';
      if (c == '\\' && i + 1 < text.size() && text[i + 1] != '\n') {
        word += text[++i];  // an escaped blank
      } else if (c == '$' && i + 1 < text.size() && text[i + 1] == '$') {
        word += text[++i];
      } else if (c != ' ' && c != '\n' && c != '\t' && c != '\\') {
        word += c;
      } else if (!word.empty()) {
        const bool own = word.starts_with(folder.path());
        const bool known = std::find(files.begin(), files.end(), word) != files.end();
        if (!own && !known) files.push_back(word);
        word.clear();
      }
    }
    return files;
  }

  Session& session_;
  const Options& options_;
  bool cuda_;
  OutputKind kind_;
  std::string output_;
  Installation installation_;
  std::string source_, product_, dependencies_;
};

}  // namespace

int RunBuild(const Options& options) {
  Session session(options);
  if (session.Compile() && !options.verify_diagnostics) Build(session, options).Run();
  return session.Finish();
}

}  // namespace choreo::driver
