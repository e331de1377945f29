// The error word: how a kernel reports a failed run-time check without a call, a trap or a print
// (any of which would serialise every WGMMA of the kernel). The kernel stores, the host reads and
// makes the message. One word a launch; any failing thread may win, all report a true failure.
// debug_wait does end the kernel, behind its loop, because what it waits for will never come.
#pragma once

#include <cstdint>

#include "choreo/ptx/mbarrier.h"

namespace choreo {

// code 0: nothing failed; else the number of the failed check. line: its line in the .co file.
// slot and parity: of a wait that did not end.
struct alignas(8) ErrorWord {
  uint16_t code;
  uint16_t slot : 15;
  uint16_t parity : 1;
  uint32_t line;
};

// Latches a failure where `failed`; one 8-byte store, so that code and line stay together.
__device__ __forceinline__ void latch_error(ErrorWord* word, bool failed, uint32_t code,
                                            uint32_t line) {
  if (failed) {
    *reinterpret_cast<volatile uint64_t*>(word) =
        static_cast<uint64_t>(line) << 32 | static_cast<uint64_t>(code);
  }
}

// Waits for an mbarrier's phase like mbarrier_wait_parity, but for `milliseconds` only: then it
// latches the failure and ends the kernel.
template <int milliseconds>
__device__ __forceinline__ void debug_wait(uint32_t mbar, uint32_t parity, uint32_t slot,
                                           ErrorWord* word, uint32_t code, uint32_t line) {
  const uint64_t failure =
      static_cast<uint64_t>(line) << 32 | (parity & 1) << 31 | (slot & 0x7fff) << 16 | code;
  ptx::mbarrier_wait_parity_or_trap(mbar, parity, uint64_t{milliseconds} * 1000000, word, failure);
}

}  // namespace choreo
