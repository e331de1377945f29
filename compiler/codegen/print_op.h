// The ops of a kernel's body as CUDA statements.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/names.h"
#include "codegen/print_expr.h"
#include "codegen/text.h"
#include "ir/ir.h"
#include "ir/op_states.h"

namespace choreo::codegen {

// C++ names of what the kernel takes beside tensors and scalars.
struct DeviceNames {
  std::string error_word;
  std::vector<std::string> maps;  // one a tensor map; empty for those not used
  std::string cluster_rank;       // of the CTA in its cluster; empty if nothing uses it
};

class OpPrinter {
 public:
  OpPrinter(const Program& program, const ir::Kernel& kernel, Names& names,
            const ExprPrinter& exprs, const DeviceNames& device, TextWriter& out)
      : program_(program),
        kernel_(kernel),
        names_(names),
        exprs_(exprs),
        device_(device),
        out_(out),
        errors_(kernel.errors) {}

  // The ops in order; the caller has opened the scope.
  void PrintBody(const ir::Region& region);
  // What the host says to an error code: the kernel's own messages, then one a bounded wait.
  const std::vector<ir::ErrorMessage>& errors() const { return errors_; }

 private:
  void PrintScope(const ir::Region& region);  // with a naming scope of its own
  void PrintOp(const ir::Op& op);
  // The comment with the .co line, when the line changes, and its directive.
  void Place(ir::Loc loc);
  // One statement of the op that is being printed.
  void Line(std::string_view text);

  void Print(const ir::Let& op);
  void Print(const ir::VarDecl& op);
  void Print(const ir::Assign& op);
  void Print(const ir::For& op);
  void Print(const ir::While& op);
  void Print(const ir::If& op);
  void Print(const ir::Break&) { Line("break;"); }
  void Print(const ir::Continue&) { Line("continue;"); }
  void Print(const ir::Return&) { Line("return;"); }
  void Print(const ir::Decl& op);
  void Print(const ir::FragSet& op);
  void Print(const ir::RawCpp& op);
  void Print(const ir::OpaqueCall& op);
  void Print(const ir::MemStore& op);
  void Print(const ir::AtomicMem& op);
  void Print(const ir::StoreVec& op);
  void Print(const ir::CopyVec& op);
  void Print(const ir::CpAsync& op);
  void Print(const ir::CpAsyncCommit&) { Line("ptx::cp_async_commit_group();"); }
  void Print(const ir::CpAsyncWait& op);
  void Print(const ir::CtaBarrier&) { Line("__syncthreads();"); }
  void Print(const ir::ClusterBarrier&) { Line("ptx::barrier_cluster_sync();"); }
  void Print(const ir::NamedBarrierSync& op);
  void Print(const ir::NamedBarrierArrive& op);
  void Print(const ir::Vote& op);
  void Print(const ir::NamedBarrierVote& op);
  void Print(const ir::Sleep& op);
  void Print(const ir::SyncWarp&) { Line("__syncwarp();"); }
  void Print(const ir::RoleBegin& op);
  void Print(const ir::SetMaxNReg& op);
  void Print(const ir::MbarrierInit& op);
  void Print(const ir::FenceMbarrierInit&) { Line("ptx::fence_mbarrier_init();"); }
  void Print(const ir::MbarrierArrive& op);
  void Print(const ir::MbarrierArriveCluster& op);
  void Print(const ir::MbarrierExpectTx& op);
  void Print(const ir::MbarrierWait& op);
  void Print(const ir::TmaLoadBox& op);
  void Print(const ir::TmaStoreBox& op);
  void Print(const ir::TmaStoreCommit&) { Line("ptx::cp_async_bulk_commit_group();"); }
  void Print(const ir::TmaStoreWait& op);
  void Print(const ir::FenceProxyAsync&) { Line("ptx::fence_proxy_async_shared_cta();"); }
  void Print(const ir::WgmmaFence&) { Line("ptx::wgmma_fence();"); }
  void Print(const ir::Wgmma& op);
  void Print(const ir::WgmmaCommit&) { Line("ptx::wgmma_commit_group();"); }
  void Print(const ir::WgmmaWait& op);
  void Print(const ir::FragTie& op);
  void Print(const ir::FragPack& op);
  void Print(const ir::StMatrix& op);
  void Print(const ir::LdMatrix& op);
  void Print(const ir::ErrorLatch& op);
  // Tile state has no printer: the verifier keeps its ops out of lowered modules.
  template <class TileOp>
  void Print(const TileOp&) {
    static_assert(
        ir::kStatesOf<TileOp> == ir::OpStates::Tile || std::is_same_v<TileOp, std::monostate>,
        "an op of lowered state needs a printer");
    CHOREO_UNREACHABLE("an op of tile state in a lowered module");
  }

  void PrintBarrier(std::string_view function, ir::ExprId id, int threads);
  std::string EventNames(ir::StorageId event, ir::ExprId slot) const;
  void PrintBoundedWait(const ir::MbarrierWait& op);
  void PrintMulticast(const ir::TmaLoadBox& op);
  // The shared address of a slot's mbarrier.
  std::string Slot(ir::StorageId event, ir::ExprId slot) const {
    return exprs_.SharedAddress(event, slot);
  }
  // "&Q_map, c0, c1": the map and the coordinates, innermost first.
  std::string Box(int32_t map, const std::vector<ir::ExprId>& at, ir::Multicast part = {}) const;

  // Whether the value may change while a loop runs.
  bool IsVolatile(ir::ExprId id) const;
  Elem ElemOf(ir::StorageId id) const { return kernel_.storages[id].elem; }
  std::string Words(ir::StorageId frag, ir::ExprId word, int count) const;

  const Program& program_;
  const ir::Kernel& kernel_;
  Names& names_;
  const ExprPrinter& exprs_;
  const DeviceNames& device_;
  TextWriter& out_;
  uint32_t comment_line_ = 0;  // of the last comment in the open scopes
  ir::Loc loc_;                // of the op that is being printed
  std::string role_;           // whose branch this is, as the open scopes say
  std::vector<ir::ErrorMessage> errors_;
};

}  // namespace choreo::codegen
