// elbencho: its options and command lines.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/translate/foreign_tool.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

using B = Becomes;
using V = ForeignValue;

// clang-format off
constexpr ForeignOption kElbenchoRows[] = {
    {"threads t", "N", V::kNumber, B::kTogether, "-t", ""},
    {"size s", "SIZE", V::kSize, B::kTogether, "-s; --file-bytes for many small files", ""},
    {"block b", "SIZE", V::kSize, B::kTogether, "-r", ""},
    {"files N", "N", V::kNumber, B::kTogether, "--items, --files-per-lane", ""},
    {"dirs n", "N", V::kNumber, B::kTogether, "--tree-branching", ""},
    {"write w", "", V::kYesNo, B::kTogether, "--op write, create", ""},
    {"read r", "", V::kYesNo, B::kTogether, "--op read, open-close", ""},
    {"mkdirs d", "", V::kYesNo, B::kTogether, "--op mkdir", ""},
    {"stat", "", V::kYesNo, B::kTogether, "--op stat", ""},
    {"delfiles F", "", V::kYesNo, B::kTogether, "--op unlink", ""},
    {"deldirs D", "", V::kYesNo, B::kTogether, "--op rmdir", ""},
    {"rand", "", V::kYesNo, B::kTogether, "--op random-read, random-write", ""},
    {"backward", "", V::kYesNo, B::kTogether, "--op backward-read", ""},
    {"strided", "", V::kYesNo, B::kTogether, "--interleaved, with --shared-file", ""},
    {"direct", "", V::kYesNo, B::kOption, "direct", ""},
    {"iodepth", "N", V::kNumber, B::kTogether, "--engine uring --depth", "io_uring in place of Linux AIO, with the same depth"},
    {"mmap", "", V::kYesNo, B::kOption, "mmap", ""},
    {"timelimit", "S", V::kSeconds, B::kTogether, "--deadline; --time with --infloop", "the next phase runs all the same; elbencho ends there"},
    {"infloop", "", V::kYesNo, B::kTogether, "--time", ""},
    {"iterations i", "N", V::kNumber, B::kOption, "repeat", ""},
    {"sync", "", V::kYesNo, B::kTogether, "-e, if something is written", "the flush is part of each write phase's time; elbencho shows it as a phase of its own"},
    {"dropcache", "", V::kYesNo, B::kTogether, "--drop-caches, for reads", ""},
    {"hosts", "LIST", V::kText, B::kTogether, "--hosts: over ssh, without services", "workers are started over ssh; no service needs to run"},
    {"hostsfile", "FILE", V::kText, B::kTogether, "--hosts @FILE", "workers are started over ssh; no service needs to run"},
    {"numhosts", "N", V::kNumber, B::kLost, "", "write as many hosts into --hosts"},
    {"rotatehosts", "N", V::kNumber, B::kTogether, "--rotate-clients, for reads", ""},
    {"nosvcshare", "", V::kYesNo, B::kNothing, "", "each lane has data of its own"},
    {"rwmixpct", "PCT", V::kNumber, B::kTogether, "--mix-percent, with --op random-mix or sequential-mix", ""},
    {"rwmixthr", "N", V::kNumber, B::kTogether, "--reader-lanes, with --op sequential-mix", ""},
    {"rwmixthrpct", "PCT", V::kNumber, B::kLost, "", "lanes are not balanced against each other"},
    {"limitread", "SIZE", V::kSize, B::kTogether, "--ops-per-second SIZE / block", ""},
    {"limitwrite", "SIZE", V::kSize, B::kTogether, "--ops-per-second SIZE / block", ""},
    {"randamount", "SIZE", V::kSize, B::kTogether, "--max-ops, per lane", ""},
    {"randalgo norandalign", "…", V::kText, B::kNothing, "", "records are whole, and each is visited once per pass"},
    {"verify", "SALT", V::kNumber, B::kOption, "verify", ""},
    {"verifydirect readinline statinline", "", V::kYesNo, B::kLost, "", "data are checked when they are read; give --op read, too"},
    {"blockvarpct", "PCT", V::kNumber, B::kTogether, "--data zero for 0", ""},
    {"blockvaralgo", "NAME", V::kText, B::kNothing, "", "data are new and incompressible"},
    {"fadv", "FLAGS", V::kText, B::kTogether, "--fadvise", ""},
    {"madv", "FLAGS", V::kText, B::kLost, "", "--mmap-advice gives one advice"},
    {"flock", "range|full", V::kText, B::kTogether, "--record-locks for range, --file-lock for full", ""},
    {"preallocfile", "", V::kYesNo, B::kTogether, "--preallocate, for writes", ""},
    {"trunc trunctosize nodelerr nofdsharing nodiocheck no0usecerr", "", V::kYesNo, B::kNothing, "", "files are prepared before the clock starts"},
    {"dirsharing", "", V::kYesNo, B::kTogether, "--shared-directory", ""},
    {"cores", "LIST", V::kText, B::kOption, "bind=cores", ""},
    {"zones", "LIST", V::kText, B::kOption, "bind=numa", ""},
    {"phasedelay", "S", V::kSeconds, B::kOption, "rest", ""},
    {"label", "TEXT", V::kText, B::kOption, "label", ""},
    {"start", "T", V::kText, B::kNothing, "", "all lanes start at one instant"},
    {"rankoffset", "N", V::kNumber, B::kNothing, "", "names of lanes never collide"},
    {"resfile csvfile jsonfile livecsv", "FILE", V::kText, B::kNothing, "", "every run saves all results; --out DIR names the directory, --live-csv FILE appends during the run"},
    {"lat latpercent lathisto allelapsed cpu dirstats base10 nocsvlabels svcelapsed svcping livecsvex", "", V::kYesNo, B::kNothing, "", "latencies, times and processors are always reported"},
    {"latpercent9s", "N", V::kNumber, B::kNothing, "", "result.json has all percentiles"},
    {"nolive", "", V::kYesNo, B::kNothing, "", "there is no live view unless --live is given"},
    {"live1 live1n", "", V::kYesNo, B::kNothing, "", "one line shows the progress; --live shows more"},
    {"liveint svcupint svcwait log", "N", V::kNumber, B::kNothing, "", "of no effect on what is measured"},
    {"opslog", "FILE", V::kText, B::kLost, "", "-Q logs offset, latency and size of each op"},
    {"nopathexp", "", V::kYesNo, B::kNothing, "", "paths are taken as they are"},
    {"configfile c", "FILE", V::kText, B::kRefused, "", "write the file's options into the line"},
    {"treefile", "FILE", V::kText, B::kRefused, "", "trees are regular here: --items, --tree-depth, --tree-branching, --min-file-bytes"},
    {"service foreground quit interrupt", "", V::kYesNo, B::kRefused, "", "no service is needed: --hosts starts workers over ssh, and `cluster-iobench worker --stay` waits for runs"},
    {"port", "N", V::kNumber, B::kNothing, "", "--listen ADDR waits for workers at a port"},
    {"svcpwfile", "FILE", V::kText, B::kNothing, "", "workers need a token, which --hosts hands over"},
    {"netbench", "", V::kYesNo, B::kRefused, "", "cluster-iobench run --net-test --hosts LIST tests the network"},
    {"s3endpoints s3key s3secret s3region", "…", V::kText, B::kRefused, "", "object storage is not tested"},
    {"gpuids", "LIST", V::kText, B::kRefused, "", "memory of GPUs is not used"},
    {"gds cufile", "", V::kYesNo, B::kRefused, "", "memory of GPUs is not used"},
};
// clang-format on

