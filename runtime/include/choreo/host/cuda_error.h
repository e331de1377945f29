// Turns the result of a CUDA call into choreo::error with a fitting status.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "choreo/host/deferred.h"
#include "choreo/host/status.h"

namespace choreo::host {

inline status status_of(cudaError_t result) {
  switch (result) {
    case cudaSuccess:
      return status::ok;
    case cudaErrorMemoryAllocation:
      return status::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorStubLibrary:
      return status::no_device;
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
      return status::unsupported_device;
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorHardwareStackError:
    case cudaErrorInvalidPc:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorAssert:
      return status::kernel_fault;
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
      return status::launch_failed;
    default:
      return status::internal;
  }
}

// `call` names the CUDA function; `bytes` is added where it was an allocation.
inline void check_cuda(cudaError_t result, const char* call, size_t bytes = 0) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();  // a non-sticky error must not show up in the next check
  const status code = status_of(result);
  // What a kernel latched before it ended says more than the fault.
  if (code == status::kernel_fault) DeferredErrors::instance().raise();
  std::string message = cudaGetErrorString(result);
  if (code == status::no_device) {
    message = "no CUDA device: " + message + " (" + call + ": " + cudaGetErrorName(result) + ")";
  } else {
    message = std::string(call) + " failed: " + message + " (" + cudaGetErrorName(result) + ")";
  }
  if (code == status::out_of_memory && bytes != 0) {
    message += ", " + std::to_string(bytes) + " bytes asked for";
  }
  throw error(code, message);
}

}  // namespace choreo::host
