// smallfile: its options and command lines.
#include <algorithm>
#include <utility>

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
constexpr ForeignOption kSmallfileRows[] = {
    {"operation", "NAME", V::kText, B::kTogether, "--op", ""},
    {"top", "DIR", V::kText, B::kTogether, "--path; once for each of DIR,DIR", ""},
    {"threads", "N", V::kNumber, B::kTogether, "-t", ""},
    {"files", "N", V::kNumber, B::kTogether, "--items", ""},
    {"file-size", "KIB", V::kNumber, B::kTogether, "--file-bytes", ""},
    {"file-size-distribution", "exponential", V::kText, B::kTogether, "--min-file-bytes: uniform from 1 byte to twice the mean", "sizes are uniform here, with the same mean"},
    {"record-size", "KIB", V::kNumber, B::kLost, "", "a small file is written with one call"},
    {"files-per-dir", "N", V::kNumber, B::kTogether, "--tree-branching: files / N directories", ""},
    {"dirs-per-dir", "N", V::kNumber, B::kLost, "", "the directories of a lane are side by side"},
    {"hash-into-dirs", "Y|N", V::kYesNo, B::kNothing, "", "items are spread evenly over directories"},
    {"same-dir", "Y|N", V::kYesNo, B::kTogether, "--shared-directory", ""},
    {"permute-host-dirs", "Y|N", V::kYesNo, B::kTogether, "--rotate-clients, for what reads", ""},
    {"host-set", "LIST", V::kText, B::kTogether, "--hosts", ""},
    {"host-count", "N", V::kNumber, B::kLost, "", "name the hosts with --hosts, or wait for workers with --listen ADDR"},
    {"launch-by-daemon", "Y|N", V::kYesNo, B::kNothing, "", "`cluster-iobench worker --stay` waits for runs"},
    {"fsync", "Y|N", V::kYesNo, B::kLost, "", "files are not flushed one by one"},
    {"xattr-size", "BYTES", V::kNumber, B::kTogether, "--xattr-bytes, for set-xattr and get-xattr", ""},
    {"xattr-count", "N", V::kNumber, B::kLost, "", "an item has one attribute"},
    {"pause", "US", V::kNumber, B::kTogether, "--think", ""},
    {"auto-pause", "Y|N", V::kYesNo, B::kLost, "", "--rate OPS limits the load of all lanes"},
    {"stonewall", "Y|N", V::kYesNo, B::kTogether, "-x for N", ""},
    {"finish", "Y|N", V::kYesNo, B::kNothing, "", "lanes finish what later phases need, untimed"},
    {"response-times", "Y|N", V::kYesNo, B::kNothing, "", "latencies are always recorded"},
    {"verify-read", "Y|N", V::kYesNo, B::kLost, "", "contents of small files are not checked; --verify checks records"},
    {"incompressible", "Y|N", V::kYesNo, B::kNothing, "", "data are incompressible"},
    {"cleanup-delay-usec-per-file min-dirs-per-sec", "N", V::kNumber, B::kNothing, "", "of no effect on what is measured"},
    {"prefix suffix network-sync-dir remote-pgm-dir output-json as-host slave", "…", V::kText, B::kNothing, "", "workers need no shared directory, and every run saves all results"},
    {"record-ctime-size", "Y|N", V::kYesNo, B::kLost, "", "files do not carry when they were created"},
    {"log-to-stderr", "Y|N", V::kYesNo, B::kNothing, "", "of no effect on what is measured"},
    {"verbose", "Y|N", V::kYesNo, B::kNothing, "", "--verbose prints the whole report"},
    {"yaml-input-file", "FILE", V::kText, B::kRefused, "", "write the file's parameters as options"},
};
// clang-format on

constexpr std::pair<std::string_view, std::string_view> kSmallfileOperations[] = {
    {"create", "create"},         {"read", "open-close"},    {"stat", "stat"},
    {"chmod", "chmod"},           {"rename", "rename"},      {"delete", "unlink"},
    {"delete-renamed", "unlink"}, {"symlink", "symlink"},    {"mkdir", "mkdir"},
    {"rmdir", "rmdir"},           {"readdir", "readdir"},    {"ls-l", "list-long"},
    {"setxattr", "set-xattr"},    {"getxattr", "get-xattr"}, {"truncate-overwrite", "recreate"},
    {"overwrite", "recreate"},    {"append", "append"}};

