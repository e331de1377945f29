// The host API of choreo programs, the same on both targets: bf16, f16, view, Stream, Event,
// Buffer, Device, status, error. CUDA by default; with CHOREO_TARGET_SIM defined, the simulator's
// (no CUDA headers, "device" memory is host memory).
#pragma once

#include "choreo/host/checks.h"
#include "choreo/host/half.h"
#include "choreo/host/status.h"
#include "choreo/host/view.h"

#ifdef CHOREO_TARGET_SIM
#include "choreo/host/sim.h"
#else
#include "choreo/host/cuda.h"
#endif

#include "choreo/host/staged.h"
