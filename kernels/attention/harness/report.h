// What a driver prints: a few lines a shape on stdout, and JSON lines with every raw measurement.
// In: results as they come. Out: text, and the file of --json, complete and flushed after each
// line.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "../../harness/json_lines.h"
#include "../../schedule/task_list.h"
#include "choreo/runtime.h"
#include "options.h"
#include "reference.h"

namespace attention {

using harness::JsonLine;

// The task lists of a persistent kernel, and what they cost apart from it.
struct ScheduleFigures {
  schedule::Order order;
  int64_t ctas, lists, tasks, fixed_cost;  // a cluster has one list
  double imbalance;                        // estimated load of the heaviest list over the mean
  double build_ms, upload_ms;
  const char* shape = nullptr;  // of a kernel that has several: the one that runs
};

class Report {
 public:
  Report(std::string kernel, const char* element, const choreo::Device& device,
         const Options& options)
      : kernel_(std::move(kernel)),
        element_(element),
        device_(device),
        options_(options),
        json_(options.json) {
    std::printf("%s on %s (%d SMs%s)\n", kernel_.c_str(), device.name.c_str(), device.sm_count,
                device.simulated ? ", simulated" : "");
  }

  void Begin(const Shape& shape) {
    schedule_.reset();
    std::printf(
        "%s  B=%" PRId64 " H=%" PRId64 " Hkv=%" PRId64 " S=%" PRId64 " D=%" PRId64 "  seed %u%s\n",
        element_.c_str(), shape.batch, shape.heads, shape.kv_heads, shape.seq, shape.dim,
        options_.seed,
        shape.spread == kSpread ? "" : harness::Format("  spread %g", shape.spread).c_str());
  }

  void Note(const char* what, const std::string& text) {
    std::printf("  %-8s %s\n", what, text.c_str());
    std::fflush(stdout);
  }

  // Rows of this shape from here on tell the schedule.
  void Scheduled(const Shape& shape, const ScheduleFigures& figures) {
    schedule_ = figures;
    if (figures.shape != nullptr) Note("shape", figures.shape);
    const std::string lists = figures.lists == figures.ctas
                                  ? std::string()
                                  : harness::Format(" in %" PRId64 " clusters", figures.lists);
    Note("schedule",
         harness::Format("%s, %" PRId64 " CTAs%s, %" PRId64
                         " tasks, heaviest %.4f x the mean; built in %.3f ms, uploaded in %.3f ms",
                         schedule::OrderName(figures.order), figures.ctas, lists.c_str(),
                         figures.tasks, figures.imbalance, figures.build_ms, figures.upload_ms));
    Write(Row("schedule", shape));
  }

  void Verified(const Shape& shape, const Verification& v, bool guards_intact) {
    const bool ok = v.ok() && guards_intact;
    Note("verify",
         harness::Format(
             "%s: %" PRId64 " rows (%" PRId64
             " elements) against FP64: largest error %.3g at %s, largest row relative L2 %.3g "
             "at %s",
             ok ? "ok" : "FAILED", v.rows, v.elements, v.max_error, Text(v.max_at).c_str(),
             v.max_row_error, Text(v.max_row_at).c_str()));
    if (v.not_finite != 0) {
      Note("", harness::Format(
                   "%" PRId64 " of %" PRId64 " elements not written or not finite, the first at %s",
                   v.not_finite, shape.rows() * shape.dim, Text(v.first_not_finite).c_str()));
    }
    if (v.beyond != 0) {
      Note("", harness::Format("%" PRId64 " elements beyond %g + %g * |reference|", v.beyond,
                               kAbsTolerance, kRelTolerance));
    }
    if (v.bad_rows != 0) {
      Note("", harness::Format("%" PRId64 " rows with a relative L2 error of %g or more",
                               v.bad_rows, kRowTolerance));
    }
    if (!guards_intact) Note("", "memory before or after the output was overwritten");
    Write(Row("verify", shape)
              .Add("ok", ok)
              .Add("rows", v.rows)
              .Add("elements", v.elements)
              .Add("not_finite", v.not_finite)
              .Add("beyond", v.beyond)
              .Add("bad_rows", v.bad_rows)
              .Add("guards_intact", guards_intact)
              .Add("max_error", v.max_error)
              .Add("max_row_rel_l2", v.max_row_error));
  }

