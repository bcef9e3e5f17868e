// IOR: its options and command lines.
#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

// clang-format off
constexpr ForeignOption kIorRows[] = {
    {"a api", "NAME", V::kText, B::kTogether, "--engine: posix, mpiio for MPIIO under an MPI launcher, mmap for MMAP, uring for AIO", ""},
    {"b blockSize", "SIZE", V::kSize, B::kTogether, "-s SIZE × segments", ""},
    {"t transferSize", "SIZE", V::kSize, B::kTogether, "-r", ""},
    {"s segmentCount", "N", V::kNumber, B::kTogether, "-s SIZE × N; --interleaved, with --block of IOR's blockSize", ""},
    {"F filePerProc", "", V::kFlag, B::kTogether, "a file per lane, the default; without -F: --shared-file", ""},
    {"o testFile", "FILE", V::kText, B::kTogether, "--path with its directory", "its directory is tested; your own file is never touched"},
    {"w writeFile", "", V::kFlag, B::kTogether, "--op write", ""},
    {"r readFile", "", V::kFlag, B::kTogether, "--op read", ""},
    {"W checkWrite", "", V::kFlag, B::kTogether, "--verify, and a read", ""},
    {"R checkRead", "", V::kFlag, B::kTogether, "--verify", "data are checked outside the op's time; IOR checks within the timed region"},
    {"C reorderTasks reorderTasksConstant", "", V::kFlag, B::kTogether, "--rotate-clients, for reads", ""},
    {"Z reorderTasksRandom", "", V::kFlag, B::kTogether, "--rotate-clients, for reads", "each worker reads what the next client wrote, not a random one"},
    {"Q taskPerNodeOffset", "N", V::kNumber, B::kNothing, "", "--rotate-clients always reaches another client, if there is one"},
    {"X reorderTasksRandomSeed", "N", V::kNumber, B::kLost, "", "the order of clients is fixed; --seed N repeats random orders"},
    {"e fsync", "", V::kFlag, B::kTogether, "-e, if something is written", ""},
    {"Y fsyncPerWrite", "", V::kFlag, B::kTogether, "-o, with MPIIO --fsync-every 1, if something is written", ""},
    {"i repetitions", "N", V::kNumber, B::kOption, "repeat", ""},
    {"k keepFile", "", V::kFlag, B::kOption, "keep", ""},
    {"K keepFileWithError", "", V::kFlag, B::kNothing, "", "data in which verification found an error are kept"},
    {"d interTestDelay", "S", V::kSeconds, B::kOption, "rest", ""},
    {"D deadlineForStonewalling", "S", V::kSeconds, B::kTogether, "--deadline, and --wear-out with stoneWallingWearOut", ""},
    {"T maxTimeDuration", "MIN", V::kNumber, B::kTogether, "--max-duration", ""},
    {"z randomOffset", "", V::kFlag, B::kTogether, "--op random-write, random-read", ""},
    {"random-offset-seed", "N", V::kNumber, B::kOption, "seed", ""},
    {"randomPrefill", "SIZE", V::kSize, B::kLost, "", "a file for random ops is written first, untimed, in records of -r"},
    {"E useExistingTestFile", "", V::kFlag, B::kTogether, "--op rewrite instead of write", ""},
    {"g intraTestBarriers", "", V::kFlag, B::kNothing, "", "all lanes start at one instant; open, ops, fsync and close are always timed apart"},
    {"m multiFile", "", V::kFlag, B::kNothing, "", "each repetition writes new files"},
    {"u uniqueDir", "", V::kFlag, B::kNothing, "", "each lane has names of its own"},
    {"N numTasks", "N", V::kNumber, B::kTogether, "--spawn N, without mpirun", ""},
    {"M memoryPerNode", "SIZE|PCT%", V::kText, B::kTogether, "--eat-memory PCT", ""},
    {"O", "NAME=VALUE", V::kText, B::kTogether, "as the option of this name; stoneWallingWearOut: --wear-out; minTimeDuration: --time", ""},
    {"stoneWallingWearOut minTimeDuration lustreStripeCount lustreStripeSize", "N", V::kText, B::kTogether, "with -O: --wear-out, --time, --stripe", ""},
    {"stoneWallingStatusFile stoneWallingWearOutIterations", "…", V::kText, B::kNothing, "", "a later phase reads what an earlier one wrote"},
    {"summaryFile summaryFormat saveRankPerformanceDetailsCSV savePerOpDataCSV summaryAlways", "…", V::kText, B::kNothing, "", "every run saves all results, those of each lane too; --out DIR names the directory"},
    {"debug platform numNodes numTasksOnNode0", "…", V::kText, B::kNothing, "", "of no effect on what is measured"},
    {"interIODelay", "US", V::kNumber, B::kLost, "", "--think MS computes before each op"},
    {"memoryPerTask", "SIZE", V::kText, B::kLost, "", "--eat-memory takes a percentage of each client's memory"},
    {"B useO_DIRECT posix.odirect", "", V::kFlag, B::kTogether, "-I; not with MPIIO", ""},
    {"posix.rangelocks", "", V::kFlag, B::kTogether, "--record-locks, with POSIX", ""},
    {"lustre.stripecount posix.lustre.stripecount", "N", V::kNumber, B::kTogether, "--stripe N:SIZE", ""},
    {"lustre.stripesize posix.lustre.stripesize", "SIZE", V::kSize, B::kTogether, "--stripe N:SIZE", ""},
    {"posix.lustre.startost posix.lustre.pool", "…", V::kText, B::kLost, "", "--stripe sets count and size; set the rest on the directory, with lfs setstripe"},
    {"posix.beegfs.NumTargets posix.beegfs.ChunkSize", "N", V::kText, B::kLost, "", "set it on the directory, with beegfs-ctl --setpattern"},
    {"posix.gpfs.releasetoken", "N", V::kNumber, B::kLost, "", "there are no hints for GPFS"},
    {"posix.lustre.ignorelocks posix.gpfs.hintaccess posix.gpfs.finegrainwritesharing posix.gpfs.finegrainreadsharing posix.gpfs.createsharing", "", V::kFlag, B::kLost, "", "there are no hints for Lustre and GPFS"},
    {"p preallocate mpiio.preallocate", "", V::kFlag, B::kTogether, "--preallocate, for writes; not with MPIIO", ""},
    {"c collective", "", V::kFlag, B::kTogether, "--collective, with MPIIO and without -F", ""},
    {"V useFileView mpiio.useFileView", "", V::kFlag, B::kTogether, "--mpi-view, with MPIIO and several segments", ""},
    {"x singleXferAttempt", "", V::kFlag, B::kLost, "", "a short read or write is an error or counts as what it moved"},
    {"y dualMount", "", V::kFlag, B::kLost, "", "give both mounts with --path A --path B"},
    {"l dataPacketType", "KIND", V::kText, B::kNothing, "", "data are incompressible; --data and --compress change that"},
    {"G setTimeStampSignature incompressibleSeed", "N", V::kNumber, B::kOption, "seed", ""},
    {"j outlierThreshold", "S", V::kNumber, B::kNothing, "", "stragglers are always listed"},
    {"v verbose", "", V::kFlag, B::kNothing, "", "--verbose prints the whole report"},
    {"q quitOnError", "", V::kFlag, B::kNothing, "", "an error ends the lane, unless --max-errors N is given"},
    {"U hintsFileName mpiio.hintsFileName", "FILE", V::kText, B::kLost, "", "give each hint with --mpi-hint KEY=VALUE"},
    {"H showHints mpiio.showHints", "", V::kFlag, B::kNothing, "", "the report shows the hints in effect"},
    {"n noFill S useStridedDatatype mpiio.useStridedDatatype P useSharedFilePointer", "", V::kFlag, B::kNothing, "", "of MPI-IO and HDF5 only"},
    {"A refNum", "N", V::kNumber, B::kNothing, "", "--label TEXT is shown in reports"},
    {"J setAlignment", "SIZE", V::kText, B::kNothing, "", "of HDF5 only"},
    {"f scriptFile", "FILE", V::kText, B::kRefused, "", "write the options of the script's tests as command lines"},
    {"warningAsErrors dryRun", "", V::kFlag, B::kNothing, "", "--dry-run shows what each worker would do"},
    {"libnfs.url", "URL", V::kText, B::kRefused, "", "write --engine libnfs --path nfs://HOST/PATH"},
    {"aio.max-pending", "N", V::kNumber, B::kTogether, "--depth N, with AIO", ""},
    {"aio.granularity", "N", V::kNumber, B::kLost, "", "the queue is kept full, op by op"},
    {"mmap.madv_dont_need mmap.madv_pattern", "", V::kFlag, B::kLost, "", "--mmap --mmap-advice gives one advice"},
    {"allocateBufferOnGPU GPUid", "N", V::kNumber, B::kRefused, "", "memory of GPUs is not used"},
    {"gpuDirect", "", V::kFlag, B::kRefused, "", "memory of GPUs is not used"},
};
// clang-format on

