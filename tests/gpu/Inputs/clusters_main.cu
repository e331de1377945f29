// Runs kernels of tests/kernels that use clusters, printed to the file that PROGRAM names, on an
// sm_90 device and compares them with sums on the host. GEMM or PRODUCTS says which one it is.
#include PROGRAM

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

float Value(int64_t i, int salt) { return static_cast<float>((i * 7 + salt) % 13 - 6) / 8.0f; }

template <class T>
std::vector<T> Values(int64_t count, int salt) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = T(Value(i, salt));
  return values;
}

// Largest error of x · yᵀ, x of m and y of n rows of k elements, where `run(x, y, out)` has put it.
template <class T, class Launch>
double WorstOf(int64_t m, int64_t n, int64_t k, const Launch& run) {
  const std::vector<T> x = Values<T>(m * k, 1), y = Values<T>(n * k, 5);
  std::vector<T> out(static_cast<size_t>(m * n));
  choreo::Buffer<T> x_device(m * k), y_device(n * k), out_device(m * n);
  x_device.upload(x);
  y_device.upload(y);
  for (int launch = 0; launch < 20; ++launch) {
    out_device.fill_byte(0xff);
    run(x_device.view(m, k), y_device.view(n, k), out_device.view(m, n));
  }
  out_device.download(out);
  double worst = 0;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += Value(row * k + i, 1) * Value(column * k + i, 5);
      const double got = static_cast<float>(out[static_cast<size_t>(row * n + column)]);
      const double off = std::abs(got - sum) / (1 + std::abs(sum));
      if (!(off <= worst)) worst = off;
    }
  }
  return worst;
}

int RunAll() {
  constexpr int kCtas = CLUSTER;
  for (const int64_t clusters : {1, 3}) {
    for (const int64_t k : {64, 192, 256, 1024}) {
#ifdef GEMM
      const double off = WorstOf<choreo::bf16>(clusters * kCtas * 128 - 28, 200, k,
                                               [](auto a, auto b, auto c) { gemm(a, b, c); });
#else
      const double off = WorstOf<float>(clusters * kCtas, 300, k,
                                        [](auto v, auto x, auto p) { products(x, v, p); });
#endif
      if (off < 0.01) continue;
      std::printf("clusters of %d: %ld of them, K=%ld, are off by %g\n", kCtas,
                  static_cast<long>(clusters), static_cast<long>(k), off);
      return 1;
    }
  }
  std::printf("clusters of %d: passed\n", kCtas);
  return 0;
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9) {
    std::printf("clusters: skipped: no sm_90 device\n");
    return 0;
  }
  try {
    return RunAll();
  } catch (const choreo::error& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
