// One shape from inputs to figures: fill Q, K, V; poison O; launch; verify; repeat; time.
// In: the shape, the options and the two launchers. Out: reported results; Run() is true if all
// hold. Must hold: with timing disabled the attention kernel is the first launch of the process
// (inputs are generated on the host); nothing is timed before it was verified, unless --no-verify
// says so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "../../harness/graph.h"
#include "../../harness/run.h"
#include "choreo/runtime.h"
#include "inputs.h"
#include "options.h"
#include "reference.h"
#include "report.h"

namespace attention {

template <class T, class Attend, class Fill>
class Session {
 public:
  Session(const Shape& shape, const Options& options, const choreo::Device& device, Attend attend,
          Fill fill, Report& report)
      : shape_(shape),
        options_(options),
        device_(device),
        attend_(attend),
        fill_(fill),
        report_(report),
        stream_(choreo::Stream::create()),
        q_(Allocated(shape.rows() * shape.dim + options.offset)),
        k_(Allocated(shape.kv_rows() * shape.dim)),
        v_(Allocated(shape.kv_rows() * shape.dim)),
        o_(shape.rows() * shape.dim + 2 * kGuard) {}

  enum class Timing { Wanted, Skipped };

  bool Run(Timing timing = Timing::Wanted) {
    report_.Begin(shape_);
    // A persistent kernel has its task lists made before anything is measured.
    if constexpr (requires { attend_.Plan(shape_, stream_); }) {
      report_.Scheduled(shape_, attend_.Plan(shape_, stream_));
    }
    Prepare(q_, Within(kQ, shape_.spread), shape_.rows(), options_.offset);
    Prepare(k_, Within(kK, shape_.spread), shape_.kv_rows(), 0);
    Prepare(v_, kV, shape_.kv_rows(), 0);
    if (options_.graph) {
      Launch();
      stream_.sync();
      graph_.emplace(stream_, [this] { LaunchAlone(); });
    }
    bool ok = true;
    std::vector<T> out;
    if (options_.verify || options_.check_repeat > 0) {
      LaunchPoisoned();
      Download(out);
    }
    if (options_.verify) {
      const Verification result = Verify<T>(shape_, options_.seed, Output(out));
      const bool guards = harness::GuardsIntact(out);
      report_.Verified(shape_, result, guards);
      ok = result.ok() && guards;
    }
    if (ok && options_.check_repeat > 0) ok = CheckRepeat(out);
    if (ok && timing == Timing::Wanted) Time();
    return ok;
  }

  const Shape& shape() const { return shape_; }

  // Enqueues one launch into an output of NaN; Download waits for it and fetches all of it, guards
  // included.
  void LaunchPoisoned() {
    o_.fill_byte(harness::kPoison, stream_);
    Launch();
  }

  void Download(std::vector<T>& out) const {
    out.resize(static_cast<size_t>(o_.size()));
    o_.download(std::span<T>(out), stream_);
  }

 private:
  static constexpr int64_t kGuard = harness::kGuard;

  static int64_t Allocated(int64_t n) { return std::max<int64_t>(n, 1); }

  choreo::view<T, 4> View(T* data, int64_t heads) const {
    const int64_t d = shape_.dim;
    return {data, {shape_.batch, shape_.seq, heads, d}, {shape_.seq * heads * d, heads * d, d, 1}};
  }

  void Launch() {
    if (graph_.has_value()) return graph_->launch(stream_);
    LaunchAlone();
  }

  void LaunchAlone() {
    attend_(View(q_.data() + options_.offset, shape_.heads), View(k_.data(), shape_.kv_heads),
            View(v_.data(), shape_.kv_heads), View(o_.data() + kGuard, shape_.heads), stream_);
  }

  void Prepare(choreo::Buffer<T>& buffer, Tensor tensor, int64_t rows, int64_t offset) {
    if (rows == 0) return;
    if (options_.timing) {
      const choreo::view<T, 2> view{buffer.data() + offset, {rows, shape_.dim}, {shape_.dim, 1}};
      fill_(view, options_.seed, tensor.number, tensor.limit, stream_);
      stream_.sync();
      if (options_.verify) CheckFill(buffer, tensor, rows, offset);
      return;
    }
    const auto data = GenerateTensor<T>(options_.seed, tensor, rows, shape_.dim, offset);
    buffer.upload(std::span<const T>(data), stream_);
    stream_.sync();
  }

  // The reference regenerates the inputs, so a wrong fill would look like a wrong kernel: small
  // tensors are compared whole. (Large ones differ from them only in their number of rows.)
  void CheckFill(const choreo::Buffer<T>& buffer, Tensor tensor, int64_t rows, int64_t offset) {
    if (rows * shape_.dim > kCompareWhole) return;
    std::vector<T> got(buffer.size());
    buffer.download(std::span<T>(got), stream_);
    const auto want = GenerateTensor<T>(options_.seed, tensor, rows, shape_.dim, offset);
    const size_t bytes = static_cast<size_t>(rows * shape_.dim) * sizeof(T);
    if (std::memcmp(got.data() + offset, want.data() + offset, bytes) != 0) {
      throw std::runtime_error("the inputs filled on the device differ from the host's (tensor " +
                               std::to_string(tensor.number) + ")");
    }
  }

  std::span<const T> Output(const std::vector<T>& out) const {
    return std::span<const T>(out).subspan(kGuard, out.size() - 2 * kGuard);
  }

  bool CheckRepeat(const std::vector<T>& first) {
    int64_t different = 0;
    std::vector<T> again;
    for (int64_t i = 0; i < options_.check_repeat; ++i) {
      LaunchPoisoned();
      Download(again);
      different += std::memcmp(first.data(), again.data(), first.size() * sizeof(T)) != 0;
    }
    report_.Repeated(shape_, options_.check_repeat, different);
    return different == 0;
  }

  void Time() {
    if (!options_.timing) return report_.Note("timing", "skipped (CHOREO_DISABLE_TIMING)");
    if (device_.simulated) return report_.Note("timing", "skipped (simulated device)");
    if (shape_.rows() == 0) return report_.Note("timing", "skipped (nothing to compute)");
    const auto rounds =
        harness::TimeRounds({options_.warmup, options_.repeat, options_.rounds, options_.idle_ms},
                            stream_, [&] { Launch(); });
    report_.Timed(shape_, rounds, harness::Median(rounds));
  }

  static constexpr int64_t kCompareWhole = 1 << 22;

  const Shape shape_;
  const Options& options_;
  const choreo::Device& device_;
  Attend attend_;
  Fill fill_;
  Report& report_;
  choreo::Stream stream_;
  std::optional<harness::Graph> graph_;  // of one launch, with --graph
  choreo::Buffer<T> q_, k_, v_, o_;
};

}  // namespace attention
