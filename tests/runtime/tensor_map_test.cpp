// TensorMaps over a stand-in for the CUDA runtime: what the driver's encoder is given, and when an
// encoded map is used again.
#include "choreo/host/tensor_map.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "choreo/host/half.h"
#include "fake_cuda.h"

namespace choreo::host {
namespace {

alignas(256) bf16 storage[1 << 16];

class TensorMapsTest : public testing::Test {
 protected:
  TensorMapsTest() { fake = FakeCuda(); }
  TensorMaps maps_{CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {1, 128, 1, 64}, 128};
  view<const bf16, 4> q_ = row_major(static_cast<const bf16*>(storage), 2, 100, 3, 64);

  uint64_t Map() { return maps_.of(describe("f", "Q", q_), 0).opaque[0]; }
};

TEST_F(TensorMapsTest, AxesAreInnermostFirst) {
  EXPECT_EQ(Map(), 1u);
  ASSERT_EQ(fake.encoded.size(), 1u);
  EXPECT_EQ(fake.encoded[0].type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(fake.encoded[0].data, storage);
  EXPECT_EQ(fake.encoded[0].extent, (std::vector<uint64_t>{64, 3, 100, 2}));
  EXPECT_EQ(fake.encoded[0].stride, (std::vector<uint64_t>{128, 384, 38400}));
  EXPECT_EQ(fake.encoded[0].box, (std::vector<uint32_t>{64, 1, 128, 1}));
  EXPECT_EQ(fake.encoded[0].swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(fake.encoded[0].promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
}

TEST_F(TensorMapsTest, ReusedWhilePointerExtentsAndStridesAreTheSame) {
  EXPECT_EQ(Map(), 1u);
  EXPECT_EQ(Map(), 1u);
  q_.data += 8;
  EXPECT_EQ(Map(), 2u);
  q_.extent[1] = 99;
  EXPECT_EQ(Map(), 3u);
  q_.stride[2] = 128;
  EXPECT_EQ(Map(), 4u);
  q_.data -= 8;
  q_.extent[1] = 100;
  q_.stride[2] = 64;
  EXPECT_EQ(Map(), 1u);
  EXPECT_EQ(fake.encoded.size(), 4u);
}

TEST_F(TensorMapsTest, OldMapsMakeRoom) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Map(), static_cast<uint64_t>(i) + 1);
    q_.data += 8;
  }
  q_.data -= 8;
  EXPECT_EQ(Map(), 100u);
}

TEST_F(TensorMapsTest, LongRowsArePromotedFurther) {
  q_ = row_major(static_cast<const bf16*>(storage), 2, 100, 1, 128);
  q_.stride[2] = 7;  // of an axis of extent 1: replaced
  Map();
  EXPECT_EQ(fake.encoded[0].stride, (std::vector<uint64_t>{256, 256, 25600}));
  EXPECT_EQ(fake.encoded[0].promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}

TEST_F(TensorMapsTest, AnEmptyTensorIsZeros) {
  q_ = row_major(static_cast<const bf16*>(nullptr), 2, 0, 1, 64);
  EXPECT_EQ(Map(), 1u);
  EXPECT_EQ(Map(), 1u);
  EXPECT_EQ(static_cast<const int64_t*>(fake.encoded[0].data)[0], 0);
  EXPECT_EQ(fake.encoded[0].extent, (std::vector<uint64_t>{1, 1, 1, 1}));
  EXPECT_EQ(fake.encoded[0].stride, (std::vector<uint64_t>{16, 16, 16}));
  EXPECT_EQ(fake.allocations, 1);
}

TEST_F(TensorMapsTest, ARefusalNamesEverything) {
  fake.encode_result = CUDA_ERROR_INVALID_VALUE;
  try {
    Map();
    ADD_FAILURE() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code, status::invalid_argument);
    EXPECT_STREQ(e.what(),
                 "f: argument `Q`: the driver refuses its tensor map (cuTensorMapEncodeTiled gave "
                 "1): extents [2, 100, 3, 64], outer strides [38400, 384, 128] bytes, box [1, 128, "
                 "1, 64], swizzle 128 bytes");
  }
  fake.encode_result = CUDA_SUCCESS;
  EXPECT_EQ(Map(), 2u);  // what failed was not kept
}

TEST_F(TensorMapsTest, ThreadsShareOneMap) {
  std::vector<std::thread> threads;
  std::vector<uint64_t> seen(8);
  for (uint64_t& map : seen) threads.emplace_back([&map, this] { map = Map(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, std::vector<uint64_t>(8, 1));
}

}  // namespace
}  // namespace choreo::host
