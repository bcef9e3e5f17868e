// mdtest: its options and command lines.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

// clang-format off
constexpr ForeignOption kMdtestRows[] = {
    {"n", "N", V::kNumber, B::kTogether, "--items", ""},
    {"I", "N", V::kNumber, B::kTogether, "--items N × directories", ""},
    {"z", "N", V::kNumber, B::kTogether, "--tree-depth", ""},
    {"b", "N", V::kNumber, B::kTogether, "--tree-branching", ""},
    {"d", "DIR", V::kText, B::kTogether, "--path; once for each of DIR@DIR", ""},
    {"u", "", V::kFlag, B::kTogether, "a tree per lane, the default; without -u: --shared-directory", ""},
    {"F", "", V::kFlag, B::kTogether, "--op create, stat, open-close, unlink", ""},
    {"D", "", V::kFlag, B::kTogether, "--op mkdir, rmdir", ""},
    {"C", "", V::kFlag, B::kTogether, "--op create, mkdir", ""},
    {"T", "", V::kFlag, B::kTogether, "--op stat", ""},
    {"E", "", V::kFlag, B::kTogether, "--op open-close: opens, reads and closes", ""},
    {"r", "", V::kFlag, B::kTogether, "--op unlink, rmdir", ""},
    {"U", "", V::kFlag, B::kTogether, "--op rename: files, not directories", ""},
    {"w", "BYTES", V::kSize, B::kTogether, "--file-bytes", ""},
    {"e", "BYTES", V::kSize, B::kTogether, "--file-bytes: open-close reads whole files", ""},
    {"i", "N", V::kNumber, B::kOption, "repeat", ""},
    {"N", "STRIDE", V::kNumber, B::kTogether, "--rotate-clients", ""},
    {"R random-seed", "", V::kFlag, B::kOption, "random-order", ""},
    {"p", "S", V::kSeconds, B::kOption, "rest", ""},
    {"W", "S", V::kSeconds, B::kTogether, "--deadline S --wear-out", ""},
    {"x", "FILE", V::kText, B::kNothing, "", "a later phase works on what was created"},
    {"L", "", V::kFlag, B::kLost, "", "items are in all directories of the tree, not only in its leaves"},
    {"y", "", V::kFlag, B::kLost, "", "files are not flushed one by one; a server that must flush them does so at close"},
    {"Y", "", V::kFlag, B::kLost, "", "there is no sync(2) between phases; each phase's own flush is timed"},
    {"S", "", V::kFlag, B::kLost, "", "each lane has items of its own, also in a shared directory"},
    {"c", "", V::kFlag, B::kLost, "", "each lane creates its own items"},
    {"t", "", V::kFlag, B::kNothing, "", "making trees is timed by itself"},
    {"k", "", V::kFlag, B::kLost, "", "files are created with open, not with mknod"},
    {"X verify-read verify-write", "", V::kFlag, B::kLost, "", "contents of small files are not checked; --verify checks records"},
    {"f", "N", V::kNumber, B::kLost, "", "run the command once for each number of ranks, and compare the runs"},
    {"l", "N", V::kNumber, B::kLost, "", "run the command once for each number of ranks, and compare the runs"},
    {"s", "N", V::kNumber, B::kLost, "", "run the command once for each number of ranks, and compare the runs"},
    {"a api", "NAME", V::kText, B::kTogether, "POSIX only", ""},
    {"B", "", V::kFlag, B::kNothing, "", "phases start at one instant, without barriers"},
    {"G", "N", V::kNumber, B::kOption, "seed", ""},
    {"v", "", V::kFlag, B::kNothing, "", "--verbose prints the whole report"},
    {"V", "N", V::kNumber, B::kNothing, "", "--verbose prints the whole report"},
    {"P", "", V::kFlag, B::kNothing, "", "rates and times are always reported"},
    {"Z", "", V::kFlag, B::kNothing, "", "rates and times are always reported"},
    {"print-all-procs showRankStatistics warningAsErrors", "", V::kFlag, B::kNothing, "", "clients.csv and --verbose have each worker"},
    {"saveRankPerformanceDetails savePerOpDataCSV dataPacketType", "…", V::kText, B::kNothing, "", "every run saves the figures of each lane"},
    {"run-cmd-before-phase", "COMMAND", V::kText, B::kOption, "before-phase", ""},
    {"run-cmd-after-phase", "COMMAND", V::kText, B::kOption, "after-phase", ""},
    {"gpuDirect", "", V::kFlag, B::kRefused, "", "memory of GPUs is not used"},
};
// clang-format on

