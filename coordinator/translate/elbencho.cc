// elbencho: its options and command lines.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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
constexpr ForeignOption kElbenchoRows[] = {
    {"threads t", "N", V::kNumber, B::kTogether, "-t", ""},
    {"size s", "SIZE", V::kSize, B::kTogether, "-s; --file-bytes for many small files", ""},
    {"block b", "SIZE", V::kSize, B::kTogether, "-r", ""},
    {"files N", "N", V::kNumber, B::kTogether, "--items N × dirs, --files-per-lane", ""},
    {"dirs n", "N", V::kNumber, B::kTogether, "--items of mkdir and rmdir, --tree-branching", ""},
    {"write w", "", V::kYesNo, B::kTogether, "--op write, create", ""},
    {"read r", "", V::kYesNo, B::kTogether, "--op read, open-close", ""},
    {"mkdirs d", "", V::kYesNo, B::kTogether, "--op mkdir, in a command of its own: its items are directories", ""},
    {"stat", "", V::kYesNo, B::kTogether, "--op stat", ""},
    {"delfiles F", "", V::kYesNo, B::kTogether, "--op unlink", ""},
    {"deldirs D", "", V::kYesNo, B::kTogether, "--op rmdir, in a command of its own", ""},
    {"rand", "", V::kYesNo, B::kTogether, "--op random-read, random-write", ""},
    {"backward", "", V::kYesNo, B::kTogether, "--op backward-read", ""},
    {"strided", "", V::kYesNo, B::kTogether, "--interleaved, with --shared-file", ""},
    {"direct", "", V::kYesNo, B::kTogether, "-I, for large files", ""},
    {"iodepth", "N", V::kNumber, B::kTogether, "--engine uring --depth", "io_uring in place of Linux AIO, with the same depth"},
    {"mmap", "", V::kYesNo, B::kTogether, "--mmap, for large files", ""},
    {"timelimit", "S", V::kSeconds, B::kTogether, "--deadline; --time with --infloop", "the next phase runs all the same; elbencho ends there"},
    {"infloop", "", V::kYesNo, B::kTogether, "--time", ""},
    {"iterations i", "N", V::kNumber, B::kOption, "repeat", ""},
    {"sync", "", V::kYesNo, B::kTogether, "-e, if something is written", "the flush is part of each write phase's time; elbencho shows it as a phase of its own"},
    {"dropcache", "", V::kYesNo, B::kTogether, "--drop-caches, for reads", ""},
    {"hosts", "LIST", V::kText, B::kTogether, "--hosts: over ssh, without services", "workers are started over ssh; no service needs to run"},
    {"hostsfile", "FILE", V::kText, B::kTogether, "--hosts @FILE", "workers are started over ssh; no service needs to run"},
    {"numhosts", "N", V::kNumber, B::kLost, "", "write as many hosts into --hosts"},
    {"rotatehosts", "N", V::kNumber, B::kTogether, "--rotate-clients, for reads", ""},
    {"nosvcshare", "", V::kYesNo, B::kTogether, "-s is not divided by the number of hosts", ""},
    {"rwmixpct", "PCT", V::kNumber, B::kTogether, "--mix-percent, with --op random-mix or sequential-mix", ""},
    {"rwmixthr", "N", V::kNumber, B::kTogether, "--reader-lanes, with --op sequential-mix", ""},
    {"rwmixthrpct", "PCT", V::kNumber, B::kLost, "", "lanes are not balanced against each other"},
    {"limitread", "SIZE", V::kSize, B::kTogether, "--ops-per-second SIZE / block", ""},
    {"limitwrite", "SIZE", V::kSize, B::kTogether, "--ops-per-second SIZE / block", ""},
    {"randamount", "SIZE", V::kSize, B::kTogether, "--max-ops, per lane", ""},
    {"randalgo", "NAME", V::kText, B::kNothing, "", "records are whole, and each is visited once per pass"},
    {"norandalign", "", V::kYesNo, B::kNothing, "", "records are whole, and each is visited once per pass"},
    {"verify", "SALT", V::kNumber, B::kTogether, "--verify, for large files", ""},
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
    {"resfile csvfile jsonfile livecsv livejson", "FILE", V::kText, B::kNothing, "", "every run saves all results; --out DIR names the directory, --live-csv FILE appends during the run"},
    {"lat latpercent lathisto allelapsed cpu dirstats base10 nocsvlabels svcelapsed svcping livecsvex livejsonex", "", V::kYesNo, B::kNothing, "", "latencies, times and processors are always reported"},
    {"latpercent9s", "N", V::kNumber, B::kNothing, "", "result.json has all percentiles"},
    {"nolive", "", V::kYesNo, B::kNothing, "", "there is no live view unless --live is given"},
    {"live1 live1n", "", V::kYesNo, B::kNothing, "", "one line shows the progress; --live shows more"},
    {"liveint svcupint svcwait log", "N", V::kNumber, B::kNothing, "", "of no effect on what is measured"},
    {"opslog", "FILE", V::kText, B::kLost, "", "-Q logs offset, latency and size of each op"},
    {"opsloglock", "", V::kYesNo, B::kNothing, "", "of opslog only"},
    {"nopathexp", "", V::kYesNo, B::kTogether, "a path with [1-4] is one path", ""},
    {"configfile c", "FILE", V::kText, B::kRefused, "", "write the file's options into the line"},
    {"treefile treescan", "FILE", V::kText, B::kRefused, "", "trees are regular here: --items, --tree-depth, --tree-branching, --min-file-bytes"},
    {"treerand treeroundrob", "", V::kYesNo, B::kNothing, "", "of treefile only"},
    {"treeroundup sharesize", "SIZE", V::kSize, B::kNothing, "", "of treefile only"},
    {"service foreground nodetach quit interrupt", "", V::kYesNo, B::kRefused, "", "no service is needed: --hosts starts workers over ssh, and `cluster-iobench worker --stay` waits for runs"},
    {"port", "N", V::kNumber, B::kNothing, "", "--listen ADDR waits for workers at a port"},
    {"svcpwfile", "FILE", V::kText, B::kNothing, "", "workers need a token, which --hosts hands over"},
    {"netbench", "", V::kYesNo, B::kRefused, "", "cluster-iobench run --net-test --hosts LIST tests the network"},
    {"servers serversfile numservers clients clientsfile netdevs respsize sendbuf recvbuf", "…", V::kText, B::kNothing, "", "of netbench only"},
    {"s3endpoints s3key s3secret s3region s3sessiontoken s3credfile s3credlist s3objprefix s3listobj s3multidel s3sign s3log s3logprefix s3maxconns s3targetgbps s3aclgrantee s3aclgrants s3aclgtype s3checksumalgo s3chksumalgo s3mpusizevar s3mpusplit s3sseckey s3ssekmskey", "…", V::kText, B::kRefused, "", "object storage is not tested"},
    {"s3single s3fastget s3fastput s3listobjpar s3listverify s3randobj s3statdirs s3virtaddr s3ignoreerrors s3nocompress s3nompcheck s3nompucompl s3mpucomplphase s3mpusharing s3sse s3aclget s3aclput s3aclputinl s3aclverify s3baclget s3baclput s3btag s3btagverify s3otag s3otagverify s3bversion s3bversionverify s3olockcfg s3olockcfgverify", "", V::kYesNo, B::kRefused, "", "object storage is not tested"},
    {"hdfs", "", V::kYesNo, B::kRefused, "", "only file systems are tested"},
    {"althttpsvc", "", V::kYesNo, B::kNothing, "", "of services only"},
    {"gpuids", "LIST", V::kText, B::kRefused, "", "memory of GPUs is not used"},
    {"gds cufile cufiledriveropen cuhostbufreg gdsbufreg gpuperservice", "", V::kYesNo, B::kRefused, "", "memory of GPUs is not used"},
    {"dryrun", "", V::kYesNo, B::kNothing, "", "--dry-run shows what each worker would do"},
    {"help help-all help-bdev help-dist help-large help-multi help-s3 version", "", V::kYesNo, B::kNothing, "", "of no effect on what is measured"},
};
// clang-format on

