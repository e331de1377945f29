#include "driver/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <sstream>

namespace choreo::driver {
namespace {

enum CommandSet : unsigned {
  kCompile = 1u << static_cast<unsigned>(Command::Compile),
  kBuild = 1u << static_cast<unsigned>(Command::Build),
  kCheck = 1u << static_cast<unsigned>(Command::Check),
  kRun = 1u << static_cast<unsigned>(Command::Run),
  kView = 1u << static_cast<unsigned>(Command::View),
  kExplain = 1u << static_cast<unsigned>(Command::Explain),
  kTune = 1u << static_cast<unsigned>(Command::Tune),
  kSource = kCompile | kBuild | kCheck | kRun | kView,
};

struct CommandInfo {
  Command command;
  const char* name;
  const char* help;
};
constexpr CommandInfo kCommands[] = {
    {Command::Compile, "compile", "Compile a .co file to program text"},
    {Command::Build, "build", "Compile a .co file and build a program of it"},
    {Command::Check, "check", "Analyse a .co file and execute its kernels on the simulator"},
    {Command::Run, "run", "As check, and print or write what the kernels computed"},
    {Command::View, "view", "Show the timeline of a CTA: text, or SVG with -o FILE.svg"},
    {Command::Explain, "explain", "Explain a diagnostic by the name in its brackets"},
    {Command::Tune, "tune", "Measure a .co file over the `// tune:` ranges of its macros"},
};

// "Cuda, Sim" as {"cuda", "sim"}.
std::vector<std::string> LowerCaseNames(std::string_view enumerators) {
  std::vector<std::string> names(1);
  for (const char c : enumerators) {
    if (c == ',') {
      names.emplace_back();
    } else if (c != ' ') {
      names.back() += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
  }
  return names;
}

std::string Joined(const std::vector<std::string>& names, std::string_view separator) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += separator;
    out += name;
  }
  return out;
}

// "--emit" of "-e,--emit".
std::string LastName(std::string_view names) {
  return std::string(names.substr(names.rfind(',') == names.npos ? 0 : names.rfind(',') + 1));
}

// Declares the options of one command on its CLI11 application.
class Declarer {
 public:
  Declarer(CLI::App& app, Command command, Options& options)
      : app_(app), set_(1u << static_cast<unsigned>(command)), options_(options) {}

  void All() {
#define CHOREO_FLAG(field, names, commands, help) Flag(options_.field, names, commands, help);
#define CHOREO_TEXT(field, names, value, commands, help) \
  Text(options_.field, names, value, commands, help);
#define CHOREO_LIST(field, names, value, commands, help) \
  List(options_.field, names, value, commands, help);
#define CHOREO_NUMBER(field, initial, names, value, commands, help) \
  Number(options_.field, names, value, commands, help);
#define CHOREO_CHOICE(field, Enum, names, commands, help, ...) \
  Choice(options_.field, names, commands, help, #__VA_ARGS__);
#include "driver/options.def"
#undef CHOREO_FLAG
#undef CHOREO_TEXT
#undef CHOREO_LIST
#undef CHOREO_NUMBER
#undef CHOREO_CHOICE
  }

 private:
  void Flag(bool& field, const char* names, unsigned commands, const char* help) {
    if (commands & set_) app_.add_flag(names, field, help);
  }
  void Text(std::string& field, const char* names, const char* value, unsigned commands,
            const char* help) {
    if (commands & set_) app_.add_option(names, field, help)->type_name(value);
  }
  void List(std::vector<std::string>& field, const char* names, const char* value,
            unsigned commands, const char* help) {
    if (!(commands & set_)) return;
    app_.add_option(names, field, help)->type_name(value)->allow_extra_args(false);
  }
  void Number(uint64_t& field, const char* names, const char* value, unsigned commands,
              const char* help) {
    if (!(commands & set_)) return;
    const auto parse = [&field, name = LastName(names)](const std::string& text) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
      if (error != std::errc() || end != text.data() + text.size()) {
        throw CLI::ValidationError(name, "`" + text + "` is no whole number from 0 to 2^64 - 1");
      }
    };
    app_.add_option_function<std::string>(names, parse, help)->type_name(value);
  }
  template <class Enum>
  void Choice(std::optional<Enum>& field, const char* names, unsigned commands, const char* help,
              const char* enumerators) {
    if (!(commands & set_)) return;
    const std::vector<std::string> values = LowerCaseNames(enumerators);
    const auto parse = [&field, values, name = LastName(names)](const std::string& text) {
      const auto at = std::find(values.begin(), values.end(), text);
      if (at == values.end()) {
        throw CLI::ValidationError(name, "`" + text + "` is not one of " + Joined(values, ", "));
      }
      field = static_cast<Enum>(at - values.begin());
    };
    app_.add_option_function<std::string>(names, parse, help)->type_name(Joined(values, "|"));
  }

