#include "driver/native_command.h"

#include <filesystem>

namespace choreo::driver {

std::vector<std::string> NativeCommand(const Tool& tool, const Installation& installation,
                                       const NativeJob& job) {
  std::vector<std::string> command = tool.command;
  const bool cuda = job.target == Target::Cuda;
  if (cuda) {
    command.insert(command.end(), {"-std=c++20", "-O3", "-gencode", "arch=compute_90a,code=sm_90a",
                                   "-lineinfo", "-Xptxas", "-v"});
    if (job.kind == OutputKind::Cubin) command.push_back("-cubin");
    if (job.kind == OutputKind::Fatbin) command.push_back("-fatbin");
  } else {
    command.insert(command.end(), {"-std=c++20", "-O2"});
  }
  command.push_back("-I" + installation.include_dir);
  const std::string folder = std::filesystem::path(job.file).parent_path().string();
  command.push_back("-I" + (folder.empty() ? std::string(".") : folder));
  for (const std::string& dir : job.include_dirs) command.push_back("-I" + dir);
  if (!job.dependencies.empty()) {
    command.insert(command.end(), {"-MD", "-MF", job.dependencies});
  }
  command.insert(command.end(), {"-o", job.product, job.source});
  command.insert(command.end(), job.arguments.begin(), job.arguments.end());
  if (!cuda) {
    command.push_back(installation.sim_library);
    for (std::string& argument : SimulatorLinkArguments()) command.push_back(std::move(argument));
  }
  return command;
}

}  // namespace choreo::driver
