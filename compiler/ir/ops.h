// The ops, one struct each; included by ir.h alone. Fields(f) names the fields in the order of the
// text form; printer, reader and walkers are written over it. Region fields come last.
#pragma once

#define CHOREO_FIELD(name) f(#name, self.name)
#define CHOREO_FIELDS(...)                \
  template <class Self, class F>          \
  static void Fields(Self& self, F&& f) { \
    (void)self;                           \
    (void)f;                              \
    __VA_ARGS__;                          \
  }

namespace choreo::ir {

// A field that the text form leaves out where it is not set.
struct Flag {
  bool set = false;
  Flag() = default;
  Flag(bool value) : set(value) {}
  explicit operator bool() const { return set; }
};
// A TMA load for all CTAs of the cluster, each of which loads the part of its rank: from `rows`
// further along `axis` of the tensor a rank.
struct Multicast {
  int32_t axis = -1, rows = 0;  // axis < 0: of this CTA alone
  explicit operator bool() const { return axis >= 0; }
};

// ---- both states ----
struct Let {  // defines an immutable scalar
  VarId var;
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(value))
};
struct VarDecl {  // declares a mutable scalar
  VarId var;
  ExprId init;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(init))
};
struct Assign {
  VarId var;
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(value))
};
// for (var = low; var < high; var += step); step > 0, or step < 0 with `>`. Bounds are evaluated
// once.
struct For {
  VarId var;
  ExprId low, high, step;
  int32_t unroll = 0;  // 0: compiler's choice, 1: not, n: by n, -1: fully
  Region body;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(low), CHOREO_FIELD(high), CHOREO_FIELD(step),
                CHOREO_FIELD(unroll), CHOREO_FIELD(body))
};
struct While {
  ExprId condition;
  Region body;
  CHOREO_FIELDS(CHOREO_FIELD(condition), CHOREO_FIELD(body))
};
struct If {
  ExprId condition;
  Region then_body, else_body;
  CHOREO_FIELDS(CHOREO_FIELD(condition), CHOREO_FIELD(then_body), CHOREO_FIELD(else_body))
};
struct Break {
  CHOREO_FIELDS()
};
struct Continue {
  CHOREO_FIELDS()
};
struct Return {
  CHOREO_FIELDS()
};
struct Decl {  // brings a fragment or local array to life, uninitialised; shared tiles too, for
               // their place
  StorageId storage;
  CHOREO_FIELDS(CHOREO_FIELD(storage))
};
// Tile: element at logical indices. Lowered: {r}, the lane's r-th element.
struct FragSet {
  StorageId frag;
  std::vector<ExprId> index;
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(index), CHOREO_FIELD(value))
};
struct RawCpp {
  std::string text;
  CHOREO_FIELDS(CHOREO_FIELD(text))
};
// Calls a device function of the host text, which may read and write all that it is given.
// `kinds`: a letter an argument, in order: `v` the next of `values`, `p` the address of the element
// that the next of `values` is (ViewElem, lowered: MemElem), `c` an address that is only read
// through, `f` the next of `frags`.
struct OpaqueCall {
  std::string callee;
  std::string kinds;
  std::vector<ExprId> values;
  std::vector<StorageId> frags;
  CHOREO_FIELDS(CHOREO_FIELD(callee), CHOREO_FIELD(kinds), CHOREO_FIELD(values),
                CHOREO_FIELD(frags))
};
// bar.sync: `id` (s32, 1…15, equal over each warp) may be computed, e.g. one barrier a warpgroup.
struct NamedBarrierSync {
  ExprId id;
  int32_t threads;
  CHOREO_FIELDS(CHOREO_FIELD(id), CHOREO_FIELD(threads))
};
// bar.arrive: counts the threads of the warp and goes on.
struct NamedBarrierArrive {
  ExprId id;
  int32_t threads;
  CHOREO_FIELDS(CHOREO_FIELD(id), CHOREO_FIELD(threads))
};
// Defines `var`: whether `value` (both bool) holds for any executing thread of its warp (32
// `threads`) or, in tile state, of its warpgroup (128).
struct Vote {
  VarId var;
  ExprId value;
  int32_t threads = 0;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(value), CHOREO_FIELD(threads))
};
// setmaxnreg: registers a thread of the executing warpgroups from here on, a multiple of 8.
struct SetMaxNReg {
  bool increase = false;
  int32_t count = 0;
  CHOREO_FIELDS(CHOREO_FIELD(increase), CHOREO_FIELD(count))
};
// Threads [first_thread, first_thread + threads) go on as a role of this name: nothing happens;
// what traces and messages call them.
struct RoleBegin {
  std::string name;
  int32_t first_thread = 0, threads = 0;
  CHOREO_FIELDS(CHOREO_FIELD(name), CHOREO_FIELD(first_thread), CHOREO_FIELD(threads))
};

