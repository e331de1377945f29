// The host API on the simulator target: buffers, streams, events, staged arguments.
#define CHOREO_TARGET_SIM
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>
#include <type_traits>
#include <vector>

#include "choreo/runtime.h"
#include "gtest/gtest.h"

#if defined(__CUDA_RUNTIME_API_H__) || defined(CUDART_VERSION)
#error "the simulator target must not see CUDA headers"
#endif

namespace {

using choreo::Buffer;
using choreo::Stream;
using choreo::view;

static_assert(!std::is_copy_constructible_v<Buffer<float>> &&
              std::is_nothrow_move_constructible_v<Buffer<float>>);
static_assert(std::is_convertible_v<view<float, 2>, view<const float, 2>> &&
              !std::is_convertible_v<view<const float, 2>, view<float, 2>> &&
              !std::is_convertible_v<view<float, 2>, view<float, 3>>);
static_assert(std::is_trivially_copyable_v<choreo::bf16> && sizeof(choreo::f16) == 2);
static_assert(!std::is_convertible_v<float, choreo::bf16> &&
              !std::is_convertible_v<choreo::bf16, float>);

TEST(SimBuffer, UploadDownloadFill) {
  std::vector<float> in(1000), out(1000, -1.0f);
  std::iota(in.begin(), in.end(), 0.0f);
  Buffer<float> buffer(1000);
  EXPECT_EQ(buffer.size(), 1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 256, 0u);
  buffer.upload(in);
  buffer.download(out, Stream::create());
  EXPECT_EQ(in, out);
  buffer.fill_byte(0xff);
  buffer.download(out);
  EXPECT_TRUE(std::isnan(out[0]) && std::isnan(out[999]));
}

TEST(SimBuffer, MovesLeaveAnEmptyBuffer) {
  Buffer<int> a(4);
  int* data = a.data();
  Buffer<int> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(a.size(), 0);  // NOLINT: the moved-from state is the subject
  a = std::move(b);
  EXPECT_EQ(a.data(), data);
  EXPECT_EQ(a.size(), 4);
}

TEST(SimBuffer, RefusesWhatDoesNotFit) {
  EXPECT_THROW(Buffer<float>(-1), choreo::error);
  EXPECT_THROW(Buffer<float>(INT64_MAX), choreo::error);
  Buffer<float> buffer(6);
  std::vector<float> seven(7);
  EXPECT_THROW(buffer.upload(seven), choreo::error);
  EXPECT_THROW(buffer.download(seven), choreo::error);
  EXPECT_THROW(buffer.view(2, 4), choreo::error);
  EXPECT_THROW(buffer.view(int64_t{1} << 40, int64_t{1} << 40), choreo::error);
  EXPECT_THROW(buffer.view(-1, 2), choreo::error);
}

TEST(SimBuffer, ViewIsRowMajor) {
  Buffer<float> buffer(24);
  const auto v = buffer.view(2, 3, 4);
  EXPECT_EQ(v.data, buffer.data());
  EXPECT_EQ(v.extent, (std::array<int64_t, 3>{2, 3, 4}));
  EXPECT_EQ(v.stride, (std::array<int64_t, 3>{12, 4, 1}));
  const view<const float, 3> c = v;
  EXPECT_EQ(c.data, v.data);
  const Buffer<float>& constant = buffer;
  static_assert(std::is_same_v<decltype(constant.view(24)), view<const float, 1>>);
  EXPECT_EQ(Buffer<float>(0).view(0, 5).data, nullptr);
}

TEST(SimEvent, MeasuresTime) {
  choreo::Event start, stop;
  EXPECT_THROW(stop.ms_since(start), choreo::error);
  start.record();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  stop.record(Stream());
  stop.sync();
  EXPECT_GE(stop.ms_since(start), 2.0f);
}

TEST(SimDevice, SaysItIsSimulated) {
  const choreo::Device device = choreo::current_device();
  EXPECT_TRUE(device.simulated);
  EXPECT_EQ(device.major, 9);
  EXPECT_EQ(device.minor, 0);
  EXPECT_GT(device.sm_count, 0);
}

TEST(Staged, PacksAndReturnsStridedData) {
  std::vector<int> memory(20);
  std::iota(memory.begin(), memory.end(), 0);
  const view<int, 2> argument{memory.data() + 1, {3, 2}, {6, 1}};  // 1 2 / 7 8 / 13 14
  choreo::host::Staged staged(argument);
  const auto device = staged.device();
  EXPECT_EQ(device.stride, (std::array<int64_t, 2>{2, 1}));
  EXPECT_EQ(std::vector<int>(device.data, device.data + 6), (std::vector<int>{1, 2, 7, 8, 13, 14}));
  for (int i = 0; i < 6; ++i) device.data[i] = 100 + i;
  staged.copy_back();
  EXPECT_EQ(memory[1], 100);
  EXPECT_EQ(memory[8], 103);
  EXPECT_EQ(memory[14], 105);
  EXPECT_EQ(memory[3], 3);  // what lies between rows is left alone
}

TEST(Staged, ContiguousConstAndEmpty) {
  const std::vector<float> memory{1, 2, 3, 4};
  choreo::host::Staged staged(choreo::row_major(memory.data(), 2, 2));
  EXPECT_EQ(staged.device().data[3], 4.0f);
  const view<float, 1> empty{nullptr, {0}, {1}};
  choreo::host::Staged none(empty);
  none.copy_back();
  EXPECT_EQ(none.device().data, nullptr);
}

}  // namespace
