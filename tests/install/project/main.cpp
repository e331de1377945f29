// Calls a tile function from ordinary C++ and checks every element.
#include <choreo/runtime.h>

#include <cstdio>
#include <vector>

void scale(choreo::view<float, 1> x, float factor, choreo::Stream stream = {});

int main() {
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  choreo::Buffer<float> buffer(1000);
  buffer.upload(values);
  scale(buffer.view(1000), 3.0f);
  buffer.download(values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 3.0f * static_cast<float>(i)) {
      std::printf("element %zu is %g\n", i, values[i]);
      return 1;
    }
  }
  std::printf("%zu elements scaled by 3\n", values.size());
  return 0;
}
