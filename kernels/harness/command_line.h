// What the command lines of the drivers have in common: integers and lists of them, and one clear
// message for everything else. In: texts. Out: values, or a UsageError.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace harness {

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline constexpr int64_t kMaxExtent = 0x7fffffff;  // extents of a tile function are below 2^31
inline constexpr int kExitNoDevice = 77;  // the status by which test runners know a skipped test

inline int64_t ParseInteger(std::string_view where, std::string_view text, int64_t low,
                            int64_t high) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw UsageError(std::string(where) + ": `" + std::string(text) + "` is not an integer from " +
                     std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

inline std::vector<int64_t> ParseIntegers(std::string_view where, std::string_view text) {
  std::vector<int64_t> values;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = text.find(',', begin);
    if (end == std::string_view::npos) end = text.size();
    values.push_back(ParseInteger(where, text.substr(begin, end - begin), 0, kMaxExtent));
    begin = end + 1;
  }
  return values;
}

inline std::string_view Required(const std::string& where, std::string_view value) {
  if (value.empty()) throw UsageError(where + " needs a value");
  return value;
}

// CHOREO_DISABLE_TIMING=1 asks for verification alone.
inline bool TimingWanted() {
  const char* off = std::getenv("CHOREO_DISABLE_TIMING");
  if (off == nullptr || *off == '\0') return true;
  const std::string_view text = off;
  if (text != "0" && text != "1") {
    throw UsageError("environment variable `CHOREO_DISABLE_TIMING`: `" + std::string(text) +
                     "` is neither 0 nor 1");
  }
  return text == "0";
}

// One `--name value` or `--name=value` of argv, from index `i`, which moves past the value.
struct CommandOption {
  std::string_view name, value;
};
inline CommandOption NextOption(int argc, char** argv, int& i) {
  CommandOption option{argv[i], {}};
  if (option.name.substr(0, 2) != "--") {
    throw UsageError("unexpected argument `" + std::string(option.name) +
                     "`; --help lists the options");
  }
  if (const size_t equals = option.name.find('='); equals != std::string_view::npos) {
    option.value = option.name.substr(equals + 1);
    option.name = option.name.substr(0, equals);
  } else if (i + 1 < argc) {
    option.value = argv[++i];
  }
  return option;
}

// An integer option and where its value goes.
struct IntegerOption {
  std::string_view name;
  int64_t* value;
  int64_t low, high;
};

// Whether it was one of `fields`; if so, it has its value.
template <class Fields>
bool TakeInteger(const Fields& fields, const CommandOption& option) {
  for (const IntegerOption& field : fields) {
    if (field.name != option.name) continue;
    const std::string where = "option `" + std::string(option.name) + "`";
    *field.value = ParseInteger(where, Required(where, option.value), field.low, field.high);
    return true;
  }
  return false;
}

inline UsageError UnknownOption(std::string_view name) {
  return UsageError("unknown option `" + std::string(name) + "`; --help lists them");
}

}  // namespace harness
