#include "driver/toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool IsProgram(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    if (end != 0 && !text.empty()) parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> FindInPath(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return IsProgram(name) ? std::optional(name) : std::nullopt;
  }
  for (const std::string& folder : Split(Environment("PATH"), ':')) {
    std::string path = folder + "/" + name;
    if (IsProgram(path)) return path;
  }
  return std::nullopt;
}

bool NeedsNoQuotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_=+./:,@%").find(c) != std::string_view::npos;
}

}  // namespace

Tool FindNvcc() {
  if (const std::string chosen = Environment("CHOREO_NVCC"); !chosen.empty()) {
    if (const auto path = FindInPath(chosen)) return {{*path}, {}};
    return {{}, fmt::format("`CHOREO_NVCC` is `{}`, which is no program", chosen)};
  }
  if (const std::string cuda = Environment("CUDA_HOME"); !cuda.empty()) {
    if (IsProgram(cuda + "/bin/nvcc")) return {{cuda + "/bin/nvcc"}, {}};
  }
  if (const auto path = FindInPath("nvcc")) return {{*path}, {}};
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  if (IsProgram(usual)) return {{usual}, {}};
  return {{}, "install the CUDA toolkit, or set `CHOREO_NVCC` or `CUDA_HOME`"};
}

Tool FindHostCompiler() {
  if (const std::string chosen = Environment("CXX"); !chosen.empty()) {
    std::vector<std::string> command = Split(chosen, ' ');
    const auto path = command.empty() ? std::nullopt : FindInPath(command[0]);
    if (!path) return {{}, fmt::format("`CXX` is `{}`, which is no program", chosen)};
    command[0] = *path;
    return {command, {}};
  }
  for (const char* name : {"g++", "c++"}) {
    if (const auto path = FindInPath(name)) return {{*path}, {}};
  }
  return {{}, "install g++ 12 or newer, or set `CXX`"};
}

Installation FindInstallation() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = executable.parent_path().parent_path();
  return {(prefix / "include").string(),
          (prefix / "lib" / "croqtile" / "libchoreo_simulator.a").string()};
}

std::vector<std::string> SimulatorLinkArguments() { return Split(CROQTILE_SIM_LINK_LIBS, ' '); }

std::string ShellLine(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& argument : command) {
    if (!line.empty()) line += ' ';
    bool plain = !argument.empty();
    for (const char c : argument) plain = plain && NeedsNoQuotes(c);
    if (plain) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

ToolResult RunTool(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {0, {}, std::strerror(errno)};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);

  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));  // posix_spawn does not write them
  }
  arguments.push_back(nullptr);
  // What choreo ignores, the tool need not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return {0, {}, std::strerror(failed)};
  }

  ToolResult result;
  char buffer[1 << 14];
  while (true) {
    const ssize_t n = ::read(ends[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    result.output.append(buffer, static_cast<size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

TemporaryFolder::TemporaryFolder(const std::string& beside) {
  const fs::path parent = fs::path(beside).parent_path();
  std::string path = ((parent.empty() ? fs::path(".") : parent) / ".choreo-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    error_ = std::strerror(errno);
  } else {
    path_ = path;
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace choreo::driver
