// Arguments of a tile function made from `--shape B=1,S=512`: tensors of those extents, row-major,
// filled with a deterministic hash, and scalars. Dimensions that a host assertion determines,
// such as `assert(A == B)`, need not be given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diag.h"
#include "ir/ir.h"

namespace choreo::driver {

struct ShapeValue {
  std::string name;
  std::string text;
};
// Nothing if `text` does not have the form NAME=VALUE,…; `problem` then says why.
std::optional<std::vector<ShapeValue>> ParseShape(std::string_view text, std::string& problem);

struct ArgumentValue {
  // Shaped: elements as memory holds them, and one extent and stride (in elements) an axis.
  std::vector<uint8_t> bytes;
  std::vector<int64_t> extents, strides;
  // Scalar: the value as memory holds it, in the low bytes.
  uint64_t scalar = 0;
};

// Names of the symbolic dimensions and scalar parameters of a kernel, in order of appearance.
std::vector<std::string> ShapeNames(const ir::Kernel& kernel);
// `shape`, and the names of the kernel whose value follows from it.
std::vector<ShapeValue> Determined(const ir::Kernel& kernel, const std::vector<ShapeValue>& shape);
// Those without a value.
std::vector<std::string> MissingNames(const ir::Kernel& kernel,
                                      const std::vector<ShapeValue>& shape);

// One value a parameter; nothing if a value is wrong (diagnosed). No name may be missing.
std::optional<std::vector<ArgumentValue>> MakeArguments(const ir::Kernel& kernel,
                                                        const std::vector<ShapeValue>& shape,
                                                        diag::Emitter& diags);

// What a tensor holds, in one line: a hash of its bytes, the range and mean of its values, NaNs.
std::string Digest(Elem elem, const std::vector<uint8_t>& bytes);

}  // namespace choreo::driver
