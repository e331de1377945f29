// What a driver does around its kernel: exit statuses, poisoned outputs with guards, timed rounds.
// In: launchers and buffers. Out: statuses, verdicts, milliseconds a launch. Must hold: a launcher
// only enqueues on the stream it is told.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>

#include "choreo/runtime.h"
#include "command_line.h"

namespace harness {

// Runs body() and turns what it throws into a message and a status; it returns whether all passed.
template <class Body>
int ExitStatus(const char* kernel, const Body& body) {
  try {
    return body() ? 0 : 1;
  } catch (const UsageError& e) {
    std::fprintf(stderr, "%s: %s\n", kernel, e.what());
    return 2;
  } catch (const choreo::error& e) {
    const bool no_device =
        e.code == choreo::status::no_device || e.code == choreo::status::unsupported_device;
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s%s\n", kernel, e.what(),
                 no_device ? " (skipped: no sm_90 device)" : "");
    return no_device ? kExitNoDevice : 1;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: %s\n", kernel, e.what());
    return 1;
  }
}

// Elements before and after an output that no kernel may touch; a multiple of every alignment.
inline constexpr int64_t kGuard = 4096;
inline constexpr int kPoison = 0xff;  // bytes of it are NaN in bf16 and in f16

template <class T>
bool IsPoison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char b) { return b == kPoison; });
}

template <class T>
bool GuardsIntact(const std::vector<T>& out) {
  return std::all_of(out.begin(), out.begin() + kGuard, IsPoison<T>) &&
         std::all_of(out.end() - kGuard, out.end(), IsPoison<T>);
}

template <class T>
bool Finite(T value) {
  constexpr uint16_t kExponent = std::is_same_v<T, choreo::bf16> ? 0x7f80 : 0x7c00;
  return (std::bit_cast<uint16_t>(value) & kExponent) != kExponent;
}

// NaN is worse than any number, and stays the worst.
inline bool Worse(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

inline double Dot(const float* a, const float* b, int64_t n) {
  double sum[4] = {0, 0, 0, 0};  // four chains, so that the additions overlap
  for (int64_t i = 0; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) sum[j] += double(a[i + j]) * double(b[i + j]);
  }
  for (int64_t i = n / 4 * 4; i < n; ++i) sum[0] += double(a[i]) * double(b[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

struct Rounds {
  int64_t warmup = 50, repeat = 200, rounds = 3, idle_ms = 0;
};

// Milliseconds a launch, one figure a round: idle, warm-up launches, timed launches back to back.
template <class Launch>
std::vector<double> TimeRounds(const Rounds& plan, choreo::Stream stream, const Launch& launch) {
  std::vector<double> figures;
  for (int64_t round = 0; round < plan.rounds; ++round) {
    stream.sync();
    std::this_thread::sleep_for(std::chrono::milliseconds(plan.idle_ms));
    for (int64_t i = 0; i < plan.warmup; ++i) launch();
    choreo::Event start, stop;
    start.record(stream);
    for (int64_t i = 0; i < plan.repeat; ++i) launch();
    stop.record(stream);
    stop.sync();
    figures.push_back(double(stop.ms_since(start)) / double(plan.repeat));
  }
  return figures;
}

inline double Median(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const size_t n = figures.size();
  return (figures[(n - 1) / 2] + figures[n / 2]) / 2;
}

}  // namespace harness
