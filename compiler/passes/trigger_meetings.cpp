#include "passes/trigger_meetings.h"

namespace choreo::passes {

// Whole warps meet, as many in each warpgroup.
std::optional<Meeting> MeetingOf(const TriggerSite& site) {
  Scope scope;
  scope.active = site.active;
  if (!site.divided || !scope.whole_warps()) return std::nullopt;
  Meeting meeting{site.active, -1};
  for (int g = 0; g < kMaxThreads / kWarpgroupSize; ++g) {
    const ThreadSet here = site.active & ThreadRange(g * kWarpgroupSize, kWarpgroupSize);
    if (here.none()) continue;
    const auto size = static_cast<int>(here.count());
    if (meeting.first_group >= 0 && size != meeting.size) return std::nullopt;
    if (meeting.first_group < 0) meeting.first_group = g;
    meeting.groups = g - meeting.first_group + 1;
    meeting.size = size;
  }
  return meeting;
}

}  // namespace choreo::passes
