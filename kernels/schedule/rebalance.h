// Narrows the heaviest bin against the lightest. A unit is moved as a whole, so pairs stay
// together. In: levels of units, bins of them, which may have a load besides. Out: the same units
// in bins whose heaviest is lighter, or as light as before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "bins.h"

namespace schedule {

namespace internal {

// One unit of the heavier bin against one, or against nothing, of the lighter.
struct Exchange {
  int64_t shift = 0;  // what the heavier bin loses; 0: there is no exchange that helps
  size_t from = 0, back = 0;
  bool returns = false;
};

// The exchange after which the two bins differ least, if it makes the heavier of them lighter.
inline Exchange BestExchange(const std::vector<Level>& levels, const std::vector<int32_t>& heavy,
                             const std::vector<int32_t>& light, int64_t gap) {
  Exchange best;
  const auto distance = [gap](int64_t shift) { return std::abs(2 * shift - gap); };
  const auto offer = [&](Exchange exchange) {
    if (exchange.shift <= 0 || exchange.shift >= gap) return;
    if (best.shift == 0 || distance(exchange.shift) < distance(best.shift)) best = exchange;
  };
  size_t j = 0;
  for (size_t i = 0; i < heavy.size(); ++i) {
    const int64_t cost = levels[heavy[i]].cost;
    while (j < light.size() && 2 * (cost - levels[light[j]].cost) < gap) ++j;
    // Around the ideal: light[j - 1] costs more than it, light[j] at most as much.
    if (j > 0) offer({cost - levels[light[j - 1]].cost, i, j - 1, true});
    offer(j < light.size() ? Exchange{cost - levels[light[j]].cost, i, j, true}
                           : Exchange{cost, i, 0, false});
  }
  return best;
}

inline int32_t TakeUnit(std::vector<int32_t>& units, size_t at) {
  const int32_t level = units[at];
  units.erase(units.begin() + static_cast<std::ptrdiff_t>(at));
  return level;
}

inline void AddUnit(std::vector<int32_t>& units, int32_t level) {
  units.insert(std::upper_bound(units.begin(), units.end(), level), level);
}

inline void Apply(const Exchange& exchange, Bins& bins, int32_t heavy, int32_t light) {
  const int32_t given = TakeUnit(bins.units[heavy], exchange.from);
  if (exchange.returns) AddUnit(bins.units[heavy], TakeUnit(bins.units[light], exchange.back));
  AddUnit(bins.units[light], given);
  bins.load[heavy] -= exchange.shift;
  bins.load[light] += exchange.shift;
}

// All units of two bins divided anew, as evenly as they can be. `found` if the heavier bin is then
// lighter than it was; few units of small costs only, so that their sums can be tabled.
struct Division {
  bool found = false;
  int64_t given = 0;  // cost of the units of `light`
  std::vector<int32_t> heavy, light;
};

inline Division Divide(const std::vector<Level>& levels, const Bins& bins, int32_t heavy,
                       int32_t light) {
  constexpr int64_t kMaxSum = 1 << 14;
  constexpr size_t kMaxUnits = 32;
  const auto &one = bins.units[heavy], &other = bins.units[light];
  Division result;
  if (one.size() + other.size() > kMaxUnits) return result;
  std::vector<int32_t> pool(one.size() + other.size());
  std::merge(one.begin(), one.end(), other.begin(), other.end(), pool.begin());
  int64_t fixed = bins.load[light], all = 0;  // of the light bin besides its units; of all units
  for (const int32_t unit : other) fixed -= levels[unit].cost;
  for (const int32_t unit : pool) all += levels[unit].cost;
  // The light bin gets as much as leaves it the lighter of the two.
  const int64_t total = bins.load[heavy] + bins.load[light];
  const int64_t most = std::min(total / 2 - fixed, all);
  if (most < 0 || most > kMaxSum) return result;
  // Of each sum up to that, the unit with which it was first reached; the rest of the sum is made
  // of units before that one.
  std::vector<int8_t> last(static_cast<size_t>(most + 1), -1);
  last[0] = static_cast<int8_t>(kMaxUnits);
  for (size_t unit = 0; unit < pool.size(); ++unit) {
    const int64_t cost = levels[pool[unit]].cost;
    for (int64_t sum = most; sum >= cost; --sum) {
      if (last[sum] < 0 && last[sum - cost] >= 0) last[sum] = static_cast<int8_t>(unit);
    }
  }
  int64_t sum = most;
  while (last[sum] < 0) --sum;
  if (total - (fixed + sum) >= bins.load[heavy]) return result;
  result.found = true;
  result.given = sum;
  std::vector<bool> chosen(pool.size());
  for (; sum > 0; sum -= levels[pool[last[sum]]].cost) chosen[last[sum]] = true;
  for (size_t unit = 0; unit < pool.size(); ++unit) {
    (chosen[unit] ? result.light : result.heavy).push_back(pool[unit]);
  }
  return result;
}

// The search between the heaviest bin and the lightest that can help it, until none can: first by
// exchanges, then by dividing the units of both anew. Each step lowers the sum of the squared
// loads; the bound on looks at pairs of bins keeps the time in hand.
class Rebalancing {
 public:
  Rebalancing(const std::vector<Level>& levels, Bins& bins)
      : levels_(levels), bins_(bins), looks_(4096 + 64 * static_cast<int64_t>(bins.load.size())) {
    for (size_t b = 0; b < bins.load.size(); ++b) {
      order_.insert({bins.load[b], static_cast<int32_t>(b)});
    }
    const int64_t ideal = IdealLoad();
    enough_ = ideal + ideal / 2000;
  }

