#include "driver/tune_sources.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "driver/toolchain.h"

namespace choreo::driver {
namespace {

MacroUse Find(const std::string& text, const std::string& name = "M") {
  return FindMacro({{"k.co", text, ScanText(text)}}, name);
}

TEST(TuneSources, ADefinitionYieldsInsideItsGuard) {
  EXPECT_FALSE(Find("#ifndef M\n#define M 1\n#endif\n").fixed);
  EXPECT_FALSE(Find("# if !defined( M )\n#  define M 1\n#endif\n").fixed);
  EXPECT_FALSE(Find("#if !defined M\n#define M 1\n#endif\n").fixed);
  EXPECT_FALSE(Find("#ifdef M\nx\n#else\n#define M 1\n#endif\n").fixed);
  EXPECT_FALSE(Find("#ifndef M\n#if X\n#define M 1\n#else\n#define M 2\n#endif\n#endif\n").fixed);
  EXPECT_FALSE(Find("int x = M;").fixed);
  EXPECT_FALSE(Find("// #define M 1\n#define MM 2\n").fixed);
}

TEST(TuneSources, OthersDoNot) {
  const MacroUse use = Find("x\n#define M 1\n");
  ASSERT_TRUE(use.fixed);
  EXPECT_EQ(use.fixed->offset, 2u);
  EXPECT_TRUE(Find("#define M(x) x\n").fixed);
  EXPECT_TRUE(Find("#ifndef M\n#else\n#define M 1\n#endif\n").fixed);
  EXPECT_TRUE(Find("#ifndef M\n#endif\n#define M 1\n").fixed);
  EXPECT_TRUE(Find("#ifndef OTHER\n#define M 1\n#endif\n").fixed);
  EXPECT_TRUE(Find("#if !defined(M) && X\n#define M 1\n#endif\n").fixed);
  EXPECT_TRUE(Find("#if X\n#define M 1\n#elif Y\n#endif\n").fixed);
}

TEST(TuneSources, WhetherTheMacroIsRead) {
  EXPECT_TRUE(Find("int x[M];").read);
  EXPECT_TRUE(Find("#if M > 1\n#endif").read);
  EXPECT_TRUE(Find("#ifdef M\n#endif").read);
  EXPECT_TRUE(Find("#if A\n#elif M\n#endif").read);
  EXPECT_TRUE(Find("#define N \\\n  (M + 1)\n").read);
  EXPECT_FALSE(Find("#ifndef M\n#define M 1\n#endif\n// M\nint MM, xM;").read);
}

TEST(TuneSources, TheDefaultWhereOneDefinitionSaysIt) {
  EXPECT_EQ(Find("#ifndef M\n#define M  128  // rows\n#endif\n").default_text, "128");
  EXPECT_EQ(Find("#ifndef K_H_\n#define K_H_\n#ifndef M\n#define M (1 + 2)\n#endif\n#endif\n")
                .default_text,
            "(1 + 2)");
  EXPECT_EQ(Find("#if X\n#ifndef M\n#define M 1\n#endif\n#endif\n").default_text, std::nullopt);
  EXPECT_EQ(
      Find("#ifndef M\n#if X\n#define M 1\n#else\n#define M 2\n#endif\n#endif\n").default_text,
      std::nullopt);
  EXPECT_EQ(Find("int x = M;").default_text, std::nullopt);
}

TEST(TuneSources, IncludedFilesBelongToThem) {
  const TemporaryFolder folder("x");
  std::ofstream(folder.File("a.h")) << "#include \"b.h\"\n#include \"k.co\"\nint a;\n";
  std::ofstream(folder.File("b.h")) << "#define M 1\n";
  std::ofstream(folder.File("k.co")) << "never read twice";
  const std::string text = "#include <vector>\n#include \"nowhere.h\"\n#include \"a.h\"\n";
  const auto sources = ReadTuneSources(folder.File("k.co"), text, {});
  ASSERT_EQ(sources.size(), 3u);
  EXPECT_EQ(sources[0].text, text);
  EXPECT_EQ(FindMacro(sources, "M").fixed->source, 2u);

  const std::string hash = HashOfSources(sources);
  EXPECT_EQ(hash.size(), 16u);
  std::ofstream(folder.File("b.h")) << "#define M 2\n";
  EXPECT_NE(HashOfSources(ReadTuneSources(folder.File("k.co"), text, {})), hash);
  EXPECT_EQ(ReadTuneSources("elsewhere/k.co", text, {folder.path()}).size(), 3u + 1u);
}

TEST(TuneSources, AFolderCountsWithNamesAndTexts) {
  const TemporaryFolder folder("x"), other("x");
  const auto write = [](const TemporaryFolder& to, bool reversed) {
    std::filesystem::create_directories(to.File("deep/er"));
    const std::vector<std::string> names = {"a.h", "deep/b.h", "deep/er/c.h"};
    for (size_t i = 0; i < names.size(); ++i) {
      std::ofstream(to.File(names[reversed ? names.size() - 1 - i : i])) << "text";
    }
  };
  write(folder, false);
  write(other, true);
  const std::string hash = HashOfFolder(folder.path());
  EXPECT_EQ(HashOfFolder(other.path()), hash);
  std::ofstream(folder.File("deep/er/c.h")) << "texts";
  EXPECT_NE(HashOfFolder(folder.path()), hash);
  std::filesystem::rename(other.File("deep/er/c.h"), other.File("deep/er/d.h"));
  EXPECT_NE(HashOfFolder(other.path()), hash);
  std::filesystem::create_directory_symlink(std::filesystem::absolute(other.path()),
                                            folder.File("link"));
  EXPECT_EQ(HashOfFolder(folder.File("link")), HashOfFolder(other.path()));
  EXPECT_EQ(HashOfFolder(folder.File("nowhere")), HashOfParts({}));
}

TEST(TuneSources, PartsAreToldApart) {
  EXPECT_NE(HashOfParts({"ab", "c"}), HashOfParts({"a", "bc"}));
  EXPECT_EQ(HashOfParts({}), "cbf29ce484222325");
}

}  // namespace
}  // namespace choreo::driver
