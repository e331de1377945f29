// Stores of fragments by stmatrix: to swizzled tiles of several panels, to a part that begins
// inside a panel, to one tile of an array, to every other row; of f32 and of 16-bit fragments. What
// is stored is read back by element, and the rest of the tile is what it was.
#include "differential.h"

namespace choreo {
namespace {

struct Place {
  std::string tile;      // extents
  std::string of_tiles;  // `[2]` of an array
  std::string view;
  int columns;
};

void PrintTo(const Place& place, std::ostream* out) { *out << place.tile << place.view; }

class FragmentStoresTest : public testing::TestWithParam<Place> {};

TEST_P(FragmentStoresTest, StoreWhatElementsRead) {
  const Place& place = GetParam();
  for (const std::string swizzle : {"", ".swiz<32>", ".swiz<64>", ".swiz<128>"}) {
    const bool odd = place.columns % 16 != 0 || place.tile.ends_with("80");
    if (odd && !swizzle.empty()) continue;
    for (const std::string elem : {"bf16", "f16"}) {
      for (const bool half : {false, true}) {
        const std::string convert = half ? "__to<" + elem + ">" : "";
        const auto compiled =
            Compile("stores.co",
                    fmt::format(R"(
__co__ void f(global f32 [64, 256] x, global {elem} [{tile}] z, global f32 [64, 256] y,
              global {elem} [{tile}] all, s32 k) {{
  parallel b by 1 : block {{
    shared {elem} [{tile}] tiles{array};
    parallel wg by 1 : group-4 {{
      frag {frag} [64, {columns}] s;
      apply {{i, j}} in s.span s.at(i, j) = {convert}(x.at(i, j));
      dma.copy{swizzle} z => tiles{slot};
      mma.store s, tiles{slot}{view};
      sync.shared;
      part = tiles{slot}{view};
      parallel t by 128 : thread {{
        foreach c in {columns} if (t < 64) y.at(t, c) = __to<f32>(part.at(t, c));
      }}
      dma.copy tiles{slot} => all;
    }}
  }}
}}
)",
                                fmt::arg("elem", elem), fmt::arg("tile", place.tile),
                                fmt::arg("array", place.of_tiles),
                                fmt::arg("slot", place.of_tiles.empty() ? "" : "[k]"),
                                fmt::arg("frag", half ? elem : "f32"),
                                fmt::arg("columns", place.columns), fmt::arg("convert", convert),
                                fmt::arg("swizzle", swizzle), fmt::arg("view", place.view)));
        ASSERT_TRUE(compiled) << swizzle;
        const Elem type = elem == "bf16" ? Elem::kBf16 : Elem::kF16;
        std::vector<int64_t> extents;
        std::istringstream text(place.tile);
        for (std::string part; std::getline(text, part, ',');) extents.push_back(std::stoll(part));
        const Tensor x = MakeTensor(Elem::kF32, {64, 256}, 1);
        std::vector<Argument> arguments = {x, MakeTensor(type, extents, 2),
                                           MakeTensor(Elem::kF32, {64, 256}, 3),
                                           MakeTensor(type, extents, 4), Scalar{1, 0}};
        ExpectSame(*compiled, "f", arguments, 0, 1);
        sim::Run(compiled->lowered, "f", Borrow(arguments), {});
        const Tensor& y = std::get<Tensor>(arguments[2]);
        int wrong = 0;
        for (size_t i = 0; i < 64; ++i) {
          for (size_t j = 0; j < static_cast<size_t>(place.columns); ++j) {
            wrong += At(y, i * 256 + j) != At(x, i * 256 + j);
          }
        }
        EXPECT_EQ(wrong, 0) << swizzle << " " << elem << " " << half;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Places, FragmentStoresTest,
    testing::Values(Place{"64,128", "", "", 128}, Place{"64,64", "[2]", "", 64},
                    Place{"128,128", "[2]", ".subspan(64, 128).at(k, 0)", 128},
                    Place{"64,256", "", ".subspan(64, 64).at(0, k + 1)", 64},
                    Place{"64,128", "", ".subspan(64, 32).at(0, 3)", 32},
                    Place{"72,128", "", ".view(64, 48).from(8, 16)", 48},
                    Place{"72,128", "", ".view(64, 48).from(k, 64)", 48},
                    Place{"128,64", "", ".view(64, 64 : 2, 1).from(1, 0)", 64},
                    Place{"64,128", "", ".span_as([128, 64]).subspan(64, 64).at(k, 0)", 64},
                    Place{"2,64,128", "", ".subspan(1, 64, 64).at(k, 0, 1).sqz()", 64},
                    Place{"64,128", "", ".view(64, 48).from(0, 16)", 48},
                    Place{"64,64", "", ".view(64, 8).from(0, 8)", 8}, Place{"64,80", "", "", 80},
                    Place{"64,24", "", "", 24}, Place{"64,40", "[2]", "", 40}));

}  // namespace
}  // namespace choreo
