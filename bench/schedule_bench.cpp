// How long the task lists of persistent causal attention take to build: callers whose shapes change
// often pay it for each new one.
//   build/bench/bin/schedule_bench
#include <benchmark/benchmark.h>

#include <cstdint>

#include "schedule/causal_schedule.h"

namespace {

// Arguments: entries (batch * heads), query tiles, bins.
void BM_BuildCausalSchedule(benchmark::State& state, schedule::Order order) {
  const schedule::CausalShape shape{1, state.range(0), state.range(1)};
  for (auto _ : state) {
    const schedule::TaskList list =
        schedule::BuildCausalSchedule(shape, state.range(2), schedule::kDefaultFixedCost, order);
    benchmark::DoNotOptimize(list.tasks.data());
  }
  state.SetItemsProcessed(state.iterations() * shape.heads * shape.tiles);
}
void Shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"entries", "tiles", "bins"})
      ->Args({8, 32, 132})
      ->Args({128, 32, 132})
      ->Args({128, 64, 132})
      ->Args({128, 128, 132})
      ->ArgsProduct({{128}, {512}, {78, 114, 132, 264}})
      ->Args({128, 1024, 132})
      ->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(BM_BuildCausalSchedule, sections, schedule::Order::Sections)->Apply(Shapes);
BENCHMARK_CAPTURE(BM_BuildCausalSchedule, pairs, schedule::Order::Pairs)->Apply(Shapes);

}  // namespace

BENCHMARK_MAIN();
