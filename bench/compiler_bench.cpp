// How long the compiler takes on the first attention kernel, as a whole and phase by phase, and how
// long the simulator takes to execute it. In: kernels/attention/v1_manual_baseline.co of the source
// tree.
//   build/bench/bin/compiler_bench --benchmark_min_time=2
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <numeric>
#include <string>

#include "diag/render.h"
#include "driver/compilation.h"
#include "driver/execute.h"
#include "support/file.h"

namespace {

using choreo::driver::Compilation;
using choreo::driver::CompileOptions;
using choreo::driver::PhaseTime;

const std::string kKernel =
    std::string(CROQTILE_SOURCE_DIR) + "/kernels/attention/v1_manual_baseline.co";

std::string KernelText() {
  choreo::FileText file = choreo::ReadFile(kKernel);
  if (!file.ok()) {
    fmt::print(stderr, "{}: {}\n", kKernel, file.error);
    std::exit(1);
  }
  return std::move(file.text);
}

Compilation CompileKernel(const std::string& text, const CompileOptions& options) {
  Compilation compilation = choreo::driver::Compile(kKernel, text, options);
  if (!compilation.ok()) {
    fmt::print(stderr, "{}",
               choreo::diag::RenderText(compilation.sources, compilation.diags.diagnostics()));
    std::exit(1);
  }
  return compilation;
}

// From the text of the file to CUDA text.
void BM_CompileV1(benchmark::State& state) {
  const std::string text = KernelText();
  for (auto _ : state) benchmark::DoNotOptimize(CompileKernel(text, {}).output.data());
}
BENCHMARK(BM_CompileV1)->Unit(benchmark::kMillisecond);

// One phase or pass, as the compilation itself measures it.
void BM_Phase(benchmark::State& state, const std::string& phase) {
  const std::string text = KernelText();
  for (auto _ : state) {
    const Compilation compilation = CompileKernel(text, {});
    const auto time = std::accumulate(compilation.times.begin(), compilation.times.end(),
                                      std::chrono::nanoseconds(0),
                                      [&](std::chrono::nanoseconds sum, const PhaseTime& one) {
                                        return one.name == phase ? sum + one.time : sum;
                                      });
    state.SetIterationTime(std::chrono::duration<double>(time).count());
  }
}

// The kernel in the simulator: B=1, H=1, S=512, default schedule.
void BM_SimulateV1(benchmark::State& state) {
  CompileOptions options;
  options.emit = choreo::driver::Emit::Lowered;
  const Compilation compilation = CompileKernel(KernelText(), options);
  std::string problem;
  const auto shape = choreo::driver::ParseShape("B=1,H=1,S=512", problem);
  for (auto _ : state) {
    choreo::diag::Emitter diags;
    const auto execution =
        choreo::driver::Execute(*compilation.lowered, compilation.lowered->kernels[0], *shape, {},
                                compilation.sources, compilation.file, diags);
    if (!execution || diags.has_errors()) {
      state.SkipWithError("the simulator reports errors");
      break;
    }
  }
}
BENCHMARK(BM_SimulateV1)->Unit(benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  for (const choreo::driver::PhaseInfo& phase : choreo::driver::Phases()) {
    const std::string name(phase.name);
    benchmark::RegisterBenchmark(("BM_Phase/" + name).c_str(), BM_Phase, name)
        ->UseManualTime()
        ->Iterations(40)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