  void Repeated(const Shape& shape, int64_t launches, int64_t different) {
    Note("repeat", harness::Format("%s: %" PRId64 " launches, %" PRId64
                                   " with an output that differs bitwise",
                                   different == 0 ? "ok" : "FAILED", launches, different));
    Write(Row("repeat", shape)
              .Add("ok", different == 0)
              .Add("launches", launches)
              .Add("different", different));
  }

  void Interleaved(const Shape& shape, const Shape& other, int64_t launches, int64_t different) {
    const bool ok = different == 0;
    Note("streams", harness::Format("%s: %" PRId64 " launches of B=%" PRId64 " S=%" PRId64
                                    " and of B=%" PRId64 " S=%" PRId64 " on two streams, %" PRId64
                                    " with an output that differs bitwise",
                                    ok ? "ok" : "FAILED", launches, shape.batch, shape.seq,
                                    other.batch, other.seq, different));
    Write(Row("streams", shape)
              .Add("ok", ok)
              .Add("other_batch", other.batch)
              .Add("other_seq", other.seq)
              .Add("launches", launches)
              .Add("different", different));
  }

  void Timed(const Shape& shape, const std::vector<double>& rounds, double median) {
    std::string all;
    for (size_t i = 0; i < rounds.size(); ++i) {
      all += harness::Format(i == 0 ? "%.4f" : " %.4f", rounds[i]);
      Write(Row("round", shape)
                .Add("round", static_cast<int64_t>(i))
                .Add("warmup", options_.warmup)
                .Add("repeat", options_.repeat)
                .Add("idle_ms", options_.idle_ms)
                .Add("graph", options_.graph)
                .Add("ms", rounds[i])
                .Add("tflops", Tflops(shape, rounds[i])));
    }
    Note("timing", harness::Format("%.4f ms  %.1f TFLOPS  (median; %" PRId64 " warm-up, %" PRId64
                                   " timed a round; rounds: %s ms)",
                                   median, Tflops(shape, median), options_.warmup, options_.repeat,
                                   all.c_str()));
    Write(Row("timing", shape)
              .Add("warmup", options_.warmup)
              .Add("repeat", options_.repeat)
              .Add("rounds", static_cast<int64_t>(rounds.size()))
              .Add("idle_ms", options_.idle_ms)
              .Add("verified", options_.verify)
              .Add("ms", median)
              .Add("tflops", Tflops(shape, median)));
  }

  void Close(bool passed) {
    std::printf("%s: %s\n", kernel_.c_str(),
                !passed            ? "FAILED"
                : !options_.verify ? "timed, not verified"
                                   : "passed");
    std::fflush(stdout);
  }

 private:
  static double Tflops(const Shape& shape, double ms) { return shape.flops() / (ms * 1e9); }

  static std::string Text(const Place& p) {
    return harness::Format("[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", p.batch, p.seq,
                           p.head, p.dim);
  }

  JsonLine Row(const char* row, const Shape& shape) const {
    JsonLine line;
    line.Add("row", row)
        .Add("kernel", kernel_)
        .Add("element", element_)
        .Add("batch", shape.batch)
        .Add("heads", shape.heads)
        .Add("kv_heads", shape.kv_heads)
        .Add("seq", shape.seq)
        .Add("dim", shape.dim)
        .Add("seed", static_cast<int64_t>(options_.seed))
        .Add("spread", static_cast<double>(shape.spread))
        .Add("device", device_.name)
        .Add("sm_count", static_cast<int64_t>(device_.sm_count))
        .Add("simulated", device_.simulated);
    if (schedule_.has_value()) {
      line.Add("order", schedule::OrderName(schedule_->order))
          .Add("ctas", schedule_->ctas)
          .Add("tasks", schedule_->tasks)
          .Add("fixed_cost", schedule_->fixed_cost)
          .Add("imbalance", schedule_->imbalance)
          .Add("lists", schedule_->lists)
          .Add("schedule_build_ms", schedule_->build_ms)
          .Add("schedule_upload_ms", schedule_->upload_ms);
      if (schedule_->shape != nullptr) line.Add("shape", schedule_->shape);
    }
    return line;
  }

  void Write(const JsonLine& line) { json_.Write(line); }

  std::string kernel_, element_;
  choreo::Device device_;
  const Options& options_;
  harness::JsonFile json_;
  std::optional<ScheduleFigures> schedule_;  // of the shape at hand
};

}  // namespace attention
