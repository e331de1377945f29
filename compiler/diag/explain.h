// `choreo explain KIND`: the rule behind a diagnostic, why it holds and the way out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace choreo::diag {

// The text for a kind's name (brackets around it are ignored), or nothing if there is no such kind.
std::optional<std::string> Explain(std::string_view name);

// Names of kinds that `name` may have meant, the closest first.
std::vector<std::string_view> SimilarKinds(std::string_view name);

// Every kind, one a line, with its severity and message: `choreo explain` without a name.
std::string ListKinds();

}  // namespace choreo::diag
