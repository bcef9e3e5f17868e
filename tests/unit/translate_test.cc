// Command lines and job files of other tools become lines of ours that our own parser accepts, with what differs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/shell_word.h"
#include "coordinator/options/command_table.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/translate/foreign_help.h"
#include "coordinator/translate/translation.h"
#include "tests/support/command_words.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

using Catch::Contains;

std::vector<std::string> PublicLines() {
  std::vector<std::string> lines;
  for (const std::string& line : std::vector<std::string>(
           absl::StrSplit(FileText(SourcePath("tests/unit/translate/public_lines.txt")), '\n'))) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

// The words after the program's name.
std::vector<std::string> AfterProgram(std::vector<std::string> words) {
  words.erase(words.begin(), std::find(words.begin(), words.end(), "cluster-iobench") + 1);
  return words;
}

// Empty: our parser takes the options, and the plan that they give is in order.
std::string RefusalOfOurs(const OurLine& options) {
  const auto job = JobFrom(options.Words());
  if (!job.ok()) return std::string(job.status().message());
  constexpr uint64_t kMemory = uint64_t{1} << 30;
  const auto plan = BuildPlan(job->given, {.memory_bytes = kMemory});
  if (!plan.ok()) return std::string(plan.status().message());
  return std::string(CheckPlan(*plan).message());
}

std::string TextOf(const TranslatedCommand& command) {
  if (command.parts.empty()) {
    const std::string without = absl::StrJoin(command.without_phases, ", ");
    return absl::StrCat("  ", ShellCommand(command.Words()),
                        without.empty() ? "" : absl::StrCat("   without ", without), "\n");
  }
  std::string text;
  for (const TranslatedPart& part : command.parts)
    absl::StrAppend(&text, "  ", part.workers, " x ", part.name, ": ", ShellCommand(part.options.Words()),
                    "\n");
  return text;
}

std::string TextOf(const std::string& line, const absl::StatusOr<Translation>& translation) {
  std::string text = absl::StrCat(line, "\n");
  if (!translation.ok())
    return absl::StrCat(text, "  not: ", std::string(translation.status().message()), "\n");
  for (const TranslatedCommand& command : translation->commands) text += TextOf(command);
  for (const Difference& difference : translation->differences)
    absl::StrAppend(&text, "    ", difference.option, ": ", difference.text, "\n");
  return text;
}

// The only command of a line, without the program's name.
std::string Ours(const std::string& line) {
  const auto translation = TranslateWords({line});
  if (!translation.ok()) return std::string(translation.status().message());
  REQUIRE(translation->commands.size() == 1);
  return ShellCommand(AfterProgram(translation->commands[0].Words()));
}

TEST_CASE("nine of ten public lines of each tool are translated, and our parser accepts what they become",
          "[translate]") {
  std::map<std::string, std::pair<int, int>> by_tool;  // translated, of all
  for (const std::string& line : PublicLines()) {
    const auto translation = TranslateWords({line});
    std::string tool;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(line, ' '))) {
      if (tool.empty() && FindForeignTool(word) != nullptr) tool = std::string(FindForeignTool(word)->name);
    }
    INFO(line);
    REQUIRE_FALSE(tool.empty());
    ++by_tool[tool].second;
    if (!translation.ok()) continue;
    ++by_tool[tool].first;
    for (const TranslatedCommand& command : translation->commands) {
      if (command.parts.empty()) CHECK(RefusalOfOurs(command.options) == "");
      for (const TranslatedPart& part : command.parts) CHECK(RefusalOfOurs(part.options) == "");
    }
  }
  CHECK(by_tool.size() == 7);
  int all = 0;
  for (const auto& [tool, counts] : by_tool) {
    INFO(tool << ": " << counts.first << " of " << counts.second);
    CHECK(counts.first * 10 >= counts.second * 9);
    if (tool != "IOzone") CHECK(counts.second >= 10);
    all += counts.second;
  }
  CHECK(all >= 60);
}

