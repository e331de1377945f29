// Inputs whose scores grow where v5 does not look: a `main` for the kernel in place of its driver.
// In: `attend(q, k, v, o, tasks, bins, stream)`; --seq N[,N...], --ctas N. Out: a line a case, with
// the largest relative L2 error of a row against FP64; exit status 1 if a case is beyond the
// tolerance or not finite.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/persistent.h"
#include "harness/reference.h"

namespace scores {

// Query s is all `a`, key s all `b`, with noise: the score is Bits(s) powers of two for every
// query, so that it is the keys alone that say how maxima move.
struct Case {
  const char* name;
  std::function<double(int64_t key, int64_t seq)> bits;
  float noise;  // of Q and K, around what they are
};

inline std::vector<Case> Cases() {
  // The loop goes from the diagonal to column 0: what grows to the left grows with the steps.
  const auto rising = [](double per_block) {
    return [=](int64_t key, int64_t seq) { return per_block * double(seq - key) / 128; };
  };
  const auto spike = [](int64_t at, double bits) {
    return [=](int64_t key, int64_t) { return key == at ? bits : 0.0; };
  };
  const auto level = [](double bits) { return [=](int64_t, int64_t) { return bits; }; };
  return {
      {"rising 1", rising(1), 0.125f},       {"rising 2.3", rising(2.3), 0.125f},
      {"rising 5", rising(5), 0.125f},       {"rising 14", rising(14), 0.125f},
      {"rising 60", rising(60), 0.125f},     {"falling 5", rising(-5), 0.125f},
      {"steps of 10", [](int64_t key, int64_t seq) { return 10.0 * double((seq - key) / 128); }, 0},
      {"spike 200 at 3", spike(3, 200), 0.125f},
      {"spike 200 at 127", spike(127, 200), 0.125f},
      {"spike 14.9 at 3", spike(3, 14.9), 0.0f},
      {"spike 15.5 at 70", spike(70, 15.5), 0.0f},
      {"spike 16.2 at 1", spike(1, 16.2), 0.0f},
      {"spike 130 at 0", spike(0, 130), 0.0f},
      {"two spikes", [](int64_t key, int64_t) { return key == 200 ? 150.0 : key == 5 ? 300.0 : 0.0; }, 0.125f},
      {"very negative", level(-900), 0.125f}, {"very negative and equal", level(-900), 0},
      {"equal", level(0), 0},                {"equal and high", level(500), 0},
      {"negative, spike", [](int64_t key, int64_t) { return key == 9 ? -700.0 : -900.0; }, 0.125f},
      {"peaked", level(0), 8.0f},            {"as usual", level(0), 2.0f},
      {"waves", [](int64_t key, int64_t) { return 12 * std::sin(double(key) / 17); }, 0.125f},
      {"single late wave", [](int64_t key, int64_t) { return key < 128 ? 16.0 * double(key % 2) : 0.0; }, 0.0f},
  };
}

template <class T>
float Value(double x) {
  return static_cast<float>(T(static_cast<float>(x)));
}

inline float Noise(uint64_t i, uint64_t tensor) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull + tensor * 0xd1342543de82ef95ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return static_cast<float>(static_cast<int64_t>(x >> 40) - (1 << 23)) / (1 << 23);
}

template <class T, int Dim, class Attend>
bool RunCase(const Case& test, int64_t heads, int64_t seq, const Attend& attend) {
  const int64_t count = heads * seq * Dim;
  std::vector<T> q(count), k(count), v(count), o(count);
  const double log2e = 1.4426950408889634;
  for (int64_t row = 0; row < heads * seq; ++row) {


    const double bits = test.bits(row / heads, seq);
    const double product = bits / log2e * std::sqrt(double(Dim)) / Dim;
    for (int64_t d = 0; d < Dim; ++d) {
      const int64_t i = row * Dim + d;
      q[i] = T(4.0f + test.noise * Noise(i, 1));
      k[i] = T(static_cast<float>(product / 4) + test.noise * Noise(i, 2));
      v[i] = T(Noise(i, 3));
    }
  }
  choreo::Stream stream = choreo::Stream::create();
  choreo::Buffer<T> dq(count), dk(count), dv(count), out(count);
  dq.upload(std::span<const T>(q), stream);
  dk.upload(std::span<const T>(k), stream);
  dv.upload(std::span<const T>(v), stream);
  out.fill_byte(harness::kPoison, stream);
  const auto view = [&](T* data) {
    return choreo::view<T, 4>{data, {1, seq, heads, Dim}, {seq * heads * Dim, heads * Dim, Dim, 1}};
  };
  attend(view(dq.data()), view(dk.data()), view(dv.data()), view(out.data()), stream);
  out.download(std::span<T>(o), stream);
  attention::Verification result;
  for (const T x : o) result.not_finite += !harness::Finite(x);
  std::vector<float> keys(seq * Dim), values(seq * Dim), query(Dim);
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t s = 0; s < seq; ++s) {
      for (int64_t d = 0; d < Dim; ++d) {
        keys[s * Dim + d] = static_cast<float>(k[(s * heads + head) * Dim + d]);
        values[s * Dim + d] = static_cast<float>(v[(s * heads + head) * Dim + d]);
      }
    }
    for (int64_t s = 0; s < seq; ++s) {
      const int64_t row = (s * heads + head) * Dim;
      for (int64_t d = 0; d < Dim; ++d) query[d] = static_cast<float>(q[row + d]);
      attention::internal::CompareRow(
          o.data() + row,
          attention::internal::ReferenceRow(query.data(), keys.data(), values.data(), s, Dim),
          {0, s, head, 0}, result);
    }
  }
  std::printf("%s, %lld rows: %s, %lld not finite, largest error of a row %.5f at %lld\n", test.name,
              static_cast<long long>(seq), result.ok() ? "ok" : "WRONG",
              static_cast<long long>(result.not_finite), result.max_row_error,
              static_cast<long long>(result.max_row_at.seq));
  return result.ok();
}

template <class T, int Dim, attention::Tasks kTasks, class Launch>
int Main(int argc, char** argv, const Launch& launch) {
  const std::string only = argc > 3 ? argv[3] : "";
  const int64_t heads = 1;
  const attention::PersistentAttend<Launch> attend(launch, kTasks, std::atoll(argv[2]),
                                                   schedule::Order::Sections);
  bool passed = true;
  for (const Case& test : Cases()) {
    if (!only.empty() && only != test.name) continue;
    passed = RunCase<T, Dim>(test, heads, std::atoll(argv[1]), attend) && passed;
  }
  return passed ? 0 : 1;
}

}  // namespace scores
