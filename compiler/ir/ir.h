// The intermediate representation: a module of kernels, in one of two states.
// Tile state says what the program says (views, copies, MMAs on tiles); lowered state says what
// each thread does on the hardware. Control flow is structured; storage objects are mutable;
// expressions are pure trees. Everything is a value: ops own their regions, the rest is referred to
// by id.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/elem_type.h"
#include "support/ids.h"

namespace choreo::ir {

using ExprId = Id<struct IrExprTag>;
using VarId = Id<struct IrVarTag>;
using StorageId = Id<struct IrStorageTag>;
using ViewId = Id<struct IrViewTag>;

// A place in the module's .co file; line 0 means none. Text from macros is placed at its use.
struct Loc {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const Loc&, const Loc&) = default;
};

// ---- expressions ------------------------------------------------------------------------------

enum class UnaryOp : uint8_t {
#define CHOREO_UNARY(kind, spelling) kind,
#include "ir/expr_op.def"
};
enum class BinaryOp : uint8_t {
#define CHOREO_BINARY(kind, spelling) kind,
#include "ir/expr_op.def"
};
enum class Intrinsic : uint8_t {
#define CHOREO_INTRINSIC(kind, name, arity) kind,
#include "ir/expr_op.def"
};

struct IntConst {  // integers and bool; the value as signed 64 bits (u64 wraps)
  int64_t value;
};
struct FloatConst {
  double value;
};
struct VarRef {
  VarId var;
};
struct Unary {
  UnaryOp op;
  ExprId operand;
};
// Both operands have one type (the front end converts); comparisons give bool; shifts have the left
// operand's type. Integer division truncates as in C.
struct Binary {
  BinaryOp op;
  ExprId left, right;
};
struct Select {
  ExprId condition, then_value, else_value;
};
struct Cast {  // to the expression's type: float narrowing rounds to nearest even, as `__to`
  ExprId operand;
};
struct Call {
  Intrinsic callee;
  std::vector<ExprId> args;
};
// Tile state: the element at logical indices {i} or {i, j}. Lowered: {r}, the lane's r-th element.
struct FragElem {
  StorageId frag;
  std::vector<ExprId> index;
};
struct ViewElem {  // tile state: the single element of a view without axes
  ViewId view;
};
// Lowered: the element at a linear index (s64 for parameters, s32 otherwise) into the storage. For
// shared storage the index counts from the tile's start and already includes panels and swizzle.
struct MemElem {
  StorageId storage;
  ExprId index;
};
// Lowered: the 64-bit WGMMA matrix descriptor of shared storage at a byte offset from its start.
// Leading/stride byte offsets are those of the PTX manual; swizzle is 0, 32, 64 or 128.
struct SmemDesc {
  StorageId storage;
  ExprId byte_offset;                            // s32
  int32_t leading_bytes, stride_bytes, swizzle;  // multiples of 16; swizzle 0 means none
};

using ExprNode = std::variant<IntConst, FloatConst, VarRef, Unary, Binary, Select, Cast, Call,
                              FragElem, ViewElem, MemElem, SmemDesc>;
struct Expr {
  Elem type = Elem::kS32;
  ExprNode node;
};

// ---- variables, storage, views ----------------------------------------------------------------

enum class VarKind : uint8_t {
  Dim,       // symbolic dimension, bound by the host from an argument's extent
  Stride,    // stride of a shaped parameter's axis, in elements (s64)
  Param,     // scalar parameter
  Let,       // immutable scalar
  Mutable,   // `mutable` scalar: one a thread
  Loop,      // loop variable
  Parallel,  // block, warpgroup, warp or thread index
  Element,   // index variable of an apply
  Future,    // completion of an asynchronous operation; has no value
};
struct Var {
  std::string name;  // the user's, or a descriptive one; need not be unique
  Elem type = Elem::kS32;
  VarKind kind = VarKind::Let;
  Loc loc;
  ExprId bound;  // Parallel, Loop over [0, bound): the bound; else invalid
};

enum class StorageKind : uint8_t { Param, Shared, Local, Frag, Event };
// How a fragment is spread over a warpgroup's registers (m64nNk16 accumulator mapping):
// element r of lane l in warp w is row 16·w + l/4 + 8·((r/2)%2), column 8·(r/4) + 2·(l%4) + r%2.
// Row: one value a row, replicated over the row's four lanes; element r is row 16·w + l/4 + 8·r.
enum class FragLayout : uint8_t { None, Accumulator, Row };

struct Storage {
  std::string name;
  StorageKind kind = StorageKind::Shared;
  Elem elem = Elem::kF32;
  std::vector<ExprId> dims;  // of one tile; constants except for parameters
  int32_t array_size = 1;    // `name[n]`: n tiles
  Loc loc;
  // Param:
  int32_t param_index = -1;
  std::vector<ExprId> strides;  // in elements, s64; the innermost is the constant 1
  // Shared:
  // Layout of a tile in memory: 0 row-major; 32, 64, 128: rows cut into panels of that many bytes,
  // each panel all (padded to 8) rows long and swizzled; 16: panels of 16 bytes, not swizzled (what
  // WGMMA calls no swizzle); -1: not chosen yet.
  int32_t swizzle = -1;
  bool anonymous = false;    // made by `=> shared`
  int32_t byte_offset = -1;  // in dynamic shared memory; set by the shared-memory plan
  int32_t tile_bytes = 0;    // of one tile of the array, padding included; set with it
  // Frag:
  FragLayout layout = FragLayout::None;
  // Event (elem u64, no dims): array_size slots, 0 for a scalar event in tile state; byte_offset as
  // for shared tiles.
  bool ready = false;  // generation 0 is given
  // Lowered: of an array that is no ring, but events of their own, their names, parted by spaces.
  std::string slot_names;
  // And where an op at one place of the source stands for several: `12:5/1@13:5`, parted by spaces,
  // says that what the op at 12:5 does for slot 1 is written at 13:5.
  std::string slot_places;
  // An object a CTA; what triggers it counts in every CTA of the cluster.
  bool cluster = false;
};

