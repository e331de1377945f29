// The verification and timing of every GEMM kernel: `main` is one call of gemm::Main.
// In: the command line, and two launchers (the kernel; the tile function that fills inputs). Out: a
// report on stdout, optionally JSON lines, and the exit status: 0 passed, 1 failed, 2 wrong usage,
// 77 skipped for want of an sm_90 device. Must hold: with timing disabled the GEMM is the first
// launch of the process; nothing is timed before it was verified, unless --no-verify says so.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "../harness/json_lines.h"
#include "../harness/run.h"
#include "choreo/runtime.h"
#include "harness/options.h"
#include "harness/reference.h"

namespace gemm {

// `multiply(a, b, c, ctas, stream)` launches the kernel on [m, k], [n, k] and [m, n] views;
// `fill(x, seed, tensor, limit, stream)` launches the input generator on a [rows, columns] view.
template <class T, class Multiply, class Fill>
class Session {
 public:
  Session(const char* kernel, const Shape& shape, const Options& options, Multiply multiply,
          Fill fill)
      : kernel_(kernel),
        shape_(shape),
        options_(options),
        device_(choreo::current_device()),
        ctas_(static_cast<int>(options.ctas > 0    ? options.ctas
                               : device_.simulated ? 3
                                                   : device_.sm_count)),
        multiply_(multiply),
        fill_(fill),
        json_(options.json),
        stream_(choreo::Stream::create()),
        a_(Elements(shape.m, shape.k)),
        b_(Elements(shape.n, shape.k)),
        c_(shape.m * Shape::Pitch(shape.n) + 2 * harness::kGuard) {}

  bool Run() {
    std::printf("%s on %s (%d SMs%s)\n", kernel_, device_.name.c_str(), device_.sm_count,
                device_.simulated ? ", simulated" : "");
    std::printf("%s  M=%" PRId64 " N=%" PRId64 " K=%" PRId64 "  %d CTAs  seed %u\n",
                harness::ElementName<T>(), shape_.m, shape_.n, shape_.k, ctas_, options_.seed);
    Prepare(a_, kA, shape_.m);
    Prepare(b_, kB, shape_.n);
    bool ok = true;
    std::vector<T> c;
    if (options_.verify || options_.check_repeat > 0) c = LaunchPoisoned();
    if (options_.verify) ok = VerifyOutput(c);
    if (ok && options_.check_repeat > 0) ok = CheckRepeat(c);
    if (ok) Time();
    std::printf("%s: %s\n", kernel_,
                !ok                ? "FAILED"
                : !options_.verify ? "timed, not verified"
                                   : "passed");
    return ok;
  }

 private:
  static int64_t Elements(int64_t rows, int64_t columns) {
    return std::max<int64_t>(rows * Shape::Pitch(columns), 1);
  }
  static choreo::view<T, 2> View(T* data, int64_t rows, int64_t columns) {
    return {data, {rows, columns}, {Shape::Pitch(columns), 1}};
  }

  void Launch() {
    multiply_(View(a_.data(), shape_.m, shape_.k), View(b_.data(), shape_.n, shape_.k),
              View(c_.data() + harness::kGuard, shape_.m, shape_.n), ctas_, stream_);
  }

  // What pads the rows stays NaN: a kernel that reads it fails.
  void Prepare(choreo::Buffer<T>& buffer, harness::Tensor tensor, int64_t rows) {
    buffer.fill_byte(harness::kPoison, stream_);
    if (rows == 0) return;
    if (options_.timing) {
      fill_(View(buffer.data(), rows, shape_.k), options_.seed, tensor.number, tensor.limit,
            stream_);
      stream_.sync();
      if (!options_.verify || rows * shape_.k > kCompareWhole) return;
    }
    const int64_t pitch = Shape::Pitch(shape_.k);
    std::vector<T> data(static_cast<size_t>(rows * pitch));
    std::memset(static_cast<void*>(data.data()), harness::kPoison, data.size() * sizeof(T));
    harness::ParallelFor(rows, [&](int64_t row) {
      harness::GenerateRow<T>(options_.seed, tensor, row, shape_.k, [&](int64_t column, T value) {
        data[static_cast<size_t>(row * pitch + column)] = value;
      });
    });
    if (!options_.timing) {
      buffer.upload(std::span<const T>(data), stream_);
      stream_.sync();
      return;
    }
    // The reference regenerates the inputs, so a wrong fill would look like a wrong kernel.
    std::vector<T> got(data.size());
    buffer.download(std::span<T>(got), stream_);
    if (std::memcmp(got.data(), data.data(), data.size() * sizeof(T)) != 0) {
      throw std::runtime_error("the inputs filled on the device differ from the host's (tensor " +
                               std::to_string(tensor.number) + ")");
    }
  }

  std::vector<T> LaunchPoisoned() {
    c_.fill_byte(harness::kPoison, stream_);
    Launch();
    stream_.sync();
    std::vector<T> out(static_cast<size_t>(c_.size()));
    c_.download(std::span<T>(out), stream_);
    return out;
  }

  void Note(const char* what, const std::string& text) {
    std::printf("  %-8s %s\n", what, text.c_str());
    std::fflush(stdout);
  }

