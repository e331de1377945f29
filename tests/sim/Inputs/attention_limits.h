// In place of the driver of an attention kernel: calls it with arguments that TMA cannot take, and
// prints what each call says. `ATTEND` is the kernel.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using Element = choreo::ELEM;
using View = choreo::view<Element, 4>;

constexpr int64_t kRows = 128, kHeads = 2, kHalfHeads = 1;

struct Arguments {
  View q, k, v, o;
};

template <class Change>
void Call(const char* name, Change change) {
  constexpr size_t kElements = kRows * kHeads * 256;
  static std::vector<Element> memory(4 * kElements + 64);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  Element* base = memory.data() + (128 - address % 128) % 128 / sizeof(Element);
  const auto tensor = [&](int number) {
    return View{base + number * kElements,
                {1, kRows, kHeads, DIM},
                {kRows * kHeads * DIM, kHeads * DIM, DIM, 1}};
  };
  Arguments a{tensor(0), tensor(1), tensor(2), tensor(3)};
  change(a);
  try {
    ATTEND(a.q, a.k, a.v, a.o, choreo::Stream::create());
    std::printf("%s: ok\n", name);
  } catch (const choreo::error& e) {
    std::printf("%s: %s\n", name, e.what());
  }
}

}  // namespace

int main() {
  Call("as it should be", [](Arguments&) {});
  Call("padded rows", [](Arguments& a) { a.k.stride[2] = 136, a.k.stride[1] = 2 * 136; });
  Call("base of K", [](Arguments& a) { a.k.data += 4; });
  Call("base of O", [](Arguments& a) { a.o.data += 1; });
  Call("base at a multiple of 16", [](Arguments& a) { a.v.data += 8; });
  Call("rows of V", [](Arguments& a) { a.v.stride[1] = 260; });
  Call("heads of O", [](Arguments& a) { a.o.stride[2] = 129, a.o.stride[1] = 264; });
  Call("batches of Q, of which there is one", [](Arguments& a) { a.q.stride[0] = 3; });
  Call("rows of Q backwards", [](Arguments& a) {
    a.q.data += 127 * kHeads * DIM;
    a.q.stride[1] = -kHeads * DIM;
  });
  Call("elements of Q apart", [](Arguments& a) { a.q.stride[3] = 2; });
  Call("rows of O 2^40 bytes apart", [](Arguments& a) { a.o.stride[1] = int64_t{1} << 39; });
  Call("elements of a head", [](Arguments& a) { a.v.extent[3] = DIM / 2; });
  Call("rows that are no whole tile", [](Arguments& a) {
    for (View* view : {&a.q, &a.k, &a.v, &a.o}) view->extent[1] = 100;
  });
  Call("fewer heads of K and V",
       [](Arguments& a) { a.k.extent[2] = a.v.extent[2] = kHalfHeads; });
  Call("no rows, and nothing to align", [](Arguments& a) {
    for (View* view : {&a.q, &a.k, &a.v, &a.o}) view->extent[1] = 0, view->data = nullptr;
  });
}
