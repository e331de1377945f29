#include "sim/host.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "choreo/host/map_checks.h"
#include "sim/numeric.h"
#include "support/check.h"

namespace choreo::sim {
namespace {

class Binder {
 public:
  Binder(const ir::Module& module, const ir::Kernel& kernel, const HostProgram& host,
         std::span<const Argument> arguments)
      : module_(module), kernel_(kernel), host_(host), arguments_(arguments) {
    result_.registers = host.program.initial;
    result_.params.resize(kernel.storages.size());
    bound_by_.resize(kernel.vars.size());
    tensors_.resize(kernel.params.size());
  }

  BoundLaunch Bind() {
    CheckCount();
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      if (!kernel_.params[i].shaped) BindScalar(kernel_.params[i], arguments_[i]);
    }
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      if (kernel_.params[i].shaped) BindShaped(i);
    }
    CheckOverlaps();
    CheckPlan();
    Evaluate();
    return std::move(result_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& what) const {
    throw error(status::invalid_argument, kernel_.name + ": " + what);
  }

  void CheckCount() const {
    if (arguments_.size() == kernel_.params.size()) return;
    Refuse(fmt::format("{} arguments, but the tile function has {} parameters", arguments_.size(),
                       kernel_.params.size()));
  }

  void SetInteger(ir::VarId var, int64_t value) {
    const Slot slot = host_.program.VarSlot(var);
    result_.registers.poison[slot] = 0;
    DispatchElem(kernel_.vars[var].type, [&]<Elem E>() {
      using Reg = typename ElemTraits<E>::Reg;
      std::fill_n(result_.registers.At<Reg>(slot), kLanes, static_cast<Reg>(value));
    });
  }

  void BindScalar(const ir::Param& param, const Argument& argument) {
    if (argument.rank >= 0)
      Refuse(fmt::format("argument `{}` is a view, but is a scalar", param.name));
    if (!IsFloat(param.elem)) return SetInteger(param.var, argument.integer);
    const Slot slot = host_.program.VarSlot(param.var);
    result_.registers.poison[slot] = 0;
    if (param.elem == Elem::kF64) {
      std::fill_n(result_.registers.At<double>(slot), kLanes, argument.real);
    } else {
      std::fill_n(result_.registers.At<float>(slot), kLanes, static_cast<float>(argument.real));
    }
  }

  int64_t IntegerOf(ir::VarId var) const {
    const Slot slot = host_.program.VarSlot(var);
    return DispatchElem(kernel_.vars[var].type, [&]<Elem E>() {
      return static_cast<int64_t>(result_.registers.At<typename ElemTraits<E>::Reg>(slot)[0]);
    });
  }

  void BindShaped(size_t index) {
    const ir::Param& param = kernel_.params[index];
    const ir::Storage& storage = kernel_.storages[param.storage];
    const Argument& argument = arguments_[index];
    const auto rank = static_cast<int>(storage.dims.size());
    if (argument.rank != rank || argument.element_bytes != Bytes(storage.elem)) {
      Refuse(fmt::format(
          "argument `{}` is of rank {} with elements of {} bytes, but is declared "
          "of rank {} with elements of {}",
          param.name, argument.rank, argument.element_bytes, rank, Spelling(storage.elem)));
    }
    host::Tensor& tensor = tensors_[index];
    tensor = {kernel_.name.c_str(),   param.name.c_str(), argument.data,   rank,
              argument.element_bytes, param.written,      argument.extent, argument.stride};
    host::check_extent_range(tensor);
    for (int axis = 0; axis < rank; ++axis) BindExtent(index, axis);
    host::check_innermost_stride(tensor);
    for (int axis = 0; axis < rank; ++axis) {
      const auto& node = kernel_.exprs[storage.strides[static_cast<size_t>(axis)]].node;
      if (const auto* var = std::get_if<ir::VarRef>(&node)) {
        SetInteger(var->var, argument.stride[axis]);
      }
    }
    host::check_data(tensor);
    if (param.written) host::check_distinct_elements(tensor);

    ParamMemory& memory = result_.params[param.storage.value];
    memory.data = static_cast<uint8_t*>(argument.data);
    memory.tracked = param.written;
    memory.extents.assign(argument.extent, argument.extent + rank);
    memory.strides.assign(argument.stride, argument.stride + rank);
    if (host::is_empty(tensor)) return;
    memory.high = 1;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t reach = (argument.extent[axis] - 1) * argument.stride[axis];
      (reach < 0 ? memory.low : memory.high) += reach;
    }
  }

