// Barriers in front of triggers of a path of which only some threads have waited: the others must
// not arrive for later generations. In: a trigger's site. Out: who meets, one barrier a warpgroup;
// nothing where nobody has to, or where a barrier cannot join the threads.
#pragma once

#include <optional>

#include "passes/event_sites.h"

namespace choreo::passes {

struct Meeting {
  ThreadSet threads;
  int first_group = 0, groups = 0;
  int size = 0;  // threads of a warpgroup
  int first_id = 0;
};

std::optional<Meeting> MeetingOf(const TriggerSite& site);

}  // namespace choreo::passes
