// Measurements as JSON lines. In: fields one by one, and the path of --json (empty: nowhere). Out:
// a file that is complete and flushed after each line.
#pragma once

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "command_line.h"

namespace harness {

inline std::string Format(const char* format, ...) __attribute__((format(printf, 1, 2)));
inline std::string Format(const char* format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

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

class JsonFile {
 public:
  explicit JsonFile(const std::string& path) : path_(path) {
    if (path.empty()) return;
    file_.reset(std::fopen(path.c_str(), "w"));
    if (!file_) throw UsageError("option `--json`: cannot write `" + path + "`");
  }

  void Write(const JsonLine& line) {
    if (!file_) return;
    const std::string text = line.Text();
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
        std::fflush(file_.get()) != 0) {
      throw std::runtime_error("cannot write `" + path_ + "`");
    }
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace harness
