// Runs the pipeline of tests/ir/pipeline_lowered.ir, printed to the file that PROGRAM names, on an
// sm_90 device: C = A · Bᵀ with the 64 rows of B, against a sum on the host. With an argument, one
// launch only, whose error is printed: for a pipeline that was broken on purpose.
#include PROGRAM

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

float Value(int64_t i, int salt) { return static_cast<float>((i * 7 + salt) % 13 - 6) / 8.0f; }

// Largest error over an M x K problem whose rows of A are `stride` elements apart.
double Run(int64_t m, int64_t k, int64_t stride, int launches) {
  std::vector<choreo::bf16> a(m * stride + 8), b(64 * k + 8), c(m * 64 + 8);
  for (size_t i = 0; i < a.size(); ++i) a[i] = choreo::bf16(Value(i, 1));
  for (size_t i = 0; i < b.size(); ++i) b[i] = choreo::bf16(Value(i, 5));
  choreo::Buffer<choreo::bf16> a_device(a.size()), b_device(b.size()), c_device(c.size());
  a_device.upload(a);
  b_device.upload(b);
  for (int i = 0; i < launches; ++i) {
    c_device.fill_byte(0xff);
    pipeline({a_device.data(), {m, k}, {stride, 1}}, {b_device.data(), {64, k}, {k, 1}},
             {c_device.data(), {m, 64}, {64, 1}});
  }
  c_device.download(c);
  double worst = 0;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < 64; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += Value(row * stride + i, 1) * Value(column * k + i, 5);
      const double got = static_cast<float>(c[row * 64 + column]);
      const double off = std::abs(got - sum) / (1 + std::abs(sum));
      if (!(off <= worst)) worst = off;
    }
  }
  return worst;
}

int RunAll() {
  for (const int64_t m : {1, 64, 100, 1000}) {
    for (const int64_t k : {0, 8, 64, 72, 128, 192, 1024}) {
      for (const int64_t stride : {k, k + 8}) {
        const double off = Run(m, k, stride, 3);
        if (!(off < 0.01)) {
          std::printf("pipeline: M=%ld K=%ld stride %ld is off by %g\n", m, k, stride, off);
          return 1;
        }
      }
    }
  }
  std::printf("pipeline: passed\n");
  return 0;
}

}  // namespace

int main(int argc, char**) {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9) {
    std::printf("pipeline: skipped: no sm_90 device\n");
    return 0;
  }
  try {
    if (argc < 2) return RunAll();
    Run(64, 1024, 1024, 1);
    std::printf("pipeline: no error\n");
    return 1;
  } catch (const choreo::error& e) {
    std::printf("%s\n", e.what());
    return argc < 2;
  }
}
