// How types are shown, and the arithmetic conversions between element types.
#include <fmt/format.h>

#include "sema/sema.h"

namespace choreo::sema {
namespace {

std::string List(const std::vector<Extent>& extents) {
  std::string text = "[";
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i != 0) text += ", ";
    text += extents[i].text;
  }
  return text + "]";
}

std::string Tile(const Type& type) {
  return fmt::format("`{} {}`", Spelling(type.elem), List(type.extents));
}

std::string_view Where(ast::StorageClass storage) {
  switch (storage) {
    case ast::StorageClass::Global:
      return "global view";
    case ast::StorageClass::Shared:
      return "shared tile";
    case ast::StorageClass::Local:
      return "local tile";
    case ast::StorageClass::Frag:
      return "fragment";
  }
  CHOREO_UNREACHABLE();
}

int Rank(Elem elem) {
  switch (elem) {
    case Elem::kBool:
    case Elem::kS8:
    case Elem::kU8:
    case Elem::kS16:
    case Elem::kU16:
    case Elem::kS32:
      return 0;
    case Elem::kU32:
      return 1;
    case Elem::kS64:
      return 2;
    case Elem::kU64:
      return 3;
    case Elem::kF64:
      return 5;
    default:
      return 4;
  }
}

}  // namespace

std::string Describe(const Type& type) {
  switch (type.kind) {
    case TypeKind::Error:
      return "an expression with an error";
    case TypeKind::Void:
      return "nothing";
    case TypeKind::Scalar:
      return fmt::format("`{}`", Spelling(type.elem));
    case TypeKind::Bounded:
      return fmt::format("a variable bounded by `{}`", type.bound ? type.bound->text : "?");
    case TypeKind::Shape:
      return fmt::format("the shape `{}`", List(type.extents));
    case TypeKind::Tuple:
      return fmt::format("an index tuple of {}", type.extents.size());
    case TypeKind::View:
      return fmt::format("{} {}", Tile(type), Where(type.storage));
    case TypeKind::TileArray:
      return fmt::format("an array of {} {}s", Tile(type), Where(type.storage));
    case TypeKind::Fragment:
      return Tile(type) + " fragment";
    case TypeKind::DataFuture:
      return "the data future of " + Tile(type);
    case TypeKind::OpFuture:
      return "the future of an MMA";
    case TypeKind::Event:
      return type.array_size ? fmt::format("a ring of {} events", type.array_size->text)
                             : "an event";
    case TypeKind::String:
      return "a string";
    case TypeKind::Wildcard:
      return "`_`";
  }
  CHOREO_UNREACHABLE();
}

Elem CommonType(Elem a, Elem b) {
  const int higher = std::max(Rank(a), Rank(b));
  switch (higher) {
    case 0:
      return Elem::kS32;
    case 1:
      return Elem::kU32;
    case 2:
      return Elem::kS64;
    case 3:
      return Elem::kU64;
    case 5:
      return Elem::kF64;
    default:
      return Elem::kF32;
  }
}

}  // namespace choreo::sema
