// The driver of an attention kernel behind its Main: every sequence length in turn.
// In: the command line; `make(options)`, which gives the launcher attend(q, k, v, o, stream) of the
// kernel, and the launcher of the input generator. Out: the exit status.
#pragma once

#include <cstdio>
#include <memory>
#include <utility>

#include "../../harness/run.h"
#include "choreo/runtime.h"
#include "interleave.h"
#include "options.h"
#include "report.h"
#include "session.h"

namespace attention::internal {

template <class T, class Attend, class Fill>
bool RunSessions(const Options& options, const choreo::Device& device, int64_t dim, Attend attend,
                 Fill fill, Report& report) {
  using Sessions = Session<T, Attend, Fill>;
  const ShapeDefaults defaults = DefaultShapes(device.simulated);
  const auto& seqs = options.seqs.empty() ? defaults.seqs : options.seqs;
  const auto start = [&](const Options& of, int64_t seq) {
    return std::make_unique<Sessions>(MakeShape(of, defaults, seq, dim), options, device, attend,
                                      fill, report);
  };
  bool passed = true;
  std::unique_ptr<Sessions> last;
  for (const int64_t seq : seqs) {
    std::unique_ptr<Sessions> before = std::move(last);
    if (options.check_streams == 0) before.reset();  // its memory is not needed
    last = start(options, seq);
    passed = last->Run() && passed;
    if (before != nullptr) {
      passed = CheckStreams<T>(*last, *before, options.check_streams, report) && passed;
    }
  }
  if (options.check_streams > 0 && seqs.size() == 1) {
    Options changed = options;
    changed.batch = last->shape().batch == 1 ? 2 : 1;
    const auto other = start(changed, seqs[0]);
    passed = other->Run(Sessions::Timing::Skipped) && passed;
    passed = CheckStreams<T>(*other, *last, options.check_streams, report) && passed;
  }
  return passed;
}

template <class T, int Dim, class Make, class Fill>
int RunDriver(const char* kernel, int argc, char** argv, Grid grid, Make make, Fill fill) {
  return harness::ExitStatus(kernel, [&] {
    const Options options = ParseOptions(argc, argv, grid);
    if (options.help) {
      std::printf("%s", UsageText(kernel, grid).c_str());
      return true;
    }
    const auto attend = make(options);
    const choreo::Device device = choreo::current_device();
    Report report(kernel, ElementName<T>(), device, options);
    const bool passed = RunSessions<T>(options, device, Dim, attend, fill, report);
    report.Close(passed);
    return passed;
  });
}

}  // namespace attention::internal
