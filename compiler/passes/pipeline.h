// The pipeline: a tile-state module in, a lowered module out, each pass verified.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "passes/pass.h"

namespace choreo::passes {

struct PassInfo {
  std::string_view name;
  std::string_view summary;
};
// In order.
std::span<const PassInfo> Pipeline();

struct PipelineOptions {
  std::string_view stop_after;  // a pass's name; empty: run all
  // Called after each pass, with the time it took.
  std::function<void(const PassInfo&, const ir::Module&, std::chrono::nanoseconds)> after_pass;
};

// Stops at the first pass that reports an error. The module's state is Lowered only if all passes
// ran.
ir::Module RunPipeline(ir::Module module, PassContext& context, const PipelineOptions& options);

}  // namespace choreo::passes
