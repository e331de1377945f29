#include "codegen/cpp_types.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "ir/printer.h"
#include "support/check.h"

namespace choreo::codegen {
namespace {

std::string_view PlainType(Elem elem) {
  switch (elem) {
    case Elem::kBool:
      return "bool";
    case Elem::kS8:
      return "int8_t";
    case Elem::kU8:
      return "uint8_t";
    case Elem::kS16:
      return "int16_t";
    case Elem::kU16:
      return "uint16_t";
    case Elem::kS32:
      return "int";
    case Elem::kU32:
      return "uint32_t";
    case Elem::kS64:
      return "int64_t";
    case Elem::kU64:
      return "uint64_t";
    case Elem::kF32:
      return "float";
    case Elem::kF64:
      return "double";
    case Elem::kF16:
    case Elem::kBf16:
      break;
    // Moved, never computed with: their bits.
    case Elem::kF8E4M3:
    case Elem::kF8E5M2:
      return "uint8_t";
  }
  CHOREO_UNREACHABLE();
}

}  // namespace

std::string_view DeviceType(Elem elem) {
  if (elem == Elem::kBf16) return "__nv_bfloat16";
  return elem == Elem::kF16 ? "__half" : PlainType(elem);
}

std::string_view HostType(Elem elem) {
  if (elem == Elem::kBf16) return "choreo::bf16";
  return elem == Elem::kF16 ? "choreo::f16" : PlainType(elem);
}

std::string MapType(Elem elem) {
  const auto name = [elem]() -> std::string_view {
    switch (elem) {
      case Elem::kBool:
      case Elem::kS8:
      case Elem::kU8:
      case Elem::kF8E4M3:
      case Elem::kF8E5M2:
        return "UINT8";
      case Elem::kS16:
      case Elem::kU16:
        return "UINT16";
      case Elem::kS32:
        return "INT32";
      case Elem::kU32:
        return "UINT32";
      case Elem::kS64:
        return "INT64";
      case Elem::kU64:
        return "UINT64";
      case Elem::kF16:
        return "FLOAT16";
      case Elem::kBf16:
        return "BFLOAT16";
      case Elem::kF32:
        return "FLOAT32";
      case Elem::kF64:
        return "FLOAT64";
    }
    CHOREO_UNREACHABLE();
  }();
  return fmt::format("CU_TENSOR_MAP_DATA_TYPE_{}", name);
}

std::string IntLiteral(int64_t value, Elem elem) {
  switch (elem) {
    case Elem::kBool:
      return value != 0 ? "true" : "false";
    case Elem::kU32:
      return fmt::format("{}u", value);
    case Elem::kU64:
      return fmt::format("{}UL", static_cast<uint64_t>(value));
    case Elem::kS64:
      if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807L - 1)";
      return fmt::format("{}L", value);
    case Elem::kS32:
      // The lowest value has no literal: its digits alone are no int.
      if (value == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
      return fmt::to_string(value);
    default:
      return fmt::to_string(value);
  }
}

std::string FloatLiteral(double value, Elem elem) {
  const bool wide = elem == Elem::kF64;
  if (!std::isfinite(value)) {
    const std::string name = std::isnan(value) ? "NAN" : value < 0 ? "-INFINITY" : "INFINITY";
    return wide ? fmt::format("static_cast<double>({})", name) : name;
  }
  return ir::FloatText(value, wide ? Elem::kF64 : Elem::kF32) + (wide ? "" : "f");
}

}  // namespace choreo::codegen
