// The FP64 reference of a GEMM and the comparison with it: all elements of a small C; of a large
// one whole rows and scattered elements. In: the shape, the seed (inputs are generated again) and C
// on the host. Out: Verification. Must hold: every tile of 64 x 128 is met, first and last rows and
// columns are among the compared; every element of C must be finite, and what pads its rows
// untouched.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <type_traits>
#include <vector>

#include "../../harness/inputs.h"
#include "../../harness/run.h"
#include "choreo/runtime.h"
#include "options.h"

namespace gemm {

inline constexpr harness::Tensor kA{16u, 1.0f}, kB{17u, 1.0f};

// Rounding C to T alone costs an element at most 2^-8 of bf16, 2^-11 of f16.
template <class T>
inline constexpr double kRelTolerance = std::is_same_v<T, choreo::bf16> ? 1.0 / 256 : 1.0 / 2048;
// Over many elements that is a relative L2 error of 1.7e-3 and 2.1e-4; few may be rounded worse.
template <class T>
double L2Tolerance(int64_t elements) {
  const double many = std::is_same_v<T, choreo::bf16> ? 2.2e-3 : 4e-4;
  return many + 2 * kRelTolerance<T> / std::sqrt(double(std::max<int64_t>(elements, 1)));
}
inline constexpr double kAbsTolerance = 2e-4;  // times sqrt(k): what f32 accumulation may lose

struct Verification {
  int64_t elements = 0, not_finite = 0, beyond = 0, padding_written = 0;
  double error2 = 0, reference2 = 0, max_error = 0;
  int64_t max_row = 0, max_column = 0;
  double relative_l2() const { return error2 == 0 ? 0 : std::sqrt(error2 / reference2); }

  void Add(double got, double want, int64_t row, int64_t column, double tolerance) {
    const double error = std::fabs(got - want);
    error2 += error * error;
    reference2 += want * want;
    ++elements;
    if (!(error <= tolerance)) ++beyond;  // a NaN is beyond
    if (harness::Worse(error, max_error)) {
      max_error = error;
      max_row = row;
      max_column = column;
    }
  }
  void Merge(const Verification& part) {
    elements += part.elements;
    not_finite += part.not_finite;
    beyond += part.beyond;
    padding_written += part.padding_written;
    error2 += part.error2;
    reference2 += part.reference2;
    if (harness::Worse(part.max_error, max_error)) {
      max_error = part.max_error;
      max_row = part.max_row;
      max_column = part.max_column;
    }
  }
};

template <class T>
bool Passed(const Verification& v) {
  return v.not_finite == 0 && v.beyond == 0 && v.padding_written == 0 &&
         v.relative_l2() < L2Tolerance<T>(v.elements);
}

template <class T>
class Verifier {
 public:
  // `c` holds shape.m rows of Shape::Pitch(shape.n) elements.
  Verifier(const Shape& shape, uint32_t seed, std::span<const T> c)
      : shape_(shape),
        seed_(seed),
        c_(c),
        pitch_(Shape::Pitch(shape.n)),
        abs_(kAbsTolerance * std::sqrt(double(shape.k))) {}

  Verification Run() {
    if (shape_.m == 0 || shape_.n == 0) return {};
    ForRows(shape_.m, [&](int64_t row, Verification& part) { CheckWritten(row, part); });
    const std::vector<int64_t> rows = WholeRows();
    std::vector<std::vector<float>> a;
    for (const int64_t row : rows) a.push_back(Row(kA, row));
    ForRows(shape_.n, [&](int64_t column, Verification& part) {
      const std::vector<float> b = Row(kB, column);
      for (size_t i = 0; i < rows.size(); ++i) {
        Compare(harness::Dot(a[i].data(), b.data(), shape_.k), rows[i], column, part);
      }
    });
    if (static_cast<int64_t>(rows.size()) < shape_.m) Scattered();
    return total_;
  }

