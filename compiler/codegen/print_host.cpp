// The host function of a kernel: checks the arguments, evaluates the host part, launches.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "codegen/cpp_types.h"
#include "codegen/print_expr.h"
#include "codegen/print_kernel.h"
#include "ir/builder.h"

namespace choreo::codegen {
namespace {

class HostPrinter {
 public:
  HostPrinter(const Program& program, const ir::Kernel& kernel,
              const std::vector<ir::ErrorMessage>& messages,
              const std::unordered_set<std::string>& reserved, TextWriter& out)
      : program_(program),
        kernel_(kernel),
        messages_(messages),
        arguments_(KernelArguments(program, kernel)),
        names_(kernel, reserved),
        exprs_(kernel, names_, nullptr),
        out_(out) {}

  void Print() {
    names_.Define("host");
    names_.Define(kernel_.name);  // which the body calls
    params_ = MakeHostParams(kernel_, names_);
    out_.Open(fmt::format("void {}({})", kernel_.name, params_.declaration));
    out_.Line("namespace host = choreo::host;");
    function_ = names_.Define("function");
    out_.Line(fmt::format("constexpr const char* {} = {};", function_, CppString(kernel_.name)));
    Describe();
    CheckShapes();
    CheckOverlaps();
    PlanChecks(false);
    HostBody();
    EmptyProblem();
    Launch();
    out_.Close();
    PrintNoexcept();
  }

 private:
  const std::string& Name(size_t param) const { return params_.names[param]; }
  std::string View(size_t param) const {
    return device_views_[param].empty() ? Name(param) : device_views_[param];
  }
  const ir::Storage& StorageOf(size_t param) const {
    return kernel_.storages[kernel_.params[param].storage];
  }
  bool IsShaped(size_t param) const { return kernel_.params[param].shaped; }

  void Describe();
  void CheckShapes();
  void CheckExtent(size_t param, size_t axis);
  void CheckOverlaps();
  // What vector accesses need; `staged`: of the device copies of host-memory parameters.
  void PlanChecks(bool staged);
  void HostBody();
  void EmptyProblem();
  void Launch();
  // Device copies of host-memory parameters; gives those to copy back.
  std::vector<std::string> Stage();
  void DefineStrides();
  bool IsMapped(size_t param) const;  // some tensor map describes it
  void MakeMaps();
  void MakeErrors();
  void PrintNoexcept();
  std::string Argument(const KernelArgument& argument) const;

  const Program& program_;
  const ir::Kernel& kernel_;
  const std::vector<ir::ErrorMessage>& messages_;  // one an error code
  const std::vector<KernelArgument> arguments_;
  Names names_;
  ExprPrinter exprs_;
  TextWriter& out_;
  HostParams params_;
  std::string function_;
  std::vector<std::string> tensors_;       // one a parameter; empty for scalars
  std::vector<std::string> device_views_;  // one a parameter; empty for what is used in place
  std::unordered_map<ir::VarId, std::pair<size_t, size_t>> bound_;  // dimension -> parameter, axis
  std::array<std::string, 3> grid_ = {"1", "1", "1"};
  std::string launch_;
  std::vector<std::string> maps_;  // one a tensor map: the expression that makes it
  std::string errors_, error_word_;
};

void HostPrinter::Describe() {
  tensors_.resize(kernel_.params.size());
  device_views_.resize(kernel_.params.size());
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i)) continue;
    tensors_[i] = names_.Define(Name(i) + "_tensor");
    out_.Line(fmt::format("const host::Tensor {} = host::describe({}, {}, {}, {});", tensors_[i],
                          function_, CppString(kernel_.params[i].name), Name(i),
                          kernel_.params[i].written));
  }
}