void ElbenchoAddName(std::string& list, std::string_view name) {
  absl::StrAppend(&list, list.empty() ? "" : ",", std::string(name));
}

// The operations on names whose options are given, in elbencho's order.
std::string ElbenchoNames(const ForeignLine& line,
                          std::initializer_list<std::pair<std::string_view, std::string_view>> phases) {
  std::string operations;
  for (const auto& [theirs, ours] : phases) {
    if (line.Has(theirs)) ElbenchoAddName(operations, ours);
  }
  return operations;
}

// Many small files in directories: what is done to their names.
void ElbenchoSmallFiles(const ForeignLine& line, const std::string& operations, uint64_t size, uint64_t directories,
                        uint64_t files, Translation& into, OurLine& ours) {
  ours.Add("op", operations);
  ours.Add("items", absl::StrCat(files * std::max<uint64_t>(directories, 1)));
  if (directories > 0) {
    ours.Add("tree-depth", "1");
    ours.Add("tree-branching", absl::StrCat(directories));
  }
  if (size > 0) ours.AddBytes("file-bytes", size);
  if (line.Has("dirsharing")) ours.Add("shared-directory");
  for (const std::string_view name : {"direct", "mmap", "verify", "fadv", "flock"}) {
    if (line.Has(name))
      into.Say(absl::StrCat("--", std::string(name)), "left out: it is for files of several blocks");
  }
  into.Say(
      "-w, -r",
      "files of one block are items of a tree: create writes, open-close reads them, and ops are counted per file");
}