// The line with its directives (-O NAME=VALUE,…) as options: IOR takes their names in any case.
ForeignLine WithIorDirectives(const ForeignLine& line) {
  ForeignLine all = line;
  for (const std::string& each : line.Texts("O")) {
    for (const std::string& one : std::vector<std::string>(absl::StrSplit(each, ',', absl::SkipEmpty()))) {
      const std::pair<std::string, std::string> sides = absl::StrSplit(one, absl::MaxSplits('=', 1));
      const ForeignOption* option = nullptr;
      for (const ForeignOption& row : kIorRows) {
        for (const std::string& name : std::vector<std::string>(absl::StrSplit(std::string(row.names), ' '))) {
          if (name.size() > 1 && absl::EqualsIgnoreCase(name, sides.first)) option = &row;
        }
      }
      const bool is_flag = option != nullptr && option->value == V::kFlag;
      if (is_flag && !IsOn(sides.second)) continue;
      all.Add({option, absl::StrCat("-O ", sides.first), is_flag ? "" : sides.second});
    }
  }
  return all;
}

// The value of a directive that is no option; empty: not given.
std::string IorDirective(const ForeignLine& line, std::string_view name) {
  std::string value;
  for (const ForeignGiven& given : line.given()) {
    if (given.typed.starts_with("-O ") && absl::EqualsIgnoreCase(given.typed.substr(3), std::string(name)))
      value = given.value.empty() ? "1" : given.value;
  }
  return value;
}

