// The registers of a warp: slots of 32 lanes side by side, so that operations vectorise.
// A value of 8 to 32 bits fills one slot (integers as s32 or u32, floats narrower than f32 as f32),
// one of 64 bits two neighbouring slots. Each slot carries a poison mask: bit l says that lane l
// holds a value that was never written.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "support/elem_type.h"

namespace choreo::sim {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = 0xffffffffu;
using Slot = uint32_t;
inline constexpr Slot kNoSlot = 0xffffffffu;

// How an element type is held in registers.
enum class Machine : uint8_t { I32, U32, I64, U64, F32, F64 };

inline Machine MachineOf(Elem elem) {
  switch (elem) {
    case Elem::kBool:
    case Elem::kS8:
    case Elem::kU8:
    case Elem::kS16:
    case Elem::kU16:
    case Elem::kS32:
      return Machine::I32;
    case Elem::kU32:
      return Machine::U32;
    case Elem::kS64:
      return Machine::I64;
    case Elem::kU64:
      return Machine::U64;
    case Elem::kF64:
      return Machine::F64;
    default:
      return Machine::F32;
  }
}
inline bool IsWide(Machine m) {
  return m == Machine::I64 || m == Machine::U64 || m == Machine::F64;
}
inline uint32_t SlotsOf(Elem elem) { return IsWide(MachineOf(elem)) ? 2 : 1; }

class RegFile {
 public:
  void Resize(size_t slots) {
    blocks_.resize(slots);
    poison.resize(slots, kAllLanes);
  }
  size_t size() const { return blocks_.size(); }
  template <class T>
  T* At(Slot slot) {
    return reinterpret_cast<T*>(blocks_[slot].bytes);
  }
  template <class T>
  const T* At(Slot slot) const {
    return reinterpret_cast<const T*>(blocks_[slot].bytes);
  }

  std::vector<uint32_t> poison;

 private:
  struct alignas(64) Block {
    unsigned char bytes[kLanes * 4] = {};
  };
  std::vector<Block> blocks_;
};

}  // namespace choreo::sim
