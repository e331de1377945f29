#include "driver/compilation.h"

#include <algorithm>
#include <utility>

#include "ast/dump.h"
#include "driver/generate.h"
#include "ir/printer.h"
#include "ir/reader.h"
#include "lex/dump.h"
#include "lex/encoding.h"
#include "lex/preprocess.h"
#include "lower/lower.h"
#include "parse/parse.h"
#include "passes/pipeline.h"
#include "sema/sema.h"
#include "support/edit_distance.h"

namespace choreo::driver {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view StateName(ir::State state) {
  switch (state) {
    case ir::State::Tile:
      return "tile";
    case ir::State::Lowering:
      return "lowering";
    case ir::State::Lowered:
      return "lowered";
  }
  CHOREO_UNREACHABLE();
}

// One run of the compiler; each step says whether the next one follows.
class Run {
 public:
  Run(const CompileOptions& options, Compilation& result) : options_(options), c_(result) {}

  void All() {
    if (options_.from == InputKind::Co ? FrontEnd() : ReadIr()) Passes();
    if (!c_.ok()) c_.output.clear();
  }

 private:
  template <class F>
  auto Timed(std::string_view name, F&& step) {
    const Clock::time_point start = Clock::now();
    auto result = step();
    c_.times.push_back({name, Clock::now() - start});
    return result;
  }

  // Ends the run after phase `name` if it was asked to: `text` is then what there is to print. So
  // does an emission that this phase satisfies.
  template <class F>
  bool Stop(std::string_view name, std::optional<Emit> satisfied, F&& text) {
    const bool asked = options_.stop_after == name;
    const bool emitted = options_.emit && options_.emit == satisfied;
    if (emitted || (asked && !options_.emit)) c_.output = text();
    return asked || (emitted && options_.stop_after.empty());
  }

  bool FrontEnd() {
    const lex::PreprocessOptions preprocess{options_.defines, options_.include_dirs};
    unit_ = Timed("lex", [&] {
      return lex::Preprocess(c_.sources, c_.file, preprocess, c_.diags, &c_.included);
    });
    if (Stop("lex", Emit::Tokens, [&] { return lex::DumpTokens(c_.sources, unit_); })) return false;
    const ast::File file = Timed("parse", [&] { return parse::Parse(unit_, c_.diags); });
    if (Stop("parse", Emit::Ast, [&] { return ast::Dump(file, c_.sources); })) return false;
    const sema::Result sema =
        Timed("sema", [&] { return sema::Analyze(file, c_.sources, c_.diags); });
    if (Stop("sema", std::nullopt, [&] { return ast::Dump(file, c_.sources); })) return false;
    if (!c_.ok()) return false;
    module_ = Timed("lower", [&] { return lower::Lower(unit_, file, sema, c_.sources, c_.diags); });
    if (!c_.ok()) return false;
    if (options_.after_pass) options_.after_pass("lower", module_);
    // With a pass to stop after, `--emit=ir` means the IR after that pass.
    const bool later = !options_.stop_after.empty() && options_.stop_after != "lower";
    return !Stop("lower", later ? std::nullopt : std::optional(Emit::Ir),
                 [&] { return ir::Print(module_); });
  }

  bool ReadIr() {
    unit_.file = c_.file;
    if (!lex::CheckEncoding(c_.sources, c_.file, c_.diags)) return false;
    std::optional<ir::Module> module =
        Timed("read", [&] { return ir::ReadModule(c_.sources, c_.file, c_.diags); });
    if (!module || !c_.ok()) return false;
    module_ = std::move(*module);
    const bool lowered = options_.from == InputKind::Lowered;
    const ir::State wanted = lowered ? ir::State::Lowered : ir::State::Tile;
    if (module_.state != wanted) {
      c_.diags.Emit(diag::kinds::WrongIrState, SourceRange({c_.file, 0}, 0),
                    StateName(module_.state), lowered ? "lowered" : "ir", StateName(wanted));
      return false;
    }
    const bool later = !options_.stop_after.empty();
    return !Stop("lower", later ? std::nullopt : std::optional(Emit::Ir),
                 [&] { return ir::Print(module_); });
  }

