// PrintSim: the whole `.cpp` file for the simulator.
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "codegen/names.h"
#include "codegen/print_kernel.h"
#include "codegen/program.h"
#include "ir/printer.h"

namespace choreo::codegen {
namespace {

constexpr std::string_view kModuleName = "kLoweredIr";

// The text as a raw literal, in pieces that every compiler takes, with a delimiter it does not
// contain.
void PrintModuleText(const std::string& ir, TextWriter& out) {
  constexpr size_t kPiece = 16000;
  std::string delimiter = "ir";
  while (ir.find(fmt::format("){}\"", delimiter)) != std::string::npos) delimiter += "_";
  out.Line("// The kernels as lowered IR, which the simulator executes.");
  out.Line("namespace choreo_gen {");
  out.Line("namespace {");
  out.Raw(fmt::format("constexpr char {}[] =", kModuleName));
  for (size_t at = 0; at < ir.size();) {
    size_t end = ir.size();
    if (end - at > kPiece) end = ir.rfind('\n', at + kPiece) + 1;
    if (end <= at) end = std::min(ir.size(), at + kPiece);
    out.Raw(fmt::format("R\"{0}({1}){0}\"{2}", delimiter, std::string_view(ir).substr(at, end - at),
                        end == ir.size() ? ";" : ""));
    at = end;
  }
  out.Line("}  // namespace");
  out.Line("}  // namespace choreo_gen");
}

void PrintLauncher(const Program& program, const ir::Kernel& kernel,
                   const std::unordered_set<std::string>& reserved, TextWriter& out) {
  Names names(kernel, reserved);
  names.Define(kernel.name);  // which the body calls
  const HostParams params = MakeHostParams(kernel, names);
  std::string arguments;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const bool half_scalar = !kernel.params[i].shaped && IsHalf(kernel.params[i].elem);
    arguments += half_scalar ? fmt::format(", static_cast<float>({})", params.names[i])
                             : fmt::format(", {}", params.names[i]);
  }
  out.Line(fmt::format("// ---- {}, line {} of {}", kernel.name, kernel.loc.line,
                       program.module.source_name));
  out.Open(fmt::format("void {}({})", kernel.name, params.declaration));
  out.Line(fmt::format("(void){};  // the simulator is done when it returns", params.stream));
  out.Line(fmt::format("choreo::sim::Launch(choreo_gen::{}, {}{});", kModuleName,
                       CppString(kernel.name), arguments));
  out.Close();
  out.Blank();
  out.Open(fmt::format("choreo::status {}_noexcept({}) noexcept", kernel.name, params.declaration));
  out.Line(fmt::format("return choreo::host::to_status([&] {{ {}({}{}{}); }});", kernel.name,
                       fmt::join(params.names, ", "), params.names.empty() ? "" : ", ",
                       params.stream));
  out.Close();
  out.Line(fmt::format("// ---- end of {}", kernel.name));
}

}  // namespace

std::string PrintSim(const Program& given) {
  const Program program = Completed(given, ".cpp");
  const std::unordered_set<std::string> reserved = ReservedNames(program);
  TextWriter out;
  PrintBanner(program, out);
  out.Raw(
      "#ifndef CHOREO_TARGET_SIM\n"
      "#define CHOREO_TARGET_SIM 1\n"
      "#endif\n"
      "#include \"choreo/runtime.h\"\n"
      "\n"
      "#include \"choreo/host/sim_launch.h\"");
  PrintDefines(program, out);
  out.Blank();
  PrintModuleText(ir::Print(program.module), out);
  PrintSegments(program, out,
                [&](const ir::Kernel& kernel) { PrintLauncher(program, kernel, reserved, out); });
  return out.Take();
}

}  // namespace choreo::codegen