  CLI::App& app_;
  unsigned set_;
  Options& options_;
};

std::string_view NameOf(Command command) { return kCommands[static_cast<size_t>(command)].name; }

// A macro's name, perhaps with a parameter list: what may stand before the `=` of a -D.
bool IsMacroName(std::string_view define) {
  const std::string_view name = define.substr(0, define.find_first_of("=("));
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

constexpr uint64_t kMaxDebugWaits = 3600 * 1000;  // an hour

std::string TuneInconsistency(const Options& o) {
  if (o.rounds == 0 || o.rounds > 1000) return "`--rounds`: from 1 to 1000";
  if (o.timeout == 0 || o.timeout > 86400) return "`--timeout`: from 1 to 86400 seconds";
  for (const std::string& argument : o.native_args) {
    for (const std::string_view own : {"--json", "--no-verify"}) {
      if (argument == own || argument.starts_with(std::string(own) + "=")) {
        return fmt::format("`{}` after `--`: `choreo tune` gives it to the program itself", own);
      }
    }
  }
  return {};
}

// What is wrong with options that parsed one by one; empty if nothing is.
std::string Inconsistency(const Options& o) {
  if (o.command == Command::Explain) return {};
  if (o.file.empty() && !o.print_pipeline) return "no input file";
  if (!o.arch.empty() && o.arch != "sm_90a") {
    return fmt::format("`--arch={}`: choreo generates code for sm_90a only", o.arch);
  }
  for (const std::string& define : o.defines) {
    if (!IsMacroName(define)) return fmt::format("`-D{}`: expected NAME or NAME=TEXT", define);
  }
  const Target target = o.target_or_default();
  if (o.emit == Emit::Cuda && target == Target::Sim) {
    return "`--emit=cuda` contradicts `--target=sim`";
  }
  if (o.from_or_default() != InputKind::Co && (o.emit == Emit::Tokens || o.emit == Emit::Ast)) {
    return "`--emit=tokens` and `--emit=ast` need a .co file, not IR";
  }
  if (o.from == InputKind::Lowered && o.emit == Emit::Ir) {
    return "`--emit=ir` contradicts `--from=lowered`: the passes have run";
  }
  if (target == Target::Sim && o.output_kind.value_or(OutputKind::Binary) != OutputKind::Binary) {
    return "`--target=sim` builds a binary; cubin and fatbin are for the GPU";
  }
  if (o.debug_waits != 0 && target == Target::Sim) {
    return "`--debug-waits` is for the GPU; the simulator finds waits that do not end itself";
  }
  if (o.debug_waits > kMaxDebugWaits) {
    return fmt::format("`--debug-waits={}`: at most {} milliseconds", o.debug_waits,
                       kMaxDebugWaits);
  }
  if (o.command == Command::Compile && o.write_dependencies && o.output.empty()) {
    return "`-MD` needs `-o`: the dependency file is named after the output";
  }
  if (!o.native_args.empty() && o.command != Command::Build && o.command != Command::Tune) {
    return "arguments after `--` are for `choreo build` and `choreo tune` only";
  }
  if (o.command == Command::Tune) return TuneInconsistency(o);
  if (o.schedules == 0) return "`--schedules=0`: at least one schedule is executed";
  return {};
}

}  // namespace

Exit UsageError(std::string_view command, std::string_view message) {
  return {kExitUsage, fmt::format("choreo: error: {}\nsee `choreo {}{}--help`\n", message, command,
                                  command.empty() ? "" : " ")};
}

std::variant<Options, Exit> ParseCommandLine(int argc, const char* const* argv) {
  Options options;
  std::vector<std::string> args(argv + std::min(argc, 1), argv + argc);
  const auto separator = std::find(args.begin(), args.end(), "--");
  if (separator != args.end()) {
    options.native_args.assign(separator + 1, args.end());
    args.erase(separator, args.end());
  }
  // The spelling that compilers share; CLI11 would read it as `-M -D`.
  std::replace(args.begin(), args.end(), std::string("-MD"), std::string("--MD"));

  CLI::App app("choreo: the compiler of the Croqtile tile language, for NVIDIA Hopper", "choreo");
  app.set_version_flag("--version", "choreo " CROQTILE_VERSION);
  app.require_subcommand(0, 1);
  for (const CommandInfo& info : kCommands) {
    CLI::App* sub = app.add_subcommand(info.name, info.help);
    const bool explain = info.command == Command::Explain;
    sub->add_option("file", options.file, explain ? "Name of a diagnostic (default: list all)" : "")
        ->type_name(explain ? "KIND" : "FILE");
    sub->parse_complete_callback([&options, command = info.command] { options.command = command; });
    Declarer(*sub, info.command, options).All();
    if (info.command == Command::Build) {
      sub->footer("Arguments after `--` go to nvcc or the host compiler.");
    }
    if (info.command == Command::Tune) {
      sub->footer(
          "Arguments after `--` go to the program.\nExit status: as of the other commands; 77 no "
          "sm_90 device, 130 interrupted.");
    }
  }
  app.footer("Exit status: 0 fine, 1 the program has errors, 2 wrong usage, 70 a bug in choreo.");

  std::string_view command;
  try {
    if (args.empty()) return Exit{kExitUsage, app.help()};
    std::reverse(args.begin(), args.end());  // as CLI11 takes them
    app.parse(args);
    if (app.get_subcommands().empty()) return UsageError("", "no command");
    command = NameOf(options.command);
  } catch (const CLI::Success& success) {  // help or version
    std::ostringstream out, error;
    app.exit(success, out, error);
    return Exit{kExitOk, out.str()};
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> subs = app.get_subcommands();
    return UsageError(subs.empty() ? "" : subs[0]->get_name(), error.what());
  }
  const std::string wrong = Inconsistency(options);
  if (!wrong.empty()) return UsageError(command, wrong);
  return options;
}

}  // namespace choreo::driver
