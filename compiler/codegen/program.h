// What both targets share of printing a program: the banner, the host text, the place of each
// kernel.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>

#include "codegen/codegen.h"
#include "codegen/text.h"

namespace choreo::codegen {

// The program with its defaults filled in: segments, and the name of the printed file.
Program Completed(const Program& program, std::string_view extension);

// Names that host text and command line use as macros.
std::unordered_set<std::string> ReservedNames(const Program& program);

void PrintBanner(const Program& program, TextWriter& out);
void PrintDefines(const Program& program, TextWriter& out);
// Host text under `#line`s of the .co file; `print_kernel` is called where a kernel stood, with the
// lines again those of the printed file.
void PrintSegments(const Program& program, TextWriter& out,
                   const std::function<void(const ir::Kernel&)>& print_kernel);

}  // namespace choreo::codegen
