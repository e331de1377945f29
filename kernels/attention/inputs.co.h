// The inputs of the attention kernels: tensor numbers of the shared hash, for host and tile functions alike.
#ifndef CROQTILE_KERNELS_ATTENTION_INPUTS_CO_H_
#define CROQTILE_KERNELS_ATTENTION_INPUTS_CO_H_

#include "../harness/inputs.co.h"

#define INPUT_TENSOR_Q 0u
#define INPUT_TENSOR_K 1u
#define INPUT_TENSOR_V 2u

#endif  // CROQTILE_KERNELS_ATTENTION_INPUTS_CO_H_
