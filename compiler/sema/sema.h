// Semantic analysis: an ast::File in, side tables keyed by its ids out. Resolves names, gives every
// expression a type, infers accumulator shapes, decides what each assignment means, and reports
// every violation of the language that the syntax alone does not show. The AST stays as it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ast/ast.h"
#include "diag/diag.h"
#include "support/elem_type.h"
#include "support/ids.h"
#include "support/source.h"

namespace choreo::sema {

using EntityId = Id<struct EntityTag>;

// An extent or bound: a constant where the program fixes it, else symbolic. Two symbolic extents
// are known to be equal if their canonical texts are equal.
struct Extent {
  std::optional<int64_t> value;
  std::string text;  // canonical form, for messages and for equality
  bool operator==(const Extent& other) const {
    return value ? value == other.value : !other.value && text == other.text;
  }
};

enum class TypeKind : uint8_t {
  Error,  // a diagnostic was reported; stay silent
  Void,
  Scalar,      // elem; uniform or not
  Bounded,     // an s32 with a bound: parallel, foreach and with variables, and `a # b`
  Shape,       // [..] or .span: extents
  Tuple,       // {..}: extents hold the elements where they are integers
  View,        // a tile: elem, storage, extents
  TileArray,   // `shared bf16 [..] name[n]`: elem, storage, extents of one tile, array_size
  Fragment,    // elem, extents (1 or 2); accumulators are f32 fragments
  DataFuture,  // of a copy: the tile's elem, storage and extents
  OpFuture,    // of an MMA
  Event,       // array_size slots
  String,
  Wildcard,
};

struct Type {
  TypeKind kind = TypeKind::Error;
  Elem elem = Elem::kS32;
  ast::StorageClass storage = ast::StorageClass::Global;
  std::vector<Extent> extents;
  std::optional<Extent> bound;       // Bounded
  std::optional<Extent> array_size;  // TileArray; Event rings. Absent: a scalar event
  int rank() const { return static_cast<int>(extents.size()); }
};
// "`bf16 [128, 128]` shared tile", "`s32`": how diagnostics show a type.
std::string Describe(const Type& type);

enum class EntityKind : uint8_t {
  Dim,  // symbolic dimension of a parameter
  ShapedParam,
  ScalarParam,
  Scalar,  // immutable
  MutableScalar,
  ParallelVar,  // level says of what
  LoopVar,      // foreach
  WithVar,      // with: a bounded variable to iterate over or to index with
  WithTuple,
  ElementVar,   // apply
  View,         // alias of a view
  Tuple,        // a named index tuple or shape: `pair = {n, 7};`
  Storage,      // declared shared / local tile or array, or a declared fragment
  Accumulator,  // made by mma.fill
  LoadedFrag,   // made by mma.load
  DataFuture,   // also the anonymous tile of a synchronous copy
  OpFuture,
  Event,
};

struct Entity {
  EntityKind kind;
  std::string name;
  SourceRange declared;                   // the name's place
  Type type;                              // accumulators: extents inferred from the MMAs on them
  ast::Level level = ast::Level::Thread;  // ParallelVar
  std::optional<int64_t> constant;        // immutable integer scalars that fold
  bool written = false;  // ShapedParam: some statement writes it; else its view is one of const
  EntityId over;  // LoopVar of `foreach x(lo : hi : step)`: the bounded variable x it runs over
};

// What `name = value;` means (language §2).
enum class AssignKind : uint8_t {
  SetScalar,       // a visible mutable scalar; also every compound assignment
  SetElement,      // `view.at(r, c) = v`, `frag.at(i, j) = v`
  RefillFragment,  // `acc = mma.fill…` or `frag = …` on a visible one
  RebindFuture,    // `f = tma.load.async …` or `f = g` on a visible one
  Declare,         // a new immutable scalar, view, future, accumulator or loaded fragment
};

struct Result {
  IndexedVector<EntityId, Entity> entities;
  IndexedVector<ast::ExprId, Type> types;                        // of every expression
  IndexedVector<ast::ExprId, std::optional<int64_t>> constants;  // integer value where it folds
  std::unordered_map<ast::ExprId, EntityId> refs;                // NameRef -> entity
  std::unordered_map<ast::StmtId, AssignKind> assigns;
  // Entities that a statement declares, in source order: ScalarDecl and StorageDecl declarators,
  // the target of a declaring Assign, variables of parallel / foreach / with (the tuple last) /
  // apply.
  std::unordered_map<ast::StmtId, std::vector<EntityId>> declared;
  std::unordered_map<ast::FunctionId, std::vector<EntityId>>
      params;  // parallel to Function::params
  // Dimensions of a function in order of first appearance.
  std::unordered_map<ast::FunctionId, std::vector<EntityId>> dims;
  // any_of variables, keyed by the expression.
  std::unordered_map<ast::ExprId, std::vector<EntityId>> any_of_vars;
};

// Whether `diags` has errors decides whether lowering may follow. `sources` serves messages only.
Result Analyze(const ast::File& file, const SourceManager& sources, diag::Emitter& diags);

// The usual arithmetic conversions of C++ on element types; bf16 and f16 compute in f32.
Elem CommonType(Elem a, Elem b);

}  // namespace choreo::sema
