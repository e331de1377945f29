#include "driver/toolchain.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
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
  for (const std::string& folder : Split(Variable("PATH"), ':')) {
    std::string path = folder + "/" + name;
    if (IsProgram(path)) return path;
  }
  return std::nullopt;
}

bool NeedsNoQuotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_=+./:,@%").find(c) != std::string_view::npos;
}

// This process's environment with `changes` over it.
std::vector<std::string> Environment(const std::vector<std::string>& changes) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const auto replaces = [&](const std::string& change) {
      return text.starts_with(change.substr(0, change.find('=') + 1));
    };
    if (std::none_of(changes.begin(), changes.end(), replaces)) variables.emplace_back(text);
  }
  variables.insert(variables.end(), changes.begin(), changes.end());
  return variables;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));  // posix_spawn does not write them
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Starts the command with both output streams at `output`; errno's value if it cannot be.
int Spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment,
          int output, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  // What choreo ignores or holds back, the tool need not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  const std::vector<char*> arguments = Pointers(command), variables = Pointers(environment);
  const int failed =
      ::posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

// Appends what comes from `file` until its end; false if `seconds` (0: no limit) were over before.
bool ReadUntilEnd(int file, uint64_t seconds, std::string& output) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  char buffer[1 << 14];
  while (true) {
    if (seconds != 0) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) return false;
      pollfd waiting = {file, POLLIN, 0};
      constexpr int64_t kLongest = 1 << 30;
      if (::poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left, kLongest))) <= 0) continue;
    }
    const ssize_t n = ::read(file, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    output.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

Tool FindNvcc() {
  if (const std::string chosen = Variable("CHOREO_NVCC"); !chosen.empty()) {
    if (const auto path = FindInPath(chosen)) return {{*path}, {}};
    return {{}, fmt::format("`CHOREO_NVCC` is `{}`, which is no program", chosen)};
  }
  if (const std::string cuda = Variable("CUDA_HOME"); !cuda.empty()) {
    if (IsProgram(cuda + "/bin/nvcc")) return {{cuda + "/bin/nvcc"}, {}};
  }
  if (const auto path = FindInPath("nvcc")) return {{*path}, {}};
  const std::string usual = "/usr/local/cuda/bin/nvcc";
  if (IsProgram(usual)) return {{usual}, {}};
  return {{}, "install the CUDA toolkit, or set `CHOREO_NVCC` or `CUDA_HOME`"};
}

Tool FindHostCompiler() {
  if (const std::string chosen = Variable("CXX"); !chosen.empty()) {
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

ToolResult RunTool(const std::vector<std::string>& command, const ToolLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {0, {}, std::strerror(errno)};
  pid_t pid = 0;
  const int failed = Spawn(command, Environment(limits.environment), ends[1], pid);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    return {0, {}, std::strerror(failed)};
  }
  ToolResult result;
  result.timed_out = !ReadUntilEnd(ends[0], limits.seconds, result.output);
  ::close(ends[0]);
  if (result.timed_out) ::kill(pid, SIGKILL);
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
