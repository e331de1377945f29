// In place of the driver of the GEMM: calls it with arguments that TMA cannot take, and prints what
// each call says.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using Element = choreo::ELEM;
using Matrix = choreo::view<Element, 2>;

template <class Change>
void Call(const char* name, Change change) {
  constexpr size_t kElements = 256 * 256;
  static std::vector<Element> memory(3 * kElements + 64);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  Element* base = memory.data() + (128 - address % 128) % 128 / sizeof(Element);
  Matrix a{base, {128, 72}, {72, 1}}, b{base + kElements, {136, 72}, {72, 1}};
  Matrix c{base + 2 * kElements, {128, 136}, {136, 1}};
  change(a, b, c);
  try {
    gemm_ws(a, b, c, 1, choreo::Stream::create());
    std::printf("%s: ok\n", name);
  } catch (const choreo::error& e) {
    std::printf("%s: %s\n", name, e.what());
  }
}

}  // namespace

int main() {
  Call("as it should be", [](Matrix&, Matrix&, Matrix&) {});
  Call("a K within padded rows",
       [](Matrix& a, Matrix& b, Matrix&) { a.extent[1] = b.extent[1] = 65; });
  Call("rows of A", [](Matrix& a, Matrix&, Matrix&) { a.stride[0] = 76; });
  Call("rows of B", [](Matrix&, Matrix& b, Matrix&) { b.stride[0] = 73; });
  Call("rows of C", [](Matrix&, Matrix&, Matrix& c) { c.stride[0] = 140; });
  Call("base of A", [](Matrix& a, Matrix&, Matrix&) { a.data += 4; });
  Call("base of C", [](Matrix&, Matrix&, Matrix& c) { c.data += 2; });
  Call("columns of C", [](Matrix&, Matrix& b, Matrix& c) { b.extent[0] = c.extent[1] = 132; });
  Call("one row of A, whose stride is never used", [](Matrix& a, Matrix&, Matrix& c) {
    a.extent[0] = c.extent[0] = 1;
    a.stride[0] = 73;
  });
}