  void Passes() {
    if (module_.state != ir::State::Lowered && !RunPasses()) return;
    if (options_.emit == Emit::Lowered) c_.output = ir::Print(module_);
    if (!options_.emit || options_.emit == Emit::Cuda) {
      c_.output = Timed("codegen", [&] {
        return GenerateProgram(
            {options_.target, unit_, module_, c_.sources, options_.line_directives,
             options_.debug_waits_ms, options_.mbarriers_only},
            c_.diags);
      });
    }
    c_.lowered = std::move(module_);
  }

  // False if a pass reported an error, or the run ends after one.
  bool RunPasses() {
    // IR text has no `.co` file at hand: its places are lines of a file that was not read.
    passes::PassContext context{c_.diags, c_.sources,
                                options_.from == InputKind::Co ? c_.file : FileId()};
    // A wait at a named barrier cannot be bounded.
    context.mbarriers_only = options_.mbarriers_only || options_.debug_waits_ms > 0;
    passes::PipelineOptions pipeline;
    pipeline.stop_after = options_.stop_after;
    bool stopped = false;
    pipeline.after_pass = [&](const passes::PassInfo& pass, const ir::Module& module,
                              std::chrono::nanoseconds time) {
      c_.times.push_back({pass.name, time});
      if (options_.after_pass) options_.after_pass(pass.name, module);
      stopped = stopped || pass.name == options_.stop_after;
    };
    module_ = passes::RunPipeline(std::move(module_), context, pipeline);
    c_.obligations_proved = context.obligations.proved;
    c_.obligations_left = context.obligations.left;
    if (!c_.ok()) return false;
    if (!stopped) return true;
    c_.output = ir::Print(module_);
    if (module_.state == ir::State::Lowered) c_.lowered = std::move(module_);
    return false;
  }

  const CompileOptions& options_;
  Compilation& c_;
  lex::Unit unit_;
  ir::Module module_;
};

}  // namespace

Compilation Compile(std::string name, std::string text, const CompileOptions& options) {
  Compilation result;
  result.file = result.sources.Add(std::move(name), std::move(text));
  Run(options, result).All();
  return result;
}

std::vector<PhaseInfo> Phases() {
  std::vector<PhaseInfo> phases = {
      {"lex", "preprocessing: host text and the tokens of tile functions", false},
      {"parse", "syntax tree", false},
      {"sema", "names, types and the rules of the language", false},
      {"lower", "IR in tile state", false},
  };
  for (const passes::PassInfo& pass : passes::Pipeline()) {
    phases.push_back({pass.name, pass.summary, true});
  }
  phases.push_back({"codegen", "program text", false});
  return phases;
}

std::string StopProblem(std::string_view stop_after, std::optional<Emit> emit, InputKind from) {
  if (stop_after.empty()) return {};
  const std::vector<PhaseInfo> phases = Phases();
  const auto index = [&](std::string_view name) {
    return std::find_if(phases.begin(), phases.end(),
                        [&](const PhaseInfo& phase) { return phase.name == name; }) -
           phases.begin();
  };
  const auto stop = index(stop_after);
  if (stop == std::ssize(phases)) {
    std::vector<std::string_view> names;
    for (const PhaseInfo& phase : phases) names.push_back(phase.name);
    const std::vector<std::string_view> close = ClosestNames(stop_after, names, 1);
    return fmt::format("there is no phase or pass `{}`{}", stop_after,
                       close.empty() ? "; `choreo compile --print-pipeline` lists them"
                                     : fmt::format("; did you mean `{}`?", close[0]));
  }
  const auto first_pass = index("lower") + 1;
  const auto last_pass = index("codegen") - 1;
  const auto begin = from == InputKind::Co ? 0 : from == InputKind::Ir ? first_pass : last_pass + 1;
  if (stop < begin) return fmt::format("`--from` starts after `{}`", stop_after);
  if (!emit) return {};
  ptrdiff_t needs = 0;
  switch (*emit) {
    case Emit::Tokens:
      needs = index("lex");
      break;
    case Emit::Ast:
      needs = index("parse");
      break;
    case Emit::Ir:
      needs = index("lower");
      break;
    case Emit::Lowered:
      needs = last_pass;
      break;
    case Emit::Cuda:
      needs = index("codegen");
      break;
  }
  return stop < needs
             ? fmt::format("after `{}` there is not yet what `--emit` asks for", stop_after)
             : std::string();
}

}  // namespace choreo::driver