// A window on a storage object; no data moves. The base is the storage's tile [slot], of extents
// `base_extents` (the storage's dims, or those of a span_as) from element `base_offset`. The view
// starts at coordinates `start` of it and runs along `axes`; base axes without a view axis are
// single elements.
struct View {
  StorageId storage;
  ExprId slot;                       // into an array of tiles; invalid: 0
  ExprId base_offset;                // elements, s64; invalid: 0
  std::vector<ExprId> base_extents;  // one a base axis
  std::vector<ExprId> start;         // element coordinates (s32), one a base axis
  struct Axis {
    int32_t base_axis;
    ExprId extent;  // s32
    ExprId step;    // base elements from one view element to the next; invalid: 1
  };
  std::vector<Axis> axes;
};

// ---- ops --------------------------------------------------------------------------------------

struct Op;
struct Region {
  std::vector<Op> ops;
};

}  // namespace choreo::ir

#include "ir/ops.h"

namespace choreo::ir {

using OpNode = std::variant<
#define CHOREO_OP(Struct, name, states) Struct,
#include "ir/op_kind.def"
    std::monostate>;

// Copying and moving a variant of all ops is instantiated once, in ir.cpp: it costs seconds a file.
struct Op {
  Loc loc;
  OpNode node;

  Op() = default;
  template <class NodeT>
    requires(std::is_constructible_v<OpNode, std::in_place_type_t<NodeT>, NodeT>)
  Op(Loc at, NodeT op) : loc(at), node(std::in_place_type<NodeT>, std::move(op)) {}
  // Replaces what the op is and keeps its place.
  template <class NodeT>
  void Become(NodeT op) {
    *this = Op(loc, std::move(op));
  }
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
  ~Op();
};

// ---- kernels and modules ----------------------------------------------------------------------

struct Param {
  std::string name;
  Elem elem;
  bool shaped = false;
  bool host_memory = false;  // shaped without `global`: staged through device memory
  bool written = false;
  StorageId storage;  // shaped
  VarId var;          // scalar
};

// What the host must hold to be true before the launch, beyond what parameters imply (extents that
// agree, innermost stride 1, limits). Made by the host plan.
struct HostCheck {
  enum class Kind : uint8_t { BaseAlignment, StrideMultiple, Contiguous, ExtentMultiple } kind;
  int32_t param;
  int32_t axis;   // StrideMultiple, ExtentMultiple
  int64_t value;  // bytes, or elements
};

// A TMA tensor map of a shaped parameter: its extents and strides, this box (elements, one an axis,
// outermost first) and swizzle (0, 32, 64, 128). Made by lower-tma, encoded by the host.
struct TensorMap {
  int32_t param = 0;
  std::vector<int32_t> box;
  int32_t swizzle = 0;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

// A promise of the program: a launch stores each element of this written parameter exactly once.
// Executions check it.
struct Cover {
  int32_t param = 0;
  int32_t line = 0, column = 0;  // of the promise
};

struct HostPart {
  Region body;                 // scalar lets and asserts before `parallel`, in order
  std::array<ExprId, 3> grid;  // x, y, z extents (s64), set by the host plan; invalid: 1
  int32_t threads = 0;         // of a CTA
  int32_t min_blocks = 1;
  int32_t max_threads_bound = 0;  // the user's launch_bounds; 0: `threads`
  int32_t max_registers = 0;      // the user's maxnreg; 0: none
  int32_t cluster = 1;            // CTAs of a cluster, neighbours on grid axis x: 1, 2, 4 or 8
  bool async = false;
  int64_t shared_bytes = 0;  // dynamic shared memory of a CTA
  std::vector<HostCheck> checks;
  std::vector<TensorMap> maps;
  std::vector<Cover> covers;
  std::vector<VarId> block_vars;  // grid coordinates, outermost first as written
  std::vector<ExprId> block_bounds;
};

struct ErrorMessage {  // what the host says when a kernel latched code = index + 1
  Loc loc;
  std::string text;
};

struct Kernel {
  std::string name;
  Loc loc;
  std::vector<Param> params;
  IndexedVector<ExprId, Expr> exprs;
  IndexedVector<VarId, Var> vars;
  IndexedVector<StorageId, Storage> storages;
  IndexedVector<ViewId, View> views;
  HostPart host;
  Region body;  // what a CTA executes
  std::vector<ErrorMessage> errors;
};

// Lowering: the passes are at work, ops of both states may stand side by side.
enum class State : uint8_t { Tile, Lowering, Lowered };

struct SourceLine {  // text of the .co lines that ops are placed at, for comments in generated code
  uint32_t line;
  std::string text;
};

struct Module {
  State state = State::Tile;
  std::string source_name;
  std::vector<SourceLine> lines;  // ascending
  std::vector<Kernel> kernels;
};

// ---- names of things --------------------------------------------------------------------------

std::string_view Name(const OpNode& node);
std::string_view Spelling(UnaryOp op);
std::string_view Spelling(BinaryOp op);
std::string_view Spelling(Intrinsic intrinsic);
bool IsComparison(BinaryOp op);

}  // namespace choreo::ir
