// How long the compiler and the simulator take for the first attention kernel, and of which the
// phases. In: kernels/attention/v1_manual_baseline.co of this source tree. Out: Google Benchmark's
// figures; run with --benchmark_format=json to keep them.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#define CHOREO_TARGET_SIM
#include "attention/harness/inputs.h"
#include "attention/harness/reference.h"
#include "choreo/host/sim_launch.h"
#include "choreo/runtime.h"
#include "driver/compilation.h"
#include "sim/sim.h"
#include "support/file.h"

namespace {

using choreo::bf16;
using choreo::driver::Compilation;
using choreo::driver::CompileOptions;

constexpr const char* kKernel = CROQTILE_SOURCE_DIR "/kernels/attention/v1_manual_baseline.co";

std::string KernelText() {
  auto file = choreo::ReadFile(kKernel);
  if (!file.error.empty()) {
    std::fprintf(stderr, "compiler_bench: %s: %s\n", kKernel, file.error.c_str());
    std::exit(1);
  }
  return std::move(file.text);
}

// The whole way from text to CUDA text; counters show the milliseconds of each phase and pass.
void CompileToCuda(benchmark::State& state) {
  const std::string text = KernelText();
  std::map<std::string, double> ms;
  for (auto _ : state) {
    const Compilation result = choreo::driver::Compile(kKernel, text, CompileOptions{});
    if (!result.ok()) {
      state.SkipWithError("the kernel does not compile");
      return;
    }
    benchmark::DoNotOptimize(result.output.data());
    for (const auto& phase : result.times) ms[std::string(phase.name)] += phase.time.count() / 1e6;
  }
  for (const auto& [name, total] : ms) {
    state.counters[name + "_ms"] = benchmark::Counter(total, benchmark::Counter::kAvgIterations);
  }
}
BENCHMARK(CompileToCuda)->Unit(benchmark::kMillisecond);

void CompileToSimulator(benchmark::State& state) {
  const std::string text = KernelText();
  CompileOptions options;
  options.target = choreo::driver::Target::Sim;
  for (auto _ : state) {
    const Compilation result = choreo::driver::Compile(kKernel, text, options);
    if (!result.ok()) {
      state.SkipWithError("the kernel does not compile");
      return;
    }
    benchmark::DoNotOptimize(result.output.data());
  }
}
BENCHMARK(CompileToSimulator)->Unit(benchmark::kMillisecond);

// One launch with range(0) heads of range(1) positions, D = 128, in the simulator; checked once
// against the FP64 reference, so that what is timed is a right result.
void Simulate(benchmark::State& state) {
  const attention::Shape shape{1, state.range(0), state.range(0), state.range(1), 128};
  const Compilation compiled = choreo::driver::Compile(kKernel, KernelText(), CompileOptions{});
  if (!compiled.ok() || !compiled.lowered) {
    state.SkipWithError("the kernel does not compile");
    return;
  }
  constexpr uint32_t kSeed = 42;
  auto q = attention::GenerateTensor<bf16>(kSeed, attention::kQ, shape.rows(), shape.dim, 0);
  auto k = attention::GenerateTensor<bf16>(kSeed, attention::kK, shape.rows(), shape.dim, 0);
  auto v = attention::GenerateTensor<bf16>(kSeed, attention::kV, shape.rows(), shape.dim, 0);
  choreo::Buffer<bf16> tensors[] = {choreo::Buffer<bf16>(q.size()), choreo::Buffer<bf16>(k.size()),
                                    choreo::Buffer<bf16>(v.size()), choreo::Buffer<bf16>(q.size())};
  tensors[0].upload(q);
  tensors[1].upload(k);
  tensors[2].upload(v);
  std::vector<choreo::view<bf16, 4>> views;
  for (auto& tensor : tensors) {
    views.push_back(tensor.view(shape.batch, shape.seq, shape.heads, shape.dim));
  }
  std::vector<choreo::sim::Argument> arguments;
  for (const auto& view : views) arguments.push_back(choreo::sim::MakeArgument(view));

  for (auto _ : state) {
    tensors[3].fill_byte(0xff);
    const auto report = choreo::sim::Run(*compiled.lowered, "mha_v1", arguments);
    if (!report.ok()) {
      state.SkipWithError("the simulator found something");
      return;
    }
  }
  std::vector<bf16> out(shape.rows() * shape.dim);
  tensors[3].download(out);
  const auto result = attention::Verify<bf16>(shape, kSeed, std::span<const bf16>(out));
  if (!result.ok()) state.SkipWithError("the result is wrong");
  state.counters["max_error"] = result.max_error;
}
BENCHMARK(Simulate)
    ->ArgNames({"heads", "seq"})
    ->Args({1, 512})
    ->Args({2, 512})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
