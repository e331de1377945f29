// What every pass sees. A pass is one file with one function: a kernel in, the changed kernel out.
// Errors of the program go to the context; a pass that reported one may leave the kernel half done.
#pragma once

#include "diag/diag.h"
#include "ir/builder.h"
#include "ir/ir.h"
#include "support/source.h"

namespace choreo::passes {

// Bytes of shared memory a CTA can have: CUDA C++ Programming Guide, "Compute Capabilities", 9.0.
inline constexpr int64_t kSharedLimit = 227 * 1024;
// Its registers: of a multiprocessor, the most a thread can have, and the steps they are given in.
inline constexpr int kRegistersPerSm = 65536;
inline constexpr int kRegistersPerThread = 255;
inline constexpr int kRegisterGranule = 8;

// What analyze-async had to show of a module: that a future completes once, an order is right, a
// tile is filled when it is read and released when it is filled again, at each place where it
// matters.
struct ObligationCount {
  int proved = 0;
  int left = 0;  // to the simulator
};

struct PassContext {
  diag::Emitter& diags;
  const SourceManager& sources;
  FileId file;                  // the module's .co file, if it is at hand; else invalid
  bool mbarriers_only = false;  // no event becomes a named barrier
  ObligationCount obligations = {};

  // The place of an op in the source; without the source an invalid range.
  SourceRange Where(ir::Loc loc) const;
};

// The passes, as declared in passes.def.
#define CHOREO_PASS(Function, name, summary) \
  ir::Kernel Function(ir::Kernel kernel, PassContext& context);
#include "passes/passes.def"

}  // namespace choreo::passes