// ---- tile state ----
enum class Level : uint8_t { Block, Warpgroup, Warp, Thread };
// Names indices of the executing threads at a level. Bounds are constants (blocks: see HostPart).
struct Parallel {
  Level level;
  std::vector<VarId> vars;
  std::vector<ExprId> bounds;
  Region body;
  CHOREO_FIELDS(CHOREO_FIELD(level), CHOREO_FIELD(vars), CHOREO_FIELD(bounds), CHOREO_FIELD(body))
};
struct InThreads {
  ExprId predicate;
  bool async = false;
  Region body;
  CHOREO_FIELDS(CHOREO_FIELD(predicate), CHOREO_FIELD(async), CHOREO_FIELD(body))
};
struct Assert {
  ExprId condition;
  std::string message;
  CHOREO_FIELDS(CHOREO_FIELD(condition), CHOREO_FIELD(message))
};
struct StoreElem {
  ViewId dest;  // without axes
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(dest), CHOREO_FIELD(value))
};
enum class AtomicKind : uint8_t { Add, Max, Min };
// A relaxed read-modify-write of one integer element, once by each executing thread; `var`, unless
// invalid, becomes what stood there before. Orders nothing else.
struct AtomicElem {
  VarId var;
  AtomicKind how;
  ViewId dest;  // without axes
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(how), CHOREO_FIELD(dest), CHOREO_FIELD(value))
};
struct Apply {  // for every element of `frag` that the lane owns; vars: {i} or {i, j}, logical
                // indices
  StorageId frag;
  std::vector<VarId> vars;
  Region body;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(vars), CHOREO_FIELD(body))
};
// Cooperative copy by the executing threads, with the barriers of language §5. Elements beyond the
// base extents read as zero and are not written. `swizzle`: 0 not named, else 32, 64, 128.
struct CopySync {
  ViewId src, dst;
  int32_t swizzle = 0;
  CHOREO_FIELDS(CHOREO_FIELD(src), CHOREO_FIELD(dst), CHOREO_FIELD(swizzle))
};
struct FillTile {  // every element of a shared or local view, by the executing threads together
  ViewId dst;
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(value))
};
struct FragFill {
  StorageId frag;
  ExprId value;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(value))
};
struct FragCopy {
  StorageId dst, src;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(src))
};
enum class ReduceKind : uint8_t { Max, Sum };
// Over axis 1 of `src` into `row`. Max combines with row's old value; Sum replaces it.
struct FragReduce {
  ReduceKind reduce;
  StorageId row, src;
  CHOREO_FIELDS(CHOREO_FIELD(reduce), CHOREO_FIELD(row), CHOREO_FIELD(src))
};
// acc += A · op(B), complete when the op is done. A is a shared view [64, K] or a fragment (then
// `a` is invalid). b_row: B is stored [N, K] (`row.row`), else [K, N] (`row.col`).
struct Mma {
  StorageId acc;
  ViewId a;
  StorageId a_frag;
  ViewId b;
  bool b_row = true;
  std::vector<int32_t> k_order;  // issue order of the K slices; empty: ascending
  VarId future;                  // `.async`: completes when this is waited for; invalid: at once
  CHOREO_FIELDS(CHOREO_FIELD(acc), CHOREO_FIELD(a), CHOREO_FIELD(a_frag), CHOREO_FIELD(b),
                CHOREO_FIELD(b_row), CHOREO_FIELD(k_order), CHOREO_FIELD(future))
};
struct MmaLoad {  // a 16-bit fragment from a shared view
  StorageId frag;
  ViewId src;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(src))
};
struct MmaStore {  // converts to the view's element type; clips at the base extents
  StorageId frag;
  ViewId dst;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(dst))
};
struct SyncShared {
  CHOREO_FIELDS()
};
// Cooperative copy by the executing threads that completes when `future` is waited for.
struct CopyAsync {
  VarId future;
  ViewId src, dst;
  int32_t swizzle = 0;
  CHOREO_FIELDS(CHOREO_FIELD(future), CHOREO_FIELD(src), CHOREO_FIELD(dst), CHOREO_FIELD(swizzle))
};
enum class EvictPolicy : uint8_t { None, First, Last };
// Global to shared by the Tensor Memory Accelerator, issued once by the executing threads (once
// each, where the views differ between groups). `future` is bound by one trigger. `multicast`: the
// CTAs of the cluster load the tile together, a part each, and it arrives in all of them.
struct TmaLoad {
  VarId future;
  ViewId src, dst;
  int32_t swizzle = 0;
  EvictPolicy policy = EvictPolicy::None;
  Flag multicast = {};
  CHOREO_FIELDS(CHOREO_FIELD(future), CHOREO_FIELD(src), CHOREO_FIELD(dst), CHOREO_FIELD(swizzle),
                CHOREO_FIELD(policy), CHOREO_FIELD(multicast))
};
// Shared to global, issued once after all executing threads have written; does not block. The next
// write of the source tile, and the kernel's end, wait until it has been read.
struct TmaStore {
  ViewId src, dst;
  CHOREO_FIELDS(CHOREO_FIELD(src), CHOREO_FIELD(dst))
};
struct FutureWait {
  std::vector<VarId> futures;
  CHOREO_FIELDS(CHOREO_FIELD(futures))
};
struct FutureMove {  // dst takes over src's pending instance; dst's own is complete
  VarId dst, src;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(src))
};
// Until the generation of `order` is complete: order / N of slot order % N (language §8). Scalar
// events have no order; they count their generations a path.
struct EventWait {
  StorageId event;
  ExprId order;
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(order))
};
// Without futures: publishes now, once a path. With: binds the completion of these TMA loads.
struct EventTrigger {
  StorageId event;
  ExprId order;
  std::vector<VarId> futures;
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(order), CHOREO_FIELD(futures))
};
// Over the lanes of each row: combines and gives every lane the result.
struct FragAllReduce {
  ReduceKind reduce;
  StorageId row;
  CHOREO_FIELDS(CHOREO_FIELD(reduce), CHOREO_FIELD(row))
};

