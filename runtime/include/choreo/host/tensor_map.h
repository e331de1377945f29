// TensorMaps: the TMA descriptors that one call site encodes for one tensor map of its kernel.
// In: a checked tensor (check_tensor_map) on the current device. Out: a CUtensorMap to pass by
// value. Launches that repeat pointer, extents and strides reuse what was encoded. Thread-safe.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <string>

#include "choreo/host/cuda_error.h"
#include "choreo/host/map_checks.h"

namespace choreo::host {

// The driver's encoder, found at run time so that programs do not link libcuda.
inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  static const auto encoder = [] {
    constexpr unsigned kSince = 12000;
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, kSince,
                                                cudaEnableDefault, &found),
               "cudaGetDriverEntryPointByVersion");
    if (found != cudaDriverEntryPointSuccess || function == nullptr) {
      throw error(status::no_device,
                  "the CUDA driver is too old: cuTensorMapEncodeTiled came with 12.0");
    }
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  }();
  return encoder;
}

// What the map of an empty tensor describes: 16 bytes on the current device, zeros to those that
// read, so that a box of it reads as zeros, as all boxes outside a tensor do; others to those that
// write.
inline void* empty_tensor_memory(int device, bool written) {
  constexpr size_t kBytes = 16;
  static std::mutex mutex;
  static std::array<unsigned char*, 64> memory{};
  const std::lock_guard<std::mutex> lock(mutex);
  unsigned char*& found = memory[static_cast<size_t>(device) % memory.size()];
  if (found == nullptr) {
    void* made = nullptr;
    check_cuda(cudaMalloc(&made, 2 * kBytes), "cudaMalloc", 2 * kBytes);
    check_cuda(cudaMemset(made, 0, 2 * kBytes), "cudaMemset");
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
    found = static_cast<unsigned char*>(made);
  }
  return written ? found + kBytes : found;
}

class TensorMaps {
 public:
  // `box`: elements an axis, outermost first; `swizzle`: 0, 32, 64 or 128 bytes.
  TensorMaps(CUtensorMapDataType type, std::initializer_list<uint32_t> box, int swizzle)
      : type_(type), swizzle_(swizzle) {
    size_t i = box.size();
    for (const uint32_t extent : box) box_[--i] = extent;
  }

  CUtensorMap of(const Tensor& t, int device) {
    const Key key = key_of(t, device);
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Entry& entry : entries_) {
      if (entry.used && entry.key == key) return entry.map;
    }
    Entry& entry = entries_[next_];
    entry.used = false;  // should encoding fail
    encode(t, key, entry.map);
    entry.key = key;
    entry.used = true;
    next_ = (next_ + 1) % entries_.size();
    return entry.map;
  }

 private:
  // What the map depends on beside type, box and swizzle; innermost axis first.
  struct Key {
    void* data;
    std::array<uint64_t, kMaxMapRank> extent, stride;
    bool operator==(const Key& other) const {
      return data == other.data && extent == other.extent && stride == other.stride;
    }
  };
  struct Entry {
    bool used = false;
    Key key;
    CUtensorMap map;
  };

  static Key key_of(const Tensor& t, int device) {
    if (is_empty(t)) {
      Key key{empty_tensor_memory(device, t.written), {}, {}};
      key.extent.fill(1);
      key.stride.fill(16);
      return key;
    }
    Key key{const_cast<void*>(t.data), {}, map_strides(t)};
    for (int i = 0; i < t.rank; ++i) {
      key.extent[i] = static_cast<uint64_t>(t.extent[t.rank - 1 - i]);
    }
    return key;
  }

  void encode(const Tensor& t, const Key& key, CUtensorMap& map) const {
    const CUtensorMapSwizzle swizzle = swizzle_ == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                       : swizzle_ == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                       : swizzle_ == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                        : CU_TENSOR_MAP_SWIZZLE_NONE;
    // Rows that are longer than half a promotion are read to their end soon.
    const bool long_rows = key.extent[0] * static_cast<uint64_t>(t.element_bytes) >= 256;
    std::array<uint32_t, kMaxMapRank> steps;
    steps.fill(1);
    static_assert(sizeof(cuuint64_t) == sizeof(uint64_t) && sizeof(cuuint32_t) == 4);
    const auto* extent = reinterpret_cast<const cuuint64_t*>(key.extent.data());
    const auto* stride = reinterpret_cast<const cuuint64_t*>(key.stride.data());
    const CUresult result = tensor_map_encoder()(
        &map, type_, static_cast<cuuint32_t>(t.rank), key.data, extent, stride, box_.data(),
        steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        long_rows ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B : CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) refuse(t, key, result);
  }

  // The checks cover every documented limit; should the driver have another one, say all it saw.
  [[noreturn]] void refuse(const Tensor& t, const Key& key, CUresult result) const {
    std::string extents, strides, box;
    const auto add = [](std::string& list, uint64_t value) {
      list += (list.empty() ? "" : ", ") + std::to_string(value);
    };
    for (int i = t.rank - 1; i >= 0; --i) {
      add(extents, key.extent[i]);
      if (i > 0) add(strides, key.stride[i - 1]);
      add(box, box_[i]);
    }
    fail(t, "the driver refuses its tensor map (cuTensorMapEncodeTiled gave " +
                std::to_string(static_cast<int>(result)) + "): extents [" + extents +
                "], outer strides [" + strides + "] bytes, box [" + box + "], swizzle " +
                std::to_string(swizzle_) + " bytes");
  }

  const CUtensorMapDataType type_;
  const int swizzle_;
  std::array<cuuint32_t, kMaxMapRank> box_{};  // innermost first
  std::mutex mutex_;
  std::array<Entry, 16> entries_{};
  size_t next_ = 0;
};

}  // namespace choreo::host