absl::Status TranslateSmallfile(const ForeignLine& line, Translation& into) {
  TranslatedCommand command;
  OurLine& ours = command.options;
  const std::string top = line.Has("top") ? line.Text("top") : "/var/tmp/smf";
  IOBENCH_RETURN_IF_ERROR(AddDirectory(top.substr(0, top.find(',')), ours));
  for (size_t at = top.find(','); at != std::string::npos; at = top.find(',', at + 1))
    ours.AddAgain("path", top.substr(at + 1, top.find(',', at + 1) - at - 1));
  const std::string operation = line.Has("operation") ? line.Text("operation") : "cleanup";
  const auto* const row = std::find_if(std::begin(kSmallfileOperations), std::end(kSmallfileOperations),
                                       [&operation](const auto& each) { return each.first == operation; });
  if (row == std::end(kSmallfileOperations)) {
    return absl::InvalidArgumentError(
        operation == "cleanup"
            ? absl::StrCat("a run removes its data; `cluster-iobench clean ", top,
                           "` removes what a crashed one left")
            : absl::StrCat("--operation ", operation, ": there is no such operation here"));
  }
  ours.Add("op", std::string(row->second));
  if (operation == "overwrite" || operation == "truncate-overwrite")
    into.Say("--operation", "recreate removes a file and creates it anew");
  if (operation != "create" && operation != "mkdir")
    into.Say("--operation", "what it needs is prepared first, untimed; no earlier run is used");
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t files, line.Number("files", 200));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t kib, line.Number("file-size", 64));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t threads, line.Number("threads", 2));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t per_directory, line.Number("files-per-dir", 100));
  ours.Add("items", absl::StrCat(std::max<uint64_t>(files, 1)));
  const uint64_t directories = per_directory == 0 ? 1 : (files + per_directory - 1) / per_directory;
  if (directories > 1) {
    ours.Add("tree-depth", "1");
    ours.Add("tree-branching", absl::StrCat(directories));
  }
  const bool of_files = operation != "mkdir" && operation != "rmdir";
  if (of_files && kib > 0 && line.Has("file-size-distribution")) {
    ours.AddBytes("file-bytes", 2 * kib * 1_KiB);
    ours.Add("min-file-bytes", "1");
  } else if (of_files && kib > 0) {
    ours.AddBytes("file-bytes", kib * 1_KiB);
  }
  ours.Add("lanes", absl::StrCat(std::max<uint64_t>(threads, 1)));
  if (line.Has("same-dir")) ours.Add("shared-directory");
  const bool examines = row->second == "stat" || row->second == "open-close" || row->second == "readdir" ||
                        row->second == "readdir,stat";
  if (line.Has("permute-host-dirs") && examines) ours.Add("rotate-clients");
  if (line.Has("host-set")) ours.Add("hosts", line.Text("host-set"));
  if (line.Has("xattr-size") && row->second.ends_with("xattr"))
    ours.Add("xattr-bytes", line.Text("xattr-size"));
  IOBENCH_ASSIGN_OR_RETURN(const uint64_t pause_us, line.Number("pause", 0));
  if (pause_us > 0) ours.Add("think", absl::StrCat(ShortNumber(static_cast<double>(pause_us) / 1000), "ms"));
  if (line.Text("stonewall") == "N" || line.Text("stonewall") == "n") ours.Add("no-stonewall");
  IOBENCH_RETURN_IF_ERROR(AddByTable(line, ours, into));
  into.commands.push_back(std::move(command));
  return absl::OkStatus();
}

}  // namespace

const ForeignTool kSmallfileTool = {
    .name = "smallfile",
    .called = "smallfile_cli smallfile",
    .dashes = ForeignDashes::kBoth,
    .options = kSmallfileRows,
    .example =
        "smallfile_cli.py --top /mnt/nfs --host-set node1,node2 --threads 8 --operation create --files 10000 --file-size 4",
    .translate = TranslateSmallfile,
};

}  // namespace iobench
