#include "coordinator/command_line/observe_flags.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/command_line/typed_words.h"

namespace iobench {
namespace {

constexpr double kDefaultIntervalSeconds = 60;
constexpr double kMinIntervalSeconds = 0.1;
constexpr double kMaxIntervals = 20'000;  // two weeks of minutes; a file of 3 MB

absl::Status CheckMerge(const ObserveOptions& options) {
  if (!options.path.empty() || options.for_s > 0 || options.interval_s > 0) {
    return absl::InvalidArgumentError(
        "--merge joins files of earlier observations: it cannot be combined with --path, --for or --interval");
  }
  if (options.merge.size() < 2) return absl::InvalidArgumentError("--merge joins files: give at least two");
  return absl::OkStatus();
}

}  // namespace

CLI::App* AddObserveCommand(CLI::App& app, ObserveOptions& options, std::vector<std::string>& words) {
  CLI::App* const observe = app.add_subcommand(
      "observe", "record the load that this client puts on an NFS server, as a mix that `run --mix` replays");
  Adder what(*observe, "Observation");
  what.Value("--path", options.path, "a directory on the NFS mount; nothing is read or written in it", "DIR");
  what.Seconds("--for", options.for_s, 1, "duration, such as 1h; an interrupt ends it early");
  what.Seconds("--interval", options.interval_s, kMinIntervalSeconds,
               "time between readings of the counters (default 60, or a tenth of --for if shorter)");
  what.Value("--mountstats", options.mountstats,
             "read the counters from FILE, such as /proc/PID/mountstats of a container (default "
             "/proc/self/mountstats)",
             "FILE");
  Adder result(*observe, "Result");
  result.Value("--output", options.output, "write the mix to FILE instead of standard output", "FILE");
  result.Flag("--force", options.replace, "replace FILE if it exists");
  observe
      ->add_option("--merge", options.merge,
                   "merge the mix files of several clients into one, without observing")
      ->group("Result")
      ->type_name("FILE...");
  observe->footer(
      "docs/observe.md explains what the counters show and what they do not. observe puts no load on the server and needs no root. "
      "Exit codes: 0 ok (also after an interrupt), 1 bad usage or not NFS, 2 the file could not be written.\n"
      "Example: cluster-iobench observe --path /mnt/nfs --for 1h --output seen.yaml");
  observe->add_option("DIR", words, "a directory on the NFS mount, same as --path")->type_name("");
  return observe;
}

absl::Status TakeObserve(const std::vector<std::string>& words, const std::vector<std::string>& typed,
                         ObserveOptions& options) {
  for (const std::string& word : words) {
    if (!NamesDirectory(word)) return RefusalOfWord(word, typed);
    if (!options.path.empty()) {
      return absl::InvalidArgumentError("observe watches one mount: give only one directory");
    }
    options.path = word;
  }
  if (!options.merge.empty()) return CheckMerge(options);
  if (options.path.empty())
    return absl::InvalidArgumentError("observe needs a directory on an NFS mount: --path DIR");
  if (IsNfsUrl(options.path)) {
    return absl::InvalidArgumentError(absl::StrCat("observe reads the counters of a kernel mount, and ",
                                                   options.path,
                                                   " is not one: give a directory where it is mounted"));
  }
  if (options.for_s <= 0) return absl::InvalidArgumentError("observe needs a time: --for 1h");
  if (options.interval_s <= 0) {
    options.interval_s = std::max(kMinIntervalSeconds, std::min(kDefaultIntervalSeconds, options.for_s / 10));
  }
  if (options.interval_s > options.for_s) {
    return absl::InvalidArgumentError(absl::StrCat("--interval ", FormatSeconds(options.interval_s),
                                                   " is longer than --for ", FormatSeconds(options.for_s)));
  }
  if (options.for_s / options.interval_s > kMaxIntervals) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--for ", FormatSeconds(options.for_s), " in intervals of ", FormatSeconds(options.interval_s),
        " needs over ", kMaxIntervals, " readings: use a longer --interval"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