std::string IorApi(const ForeignLine& line) {
  return absl::AsciiStrToUpper(line.Has("a") ? line.Text("a") : "POSIX");
}

// Only ranks have MPI-IO.
bool UsesMpiIo(const ForeignLine& line) {
  return IorApi(line) == "MPIIO" && !line.launcher().empty();
}
bool IsCollective(const ForeignLine& line) {
  return UsesMpiIo(line) && line.Has("c") && !line.Has("F");
}

absl::Status IorEngine(const ForeignLine& line, Translation& into, OurLine& ours) {
  const std::string api = IorApi(line);
  if (api == "POSIX" && line.Has("posix.rangelocks")) ours.Add("record-locks");
  if (api == "POSIX") return absl::OkStatus();
  if (UsesMpiIo(line)) {
    ours.Add("engine", "mpiio");
    if (IsCollective(line)) {
      ours.Add("collective");
      ours.Add("lanes", "1");
    }
    if (line.Has("V") && ours.Has("interleaved")) ours.Add("mpi-view");
  } else if (api == "MPIIO") {
    into.Say("-a", "plain calls, since only ranks have MPI-IO: start both under mpirun for --engine mpiio");
  } else if (api == "MMAP") {
    ours.Add("engine", "mmap");
  } else if (api == "AIO") {
    ours.Add("engine", "uring");
    ours.Add("depth", line.Has("aio.max-pending") ? line.Text("aio.max-pending") : "128");
    into.Say(
        "-a",
        "io_uring in place of Linux AIO, with as many ops in flight (aio.max-pending, 128 if it is not given)");
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("-a ", api, ": cluster-iobench calls file systems only (POSIX, MPIIO, MMAP, AIO)"));
  }
  return absl::OkStatus();
}

absl::Status IorSizes(const ForeignLine& line, OurLine& ours) {
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t transfer, line.Bytes("t", 1, 256_KiB));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t block, line.Bytes("b", 1, 1_MiB));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t segments, line.Number("s", 1));
  if (transfer == 0 || block == 0 || segments == 0) return absl::InvalidArgumentError("a size of 0");
  ours.AddBytes("record", transfer);
  ours.AddBytes("size", block * segments);
  if (line.Has("F")) return absl::OkStatus();
  ours.Add("shared-file");
  if (segments == 1) return absl::OkStatus();  // one extent for each lane
  if (block % transfer != 0) return absl::InvalidArgumentError("-b is not a multiple of -t, which IOR asks for, too");
  ours.Add("interleaved");
  if (block > transfer) ours.AddBytes("block", block);
  return absl::OkStatus();
}

void IorOperations(const ForeignLine& line, OurLine& ours) {
  const bool checks_only = line.Has("W") || line.Has("R");
  const bool neither = !line.Has("w") && !line.Has("r") && !checks_only;
  const bool random = line.Has("z");
  std::string operations;
  const auto add = [&operations](std::string_view name) {
    absl::StrAppend(&operations, operations.empty() ? "" : ",", std::string(name));
  };
  if (line.Has("w") || neither) add(random ? "random-write" : line.Has("E") ? "rewrite" : "write");
  if (line.Has("r") || neither || checks_only) add(random ? "random-read" : "read");
  ours.Add("op", operations);
}

