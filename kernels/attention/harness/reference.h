// The FP64 reference and the comparison with it, on chosen whole rows of the output.
// In: the shape, the seed (inputs are generated again, nothing is downloaded) and the output on the
// host. Out: Verification, with the largest errors and where they are.
// Must hold: every batch and head is visited; first and last rows of tiles and the tail are among
// the rows; at least 256 rows or all there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "../../harness/run.h"
#include "choreo/runtime.h"
#include "inputs.h"
#include "options.h"

namespace attention {

inline constexpr double kAbsTolerance = 0.05, kRelTolerance = 0.1;  // |err| <= abs + rel * |ref|
inline constexpr double kRowTolerance = 0.02;                       // relative L2 of a row

struct Place {
  int64_t batch = 0, seq = 0, head = 0, dim = 0;
};

struct Verification {
  int64_t rows = 0, elements = 0;
  int64_t not_finite = 0;  // elements of the whole output that are NaN (never written) or infinite
  int64_t beyond = 0;      // elements of the checked rows beyond the tolerance
  int64_t bad_rows = 0;    // checked rows whose relative L2 error reaches the limit
  double max_error = 0, max_row_error = 0;
  Place max_at, max_row_at, first_not_finite;
  bool ok() const { return not_finite == 0 && beyond == 0 && bad_rows == 0; }
};

namespace internal {

using harness::Dot;
using harness::Finite;
using harness::Worse;

// Positions of one head to compare: all of a short sequence if few rows exist at all, else the
// ends, boundaries of 64- and 128-row tiles that differ from head to head, and some in between.
inline std::vector<int64_t> ChooseRows(const Shape& shape, int64_t head_index) {
  std::set<int64_t> rows;
  if (shape.rows() <= 1024) {
    for (int64_t s = 0; s < shape.seq; ++s) rows.insert(s);
    return {rows.begin(), rows.end()};
  }
  const int64_t heads = shape.batch * shape.heads;
  const int64_t wanted = std::min(shape.seq, std::max<int64_t>(2, (511 + heads) / heads));
  rows.insert(shape.seq - 1 - (head_index * 37) % std::min<int64_t>(shape.seq, 16));
  rows.insert(head_index % 4 == 0 ? 0 : shape.seq - 1);
  uint32_t h = static_cast<uint32_t>(head_index) * 0x9e3779b9u + 1;
  const int64_t tiles = (shape.seq + 63) / 64;
  for (int turn = 0; static_cast<int64_t>(rows.size()) < wanted; ++turn) {
    h += 0x6d2b79f5u;
    uint32_t pick = h;
    INPUT_MIX(pick);
    int64_t row = pick % shape.seq;
    if (turn % 4 == 0) row = pick % tiles * 64;
    if (turn % 4 == 1) row = pick % tiles * 64 + 63;
    rows.insert(std::min(row, shape.seq - 1));
  }
  return {rows.begin(), rows.end()};
}

// Keys or values of one (batch, kv head), positions 0 ... count - 1, as [count, dim] floats.
template <class T>
std::vector<float> GenerateHead(const Shape& shape, uint32_t seed, Tensor tensor, int64_t batch,
                                int64_t kv_head, int64_t count) {
  std::vector<float> data(count * shape.dim);
  for (int64_t s = 0; s < count; ++s) {
    float* out = data.data() + s * shape.dim;
    const int64_t row = (batch * shape.seq + s) * shape.kv_heads + kv_head;
    GenerateRow<T>(seed, tensor, row, shape.dim,
                   [&](int64_t col, T value) { out[col] = static_cast<float>(value); });
  }
  return data;
}

// softmax(q . K^T / sqrt(D)) . V over positions 0 ... last.
inline std::vector<double> ReferenceRow(const float* q, const float* keys, const float* values,
                                        int64_t last, int64_t dim) {
  std::vector<double> scores(last + 1), out(dim, 0.0);
  const double scale = 1.0 / std::sqrt(double(dim));
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t s = 0; s <= last; ++s) {
    scores[s] = Dot(q, keys + s * dim, dim) * scale;
    top = std::max(top, scores[s]);
  }
  for (int64_t s = 0; s <= last; ++s) {
    const double weight = std::exp(scores[s] - top);
    const float* row = values + s * dim;
    total += weight;
    for (int64_t d = 0; d < dim; ++d) out[d] += weight * double(row[d]);
  }
  for (double& value : out) value /= total;
  return out;
}

// Adds the comparison of one output row to `result`.
template <class T>
void CompareRow(const T* got, const std::vector<double>& want, Place place, Verification& result) {
  double error2 = 0, want2 = 0;
  for (size_t d = 0; d < want.size(); ++d) {
    const double error = std::fabs(double(static_cast<float>(got[d])) - want[d]);
    error2 += error * error;
    want2 += want[d] * want[d];
    place.dim = static_cast<int64_t>(d);
    // Written so that a NaN counts as beyond.
    if (!(error <= kAbsTolerance + kRelTolerance * std::fabs(want[d]))) ++result.beyond;
    if (Worse(error, result.max_error)) {
      result.max_error = error;
      result.max_at = place;
    }
  }
  const double row_error = error2 == 0 ? 0 : std::sqrt(error2 / want2);
  place.dim = 0;
  if (!(row_error < kRowTolerance)) ++result.bad_rows;
  if (Worse(row_error, result.max_row_error)) {
    result.max_row_error = row_error;
    result.max_row_at = place;
  }
  ++result.rows;
  result.elements += static_cast<int64_t>(want.size());
}

inline void Merge(const Verification& part, Verification& total) {
  total.rows += part.rows;
  total.elements += part.elements;
  total.beyond += part.beyond;
  total.bad_rows += part.bad_rows;
  if (Worse(part.max_error, total.max_error)) {
    total.max_error = part.max_error;
    total.max_at = part.max_at;
  }
  if (Worse(part.max_row_error, total.max_row_error)) {
    total.max_row_error = part.max_row_error;
    total.max_row_at = part.max_row_at;
  }
}

template <class T>
Verification VerifyHead(const Shape& shape, uint32_t seed, std::span<const T> out, int64_t batch,
                        int64_t head) {
  Verification result;
  const std::vector<int64_t> rows = ChooseRows(shape, batch * shape.heads + head);
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t count = rows.back() + 1;
  const auto keys = GenerateHead<T>(shape, seed, Within(kK, shape.spread), batch, kv_head, count);
  const auto values = GenerateHead<T>(shape, seed, kV, batch, kv_head, count);
  std::vector<float> q(shape.dim);
  for (const int64_t s : rows) {
    const int64_t row = (batch * shape.seq + s) * shape.heads + head;
    GenerateRow<T>(seed, Within(kQ, shape.spread), row, shape.dim,
                   [&](int64_t col, T value) { q[col] = static_cast<float>(value); });
    const auto want = ReferenceRow(q.data(), keys.data(), values.data(), s, shape.dim);
    CompareRow(out.data() + row * shape.dim, want, {batch, s, head, 0}, result);
  }
  return result;
}

template <class T>
void CheckFinite(const Shape& shape, std::span<const T> out, Verification& result) {
  constexpr int64_t kChunk = 1 << 20;
  const int64_t n = static_cast<int64_t>(out.size());
  std::mutex mutex;
  int64_t first = n;
  ParallelFor((n + kChunk - 1) / kChunk, [&](int64_t chunk) {
    const int64_t begin = chunk * kChunk, end = std::min(n, begin + kChunk);
    int64_t bad = 0;
    for (int64_t i = begin; i < end; ++i) bad += !Finite(out[i]);
    if (bad == 0) return;
    int64_t at = begin;
    while (Finite(out[at])) ++at;
    const std::lock_guard<std::mutex> lock(mutex);
    result.not_finite += bad;
    first = std::min(first, at);
  });
  if (first == n) return;
  const int64_t row = first / shape.dim, position = row / shape.heads;
  result.first_not_finite = {position / shape.seq, position % shape.seq, row % shape.heads,
                             first % shape.dim};
}

}  // namespace internal

template <class T>
Verification Verify(const Shape& shape, uint32_t seed, std::span<const T> out) {
  Verification total;
  if (shape.rows() == 0) return total;
  internal::CheckFinite(shape, out, total);
  std::mutex mutex;
  ParallelFor(shape.batch * shape.heads, [&](int64_t i) {
    const auto part = internal::VerifyHead(shape, seed, out, i / shape.heads, i % shape.heads);
    const std::lock_guard<std::mutex> lock(mutex);
    internal::Merge(part, total);
  });
  return total;
}

}  // namespace attention
