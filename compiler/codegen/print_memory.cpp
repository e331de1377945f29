// OpPrinter: loads and stores.
#include "codegen/cpp_types.h"
#include "codegen/print_op.h"
#include "ir/builder.h"

namespace choreo::codegen {
namespace {

// The type that moves `bytes` at once.
std::string_view MoveType(int bytes) {
  switch (bytes) {
    case 2:
      return "uint16_t";
    case 4:
      return "uint32_t";
    case 8:
      return "uint2";
    case 16:
      return "uint4";
    default:
      CHOREO_UNREACHABLE("an access of {} bytes", bytes);
  }
}

// CUDA's vector type of `count` elements of four or eight bytes; empty if there is none.
std::string VectorType(Elem elem, size_t count) {
  std::string_view base;
  switch (elem) {
    case Elem::kF32:
      base = "float";
      break;
    case Elem::kS32:
      base = "int";
      break;
    case Elem::kU32:
      base = "uint";
      break;
    case Elem::kF64:
      base = "double";
      break;
    case Elem::kS64:
      base = "long";
      break;
    case Elem::kU64:
      base = "ulong";
      break;
    default:
      return "";
  }
  return fmt::format("{}{}", base, count);
}

}  // namespace

void OpPrinter::Print(const ir::MemStore& op) {
  Line(fmt::format("{} = {};", exprs_.Element(op.storage, op.index), exprs_.Print(op.value)));
}

void OpPrinter::Print(const ir::AtomicMem& op) {
  const std::string_view how = op.how == ir::AtomicKind::Add   ? "add"
                               : op.how == ir::AtomicKind::Max ? "max"
                                                               : "min";
  const std::string call =
      fmt::format("choreo::atomic_{}({}, {})", how, exprs_.Pointer(op.storage, op.index),
                  exprs_.Print(op.value));
  if (!op.var) return Line(call + ";");
  Line(fmt::format("const {} {} = {};", DeviceType(ElemOf(op.storage)), names_.Define(op.var),
                   call));
}

void OpPrinter::Print(const ir::StoreVec& op) {
  const Elem elem = ElemOf(op.storage);
  const size_t count = op.values.size();
  const auto store = [&](std::string_view type, std::string_view value) {
    Line(fmt::format("*reinterpret_cast<{}*>({}) = {};", type, exprs_.Pointer(op.storage, op.index),
                     value));
  };
  std::string values;
  if (IsHalf(elem)) {
    for (size_t i = 0; i < count; i += 2) {
      values += fmt::format("{}choreo::pack<{}>({}, {})", i == 0 ? "" : ", ", DeviceType(elem),
                            exprs_.Unrounded(op.values[i]), exprs_.Unrounded(op.values[i + 1]));
    }
    if (count == 2) return store("uint32_t", values);
    const std::string_view type = MoveType(static_cast<int>(2 * count));
    return store(type, fmt::format("make_{}({})", type, values));
  }
  for (const ir::ExprId value : op.values) {
    values += fmt::format("{}{}", values.empty() ? "" : ", ", exprs_.Print(value));
  }
  const std::string type = VectorType(elem, count);
  if (!type.empty() && count > 1) return store(type, fmt::format("make_{}({})", type, values));
  // Small integers, and single elements: one by one.
  for (size_t i = 0; i < count; ++i) {
    Line(fmt::format("{}[{}] = {};", names_.Of(op.storage),
                     exprs_.Plus(op.index, static_cast<int64_t>(i)), exprs_.Print(op.values[i])));
  }
}

void OpPrinter::Print(const ir::CopyVec& op) {
  if (op.bytes == Bytes(ElemOf(op.dst))) {
    Line(fmt::format("{} = {};", exprs_.Element(op.dst, op.dst_index),
                     exprs_.Element(op.src, op.src_index)));
    return;
  }
  const std::string_view type = MoveType(op.bytes);
  Line(fmt::format("*reinterpret_cast<{0}*>({1}) = *reinterpret_cast<const {0}*>({2});", type,
                   exprs_.Pointer(op.dst, op.dst_index), exprs_.Pointer(op.src, op.src_index)));
}

void OpPrinter::Print(const ir::CpAsync& op) {
  std::string args = fmt::format("{}, {}", exprs_.SharedAddress(op.dst, op.dst_index),
                                 exprs_.Pointer(op.src, op.src_index));
  if (op.valid_bytes) args += fmt::format(", {}", exprs_.Print(op.valid_bytes));
  // 16 bytes go past the first-level cache: nobody reads them twice.
  Line(fmt::format("ptx::cp_async_{}<{}>({});", op.bytes == 16 ? "cg" : "ca", op.bytes, args));
}

}  // namespace choreo::codegen
