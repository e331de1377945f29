// A CTA in execution, and what all CTAs of a launch share. No globals: everything hangs on an
// Execution.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"
#include "sim/cluster.h"
#include "sim/cover.h"
#include "sim/finding.h"
#include "sim/mbarrier.h"
#include "sim/program.h"
#include "sim/shadow.h"
#include "sim/timeline.h"
#include "sim/tma.h"
#include "sim/warp.h"

namespace choreo::sim {

// Shared memory begins here in the shared window; descriptors hold such addresses.
inline constexpr uint32_t kSharedBase = 1024;
inline constexpr uint32_t kWarpsPerGroup = 4;

struct ParamMemory {  // a shaped parameter
  uint8_t* data = nullptr;
  int64_t low = 0, high = 0;              // linear element indices [low, high) that the view spans
  bool tracked = false;                   // written by the kernel: accesses are checked for order
  std::vector<int64_t> extents, strides;  // in elements
};

struct LaunchOptions {
  uint64_t schedule_seed = 0;  // 0: round robin
  uint64_t step_limit = uint64_t{1} << 33;
  Trace* trace = nullptr;  // of the CTA `trace_cta`
  uint64_t trace_cta = 0;
};

struct Execution {
  const ir::Module* module = nullptr;
  const Program* program = nullptr;
  const ir::Kernel* kernel = nullptr;
  std::vector<ParamMemory> params;  // by storage
  std::array<int64_t, 3> grid{1, 1, 1};
  LaunchOptions options;
  Findings findings;
  RecordPool records;
  GlobalShadow global;
  Coverage coverage;
  uint32_t error_code = 0;
  uint32_t error_op = 0;
  bool stop = false;  // after a deadlock

  const ir::Loc& LocOf(uint32_t op) const { return program->ops[op].loc; }
  std::string_view NameOf(ir::StorageId storage) const { return kernel->storages[storage].name; }
};

struct Barrier {
  uint32_t expected = 0;  // threads; 0: not in use
  uint32_t arrived_threads = 0;
  uint32_t arrived = 0;  // warps
  uint32_t waiting = 0;  // of these
  uint32_t op = 0;       // of the first arrival
  bool vote = false;     // whether a condition held for anyone who arrived with one
  Knowledge released;    // of those that arrived and went on
  uint64_t time = 0;     // modelled, of the last arrival
};

struct WarpGroup {
  uint32_t sequence = 0;  // of its last MMA
  struct Issue {          // of an MMA: what its warps had got past
    uint32_t sequence = 0;
    Clock progress;
    uint64_t done = 0;  // modelled time
  };
  std::vector<Issue> issues;  // the last ones

  uint32_t registers = 0;  // a thread, by setmaxnreg
};

struct Cluster;

struct Cta {
  Execution* launch = nullptr;
  Cluster* cluster = nullptr;
  uint32_t id = 0;
  uint32_t rank = 0;  // in the cluster
  std::array<int32_t, 3> index{};
  std::vector<uint8_t> shared;
  std::vector<uint8_t> shared_poison;  // a byte a byte; 1: never written
  SharedShadow shadow;
  std::vector<Warp> warps;
  Agents agents;
  std::array<Barrier, 16> barriers{};
  Mbarriers mbarriers;
  TmaEngine tma;
  std::vector<Visit> visits;    // the last arrival of each warp of other CTAs
  uint32_t free_registers = 0;  // given back by setmaxnreg
  std::vector<WarpGroup> groups;
  Timeline* timeline = nullptr;
  uint64_t slice_end = ~uint64_t{0};  // modelled time up to which a warp may run
  uint64_t registers_time = 0;        // modelled, when setmaxnreg last gave some back

  const Program& program() const { return *launch->program; }
  Findings& findings() { return launch->findings; }
  // The place of the op that a warp executes now.
  ir::Loc Loc(const Warp& w) const { return launch->LocOf(w.pc); }
};

// CTAs that run together and reach each other's shared memory; without clusters, one.
struct Cluster {
  std::deque<Cta> ctas;       // by rank
  std::vector<Agent> agents;  // of all of them
  ClusterBarrier barrier;
  Multicasts multicasts;
  std::mt19937_64 random;
  uint32_t next = 0;  // agent in turn