// ---- lowered state ----
struct MemStore {  // one element; index as in MemElem
  StorageId storage;
  ExprId index, value;
  CHOREO_FIELDS(CHOREO_FIELD(storage), CHOREO_FIELD(index), CHOREO_FIELD(value))
};
struct AtomicMem {  // as AtomicElem; index as in MemElem; a parameter or a shared tile
  VarId var;
  AtomicKind how;
  StorageId storage;
  ExprId index, value;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(how), CHOREO_FIELD(storage), CHOREO_FIELD(index),
                CHOREO_FIELD(value))
};
struct StoreVec {  // adjacent elements in one access of 4, 8 or 16 bytes; index aligned to it
  StorageId storage;
  ExprId index;
  std::vector<ExprId> values;
  CHOREO_FIELDS(CHOREO_FIELD(storage), CHOREO_FIELD(index), CHOREO_FIELD(values))
};
struct CopyVec {  // `bytes` (2, 4, 8, 16) through registers; both sides aligned to it
  StorageId dst;
  ExprId dst_index;
  StorageId src;
  ExprId src_index;
  int32_t bytes;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(dst_index), CHOREO_FIELD(src),
                CHOREO_FIELD(src_index), CHOREO_FIELD(bytes))
};
// cp.async of 4, 8 or 16 bytes from a parameter to shared storage; of these `valid_bytes` (s32;
// invalid: all) are read and the rest is written as zero.
struct CpAsync {
  StorageId dst;
  ExprId dst_index;
  StorageId src;
  ExprId src_index;
  int32_t bytes;
  ExprId valid_bytes;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(dst_index), CHOREO_FIELD(src),
                CHOREO_FIELD(src_index), CHOREO_FIELD(bytes), CHOREO_FIELD(valid_bytes))
};
struct CpAsyncCommit {
  CHOREO_FIELDS()
};
struct CpAsyncWait {  // until at most `pending` of the thread's groups are incomplete
  int32_t pending;
  CHOREO_FIELDS(CHOREO_FIELD(pending))
};
struct CtaBarrier {
  CHOREO_FIELDS()
};
// All threads of all CTAs of the cluster; orders what they did before for all of them after.
struct ClusterBarrier {
  CHOREO_FIELDS()
};
// bar.red.or: a NamedBarrierSync that defines `var`: whether `value` (both bool) held for any of
// its threads.
struct NamedBarrierVote {
  VarId var;
  ExprId value;
  ExprId id;
  int32_t threads;
  CHOREO_FIELDS(CHOREO_FIELD(var), CHOREO_FIELD(value), CHOREO_FIELD(id), CHOREO_FIELD(threads))
};
struct SyncWarp {
  CHOREO_FIELDS()
};
// Lets about so many nanoseconds (s32) pass; no meaning, only timing.
struct Sleep {
  ExprId nanoseconds;
  CHOREO_FIELDS(CHOREO_FIELD(nanoseconds))
};
// ---- mbarriers: an event's storage holds one a slot; `slot` (s32) is below its array size ----
struct MbarrierInit {  // every slot; phase 0 pending, `count` arrivals a phase
  StorageId event;
  int32_t count;
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(count))
};
struct FenceMbarrierInit {
  CHOREO_FIELDS()
};
struct MbarrierArrive {  // each active thread arrives once
  StorageId event;
  ExprId slot;
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(slot))
};
// Each active thread arrives once at that mbarrier of the CTA of `rank` (s32) in the cluster. There
// it tells of ordinary accesses only with `cluster_scope`, which is slow: without it, that the
// thread has got here, and with that what asynchronous operations it knows to be complete.
struct MbarrierArriveCluster {
  StorageId event;
  ExprId slot, rank;
  Flag cluster_scope = {};
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(slot), CHOREO_FIELD(rank),
                CHOREO_FIELD(cluster_scope))
};
// arrive.expect_tx: arrives once and adds `bytes` (below 2^20) to what the phase waits for.
struct MbarrierExpectTx {
  StorageId event;
  ExprId slot;
  int32_t bytes;
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(slot), CHOREO_FIELD(bytes))
};
// try_wait.parity in a loop: until the phase of `parity` (s32, 0 or 1) is complete, that is until
// the current phase has the other parity. `cluster_scope`: learns of ordinary accesses of other
// CTAs of the cluster, if they tell.
struct MbarrierWait {
  StorageId event;
  ExprId slot, parity;
  Flag cluster_scope = {};
  CHOREO_FIELDS(CHOREO_FIELD(event), CHOREO_FIELD(slot), CHOREO_FIELD(parity),
                CHOREO_FIELD(cluster_scope))
};
// ---- TMA: one box of the host part's tensor map `map`, by each active thread (so: by one) ----
// `at`: element coordinates of the box in the tensor (s32), one an axis of the parameter, outermost
// first. What lies outside the tensor is zero-filled, or not written. The box lies densely from
// `dst_index`, swizzled as the map says. Of a multicast, `at` and `dst_index` are those of rank 0;
// the box is written, and its bytes completed, at the same places in all CTAs of the cluster.
struct TmaLoadBox {
  int32_t map = 0;
  std::vector<ExprId> at;
  StorageId dst;
  ExprId dst_index;
  StorageId event;  // completes the box's bytes on this slot
  ExprId slot;
  ExprId policy;  // L2 cache policy (u64); invalid: none
  Multicast multicast = {};
  CHOREO_FIELDS(CHOREO_FIELD(map), CHOREO_FIELD(at), CHOREO_FIELD(dst), CHOREO_FIELD(dst_index),
                CHOREO_FIELD(event), CHOREO_FIELD(slot), CHOREO_FIELD(policy),
                CHOREO_FIELD(multicast))
};
struct TmaStoreBox {
  int32_t map = 0;
  std::vector<ExprId> at;
  StorageId src;
  ExprId src_index;
  CHOREO_FIELDS(CHOREO_FIELD(map), CHOREO_FIELD(at), CHOREO_FIELD(src), CHOREO_FIELD(src_index))
};
struct TmaStoreCommit {
  CHOREO_FIELDS()
};
// Until at most `pending` of the thread's groups of stores are incomplete; `read`: not yet read.
struct TmaStoreWait {
  int32_t pending = 0;
  bool read = true;
  CHOREO_FIELDS(CHOREO_FIELD(pending), CHOREO_FIELD(read))
};
struct FenceProxyAsync {
  CHOREO_FIELDS()
};
struct WgmmaFence {
  CHOREO_FIELDS()
};
// One m64nNk16 with f32 accumulator. A: descriptor, or the four packed words of `a_frag` from word
// `a_word`. trans_b: B is stored [K, N]. scale_d: s32 or bool; 0 overwrites the accumulator.
struct Wgmma {
  StorageId acc;
  ExprId a_desc;
  StorageId a_frag;
  int32_t a_word = 0;
  ExprId b_desc;
  int32_t n;
  Elem elem;
  bool trans_b = false;
  ExprId scale_d;
  CHOREO_FIELDS(CHOREO_FIELD(acc), CHOREO_FIELD(a_desc), CHOREO_FIELD(a_frag), CHOREO_FIELD(a_word),
                CHOREO_FIELD(b_desc), CHOREO_FIELD(n), CHOREO_FIELD(elem), CHOREO_FIELD(trans_b),
                CHOREO_FIELD(scale_d))
};
struct WgmmaCommit {
  CHOREO_FIELDS()
};
struct WgmmaWait {  // until at most `pending` of the warp's groups are incomplete
  int32_t pending;
  CHOREO_FIELDS(CHOREO_FIELD(pending))
};
struct FragTie {  // keeps the compiler below from moving register accesses across an MMA's edge
  StorageId frag;
  CHOREO_FIELDS(CHOREO_FIELD(frag))
};
// Elements 2·word and 2·word+1 of a 16-bit fragment, from two f32 values, rounded to nearest even.
struct FragPack {
  StorageId frag;
  ExprId word, low, high;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(word), CHOREO_FIELD(low), CHOREO_FIELD(high))
};
// Stores `count` 8×8 matrices of 16-bit elements from words word… of a packed fragment; each lane
// names the 16-byte row address of matrix lane/8, row lane%8, as an element index.
struct StMatrix {
  StorageId dst;
  ExprId index;
  StorageId frag;
  ExprId word;
  int32_t count;
  CHOREO_FIELDS(CHOREO_FIELD(dst), CHOREO_FIELD(index), CHOREO_FIELD(frag), CHOREO_FIELD(word),
                CHOREO_FIELD(count))
};
struct LdMatrix {  // the reverse of StMatrix
  StorageId frag;
  ExprId word;
  StorageId src;
  ExprId index;
  int32_t count;
  CHOREO_FIELDS(CHOREO_FIELD(frag), CHOREO_FIELD(word), CHOREO_FIELD(src), CHOREO_FIELD(index),
                CHOREO_FIELD(count))
};
struct ErrorLatch {  // stores `code` into the launch's error word unless one stands there already
  int32_t code;
  CHOREO_FIELDS(CHOREO_FIELD(code))
};

}  // namespace choreo::ir
