// What printer and reader share: the words for enumerators, and the fields of the tables that stand
// beside the ops (ops name their own fields). A new enumerator or field goes here once.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>

#include "ir/ir.h"

namespace choreo::ir {

// The words of an enum, in the order of its enumerators.
template <class E>
struct EnumWords;
template <>
struct EnumWords<State> {
  static constexpr std::array<std::string_view, 3> kWords = {"tile", "lowering", "lowered"};
};
template <>
struct EnumWords<VarKind> {
  static constexpr std::array<std::string_view, 9> kWords = {
      "dim", "stride", "param", "let", "mutable", "loop", "parallel", "element", "future"};
};
template <>
struct EnumWords<StorageKind> {
  static constexpr std::array<std::string_view, 5> kWords = {"param", "shared", "local", "frag",
                                                             "event"};
};
template <>
struct EnumWords<FragLayout> {
  static constexpr std::array<std::string_view, 3> kWords = {"unspread", "accumulator", "row"};
};
template <>
struct EnumWords<Level> {
  static constexpr std::array<std::string_view, 4> kWords = {"block", "warpgroup", "warp",
                                                             "thread"};
};
template <>
struct EnumWords<ReduceKind> {
  static constexpr std::array<std::string_view, 2> kWords = {"max", "sum"};
};
template <>
struct EnumWords<AtomicKind> {
  static constexpr std::array<std::string_view, 3> kWords = {"add", "max", "min"};
};
template <>
struct EnumWords<EvictPolicy> {
  static constexpr std::array<std::string_view, 3> kWords = {"keep", "first", "last"};
};
template <>
struct EnumWords<HostCheck::Kind> {
  static constexpr std::array<std::string_view, 4> kWords = {"base_alignment", "stride_multiple",
                                                             "contiguous", "extent_multiple"};
};

template <class T>
concept WordedEnum = std::is_enum_v<T> && requires { EnumWords<T>::kWords; };

template <WordedEnum E>
std::string_view Word(E value) {
  const auto index = static_cast<size_t>(value);
  return index < EnumWords<E>::kWords.size() ? EnumWords<E>::kWords[index] : "invalid";
}
template <WordedEnum E>
std::optional<E> EnumFromWord(std::string_view word) {
  for (size_t i = 0; i < EnumWords<E>::kWords.size(); ++i) {
    if (EnumWords<E>::kWords[i] == word) return static_cast<E>(i);
  }
  return std::nullopt;
}

// ---- fields of the tables; f(name, field), in text order ----

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, Var>
{
  f("type", self.type);
  f("kind", self.kind);
  f("bound", self.bound);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, Storage>
{
  f("kind", self.kind);
  f("elem", self.elem);
  f("dims", self.dims);
  f("array_size", self.array_size);
  f("param_index", self.param_index);
  f("strides", self.strides);
  f("swizzle", self.swizzle);
  f("anonymous", self.anonymous);
  f("byte_offset", self.byte_offset);
  f("tile_bytes", self.tile_bytes);
  f("layout", self.layout);
  f("ready", self.ready);
  f("slot_names", self.slot_names);
  f("slot_places", self.slot_places);
  f("cluster", self.cluster);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, View>
{
  f("storage", self.storage);
  f("slot", self.slot);
  f("base_offset", self.base_offset);
  f("base_extents", self.base_extents);
  f("start", self.start);
  f("axes", self.axes);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, View::Axis>
{
  f("base_axis", self.base_axis);
  f("extent", self.extent);
  f("step", self.step);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, Param>
{
  f("name", self.name);
  f("elem", self.elem);
  f("shaped", self.shaped);
  f("host_memory", self.host_memory);
  f("written", self.written);
  f("storage", self.storage);
  f("var", self.var);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, HostCheck>
{
  f("kind", self.kind);
  f("param", self.param);
  f("axis", self.axis);
  f("value", self.value);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, TensorMap>
{
  f("param", self.param);
  f("box", self.box);
  f("swizzle", self.swizzle);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, Cover>
{
  f("param", self.param);
  f("line", self.line);
  f("column", self.column);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, Multicast>
{
  f("axis", self.axis);
  f("rows", self.rows);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, HostPart>
{
  f("grid", self.grid);
  f("threads", self.threads);
  f("min_blocks", self.min_blocks);
  f("max_threads_bound", self.max_threads_bound);
  f("max_registers", self.max_registers);
  f("cluster", self.cluster);
  f("async", self.async);
  f("shared_bytes", self.shared_bytes);
  f("checks", self.checks);
  f("maps", self.maps);
  f("covers", self.covers);
  f("block_vars", self.block_vars);
  f("block_bounds", self.block_bounds);
  f("body", self.body);
}

template <class Self, class F>
void TableFields(Self& self, F&& f)
  requires std::is_same_v<std::remove_cv_t<Self>, ErrorMessage>
{
  f("text", self.text);
}

template <class T>
concept HasTableFields = requires(T& value) { TableFields(value, [](const char*, auto&) {}); };
// Structs that are written as one `(field=value …)` inside a list.
template <class T>
concept TupleLike =
    std::is_same_v<T, View::Axis> || std::is_same_v<T, HostCheck> || std::is_same_v<T, TensorMap> ||
    std::is_same_v<T, Cover> || std::is_same_v<T, Multicast>;
// Fields of ops that are written only where they are set.
template <class T>
concept Sparse = std::is_same_v<T, Flag> || std::is_same_v<T, Multicast>;

}  // namespace choreo::ir
