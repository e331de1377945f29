#include "codegen/print_kernel.h"

#include <fmt/format.h>

#include <set>

#include "codegen/cpp_types.h"
#include "codegen/print_expr.h"
#include "codegen/print_op.h"
#include "ir/builder.h"
#include "ir/raw_text.h"
#include "ir/walk.h"

namespace choreo::codegen {
namespace {

constexpr int kLargestAlignment = 1024;  // of a tile swizzled by 128 bytes

// What the body of a kernel refers to.
struct Uses {
  std::set<ir::VarId> vars;
  std::set<ir::StorageId> storages;
  std::set<ir::Intrinsic> intrinsics;
  std::set<int32_t> maps;
  bool error_word = false;
  bool cluster_rank = false;
};

Uses UsesOf(const Program& program, const ir::Kernel& kernel) {
  Uses uses;
  const bool bounded = program.debug_waits_ms > 0;
  ir::ForEachOp(kernel.body, [&](const ir::Op& op) {
    uses.error_word |= std::holds_alternative<ir::ErrorLatch>(op.node) ||
                       (bounded && std::holds_alternative<ir::MbarrierWait>(op.node));
    if (const auto* call = std::get_if<ir::OpaqueCall>(&op.node)) {
      uses.storages.insert(call->frags.begin(), call->frags.end());
    }
    if (const auto* raw = std::get_if<ir::RawCpp>(&op.node)) {
      const ir::StorageUse named = ir::DirectStorageUse(kernel, op);
      uses.storages.insert(named.reads.begin(), named.reads.end());
      for (size_t i = 0; i < kernel.vars.size(); ++i) {
        const ir::VarId var = kernel.vars.IdAt(i);
        if (ir::Mentions(raw->text, kernel.vars[var].name)) uses.vars.insert(var);
      }
    }
    if (const auto* load = std::get_if<ir::TmaLoadBox>(&op.node)) {
      uses.maps.insert(load->map);
      uses.cluster_rank |= static_cast<bool>(load->multicast);
    }
    if (const auto* store = std::get_if<ir::TmaStoreBox>(&op.node)) uses.maps.insert(store->map);
    ir::VisitFields(op, [&](const char*, const auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, ir::StorageId>) {
        if (field) uses.storages.insert(field);
      }
    });
    ir::ForEachExpr(kernel, op, [&](ir::ExprId root) {
      ir::ForEachSubExpr(kernel, root, [&](ir::ExprId id) {
        const ir::ExprNode& node = kernel.exprs[id].node;
        if (const auto* ref = std::get_if<ir::VarRef>(&node)) uses.vars.insert(ref->var);
        if (const auto* mem = std::get_if<ir::MemElem>(&node)) uses.storages.insert(mem->storage);
        if (const auto* desc = std::get_if<ir::SmemDesc>(&node))
          uses.storages.insert(desc->storage);
        if (const auto* call = std::get_if<ir::Call>(&node)) uses.intrinsics.insert(call->callee);
      });
    });
  });
  return uses;
}

bool IsLaunchVar(ir::VarKind kind) {
  return kind == ir::VarKind::Dim || kind == ir::VarKind::Stride || kind == ir::VarKind::Param;
}

// The variables that are the strides of a shaped parameter.
std::vector<ir::VarId> StridesOf(const ir::Kernel& kernel, ir::StorageId storage) {
  std::vector<ir::VarId> vars;
  for (const ir::ExprId stride : kernel.storages[storage].strides) {
    if (const auto* ref = std::get_if<ir::VarRef>(&kernel.exprs[stride].node)) {
      vars.push_back(ref->var);
    }
  }
  return vars;
}

class KernelPrinter {
 public:
  KernelPrinter(const Program& program, const ir::Kernel& kernel,
                const std::unordered_set<std::string>& reserved, TextWriter& out)
      : program_(program),
        kernel_(kernel),
        uses_(UsesOf(program, kernel)),
        names_(kernel, reserved),
        out_(out) {}

  std::vector<ir::ErrorMessage> Print() {
    names_.Define("ptx");
    const std::string bounds =
        kernel_.host.max_registers > 0
            ? fmt::format("__maxnreg__({})", kernel_.host.max_registers)
            : fmt::format("__launch_bounds__({}, {})", Threads(), kernel_.host.min_blocks);
    PrintSharedPlan();
    const std::string cluster =
        kernel_.host.cluster > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", kernel_.host.cluster)
                                 : "";
    out_.Line(fmt::format("__global__ void {}{}", cluster, bounds));
    PrintSignature();
    out_.Indent();
    out_.Line("namespace ptx = choreo::ptx;");
    DeclareShared();
    DeclareThreads();
    PrefetchMaps();
    const ExprPrinter exprs(kernel_, names_, &threads_);
    OpPrinter ops(program_, kernel_, names_, exprs, device_, out_);
    ops.PrintBody(kernel_.body);
    out_.Close();
    return ops.errors();
  }

