#include "sim/wgmma.h"

namespace choreo::sim {
namespace {

// The hardware XORs bits 4… of the absolute address with bits 7…, counted from the pattern's start.
uint32_t Swizzled(const Descriptor& d, uint32_t address) {
  const uint32_t row = ((address >> 7) - d.base_offset) & 7;
  return address ^ ((row << 4) & (d.width - 16));
}

}  // namespace

Descriptor DecodeDescriptor(uint64_t bits) {
  const auto field = [bits](int low) { return static_cast<uint32_t>(bits >> low & 0x3fff) << 4; };
  constexpr uint32_t kWidths[4] = {16, 128, 64, 32};
  return {field(0), field(16), field(32), static_cast<uint32_t>(bits >> 49 & 7),
          kWidths[bits >> 62]};
}

uint32_t KMajorChunk(const Descriptor& d, uint32_t row, uint32_t c) {
  const uint32_t along_k = d.width == 16 ? c * d.leading : c * 16;
  return Swizzled(d, d.start + row / 8 * d.stride + row % 8 * d.width + along_k);
}

uint32_t MnMajorChunk(const Descriptor& d, uint32_t k, uint32_t c) {
  if (d.width == 16) return d.start + c * d.stride + k / 8 * d.leading + k % 8 * 16;
  const uint32_t chunks = d.width / 16;  // of a row of a panel
  return Swizzled(
      d, d.start + c / chunks * d.leading + k / 8 * d.stride + k % 8 * d.width + c % chunks * 16);
}

}  // namespace choreo::sim
