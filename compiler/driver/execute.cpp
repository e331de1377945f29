#include "driver/execute.h"

#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "sim/numeric.h"
#include "sim/sim.h"

namespace choreo::driver {
namespace {

// The arguments as a program passes them; they borrow from `values`.
std::vector<sim::Argument> ToSimArguments(const ir::Kernel& kernel,
                                          std::vector<ArgumentValue>& values) {
  std::vector<sim::Argument> arguments;
  for (size_t i = 0; i < values.size(); ++i) {
    ArgumentValue& value = values[i];
    sim::Argument argument;
    if (kernel.params[i].shaped) {
      argument.rank = static_cast<int>(value.extents.size());
      argument.data = value.bytes.data();
      argument.element_bytes = Bytes(kernel.params[i].elem);
      argument.extent = value.extents.data();
      argument.stride = value.strides.data();
    } else {
      sim::DispatchElem(kernel.params[i].elem, [&]<Elem E>() {
        const auto loaded = sim::ElemTraits<E>::Load(&value.scalar);
        argument.integer = sim::ConvertValue<int64_t>(loaded);
        argument.real = static_cast<double>(loaded);
      });
    }
    arguments.push_back(argument);
  }
  return arguments;
}

class Executor {
 public:
  Executor(const ir::Module& module, const SourceManager& sources, FileId file,
           diag::Emitter& diags)
      : module_(module), sources_(sources), file_(file), diags_(diags) {}

  // One finding per kind and pair of places, whatever the schedule. How many are new.
  size_t Report(const ir::Kernel& kernel, const sim::Report& report, uint64_t schedule_seed) {
    size_t count = 0;
    for (const sim::Finding& finding : report.findings) {
      if (!seen_
               .insert({finding.kind, finding.loc.line, finding.loc.column, finding.loc2.line,
                        finding.loc2.column})
               .second) {
        continue;
      }
      ++count;
      diag::Builder builder =
          diags_.EmitText(finding.kind, Where(finding.loc), Text(finding.loc, finding.message));
      if (finding.loc2.line != 0 && finding.loc2 != finding.loc) {
        builder.Note(Where(finding.loc2), Text(finding.loc2, "the other one is here"));
      }
      if (schedule_seed != 0) {
        builder.Note({}, fmt::format("under the random schedule of `--seed={}`", schedule_seed));
      }
    }
    if (!report.failed_assert.empty() && !assert_reported_) {
      assert_reported_ = true;
      ++count;
      diags_.Emit(diag::kinds::KernelAssertFailed, Where(kernel.loc), kernel.name,
                  report.failed_assert);
    }
    return count;
  }

  void Refused(const ir::Kernel& kernel, const choreo::error& error) {
    diags_.Emit(diag::kinds::CallRefused, Where(kernel.loc), error.what());
  }

 private:
  SourceRange Where(ir::Loc loc) const {
    if (!file_.valid() || loc.line == 0 || loc.line > sources_.LineCount(file_)) return {};
    return SourceRange(sources_.LocAt(file_, loc.line, loc.column));
  }

  // Without the source at hand the message itself says where.
  std::string Text(ir::Loc loc, const std::string& message) const {
    if (file_.valid() || loc.line == 0) return message;
    return fmt::format("{}:{}:{}: {}", module_.source_name, loc.line, loc.column, message);
  }

  const ir::Module& module_;
  const SourceManager& sources_;
  FileId file_;
  diag::Emitter& diags_;
  std::set<std::tuple<diag::DiagKind, uint32_t, uint32_t, uint32_t, uint32_t>> seen_;
  bool assert_reported_ = false;
};

}  // namespace

std::optional<Execution> Execute(const ir::Module& module, const ir::Kernel& kernel,
                                 const std::vector<ShapeValue>& shape,
                                 const ExecutionOptions& options, const SourceManager& sources,
                                 FileId file, diag::Emitter& diags) {
  Execution execution;
  Executor executor(module, sources, file, diags);
  for (uint64_t i = 0; i < options.schedules; ++i) {
    auto values = MakeArguments(kernel, shape, diags);
    if (!values) return std::nullopt;
    sim::RunOptions run;
    // Seed 0 means the default schedule.
    run.schedule_seed = i == 0 ? 0 : options.seed + i - 1;
    if (i != 0 && run.schedule_seed == 0) run.schedule_seed = ~uint64_t{0};
    run.trace = i == 0 ? options.trace : nullptr;
    run.trace_cta = options.cta;
    try {
      const std::vector<sim::Argument> arguments = ToSimArguments(kernel, *values);
      const sim::Report report = sim::Run(module, kernel.name, arguments, run);
      execution.findings += executor.Report(kernel, report, run.schedule_seed);
      execution.ctas = report.ctas;
    } catch (const choreo::error& error) {
      executor.Refused(kernel, error);
      return std::nullopt;
    }
    ++execution.schedules;
    if (i == 0) execution.arguments = std::move(*values);
  }
  return execution;
}

}  // namespace choreo::driver
