#include "driver/ptxas_report.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

namespace choreo::driver {
namespace {

// The text between `before` and `after`, if both stand in `line` in this order.
std::optional<std::string_view> Between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  const size_t start = line.find(before);
  if (start == line.npos) return std::nullopt;
  const std::string_view rest = line.substr(start + before.size());
  const size_t end = rest.find(after);
  if (end == rest.npos) return std::nullopt;
  return rest.substr(0, end);
}

// The number that stands before `what`: 512 in "…, 512 bytes stack frame".
int NumberBefore(std::string_view line, std::string_view what) {
  const size_t end = line.find(what);
  if (end == line.npos || end == 0) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

// The function's name as the source has it. Kernels of tile functions lie in a namespace of
// generated code and end in `_kernel`; the reader of a report knows the tile function.
std::string Demangled(std::string_view name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free);
  std::string readable(status == 0 ? std::string_view(text.get()) : name);
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (size_t at; (at = readable.find(kAnonymous)) != std::string::npos;) {
    readable.erase(at, kAnonymous.size());
  }
  readable.resize(std::min(readable.find('('), readable.size()));
  constexpr std::string_view kGenerated = "choreo_gen::";
  constexpr std::string_view kKernel = "_kernel";
  if (readable.starts_with(kGenerated) && readable.ends_with(kKernel)) {
    readable.resize(readable.size() - kKernel.size());
    readable.erase(0, kGenerated.size());
  }
  return readable;
}

// The message number of "(C7510) …", or nothing.
std::optional<std::string_view> SlowMessage(std::string_view line) {
  for (size_t at = line.find("C75"); at != line.npos; at = line.find("C75", at + 1)) {
    const auto digit = [&](size_t i) {
      return at + i < line.size() && line[at + i] >= '0' && line[at + i] <= '9';
    };
    if (digit(3) && digit(4)) return line.substr(at, 5);
  }
  return std::nullopt;
}

bool IsReportLine(std::string_view line) {
  return line.starts_with("ptxas info") || line.find("bytes stack frame") != line.npos;
}

class ReportReader {
 public:
  void Line(std::string_view line) {
    if (const auto number = SlowMessage(line)) {
      const auto name = Between(line, "function '", "'");
      const size_t text = line.find(") ");
      Complain(name ? Demangled(*name) : current_,
               fmt::format("makes ptxas say {}: {}", *number,
                           line.substr(text == line.npos ? 0 : text + 2)));
      return;
    }
    if (!IsReportLine(line)) {
      report_.other += std::string(line) + '\n';
    } else if (const auto entry = Between(line, "Compiling entry function '", "'")) {
      report_.kernels.push_back({Demangled(*entry)});
      entry_ = current_ = report_.kernels.back().name;
    } else if (const size_t at = line.find("Function properties for "); at != line.npos) {
      current_ = Demangled(line.substr(at + std::string_view("Function properties for ").size()));
    } else if (line.find("bytes stack frame") != line.npos) {
      Properties(line);
    } else if (line.find("Used ") != line.npos && !report_.kernels.empty()) {
      report_.kernels.back().registers = NumberBefore(line, " registers");
    }
  }

  PtxasReport Take() { return std::move(report_); }

 private:
  void Properties(std::string_view line) {
    const int stack = NumberBefore(line, " bytes stack frame");
    const int stores = NumberBefore(line, " bytes spill stores");
    const int loads = NumberBefore(line, " bytes spill loads");
    if (current_ == entry_ && !report_.kernels.empty()) {
      KernelReport& kernel = report_.kernels.back();
      kernel.stack_bytes = stack;
      kernel.spill_store_bytes = stores;
      kernel.spill_load_bytes = loads;
    }
    if (stores + loads != 0) {
      Complain(current_,
               fmt::format("spills registers: {} bytes of stores, {} of loads", stores, loads),
               true);
    } else if (stack != 0) {
      Complain(current_, fmt::format("has a stack frame of {} bytes", stack), true);
    }
  }

  void Complain(const std::string& kernel, std::string what, bool spill = false) {
    report_.complaints.push_back({kernel.empty() ? "?" : kernel, std::move(what), spill});
  }

  PtxasReport report_;
  std::string entry_, current_;
};

}  // namespace

PtxasReport ReadPtxasReport(std::string_view text) {
  ReportReader reader;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    reader.Line(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  return reader.Take();
}

}  // namespace choreo::driver