  void Run() {
    while (Improve(&Rebalancing::TryExchange) || Improve(&Rebalancing::TryDivision)) {
    }
  }

 private:
  using Attempt = bool (Rebalancing::*)(int32_t heavy, int32_t light);

  // No way to spread the units has a lighter heaviest bin: all loads are multiples of a divisor of
  // the costs.
  int64_t IdealLoad() const {
    int64_t divisor = 0, total = 0;
    for (const Level& level : levels_) {
      if (level.count > 0) divisor = std::gcd(divisor, level.cost);
    }
    for (const int64_t load : bins_.load) {
      divisor = std::gcd(divisor, load);
      total += load;
    }
    if (total == 0) return 0;
    const int64_t bins = static_cast<int64_t>(bins_.load.size());
    const int64_t mean = (total + bins - 1) / bins;
    return (mean + divisor - 1) / divisor * divisor;
  }

  bool Improve(Attempt attempt) {
    const Loaded heavy = *order_.rbegin();
    if (heavy.load <= enough_) return false;
    for (auto light = order_.begin(); light->load < heavy.load && looks_ > 0; ++light, --looks_) {
      const Loaded other = *light;
      if (!(this->*attempt)(heavy.bin, other.bin)) continue;
      order_.erase(light);
      order_.erase(heavy);
      order_.insert({bins_.load[heavy.bin], heavy.bin});
      order_.insert({bins_.load[other.bin], other.bin});
      return true;
    }
    return false;
  }

  bool TryExchange(int32_t heavy, int32_t light) {
    const Exchange exchange = BestExchange(levels_, bins_.units[heavy], bins_.units[light],
                                           bins_.load[heavy] - bins_.load[light]);
    if (exchange.shift == 0) return false;
    Apply(exchange, bins_, heavy, light);
    return true;
  }

  bool TryDivision(int32_t heavy, int32_t light) {
    Division division = Divide(levels_, bins_, heavy, light);
    if (!division.found) return false;
    const int64_t total = bins_.load[heavy] + bins_.load[light];
    for (const int32_t unit : bins_.units[light]) bins_.load[light] -= levels_[unit].cost;
    bins_.load[light] += division.given;
    bins_.load[heavy] = total - bins_.load[light];
    bins_.units[heavy] = std::move(division.heavy);
    bins_.units[light] = std::move(division.light);
    return true;
  }

  const std::vector<Level>& levels_;
  Bins& bins_;
  std::set<Loaded> order_;
  int64_t enough_ = 0;  // what is within 0.05 % of the best is not worth a search
  int64_t looks_;
};

inline void Rebalance(const std::vector<Level>& levels, Bins& bins) {
  Rebalancing(levels, bins).Run();
}

}  // namespace internal

}  // namespace schedule
