// The host part: what a call is refused for, in the words of the CUDA launcher; the entry of
// programs.
#include "choreo/host/checks.h"
#include "sim/sim_test_util.h"

namespace choreo::sim {
namespace {

using testing::HasSubstr;

const char* const kText = R"(module state=lowered source="k.co"
kernel "k" loc(1:1) {
  vars {
    %m type=s32 kind=dim; %n type=s32 kind=dim; %stride type=s64 kind=stride; %stride.1 type=s64 kind=stride;
    %half type=s32 kind=let; %i type=s32 kind=let;
  }
  storages {
    $x kind=param elem=f32 dims=[%m, %n] param_index=0 strides=[%stride, 1:s64];
    $y kind=param elem=f32 dims=[%n, 4] param_index=1 strides=[%stride.1, 1:s64];
  }
  params {
    name="x" elem=f32 shaped=true storage=$x;
    name="y" elem=f32 shaped=true written=true storage=$y;
  }
  host {
    grid=[s64(%half), none, none] threads=32
    checks=[(kind=base_alignment param=0 axis=0 value=16), (kind=stride_multiple param=0 axis=0 value=4)]
    body {
      let var=%half value=(%n / 2) loc(2:1)
      assert condition=((%n % 2) == 0) message="n must be even" loc(3:1)
    }
  }
  body {
    let var=%half value=(%n / 2)
    let var=%i value=((ctaid.x() * 2) + (tid() / 4))
    if condition=(tid() < 8) then_body {
      st storage=$y index=((s64(%i) * %stride.1) + s64((tid() % 4))) value=$x[s64(%i)] loc(5:1)
    }
  }
}
)";

std::string Refusal(const view<float, 2>& x, const view<float, 2>& y) {
  try {
    Launch(kText, "k", view<const float, 2>(x), y);
  } catch (const error& e) {
    return fmt::format("{}: {}", status_name(e.code), e.what());
  }
  return "";
}

TEST(HostTest, BindsDimensionsAndStrides) {
  Aligned<float> x(3 * 8), y(8 * 6, -1.0f);
  for (size_t i = 0; i < x.size; ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(Refusal({x.data, {3, 8}, {8, 1}}, {y.data, {8, 4}, {6, 1}}), "");
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < 6; ++j) EXPECT_EQ(y[i * 6 + j], j < 4 ? static_cast<float>(i) : -1.0f);
  }
}

TEST(HostTest, RefusesWhatTheCudaLauncherRefuses) {
  Aligned<float> x(64), y(64);
  const view<float, 2> good_x{x.data, {3, 8}, {8, 1}};
  const view<float, 2> good_y{y.data, {8, 4}, {4, 1}};
  EXPECT_EQ(Refusal(good_x, good_y), "");
  EXPECT_EQ(Refusal(good_x, {y.data, {7, 4}, {4, 1}}),
            "invalid argument: k: argument `y`: extent 0 is 7, but dimension `n` was bound to 8 by "
            "`x` extent 1");
  EXPECT_THAT(Refusal(good_x, {y.data, {8, 5}, {5, 1}}), HasSubstr("declared as 4"));
  EXPECT_THAT(Refusal({x.data, {3, 8}, {8, 2}}, good_y), HasSubstr("stride 1 (innermost) is 2"));
  EXPECT_THAT(Refusal({x.data + 1, {3, 8}, {8, 1}}, good_y), HasSubstr("aligned to 16 bytes"));
  EXPECT_THAT(Refusal({x.data, {3, 8}, {9, 1}}, good_y), HasSubstr("multiple of 4 elements"));
  EXPECT_THAT(Refusal({nullptr, {3, 8}, {8, 1}}, good_y), HasSubstr("data is null"));
  EXPECT_THAT(Refusal(good_x, {x.data, {8, 4}, {4, 1}}), HasSubstr("overlaps argument `x`"));
  EXPECT_THAT(Refusal(good_x, {y.data, {8, 4}, {0, 1}}), HasSubstr("must not overlap"));
  EXPECT_THAT(Refusal({x.data, {-1, 8}, {8, 1}}, good_y), HasSubstr("negative"));
  EXPECT_EQ(Refusal({x.data, {3, 7}, {8, 1}}, {y.data, {7, 4}, {4, 1}}),
            "assertion failed: k: assertion failed: n must be even (k.co:3)");
}

TEST(HostTest, NothingToComputeReturnsAtOnce) {
  EXPECT_EQ(Refusal({nullptr, {3, 0}, {8, 1}}, {nullptr, {0, 4}, {4, 1}}), "");
}

TEST(HostTest, WrongArgumentListsAndNames) {
  Aligned<float> x(64);
  EXPECT_THROW(Launch(kText, "k", row_major(x.data, 3, 8)), error);
  EXPECT_THROW(Launch(kText, "other", row_major(x.data, 3, 8)), error);
  EXPECT_THROW(Launch("module", "k", row_major(x.data, 3, 8)), error);
  EXPECT_THROW(Launch(kText, "k", 1, 2.0f), error);
}

TEST(HostTest, FindingsOfAProgramAreErrors) {
  Aligned<float> x(64), y(64);
  const std::string text =
      Replaced(kText, "index=((s64(%i) * %stride.1) + s64((tid() % 4)))", "index=99:s64");
  testing::internal::CaptureStderr();
  std::string what;
  try {
    Launch(text.c_str(), "k", row_major(x.data, 3, 8), row_major(y.data, 8, 4));
  } catch (const error& e) {
    EXPECT_EQ(e.code, status::kernel_fault);
    what = e.what();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("k.co:5:1: error: index 99 is outside `y`"));
  EXPECT_THAT(what, HasSubstr("[SimOutOfBounds]"));
}

}  // namespace
}  // namespace choreo::sim
