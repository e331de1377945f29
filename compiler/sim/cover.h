// The promise `covers(O)`: a launch stores each element of O exactly once. In: every store to a
// parameter, as it happens. Out: findings where an element is stored a second time, and at the end
// where elements were never stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"

namespace choreo::sim {

struct Execution;
struct ParamMemory;
struct Place;
struct Warp;

class Coverage {
 public:
  Coverage() = default;
  Coverage(const ir::Kernel& kernel, const std::vector<ParamMemory>& params);
  // Whether the promise holds for this store so far. A second store of an element is reported here;
  // that the two are unordered as well would say it twice.
  bool Store(Warp& w, const Place& place, int32_t bytes);
  // Something else is wrong with the stores to this parameter: what they leave out follows from it.
  void Excuse(ir::StorageId storage);
  void Finish(Execution& launch) const;

 private:
  struct First {  // the first store of an element
    uint32_t op = 0;
    uint32_t cta = 0;
    bool stored = false;
  };
  struct Param {
    ir::Cover cover;
    std::vector<First> elements;  // from `low` of its memory
    bool excused = false;
  };
  std::vector<Param> params_;
  std::vector<int> index_;  // by storage: of params_; -1: no promise
};

}  // namespace choreo::sim
