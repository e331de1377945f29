// Pictures of a trace: a character one for terminals, and SVG. Both say that time is modelled. Pure
// functions: the same trace gives the same bytes.
#pragma once

#include <string>

#include "sim/trace.h"

namespace choreo::sim {

// The cycles [first, last) of the trace; last 0: to its end.
struct ViewWindow {
  uint64_t first = 0, last = 0;
};

// `columns`: characters of the time axis. A column shows what takes most of its cycles.
std::string RenderText(const Trace& trace, uint32_t columns = 100, ViewWindow window = {});
std::string RenderSvg(const Trace& trace, ViewWindow window = {});

}  // namespace choreo::sim