 private:
  int Threads() const {
    const ir::HostPart& host = kernel_.host;
    return host.max_threads_bound > 0 ? host.max_threads_bound : host.threads;
  }

  void PrintSignature() {
    std::vector<std::string> params;
    device_.maps.resize(kernel_.host.maps.size());
    for (const KernelArgument& argument : KernelArguments(program_, kernel_)) {
      switch (argument.kind) {
        case KernelArgument::Kind::Map: {
          std::string& name = device_.maps[static_cast<size_t>(argument.map)];
          name = names_.Define(MapName(kernel_, argument.map, "map"));
          params.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", name));
          break;
        }
        case KernelArgument::Kind::Pointer: {
          const bool written = ParamOf(kernel_, argument.storage).written;
          const std::string_view type = DeviceType(kernel_.storages[argument.storage].elem);
          params.push_back(fmt::format("{}{}* __restrict__ {}", written ? "" : "const ", type,
                                       names_.Define(argument.storage)));
          break;
        }
        case KernelArgument::Kind::Scalar:
          params.push_back(fmt::format("{} {}", DeviceType(kernel_.vars[argument.var].type),
                                       names_.Define(argument.var)));
          break;
        case KernelArgument::Kind::ErrorWord:
          device_.error_word = names_.Define("error_word");
          params.push_back(fmt::format("choreo::ErrorWord* {}", device_.error_word));
      }
    }
    out_.Line(fmt::format("{}({}) {{", KernelFunctionName(kernel_), fmt::join(params, ", ")));
  }

  // Tiles, and events that are mbarriers.
  std::vector<ir::StorageId> SharedStorages() const {
    std::vector<ir::StorageId> storages;
    for (size_t i = 0; i < kernel_.storages.size(); ++i) {
      const ir::StorageId id = kernel_.storages.IdAt(i);
      const ir::Storage& storage = kernel_.storages[id];
      const bool placed = storage.kind == ir::StorageKind::Shared ||
                          (storage.kind == ir::StorageKind::Event && storage.byte_offset >= 0);
      if (placed && uses_.storages.contains(id)) storages.push_back(id);
    }
    return storages;
  }

  std::string PlanLine(const ir::Storage& storage) const {
    if (storage.kind == ir::StorageKind::Event) {
      const std::string slots =
          storage.array_size > 1 ? fmt::format(" [{}]", storage.array_size) : "";
      return fmt::format("{:<12} event{}  at {}, mbarrier{}{}{}", storage.name, slots,
                         storage.byte_offset, storage.array_size > 1 ? "s" : "",
                         storage.slot_names.empty() ? "" : " of ", storage.slot_names);
    }
    std::string shape;
    for (const ir::ExprId dim : storage.dims) {
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", *ir::AsInt(kernel_, dim));
    }
    const std::string layout = storage.swizzle == 0 ? "row-major"
                               : storage.swizzle == 16
                                   ? "panels of 16 bytes"
                                   : fmt::format("panels of {} bytes, swizzled", storage.swizzle);
    const std::string array =
        storage.array_size > 1 ? fmt::format(" ({} of)", storage.array_size) : "";
    return fmt::format("{:<12} {} [{}]{}  at {}, {}", storage.name, Spelling(storage.elem), shape,
                       array, storage.byte_offset, layout);
  }

  void PrintSharedPlan() {
    const std::vector<ir::StorageId> storages = SharedStorages();
    if (storages.empty()) return;
    out_.Line(
        fmt::format("// Shared memory, {} bytes: tile, place, layout.", kernel_.host.shared_bytes));
    for (const ir::StorageId id : storages) {
      out_.Line(fmt::format("//   {}", PlanLine(kernel_.storages[id])));
    }
  }

  void DeclareShared() {
    const std::vector<ir::StorageId> storages = SharedStorages();
    if (storages.empty()) return;
    const std::string memory = names_.Define("shared_memory");
    out_.Line(fmt::format("extern __shared__ __align__({}) unsigned char {}[];", kLargestAlignment,
                          memory));
    for (const ir::StorageId id : storages) {
      const ir::Storage& storage = kernel_.storages[id];
      out_.Line(fmt::format("{0}* const {1} = reinterpret_cast<{0}*>({2} + {3});",
                            DeviceType(storage.elem), names_.Define(id), memory,
                            storage.byte_offset));
    }
  }

