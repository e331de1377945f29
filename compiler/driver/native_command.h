// The call of nvcc or the host compiler that makes a program of generated text. `build` and `tune`
// use it.
#pragma once

#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/toolchain.h"

namespace choreo::driver {

struct NativeJob {
  Target target = Target::Cuda;
  OutputKind kind = OutputKind::Binary;
  std::string file;  // the .co file: its host text finds its own includes as if it were still there
  std::vector<std::string> include_dirs;
  std::string source, product;         // paths of the generated text and of what is made
  std::string dependencies;            // path for -MD; empty: none
  std::vector<std::string> arguments;  // behind all others
};
std::vector<std::string> NativeCommand(const Tool& tool, const Installation& installation,
                                       const NativeJob& job);

}  // namespace choreo::driver
