// OpPrinter: barriers, mbarriers, tensor copies, waits, roles and errors.
#include <sstream>

#include "codegen/print_op.h"
#include "ir/builder.h"

namespace choreo::codegen {

void OpPrinter::Print(const ir::CpAsyncWait& op) {
  Line(fmt::format("ptx::cp_async_wait_group<{}>();", op.pending));
}

// ---- named barriers ---------------------------------------------------------------------------

void OpPrinter::PrintBarrier(std::string_view function, ir::ExprId id, int threads) {
  if (const auto number = ir::AsInt(kernel_, id)) {
    Line(fmt::format("ptx::{}<{}, {}>();", function, *number, threads));
  } else {
    Line(fmt::format("ptx::{}<{}>(static_cast<uint32_t>({}));", function, threads,
                     exprs_.Print(id)));
  }
}

void OpPrinter::Print(const ir::NamedBarrierSync& op) {
  PrintBarrier("bar_sync", op.id, op.threads);
}

void OpPrinter::Print(const ir::NamedBarrierArrive& op) {
  PrintBarrier("bar_arrive", op.id, op.threads);
}

void OpPrinter::Print(const ir::Vote& op) {
  const std::string value = exprs_.Print(op.value);
  Line(fmt::format("const bool {} = ptx::vote_any({});", names_.Define(op.var), value));
}

void OpPrinter::Print(const ir::NamedBarrierVote& op) {
  const std::string value = exprs_.Print(op.value);
  const std::string id = exprs_.Print(op.id);
  Line(fmt::format("const bool {} = ptx::bar_red_or<{}>({}, {});", names_.Define(op.var),
                   op.threads, id, value));
}

// ---- roles ------------------------------------------------------------------------------------

void OpPrinter::Print(const ir::RoleBegin& op) {
  role_ = op.name;
  // Where a long branch begins, the reader wants to know whose it is.
  out_.Line(fmt::format("// role {}: threads {} to {}", op.name, op.first_thread,
                        op.first_thread + op.threads - 1));
}

void OpPrinter::Print(const ir::SetMaxNReg& op) {
  Line(fmt::format("ptx::setmaxnreg_{}<{}>();", op.increase ? "inc" : "dec", op.count));
}

// ---- mbarriers --------------------------------------------------------------------------------

void OpPrinter::Print(const ir::MbarrierInit& op) {
  const std::string& event = names_.Of(op.event);
  const int slots = kernel_.storages[op.event].array_size;
  if (slots == 1) {
    Line(fmt::format("ptx::mbarrier_init(choreo::shared_address({}), {});", event, op.count));
    return;
  }
  names_.Enter();
  const std::string slot = names_.Define("slot");
  out_.Line("#pragma unroll");
  Line(fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", slot, slots));
  out_.Indent();
  Line(fmt::format("ptx::mbarrier_init(choreo::shared_address({} + {}), {});", event, slot,
                   op.count));
  out_.Close();
  names_.Leave();
}

void OpPrinter::Print(const ir::MbarrierArrive& op) {
  Line(fmt::format("ptx::mbarrier_arrive({});", Slot(op.event, op.slot)));
}

void OpPrinter::Print(const ir::MbarrierArriveCluster& op) {
  Line(fmt::format("ptx::mbarrier_arrive_cluster{}(ptx::mapa_shared_cluster({}, {}));",
                   op.cluster_scope ? "_release" : "", Slot(op.event, op.slot),
                   exprs_.Print(op.rank)));
}

void OpPrinter::Print(const ir::MbarrierExpectTx& op) {
  Line(fmt::format("ptx::mbarrier_arrive_expect_tx({}, {});", Slot(op.event, op.slot), op.bytes));
}

// The user's name of what is waited for. Where events of their own are slots of one array and only
// the running kernel knows the slot: all of them, in the order of the slots from 0 on.
std::string OpPrinter::EventNames(ir::StorageId event, ir::ExprId slot) const {
  const ir::Storage& storage = kernel_.storages[event];
  if (storage.slot_names.empty()) return fmt::format("event `{}`", storage.name);
  std::istringstream names(storage.slot_names);
  const auto known = ir::AsInt(kernel_, slot);
  std::string text, name;
  for (int64_t i = 0; names >> name; ++i) {
    if (known && *known != i) continue;
    text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  }
  return (known ? "event " : "one of the events ") + text;
}

// A wait that reports itself when it takes too long (`--debug-waits`).
void OpPrinter::PrintBoundedWait(const ir::MbarrierWait& op) {
  const int milliseconds = program_.debug_waits_ms;
  errors_.push_back({loc_, fmt::format("{}waited {} ms for {}",
                                       role_.empty() ? "" : fmt::format("role `{}` ", role_),
                                       milliseconds, EventNames(op.event, op.slot))});
  CHOREO_CHECK(errors_.size() <= UINT16_MAX, "more checks than an error word can tell apart");
  Line(fmt::format("choreo::debug_wait<{}>({}, {}, {}, {}, {}, {});", milliseconds,
                   Slot(op.event, op.slot), exprs_.Print(op.parity), exprs_.Print(op.slot),
                   device_.error_word, errors_.size(), loc_.line));
}

void OpPrinter::Print(const ir::MbarrierWait& op) {
  if (program_.debug_waits_ms > 0) {
    PrintBoundedWait(op);
    if (op.cluster_scope) Line("ptx::fence_acq_rel_cluster();");
    return;
  }
  Line(fmt::format("ptx::mbarrier_wait_parity{}({}, {});",
                   op.cluster_scope ? "_acquire_cluster" : "", Slot(op.event, op.slot),
                   exprs_.Print(op.parity)));
}

// ---- tensor copies ----------------------------------------------------------------------------

std::string OpPrinter::Box(int32_t map, const std::vector<ir::ExprId>& at,
                           ir::Multicast part) const {
  std::string text = fmt::format("&{}", device_.maps[static_cast<size_t>(map)]);
  for (size_t axis = at.size(); axis > 0; --axis) {
    const bool parted = part && static_cast<size_t>(part.axis) == axis - 1;
    const bool zero = ir::AsInt(kernel_, at[axis - 1]) == 0;
    text += ", ";
    if (!parted || !zero) text += exprs_.Print(at[axis - 1]);
    if (parted) {
      text += fmt::format("{}{} * {}", zero ? "" : " + ", device_.cluster_rank, part.rows);
    }
  }
  return text;
}

// The part of this CTA, to the same place in all CTAs of the cluster.
void OpPrinter::PrintMulticast(const ir::TmaLoadBox& op) {
  const ir::TensorMap& map = kernel_.host.maps[static_cast<size_t>(op.map)];
  int64_t row_bytes = Bytes(ElemOf(op.dst));
  for (size_t i = static_cast<size_t>(op.multicast.axis) + 1; i < map.box.size(); ++i) {
    row_bytes *= map.box[i];
  }
  const std::string policy = op.policy ? ", " + exprs_.Print(op.policy) : "";
  Line(fmt::format(
      "ptx::cp_async_bulk_tensor_{}d_shared_cluster_global({} + {} * {}, {}, {}, {:#x}{});",
      op.at.size(), exprs_.SharedAddress(op.dst, op.dst_index), device_.cluster_rank,
      op.multicast.rows * row_bytes, Box(op.map, op.at, op.multicast), Slot(op.event, op.slot),
      (1u << kernel_.host.cluster) - 1, policy));
}

void OpPrinter::Print(const ir::TmaLoadBox& op) {
  if (op.multicast) return PrintMulticast(op);
  const std::string policy = op.policy ? ", " + exprs_.Print(op.policy) : "";
  Line(fmt::format("ptx::cp_async_bulk_tensor_{}d_shared_global({}, {}, {}{});", op.at.size(),
                   exprs_.SharedAddress(op.dst, op.dst_index), Box(op.map, op.at),
                   Slot(op.event, op.slot), policy));
}

void OpPrinter::Print(const ir::TmaStoreBox& op) {
  Line(fmt::format("ptx::cp_async_bulk_tensor_{}d_global_shared({}, {});", op.at.size(),
                   Box(op.map, op.at), exprs_.SharedAddress(op.src, op.src_index)));
}

void OpPrinter::Print(const ir::TmaStoreWait& op) {
  Line(fmt::format("ptx::cp_async_bulk_wait_group{}<{}>();", op.read ? "_read" : "", op.pending));
}

// ---- errors -----------------------------------------------------------------------------------

void OpPrinter::Print(const ir::ErrorLatch& op) {
  const ir::Loc at = kernel_.errors[static_cast<size_t>(op.code) - 1].loc;
  Line(fmt::format("choreo::latch_error({}, true, {}, {});", device_.error_word, op.code, at.line));
}

void OpPrinter::Print(const ir::Sleep& op) {
  Line(fmt::format("ptx::nanosleep({});", exprs_.Print(op.nanoseconds)));
}

}  // namespace choreo::codegen
