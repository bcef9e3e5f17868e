#include "coordinator/command_line/check_command.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/units.h"
#include "coordinator/command_line/table_options.h"
#include "coordinator/command_line/typed_words.h"
#include "coordinator/options/plan_options.h"
#include "coordinator/options/shipped_files.h"
#include "coordinator/options/suite_files.h"

namespace iobench {
namespace {

// Adds words that name directories to --path.
absl::Status AddDirectories(const Typed& typed, GivenOptions& given) {
  for (const std::string& word : typed.words) {
    if (!NamesDirectory(word)) return RefusalOfWord(word, typed.arguments);
    IOBENCH_RETURN_IF_ERROR(given.Add("path", word));
  }
  return absl::OkStatus();
}

// IOzone ignores words that belong to no option. One that names a directory is where this program tests, as in any other
// line, unless an option names that already.
absl::Status AddDirectoriesAsIozone(const Typed& typed, GivenOptions& given,
                                    std::vector<std::string>& notes) {
  const bool has_path = given.Has("path") || given.Has("file") || given.Has("files");
  for (const std::string& word : typed.words) {
    if (NamesDirectory(word) && !has_path) {
      IOBENCH_RETURN_IF_ERROR(given.Add("path", word));
    } else {
      notes.push_back(absl::StrCat("\"", word, "\" belongs to no option and is ignored, as in IOzone"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAsIozone(const RunCommand& run) {
  if (run.cluster.formats.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--as-iozone says what is printed: it cannot be combined with --format; for another report, use `cluster-iobench "
      "report DIR --format NAME` after the run");
}

// The list that --suite list or --mix list asks for; nullopt: neither was given.
absl::StatusOr<std::optional<TextAnswer>> ListAskedFor(const GivenOptions& given) {
  TextAnswer list;
  if (given.Text("suite") == "list") {
    IOBENCH_ASSIGN_OR_RETURN(list.text, SuiteList());
  } else if (given.Text("mix") == "list") {
    IOBENCH_ASSIGN_OR_RETURN(list.text, ShippedList(kMixFiles, "Mixes: files"));
  }
  return list.text.empty() ? std::nullopt : std::optional(std::move(list));
}

// Expands `given`, and checks it with the options of the cluster.
absl::Status CompleteJob(GivenOptions given, JobOptions& job) {
  IOBENCH_ASSIGN_OR_RETURN(job.given, Complete(std::move(given)));
  return CheckClusterOptions(job.cluster);
}

// The options that a run has and that neither the saved run says nor --resume refuses.
std::string OptionsForResuming(const CLI::App& command) {
  constexpr std::string_view kOfSavedRun[] = {"out", "resume", "label", "force", "net-test", "print-plan", "dry-run", "help"};
  std::vector<std::string> words;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    const bool in_plan = std::any_of(std::begin(kPlanOptions), std::end(kPlanOptions),
                                     [&name](const OptionSpec& spec) { return spec.name == name; });
    if (in_plan || std::find(std::begin(kOfSavedRun), std::end(kOfSavedRun), name) != std::end(kOfSavedRun)) continue;
    words.push_back("--" + name);
    if (option->get_expected_min() == 0) continue;  // a flag
    for (const std::string& value : option->results()) {
      if (&value != &option->results().front()) words.push_back("--" + name);
      words.push_back(value);
    }
  }
  return ShellCommand(words);
}

// Everything that the plan says comes from the saved run.
absl::Status CheckResumeAlone(const RunCommand& run, const Typed& typed) {
  const std::string other = typed.given.size() > 0 ? BothNamesOf(*typed.given.options().front())
                            : !typed.words.empty() ? absl::StrCat("the word \"", typed.words.front(), "\"")
                            : run.print_plan       ? "--print-plan"
                            : run.dry_run          ? "--dry-run"
                                                   : "";
  if (other.empty()) return CheckClusterOptions(run.cluster);
  return absl::InvalidArgumentError(
      absl::StrCat("--resume goes on with the plan of the saved run: it cannot be combined with ", other));
}

// Options that shape a list of phases, or say how fast ops come, which capacity does itself.
constexpr OptionName kChosenByCapacity[] = {"background",        "background-clients",
                                            "server-path",       "each-path",
                                            "per-client",        "auto",
                                            "auto-read-write",   "min-lanes",
                                            "max-lanes",         "lane-rate",
                                            "ops-per-second",    "think",
                                            "burst",             "rest",
                                            "deadline",          "require",
                                            "stop-at-stonewall", "write-trace",
                                            "read-trace",        "max-ops",
                                            "wear-out",          "soak",
                                            "until"};

absl::Status CheckUsers(const CapacityOptions& options) {
  if ((options.users > 0) == (options.user_per_s > 0)) return absl::OkStatus();
  return absl::InvalidArgumentError("--users N and --user-rate OPS belong together: give both, or none");
}

// With --saved: refuses options that need a measurement, since only questions can be asked again.
absl::Status CheckSavedCapacity(const CapacityCommand& capacity, const Typed& typed) {
  if (typed.given.size() > 0 || !typed.words.empty()) {
    return absl::InvalidArgumentError(
        "--saved shows saved runs: it cannot be combined with options of a workload");
  }
  constexpr std::string_view kUseful[] = {"saved", "format", "output", "force",
                                          "load",  "need",   "users",  "user-rate"};
  for (const CLI::Option* const option : typed.command.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (std::find(std::begin(kUseful), std::end(kUseful), name) != std::end(kUseful)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--saved measures nothing: it cannot be combined with --", name));
  }
  return CheckUsers(capacity.capacity);
}

// Fills in the workload and the times that the user did not give, unless a plan or suite has them. `own_paths`: the
// clients of a list test directories of their own. InvalidArgument: there is no directory, an option of `run` has no
// meaning here, or options of capacity contradict each other.
absl::Status CompleteWorkload(const CapacityOptions& options, bool own_paths, GivenOptions& given) {
  for (const OptionName name : kChosenByCapacity) {
    if (!given.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(name.spec()),
                     " cannot be combined with capacity, which chooses lanes, loads "
                     "and times itself"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckUsers(options));
  if (given.Has("rate") && !given.Has("mix")) {
    return absl::InvalidArgumentError(
        "--rate cannot be combined with capacity, which finds the rate itself; use --load for today's load");
  }
  const bool has_plan = given.Has("plan") || given.Has("suite");
  if (!has_plan && !given.Has("path") && !given.Has("file") && !given.Has("files") && !own_paths)
    return absl::InvalidArgumentError("capacity needs a directory to test in: --path DIR");
  if (has_plan) return absl::OkStatus();
  if (!given.Has("op") && !given.Has("mix")) {
    IOBENCH_RETURN_IF_ERROR(given.Add("op", "random-mix"));
    if (!given.Has("mix-percent")) IOBENCH_RETURN_IF_ERROR(given.Add("mix-percent", "70"));
    if (!given.Has("record")) IOBENCH_RETURN_IF_ERROR(given.Add("record", "8k"));
  }
  for (const auto& [name, value] :
       {std::pair(OptionName("lanes"), "16"), std::pair(OptionName("time"), "6"),
        std::pair(OptionName("warmup"), "1"), std::pair(OptionName("repeat"), "3")}) {
    if (!given.Has(name)) IOBENCH_RETURN_IF_ERROR(given.Add(name, value));
  }
  return absl::OkStatus();
}

// The options of the smallest plan that inspects the directory; its phases do not run. InvalidArgument: there is not
// exactly one directory, or it is a URL.
absl::StatusOr<GivenOptions> WhereToValidate(const ValidateOptions& options, const Typed& typed) {
  std::vector<std::string> paths = typed.words;
  if (!options.path.empty()) paths.insert(paths.begin(), options.path);
  for (const std::string& word : typed.words) {
    if (!NamesDirectory(word)) return RefusalOfWord(word, typed.arguments);
  }
  if (paths.size() != 1) {
    return absl::InvalidArgumentError(paths.empty() ? "validate needs the shared directory: --path DIR"
                                                    : "validate checks one directory: give only one --path");
  }
  if (IsNfsUrl(paths[0])) {
    return absl::InvalidArgumentError(absl::StrCat("validate needs a mounted file system: mount ", paths[0],
                                                   " on all clients and give its directory"));
  }
  GivenOptions given;
  IOBENCH_RETURN_IF_ERROR(given.Add("path", paths[0]));
  IOBENCH_RETURN_IF_ERROR(given.Add("op", "write"));
  IOBENCH_RETURN_IF_ERROR(given.Add("size", "64k"));
  IOBENCH_RETURN_IF_ERROR(given.Add("record", "64k"));
  IOBENCH_RETURN_IF_ERROR(given.Add("lanes", "1"));
  return given;
}

constexpr double kDefaultIntervalSeconds = 60;
constexpr double kMaxIntervals = 20'000;  // two weeks of minutes; a file of 3 MB

absl::Status CheckMerge(const ObserveCommand& observe) {
  if (!observe.path.empty() || observe.for_s > 0 || observe.interval_s > 0) {
    return absl::InvalidArgumentError(
        "--merge joins files of earlier observations: it cannot be combined with --path, --for or --interval");
  }
  if (observe.merge.size() < 2) return absl::InvalidArgumentError("--merge joins files: give at least two");
  return absl::OkStatus();
}

// Fills in the interval.
absl::Status CompleteInterval(ObserveCommand& observe) {
  if (observe.interval_s <= 0) {
    observe.interval_s =
        std::max(kMinObserveIntervalSeconds, std::min(kDefaultIntervalSeconds, observe.for_s / 10));
  }
  if (observe.interval_s > observe.for_s) {
    return absl::InvalidArgumentError(absl::StrCat("--interval ", FormatSeconds(observe.interval_s),
                                                   " is longer than --for ", FormatSeconds(observe.for_s)));
  }
  if (observe.for_s / observe.interval_s > kMaxIntervals) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--for ", FormatSeconds(observe.for_s), " in intervals of ", FormatSeconds(observe.interval_s),
        " needs over ", kMaxIntervals, " readings: use a longer --interval"));
  }
  return absl::OkStatus();
}

absl::Status CheckSampler(const JoinCommand& worker) {
  const bool has_lanes = worker.server_workers > 0;
  if (has_lanes && !worker.sampler) {
    return absl::InvalidArgumentError("--server-workers N stand beside a sampler: it needs --sampler");
  }
  if (has_lanes && worker.roots.empty()) {
    return absl::InvalidArgumentError(
        "--server-workers N work only below directories that their own command line names: it needs --root DIR, with "
        "the directory of the coordinator's --server-path");
  }
  if (has_lanes && worker.stay) {
    return absl::InvalidArgumentError(
        "--server-workers N are for one run: it cannot be combined with --stay");
  }
  for (const auto& [given, name] :
       {std::pair{!worker.path.empty(), "--path"}, std::pair{worker.slots > 1, "--slots"},
        std::pair{worker.simulate > 0, "--simulate"},
        std::pair{worker.max_lanes > 0 && !has_lanes, "--max-lanes"}}) {
    if (!worker.sampler || !given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--sampler has no lanes and touches no files: it cannot be combined with ", name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Command> Checked(RunCommand run, const Typed& typed) {
  run.for_resuming = OptionsForResuming(typed.command);
  if (!run.cluster.resume.empty()) {
    IOBENCH_RETURN_IF_ERROR(CheckResumeAlone(run, typed));
    return Command(std::move(run));
  }
  GivenOptions given = typed.given;
  const AsIozone said = !run.as_iozone_given ? AsIozone::kUnsaid
                        : run.as_iozone      ? AsIozone::kYes
                                             : AsIozone::kNo;
  // The network test (-+t) has its own text.
  run.as_iozone =
      !run.cluster.net_test && BehavesAsIozone(said, given, !run.cluster.formats.empty(), typed.start);
  IozonesOwn own;
  if (run.as_iozone) {
    IOBENCH_RETURN_IF_ERROR(CheckAsIozone(run));
    own = TakeIozonesOwn(!run.cluster.workbook.empty(), given);
    IOBENCH_RETURN_IF_ERROR(AddDirectoriesAsIozone(typed, given, own.notes));
    run.cluster.formats = {"iozone"};
  } else {
    IOBENCH_RETURN_IF_ERROR(AddDirectories(typed, given));
  }
  IOBENCH_ASSIGN_OR_RETURN(std::optional<TextAnswer> list, ListAskedFor(given));
  if (list.has_value()) return Command(*std::move(list));
  IOBENCH_RETURN_IF_ERROR(CompleteJob(std::move(given), run));
  if (run.as_iozone) {
    run.throughput_mode = IsThroughputMode(run.given);
    AddIozonesDefaults(own, !run.cluster.client_list.empty(), run.given);
    run.notes = std::move(own.notes);
  }
  if (run.cluster.net_test && run.dry_run) {
    return absl::InvalidArgumentError(
        "--dry-run shows the phases of a run: it cannot be combined with -+t (--net-test), which has none");
  }
  IOBENCH_RETURN_IF_ERROR(CheckNetTest(run.cluster, run.given));
  return Command(std::move(run));
}

absl::StatusOr<Command> Checked(PreflightCommand preflight, const Typed& typed) {
  GivenOptions given = typed.given;
  IOBENCH_RETURN_IF_ERROR(AddDirectories(typed, given));
  IOBENCH_ASSIGN_OR_RETURN(std::optional<TextAnswer> list, ListAskedFor(given));
  if (list.has_value()) return Command(*std::move(list));
  IOBENCH_RETURN_IF_ERROR(CompleteJob(std::move(given), preflight));
  return Command(std::move(preflight));
}

absl::StatusOr<Command> Checked(ValidateCommand validate, const Typed& typed) {
  if (validate.validate.list) return Command(std::move(validate));
  if (validate.validate.expect == "list") {
    TextAnswer list;
    IOBENCH_ASSIGN_OR_RETURN(list.text, ShippedList(kExpectationFiles, "Expectations: files"));
    return Command(std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(GivenOptions given, WhereToValidate(validate.validate, typed));
  IOBENCH_RETURN_IF_ERROR(CompleteJob(std::move(given), validate));
  return Command(std::move(validate));
}

absl::StatusOr<Command> Checked(CapacityCommand capacity, const Typed& typed) {
  if (!capacity.capacity.saved.empty()) {
    IOBENCH_RETURN_IF_ERROR(CheckSavedCapacity(capacity, typed));
    return Command(std::move(capacity));
  }
  GivenOptions given = typed.given;
  IOBENCH_RETURN_IF_ERROR(AddDirectories(typed, given));
  IOBENCH_RETURN_IF_ERROR(
      CompleteWorkload(capacity.capacity, /*own_paths=*/!capacity.cluster.client_list.empty(), given));
  IOBENCH_ASSIGN_OR_RETURN(std::optional<TextAnswer> list, ListAskedFor(given));
  if (list.has_value()) return Command(*std::move(list));
  IOBENCH_RETURN_IF_ERROR(CompleteJob(std::move(given), capacity));
  return Command(std::move(capacity));
}

absl::StatusOr<Command> Checked(JoinCommand worker, const Typed&) {
  IOBENCH_RETURN_IF_ERROR(CheckSampler(worker));
  if (worker.stay && worker.join_timeout_given) {
    return absl::InvalidArgumentError(
        "--stay waits for coordinators without an end: it cannot be combined with --join-timeout");
  }
  return Command(std::move(worker));
}

absl::StatusOr<Command> Checked(ReportCommand report, const Typed&) {
  if (report.verify && (!report.format.empty() || !report.output.empty() || report.redact)) {
    return absl::InvalidArgumentError(
        "--verify checks the saved run and writes no report: it cannot be combined with --format, --output or --redact");
  }
  return Command(std::move(report));
}

absl::StatusOr<Command> Checked(CompareCommand compare, const Typed&) {
  return Command(std::move(compare));
}

absl::StatusOr<Command> Checked(HistoryCommand history, const Typed&) {
  return Command(std::move(history));
}

absl::StatusOr<Command> Checked(ObserveCommand observe, const Typed& typed) {
  for (const std::string& word : typed.words) {
    if (!NamesDirectory(word)) return RefusalOfWord(word, typed.arguments);
    if (!observe.path.empty()) {
      return absl::InvalidArgumentError("observe watches one mount: give only one directory");
    }
    observe.path = word;
  }
  if (!observe.merge.empty()) {
    IOBENCH_RETURN_IF_ERROR(CheckMerge(observe));
    return Command(std::move(observe));
  }
  if (observe.path.empty())
    return absl::InvalidArgumentError("observe needs a directory on an NFS mount: --path DIR");
  if (IsNfsUrl(observe.path)) {
    return absl::InvalidArgumentError(absl::StrCat("observe reads the counters of a kernel mount, and ",
                                                   observe.path,
                                                   " is not one: give a directory where it is mounted"));
  }
  if (observe.for_s <= 0) return absl::InvalidArgumentError("observe needs a time: --for 1h");
  IOBENCH_RETURN_IF_ERROR(CompleteInterval(observe));
  return Command(std::move(observe));
}

absl::StatusOr<Command> Checked(SelftestCommand selftest, const Typed&) {
  const ClusterOptions& place = selftest.cluster;
  IOBENCH_RETURN_IF_ERROR(CheckClusterOptions(place));
  const bool has_workers = place.spawn > 0 || !place.listen.empty() || !place.hosts.empty() ||
                           !place.client_list.empty() ||
                           (place.transport != "auto" && place.transport != "grpc");
  if (selftest.simulate > 0 && has_workers) {
    return absl::InvalidArgumentError(
        "--simulate starts its own clients on this host, over gRPC: it cannot be combined with --spawn, --listen, "
        "--hosts, -+m or another --transport");
  }
  return Command(std::move(selftest));
}

absl::StatusOr<Command> Checked(TranslateCommand translate, const Typed&) {
  if (!translate.words.empty()) return Command(std::move(translate));
  return absl::InvalidArgumentError(
      "translate needs a command line of another tool, such as 'fio --rw=read …', or a job file");
}

absl::StatusOr<Command> Checked(CleanupCommand clean, const Typed&) {
  if (clean.directories.empty() && !clean.copies) {
    return absl::InvalidArgumentError(
        "clean needs the directory of the run's --path, or with --hosts also --copies");
  }
  for (const auto& [given, name] :
       {std::pair{clean.copies, "--copies"}, std::pair{!clean.launcher.empty(), "--launcher"},
        std::pair{clean.timeout_s > 0, "--timeout"}}) {
    if (given && clean.hosts.empty())
      return absl::InvalidArgumentError(absl::StrCat(name, " is about other hosts: it needs --hosts LIST"));
  }
  return Command(std::move(clean));
}

}  // namespace iobench