  struct BoundBy {
    bool bound = false;
    size_t param = 0;
    int axis = 0;
  };

  void BindExtent(size_t index, int axis) {
    const ir::Storage& storage = kernel_.storages[kernel_.params[index].storage];
    const host::Tensor& tensor = tensors_[index];
    const auto& node = kernel_.exprs[storage.dims[static_cast<size_t>(axis)]].node;
    if (const auto* constant = std::get_if<ir::IntConst>(&node)) {
      host::check_extent_constant(tensor, axis, constant->value);
      return;
    }
    const auto* ref = std::get_if<ir::VarRef>(&node);
    CHOREO_CHECK(ref != nullptr, "an extent of `{}` is neither constant nor a name", storage.name);
    const ir::Var& var = kernel_.vars[ref->var];
    if (var.kind != ir::VarKind::Dim) {
      const int64_t value = IntegerOf(ref->var);
      if (value == tensor.extent[axis]) return;
      host::fail(tensor, fmt::format("{} is {}, but `{}` is {}", host::extent_name(axis),
                                     tensor.extent[axis], var.name, value));
    }
    BoundBy& by = bound_by_[ref->var.value];
    if (by.bound) {
      host::check_extent_bound(tensor, axis, var.name.c_str(), tensors_[by.param], by.axis);
      return;
    }
    by = {true, index, axis};
    SetInteger(ref->var, tensor.extent[axis]);
  }

  void CheckOverlaps() const {
    for (size_t i = 0; i < kernel_.params.size(); ++i) {
      if (!kernel_.params[i].shaped || !kernel_.params[i].written) continue;
      for (size_t j = 0; j < kernel_.params.size(); ++j) {
        if (j == i || !kernel_.params[j].shaped) continue;
        if (j < i && kernel_.params[j].written) continue;  // compared already
        host::check_no_overlap(tensors_[i], tensors_[j]);
      }
    }
  }

  void CheckPlan() const {
    for (const ir::HostCheck& check : kernel_.host.checks) {
      const host::Tensor& tensor = tensors_[static_cast<size_t>(check.param)];
      switch (check.kind) {
        case ir::HostCheck::Kind::BaseAlignment:
          host::check_base_alignment(tensor, static_cast<int>(check.value));
          break;
        case ir::HostCheck::Kind::ExtentMultiple:
          host::check_extent_multiple(tensor, check.axis, static_cast<int>(check.value));
          break;
        case ir::HostCheck::Kind::StrideMultiple:
          CheckStride(tensor, check);
          break;
        case ir::HostCheck::Kind::Contiguous:
          host::check_contiguous(tensor);
          break;
      }
    }
    for (const ir::TensorMap& map : kernel_.host.maps) CheckMap(static_cast<size_t>(map.param));
  }

  // A host-memory parameter is mapped as its device copy: aligned and packed.
  void CheckMap(size_t param) const {
    host::Tensor tensor = tensors_[param];
    std::vector<int64_t> packed(static_cast<size_t>(tensor.rank), 1);
    if (kernel_.params[param].host_memory) {
      for (size_t axis = packed.size() - 1; axis > 0; --axis) {
        packed[axis - 1] = packed[axis] * tensor.extent[axis];
      }
      tensor.stride = packed.data();
      tensor.data = nullptr;
    }
    host::check_tensor_map(tensor);
  }

