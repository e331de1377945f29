// What ptxas says about kernels (`-Xptxas -v`), read into values. A kernel that would run slowly
// shows in it: MMAs made synchronous (C7500 to C7599), a stack frame, registers spilled to memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace choreo::driver {

struct KernelReport {
  std::string name;  // demangled, without parameters
  int registers = 0;
  int stack_bytes = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
};

struct Complaint {
  std::string kernel;  // "?" where the line does not name it
  std::string what;    // "has a stack frame of 512 bytes"
  bool spill = false;  // of memory that stands in for registers: spills or a stack frame
};

struct PtxasReport {
  std::vector<KernelReport> kernels;  // entry functions, in order
  std::vector<Complaint> complaints;  // of entry functions and others
  std::string other;                  // the lines that are no report: errors and warnings of nvcc
};

PtxasReport ReadPtxasReport(std::string_view text);

}  // namespace choreo::driver
