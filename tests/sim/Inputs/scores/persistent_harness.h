// In place of kernels/attention/persistent_harness.h: inputs whose scores grow where a kernel with
// a lazy softmax does not look. Query and keys are constants with noise, so that the score of a key
// is what its case says, for every query; loops go from the diagonal to key 0.
// In: the launcher; the command line SEQ LISTS [CASE]. Out: a line a case, with the largest
// relative L2 error of a row against FP64; exit status 1 if one is beyond the tolerance of the
// drivers, or not finite.
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

namespace attention {
namespace scores {

struct Case {
  const char* name;
  float noise;  // of Q and K
  std::function<double(int64_t key, int64_t seq)>
      bits;  // of the score: the logarithm of its weight
};

inline std::vector<Case> Cases() {
  const auto level = [](double bits) { return [=](int64_t, int64_t) { return bits; }; };
  const auto rising = [](double per_block) {
    return [=](int64_t key, int64_t seq) { return per_block * double(seq - key) / 128; };
  };
  const auto spike = [](int64_t at, double bits) {
    return [=](int64_t key, int64_t) { return key == at ? bits : 0.0; };
  };
  return {
      {"rising 1", 0.125f, rising(1)},
      {"rising 2.3", 0.125f, rising(2.3)},
      {"rising 5", 0.125f, rising(5)},
      {"rising 14", 0.125f, rising(14)},
      {"rising 60", 0.125f, rising(60)},
      {"falling 5", 0.125f, rising(-5)},
      {"steps of 10", 0, [](int64_t key, int64_t seq) { return 10.0 * double((seq - key) / 128); }},
      {"spike 200 at 3", 0.125f, spike(3, 200)},  // exp2 overflows
      {"spike 200 at 127", 0.125f, spike(127, 200)},
      {"spike 130 at 0", 0, spike(0, 130)},
      {"spike 14.9 at 3", 0, spike(3, 14.9)},  // around the limit of f16
      {"spike 15.5 at 70", 0, spike(70, 15.5)},
      {"spike 16.2 at 1", 0, spike(1, 16.2)},
      {"two spikes", 0.125f,
       [](int64_t key, int64_t) { return key == 200 ? 150.0
                                         : key == 5 ? 300.0
                                                    : 0.0; }},
      {"odd keys of the first block", 0,
       [](int64_t key, int64_t) { return key < 128 ? 16.0 * double(key % 2) : 0.0; }},
      {"waves", 0.125f, [](int64_t key, int64_t) { return 12 * std::sin(double(key) / 17); }},
      // The reference is positive, and the scores of every second block are not.
      {"signs by block", 0.125f,
       [](int64_t key, int64_t) { return key / 128 % 2 == 0 ? 6.0 : -6.0; }},
      {"very negative", 0.125f, level(-900)},
      {"very negative and equal", 0, level(-900)},
      {"very negative, one less so", 0.125f,
       [](int64_t key, int64_t) { return key == 9 ? -700.0 : -900.0; }},
      {"equal", 0, level(0)},
      {"equal and high", 0, level(500)},
      {"peaked", 8.0f, level(0)},
      {"as usual", 2.0f, level(0)},
  };
}

inline float Noise(uint64_t i, uint64_t tensor) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull + tensor * 0xd1342543de82ef95ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return static_cast<float>(static_cast<int64_t>(x >> 40) - (1 << 23)) / (1 << 23);
}

// Q, K and V of one head, and O when the kernel was there.
template <class T, int Dim>
struct Tensors {
  Tensors(const Case& test, int64_t seq) : q(seq * Dim), k(seq * Dim), v(seq * Dim), o(seq * Dim) {
    constexpr double kLog2e = 1.4426950408889634, kQuery = 4;
    for (int64_t i = 0; i < seq * Dim; ++i) {
      const double key = test.bits(i / Dim, seq) / kLog2e / std::sqrt(double(Dim)) / kQuery;
      q[i] = T(static_cast<float>(kQuery) + test.noise * Noise(i, 1));
      k[i] = T(static_cast<float>(key) + test.noise * Noise(i, 2));
      v[i] = T(Noise(i, 3));
    }
  }

  template <class Attend>
  void Run(const Attend& attend) {
    const auto size = static_cast<int64_t>(q.size());
    const choreo::Stream stream = choreo::Stream::create();
    choreo::Buffer<T> queries(size), keys(size), values(size), out(size);
    queries.upload(std::span<const T>(q), stream);
    keys.upload(std::span<const T>(k), stream);
    values.upload(std::span<const T>(v), stream);
    out.fill_byte(harness::kPoison, stream);
    const auto view = [&](choreo::Buffer<T>& buffer) {
      return choreo::view<T, 4>{buffer.data(), {1, size / Dim, 1, Dim}, {size, Dim, Dim, 1}};
    };
    attend(view(queries), view(keys), view(values), view(out), stream);
    out.download(std::span<T>(o), stream);
  }

  std::vector<T> q, k, v, o;
};

template <class T, int Dim, class Attend>
bool RunCase(const Case& test, int64_t seq, const Attend& attend) {
  Tensors<T, Dim> tensors(test, seq);
  tensors.Run(attend);
  const auto floats = [](const std::vector<T>& from) {
    std::vector<float> to;
    for (const T x : from) to.push_back(static_cast<float>(x));
    return to;
  };
  const std::vector<float> q = floats(tensors.q), k = floats(tensors.k), v = floats(tensors.v);
  Verification result;
  for (const T x : tensors.o) result.not_finite += !harness::Finite(x);
  for (int64_t s = 0; s < seq; ++s) {
    internal::CompareRow(tensors.o.data() + s * Dim,
                         internal::ReferenceRow(q.data() + s * Dim, k.data(), v.data(), s, Dim),
                         {0, s, 0, 0}, result);
  }
  std::printf("%s: %s, %lld not finite, largest error of a row %.5f at %lld\n", test.name,
              result.ok() ? "ok" : "WRONG", static_cast<long long>(result.not_finite),
              result.max_row_error, static_cast<long long>(result.max_row_at.seq));
  return result.ok();
}

}  // namespace scores

template <class T, int Dim, Tasks kTasks, class Launch, class Fill>
int MainPersistent(const char* kernel, int argc, char** argv, Launch launch, Fill) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SEQ LISTS [CASE]\n", kernel);
    return 2;
  }
  const PersistentAttend<Launch> attend(launch, kTasks, std::atoll(argv[2]),
                                        schedule::Order::Sections);
  int cases = 0;
  bool passed = true;
  for (const scores::Case& test : scores::Cases()) {
    if (argc > 3 && test.name != std::string(argv[3])) continue;
    ++cases;
    passed = scores::RunCase<T, Dim>(test, std::atoll(argv[1]), attend) && passed;
  }
  return passed && cases > 0 ? 0 : 1;
}

}  // namespace attention
