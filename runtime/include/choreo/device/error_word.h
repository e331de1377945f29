// The error word: how a kernel reports a failed run-time check without a call, a trap or a print
// (any of which would serialise every WGMMA of the kernel). The kernel stores, the host reads and
// makes the message. One word a launch; any failing thread may win, all report a true failure.
#pragma once

#include <cstdint>

namespace choreo {

// code 0: nothing failed; else the number of the failed check. line: its line in the .co file.
struct alignas(8) ErrorWord {
  uint32_t code;
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

}  // namespace choreo