 private:
  static constexpr int64_t kTileRows = 64, kTileColumns = 128;
  static constexpr int64_t kAllBelow = int64_t{1} << 27;  // multiplications
  static constexpr int64_t kWholeRows = 8, kElementsATile = 2;

  // body(index, verification) for 0 <= index < n on all cores.
  template <class Body>
  void ForRows(int64_t n, const Body& body) {
    constexpr int64_t kChunk = 16;
    harness::ParallelFor((n + kChunk - 1) / kChunk, [&](int64_t chunk) {
      Verification part;
      for (int64_t i = chunk * kChunk; i < std::min(n, (chunk + 1) * kChunk); ++i) body(i, part);
      const std::lock_guard<std::mutex> lock(mutex_);
      total_.Merge(part);
    });
  }

  std::vector<float> Row(harness::Tensor tensor, int64_t row) const {
    std::vector<float> values(static_cast<size_t>(shape_.k));
    harness::GenerateRow<T>(seed_, tensor, row, shape_.k, [&](int64_t column, T value) {
      values[static_cast<size_t>(column)] = static_cast<float>(value);
    });
    return values;
  }

  void CheckWritten(int64_t row, Verification& part) const {
    for (int64_t column = 0; column < pitch_; ++column) {
      const T value = c_[static_cast<size_t>(row * pitch_ + column)];
      if (column < shape_.n) {
        part.not_finite += !harness::Finite(value);
      } else {
        part.padding_written += !harness::IsPoison(value);
      }
    }
  }

  void Compare(double want, int64_t row, int64_t column, Verification& part) const {
    const T got = c_[static_cast<size_t>(row * pitch_ + column)];
    part.Add(static_cast<float>(got), want, row, column, abs_ + kRelTolerance<T> * std::fabs(want));
  }

  // All rows of a small problem; else the ends and others on both sides of tile boundaries.
  std::vector<int64_t> WholeRows() const {
    std::set<int64_t> rows;
    if (shape_.flops() / 2 <= double(kAllBelow) || shape_.m <= kWholeRows) {
      for (int64_t row = 0; row < shape_.m; ++row) rows.insert(row);
      return {rows.begin(), rows.end()};
    }
    rows = {0, shape_.m - 1, kTileRows - 1, std::min(kTileRows, shape_.m - 1)};
    for (uint32_t turn = 1; static_cast<int64_t>(rows.size()) < kWholeRows; ++turn) {
      rows.insert(Pick(turn, 0, shape_.m));
    }
    return {rows.begin(), rows.end()};
  }

  // Some elements of every tile.
  void Scattered() {
    const int64_t tile_rows = (shape_.m + kTileRows - 1) / kTileRows;
    const int64_t tile_columns = (shape_.n + kTileColumns - 1) / kTileColumns;
    ForRows(tile_rows * tile_columns, [&](int64_t tile, Verification& part) {
      for (int64_t i = 0; i < kElementsATile; ++i) {
        const auto key = static_cast<uint32_t>(tile * kElementsATile + i);
        const int64_t top = tile / tile_columns * kTileRows;
        const int64_t left = tile % tile_columns * kTileColumns;
        const int64_t row = top + Pick(key, 1, std::min(kTileRows, shape_.m - top));
        const int64_t column = left + Pick(key, 2, std::min(kTileColumns, shape_.n - left));
        const std::vector<float> a = Row(kA, row), b = Row(kB, column);
        Compare(harness::Dot(a.data(), b.data(), shape_.k), row, column, part);
      }
    });
  }

  static int64_t Pick(uint32_t key, uint32_t salt, int64_t count) {
    uint32_t h = key * 0x9e3779b9u + salt * 0x85ebca6bu + 1;
    INPUT_MIX(h);
    return h % count;
  }

  const Shape shape_;
  const uint32_t seed_;
  const std::span<const T> c_;
  const int64_t pitch_;
  const double abs_;
  std::mutex mutex_;
  Verification total_;
};

}  // namespace gemm