  harness::JsonLine Row(const char* row) const {
    harness::JsonLine line;
    line.Add("row", row)
        .Add("kernel", kernel_)
        .Add("element", harness::ElementName<T>())
        .Add("m", shape_.m)
        .Add("n", shape_.n)
        .Add("k", shape_.k)
        .Add("ctas", static_cast<int64_t>(ctas_))
        .Add("seed", static_cast<int64_t>(options_.seed))
        .Add("device", device_.name)
        .Add("sm_count", static_cast<int64_t>(device_.sm_count))
        .Add("simulated", device_.simulated);
    return line;
  }

  bool VerifyOutput(const std::vector<T>& out) {
    const auto c =
        std::span<const T>(out).subspan(harness::kGuard, out.size() - 2 * harness::kGuard);
    const Verification v = Verifier<T>(shape_, options_.seed, c).Run();
    const bool guards = harness::GuardsIntact(out);
    const bool ok = Passed<T>(v) && guards;
    Note("verify",
         harness::Format("%s: %" PRId64
                         " elements against FP64: relative L2 %.3g (limit %.3g), largest "
                         "error %.3g at [%" PRId64 ", %" PRId64 "]",
                         ok ? "ok" : "FAILED", v.elements, v.relative_l2(),
                         L2Tolerance<T>(v.elements), v.max_error, v.max_row, v.max_column));
    if (v.not_finite != 0) {
      Note("", harness::Format("%" PRId64 " elements not written or not finite", v.not_finite));
    }
    if (v.beyond != 0) {
      Note("", harness::Format("%" PRId64 " elements beyond %g * sqrt(k) + %g * |reference|",
                               v.beyond, kAbsTolerance, kRelTolerance<T>));
    }
    if (v.padding_written != 0 || !guards) Note("", "memory beside the output was overwritten");
    json_.Write(Row("verify")
                    .Add("ok", ok)
                    .Add("elements", v.elements)
                    .Add("not_finite", v.not_finite)
                    .Add("beyond", v.beyond)
                    .Add("guards_intact", guards && v.padding_written == 0)
                    .Add("max_error", v.max_error)
                    .Add("rel_l2", v.relative_l2()));
    return ok;
  }

  bool CheckRepeat(const std::vector<T>& first) {
    int64_t different = 0;
    for (int64_t i = 0; i < options_.check_repeat; ++i) {
      const std::vector<T> again = LaunchPoisoned();
      different += std::memcmp(first.data(), again.data(), first.size() * sizeof(T)) != 0;
    }
    Note("repeat", harness::Format(
                       "%s: %" PRId64 " launches, %" PRId64 " with an output that differs bitwise",
                       different == 0 ? "ok" : "FAILED", options_.check_repeat, different));
    json_.Write(Row("repeat")
                    .Add("ok", different == 0)
                    .Add("launches", options_.check_repeat)
                    .Add("different", different));
    return different == 0;
  }

  void Time() {
    if (!options_.timing) return Note("timing", "skipped (CHOREO_DISABLE_TIMING)");
    if (device_.simulated) return Note("timing", "skipped (simulated device)");
    if (shape_.m == 0 || shape_.n == 0) return Note("timing", "skipped (nothing to compute)");
    const auto rounds = harness::TimeRounds(options_.rounds, stream_, [&] { Launch(); });
    const auto row = [&](const char* name, double ms) {
      return Row(name)
          .Add("warmup", options_.rounds.warmup)
          .Add("repeat", options_.rounds.repeat)
          .Add("idle_ms", options_.rounds.idle_ms)
          .Add("ms", ms)
          .Add("tflops", shape_.flops() / (ms * 1e9));
    };
    std::string all;
    for (size_t i = 0; i < rounds.size(); ++i) {
      all += harness::Format(" %.4f", rounds[i]);
      json_.Write(row("round", rounds[i]).Add("round", static_cast<int64_t>(i)));
    }
    const double median = harness::Median(rounds);
    Note("timing", harness::Format("%.4f ms  %.1f TFLOPS  (median; %" PRId64 " warm-up, %" PRId64
                                   " timed a round; rounds:%s ms)",
                                   median, shape_.flops() / (median * 1e9), options_.rounds.warmup,
                                   options_.rounds.repeat, all.c_str()));
    json_.Write(row("timing", median).Add("verified", options_.verify));
  }

  static constexpr int64_t kCompareWhole = 1 << 22;

  const char* const kernel_;
  const Shape shape_;
  const Options& options_;
  const choreo::Device device_;
  const int ctas_;
  Multiply multiply_;
  Fill fill_;
  harness::JsonFile json_;
  choreo::Stream stream_;
  choreo::Buffer<T> a_, b_, c_;
};

template <class T, class Multiply, class Fill>
int Main(const char* kernel, int argc, char** argv, Multiply multiply, Fill fill) {
  return harness::ExitStatus(kernel, [&] {
    const Options options = ParseOptions(argc, argv);
    if (options.help) {
      std::printf("%s", UsageText(kernel).c_str());
      return true;
    }
    const Shape shape = MakeShape(options, choreo::current_device().simulated);
    return Session<T, Multiply, Fill>(kernel, shape, options, multiply, fill).Run();
  });
}

}  // namespace gemm
