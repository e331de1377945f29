// C++ spellings of element types and constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/elem_type.h"

namespace choreo::codegen {

// In kernels: `__nv_bfloat16`, `int`; in host code, where 16-bit floats are choreo's:
// `choreo::bf16`.
std::string_view DeviceType(Elem elem);
std::string_view HostType(Elem elem);

// The driver's name of the type in a tensor map: 8-bit floats are moved as bytes.
std::string MapType(Elem elem);

std::string IntLiteral(int64_t value, Elem elem);
// Of f32 and f64; 16-bit constants are converted from f32 ones.
std::string FloatLiteral(double value, Elem elem);

}  // namespace choreo::codegen