absl::Status ElbenchoLargeFiles(const ForeignLine& line, uint64_t block, uint64_t per_lane, uint64_t lanes,
                                Translation& into, OurLine& ours) {
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
    IOBENCH_ASSIGN_OR_RETURN(const uint64_t amount, line.Bytes("randamount", 1, 0));
    ours.Add("max-ops", absl::StrCat(std::max<uint64_t>(amount / lanes / block, 1)));
  }
  const std::string limit = line.Has("limitwrite") ? "limitwrite" : "limitread";
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes_per_s, line.Bytes(limit, 1, 0));
  if (bytes_per_s > 0)
    ours.Add("ops-per-second", ShortNumber(static_cast<double>(bytes_per_s) / static_cast<double>(block)));
  if (operations == "write" && line.Has("preallocfile")) ours.Add("preallocate");
  if (line.Has("delfiles") || line.Has("stat"))
    into.Say("-F, --stat", "data are removed at the end, untimed; --op unlink and stat time calls on names");
  for (const std::string_view flag : {"direct", "mmap", "verify"}) {
    if (line.Has(flag)) ours.Add(flag);
  }
  if (line.Has("iodepth") && line.Text("iodepth") != "1") {
    ours.Add("engine", "uring");
    ours.Add("depth", line.Text("iodepth"));
  }
  const bool writes = absl::StrContains(operations, "write") || absl::StrContains(operations, "mix");
  if (writes && line.Has("sync")) ours.Add("fsync-in-timing");
  if (line.Text("blockvarpct") == "0") ours.Add("data", "zero");
  if (line.Has("fadv")) {
    const std::string advice = line.Text("fadv");
    ours.Add("fadvise", advice == "seq" ? "sequential" : advice == "rand" ? "random" : advice);
  }
  if (line.Has("flock")) ours.Add(line.Text("flock") == "full" ? "file-lock" : "record-locks");
  return absl::OkStatus();
}

// elbencho expands lists of numbers in brackets itself: f[1-3,07] is f1, f2, f3 and f07. Other brackets are part of the name.
absl::Status ElbenchoExpand(const std::string& text, std::vector<std::string>& expanded) {
  constexpr size_t kMost = 100'000;
  size_t open = text.find('['), close = std::string::npos;
  for (; open != std::string::npos; open = text.find('[', open + 1)) {
    close = text.find_first_not_of("0123456789,-", open + 1);
    if (close != std::string::npos && text[close] == ']' && close > open + 1) break;
  }
  if (open == std::string::npos) {
    if (expanded.size() == kMost) return absl::InvalidArgumentError(absl::StrCat("over ", kMost, " paths or hosts"));
    expanded.push_back(text);
    return absl::OkStatus();
  }
  const std::string before = text.substr(0, open), list = text.substr(open + 1, close - open - 1),
                    after = text.substr(close + 1);
  const std::vector<std::string> elements = absl::StrSplit(list, ',', absl::SkipEmpty());
  if (elements.empty()) return absl::InvalidArgumentError(absl::StrCat("[", list, "] has no number"));
  for (const std::string& each : elements) {
    const std::vector<std::string> ends = absl::StrSplit(each, '-');
    uint32_t first = 0, last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last))
      return absl::InvalidArgumentError(absl::StrCat("\"", each, "\" is no range of numbers"));
    for (uint64_t number = first; number <= last; ++number) {
      const std::string digits = absl::StrCat(number);
      const std::string zeros(ends.front().size() - std::min(ends.front().size(), digits.size()), '0');
      IOBENCH_RETURN_IF_ERROR(ElbenchoExpand(absl::StrCat(before, zeros, digits, after), expanded));
    }
  }
  return absl::OkStatus();
}

