// Which sets of values are tried. In: ranges, the -D and --only of the command line. Out:
// candidates, the file's defaults first, then all other combinations; the last range varies
// fastest.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/tune_declarations.h"

namespace choreo::driver {

inline constexpr size_t kMaxTuneCandidates = 4096;

struct TuneCandidate {
  std::vector<std::pair<std::string, std::string>>
      values;             // name, text; the defaults: what is known
  bool defaults = false;  // built without -D for the ranges

  std::string Label() const;                 // "TILE_N=256 STAGES=3", or "defaults …"
  std::vector<std::string> Defines() const;  // "TILE_N=256", for -D; none for the defaults
};

// Without the ranges whose names a -D has.
std::vector<TuneRange> WithoutDefined(std::vector<TuneRange> ranges,
                                      const std::vector<std::string>& defines);

// Only the values of `--only NAME=VALUE,…`; several of one name keep several, and the name may be
// left out behind the first. `problem` if one is not declared.
std::optional<std::vector<TuneRange>> Narrowed(std::vector<TuneRange> ranges,
                                               const std::string& only, std::string& problem);

size_t CountCandidates(const std::vector<TuneRange>& ranges);  // saturates above kMaxTuneCandidates

// `defaults` holds, for each range, the text that the file gives its macro, where that is known.
// The combination that equals the defaults is left out.
std::vector<TuneCandidate> MakeCandidates(const std::vector<TuneRange>& ranges,
                                          const std::vector<std::optional<std::string>>& defaults);

}  // namespace choreo::driver