  uint32_t first_id() const { return ctas.front().id; }
  bool Has(uint32_t cta) const { return cta >= first_id() && cta - first_id() < ctas.size(); }
  const Cta& Of(uint32_t cta) const { return ctas[cta - first_id()]; }
};

// Executes all clusters of the grid to their end (or to a deadlock, which sets launch.stop): one
// after the other, or several together where they meet in atomic operations. How many CTAs ran.
uint64_t RunGrid(Execution& launch, const RegFile& registers);

// ---- the parts of the machine, by file ----

// machine.cpp. Runs the warp until it blocks, exits or has done `quantum` ops other than
// arithmetic.
void RunWarp(Warp& w, uint64_t quantum);

// exec_memory.cpp. Poison of `lanes` in a value used as `what`: reports it; the lanes that are
// poisoned.
uint32_t CheckPoison(Warp& w, Slot slot, uint32_t lanes, std::string_view what);
void ReportDivisionByZero(Warp& w, uint32_t lanes);
InstrFn LoadFn(ir::StorageKind kind, Elem elem);
void ExecMemStore(Warp& w, const FlatOp& op);
void ExecAtomic(Warp& w, const FlatOp& op);
void ExecStoreVec(Warp& w, const FlatOp& op);
void ExecCopyVec(Warp& w, const FlatOp& op);

// exec_matrix.cpp
void ExecStMatrix(Warp& w, const FlatOp& op);
void ExecLdMatrix(Warp& w, const FlatOp& op);
void ExecFragPack(Warp& w, const FlatOp& op);

// exec_copy.cpp
void ExecCpAsync(Warp& w, const FlatOp& op);
void ExecCpAsyncCommit(Warp& w);
void ExecCpAsyncWait(Warp& w, int32_t pending);

// exec_barrier.cpp. Blocks the warp if it waits; the last arrival frees all who do. True: the warp
// goes on to its next op.
bool ArriveAtBarrier(Warp& w, uint32_t id, uint32_t threads, bool wait);
void ExecSyncWarp(Warp& w);
void ExecVote(Warp& w, const FlatOp& op);
void ExecFenceProxyAsync(Warp& w);
// Reports it unless all live lanes of the warp are active.
void RequireFullWarp(Warp& w, std::string_view what);
// Gives the barrier up: everyone who waits at it goes on.
void Free(Cta& cta, Barrier& barrier);

// deadlock.cpp. No warp can run: frees barriers whose missing warps exited (a finding), else
// reports a deadlock.
void ResolveStall(Cluster& cluster);

// exec_registers.cpp
void InitRegisters(Cta& cta);
void ExecSetMaxNReg(Warp& w);

// exec_opaque.cpp. How a message names code that is not simulated.
std::string OpaqueName(const ir::OpNode& node);
void ExecOpaque(Warp& w, const FlatOp& op);

// exec_wgmma.cpp
// Blocks the warp for its warpgroup. True: all four are here; they are unblocked and have gone past
// their ops.
bool ArriveWithGroup(Warp& w, std::string_view what);
void ExecWgmmaFence(Warp& w);
void ArriveAtWgmma(Warp& w);
void ExecWgmmaCommit(Warp& w);
void ExecWgmmaWait(Warp& w, int32_t pending);
void TouchFrag(Warp& w, ir::StorageId frag, bool write);

// ---- checked accesses to memory (access.cpp) ----

struct Place {  // bytes of a shared tile or of a parameter
  ir::StorageId storage;
  bool global = false;
  uint8_t* data = nullptr;
  uint32_t shared_offset = 0;  // from the start of the CTA's shared memory
};
// Checks an access of [place, place + bytes) cell by cell, and records it.
void Track(Warp& w, const AccessInfo& access, const Place& place, int32_t bytes);
// The place of `bytes` from element `index`; data is null where that is outside (reported).
Place Locate(Warp& w, ir::StorageId storage, int64_t index, int32_t bytes);
bool CheckAligned(Warp& w, const Place& place, int32_t bytes);
// Records and checks a read; whether any byte is poison.
bool TrackRead(Warp& w, uint32_t lane, const Place& place, int32_t bytes);
// Records and checks an atomic access; what it finds must have been written.
void TrackAtomic(Warp& w, uint32_t lane, const Place& place, int32_t bytes);
// Records and checks a write of `value`, then writes it.
void TrackWrite(Warp& w, uint32_t lane, const Place& place, const void* value, int32_t bytes,
                bool poison);

}  // namespace choreo::sim
