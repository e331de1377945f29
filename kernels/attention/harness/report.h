// What a driver prints: a few lines a shape on stdout, and JSON lines with every raw measurement.
// In: results as they come. Out: text, and the file of --json, complete and flushed after each
// line.
#pragma once

#include <cinttypes>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "choreo/runtime.h"
#include "options.h"
#include "reference.h"

namespace attention {

// One flat JSON object, built field by field.
class JsonLine {
 public:
  JsonLine& Add(const char* key, const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return AddRaw(key, quoted + "\"");
  }
  JsonLine& Add(const char* key, const char* text) { return Add(key, std::string(text)); }
  JsonLine& Add(const char* key, bool value) { return AddRaw(key, value ? "true" : "false"); }
  JsonLine& Add(const char* key, int64_t value) { return AddRaw(key, std::to_string(value)); }
  JsonLine& Add(const char* key, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return AddRaw(key, std::isfinite(value) ? text : "null");
  }
  std::string Text() const { return "{" + fields_ + "}\n"; }

 private:
  JsonLine& AddRaw(const char* key, const std::string& value) {
    if (!fields_.empty()) fields_ += ", ";
    fields_ += "\"" + std::string(key) + "\": " + value;
    return *this;
  }
  std::string fields_;
};

class Report {
 public:
  Report(std::string kernel, const char* element, const choreo::Device& device,
         const Options& options)
      : kernel_(std::move(kernel)), element_(element), device_(device), options_(options) {
    if (!options.json.empty()) {
      json_.reset(std::fopen(options.json.c_str(), "w"));
      if (!json_) throw UsageError("option `--json`: cannot write `" + options.json + "`");
    }
    std::printf("%s on %s (%d SMs%s)\n", kernel_.c_str(), device.name.c_str(), device.sm_count,
                device.simulated ? ", simulated" : "");
  }

  void Begin(const Shape& shape) {
    std::printf("%s  B=%" PRId64 " H=%" PRId64 " Hkv=%" PRId64 " S=%" PRId64 " D=%" PRId64
                "  seed %u\n",
                element_.c_str(), shape.batch, shape.heads, shape.kv_heads, shape.seq, shape.dim,
                options_.seed);
  }

  void Note(const char* what, const std::string& text) {
    std::printf("  %-8s %s\n", what, text.c_str());
    std::fflush(stdout);
  }

  void Verified(const Shape& shape, const Verification& v, bool guards_intact) {
    const bool ok = v.ok() && guards_intact;
    Note("verify",
         Format("%s: %" PRId64 " rows (%" PRId64
                " elements) against FP64: largest error %.3g at %s, largest row relative L2 %.3g "
                "at %s",
                ok ? "ok" : "FAILED", v.rows, v.elements, v.max_error, Text(v.max_at).c_str(),
                v.max_row_error, Text(v.max_row_at).c_str()));
    if (v.not_finite != 0) {
      Note("",
           Format("%" PRId64 " of %" PRId64 " elements not written or not finite, the first at %s",
                  v.not_finite, shape.rows() * shape.dim, Text(v.first_not_finite).c_str()));
    }
    if (v.beyond != 0) {
      Note("", Format("%" PRId64 " elements beyond %g + %g * |reference|", v.beyond, kAbsTolerance,
                      kRelTolerance));
    }
    if (v.bad_rows != 0) {
      Note("", Format("%" PRId64 " rows with a relative L2 error of %g or more", v.bad_rows,
                      kRowTolerance));
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
    Note("repeat",
         Format("%s: %" PRId64 " launches, %" PRId64 " with an output that differs bitwise",
                different == 0 ? "ok" : "FAILED", launches, different));
    Write(Row("repeat", shape)
              .Add("ok", different == 0)
              .Add("launches", launches)
              .Add("different", different));
  }

  void Timed(const Shape& shape, const std::vector<double>& rounds, double median) {
    std::string all;
    for (size_t i = 0; i < rounds.size(); ++i) {
      all += Format(i == 0 ? "%.4f" : " %.4f", rounds[i]);
      Write(Row("round", shape)
                .Add("round", static_cast<int64_t>(i))
                .Add("warmup", options_.warmup)
                .Add("repeat", options_.repeat)
                .Add("idle_ms", options_.idle_ms)
                .Add("ms", rounds[i])
                .Add("tflops", Tflops(shape, rounds[i])));
    }
    Note("timing",
         Format("%.4f ms  %.1f TFLOPS  (median; %" PRId64 " warm-up, %" PRId64
                " timed a round; rounds: %s ms)",
                median, Tflops(shape, median), options_.warmup, options_.repeat, all.c_str()));
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

  static std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2))) {
    char text[512];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  static double Tflops(const Shape& shape, double ms) { return shape.flops() / (ms * 1e9); }

  static std::string Text(const Place& p) {
    return Format("[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", p.batch, p.seq, p.head,
                  p.dim);
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
        .Add("device", device_.name)
        .Add("sm_count", static_cast<int64_t>(device_.sm_count))
        .Add("simulated", device_.simulated);
    return line;
  }

  void Write(const JsonLine& line) {
    if (!json_) return;
    const std::string text = line.Text();
    if (std::fwrite(text.data(), 1, text.size(), json_.get()) != text.size() ||
        std::fflush(json_.get()) != 0) {
      throw std::runtime_error("cannot write `" + options_.json + "`");
    }
  }

  std::string kernel_, element_;
  choreo::Device device_;
  const Options& options_;
  std::unique_ptr<std::FILE, Closer> json_;
};

}  // namespace attention
