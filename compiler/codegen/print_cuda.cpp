// PrintCuda: the whole `.cu` file.
#include <fmt/format.h>

#include <set>

#include "codegen/codegen.h"
#include "codegen/print_kernel.h"
#include "codegen/program.h"
#include "ir/walk.h"

namespace choreo::codegen {
namespace {

// Headers for the WGMMA shapes that the module issues: each is long.
void PrintIncludes(const ir::Module& module, TextWriter& out) {
  std::set<int> widths;
  bool maps = false;
  for (const ir::Kernel& kernel : module.kernels) {
    maps |= !kernel.host.maps.empty();
    ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
      if (const auto* mma = std::get_if<ir::Wgmma>(&op.node)) widths.insert(mma->n);
    });
  }
  out.Raw(
      "#include \"choreo/runtime.h\"\n"
      "\n"
      "#include \"choreo/arithmetic.h\"\n"
      "#include \"choreo/device.h\"\n"
      "#include \"choreo/host/launch.h\"");
  if (maps) out.Raw("#include \"choreo/host/tensor_map.h\"");
  for (const int n : widths) {
    out.Raw(fmt::format("#include \"choreo/ptx/wgmma/m64n{}k16.h\"", n));
  }
}

void PrintKernel(const Program& program, const ir::Kernel& kernel,
                 const std::unordered_set<std::string>& reserved, TextWriter& out) {
  out.Line(fmt::format("// ---- {}, line {} of {}", kernel.name, kernel.loc.line,
                       program.module.source_name));
  out.Line("namespace choreo_gen {");
  out.Line("namespace {");
  out.Blank();
  const std::vector<ir::ErrorMessage> errors = PrintKernelFunction(program, kernel, reserved, out);
  if (program.line_directives == LineDirectives::Source) {
    out.Raw(fmt::format("#line {} \"{}\"", out.line() + 1, program.output_name));
  }
  out.Blank();
  out.Line("}  // namespace");
  out.Line("}  // namespace choreo_gen");
  out.Blank();
  PrintHostFunction(program, kernel, errors, reserved, out);
  out.Line(fmt::format("// ---- end of {}", kernel.name));
}

}  // namespace

std::string PrintCuda(const Program& given) {
  const Program program = Completed(given, ".cu");
  const std::unordered_set<std::string> reserved = ReservedNames(program);
  TextWriter out;
  PrintBanner(program, out);
  PrintIncludes(program.module, out);
  PrintDefines(program, out);
  PrintSegments(program, out,
                [&](const ir::Kernel& kernel) { PrintKernel(program, kernel, reserved, out); });
  return out.Take();
}

}  // namespace choreo::codegen