void HostPrinter::CheckExtent(size_t param, size_t axis) {
  const ir::ExprId dim = StorageOf(param).dims[axis];
  if (const auto value = ir::AsInt(kernel_, dim)) {
    out_.Line(
        fmt::format("host::check_extent_constant({}, {}, {});", tensors_[param], axis, *value));
    return;
  }
  const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[dim].node);
  CHOREO_CHECK(ref != nullptr, "an extent of `{}` is neither constant nor a name",
               kernel_.params[param].name);
  const ir::Var& var = kernel_.vars[ref->var];
  if (var.kind != ir::VarKind::Dim) {
    out_.Line(fmt::format("host::check_extent_value({}, {}, {}, {});", tensors_[param], axis,
                          CppString(var.name), names_.Of(ref->var)));
    return;
  }
  if (const auto by = bound_.find(ref->var); by != bound_.end()) {
    out_.Line(fmt::format("host::check_extent_bound({}, {}, {}, {}, {});", tensors_[param], axis,
                          CppString(var.name), tensors_[by->second.first], by->second.second));
    return;
  }
  bound_[ref->var] = {param, axis};
  out_.Line(fmt::format("const {0} {1} = static_cast<{0}>({2}.extent[{3}]);", DeviceType(var.type),
                        names_.Define(ref->var), Name(param), axis));
}

void HostPrinter::CheckShapes() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i)) continue;
    out_.Line(fmt::format("host::check_extent_range({});", tensors_[i]));
    for (size_t axis = 0; axis < StorageOf(i).dims.size(); ++axis) CheckExtent(i, axis);
    out_.Line(fmt::format("host::check_innermost_stride({});", tensors_[i]));
    out_.Line(fmt::format("host::check_data({});", tensors_[i]));
    if (kernel_.params[i].written) {
      out_.Line(fmt::format("host::check_distinct_elements({});", tensors_[i]));
    }
  }
}

void HostPrinter::CheckOverlaps() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i) || !kernel_.params[i].written) continue;
    for (size_t j = 0; j < kernel_.params.size(); ++j) {
      if (j == i || !IsShaped(j) || (j < i && kernel_.params[j].written)) continue;
      out_.Line(fmt::format("host::check_no_overlap({}, {});", tensors_[i], tensors_[j]));
    }
  }
}

void HostPrinter::PlanChecks(bool staged) {
  using Kind = ir::HostCheck::Kind;
  for (const ir::HostCheck& check : kernel_.host.checks) {
    const auto param = static_cast<size_t>(check.param);
    if (kernel_.params[param].host_memory != staged) continue;
    switch (check.kind) {
      case Kind::BaseAlignment:
        out_.Line(fmt::format("host::check_base_alignment({}, {});", tensors_[param], check.value));
        break;
      case Kind::ExtentMultiple:
        out_.Line(fmt::format("host::check_extent_multiple({}, {}, {});", tensors_[param],
                              check.axis, check.value));
        break;
      case Kind::StrideMultiple:
        out_.Line(fmt::format("host::check_stride_multiple({}, {}, {});", tensors_[param],
                              check.axis, check.value));
        break;
      case Kind::Contiguous:
        out_.Line(fmt::format("host::check_contiguous({});", tensors_[param]));
    }
  }
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (IsMapped(i) && kernel_.params[i].host_memory == staged) {
      out_.Line(fmt::format("host::check_tensor_map({});", tensors_[i]));
    }
  }
}

bool HostPrinter::IsMapped(size_t param) const {
  for (const KernelArgument& argument : arguments_) {
    if (argument.kind == KernelArgument::Kind::Map &&
        kernel_.host.maps[static_cast<size_t>(argument.map)].param == static_cast<int>(param)) {
      return true;
    }
  }
  return false;
}

void HostPrinter::HostBody() {
  for (const ir::Op& op : kernel_.host.body.ops) {
    if (const auto* let = std::get_if<ir::Let>(&op.node)) {
      const std::string value = exprs_.Print(let->value);
      out_.Line(fmt::format("const {} {} = {};", DeviceType(kernel_.vars[let->var].type),
                            names_.Define(let->var), value));
    } else {
      const auto& assert = std::get<ir::Assert>(op.node);
      out_.Line(fmt::format("host::check_assert({}, {}, {}, {}, {});",
                            exprs_.Print(assert.condition), function_, CppString(assert.message),
                            CppString(program_.module.source_name), op.loc.line));
    }
  }
}