void ElbenchoAddName(std::string& list, std::string_view name) {
  absl::StrAppend(&list, list.empty() ? "" : ",", std::string(name));
}

// Many files in directories: what is done to names.
absl::Status ElbenchoSmallFiles(const ForeignLine& line, uint64_t size, uint64_t directories, uint64_t files,
                                OurLine& ours) {
  std::string operations;
  for (const auto& [theirs, op] : {std::pair("mkdirs", "mkdir"),
                                   {"write", "create"},
                                   {"stat", "stat"},
                                   {"read", "open-close"},
                                   {"delfiles", "unlink"},
                                   {"deldirs", "rmdir"}}) {
    if (line.Has(theirs)) ElbenchoAddName(operations, op);
  }
  if (operations.empty()) return absl::InvalidArgumentError("it has no phase: -d, -w, -r, --stat, -F or -D");
  ours.Add("op", operations);
  ours.Add("items", absl::StrCat(std::max<uint64_t>(files * std::max<uint64_t>(directories, 1), 1)));
  if (directories > 0) {
    ours.Add("tree-depth", "1");
    ours.Add("tree-branching", absl::StrCat(directories));
  }
  if (size > 0) ours.AddBytes("file-bytes", size);
  if (line.Has("dirsharing")) ours.Add("shared-directory");
  return absl::OkStatus();
}