// InvalidArgument: none, or too many.
absl::StatusOr<std::vector<std::string>> ElbenchoPaths(const ForeignLine& line) {
  std::vector<std::string> paths;
  for (const std::string& path : line.words()) {
    if (line.Has("nopathexp")) {
      paths.push_back(path);
    } else {
      IOBENCH_RETURN_IF_ERROR(ElbenchoExpand(path, paths));
    }
  }
  if (paths.empty()) return absl::InvalidArgumentError("it has no path");
  return paths;
}

// The number of hosts in --hosts, at least 1. Commas in brackets do not separate them.
absl::StatusOr<uint64_t> ElbenchoHosts(const ForeignLine& line) {
  std::vector<std::string> hosts;
  std::string host;
  bool in_brackets = false;
  for (const char c : absl::StrCat(line.Text("hosts"), ",")) {
    in_brackets = c == '[' || (in_brackets && c != ']');
    const bool separates = !in_brackets && (c == ',' || c == ' ' || c == '\n');
    if (!separates) {
      host += c;
      continue;
    }
    if (!host.empty()) IOBENCH_RETURN_IF_ERROR(ElbenchoExpand(host, hosts));
    host.clear();
  }
  return std::max<uint64_t>(hosts.size(), 1);
}

absl::Status ElbenchoPlace(const std::vector<std::string>& paths, bool is_directory, Translation& into,
                           OurLine& ours) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    OurLine one;
    IOBENCH_RETURN_IF_ERROR(is_directory ? AddDirectory(path, one) : AddDirectoryOf(path, one));
    const std::string directory = one.Text("path");
    if (std::find(seen.begin(), seen.end(), directory) != seen.end()) continue;
    ours.AddAgain("path", directory);
    seen.push_back(directory);
  }
  if (seen.size() > 1)
    into.Say("path", "workers are distributed over the directories; elbencho's threads use all of them");
  return absl::OkStatus();
}

// elbencho's threads divide the blocks of all files, one file after the other. So lanes have whole files of their own if
// there are as many for each of them.
absl::Status ElbenchoFiles(const ForeignLine& line, uint64_t file_count, uint64_t size, uint64_t block,
                           uint64_t threads, Translation& into, OurLine& ours) {
  uint64_t hosts = 1;
  if (!line.Has("nosvcshare")) {
    IOBENCH_ASSIGN_OR_RETURN(hosts, ElbenchoHosts(line));
    if (line.Has("hostsfile"))
      into.Say("--hostsfile",
               "-s is that of one host: divide it by the number of hosts, which share elbencho's files");
  }
  const uint64_t lanes = threads * hosts;
  const bool own_files = file_count % lanes == 0 && !line.Has("strided");
  const uint64_t per_lane =
      own_files ? file_count / lanes * (size == 0 ? 0 : WholeRecords(size, block)) : size * file_count / lanes;
  IOBENCH_RETURN_IF_ERROR(ElbenchoLargeFiles(line, block, per_lane, lanes, into, ours));
  into.Say("path", "the file's directory is tested; your own file is never touched");
  if (own_files) {
    if (file_count > lanes) ours.Add("files-per-lane", absl::StrCat(file_count / lanes));
    if (file_count > lanes && line.Has("rand")) into.Say("--rand", "a lane works on its files one after the other");
    return absl::OkStatus();
  }
  ours.Add("shared-file");
  if (line.Has("strided")) ours.Add("interleaved");
  if (file_count > 1)
    into.Say("path",
             absl::StrCat(file_count, " files become one of their total size, which all lanes share"));
  return absl::OkStatus();
}

// What all phases have in common.
absl::Status ElbenchoFinish(const ForeignLine& line, uint64_t threads, OurLine& ours, Translation& into) {
  const std::string operations = ours.Text("op");
  const bool data = ours.Has("record");
  const bool on_names = absl::StrContains(operations, "stat") || absl::StrContains(operations, "open-close");
  const bool reads = on_names || (data && absl::StrContains(operations, "read"));
  ours.Add("lanes", absl::StrCat(threads));
  IOBENCH_ASSIGN_OR_RETURN(const double limit, line.Seconds("timelimit", 0));
  const bool removes = absl::StrContains(operations, "create") || absl::StrContains(operations, "unlink");
  const bool loops = line.Has("infloop") && (data || (on_names && !removes));
  if (limit > 0) ours.Add(loops ? "time" : "deadline", ShortNumber(limit));
  if (reads && line.Has("dropcache")) ours.Add("drop-caches");
  if (reads && line.Has("rotatehosts")) ours.Add("rotate-clients");
  if (line.Has("hosts")) ours.Add("hosts", line.Text("hosts"));
  if (line.Has("hostsfile")) ours.Add("hosts", absl::StrCat("@", line.Text("hostsfile")));
  return AddByTable(line, ours, into);
}