// Nothing to compute, or nobody to see it: no device is needed.
void HostPrinter::EmptyProblem() {
  std::string empty;
  bool written = false;
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i) || !kernel_.params[i].written) continue;
    empty += fmt::format("{}host::is_empty({})", written ? " && " : "", tensors_[i]);
    written = true;
  }
  if (written) out_.Line(fmt::format("if ({}) return;", empty));
  constexpr char kAxes[] = {'x', 'y', 'z'};
  std::string no_blocks;
  for (size_t axis = 0; axis < 3; ++axis) {
    const ir::ExprId extent = kernel_.host.grid[axis];
    if (!extent) continue;
    const std::string value = exprs_.Print(extent);
    grid_[axis] = names_.Define(fmt::format("grid_{}", kAxes[axis]));
    out_.Line(fmt::format("const int64_t {} = {};", grid_[axis], value));
    no_blocks += fmt::format("{}{} <= 0", no_blocks.empty() ? "" : " || ", grid_[axis]);
  }
  if (!no_blocks.empty()) out_.Line(fmt::format("if ({}) return;", no_blocks));
  if (kernel_.host.cluster > 1) {
    out_.Line(
        fmt::format("host::check_cluster({}, {}, {});", function_, grid_[0], kernel_.host.cluster));
  }
}

void HostPrinter::DefineStrides() {
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i)) continue;
    const auto& strides = StorageOf(i).strides;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      const auto* ref = std::get_if<ir::VarRef>(&kernel_.exprs[strides[axis]].node);
      if (ref == nullptr) continue;
      bool used = false;
      for (const KernelArgument& argument : arguments_) used |= argument.var == ref->var;
      if (!used) continue;
      out_.Line(
          fmt::format("const int64_t {} = {}.stride[{}];", names_.Define(ref->var), View(i), axis));
    }
  }
}

std::string HostPrinter::Argument(const KernelArgument& argument) const {
  switch (argument.kind) {
    case KernelArgument::Kind::Map:
      return maps_[static_cast<size_t>(argument.map)];
    case KernelArgument::Kind::Pointer: {
      const auto index = static_cast<size_t>(kernel_.storages[argument.storage].param_index);
      const ir::Param& param = kernel_.params[index];
      if (!IsHalf(param.elem)) return View(index) + ".data";
      return fmt::format("reinterpret_cast<{}{}*>({}.data)", param.written ? "" : "const ",
                         DeviceType(param.elem), View(index));
    }
    case KernelArgument::Kind::Scalar: {
      const ir::Var& var = kernel_.vars[argument.var];
      if (!IsHalf(var.type)) return names_.Of(argument.var);
      return fmt::format("reinterpret_cast<const {}&>({})", DeviceType(var.type),
                         names_.Of(argument.var));
    }
    case KernelArgument::Kind::ErrorWord:
      return error_word_;
  }
  CHOREO_UNREACHABLE();
}

std::vector<std::string> HostPrinter::Stage() {
  std::vector<std::string> written_back;
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    const ir::Param& param = kernel_.params[i];
    if (!param.shaped || !param.host_memory) continue;
    const std::string staged = names_.Define(Name(i) + "_staged");
    out_.Line(fmt::format("host::Staged {}({}, {});", staged, Name(i), params_.stream));
    device_views_[i] = names_.Define(Name(i) + "_device");
    out_.Line(fmt::format("const auto {} = {}.device();", device_views_[i], staged));
    const std::string tensor = names_.Define(device_views_[i] + "_tensor");
    bool described = IsMapped(i);
    for (const ir::HostCheck& check : kernel_.host.checks) {
      described |= check.param == static_cast<int>(i);
    }
    if (described) {
      out_.Line(fmt::format("const host::Tensor {} = host::describe({}, {}, {}, {});", tensor,
                            function_, CppString(param.name), device_views_[i], param.written));
    }
    tensors_[i] = tensor;
    if (param.written) written_back.push_back(staged);
  }
  return written_back;
}

void HostPrinter::MakeMaps() {
  maps_.resize(kernel_.host.maps.size());
  for (const KernelArgument& argument : arguments_) {
    if (argument.kind != KernelArgument::Kind::Map) continue;
    const auto index = static_cast<size_t>(argument.map);
    const ir::TensorMap& map = kernel_.host.maps[index];
    const auto param = static_cast<size_t>(map.param);
    const std::string name = names_.Define(MapName(kernel_, argument.map, "maps"));
    out_.Line(fmt::format("static host::TensorMaps {}({}, {{{}}}, {});", name,
                          MapType(kernel_.params[param].elem), fmt::join(map.box, ", "),
                          map.swizzle));
    maps_[index] = fmt::format("{}.of({}, {}.device())", name, tensors_[param], launch_);
  }
}

