#include "support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace choreo {
namespace {

// Closes a file descriptor when the scope is left.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The permissions that a newly created file gets.
mode_t NewFileMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

FileText ReadFile(const std::string& path, size_t max_bytes) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat info{};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) return {{}, std::strerror(errno)};
  if (S_ISDIR(info.st_mode)) return {{}, std::strerror(EISDIR)};

  constexpr size_t kChunk = 1 << 16;
  FileText result;
  size_t capacity = std::min(max_bytes, static_cast<size_t>(info.st_size) + 1);
  size_t used = 0;
  while (used < max_bytes) {
    if (used == capacity) capacity = std::min(max_bytes, capacity * 2);
    const size_t room = std::min(max_bytes - used, std::max(capacity - used, kChunk));
    result.text.resize(used + room);
    const ssize_t n = ::read(file.fd, result.text.data() + used, room);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return {{}, std::strerror(errno)};
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  result.text.resize(used);
  return result;
}

std::optional<std::string> WriteFileAtomically(const std::string& path, std::string_view text) {
  struct stat info{};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe: there is nothing to replace
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (file.fd < 0 || !WriteAll(file.fd, text)) return std::strerror(errno);
    return std::nullopt;
  }
  // A symbolic link stays one: the file it names is replaced.
  std::string target = path;
  if (char* resolved = exists ? ::realpath(path.c_str(), nullptr) : nullptr) {
    target = resolved;
    std::free(resolved);
  }
  std::string temporary = target + ".XXXXXX";
  const Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return std::strerror(errno);
  const mode_t mode = exists ? info.st_mode & 07777 : NewFileMode();
  if (!WriteAll(file.fd, text) || ::fchmod(file.fd, mode) != 0 ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    std::string error = std::strerror(errno);
    ::unlink(temporary.c_str());
    return error;
  }
  return std::nullopt;
}

}  // namespace choreo
