#include "fake_cuda.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

using choreo::host::fake;

namespace {

CUresult Encode(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                const cuuint64_t* extent, const cuuint64_t* stride, const cuuint32_t* box,
                const cuuint32_t* steps, CUtensorMapInterleave interleave,
                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                CUtensorMapFloatOOBfill fill) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map) % 64, 0u);
  EXPECT_EQ(interleave, CU_TENSOR_MAP_INTERLEAVE_NONE);
  EXPECT_EQ(fill, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  for (cuuint32_t i = 0; i < rank; ++i) EXPECT_EQ(steps[i], 1u);
  fake.encoded.push_back({type,
                          data,
                          {extent, extent + rank},
                          {stride, stride + rank - 1},
                          {box, box + rank},
                          swizzle,
                          promotion});
  map->opaque[0] = fake.encoded.size();
  return fake.encode_result;
}

int64_t Number(cudaStream_t stream) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(stream));
}

void* Allocate(size_t bytes) {
  ++fake.allocations;
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  EXPECT_STREQ(symbol, "cuTensorMapEncodeTiled");
  *function = reinterpret_cast<void*>(&Encode);
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "it failed"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaErrorOfTheFake"; }

cudaError_t cudaGetDevice(int* device) {
  *device = fake.device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor   ? fake.capability_major
           : attribute == cudaDevAttrComputeCapabilityMinor ? fake.capability_minor
           : attribute == cudaDevAttrPageableMemoryAccess   ? 1
                                                            : 232448;  // shared memory
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void*) {
  *attributes = {};
  attributes->type = cudaMemoryTypeDevice;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  *memory = Allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned int) {
  *memory = Allocate(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* memory, int value, size_t bytes) {
  std::memset(memory, value, bytes);
  return fake.fault;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  fake.stream_calls.push_back(Number(stream));
  std::memcpy(to, from, bytes);
  return fake.fault;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  fake.stream_calls.push_back(-Number(stream));
  return fake.fault;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) {
  return fake.fault != cudaSuccess ? fake.fault : fake.busy ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void** arguments) {
  fake.kernel(arguments);
  return cudaSuccess;
}

}  // extern "C"