absl::Status TranslateElbencho(const ForeignLine& line, Translation& into) {
  const bool is_directory = line.Has("files") || line.Has("dirs") || line.Has("mkdirs") ||
                            line.Has("deldirs") || line.Text("dirs") == "0";
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t threads, line.Number("threads", 1));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t size, line.Bytes("size", 1, 0));
  IOBENCH_ASSIGN_OR_RETURN(uint64_t block, line.Bytes("block", 1, 1_MiB));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t directories, line.Number("dirs", 1));
  IOBENCH_ASSIGN_OR_RETURN(uint64_t files, line.Number("files", 1));
  if (block == 0 || threads == 0) return absl::InvalidArgumentError("a size or number of 0");
  constexpr uint64_t kMostThreads = 1'000'000;
  if (threads > kMostThreads) return absl::InvalidArgumentError(absl::StrCat("over ", kMostThreads, " threads"));
  if (size > 0) block = std::min(block, size);
  files = std::max<uint64_t>(files, 1);
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ElbenchoPaths(line));
  const auto has_braces = [](const std::string& path) {
    const size_t open = path.find('{');
    return open != std::string::npos && path.find('}', open) != std::string::npos;
  };
  if (std::any_of(paths.begin(), paths.end(), has_braces))
    into.Say("path", "a shell would expand {…}, which counts as one name here: write the paths one by one");
  TranslatedCommand command;
  OurLine& ours = command.options;
  IOBENCH_RETURN_IF_ERROR(ElbenchoPlace(paths, is_directory, into, ours));
  if (!is_directory) {
    IOBENCH_RETURN_IF_ERROR(ElbenchoFiles(line, paths.size(), size, block, threads, into, ours));
    IOBENCH_RETURN_IF_ERROR(ElbenchoFinish(line, threads, ours, into));
    into.commands.push_back(std::move(command));
    return absl::OkStatus();
  }
  // A lane makes -n directories, but -n × -N files. An operation makes as many as there are items.
  const std::string on_directories =
      directories == 0 ? "" : ElbenchoNames(line, {{"mkdirs", "mkdir"}, {"deldirs", "rmdir"}});
  const std::string on_files = ElbenchoNames(
      line, {{"write", "create"}, {"stat", "stat"}, {"read", "open-close"}, {"delfiles", "unlink"}});
  if (on_directories.empty() && on_files.empty())
    return absl::InvalidArgumentError("it has no phase: -d, -w, -r, --stat, -F or -D");
  TranslatedCommand first = command;
  if (!on_directories.empty()) {
    first.options.Add("op", on_directories);
    first.options.Add("items", absl::StrCat(directories));
    if (line.Has("dirsharing")) {
      first.options.Add("shared-directory");
      into.Say("--dirsharing", "each lane makes directories of its own");
    }
    IOBENCH_RETURN_IF_ERROR(ElbenchoFinish(line, threads, first.options, into));
  }
  if (!on_files.empty()) {
    const uint64_t file_count = files * std::max<uint64_t>(directories, 1);
    if (size > block && (line.Has("write") || line.Has("read"))) {
      IOBENCH_RETURN_IF_ERROR(ElbenchoLargeFiles(line, block, size * file_count, threads, into, ours));
      if (file_count > 1) ours.Add("files-per-lane", absl::StrCat(file_count));
    } else {
      ElbenchoSmallFiles(line, on_files, size, directories, files, into, ours);
    }
    IOBENCH_RETURN_IF_ERROR(ElbenchoFinish(line, threads, ours, into));
  }
  if (!on_directories.empty() && !on_files.empty())
    into.Say("-d, -D", "a command of their own makes and removes directories: -n per lane, which stay empty");
  const bool directories_first = line.Has("mkdirs");
  if (!on_directories.empty() && directories_first) into.commands.push_back(first);
  if (!on_files.empty()) into.commands.push_back(std::move(command));
  if (!on_directories.empty() && !directories_first) into.commands.push_back(std::move(first));
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
