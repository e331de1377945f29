// Everything that device code printed by choreo uses, except the WGMMA shapes: the printed file
// includes choreo/ptx/wgmma/m64n<N>k16.h for the shapes it issues.
// Needs only cuda.h, cuda_bf16.h, cuda_fp16.h and cstdint.
#pragma once

#include "choreo/device/atomic.h"
#include "choreo/device/convert.h"
#include "choreo/device/error_word.h"
#include "choreo/device/fragment.h"
#include "choreo/device/shared.h"
#include "choreo/ptx/barrier.h"
#include "choreo/ptx/cluster.h"
#include "choreo/ptx/cp_async.h"
#include "choreo/ptx/fence.h"
#include "choreo/ptx/math.h"
#include "choreo/ptx/matrix.h"
#include "choreo/ptx/mbarrier.h"
#include "choreo/ptx/misc.h"
#include "choreo/ptx/tma.h"
#include "choreo/ptx/vote.h"
#include "choreo/ptx/wgmma.h"
