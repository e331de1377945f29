#include "support/elem_type.h"

#include <array>

#include "support/check.h"

namespace choreo {
namespace {

struct ElemInfo {
  std::string_view spelling;
  int bits;
  ElemClass cls;
};

constexpr std::array kElems = {
#define CHOREO_ELEM(id, spelling, bits, cls) ElemInfo{spelling, bits, ElemClass::cls},
#include "support/elem_type.def"
};

const ElemInfo& Info(Elem elem) {
  CHOREO_CHECK(static_cast<size_t>(elem) < kElems.size());
  return kElems[static_cast<size_t>(elem)];
}

}  // namespace

std::string_view Spelling(Elem elem) { return Info(elem).spelling; }
int Bits(Elem elem) { return Info(elem).bits; }
ElemClass Class(Elem elem) { return Info(elem).cls; }

std::optional<Elem> ElemFromSpelling(std::string_view spelling) {
  for (size_t i = 0; i < kElems.size(); ++i) {
    if (kElems[i].spelling == spelling) return static_cast<Elem>(i);
  }
  return std::nullopt;
}

}  // namespace choreo
