#include "driver/tune_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace choreo::driver {
namespace {

double Median(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const size_t n = figures.size();
  return (figures[(n - 1) / 2] + figures[n / 2]) / 2;
}

double Sum(const std::vector<double>& figures) {
  return std::accumulate(figures.begin(), figures.end(), 0.0);
}

// exp of the mean of log(figure(i)).
template <class Figure>
double GeometricMean(size_t n, const Figure& figure) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += std::log(figure(i));
  return std::exp(sum / static_cast<double>(n));
}

}  // namespace

bool IsSound(const TuneSample& sample) {
  const size_t n = sample.ms.size();
  if (n == 0 || sample.before.size() != n || sample.after.size() != n) return false;
  const auto positive = [](double ms) { return std::isfinite(ms) && ms > 0; };
  return std::all_of(sample.before.begin(), sample.before.end(), positive) &&
         std::all_of(sample.ms.begin(), sample.ms.end(), positive) &&
         std::all_of(sample.after.begin(), sample.after.end(), positive);
}

double RatioOf(const TuneSample& sample) {
  return GeometricMean(sample.ms.size(), [&](size_t i) {
    return (sample.before[i] + sample.after[i]) / 2 / sample.ms[i];
  });
}

std::optional<TuneSummary> Summarise(const std::vector<TuneSample>& samples) {
  if (samples.empty()) return std::nullopt;
  std::vector<double> ratios, times, reference;
  for (const TuneSample& sample : samples) {
    ratios.push_back(RatioOf(sample));
    times.push_back(Sum(sample.ms));
    reference.push_back((Sum(sample.before) + Sum(sample.after)) / 2);
  }
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return TuneSummary{samples.size(), Median(times), Median(reference), Median(ratios), *low, *high};
}

double NoiseOf(const std::vector<TuneSample>& samples) {
  if (samples.empty()) return 0;
  std::vector<double> differences;
  for (const TuneSample& sample : samples) {
    const double change = GeometricMean(
        sample.ms.size(), [&](size_t i) { return sample.after[i] / sample.before[i]; });
    differences.push_back(std::fabs(change - 1));
  }
  std::sort(differences.begin(), differences.end());
  return differences[(differences.size() * 95 + 99) / 100 - 1];
}

Comparison Compare(double ratio, double base, double noise) {
  const double change = ratio / base - 1;
  if (change > noise) return Comparison::Faster;
  return change < -noise ? Comparison::Slower : Comparison::Same;
}

std::optional<size_t> WinnerOf(const std::vector<std::optional<double>>& ratios, double base,
                               double noise) {
  std::optional<size_t> best;
  for (size_t i = 0; i < ratios.size(); ++i) {
    if (!ratios[i] || Compare(*ratios[i], base, noise) != Comparison::Faster) continue;
    if (!best || *ratios[i] > *ratios[*best]) best = i;
  }
  return best;
}

std::vector<size_t> TurnsOf(std::vector<size_t> candidates, size_t round) {
  if (round % 2 == 1) std::reverse(candidates.begin(), candidates.end());
  return candidates;
}

std::vector<size_t> Survivors(const std::vector<size_t>& candidates,
                              const std::vector<double>& ratios, size_t keep) {
  if (keep == 0 || candidates.size() <= keep) return candidates;
  std::vector<size_t> places(candidates.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return ratios[a] > ratios[b]; });
  places.resize(std::max(keep, (candidates.size() + 1) / 2));
  std::sort(places.begin(), places.end());
  std::vector<size_t> survivors;
  for (const size_t place : places) survivors.push_back(candidates[place]);
  return survivors;
}

}  // namespace choreo::driver
