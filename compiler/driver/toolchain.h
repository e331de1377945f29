// The programs and files outside choreo that `build` needs: nvcc, the host compiler, the runtime
// headers and the simulator library. Looks them up and runs programs, without a shell. What is
// missing is a value here and becomes a diagnostic in the command.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace choreo::driver {

struct Tool {
  std::vector<std::string> command;  // the program, perhaps with leading arguments
  std::string problem;               // not empty: there is none, and why
  bool ok() const { return problem.empty(); }
};
Tool FindNvcc();
Tool FindHostCompiler();

// Folders and files of the installation that this executable belongs to.
struct Installation {
  std::string include_dir;  // holds choreo/runtime.h
  std::string sim_library;
};
Installation FindInstallation();

// Link arguments that follow the simulator library.
std::vector<std::string> SimulatorLinkArguments();

struct ToolResult {
  int status = 0;          // exit status; 128 + N: ended by signal N
  std::string output;      // standard output and error streams, as they came
  std::string problem;     // not empty: it could not be started
  bool timed_out = false;  // it was ended after the limit; what it started itself may live on
};
struct ToolLimits {
  uint64_t seconds = 0;                  // 0: as long as it takes
  std::vector<std::string> environment;  // "NAME=TEXT", over what choreo's own says
};
ToolResult RunTool(const std::vector<std::string>& command, const ToolLimits& limits = {});

// The command as a line for a shell.
std::string ShellLine(const std::vector<std::string>& command);

// A folder beside `path`, removed with everything in it when the scope is left.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& beside);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  std::string File(std::string_view name) const { return path_ + "/" + std::string(name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string error_;
};

}  // namespace choreo::driver