absl::Status ElbenchoLargeFiles(const ForeignLine& line, uint64_t block, uint64_t per_lane, Translation& into,
                                OurLine& ours) {
  const bool random = line.Has("rand");
  std::string operations;
  if (line.Has("write")) {
    ElbenchoAddName(operations, line.Has("rwmixpct")   ? (random ? "random-mix" : "sequential-mix")
                                : line.Has("rwmixthr") ? "sequential-mix"
                                : random               ? "random-write"
                                                       : "write");
  }
  if (line.Has("read"))
    ElbenchoAddName(operations, random ? "random-read" : line.Has("backward") ? "backward-read" : "read");
  if (operations.empty()) return absl::InvalidArgumentError("it neither writes (-w) nor reads (-r)");
  ours.Add("op", operations);
  if (line.Has("rwmixpct")) ours.Add("mix-percent", line.Text("rwmixpct"));
  if (line.Has("rwmixthr")) ours.Add("reader-lanes", line.Text("rwmixthr"));
  ours.AddBytes("record", block);
  if (per_lane > 0) ours.AddBytes("size", WholeRecords(per_lane, block));
  if (line.Has("randamount")) {
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t threads, line.Number("threads", 1));
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t amount, line.Bytes("randamount", 1, 0));
    ours.Add("max-ops", absl::StrCat(std::max<uint64_t>(amount / std::max<uint64_t>(threads, 1) / block, 1)));
  }
  const std::string limit = line.Has("limitwrite") ? "limitwrite" : "limitread";
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes_per_s, line.Bytes(limit, 1, 0));
  if (bytes_per_s > 0)
    ours.Add("ops-per-second", ShortNumber(static_cast<double>(bytes_per_s) / static_cast<double>(block)));
  if (operations == "write" && line.Has("preallocfile")) ours.Add("preallocate");
  if (line.Has("delfiles") || line.Has("deldirs") || line.Has("stat"))
    into.Say("-F, -D, --stat",
             "data are removed at the end, untimed; --op unlink, rmdir and stat time calls on names");
  return absl::OkStatus();
}

absl::Status ElbenchoPlace(const ForeignLine& line, bool is_directory, OurLine& ours) {
  if (line.words().empty()) return absl::InvalidArgumentError("it has no path");
  for (const std::string& path : line.words()) {
    OurLine one;
    IOBENCH_RETURN_IF_ERROR(is_directory ? AddDirectory(path, one) : AddDirectoryOf(path, one));
    if (one.Text("path") != ours.Text("path")) ours.AddAgain("path", one.Text("path"));
  }
  return absl::OkStatus();
}

