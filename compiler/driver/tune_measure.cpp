#include "driver/tune_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "driver/options.h"
#include "driver/toolchain.h"
#include "driver/tune_progress.h"
#include "driver/tune_sources.h"
#include "support/file.h"

namespace choreo::driver {
namespace {

using End = TuneMeasurement::End;

struct RunResult {
  TuneReport report;
  int status = 0;
  std::string failed;  // not empty: why the run says nothing
};

class Measurement {
 public:
  Measurement(const TuneContender& reference, const std::vector<TuneContender>& contenders,
              const TuneMeasureOptions& options, TuneRows& rows, const Interruption& interruption)
      : reference_(reference),
        contenders_(contenders),
        options_(options),
        rows_(rows),
        interruption_(interruption),
        progress_(0, options.progress) {
    result_.turns.resize(contenders.size());
    for (const std::string& argument : options.arguments) arguments_ += argument + '\n';
  }

  TuneMeasurement Run() {
    if (VerifyReference() && VerifyContenders() && options_.timed) Rounds();
    if (interruption_.Asked()) result_.end = End::Interrupted;
    return std::move(result_);
  }

 private:
  bool IsReference(const TuneContender& contender) const {
    return contender.binary == reference_.binary;
  }

  RunResult RunProgram(const std::string& binary, bool timed) const {
    const std::string json = options_.folder + "/run.json";
    std::error_code error;
    std::filesystem::remove(json, error);
    std::vector<std::string> command = {binary.find('/') == binary.npos ? "./" + binary : binary};
    // The program's arguments may ask for more timed rounds; verification is timed as little as can
    // be.
    if (timed) command.insert(command.end(), {"--no-verify", "--rounds", "1"});
    command.insert(command.end(), options_.arguments.begin(), options_.arguments.end());
    if (!timed) command.insert(command.end(), {"--warmup", "0", "--repeat", "1", "--rounds", "1"});
    command.insert(command.end(), {"--json", json});
    const ToolLimits limits{options_.timeout_s, {"CHOREO_DISABLE_TIMING=0"}};
    const ToolResult tool = RunTool(command, limits);
    RunResult result;
    result.status = tool.status;
    result.report = ReadTuneReport(ReadFile(json).text);
    std::filesystem::remove(json, error);
    const std::string line = TellingLine(tool.output);
    if (!tool.problem.empty()) {
      result.failed = fmt::format("it could not be started: {}", tool.problem);
    } else if (tool.timed_out) {
      result.failed = fmt::format("it ran longer than {} s", options_.timeout_s);
    } else if (tool.status > 128) {
      result.failed = fmt::format("it was ended by signal {}{}{}", tool.status - 128,
                                  line.empty() ? "" : ": ", line);
    } else if (tool.status != 0) {
      result.failed = line.empty() ? fmt::format("exit status {}", tool.status) : line;
    } else if (!timed && !result.report.verified) {
      result.failed = "it reports no verification";
    } else if (timed && result.report.ms.empty()) {
      result.failed = "it reports no time";
    }
    return result;
  }

  // Not taken from an earlier run: this is how the device is known.
  bool VerifyReference() {
    const RunResult run = RunProgram(reference_.binary, false);
    if (interruption_.Asked()) return false;
    device_ = run.report.device;
    if (run.failed.empty()) {
      progress_.Step(fmt::format("{}: verified", reference_.label));
      return true;
    }
    result_.end = run.status == kExitNoDevice ? End::NoDevice : End::ReferenceFailed;
    result_.why = run.failed;
    return false;
  }

  bool VerifyContenders() {
    size_t count = 0;
    for (const TuneContender& contender : contenders_) {
      count += !contender.binary.empty() && !IsReference(contender);
    }
    progress_.SetLeft(count);
    for (size_t i = 0; i < contenders_.size(); ++i) {
      const TuneContender& contender = contenders_[i];
      if (contender.binary.empty()) continue;
      if (interruption_.Asked()) return false;
      if (IsReference(contender)) {
        result_.turns[i].verified = true;
        continue;
      }
      const std::string key = HashOfParts({"verify", contender.key, arguments_, device_});
      const bool known = rows_.Verified(key);
      TuneTurns& turns = result_.turns[i];
      if (!known) {
        turns.failed = RunProgram(contender.binary, false).failed;
        if (interruption_.Asked()) {
          turns.failed.clear();
          return false;
        }
        rows_.AddVerification(key, contender.label, turns.failed);
      }
      turns.verified = turns.failed.empty();
      progress_.Step(fmt::format("{}: {}", contender.label,
                                 turns.verified ? (known ? "verified before" : "verified")
                                                : "not verified: " + turns.failed),
                     known);
    }
    return true;
  }

