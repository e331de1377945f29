// The inputs on the host: the same hash as the tile function that fills device buffers.
// In: seed, tensor number, row and column. Out: the element, rounded to T as the device rounds it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "choreo/runtime.h"
#include "inputs.co.h"

namespace harness {

struct Tensor {
  uint32_t number;
  float limit;  // values are uniform in [-limit, limit)
};

template <class T>
constexpr const char* ElementName() {
  static_assert(std::is_same_v<T, choreo::bf16> || std::is_same_v<T, choreo::f16>,
                "kernels compute in bf16 or f16");
  return std::is_same_v<T, choreo::bf16> ? "bf16" : "f16";
}

// Calls body(i) for 0 <= i < n on all cores; body must not throw.
template <class Body>
void ParallelFor(int64_t n, const Body& body) {
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  const int64_t workers = std::min<int64_t>({cores, 64, n});
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < n; i = next++) body(i);
  };
  std::vector<std::thread> threads;
  for (int64_t w = 1; w < workers; ++w) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// One row of a tensor, element by element, through `put(column, value)`.
template <class T, class Put>
void GenerateRow(uint32_t seed, Tensor tensor, int64_t row, int64_t dim, const Put& put) {
  uint32_t key = INPUT_KEY_START(seed, tensor.number);
  INPUT_MIX(key);
  uint32_t row_key = INPUT_ROW_START(key, static_cast<uint32_t>(row));
  INPUT_MIX(row_key);
  for (int64_t col = 0; col < dim; ++col) {
    uint32_t h = INPUT_COL_START(row_key, static_cast<uint32_t>(col));
    INPUT_MIX(h);
    put(col, T(INPUT_VALUE(static_cast<float>(INPUT_BITS(h)), tensor.limit)));
  }
}

// A whole tensor, `offset` elements into the returned vector.
template <class T>
std::vector<T> GenerateTensor(uint32_t seed, Tensor tensor, int64_t rows, int64_t dim,
                              int64_t offset) {
  std::vector<T> data(offset + rows * dim);
  constexpr int64_t kRowsAChunk = 4096;
  ParallelFor((rows + kRowsAChunk - 1) / kRowsAChunk, [&](int64_t chunk) {
    const int64_t end = std::min(rows, (chunk + 1) * kRowsAChunk);
    for (int64_t row = chunk * kRowsAChunk; row < end; ++row) {
      T* out = data.data() + offset + row * dim;
      GenerateRow<T>(seed, tensor, row, dim, [&](int64_t col, T value) { out[col] = value; });
    }
  });
  return data;
}

}  // namespace harness
