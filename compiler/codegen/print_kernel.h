// One kernel as CUDA: the `__global__` function, and the host function that launches it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/names.h"
#include "codegen/text.h"
#include "ir/ir.h"

namespace choreo::codegen {

// What the kernel takes, in order; the host function passes the same.
struct KernelArgument {
  enum class Kind : uint8_t { Map, Pointer, Scalar, ErrorWord } kind;
  ir::StorageId storage;  // Pointer
  ir::VarId var;          // Scalar
  int32_t map = 0;        // Map: into the host part's maps
};
// Only what the body uses: tensor maps, pointers and strides in the order of the parameters, then
// dimensions and scalars.
std::vector<KernelArgument> KernelArguments(const Program& program, const ir::Kernel& kernel);

// Of the pointer's parameter.
const ir::Param& ParamOf(const ir::Kernel& kernel, ir::StorageId storage);
// "Q_map", "Q_map_2": what a tensor map is called, if the name is free; `what`: "map".
std::string MapName(const ir::Kernel& kernel, int32_t map, std::string_view what);
std::string KernelFunctionName(const ir::Kernel& kernel);

// Returns what the host says to the error codes: the kernel's messages, then one a bounded wait.
std::vector<ir::ErrorMessage> PrintKernelFunction(const Program& program, const ir::Kernel& kernel,
                                                  const std::unordered_set<std::string>& reserved,
                                                  TextWriter& out);
void PrintHostFunction(const Program& program, const ir::Kernel& kernel,
                       const std::vector<ir::ErrorMessage>& errors,
                       const std::unordered_set<std::string>& reserved, TextWriter& out);

// "choreo::view<const choreo::bf16, 4> Q, int n, choreo::Stream stream = {}" and the names in it.
struct HostParams {
  std::string declaration;         // with the default of the stream
  std::vector<std::string> names;  // one a parameter
  std::string stream;
};
HostParams MakeHostParams(const ir::Kernel& kernel, Names& names);

}  // namespace choreo::codegen
