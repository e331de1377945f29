#include "driver/options.h"

#include <gmock/gmock.h>

namespace choreo::driver {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::variant<Options, Exit> Parse(std::vector<const char*> args) {
  args.insert(args.begin(), "choreo");
  return ParseCommandLine(static_cast<int>(args.size()), args.data());
}

Options Parsed(std::vector<const char*> args) {
  const auto result = Parse(std::move(args));
  if (const Exit* exit = std::get_if<Exit>(&result)) ADD_FAILURE() << exit->text;
  return std::holds_alternative<Options>(result) ? std::get<Options>(result) : Options();
}

Exit Refused(std::vector<const char*> args) {
  const auto result = Parse(std::move(args));
  if (const Exit* exit = std::get_if<Exit>(&result)) return *exit;
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(Options, Compile) {
  const Options o = Parsed({"compile", "k.co", "-o", "k.cu", "--target=sim", "-DA", "-D", "B=2",
                            "-Iinc", "--dump-after=lower", "--dump-after", "host-plan"});
  EXPECT_EQ(o.command, Command::Compile);
  EXPECT_EQ(o.file, "k.co");
  EXPECT_EQ(o.output, "k.cu");
  EXPECT_EQ(o.target, Target::Sim);
  EXPECT_THAT(o.defines, ElementsAre("A", "B=2"));
  EXPECT_THAT(o.include_dirs, ElementsAre("inc"));
  EXPECT_THAT(o.dump_after, ElementsAre("lower", "host-plan"));
}

TEST(Options, FileMayFollowRepeatableOptions) {
  const Options o = Parsed({"compile", "-D", "A=1", "k.co"});
  EXPECT_EQ(o.file, "k.co");
  EXPECT_THAT(o.defines, ElementsAre("A=1"));
}

TEST(Options, DefaultsAreThoseOfTheHelp) {
  const Options o = Parsed({"compile", "k.co"});
  EXPECT_EQ(o.target_or_default(), Target::Cuda);
  EXPECT_EQ(o.from_or_default(), InputKind::Co);
  EXPECT_FALSE(o.emit.has_value());
  EXPECT_EQ(Parsed({"check", "k.co"}).schedules, 1u);
}

TEST(Options, EveryChoiceHasItsEnumerator) {
  EXPECT_EQ(Parsed({"compile", "k", "--emit=tokens"}).emit, Emit::Tokens);
  EXPECT_EQ(Parsed({"compile", "k", "--emit=ast"}).emit, Emit::Ast);
  EXPECT_EQ(Parsed({"compile", "k", "--emit=ir"}).emit, Emit::Ir);
  EXPECT_EQ(Parsed({"compile", "k", "--emit=lowered"}).emit, Emit::Lowered);
  EXPECT_EQ(Parsed({"compile", "k", "--emit=cuda"}).emit, Emit::Cuda);
  EXPECT_EQ(Parsed({"compile", "k", "--from=ir"}).from, InputKind::Ir);
  EXPECT_EQ(Parsed({"compile", "k", "--from=lowered"}).from, InputKind::Lowered);
  EXPECT_EQ(Parsed({"build", "k", "--output-kind=fatbin"}).output_kind, OutputKind::Fatbin);
  EXPECT_EQ(Parsed({"build", "k", "--output-kind=cubin"}).output_kind, OutputKind::Cubin);
  EXPECT_TRUE(Parsed({"check", "k", "--diagnostics-format=json"}).json());
}

TEST(Options, ArgumentsAfterTheSeparatorAreForTheOtherCompiler) {
  const Options o = Parsed({"build", "k.co", "-MD", "--", "-MD", "-shared"});
  EXPECT_TRUE(o.write_dependencies);
  EXPECT_THAT(o.native_args, ElementsAre("-MD", "-shared"));
  EXPECT_EQ(Refused({"compile", "k.co", "--", "-x"}).status, kExitUsage);
}

TEST(Options, NumbersAreChecked) {
  EXPECT_EQ(Parsed({"check", "k", "--seed=18446744073709551615"}).seed, ~uint64_t{0});
  for (const char* bad : {"--seed=-1", "--seed=1x", "--seed=18446744073709551616", "--schedules=0",
                          "--schedules=a"}) {
    EXPECT_EQ(Refused({"check", "k", bad}).status, kExitUsage) << bad;
  }
}

TEST(Options, WrongUsageIsStatus2AndSaysWhereHelpIs) {
  EXPECT_EQ(Refused({}).status, kExitUsage);
  EXPECT_EQ(Refused({"frobnicate"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile", "a", "b"}).status, kExitUsage);
  const Exit exit = Refused({"compile", "k.co", "--emit=ptx"});
  EXPECT_EQ(exit.status, kExitUsage);
  EXPECT_THAT(exit.text, HasSubstr("`ptx` is not one of tokens, ast, ir, lowered, cuda"));
  EXPECT_THAT(exit.text, HasSubstr("choreo compile --help"));
}

TEST(Options, ContradictionsAreRefused) {
  EXPECT_THAT(Refused({"compile", "k", "--arch=sm_80"}).text, HasSubstr("sm_90a only"));
  EXPECT_EQ(Parsed({"compile", "k", "--arch=sm_90a"}).arch, "sm_90a");
  EXPECT_EQ(Refused({"compile", "k", "--emit=cuda", "--target=sim"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile", "k", "--emit=ast", "--from=ir"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile", "k", "--emit=ir", "--from=lowered"}).status, kExitUsage);
  EXPECT_EQ(Refused({"build", "k", "--target=sim", "--output-kind=cubin"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile", "k", "-MD"}).status, kExitUsage);
  EXPECT_EQ(Refused({"compile", "k", "-D", "1A=2"}).status, kExitUsage);
}

TEST(Options, HelpAndVersionAreStatus0) {
  EXPECT_EQ(Refused({"--help"}).status, kExitOk);
  EXPECT_EQ(Refused({"--version"}).text, "choreo " CROQTILE_VERSION "\n");
  const Exit help = Refused({"compile", "--help"});
  EXPECT_EQ(help.status, kExitOk);
  EXPECT_THAT(help.text, HasSubstr("--emit"));
}

TEST(Options, Tune) {
  const Options o =
      Parsed({"tune", "k.co", "--only", "A=1,B=2", "--jobs=3", "--rounds", "5", "--keep=0", "--out",
              "there", "--reference=bin/v4", "--", "--seq", "4096"});
  EXPECT_EQ(o.command, Command::Tune);
  EXPECT_EQ(o.only, "A=1,B=2");
  EXPECT_EQ(o.jobs, 3u);
  EXPECT_EQ(o.rounds, 5u);
  EXPECT_EQ(o.keep_candidates, 0u);
  EXPECT_EQ(o.tune_dir, "there");
  EXPECT_EQ(o.reference, "bin/v4");
  EXPECT_THAT(o.native_args, ElementsAre("--seq", "4096"));
  EXPECT_EQ(Parsed({"tune", "k.co"}).keep_candidates, 8u);
  EXPECT_THAT(Refused({"tune", "k.co", "--rounds=0"}).text, HasSubstr("from 1 to 1000"));
  EXPECT_THAT(Refused({"tune", "k.co", "--", "--json", "x"}).text,
              HasSubstr("`--json` after `--`"));
}

}  // namespace
}  // namespace choreo::driver
