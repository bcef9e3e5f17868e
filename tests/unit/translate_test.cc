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

// "-x: what differs\n" for each difference.
std::string Differences(const std::string& line) {
  const auto translation = TranslateWords({line});
  if (!translation.ok()) return std::string(translation.status().message());
  std::string text;
  for (const Difference& each : translation->differences) absl::StrAppend(&text, each.option, ": ", each.text, "\n");
  return text;
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
  CHECK_THAT(Ours("fio --name=a --rw=randread --bssplit=4k/60:64k/30:1m/10 --size=1g"),
             Contains("-r 4k:60,64k:30,1m:10"));
  CHECK_THAT(Ours("fio --name=a --rw=randread --bssplit=4k/60:64k/:1m --size=1g"), Contains("-r 4k:60,64k:20,1m:20"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bsrange=4k-16k --size=1g"), Contains("-r 4k:25,8k:25,12k:25,16k:25"));
  CHECK_THAT(Ours("fio --name=a --rw=write --bsrange=4k-1m --size=1g"),
             Contains("-r 4k:11.1111,8k:11.1111,16k:11.1111"));
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
  CHECK(Differences("fio --name=a --rw=read --size=1m --direct=1 --verify=0") == "");
  CHECK_THAT(Ours("fio --name=a --rw=read --size=1g --direct=0 --invalidate=0"),
             !Contains("-I") && !Contains("--drop-caches"));
}

TEST_CASE("fio's sync_file_range is a flush call, where one can be between ops", "[translate]") {
  const std::string line = "fio --name=a --rw=write --bs=4k --size=1g ";
  CHECK_THAT(Ours(line + "--sync_file_range=write:8"), Contains("--fsync-every 8 --flush-call sync-file-range"));
  CHECK_THAT(Differences(line + "--sync_file_range=write:8"),
             Contains("lane's whole extent") &&
                 Contains("it waits until the data are written, fio's has only write"));
  CHECK_THAT(Differences(line + "--sync_file_range=wait_before,write,wait_after:8"),
             Contains("lane's whole extent") && !Contains("it waits"));
  CHECK_THAT(Differences(line + "--sync_file_range=wait_before,write:8"),
             Contains("fio's has only wait_before,write"));
  CHECK_THAT(Ours(line + "--sync_file_range=write:8 --fsync=32"),
             Contains("--fsync-every 32") && !Contains("--flush-call"));
  CHECK_THAT(Differences(line + "--sync_file_range=write:8 --fsync=32"), Contains("sync_file_range: left out: "));
  for (const char* const engine : {"--ioengine=libaio --iodepth=8", "--ioengine=mmap"}) {
    CHECK_THAT(Ours(line + "--sync_file_range=write:8 " + engine), !Contains("--flush-call"));
    CHECK_THAT(Differences(line + "--sync_file_range=write:8 " + engine), Contains("sync_file_range: left out: "));
  }
  CHECK_THAT(Ours(line + "--fdatasync=4 --ioengine=mmap"), Contains("--fsync-every 4") && !Contains("--flush-call"));
  CHECK_THAT(Ours(line + "--sync_file_range=write"), Contains("\"write\" is no size"));
}

TEST_CASE("fio's jobs that only verify, or find files in memory, do so here", "[translate]") {
  CHECK_THAT(Ours("fio --name=a --rw=randwrite --bs=4k --size=1m --verify=crc32c --verify_only"),
             Contains("--op random-read -r") && Contains("--verify"));
  CHECK_THAT(Ours("fio --name=a --rw=read --bs=4k --size=1m"), Contains("--drop-caches"));
  CHECK_THAT(Ours("fio --name=a --rw=read --bs=4k --size=1m --pre_read=1"), !Contains("--drop-caches"));
  CHECK_THAT(Ours("fio --name=a --rw=randread:8 --bs=4k --size=1m --rw_sequencer=identical"),
             !Contains("--burst-records"));
  const auto jobs =
      TranslateWords({"fio --name=a --rw=write --size=1m --name=b --wait_for=a --rw=randread --size=2m"});
  REQUIRE(jobs.ok());
  CHECK(jobs->commands.size() == 2);
  CHECK(JobFileIn({"fio --minimal jobs.fio"}) == "jobs.fio");
}

TEST_CASE("elbencho's paths with numbers in brackets are as many files", "[translate]") {
  // 4 files of 16 MiB, two for each thread.
  CHECK(Ours("elbencho -w -r -t 2 -s 16m -b 1m /mnt/a/f[1-4]") ==
        "--path /mnt/a --op write,read -r 1m -s 32m --files-per-lane 2 -t 2");
  CHECK(Ours("elbencho -w -t 1 -s 16m -b 1m '/mnt/a/f[1-2,07]g[0,5]'") ==
        "--path /mnt/a --op write -r 1m -s 96m --files-per-lane 6 -t 1");
  CHECK(Ours("elbencho -w -t 4 -s 16m -b 1m /mnt/a/f[1-4]") == "--path /mnt/a --op write -r 1m -s 16m -t 4");
  CHECK(Ours("elbencho -w -t 4 -s 16m -b 1m /mnt/a/f1 /mnt/a/f2") ==
        "--path /mnt/a --op write -r 1m -s 8m --shared-file -t 4");
  CHECK_THAT(Differences("elbencho -w -t 4 -s 16m -b 1m /mnt/a/f[1-2]"),
             Contains("path: 2 files become one of their total size, which all lanes share"));
  CHECK_THAT(Ours("elbencho -w -t 2 -s 16m -b 1m --strided /mnt/a/f[1-4]"),
             Contains("-s 32m") && Contains("--shared-file --interleaved"));
  CHECK(Ours("elbencho -w -t 1 -s 16m -b 1m --nopathexp /mnt/a/f[1-4]") ==
        "--path /mnt/a --op write -r 1m -s 16m -t 1");
  // Only lists of numbers are expanded; braces are the shell's.
  CHECK_THAT(Ours("elbencho -w -t 1 -s 16m -b 1m '/mnt/a/f[a,b]{1,2}'"), Contains("-s 16m"));
  CHECK_THAT(Differences("elbencho -w -t 1 -s 16m -b 1m /mnt/a/f{1,2}"), Contains("a shell would expand {…}"));
  CHECK_THAT(Ours("elbencho -w -t 1 -s 16m -b 1m '/mnt/[1-2]/f[1-2]'"),
             Contains("--path /mnt/1 --path /mnt/2 --op write"));
  CHECK_THAT(Ours("elbencho -w -s 16m /mnt/a/f[1-4000000000]"), Contains("over 100000 paths"));
  CHECK_THAT(Ours("elbencho -w -s 16m /mnt/a/f[1-9000][,]"), Contains("[,] has no number"));
  CHECK_THAT(Ours("elbencho --hosts a,b,c,d -w -t 4611686018427387904 -s 16m /mnt/a/f"), Contains("over 1000000 threads"));
  CHECK_THAT(Ours("elbencho -w -s 16m /mnt/a/f[1-2-3]"), Contains("\"1-2-3\" is no range of numbers"));
}

TEST_CASE("elbencho's hosts share the files, unless each has its own", "[translate]") {
  CHECK_THAT(Ours("elbencho --hosts n[1-2,4],m -w -t 2 -s 16m -b 1m /mnt/a/f"), Contains("-s 2m --shared-file -t 2"));
  CHECK_THAT(Ours("elbencho --hosts n1,n2 --nosvcshare -w -t 2 -s 16m -b 1m /mnt/a/f"),
             Contains("-s 8m --shared-file"));
  CHECK_THAT(Differences("elbencho --hostsfile h -w -t 2 -s 16m /mnt/a/f"),
             Contains("divide it by the number of hosts"));
}

TEST_CASE("elbencho's directories are -n of each lane, and its files -N in each", "[translate]") {
  const auto lines = [](const std::string& line) {
    const auto translation = TranslateWords({line});
    REQUIRE(translation.ok());
    std::vector<std::string> ours;
    for (const TranslatedCommand& command : translation->commands) {
      CHECK(RefusalOfOurs(command.options) == "");
      ours.push_back(ShellCommand(AfterProgram(command.Words())));
    }
    return ours;
  };
  const std::string files = "--items 200 --tree-depth 1 --tree-branching 10 -t 2";
  CHECK(lines("elbencho -d -t 2 -n 10 -N 20 /mnt/a") ==
        std::vector<std::string>{"--path /mnt/a --op mkdir --items 10 -t 2"});
  CHECK(lines("elbencho -d -w --stat -F -D -t 2 -n 10 -N 20 /mnt/a") ==
        std::vector<std::string>{"--path /mnt/a --op mkdir,rmdir --items 10 -t 2",
                                 "--path /mnt/a --op create,stat,unlink " + files});
  CHECK(lines("elbencho -F -D -t 2 -n 10 -N 20 /mnt/a") ==
        std::vector<std::string>{"--path /mnt/a --op unlink " + files, "--path /mnt/a --op rmdir --items 10 -t 2"});
  CHECK(lines("elbencho -d -w -t 2 -n 10 -N 20 -s 4m -b 1m --direct /mnt/a") ==
        std::vector<std::string>{"--path /mnt/a --op mkdir --items 10 -t 2",
                                 "--path /mnt/a --op write -r 1m -s 800m -I --files-per-lane 200 -t 2"});
  // Without directories (-n 0) there are none to make.
  CHECK(lines("elbencho -d -w -t 2 -n 0 -N 20 /mnt/a") ==
        std::vector<std::string>{"--path /mnt/a --op create --items 20 -t 2"});
  // What our operations on names do not have.
  CHECK(
      lines(
          "elbencho -w -r -n 1 -N 5 -s 4k --direct --verify 1 --dropcache --fadv rand --infloop --timelimit 5 /mnt/a")
          .size() == 1);
  CHECK_THAT(Differences("elbencho -w -n 1 -N 5 -s 4k --direct /mnt/a"), Contains("--direct: left out"));
}

TEST_CASE("a typical line of letters that becomes two lines here is still known as the tool's", "[translate]") {
  const std::vector<std::string> words = {"-d", "-w", "-t", "2", "-n", "3", "-N", "10", "-s", "4k", "/mnt/a"};
  const auto meant = LineOfLetters(words);
  REQUIRE(meant.has_value());
  CHECK(meant->tool->name == "elbencho");
  CHECK(meant->words.empty());
}

TEST_CASE("mdtest's directories are as many as its items, and are not examined", "[translate]") {
  CHECK(Ours("mdtest -D -n 1000 -u -d /mnt/a") == "--path /mnt/a --op mkdir,rmdir --items 1000 -t 1");
  CHECK_THAT(
      Differences("mdtest -D -n 1000 -u -d /mnt/a"),
      Contains(
          "-D: left out: mdtest's stat and rename of directories; mkdir and rmdir make and remove as many"));
  CHECK_THAT(Ours("mdtest -n 1000 -d /mnt/a"),
             Contains("--op mkdir,rmdir,create,stat,open-close,unlink --items 1000"));
  CHECK_THAT(Differences("mdtest -n 1000 -d /mnt/a"),
             Contains("all: left out: mdtest's stat and rename of directories"));
  CHECK_THAT(Differences("mdtest -T -n 1000 -d /mnt/a"), Contains("left out: mdtest's stat of directories"));
  for (const char* const line :
       {"mdtest -F -n 1000 -d /mnt/a", "mdtest -D -C -n 1000 -d /mnt/a", "mdtest -C -r -n 9 -d /mnt/a"})
    CHECK(Differences(line) == "");
  CHECK_THAT(Ours("mdtest -D -T -n 1000 -d /mnt/a"), Contains("not examined or renamed"));
  CHECK_THAT(Ours("mdtest -U -n 1000 -d /mnt/a"), Contains("--op rename --items"));
  CHECK_THAT(Ours("mdtest -R --random-seed=7 -n 9 -d /mnt/a"), Contains("--random-order --seed 7"));
}

TEST_CASE("mdtest has items in all directories of a tree, or with -L in the lowest ones", "[translate]") {
  // 1 + 3 + 9 directories.
  CHECK_THAT(Ours("mdtest -F -I 10 -z 2 -b 3 -d /mnt/a"), Contains("--items 130 --tree-depth 2 --tree-branching 3"));
  CHECK_THAT(Differences("mdtest -F -I 10 -z 2 -b 3 -d /mnt/a"), Contains("-z: items are in the lowest directories"));
  CHECK_THAT(Ours("mdtest -F -L -I 10 -z 2 -b 3 -d /mnt/a"), Contains("--items 90 "));
  CHECK(Differences("mdtest -F -L -I 10 -z 2 -b 3 -d /mnt/a") == "");
  // 7 in each.
  CHECK_THAT(Ours("mdtest -F -n 100 -z 2 -b 3 -d /mnt/a"), Contains("--items 91 "));
  CHECK_THAT(Differences("mdtest -F -n 100 -z 2 -b 3 -d /mnt/a"),
             Contains("-n: mdtest makes the same number of items in each directory, here 91 in all"));
}

TEST_CASE("IOR's directives are its options of the same name", "[translate]") {
  CHECK_THAT(Ours("ior -w -b 1g -t 1m -o /mnt/f -O fileperproc=1,useO_DIRECT=1 -O REPETITIONS=3"),
             Contains("--repeat 3") && Contains("-I") && !Contains("--shared-file"));
  CHECK_THAT(Ours("ior -w -b 1g -t 1m -o /mnt/f -O useO_DIRECT=0,fsync=0"), !Contains("-I") && !Contains(" -e"));
  CHECK_THAT(Ours("ior -w -b 1g -t 1m -o /mnt/f -O api=MMAP"), Contains("--engine mmap"));
  CHECK_THAT(Ours("ior -w -D 30 -b 1g -t 1m -o /mnt/f -O stoneWallingWearOut=1"),
             Contains("--deadline 30 --wear-out"));
  CHECK_THAT(Differences("ior -w -b 1g -t 1m -o /mnt/f -O frobnicate=1"), Contains("-O frobnicate: not known here"));
  CHECK_THAT(Ours("ior -w -b 1g -t 1m -o /mnt/f -O gpuDirect=1"), Contains("memory of GPUs"));
  CHECK_THAT(Ours("ior -a AIO -w -b 1g -t 1m -o /mnt/f --aio.max-pending=32"), Contains("--engine uring --depth 32"));
  CHECK_THAT(Ours("ior -a AIO -w -b 1g -t 1m -o /mnt/f"), Contains("--engine uring --depth 128"));
  CHECK_THAT(Ours("ior -w -b 1g -t 1m -o /mnt/f --posix.rangelocks"), Contains("--record-locks"));
}

TEST_CASE("smallfile's Y and N are values of the option before them", "[translate]") {
  const std::string line = "smallfile_cli.py --top /mnt/a --operation create --threads 2 --files 10 ";
  CHECK_THAT(Ours(line + "--same-dir Y"), Contains("--shared-directory"));
  CHECK_THAT(Ours(line + "--same-dir N"), !Contains("--shared-directory"));
  CHECK_THAT(Ours(line + "--stonewall Y"), !Contains(" --no-stonewall"));
  CHECK_THAT(Ours(line + "--stonewall N"), Contains(" --no-stonewall"));
}

TEST_CASE("no option that a tool has is called unknown", "[translate]") {
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(
           FileText(SourcePath("tests/unit/translate/options.txt")), '\n', absl::SkipEmpty()))) {
    if (line[0] == '#') continue;
    std::vector<std::string> names = absl::StrSplit(line, ' ');
    const ForeignTool* const tool = FindForeignTool(names.front());
    REQUIRE(tool != nullptr);
    names.erase(names.begin());
    for (const std::string& name : names) {
      INFO(std::string(tool->name) << " " << name);
      CHECK(FindForeignOption(*tool, name) != nullptr);
    }
  }
}

TEST_CASE("IOR's MPI-IO is ours under a launcher, and plain calls without one", "[translate]") {
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -c -b 1g -t 1m -w -o /mnt/f"),
             Contains("--engine mpiio") && Contains("--collective") && Contains("-t 1") &&
                 !Contains("--open-in-timing"));
  CHECK_THAT(Ours("mpirun -np 4 ior -a MPIIO -b 1m -t 64k -s 16 -V -w -o /mnt/f"),
             Contains("--engine mpiio") && Contains("--mpi-view") && Contains("--block 1m") &&
                 !Contains("--collective"));
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
