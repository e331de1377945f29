// Two shapes of one kernel in flight at the same time, each on the stream of its session.
// In: two prepared sessions, the number of rounds. Out: whether every output equals, bit for bit,
// the one that its shape gave alone; reported.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "report.h"

namespace attention {

template <class T, class Session>
bool CheckStreams(Session& one, Session& other, int64_t rounds, Report& report) {
  struct Lane {
    Session& session;
    std::vector<T> alone, out;
  } lanes[] = {{one, {}, {}}, {other, {}, {}}};
  for (Lane& lane : lanes) {
    lane.session.LaunchPoisoned();
    lane.session.Download(lane.alone);
  }
  // While one output is fetched and its shape launched again, the other shape is running.
  for (Lane& lane : lanes) lane.session.LaunchPoisoned();
  int64_t different = 0;
  for (int64_t round = 1; round <= rounds; ++round) {
    for (Lane& lane : lanes) {
      lane.session.Download(lane.out);
      if (round < rounds) lane.session.LaunchPoisoned();
      different +=
          std::memcmp(lane.alone.data(), lane.out.data(), lane.alone.size() * sizeof(T)) != 0;
    }
  }
  report.Interleaved(one.shape(), other.shape(), 2 * rounds, different);
  return different == 0;
}

}  // namespace attention
