// The inputs of the attention kernels on the host.
// A row is one (batch, sequence, head) of a [B, S, H, D] tensor: row = (b * S + s) * H + h.
#pragma once

#include "../../harness/inputs.h"
#include "../inputs.co.h"
#include "options.h"

namespace attention {

using harness::ElementName;
using harness::GenerateRow;
using harness::GenerateTensor;
using harness::ParallelFor;
using harness::Tensor;

inline constexpr Tensor kQ{INPUT_TENSOR_Q, kSpread}, kK{INPUT_TENSOR_K, kSpread},
    kV{INPUT_TENSOR_V, 1.0f};
constexpr Tensor Within(Tensor tensor, float spread) { return {tensor.number, spread}; }

}  // namespace attention