TEST_CASE("what the public lines and job files become has been reviewed", "[translate]") {
  std::string text;
  for (const std::string& line : PublicLines()) text += TextOf(line, TranslateWords({line}));
  for (const char* const name : {"stages.fio", "together.fio", "oltp.vdbench", "files.vdbench"}) {
    const auto translation =
        TranslateJobFile(FileText(SourcePath(absl::StrCat("tests/unit/translate/", name))));
    REQUIRE(translation.ok());
    for (const TranslatedCommand& command : translation->commands) {
      if (command.parts.empty()) CHECK(RefusalOfOurs(command.options) == "");
      for (const TranslatedPart& part : command.parts) CHECK(RefusalOfOurs(part.options) == "");
    }
    text += TextOf(name, translation);
  }
  CheckGolden("translations.txt", text);
}

TEST_CASE("each row of a tool's table says what becomes of the option", "[translate]") {
  for (const ForeignTool& tool : ForeignTools()) {
    std::set<std::string> names;
    for (const ForeignOption& row : tool.options) {
      INFO(std::string(tool.name) << " " << std::string(row.names));
      for (const std::string& name : std::vector<std::string>(absl::StrSplit(std::string(row.names), ' ')))
        CHECK(names.insert(name).second);
      const bool is_flag = row.value == ForeignValue::kFlag;
      if (!is_flag && row.value != ForeignValue::kYesNo) CHECK_FALSE(row.argument.empty());
      const bool has_ours = row.becomes == Becomes::kOption || row.becomes == Becomes::kTogether;
      CHECK(row.ours.empty() != has_ours);
      if (!has_ours) CHECK_FALSE(row.note.empty());
      if (row.becomes != Becomes::kOption) continue;
      const std::string_view name = row.ours.substr(0, row.ours.find('='));
      const auto is_it = [name](const OptionSpec& option) {
        return option.name == name && (option.commands & kForRun) != 0;
      };
      const auto rows = CommandOptions();
      CHECK((std::any_of(kPlanOptions.begin(), kPlanOptions.end(), is_it) ||
             std::any_of(rows.begin(), rows.end(), is_it)));
    }
  }
}