void AddIorTiming(const ForeignLine& line, Translation& into, OurLine& ours) {
  ours.Add("close-in-timing");
  if (IsCollective(line)) {
    into.Say(
        "all",
        "IOR's rates include open and close, so -c is given; the ranks open the file before the start, and every "
        "part is timed by itself, too");
    return;
  }
  ours.Add("open-in-timing");
  into.Say(
      "all",
      "IOR's rates include open and close, so --open-in-timing and -c are given; every part is timed by itself, too");
}

// What MPI-IO has no call for.
void AddIorFileOptions(const ForeignLine& line, Translation& into, OurLine& ours) {
  const bool preallocates = line.Has("p") && !line.Has("z") && absl::StrContains(ours.Text("op"), "write");
  const bool direct = line.Has("B");
  if (UsesMpiIo(line)) {
    if (preallocates) into.Say("-p", "MPI-IO's files are not preallocated");
    if (direct) into.Say("-B", "ROMIO has --mpi-hint direct_read=true and direct_write=true");
    return;
  }
  if (preallocates) ours.Add("preallocate");
  if (direct) ours.Add("direct");
}

absl::Status TranslateIor(const ForeignLine& typed, Translation& into) {
  const ForeignLine line = WithIorDirectives(typed);
  TranslatedCommand command;
  command.launcher = line.launcher();
  OurLine& ours = command.options;
  if (line.Has("o")) {
    const std::string file = line.Text("o");
    IOBENCH_RETURN_IF_ERROR(AddDirectoryOf(file.substr(0, file.find('@')), ours));
  } else {
    IOBENCH_RETURN_IF_ERROR(AddDirectory(".", ours));
  }
  IorOperations(line, ours);
  const bool reads = absl::StrContains(ours.Text("op"), "read"),
             writes = absl::StrContains(ours.Text("op"), "write");
  IOBENCH_RETURN_IF_ERROR(IorSizes(line, ours));
  IOBENCH_RETURN_IF_ERROR(IorEngine(line, into, ours));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t tasks, line.Number("N", 0));
  if (line.launcher().empty()) ours.Add("lanes", "1");
  if (line.launcher().empty() && tasks > 1) ours.Add("spawn", absl::StrCat(tasks));
  AddIorTiming(line, into, ours);
  if (writes && line.Has("e")) ours.Add("fsync-in-timing");
  if (writes && line.Has("Y")) UsesMpiIo(line) ? ours.Add("fsync-every", "1") : ours.Add("sync");
  AddIorFileOptions(line, into, ours);
  if (reads && (line.Has("C") || line.Has("Z"))) ours.Add("rotate-clients");
  if (line.Has("W") || line.Has("R")) ours.Add("verify");
  IOBENCH_ASSIGN_OR_RETURN(const double deadline, line.Seconds("D", 0));
  const std::string wear_out = IorDirective(line, "stonewallingwearout"),
                    least = IorDirective(line, "mintimeduration");
  if (deadline > 0) ours.Add("deadline", ShortNumber(deadline));
  if (deadline > 0 && !wear_out.empty() && IsOn(wear_out)) {
    IsCollective(line) ? into.Say("-O", "with --collective, all ranks do the same number of ops anyway")
                       : ours.Add("wear-out");
  }
  if (!least.empty() && IsOn(least)) ours.Add("time", least);
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t minutes, line.Number("T", 0));
  if (minutes > 0) ours.Add("max-duration", absl::StrCat(minutes * 60));
  if (const std::string memory = line.Text("M"); memory.ends_with('%')) {
    ours.Add("eat-memory", memory.substr(0, memory.size() - 1));
  } else if (!memory.empty()) {
    into.Say("-M", "--eat-memory takes a percentage of each client's memory");
  }
  const std::string stripes = line.Has("lustre.stripecount") ? line.Text("lustre.stripecount")
                                                             : IorDirective(line, "lustrestripecount");
  const std::string unit =
      line.Has("lustre.stripesize") ? line.Text("lustre.stripesize") : IorDirective(line, "lustrestripesize");
  if (!stripes.empty())
    ours.Add("stripe", absl::StrCat(stripes, unit.empty() ? "" : absl::StrCat(":", unit)));
  IOBENCH_RETURN_IF_ERROR(AddByTable(line, ours, into));
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kIorTool = {
    .name = "IOR",
    .called = "ior ior-posix ior.exe",
    .dashes = ForeignDashes::kBoth,
    .options = kIorRows,
    .example = "mpirun -np 32 ior -a POSIX -w -r -C -e -F -b 4g -t 1m -i 3 -o /mnt/nfs/testfile",
    .typical =
        [](const ForeignLine& line) {
          return line.words().empty() && (line.Has("o") || (line.Has("b") && line.Has("t")));
        },
    .translate = TranslateIor,
};

}  // namespace iobench
