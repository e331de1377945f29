// Runs tests/kernels/gemm_dynamic.co, printed to the file that PROGRAM names, on an sm_90 device:
// several numbers of CTAs and tasks, each launched many times, with the counter set to zero before
// each launch. Compares C with sums on the host, and the counter with the number of tasks.
#include PROGRAM

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

float Value(int64_t i, int salt) { return static_cast<float>((i * 7 + salt) % 13 - 6) / 8.0f; }

std::vector<choreo::bf16> Values(int64_t count, int salt) {
  std::vector<choreo::bf16> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = choreo::bf16(Value(i, salt));
  return values;
}

bool Right(const std::vector<choreo::bf16>& c, int64_t m, int64_t n) {
  for (int64_t row = 0; row < m; ++row) {
    const int64_t depth = std::min(m, (row / 128 + 1) * 128);  // L is lower triangular by tiles
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < depth; ++i) sum += Value(row * m + i, 1) * Value(column * m + i, 5);
      const double got = static_cast<float>(c[static_cast<size_t>(row * n + column)]);
      if (!(std::abs(got - sum) <= 0.01 * (1 + std::abs(sum)))) return false;
    }
  }
  return true;
}

int RunAll() {
  constexpr int64_t kColumns = 200;
  for (const int64_t m : {64, 128, 1000, 2048}) {
    choreo::Buffer<choreo::bf16> l(m * m), b(kColumns * m), c(m * kColumns);
    choreo::Buffer<uint32_t> counter(1);
    l.upload(Values(m * m, 1));
    b.upload(Values(kColumns * m, 5));
    const auto tasks = static_cast<uint32_t>((m + 127) / 128 * ((kColumns + 63) / 64));
    for (const int ctas : {1, 7, 132, 300}) {
      choreo::Stream stream = choreo::Stream::create();
      for (int launch = 0; launch < 10; ++launch) {
        c.fill_byte(0xff, stream);
        counter.fill_byte(0, stream);
        gemm_dynamic(l.view(m, m), b.view(kColumns, m), c.view(m, kColumns), counter.view(1), ctas,
                     stream);
      }
      stream.sync();
      std::vector<choreo::bf16> out(static_cast<size_t>(m * kColumns));
      std::vector<uint32_t> counted(1);
      c.download(out);
      counter.download(counted);
      if (Right(out, m, kColumns) && counted[0] == tasks + static_cast<uint32_t>(ctas)) continue;
      std::printf("dynamic tasks: M=%ld with %d CTAs is wrong (the counter is at %u of %u)\n",
                  static_cast<long>(m), ctas, counted[0], tasks + static_cast<uint32_t>(ctas));
      return 1;
    }
  }
  std::printf("dynamic tasks: passed\n");
  return 0;
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9) {
    std::printf("dynamic tasks: skipped: no sm_90 device\n");
    return 0;
  }
  try {
    return RunAll();
  } catch (const choreo::error& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
