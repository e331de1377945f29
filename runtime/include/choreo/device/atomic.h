// Atomic operations on integer elements, in global or shared memory: relaxed, for all threads of
// the device. Each returns what stood there before.
#pragma once

#include <cstdint>

namespace choreo {

__device__ __forceinline__ int32_t atomic_add(int32_t* at, int32_t value) {
  return atomicAdd(at, value);
}
__device__ __forceinline__ uint32_t atomic_add(uint32_t* at, uint32_t value) {
  return atomicAdd(at, value);
}
__device__ __forceinline__ uint64_t atomic_add(uint64_t* at, uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(at), value);
}

__device__ __forceinline__ int32_t atomic_max(int32_t* at, int32_t value) {
  return atomicMax(at, value);
}
__device__ __forceinline__ uint32_t atomic_max(uint32_t* at, uint32_t value) {
  return atomicMax(at, value);
}
__device__ __forceinline__ uint64_t atomic_max(uint64_t* at, uint64_t value) {
  return atomicMax(reinterpret_cast<unsigned long long*>(at), value);
}

__device__ __forceinline__ int32_t atomic_min(int32_t* at, int32_t value) {
  return atomicMin(at, value);
}
__device__ __forceinline__ uint32_t atomic_min(uint32_t* at, uint32_t value) {
  return atomicMin(at, value);
}
__device__ __forceinline__ uint64_t atomic_min(uint64_t* at, uint64_t value) {
  return atomicMin(reinterpret_cast<unsigned long long*>(at), value);
}

}  // namespace choreo
