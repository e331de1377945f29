// The element types of the language, shared by every phase.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace choreo {

enum class Elem : uint8_t {
#define CHOREO_ELEM(id, spelling, bits, cls) id,
#include "support/elem_type.def"
};

enum class ElemClass : uint8_t { Bool, Signed, Unsigned, Float };

std::string_view Spelling(Elem elem);
int Bits(Elem elem);
inline int Bytes(Elem elem) { return Bits(elem) / 8; }
ElemClass Class(Elem elem);
std::optional<Elem> ElemFromSpelling(std::string_view spelling);

inline bool IsFloat(Elem e) { return Class(e) == ElemClass::Float; }
inline bool IsSigned(Elem e) { return Class(e) == ElemClass::Signed; }
inline bool IsUnsigned(Elem e) { return Class(e) == ElemClass::Unsigned; }
inline bool IsInteger(Elem e) { return IsSigned(e) || IsUnsigned(e); }
// bf16 and f16: what an MMA multiplies.
inline bool IsHalf(Elem e) { return e == Elem::kBf16 || e == Elem::kF16; }

}  // namespace choreo