// The directories of a tree: 1 + b + b² … for each level.
uint64_t MdtestDirectories(uint64_t depth, uint64_t branching) {
  uint64_t level = 1, all = 1;
  for (uint64_t i = 0; i < depth && all < (uint64_t{1} << 40); ++i) all += level *= branching;
  return all;
}

std::string MdtestOperations(const ForeignLine& line) {
  const bool all = !line.Has("C") && !line.Has("T") && !line.Has("E") && !line.Has("r");
  const bool files = line.Has("F") || !line.Has("D"), directories = line.Has("D") || !line.Has("F");
  std::string operations;
  const auto add = [&operations](bool wanted, const char* name) {
    if (wanted) absl::StrAppend(&operations, operations.empty() ? "" : ",", name);
  };
  add(directories && (all || line.Has("C")), "mkdir");
  add(directories && (all || line.Has("r")), "rmdir");
  add(files && (all || line.Has("C")), "create");
  add(files && (all || line.Has("T")), "stat");
  add(files && (all || line.Has("E")), "open-close");
  add(files && line.Has("U"), "rename");
  add(files && (all || line.Has("r")), "unlink");
  return operations;
}

absl::Status TranslateMdtest(const ForeignLine& line, Translation& into) {
  TranslatedCommand command;
  command.launcher = line.launcher();
  OurLine& ours = command.options;
  if (line.Has("a") && line.Text("a") != "POSIX")
    return absl::InvalidArgumentError(
        absl::StrCat("-a ", line.Text("a"), ": cluster-iobench calls file systems only (POSIX)"));
  const std::string directory = line.Has("d") ? line.Text("d") : ".";
  IOBENCH_RETURN_IF_ERROR(AddDirectory(directory.substr(0, directory.find('@')), ours));
  for (size_t at = directory.find('@'); at != std::string::npos; at = directory.find('@', at + 1))
    ours.AddAgain("path", directory.substr(at + 1, directory.find('@', at + 1) - at - 1));
  const std::string operations = MdtestOperations(line);
  if (operations.empty()) {
    return absl::InvalidArgumentError(
        "directories are made and removed here, not examined: leave out -D, or -T and -E");
  }
  ours.Add("op", operations);
  if (line.Has("D") && (line.Has("T") || !line.Has("C")))
    into.Say(
        "-D",
        "directories are made and removed (mkdir, rmdir), one per leaf of the tree; they are not examined by themselves");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t depth, line.Number("z", 0));
  if (depth > kMostLevels) return absl::InvalidArgumentError("-z: a tree has at most 20 levels here");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t branching, line.Number("b", 1));
  IOBENCH_ASSIGN_OR_RETURN(uint64_t items, line.Number("n", 0));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t per_directory, line.Number("I", 0));
  if (items == 0) items = per_directory * MdtestDirectories(depth, branching);
  if (items == 0) return absl::InvalidArgumentError("-n or -I must say how many items there are");
  ours.Add("items", absl::StrCat(items));
  if (depth > 0) ours.Add("tree-depth", absl::StrCat(depth));
  if (depth > 0) ours.Add("tree-branching", absl::StrCat(std::max<uint64_t>(branching, 1)));
  if (!line.Has("u")) ours.Add("shared-directory");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t written, line.Bytes("w", 1, 0));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t read, line.Bytes("e", 1, 0));
  if (std::max(written, read) > 0) ours.AddBytes("file-bytes", std::max(written, read));
  if (written > 0 && read > 0 && read != written) into.Say("-e", "open-close reads whole files");
  if (line.launcher().empty()) ours.Add("lanes", "1");
  const bool examines =
      operations.find("stat") != std::string::npos || operations.find("open-close") != std::string::npos;
  if (line.Has("N") && examines) ours.Add("rotate-clients");
  if (line.Has("N"))
    into.Say(
        "-N",
        "stat and open-close work on what the next client created; removing works on a lane's own items");
  IOBENCH_ASSIGN_OR_RETURN(const double deadline, line.Seconds("W", 0));
  if (deadline > 0) {
    ours.Add("deadline", ShortNumber(deadline));
    ours.Add("wear-out");
  }
  IOBENCH_RETURN_IF_ERROR(AddByTable(line, ours, into));
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kMdtestTool = {
    .name = "mdtest",
    .called = "mdtest",
    .dashes = ForeignDashes::kBoth,
    .options = kMdtestRows,
    .example = "mpirun -np 32 mdtest -n 1000 -F -u -w 3901 -e 3901 -N 1 -i 3 -d /mnt/nfs/md",
    .typical =
        [](const ForeignLine& line) {
          return line.words().empty() && (line.Has("n") || line.Has("I")) && line.Has("d");
        },
    .translate = TranslateMdtest,
};

}  // namespace iobench
