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
    {"D", "", V::kFlag, B::kTogether, "--op mkdir, rmdir: as many directories as items", ""},
    {"C", "", V::kFlag, B::kTogether, "--op mkdir, create", ""},
    {"T", "", V::kFlag, B::kTogether, "--op stat: files, not directories", ""},
    {"E", "", V::kFlag, B::kTogether, "--op open-close: opens, reads and closes", ""},
    {"r", "", V::kFlag, B::kTogether, "--op unlink, rmdir", ""},
    {"U", "", V::kFlag, B::kTogether, "--op rename, without -F: files in place of directories", ""},
    {"w", "BYTES", V::kSize, B::kTogether, "--file-bytes", ""},
    {"e", "BYTES", V::kSize, B::kTogether, "--file-bytes: open-close reads whole files", ""},
    {"i", "N", V::kNumber, B::kOption, "repeat", ""},
    {"N", "STRIDE", V::kNumber, B::kTogether, "--rotate-clients", ""},
    {"R", "", V::kFlag, B::kOption, "random-order", ""},
    {"random-seed", "N", V::kNumber, B::kTogether, "--random-order --seed N", ""},
    {"p", "S", V::kSeconds, B::kOption, "rest", ""},
    {"W", "S", V::kSeconds, B::kTogether, "--deadline S --wear-out", ""},
    {"x", "FILE", V::kText, B::kNothing, "", "a later phase works on what was created"},
    {"L", "", V::kFlag, B::kTogether, "the default: items are in the lowest directories of the tree", ""},
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
    {"B", "0|1", V::kNumber, B::kNothing, "", "phases start at one instant, without barriers"},
    {"G", "N", V::kNumber, B::kOption, "seed", ""},
    {"v", "", V::kFlag, B::kNothing, "", "--verbose prints the whole report"},
    {"V", "N", V::kNumber, B::kNothing, "", "--verbose prints the whole report"},
    {"P", "", V::kFlag, B::kNothing, "", "rates and times are always reported"},
    {"Z", "", V::kFlag, B::kNothing, "", "rates and times are always reported"},
    {"print-all-procs showRankStatistics warningAsErrors", "", V::kFlag, B::kNothing, "", "clients.csv and --verbose have each worker"},
    {"saveRankPerformanceDetails savePerOpDataCSV dataPacketType", "…", V::kText, B::kNothing, "", "every run saves the figures of each lane"},
    {"run-cmd-before-phase", "COMMAND", V::kText, B::kOption, "before-phase", ""},
    {"run-cmd-after-phase", "COMMAND", V::kText, B::kOption, "after-phase", ""},
    {"g", "", V::kFlag, B::kLost, "", "directories have the layout of the one above them"},
    {"posix.odirect posix.rangelocks", "", V::kFlag, B::kLost, "", "files of a tree are opened without it"},
    {"allocateBufferOnGPU GPUid", "N", V::kNumber, B::kRefused, "", "memory of GPUs is not used"},
    {"gpuDirect", "", V::kFlag, B::kRefused, "", "memory of GPUs is not used"},
};
// clang-format on

// The directories of a tree that have items: 1 + b + b² … for each level; with -L those of the last level.
uint64_t MdtestDirectories(uint64_t depth, uint64_t branching, bool leaves_only) {
  uint64_t level = 1, all = 1;
  for (uint64_t i = 0; i < depth && all < (uint64_t{1} << 40); ++i) all += level *= branching;
  return std::max<uint64_t>(leaves_only ? level : all, 1);
}

// True if no phase is selected, so that all run.
bool MdtestHasAllPhases(const ForeignLine& line) {
  return !line.Has("C") && !line.Has("T") && !line.Has("E") && !line.Has("r") && !line.Has("U");
}

std::string MdtestOperations(const ForeignLine& line) {
  const bool all = MdtestHasAllPhases(line);
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
  add(files && directories && line.Has("U"), "rename");
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
        "directories are made and removed here, not examined or renamed: leave out -D, or -T, -E and -U");
  }
  ours.Add("op", operations);
  // The phases of directories that are left out. In one, mdtest measures nothing (directory read).
  const bool directories = line.Has("D") || !line.Has("F");
  const bool stats = directories && (MdtestHasAllPhases(line) || line.Has("T"));
  const bool renames = directories && (MdtestHasAllPhases(line) || line.Has("U"));
  if (stats || renames) {
    into.Say(line.Has("D") ? "-D" : "all",
             absl::StrCat("left out: mdtest's ", stats && renames ? "stat and rename" : stats ? "stat" : "rename",
                          " of directories; mkdir and rmdir make and remove as many directories as there are items"));
  }
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t depth, line.Number("z", 0));
  if (depth > kMostLevels) return absl::InvalidArgumentError("-z: a tree has at most 20 levels here");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t branching, line.Number("b", 1));
  IOBENCH_ASSIGN_OR_RETURN(uint64_t items, line.Number("n", 0));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t per_directory, line.Number("I", 0));
  const uint64_t places = MdtestDirectories(depth, branching, line.Has("L"));
  if (items == 0) {
    items = per_directory * places;
  } else if (per_directory == 0 && items > places && items % places != 0) {
    into.Say("-n", absl::StrCat("mdtest makes the same number of items in each directory, here ",
                                items / places * places, " in all"));
    items = items / places * places;
  }
  if (items == 0) return absl::InvalidArgumentError("-n or -I must say how many items there are");
  ours.Add("items", absl::StrCat(items));
  if (depth > 0 && !line.Has("L"))
    into.Say("-z", "items are in the lowest directories of the tree, as with -L; mdtest has them in all directories");
  if (depth > 0) ours.Add("tree-depth", absl::StrCat(depth));
  if (depth > 0) ours.Add("tree-branching", absl::StrCat(std::max<uint64_t>(branching, 1)));
  if (!line.Has("u")) ours.Add("shared-directory");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t written, line.Bytes("w", 1, 0));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t read, line.Bytes("e", 1, 0));
  if (std::max(written, read) > 0) ours.AddBytes("file-bytes", std::max(written, read));
  if (written > 0 && read > 0 && read != written) into.Say("-e", "open-close reads whole files");
  if (line.Has("random-seed")) {
    ours.Add("random-order");
    ours.Add("seed", line.Text("random-seed"));
  }
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