TEST_CASE("docs/coming-from.md is what the tables say", "[translate]") {
  const std::string path = SourcePath("docs/coming-from.md");
  if (std::getenv("IOBENCH_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << ComingFromDocument();
  CHECK(FileText(path) == ComingFromDocument());
}

TEST_CASE("fio's times, sizes and depths keep their meaning", "[translate]") {
  CHECK(
      Ours("fio --name=a --rw=read --bs=1m --size=1g --direct=1 --runtime=60 --time_based --ramp_time=10") ==
      "--path . --op read -r 1m -s 1g -t 1 --time 70 --warmup 10 -I --label a");
  CHECK_THAT(Ours("fio --name=a --rw=read --bs=1m --size=1g --runtime=60"), Contains("--deadline 60"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --fsync=32"),
             Contains("--fsync-every 32") && !Contains("--flush-call"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --fdatasync=1"),
             Contains("--fsync-every 1 --flush-call fdatasync"));
  // A flush between ops is undefined with several in flight.
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --fsync=32 --ioengine=libaio --iodepth=8"),
             Contains("--burst 128k,0"));
  CHECK_THAT(Ours("fio --name=a --rw=randread --bs=4k --size=1g --random_distribution=zipf:1.2"),
             Contains("--access zipf:1.2"));
  CHECK_THAT(Ours("fio --name=a --rw=randread --bssplit=4k/60:64k/30:1m/10 --size=1g"), Contains("-r 4k:60,64k:30,1m:10"));
  CHECK_THAT(Ours("fio --name=a --rw=randread --bssplit=4k/60:64k/:1m --size=1g"), Contains("-r 4k:60,64k:20,1m:20"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bsrange=4k-16k --size=1g"), Contains("-r 4k:25,8k:25,12k:25,16k:25"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bsrange=4k-1m --size=1g"), Contains("-r 4k:11.1111,8k:11.1111,16k:11.1111"));
  CHECK_THAT(Ours("fio --name=a --rw=randread --bssplit=4k/60:64k/40 --random_distribution=zipf:1.2 --size=1g"),
             Contains("--access zipf:1.2"));
  // The mean is 28 KiB.
  CHECK_THAT(Ours("fio --name=a --rw=write --bssplit=4k/60:64k/40 --size=1g --rate=28m --time_based --runtime=9"),
             Contains("--lane-rate 1024"));
  CHECK_THAT(Ours("fio --name=a --rw=randwrite:8 --bs=4k --size=1g"), Contains("--burst-records 8"));
  CHECK_THAT(Ours("fio --name=a --rw=write:8 --bs=4k --size=1g"), !Contains("--burst-records"));
  CHECK_THAT(Ours("fio --name=a --rw=read --bs=4k --size=1g --random_distribution=zipf:1.2"), !Contains("--access"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --rate=4m"), Contains("--ops-per-second 1024"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --rate_iops=50 --runtime=9 --time_based"),
             Contains("--time 9 --lane-rate 50 --even-rate"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --runtime=300 --time_based --ss=iops:10% --ss_dur=50"),
             Contains("--until steady --time 10 --max-rounds 30 --steady-range 20"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --ss=bw_slope:0.25% --ss_dur=20"),
             Contains("--until steady --time 4 --steady-slope 5"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bs=4k --size=1g --runtime=30 --time_based --ss=iops:10%"),
             !Contains("--until"));
  CHECK_THAT(Ours("fio --name=a --rw=read --size=1g --iodepth=32"),
             !Contains("--depth"));  // psync has no queue
  CHECK_THAT(Ours("fio --name=a --rw=read --size=1g --iodepth=32 --ioengine=libaio"),
             Contains("--engine uring --depth 32"));
  CHECK_THAT(Ours("fio --name=a --rw=write --size=1g --verify=crc32c"), Contains("--op write,read"));
  CHECK_THAT(Ours("fio --name=a --rw=read --size=1g --direct=0 --invalidate=0"),
             !Contains("-I") && !Contains("--drop-caches"));
}

TEST_CASE("IOR's MPI-IO is ours under a launcher, and plain calls without one", "[translate]") {
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -c -b 1g -t 1m -w -o /mnt/f"),
             Contains("--engine mpiio") && Contains("--collective") && Contains("-t 1") && !Contains("--open-in-timing"));
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -b 1m -t 64k -s 16 -V -w -o /mnt/f"),
             Contains("--engine mpiio") && Contains("--mpi-view") && Contains("--block 1m") && !Contains("--collective"));
  // A file of its own is no shared one.
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -c -F -b 1g -t 1m -w -o /mnt/f"),
             Contains("--engine mpiio") && !Contains("--collective"));
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -Y -B -b 1g -t 1m -w -o /mnt/f"),
             Contains("--fsync-every 1") && !Contains("-I") && !Contains(" -o "));
  CHECK_THAT(Ours("ior -a MPIIO -c -b 1g -t 1m -w -o /mnt/f"), !Contains("mpiio") && !Contains("--collective"));
}

TEST_CASE("a quoted line is taken apart as a shell would", "[translate]") {
  CHECK(Ours("sudo fio --name='a b' \\\n  --rw=read --size=1m --direct=1 > out.txt 2>&1 # comment") ==
        "--path . --op read -r 4k -s 1m -t 1 -I --label 'a b'");
  CHECK(Ours("FOO=1 time /usr/bin/fio --name=a --rw=read --size=1m --direct=1 | tee log") ==
        "--path . --op read -r 4k -s 1m -t 1 -I --label a");
}

TEST_CASE("what cannot be translated is refused with the reason", "[translate]") {
  CHECK_THAT(Ours("fio --name=a --filename=/dev/sdb --rw=read"), Contains("/dev/sdb is a device"));
  CHECK_THAT(Ours("fio --name=a --rw=trim"), Contains("rw=trim"));
  CHECK_THAT(Ours("mdtest -n 10 -z 1000000000000 -d /x"), Contains("at most 20 levels"));
  CHECK_THAT(Ours("elbencho --service"), Contains("no service is needed"));
  CHECK_THAT(Ours("fio --name=a --bs=x"), Contains("\"x\" is no size"));
  CHECK_THAT(Ours("fio --name"), Contains("--name lacks its argument"));
  CHECK_THAT(Ours("ls -l"), Contains("translate needs a command line of fio"));
}

TEST_CASE("an option that is not in the table is left out, and named", "[translate]") {
  const auto translation = TranslateWords({"fio --name=a --rw=read --size=1m --frobnicate=3"});
  REQUIRE(translation.ok());
  const auto said =
      std::find_if(translation->differences.begin(), translation->differences.end(),
                   [](const Difference& difference) { return difference.option == "--frobnicate"; });
  CHECK(said != translation->differences.end());
}

}  // namespace
}  // namespace iobench
