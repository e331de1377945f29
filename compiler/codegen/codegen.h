// The back ends that print program text: a lowered module and the host text around its kernels in,
// one CUDA C++ file (or one C++ file for the simulator) out. The module has passed the verifier;
// nothing can go wrong here but bugs. The printers add nothing of their own: one lowered op, one
// short run of lines. Same input, same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace choreo::codegen {

// A stretch of the program: text to pass through byte for byte, or the place of a kernel.
struct Segment {
  std::string_view text;  // host text
  uint32_t line = 0;      // of its first byte in the .co file
  int kernel = -1;        // >= 0: index into the module's kernels, and no text
};

struct Define {  // of the command line
  std::string name, body;
};

// What the lines of generated statements say where they come from (`-lineinfo`, compile errors).
// Host text always says its place in the .co file.
enum class LineDirectives : uint8_t {
  Generated,  // their own place in the printed file; the .co line stands in comments
  Source,     // the .co line, by a `#line` before every printed line
};

struct Program {
  const ir::Module& module;
  std::vector<Segment> segments;  // empty: the kernels alone, in order
  std::vector<Define> defines;
  std::string version;      // of the compiler
  std::string input_hash;   // of everything that decides the output
  std::string output_name;  // what the printed file calls itself; empty: by the module's source
  LineDirectives line_directives = LineDirectives::Generated;
  // > 0: every wait of a kernel ends, and the kernel with it, after this many milliseconds.
  int debug_waits_ms = 0;
};

std::string PrintCuda(const Program& program);
// For --target=sim: the same host text, the lowered IR as a string, and launchers that call the
// simulator library. No CUDA header is needed to compile it.
std::string PrintSim(const Program& program);

}  // namespace choreo::codegen