  // The first copy through a map finds its descriptor in the cache.
  void PrefetchMaps() {
    if (uses_.maps.empty()) return;
    out_.Open("if (threadIdx.x == 0)");
    for (const int32_t map : uses_.maps) {
      out_.Line(
          fmt::format("ptx::prefetch_tensormap(&{});", device_.maps[static_cast<size_t>(map)]));
    }
    out_.Close();
  }

  void DeclareThreads() {
    using ir::Intrinsic;
    const auto declare = [&](Intrinsic intrinsic, std::string_view name, std::string_view value) {
      if (!uses_.intrinsics.contains(intrinsic)) return std::string();
      std::string unique = names_.Define(name);
      out_.Line(fmt::format("const int {} = {};", unique, value));
      return unique;
    };
    threads_.block[0] = declare(Intrinsic::BlockIdxX, "block", "static_cast<int>(blockIdx.x)");
    threads_.block[1] = declare(Intrinsic::BlockIdxY, "block_y", "static_cast<int>(blockIdx.y)");
    threads_.block[2] = declare(Intrinsic::BlockIdxZ, "block_z", "static_cast<int>(blockIdx.z)");
    threads_.thread = declare(Intrinsic::ThreadIdx, "thread", "static_cast<int>(threadIdx.x)");
    threads_.lane = declare(Intrinsic::LaneIdx, "lane", "static_cast<int>(threadIdx.x % 32)");
    if (uses_.cluster_rank) {
      device_.cluster_rank = names_.Define("cluster_rank");
      out_.Line(fmt::format("const int {} = static_cast<int>(ptx::cluster_ctarank());",
                            device_.cluster_rank));
    }
    // Through a shuffle, so that ptxas knows it to be one value a warp.
    threads_.warp = declare(Intrinsic::WarpIdx, "warp",
                            "static_cast<int>(ptx::shfl_sync_idx_lane0(threadIdx.x / 32))");
  }

  const Program& program_;
  const ir::Kernel& kernel_;
  Uses uses_;
  Names names_;
  ThreadNames threads_;
  DeviceNames device_;
  TextWriter& out_;
};

}  // namespace

std::vector<KernelArgument> KernelArguments(const Program& program, const ir::Kernel& kernel) {
  using Kind = KernelArgument::Kind;
  const Uses uses = UsesOf(program, kernel);
  std::vector<KernelArgument> arguments;
  for (const int32_t map : uses.maps) arguments.push_back({Kind::Map, {}, {}, map});
  for (const ir::Param& param : kernel.params) {
    if (!param.shaped) continue;
    if (uses.storages.contains(param.storage))
      arguments.push_back({Kind::Pointer, param.storage, {}});
    for (const ir::VarId stride : StridesOf(kernel, param.storage)) {
      if (uses.vars.contains(stride)) arguments.push_back({Kind::Scalar, {}, stride});
    }
  }
  for (const ir::VarId var : uses.vars) {
    const ir::VarKind kind = kernel.vars[var].kind;
    if (IsLaunchVar(kind) && kind != ir::VarKind::Stride) {
      arguments.push_back({Kind::Scalar, {}, var});
    }
  }
  if (uses.error_word) arguments.push_back({Kind::ErrorWord, {}, {}});
  return arguments;
}

const ir::Param& ParamOf(const ir::Kernel& kernel, ir::StorageId storage) {
  return kernel.params[static_cast<size_t>(kernel.storages[storage].param_index)];
}

std::string MapName(const ir::Kernel& kernel, int32_t map, std::string_view what) {
  const std::vector<ir::TensorMap>& maps = kernel.host.maps;
  const auto at = static_cast<size_t>(map);
  int number = 1;
  for (size_t i = 0; i < at; ++i) number += maps[i].param == maps[at].param ? 1 : 0;
  const std::string name =
      fmt::format("{}_{}", kernel.params[static_cast<size_t>(maps[at].param)].name, what);
  return number == 1 ? name : fmt::format("{}_{}", name, number);
}

std::string KernelFunctionName(const ir::Kernel& kernel) { return kernel.name + "_kernel"; }

std::vector<ir::ErrorMessage> PrintKernelFunction(const Program& program, const ir::Kernel& kernel,
                                                  const std::unordered_set<std::string>& reserved,
                                                  TextWriter& out) {
  return KernelPrinter(program, kernel, reserved, out).Print();
}

}  // namespace choreo::codegen
