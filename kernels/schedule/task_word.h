// One task of a persistent attention kernel as a 64-bit word: query tile, head and batch.
//   bits 0..23 tile | bits 24..43 head | bits 44..63 batch
// A tile function takes a word apart with shifts and masks. What does not fit is refused by name
// when a word is packed; no field is ever cut off.
#pragma once

#include <cstdint>
#include <string>

#include "choreo/host/status.h"

namespace schedule {

inline constexpr int kTileBits = 24, kHeadBits = 20, kBatchBits = 20;
inline constexpr int kHeadShift = kTileBits, kBatchShift = kTileBits + kHeadBits;
static_assert(kTileBits + kHeadBits + kBatchBits == 64);

inline constexpr int64_t kMaxTiles = int64_t{1} << kTileBits;
inline constexpr int64_t kMaxHeads = int64_t{1} << kHeadBits;
inline constexpr int64_t kMaxBatch = int64_t{1} << kBatchBits;

struct Task {
  int64_t tile = 0, head = 0, batch = 0;
  friend bool operator==(const Task&, const Task&) = default;
};

inline choreo::error Refusal(const std::string& what, int64_t value, int64_t low, int64_t high) {
  return choreo::error(choreo::status::invalid_argument,
                       "schedule: " + what + " is " + std::to_string(value) +
                           ", but must be from " + std::to_string(low) + " to " +
                           std::to_string(high));
}

inline void CheckRange(const char* what, int64_t value, int64_t low, int64_t high) {
  if (value < low || value > high) throw Refusal(what, value, low, high);
}

inline uint64_t Pack(const Task& task) {
  CheckRange("the query tile of a task", task.tile, 0, kMaxTiles - 1);
  CheckRange("the head of a task", task.head, 0, kMaxHeads - 1);
  CheckRange("the batch of a task", task.batch, 0, kMaxBatch - 1);
  return static_cast<uint64_t>(task.tile) | static_cast<uint64_t>(task.head) << kHeadShift |
         static_cast<uint64_t>(task.batch) << kBatchShift;
}

inline Task Unpack(uint64_t word) {
  return {static_cast<int64_t>(word & (kMaxTiles - 1)),
          static_cast<int64_t>(word >> kHeadShift & (kMaxHeads - 1)),
          static_cast<int64_t>(word >> kBatchShift)};
}

}  // namespace schedule
