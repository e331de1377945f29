// A kernel compiled for the machine: a flat list of ops with jumps, so that a warp is resumable at
// any op, and a list of expression instructions over whole-warp registers which the ops refer to.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "sim/regs.h"

namespace choreo::sim {

struct Warp;
struct Instr;
using InstrFn = void (*)(Warp&, const Instr&);

// What an instruction keeps busy, for modelled time.
enum class Pipe : uint8_t { None, Float, Special, Shuffle, SharedLoad, GlobalLoad };

// One expression instruction: dst = fn(a, b, c). `imm` is the instruction's own (a storage, a mask
// …).
struct Instr {
  InstrFn fn;
  Slot dst = kNoSlot, a = kNoSlot, b = kNoSlot, c = kNoSlot;
  int64_t imm = 0;
  Pipe pipe = Pipe::None;
};

enum class Code : uint8_t {
  Eval,       // nothing beyond its instructions (let, var)
  Assign,     // slot[0] = slot[1] under the mask; `wide`
  FragSet,    // a constant element: slot[0] = slot[1]; index: the fragment
  FragSetAt,  // element slot[0] of fragment `index` = slot[1]
  If,         // condition slot[0]; jumps to `target` (else) if no lane is left
  Else,       // jumps to `target` (end) if no lane is left
  EndIf,
  LoopBegin,
  LoopTest,  // condition slot[0]; leaves to `target`
  LoopNext,  // lanes that continue join again
  Jump,
  Break,
  Continue,
  Return,
  Exit,
  Decl,
  RoleBegin,
  MemStore,
  Atomic,  // slot[0]: the index; slot[1]: the value; slot[2]: the result, or none
  StoreVec,
  CopyVec,
  CpAsync,
  CpAsyncCommit,
  CpAsyncWait,
  CtaBarrier,
  ClusterBarrier,
  NamedBarrier,
  NamedBarrierArrive,
  NamedBarrierVote,  // slot[0]: the id; slot[1]: what each lane says; slot[2]: the result
  Vote,              // slot[1], slot[2] as above
  SyncWarp,
  MbarrierInit,
  FenceMbarrierInit,
  MbarrierArrive,
  MbarrierArriveCluster,  // slot[0]: the mbarrier's slot; slot[1]: the rank
  MbarrierExpectTx,
  MbarrierWait,
  TmaLoad,
  TmaStore,
  TmaStoreCommit,
  TmaStoreWait,
  SetMaxNReg,
  FenceProxyAsync,
  WgmmaFence,
  Wgmma,
  WgmmaCommit,
  WgmmaWait,
  FragPack,
  StMatrix,
  LdMatrix,
  ErrorLatch,
  Assert,  // host part: slot[0] must hold
  Opaque,
};

struct FlatOp {
  Code code;
  bool wide = false;
  uint32_t eval_begin = 0, eval_end = 0;  // instructions that run before it
  Slot slot[3] = {kNoSlot, kNoSlot, kNoSlot};
  uint32_t target = 0;
  uint32_t index = 0;                // a storage, a place in `slot_lists`, …
  const ir::OpNode* node = nullptr;  // the op's own fields; null for control flow
  ir::Loc loc;
};

struct Program {
  const ir::Kernel* kernel = nullptr;
  std::vector<Instr> instrs;
  std::vector<FlatOp> ops;
  std::vector<Slot> slot_lists;
  RegFile initial;  // what a warp's registers hold at first: constants; everything else is poison

  std::vector<Slot> var_slots;      // of each variable
  std::vector<Slot> storage_slots;  // first slot of a fragment or a local array
  std::vector<int32_t> elements;  // of a fragment (a lane), a local array; bytes of shared storage
  Slot tid = kNoSlot, lane = kNoSlot, warp = kNoSlot;
  Slot ctaid[3] = {kNoSlot, kNoSlot, kNoSlot};

  Slot VarSlot(ir::VarId var) const { return var_slots[var.value]; }
  Slot ElementSlot(ir::StorageId storage, int64_t element) const;
};

// The kernel's body. The kernel must outlive the program and be in lowered state.
Program CompileBody(const ir::Kernel& kernel);
// The host part: scalar lets and asserts, then grid and block bounds (s64), for one lane.
struct HostProgram {
  Program program;
  Slot grid[3];
  std::vector<Slot> block_bounds;  // of the block variables
};
HostProgram CompileHost(const ir::Kernel& kernel);

}  // namespace choreo::sim