  // Runs that are left if none of the candidates fails.
  size_t StepsLeft(size_t candidates, size_t rounds) const {
    size_t steps = 0;
    for (size_t round = 0; round < rounds; ++round) {
      steps += candidates;
      std::vector<size_t> all(candidates);
      candidates = Survivors(all, std::vector<double>(candidates), options_.keep).size();
    }
    return steps;
  }

  void Rounds() {
    std::vector<size_t> in_play;
    for (size_t i = 0; i < contenders_.size(); ++i) {
      // The reference is measured by all the others' turns.
      if (result_.turns[i].verified && !IsReference(contenders_[i])) in_play.push_back(i);
    }
    for (size_t round = 0; round < options_.rounds; ++round) {
      progress_.SetLeft(StepsLeft(in_play.size(), options_.rounds - round));
      for (const size_t i : TurnsOf(in_play, round)) {
        if (!Turn(i, round)) return;
      }
      std::erase_if(in_play, [&](size_t i) { return !result_.turns[i].failed.empty(); });
      if (round + 1 < options_.rounds) in_play = Halve(in_play, round);
    }
  }

  std::vector<size_t> Halve(const std::vector<size_t>& in_play, size_t round) {
    std::vector<size_t> candidates, next;
    std::vector<double> ratios;
    for (const size_t i : in_play) {
      if (contenders_[i].stays) continue;
      candidates.push_back(i);
      ratios.push_back(Summarise(result_.turns[i].samples)->ratio);
    }
    const std::vector<size_t> survivors = Survivors(candidates, ratios, options_.keep);
    for (const size_t i : in_play) {
      const bool survives = std::find(survivors.begin(), survivors.end(), i) != survivors.end();
      if (contenders_[i].stays || survives) {
        next.push_back(i);
      } else {
        result_.turns[i].dropped_after = round;
      }
    }
    return next;
  }

  // False if the measurement ends here.
  bool Turn(size_t i, size_t round) {
    if (interruption_.Asked()) return false;
    const TuneContender& contender = contenders_[i];
    TuneTurns& turns = result_.turns[i];
    const std::string key =
        HashOfParts({"sample", contender.key, reference_.key, arguments_, device_});
    std::optional<TuneSample> sample = rows_.Sample(key, round);
    const bool known = sample.has_value();
    if (!known) {
      if (!last_reference_ && !WarmUp()) return false;
      const RunResult run = RunProgram(contender.binary, true);
      if (interruption_.Asked()) return false;
      turns.failed = run.failed.empty() ? std::string() : "its timed run failed: " + run.failed;
      const std::vector<double> before = *last_reference_;
      if (!TimeReference()) return false;
      sample = TuneSample{before, run.report.ms, *last_reference_};
      if (turns.failed.empty() && !IsSound(*sample)) {
        turns.failed = "its times are not those of as many shapes as the reference's";
      }
      if (turns.failed.empty()) rows_.AddSample(key, contender.label, round, *sample);
    }
    std::string what = turns.failed;
    if (turns.failed.empty()) {
      what = fmt::format("{:.4f} ms, {:.4f} x the reference{}",
                         std::accumulate(sample->ms.begin(), sample->ms.end(), 0.0),
                         RatioOf(*sample), known ? " (measured before)" : "");
      turns.samples.push_back(std::move(*sample));
    }
    progress_.Step(
        fmt::format("round {} of {}: {}: {}", round + 1, options_.rounds, contender.label, what),
        known);
    return true;
  }

  // The first run after a pause finds a cold card; the second is like those that follow.
  bool WarmUp() { return TimeReference() && TimeReference(); }

  bool TimeReference() {
    const RunResult run = RunProgram(reference_.binary, true);
    if (interruption_.Asked()) return false;
    if (!run.failed.empty()) {
      result_.end = End::ReferenceFailed;
      result_.why = run.failed;
      return false;
    }
    last_reference_ = run.report.ms;
    return true;
  }

  const TuneContender& reference_;
  const std::vector<TuneContender>& contenders_;
  const TuneMeasureOptions& options_;
  TuneRows& rows_;
  const Interruption& interruption_;
  TuneProgress progress_;
  std::string arguments_, device_;
  std::optional<std::vector<double>> last_reference_;
  TuneMeasurement result_;
};

}  // namespace

TuneMeasurement Measure(const TuneContender& reference,
                        const std::vector<TuneContender>& contenders,
                        const TuneMeasureOptions& options, TuneRows& rows,
                        const Interruption& interruption) {
  return Measurement(reference, contenders, options, rows, interruption).Run();
}

}  // namespace choreo::driver