  // One axis of check_stride_alignment: the tensor is cut down to that axis for it.
  static void CheckStride(const host::Tensor& tensor, const ir::HostCheck& check) {
    if (host::is_empty(tensor) || tensor.extent[check.axis] <= 1) return;
    if (tensor.stride[check.axis] % check.value == 0) return;
    host::fail(tensor, fmt::format("{} is {}, but must be a multiple of {} elements ({} bytes)",
                                   host::stride_name(check.axis), tensor.stride[check.axis],
                                   check.value, check.value * tensor.element_bytes));
  }

  // Runs the host program in one warp whose lanes all do the same.
  void Evaluate() {
    Execution launch;
    launch.program = &host_.program;
    launch.kernel = &kernel_;
    Cta cta;
    cta.launch = &launch;
    Warp w;
    w.cta = &cta;
    w.regs = std::move(result_.registers);
    for (const FlatOp& op : host_.program.ops) {
      for (uint32_t i = op.eval_begin; i < op.eval_end; ++i) {
        host_.program.instrs[i].fn(w, host_.program.instrs[i]);
      }
      if (!launch.findings.empty()) Refuse(launch.findings.list()[0].message);
      if (op.code == Code::Assert) {
        const auto& node = std::get<ir::Assert>(*op.node);
        host::check_assert(w.regs.At<int32_t>(op.slot[0])[0] != 0, kernel_.name.c_str(),
                           node.message.c_str(), module_.source_name.c_str(),
                           static_cast<int>(op.loc.line));
      }
      ++w.pc;
    }
    constexpr char kAxes[] = {'x', 'y', 'z'};
    for (size_t axis = 0; axis < 3; ++axis) {
      result_.grid[axis] = w.regs.At<int64_t>(host_.grid[axis])[0];
    }
    for (Slot slot : host_.block_bounds) {
      result_.block_bounds.push_back(w.regs.At<int64_t>(slot)[0]);
    }
    for (size_t axis = 0; axis < 3; ++axis) {
      host::check_grid(kernel_.name.c_str(), kAxes[axis], std::max<int64_t>(result_.grid[axis], 0));
      result_.empty = result_.empty || result_.grid[axis] <= 0;
    }
    if (!result_.empty) {
      // In tile state the grid has not been made yet.
      int64_t ctas = result_.grid[0];
      for (size_t i = 0; !kernel_.host.grid[0] && i < result_.block_bounds.size(); ++i) {
        ctas *= result_.block_bounds[i];
      }
      host::check_cluster(kernel_.name.c_str(), ctas, kernel_.host.cluster);
    }
    result_.registers = std::move(w.regs);
  }

  const ir::Module& module_;
  const ir::Kernel& kernel_;
  const HostProgram& host_;
  std::span<const Argument> arguments_;
  std::vector<BoundBy> bound_by_;  // by variable
  std::vector<host::Tensor> tensors_;
  BoundLaunch result_;
};

}  // namespace

BoundLaunch BindLaunch(const ir::Module& module, const ir::Kernel& kernel, const HostProgram& host,
                       std::span<const Argument> arguments) {
  return Binder(module, kernel, host, arguments).Bind();
}

void CopyVariables(const ir::Kernel& kernel, const HostProgram& host, const BoundLaunch& bound,
                   const Program& program, RegFile& registers) {
  for (size_t i = 0; i < kernel.vars.size(); ++i) {
    const ir::VarId var = kernel.vars.IdAt(i);
    const Slot from = host.program.VarSlot(var);
    const Slot to = program.VarSlot(var);
    const size_t bytes = SlotsOf(kernel.vars[var].type) * kLanes * size_t{4};
    std::memcpy(registers.At<uint8_t>(to), bound.registers.At<uint8_t>(from), bytes);
    registers.poison[to] = bound.registers.poison[from];
  }
}

}  // namespace choreo::sim