absl::Status TranslateElbencho(const ForeignLine& line, Translation& into) {
  TranslatedCommand command;
  OurLine& ours = command.options;
  const bool is_directory = line.Has("files") || line.Has("dirs") || line.Has("mkdirs") ||
                            line.Has("deldirs") || line.Text("dirs") == "0";
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t threads, line.Number("threads", 1));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t size, line.Bytes("size", 1, 0));
  IOBENCH_ASSIGN_OR_RETURN(uint64_t block, line.Bytes("block", 1, 1_MiB));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t directories, line.Number("dirs", 1));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t files, line.Number("files", 1));
  if (block == 0 || threads == 0) return absl::InvalidArgumentError("a size or number of 0");
  if (size > 0) block = std::min(block, size);
  IOBENCH_RETURN_IF_ERROR(ElbenchoPlace(line, is_directory, ours));
  if (is_directory && size <= block) {
    IOBENCH_RETURN_IF_ERROR(ElbenchoSmallFiles(line, size, directories, files, ours));
    into.Say(
        "-w, -r",
        "files of one block are items of a tree: create writes, open-close reads them, and ops are counted per file");
  } else {
    const uint64_t lane_files =
        is_directory ? std::max<uint64_t>(files * std::max<uint64_t>(directories, 1), 1) : 1;
    const uint64_t per_lane = is_directory ? size * lane_files : size * line.words().size() / threads;
    IOBENCH_RETURN_IF_ERROR(ElbenchoLargeFiles(line, block, per_lane, into, ours));
    if (lane_files > 1) ours.Add("files-per-lane", absl::StrCat(lane_files));
    if (!is_directory && threads > 1) {
      ours.Add("shared-file");
      if (line.Has("strided")) ours.Add("interleaved");
    }
    if (!is_directory) into.Say("path", "the file's directory is tested; your own file is never touched");
    if (!is_directory && line.words().size() > 1)
      into.Say("path", "all lanes of a worker share one file; elbencho's threads share them all");
  }
  const std::string operations = ours.Text("op");
  const bool data = ours.Has("record");
  const bool writes = absl::StrContains(operations, "write") || absl::StrContains(operations, "mix");
  const bool only_reads = absl::StrContains(operations, "read") && !absl::StrContains(operations, "readdir");
  ours.Add("lanes", absl::StrCat(threads));
  if (line.Has("iodepth") && line.Text("iodepth") != "1" && data) {
    ours.Add("engine", "uring");
    ours.Add("depth", line.Text("iodepth"));
  }
  IOBENCH_ASSIGN_OR_RETURN(const double limit, line.Seconds("timelimit", 0));
  if (limit > 0) ours.Add(line.Has("infloop") ? "time" : "deadline", ShortNumber(limit));
  if (data && writes && line.Has("sync")) ours.Add("fsync-in-timing");
  if (line.Has("dropcache") && (only_reads || !data)) ours.Add("drop-caches");
  if (line.Has("rotatehosts") && (only_reads || !data)) ours.Add("rotate-clients");
  if (line.Has("hosts")) ours.Add("hosts", line.Text("hosts"));
  if (line.Has("hostsfile")) ours.Add("hosts", absl::StrCat("@", line.Text("hostsfile")));
  if (data && line.Text("blockvarpct") == "0") ours.Add("data", "zero");
  if (line.Has("fadv")) {
    const std::string advice = line.Text("fadv");
    ours.Add("fadvise", advice == "seq" ? "sequential" : advice == "rand" ? "random" : advice);
  }
  if (line.Has("flock")) ours.Add(line.Text("flock") == "full" ? "file-lock" : "record-locks");
  IOBENCH_RETURN_IF_ERROR(AddByTable(line, ours, into));
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kElbenchoTool = {
    .name = "elbencho",
    .called = "elbencho",
    .dashes = ForeignDashes::kBoth,
    .options = kElbenchoRows,
    .example = "elbencho --hosts node1,node2 -w -r -t 16 -s 20g -b 4m --direct --iodepth 8 /mnt/nfs/file1",
    .typical =
        [](const ForeignLine& line) {
          return line.words().size() == 1 && absl::StrContains(line.words()[0], "/") &&
                 (line.Has("write") || line.Has("read"));
        },
    .translate = TranslateElbencho,
};

}  // namespace iobench
