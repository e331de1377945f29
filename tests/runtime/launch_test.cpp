// Launches over a stand-in for the CUDA runtime: how arguments reach a kernel, and how what it
// latched is told, before and after it ended.
#include "choreo/host/launch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "choreo/host/tensor_map.h"
#include "fake_cuda.h"

namespace choreo::host {
namespace {

void Kernel(CUtensorMap, int, CUtensorMap, ErrorWord*) {}

constexpr CheckInfo kChecks[] = {{"n is even", "k.co"},
                                 {"role `producer` waited 5 ms for event `full`", "k.co", true}};

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() { fake = FakeCuda(); }

  // Launches a kernel that latches `word`, as a generated function does; gives the message.
  template <class F>
  std::string MessageOf(F&& body, status expected) {
    try {
      body();
    } catch (const error& e) {
      EXPECT_EQ(e.code, expected);
      return e.what();
    }
    return "no error";
  }

  void Run(ErrorWord word, cudaError_t fault, bool async) {
    KernelCache cache;
    Launch launch("f", Stream(), {});
    const ErrorSlot errors("f", Stream(), kChecks, 2);
    fake.kernel = [=](void** arguments) {
      **static_cast<ErrorWord**>(arguments[3]) = word;
      fake.fault = fault;
    };
    launch.run(cache, {1, 1, 1, 32, 0}, Kernel, CUtensorMap{}, 7, CUtensorMap{}, errors.device());
    async ? errors.defer() : launch.wait(errors);
  }
};

TEST_F(LaunchTest, TensorMapsKeepTheirAlignmentAndContent) {
  KernelCache cache;
  Launch launch("f", Stream(), {});
  CUtensorMap first{}, second{};
  first.opaque[15] = 11;
  second.opaque[0] = 22;
  bool called = false;
  fake.kernel = [&](void** arguments) {
    called = true;
    for (const int i : {0, 2}) EXPECT_EQ(reinterpret_cast<uintptr_t>(arguments[i]) % 64, 0u);
    EXPECT_EQ(static_cast<CUtensorMap*>(arguments[0])->opaque[15], 11u);
    EXPECT_EQ(*static_cast<int*>(arguments[1]), 7);
    EXPECT_EQ(static_cast<CUtensorMap*>(arguments[2])->opaque[0], 22u);
  };
  launch.run(cache, {1, 1, 1, 32, 0}, Kernel, first, 7, second, nullptr);
  EXPECT_TRUE(called);
}

// One message that names what is needed and what is there; nothing is launched. 9.1 would run code
// for 9.0, but not code for 9.0a.
TEST_F(LaunchTest, AnotherArchitectureIsRefused) {
  bool launched = false;
  fake.kernel = [&](void**) { launched = true; };
  for (const auto& [major, minor] : {std::pair(8, 0), std::pair(9, 1), std::pair(10, 0)}) {
    fake.capability_major = major;
    fake.capability_minor = minor;
    const std::string message = MessageOf(
        [] {
          KernelCache cache;
          Launch launch("f", Stream(), {});
          launch.run(cache, {1, 1, 1, 32, 0}, Kernel, CUtensorMap{}, 7, CUtensorMap{}, nullptr);
        },
        status::unsupported_device);
    EXPECT_EQ(message, "f: needs compute capability 9.0 (sm_90a), but device 0 () has " +
                           std::to_string(major) + "." + std::to_string(minor));
  }
  EXPECT_FALSE(launched);
}

TEST_F(LaunchTest, AFailedAssertion) {
  EXPECT_EQ(MessageOf([&] { Run({1, 0, 0, 12}, cudaSuccess, false); }, status::assertion_failed),
            "f: assertion failed in the kernel: n is even (k.co:12)");
  EXPECT_EQ(MessageOf([&] { Run({0, 0, 0, 0}, cudaSuccess, false); }, status::ok), "no error");
}

const char* const kWait =
    "f: a wait in the kernel did not end: role `producer` waited 5 ms for event `full`, slot 3, "
    "parity 1 (k.co:20)";

TEST_F(LaunchTest, AWaitThatEndedTheKernelExplainsTheFault) {
  EXPECT_EQ(
      MessageOf([&] { Run({2, 3, 1, 20}, cudaErrorLaunchFailure, false); }, status::kernel_fault),
      kWait);
}

TEST_F(LaunchTest, AFaultAloneIsTold) {
  EXPECT_EQ(
      MessageOf([&] { Run({0, 0, 0, 0}, cudaErrorLaunchFailure, false); }, status::kernel_fault),
      "f: kernel failed on device 0: it failed (cudaErrorOfTheFake)");
}

TEST_F(LaunchTest, AsyncFailuresAreToldByTheNextCallThatWaits) {
  fake.busy = true;
  Run({1, 0, 0, 12}, cudaSuccess, true);
  Stream().sync();  // not done yet
  fake.busy = false;
  EXPECT_EQ(MessageOf([] { Stream().sync(); }, status::assertion_failed),
            "f: assertion failed in the kernel: n is even (k.co:12)");
  Stream().sync();  // told once
}

TEST_F(LaunchTest, AsyncWaitsThatEndedTheKernelExplainTheFault) {
  Run({2, 3, 1, 20}, cudaErrorLaunchFailure, true);
  EXPECT_EQ(MessageOf([] { Stream().sync(); }, status::kernel_fault), kWait);
  Run({2, 3, 1, 20}, cudaErrorLaunchFailure, true);
  Buffer<float> buffer(4);
  std::vector<float> host(4);
  EXPECT_EQ(MessageOf([&] { buffer.download(host); }, status::kernel_fault), kWait);
  EXPECT_EQ(MessageOf([] { Stream().sync(); }, status::kernel_fault),
            "cudaStreamSynchronize failed: it failed (cudaErrorOfTheFake)");
}

// What the device stores is what the host reads.
TEST_F(LaunchTest, TheErrorWordIsOneStore) {
  const uint64_t bits = uint64_t{20} << 32 | uint64_t{1} << 31 | 3 << 16 | 2;
  ErrorWord word;
  static_assert(sizeof(word) == sizeof(bits));
  std::memcpy(&word, &bits, sizeof(bits));
  EXPECT_EQ(word.code, 2);
  EXPECT_EQ(word.slot, 3);
  EXPECT_EQ(word.parity, 1);
  EXPECT_EQ(word.line, 20u);
}

}  // namespace
}  // namespace choreo::host
