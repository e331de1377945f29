#include "driver/toolchain.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace choreo::driver {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

// Sets an environment variable for the duration of a test.
class Env {
 public:
  Env(const char* name, const std::string& value) : name_(name) {
    const char* old = ::getenv(name);
    had_ = old != nullptr;
    if (had_) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Env() {
    if (had_) {
      ::setenv(name_, old_.c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  bool had_;
  std::string old_;
};

std::string MakeProgram(const TemporaryFolder& folder, const std::string& name) {
  const std::string path = folder.File(name);
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "#!/bin/sh\necho hello\necho problem >&2\nexit 3\n";
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

TEST(Toolchain, ShellLineQuotesWhatAShellWouldRead) {
  EXPECT_EQ(ShellLine({"nvcc", "-I/a b", "it's", "", "x=1"}), "nvcc '-I/a b' 'it'\\''s' '' x=1");
}

TEST(Toolchain, NvccIsFoundInTheDocumentedOrder) {
  const TemporaryFolder folder("x");
  ASSERT_TRUE(folder.ok());
  const std::string in_home = MakeProgram(folder, "cuda/bin/nvcc");
  const std::string in_path = MakeProgram(folder, "path/nvcc");
  const std::string chosen = MakeProgram(folder, "chosen");
  const Env path("PATH", folder.File("path"));
  {
    const Env home("CUDA_HOME", folder.File("cuda"));
    {
      const Env nvcc("CHOREO_NVCC", chosen);
      EXPECT_THAT(FindNvcc().command, ElementsAre(chosen));
    }
    const Env nvcc("CHOREO_NVCC", "");
    EXPECT_THAT(FindNvcc().command, ElementsAre(in_home));
  }
  const Env nvcc("CHOREO_NVCC", "");
  const Env home("CUDA_HOME", "");
  EXPECT_THAT(FindNvcc().command, ElementsAre(in_path));
}

TEST(Toolchain, AChosenProgramThatIsNoneIsNotReplaced) {
  const Env nvcc("CHOREO_NVCC", "/nowhere/nvcc");
  EXPECT_THAT(FindNvcc().problem, HasSubstr("/nowhere/nvcc"));
  const Env cxx("CXX", "no-such-compiler -m64");
  EXPECT_THAT(FindHostCompiler().problem, HasSubstr("no-such-compiler"));
}

TEST(Toolchain, TheHostCompilerMayHaveArguments) {
  const TemporaryFolder folder("x");
  const std::string program = MakeProgram(folder, "cc");
  const Env cxx("CXX", program + " -m64  -pipe");
  EXPECT_THAT(FindHostCompiler().command, ElementsAre(program, "-m64", "-pipe"));
}

TEST(Toolchain, RunsWithoutAShell) {
  const TemporaryFolder folder("x");
  const ToolResult result = RunTool({MakeProgram(folder, "tool"), "$HOME; exit 9"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "hello\nproblem\n");
  EXPECT_FALSE(RunTool({folder.File("missing")}).problem.empty());
}

TEST(Toolchain, AProgramThatTakesTooLongIsEnded) {
  const ToolResult slow = RunTool({"/bin/sh", "-c", "echo first; exec sleep 60"}, {1, {}});
  EXPECT_TRUE(slow.timed_out);
  EXPECT_EQ(slow.output, "first\n");
  EXPECT_EQ(slow.status, 128 + 9);
  EXPECT_FALSE(RunTool({"/bin/sh", "-c", "exit 0"}, {60, {}}).timed_out);
}

TEST(Toolchain, TheEnvironmentMayBeChanged) {
  const Env old("CHOREO_TEST_VARIABLE", "old");
  const std::vector<std::string> command = {"/bin/sh", "-c", "echo $CHOREO_TEST_VARIABLE$HOME"};
  const Env home("HOME", "/h");
  EXPECT_EQ(RunTool(command).output, "old/h\n");
  EXPECT_EQ(RunTool(command, {0, {"CHOREO_TEST_VARIABLE=new"}}).output, "new/h\n");
}

TEST(Toolchain, TemporaryFoldersVanish) {
  std::string path;
  {
    const TemporaryFolder folder("x");
    path = folder.path();
    std::ofstream(folder.File("inside")) << "text";
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(TemporaryFolder("/no/such/place/x").ok());
}

}  // namespace
}  // namespace choreo::driver
