// UTF-8, edit distance and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/edit_distance.h"
#include "support/file.h"
#include "support/utf8.h"

namespace choreo {
namespace {

namespace fs = std::filesystem;

TEST(Utf8, RefusesWhatIsNotACharacter) {
  EXPECT_EQ(FindInvalidUtf8("plain ASCII text, longer than a word"), std::string::npos);
  EXPECT_EQ(FindInvalidUtf8("中文 é \xf0\x9f\x98\x80"), std::string::npos);
  EXPECT_EQ(FindInvalidUtf8("ab\xff"), 2u);
  EXPECT_EQ(FindInvalidUtf8("\xc0\x80"), 0u) << "overlong";
  EXPECT_EQ(FindInvalidUtf8("\xe0\x80\x80"), 0u) << "overlong";
  EXPECT_EQ(FindInvalidUtf8("x\xed\xa0\x80"), 1u) << "surrogate";
  EXPECT_EQ(FindInvalidUtf8("\xf4\x90\x80\x80"), 0u) << "above U+10FFFF";
  EXPECT_EQ(FindInvalidUtf8("\xe4\xb8"), 0u) << "cut off";
}

TEST(Utf8, EncodesWhatItDecodes) {
  for (const uint32_t c : {0x24u, 0xa2u, 0x4e2du, 0x1f600u, 0x10ffffu}) {
    std::string text;
    AppendUtf8(text, c);
    const CodePoint point = DecodeUtf8(text);
    EXPECT_EQ(point.value, c);
    EXPECT_EQ(point.length, text.size());
  }
}

TEST(EditDistance, CountsEditsUpToItsLimit) {
  EXPECT_EQ(EditDistance("foreach", "foreach", 3), 0u);
  EXPECT_EQ(EditDistance("forech", "foreach", 3), 1u);
  EXPECT_EQ(EditDistance("paralel", "parrallel", 3), 2u);
  EXPECT_EQ(EditDistance("wiat", "wait", 3), 1u) << "a swap is one edit";
  EXPECT_EQ(EditDistance("WAIT", "wait", 3), 0u);
  EXPECT_EQ(EditDistance("abc", "xyzuvw", 2), 3u);
  const std::vector<std::string_view> names = {"wait", "while", "with", "trigger"};
  EXPECT_THAT(ClosestNames("wiht", names), testing::ElementsAre("with"));
  EXPECT_THAT(ClosestNames("nothing", names), testing::IsEmpty());
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "choreo_file_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

TEST_F(FileTest, WritesReadsAndReplaces) {
  const std::string path = Path("a.txt");
  EXPECT_FALSE(WriteFileAtomically(path, "first"));
  EXPECT_EQ(ReadFile(path).text, "first");
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_FALSE(WriteFileAtomically(path, "second, longer"));
  EXPECT_EQ(ReadFile(path).text, "second, longer");
  EXPECT_EQ(ReadFile(path, 6).text, "second");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1)
      << "no temporary file is left";
}

TEST_F(FileTest, KeepsSymbolicLinksAndDevices) {
  ASSERT_FALSE(WriteFileAtomically(Path("real"), "old"));
  fs::create_symlink(Path("real"), Path("link"));
  EXPECT_FALSE(WriteFileAtomically(Path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ReadFile(Path("real")).text, "new");
  EXPECT_FALSE(WriteFileAtomically("/dev/null", "gone"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FileTest, SaysWhatWentWrong) {
  EXPECT_THAT(ReadFile(Path("missing")).error, testing::HasSubstr("No such file"));
  EXPECT_THAT(ReadFile(folder_.string()).error, testing::HasSubstr("directory"));
  EXPECT_THAT(WriteFileAtomically(Path("no/such/folder"), "x"),
              testing::Optional(testing::HasSubstr("No such file")));
}

}  // namespace
}  // namespace choreo
