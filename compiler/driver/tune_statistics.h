// What measurements say. In: samples: one timed run of a candidate between two of the reference.
// Out: speed ratios, the noise, a verdict. A ratio is the reference's time over the candidate's:
// above 1 the candidate is faster. A run has a time for each shape that the program measures;
// ratios are geometric means over them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace choreo::driver {

// Milliseconds by shape. All three have equally many, at least one, and all are above 0.
struct TuneSample {
  std::vector<double> before, ms, after;
};
bool IsSound(const TuneSample& sample);

// The mean of the neighbouring reference runs over the candidate's.
double RatioOf(const TuneSample& sample);

struct TuneSummary {
  size_t rounds = 0;
  double ms = 0;                        // sum over the shapes, median over the rounds
  double reference_ms = 0;              // of the reference, likewise
  double ratio = 0, low = 0, high = 0;  // median, smallest, largest
};
std::optional<TuneSummary> Summarise(const std::vector<TuneSample>& samples);

// How far two neighbouring runs of the reference differ, relatively: 95 of 100 pairs less.
double NoiseOf(const std::vector<TuneSample>& samples);

// Of a ratio beside that of the defaults.
enum class Comparison { Faster, Same, Slower };
Comparison Compare(double ratio, double base, double noise);

// The one that is faster than the defaults by most, if by more than the noise. `ratios` of what is
// out of the question are nothing.
std::optional<size_t> WinnerOf(const std::vector<std::optional<double>>& ratios, double base,
                               double noise);

// The candidates of a round in the order of their turns: every second round is reversed.
std::vector<size_t> TurnsOf(std::vector<size_t> candidates, size_t round);

// Who goes on after a round: all, while at most `keep` are left (0: always all); else the faster
// half, but `keep` at least. `ratios` are those of `candidates`; the order stays, ties go to the
// first.
std::vector<size_t> Survivors(const std::vector<size_t>& candidates,
                              const std::vector<double>& ratios, size_t keep);

}  // namespace choreo::driver
