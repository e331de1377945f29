#include "driver/execute.h"

#include <algorithm>
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

  void NoSuchInput(const ir::Kernel& inputs, const std::string& param, const std::string& kernel) {
    diags_.Emit(diag::kinds::NoSuchInput, Where(inputs.loc), inputs.name, param, kernel);
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

// What `inputs` made, by parameter of the kernel; empty: nothing.
using MadeInputs = std::vector<std::vector<uint8_t>>;

// The kernel's parameter that stands for parameter `index` of `inputs`; none if no tensor of that
// name, type and extents is there.
std::optional<size_t> Counterpart(const ir::Kernel& kernel, const std::vector<ArgumentValue>& given,
                                  const ir::Param& param, const ArgumentValue& made) {
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ir::Param& other = kernel.params[i];
    if (other.name != param.name) continue;
    const bool same = other.shaped && other.elem == param.elem && given[i].extents == made.extents;
    return same ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

// Executes `inputs` on the arguments of the kernel.
std::optional<MadeInputs> MakeInputs(const ir::Module& module, const ir::Kernel& kernel,
                                     const ir::Kernel& inputs, const std::vector<ShapeValue>& shape,
                                     Execution& execution, Executor& executor,
                                     diag::Emitter& diags) {
  const auto given = MakeArguments(kernel, shape, diags);
  auto made = given ? MakeArguments(inputs, Determined(kernel, shape), diags) : std::nullopt;
  if (!made) return std::nullopt;
  std::vector<size_t> places(inputs.params.size());
  for (size_t i = 0; i < inputs.params.size(); ++i) {
    if (!inputs.params[i].shaped) continue;
    const auto place = Counterpart(kernel, *given, inputs.params[i], (*made)[i]);
    if (!place) {
      executor.NoSuchInput(inputs, inputs.params[i].name, kernel.name);
      return std::nullopt;
    }
    places[i] = *place;
    (*made)[i].bytes = (*given)[*place].bytes;
  }
  try {
    const std::vector<sim::Argument> arguments = ToSimArguments(inputs, *made);
    execution.findings += executor.Report(inputs, sim::Run(module, inputs.name, arguments), 0);
  } catch (const choreo::error& error) {
    executor.Refused(inputs, error);
    return std::nullopt;
  }
  MadeInputs result(kernel.params.size());
  for (size_t i = 0; i < inputs.params.size(); ++i) {
    if (inputs.params[i].written) result[places[i]] = std::move((*made)[i].bytes);
  }
  return result;
}

}  // namespace

const ir::Kernel* InputsOf(const ir::Module& module, const ir::Kernel& kernel) {
  const std::string name = kernel.name + "_inputs";
  for (const ir::Kernel& other : module.kernels) {
    if (other.name == name) return &other;
  }
  return nullptr;
}

bool MakesInputs(const ir::Module& module, const ir::Kernel& kernel) {
  return std::any_of(module.kernels.begin(), module.kernels.end(),
                     [&](const ir::Kernel& other) { return InputsOf(module, other) == &kernel; });
}

std::optional<Execution> Execute(const ir::Module& module, const ir::Kernel& kernel,
                                 const std::vector<ShapeValue>& shape,
                                 const ExecutionOptions& options, const SourceManager& sources,
                                 FileId file, diag::Emitter& diags) {
  Execution execution;
  Executor executor(module, sources, file, diags);
  MadeInputs made(kernel.params.size());
  if (options.inputs != nullptr) {
    auto inputs = MakeInputs(module, kernel, *options.inputs, shape, execution, executor, diags);
    if (!inputs) return std::nullopt;
    made = std::move(*inputs);
  }
  for (uint64_t i = 0; i < options.schedules; ++i) {
    auto values = MakeArguments(kernel, shape, diags);
    if (!values) return std::nullopt;
    for (size_t p = 0; p < made.size(); ++p) {
      if (!made[p].empty()) (*values)[p].bytes = made[p];
    }
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
