#include "driver/tune_verdicts.h"

#include <fmt/format.h>

#include <algorithm>

namespace choreo::driver {
namespace {

using End = TuneMeasurement::End;

std::string Percent(double part) { return fmt::format("{:.2f} %", 100 * part); }

class Judge {
 public:
  explicit Judge(const TuneOutcome& outcome) : o_(outcome) {
    for (size_t i = 0; i < o_.programs.size(); ++i) {
      summaries_.push_back(Summarise(Turns(i).samples));
      const std::vector<TuneSample>& samples = Turns(i).samples;
      all_.insert(all_.end(), samples.begin(), samples.end());
    }
    noise_ = NoiseOf(all_);
    if (o_.reference.empty()) return;
    if (summaries_[0]) {
      base_ = summaries_[0]->ratio;
    } else {
      base_name_ = "reference";  // the defaults were refused
    }
  }

  TuneVerdicts Run() {
    if (Complete()) FindWinner();
    if (!o_.reference.empty()) {
      verdicts_.lines.push_back({o_.reference, {}, {}, ReferenceMs(), {}, "the reference"});
    }
    for (size_t i = 0; i < o_.programs.size(); ++i) verdicts_.lines.push_back(Line(i));
    verdicts_.status = Status();
    verdicts_.result = Result();
    return std::move(verdicts_);
  }

 private:
  const TuneTurns& Turns(size_t i) const {
    return o_.measurement == nullptr ? no_turns_ : o_.measurement->turns[i];
  }
  bool Complete() const {
    return o_.measurement != nullptr && o_.measurement->end == End::Complete;
  }
  bool IsReference(size_t i) const { return i == 0 && o_.reference.empty(); }

  std::optional<double> ReferenceMs() const {
    const auto summary = Summarise(all_);
    return summary ? std::optional(summary->reference_ms) : std::nullopt;
  }

  bool Finished(size_t i) const {
    return Turns(i).failed.empty() && summaries_[i] && summaries_[i]->rounds >= o_.rounds;
  }

  void FindWinner() {
    std::vector<std::optional<double>> ratios(o_.programs.size());
    for (size_t i = 1; i < ratios.size(); ++i) {
      if (Finished(i)) ratios[i] = summaries_[i]->ratio;
    }
    verdicts_.winner = WinnerOf(ratios, base_, noise_);
  }

  TuneLine Line(size_t i) const {
    const TuneProgram& program = o_.programs[i];
    TuneLine line;
    line.candidate = program.label;
    if (program.reported) {
      line.registers = program.report.registers;
      line.spill_bytes = program.report.spill_bytes;
    }
    line.summary = summaries_[i];
    line.ms = IsReference(i)  ? ReferenceMs()
              : summaries_[i] ? std::optional(summaries_[i]->ms)
                              : std::nullopt;
    line.verdict = Verdict(i);
    return line;
  }

  std::string Verdict(size_t i) const {
    const TuneProgram& program = o_.programs[i];
    const TuneTurns& turns = Turns(i);
    if (!program.refused.empty()) return "refused: " + program.refused;
    if (program.binary.empty()) return "not built";
    if (!turns.failed.empty()) return "failed: " + turns.failed;
    if (IsReference(i) && !all_.empty()) return "the reference";
    if (turns.dropped_after) return fmt::format("dropped after round {}", *turns.dropped_after + 1);
    if (!summaries_[i]) return turns.verified ? "verified, not timed" : "built, not run";
    if (!Complete()) return fmt::format("{} of {} rounds", summaries_[i]->rounds, o_.rounds);
    if (verdicts_.winner == i) return "best";
    if (i == 0) return "the defaults";
    switch (Compare(summaries_[i]->ratio, base_, noise_)) {
      case Comparison::Faster:
        return "faster";
      case Comparison::Same:
        return "no difference";
      case Comparison::Slower:
        break;
    }
    return "slower";
  }

  std::string Status() const {
    if (o_.measurement == nullptr) return "Incomplete: nothing was run";
    switch (o_.measurement->end) {
      case End::Complete:
        break;
      case End::NoDevice:
        return "Incomplete: no sm_90 device, nothing was run";
      case End::ReferenceFailed:
        return "Incomplete: the reference failed";
      case End::Interrupted:
        return "Incomplete: interrupted; the same command goes on from here";
    }
    if (!o_.timed) return "Verified on the simulator, which has no times: nothing is timed";
    return fmt::format("Complete: {} round{}", o_.rounds, o_.rounds == 1 ? "" : "s");
  }

  std::string Result() const {
    if (o_.measurement == nullptr || !o_.timed) return {};
    if (o_.measurement->end == End::NoDevice) {
      const auto built = std::count_if(o_.programs.begin(), o_.programs.end(),
                                       [](const TuneProgram& p) { return !p.binary.empty(); });
      return fmt::format("No sm_90 device: {} of {} candidates were built, none was run.", built,
                         o_.programs.size());
    }
    if (!Complete()) return {};
    if (all_.empty())
      return "Nothing was compared: no candidate beside the reference could be run.";
    if (!verdicts_.winner) {
      return fmt::format(
          "No difference above the noise of {} in favour of a candidate: the {} stay{}.",
          Percent(noise_), base_name_, base_name_ == "defaults" ? "" : "s ahead");
    }
    const TuneSummary& best = *summaries_[*verdicts_.winner];
    return fmt::format("{} is {:.4f} times as fast as the {} ({:.4f} to {:.4f}); the noise is {}.",
                       o_.programs[*verdicts_.winner].label, best.ratio / base_, base_name_,
                       best.low / base_, best.high / base_, Percent(noise_));
  }

  const TuneOutcome& o_;
  const TuneTurns no_turns_;
  std::vector<std::optional<TuneSummary>> summaries_;
  std::vector<TuneSample> all_;
  double noise_ = 0, base_ = 1;
  std::string base_name_ = "defaults";
  TuneVerdicts verdicts_;
};

}  // namespace

TuneVerdicts JudgeTuning(const TuneOutcome& outcome) { return Judge(outcome).Run(); }

}  // namespace choreo::driver
