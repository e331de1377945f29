// Units of work spread over bins so that the heaviest bin is as light as can be found.
// In: levels of units of equal cost, by descending cost. Out: the levels of the units of each bin,
// by descending cost, and the load of each bin. Deterministic; ties go to the bin of lower number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace schedule {

// `count` units that each cost `cost`: query tile `tile` of one entry, or of two at once.
struct Level {
  int64_t cost = 0, count = 0, tile = 0;
};

struct Bins {
  std::vector<std::vector<int32_t>> units;  // of each bin: indices of levels, ascending
  std::vector<int64_t> load;
};

namespace internal {

struct Loaded {
  int64_t load;
  int32_t bin;
  friend bool operator<(const Loaded& a, const Loaded& b) {
    return a.load != b.load ? a.load < b.load : a.bin < b.bin;
  }
};

// Each unit, heaviest first, to the bin that has least. The units of a level cost the same, so the
// bins that took one stay in the order in which they took it: two queues, merged by their fronts,
// do what a heap would.
inline Bins Distribute(const std::vector<Level>& levels, int64_t bins) {
  int64_t units = 0;
  for (const Level& level : levels) units += level.count;
  Bins result{std::vector<std::vector<int32_t>>(bins), std::vector<int64_t>(bins, 0)};
  if (units >= bins) {
    for (auto& unit : result.units) unit.reserve(static_cast<size_t>(units / bins * 5 / 4 + 8));
  }
  std::vector<Loaded> order, taken;
  for (int64_t b = 0; b < bins; ++b) order.push_back({0, static_cast<int32_t>(b)});
  for (size_t level = 0; level < levels.size(); ++level) {
    size_t waiting = 0, again = 0;  // fronts of `order` and of `taken`
    taken.clear();
    for (int64_t i = 0; i < levels[level].count; ++i) {
      const bool first_turn =
          again == taken.size() || (waiting < order.size() && order[waiting] < taken[again]);
      const Loaded least = first_turn ? order[waiting++] : taken[again++];
      result.units[least.bin].push_back(static_cast<int32_t>(level));
      taken.push_back({least.load + levels[level].cost, least.bin});
    }
    std::vector<Loaded> merged(order.size());
    std::merge(order.begin() + waiting, order.end(), taken.begin() + again, taken.end(),
               merged.begin());
    order.swap(merged);
  }
  for (const Loaded& one : order) result.load[one.bin] = one.load;
  return result;
}

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

// Exchanges between the heaviest bin and the lightest that can help it, until none can. The sum of
// the squared loads falls with each exchange; the bound on steps only keeps the time in hand.
inline void Rebalance(const std::vector<Level>& levels, Bins& bins) {
  std::set<Loaded> order;
  for (size_t b = 0; b < bins.load.size(); ++b) {
    order.insert({bins.load[b], static_cast<int32_t>(b)});
  }
  for (size_t steps = 0; steps < 64 * bins.load.size(); ++steps) {
    const Loaded heavy = *order.rbegin();
    Exchange exchange;
    auto light = order.begin();
    for (; light->load < heavy.load; ++light) {
      exchange = BestExchange(levels, bins.units[heavy.bin], bins.units[light->bin],
                              heavy.load - light->load);
      if (exchange.shift != 0) break;
    }
    if (exchange.shift == 0) return;
    const int32_t other = light->bin;
    Apply(exchange, bins, heavy.bin, other);
    order.erase(light);
    order.erase(heavy);
    order.insert({bins.load[heavy.bin], heavy.bin});
    order.insert({bins.load[other], other});
  }
}

}  // namespace internal

inline Bins Balance(const std::vector<Level>& levels, int64_t bins) {
  Bins result = internal::Distribute(levels, bins);
  internal::Rebalance(levels, result);
  return result;
}

}  // namespace schedule