void HostPrinter::MakeErrors() {
  if (messages_.empty()) return;
  const std::string table = names_.Define("checks");
  out_.Line(fmt::format("static constexpr host::CheckInfo {}[] = {{", table));
  out_.Indent();
  for (size_t i = 0; i < messages_.size(); ++i) {
    const bool is_wait = i >= kernel_.errors.size();
    out_.Line(fmt::format("{{{}, {}{}}},", CppString(messages_[i].text),
                          CppString(program_.module.source_name),
                          is_wait ? ", /*is_wait=*/true" : ""));
  }
  out_.Close("};");
  errors_ = names_.Define("errors");
  out_.Line(fmt::format("const host::ErrorSlot {}({}, {}, {}, {});", errors_, function_,
                        params_.stream, table, messages_.size()));
  error_word_ = errors_ + ".device()";
}

void HostPrinter::Launch() {
  const ir::HostPart& host = kernel_.host;
  std::string global;
  for (size_t i = 0; i < kernel_.params.size(); ++i) {
    if (!IsShaped(i) || kernel_.params[i].host_memory) continue;
    global += fmt::format("{}{}", global.empty() ? "" : ", ", tensors_[i]);
  }
  launch_ = names_.Define("launch");
  out_.Line(
      fmt::format("host::Launch {}({}, {}, {{{}}});", launch_, function_, params_.stream, global));
  const std::vector<std::string> written_back = Stage();
  PlanChecks(true);
  DefineStrides();
  MakeMaps();
  MakeErrors();

  const std::string cache = names_.Define("cache");
  out_.Line(fmt::format("static host::KernelCache {};", cache));
  const std::string geometry = fmt::format("{}", fmt::join(grid_, ", "));
  std::string arguments;
  for (const KernelArgument& argument : arguments_) {
    arguments += ", " + Argument(argument);
  }
  out_.Line(fmt::format("{}.run({}, {{{}, {}, {}}}, choreo_gen::{}{});", launch_, cache, geometry,
                        host.threads, host.shared_bytes, KernelFunctionName(kernel_), arguments));
  const bool wait = !host.async || !written_back.empty();
  if (wait) out_.Line(fmt::format("{}.wait({});", launch_, errors_));
  if (!wait && !errors_.empty()) out_.Line(fmt::format("{}.defer();", errors_));
  for (const std::string& staged : written_back) out_.Line(fmt::format("{}.copy_back();", staged));
}

void HostPrinter::PrintNoexcept() {
  out_.Blank();
  out_.Line("// The same, with errors as a status.");
  out_.Open(
      fmt::format("choreo::status {}_noexcept({}) noexcept", kernel_.name, params_.declaration));
  out_.Line(fmt::format("return choreo::host::to_status([&] {{ {}({}{}{}); }});", kernel_.name,
                        fmt::join(params_.names, ", "), params_.names.empty() ? "" : ", ",
                        params_.stream));
  out_.Close();
}

}  // namespace

HostParams MakeHostParams(const ir::Kernel& kernel, Names& names) {
  HostParams params;
  for (const ir::Param& param : kernel.params) {
    std::string type(HostType(param.elem));
    if (param.shaped) {
      params.names.push_back(names.Define(param.name));
      type = fmt::format("choreo::view<{}{}, {}>", param.written ? "" : "const ", type,
                         kernel.storages[param.storage].dims.size());
    } else {
      params.names.push_back(names.Define(param.var));
    }
    params.declaration += fmt::format("{} {}, ", type, params.names.back());
  }
  params.stream = names.Define("stream");
  params.declaration += fmt::format("choreo::Stream {} = {{}}", params.stream);
  return params;
}

void PrintHostFunction(const Program& program, const ir::Kernel& kernel,
                       const std::vector<ir::ErrorMessage>& errors,
                       const std::unordered_set<std::string>& reserved, TextWriter& out) {
  HostPrinter(program, kernel, errors, reserved, out).Print();
}

}  // namespace choreo::codegen
