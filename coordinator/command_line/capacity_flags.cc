#include "coordinator/command_line/capacity_flags.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "coordinator/command_line/cluster_flags.h"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/option/format_names.h"

namespace iobench {
namespace {

// The options of `run` that its help shows; it accepts the others too.
constexpr std::string_view kShownOptions[] = {
    "path", "op",     "record", "size",   "lanes",  "mix-percent", "mix",   "mix-factor",
    "rate", "engine", "time",   "warmup", "repeat", "direct",      "depth", "help"};

// They shape a list of phases, or say how fast ops come, which capacity does itself.
constexpr std::string_view kOwnMatter[] = {
    "background", "background-clients", "each-path",   "per-client",     "auto",    "auto-read-write",
    "min-lanes",  "max-lanes",          "lane-rate",   "ops-per-second", "think",   "deadline",
    "require",    "stop-at-stonewall",  "write-trace", "read-trace",     "max-ops", "wear-out"};

void AddQuestions(CLI::App& app, CapacityOptions& options, ClusterOptions& cluster, bool& dry_run) {
  Adder what(app, "What is asked");
  what.Value("--slo", options.slo,
             "find the highest load that keeps this limit on response time: p99<=10ms, mean<5ms …", "SLO");
  what.Value("--load", options.load_per_s,
             "today's load in ops/s: how much it can grow, and its response time", "OPS")
      ->check(InRange(1e-3, 1e12));
  what.Value("--need", options.need, "how many clients give this rate: 5GiB/s, or a number of ops/s", "RATE");
  what.Value("--users", options.users, "whether so many users are carried, with --user-rate", "N")
      ->check(InRange(1.0, 1e12));
  what.Value("--user-rate", options.user_per_s, "ops/s of each user", "OPS")->check(InRange(1e-6, 1e9));
  Adder how(app, "How it is measured");
  how.Value("--points", options.points, "number of points of the load curve (default 10)", "N")
      ->check(InRange(1u, 100u));
  how.Seconds("--max-duration", cluster.max_duration_s, 1,
              "measure for about S seconds at most: fewer repetitions, fewer points, shorter phases");
  how.Flag("--dry-run", dry_run,
           "check everything, print what would be measured and how long it takes, and stop");
}

void AddCapacityReport(CLI::App& app, CapacityOptions& options, ClusterOptions& cluster) {
  Adder report(app, "Report");
  const std::vector<std::string> formats(std::begin(kCapacityFormatNames), std::end(kCapacityFormatNames));
  report
      .Value("--format", options.format, "output format (default: text)", absl::StrJoin(formats, "|").c_str())
      ->check(CLI::IsMember(formats).description(""));
  report.Value("--output", options.output, "write the report to FILE, instead of standard output", "FILE");
  report.Value("--saved", options.saved,
               "measure nothing, but show this saved capacity run; several are laid over each other", "DIR");
  report.Value("--out", cluster.out, "directory for results (default: a new one in cluster-iobench.out)",
               "DIR");
  report.Value("--label", cluster.label, "a name for this run, shown in reports", "TEXT");
  report.Flag("--force", cluster.force, "replace FILE and an earlier result in --out");
  report.Flag("--progress", cluster.progress, "say on stderr what is measured, also without a terminal");
}

}  // namespace

CLI::App* AddCapacityCommand(CLI::App& app, CapacityOptions& options, ClusterOptions& cluster, bool& dry_run,
                             TableOptions& table, std::vector<std::string>& words) {
  CLI::App* const capacity = app.add_subcommand(
      "capacity", "find how much storage carries: scaling, load curve, highest load under an SLO, headroom");
  table.AddTo(*capacity);
  for (CLI::Option* const option : capacity->get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    const bool shown = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return std::find(std::begin(kShownOptions), std::end(kShownOptions), name) != std::end(kShownOptions);
    });
    if (!shown) option->group("");
  }
  AddClusterOptions(*capacity, cluster);
  for (const char* const of_runs : {"--net-test", "--progress"}) {
    capacity->remove_option(capacity->get_option(of_runs));
  }
  AddPreflightOptions(*capacity, cluster);
  AddQuestions(*capacity, options, cluster, dry_run);
  AddCapacityReport(*capacity, options, cluster);
  capacity->footer(
      "The workload is described with the options of `run`, all of which are accepted that describe one phase; the "
      "default is random-mix with 70 % reads of 8 KiB, 16 lanes per worker, phases of 6 s with a warm-up of 1 s, 3 "
      "repetitions. "
      "docs/capacity.md says how to read the answer. Exit codes: 0 ok, 1 bad usage, 2 I/O failed, 3 a worker was lost, "
      "4 the SLO cannot be met or --load is too much, 130 interrupted.\n"
      "Example: cluster-iobench capacity --hosts c[01-04] --path /mnt/nfs --slo 'p99<=10ms' --load 20000");
  capacity->add_option("DIR", words, "directory to test in, same as --path")->type_name("");
  return capacity;
}

absl::Status CompleteCapacity(const CapacityOptions& options, bool own_paths, GivenOptions& given) {
  for (const std::string_view name : kOwnMatter) {
    if (!given.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(OptionNamed(name)),
                     " cannot be combined with capacity, which chooses lanes, loads "
                     "and times itself"));
  }
  if ((options.users > 0) != (options.user_per_s > 0))
    return absl::InvalidArgumentError("--users N and --user-rate OPS belong together: give both, or none");
  if (given.Has("rate") && !given.Has("mix")) {
    return absl::InvalidArgumentError(
        "--rate cannot be combined with capacity, which finds the rate itself; --load is for today's load");
  }
  const bool has_plan = given.Has("plan") || given.Has("suite");
  if (!has_plan && !given.Has("path") && !given.Has("file") && !given.Has("files") && !own_paths)
    return absl::InvalidArgumentError("capacity needs the directory to measure in: --path DIR");
  if (has_plan) return absl::OkStatus();
  if (!given.Has("op") && !given.Has("mix")) {
    IOBENCH_RETURN_IF_ERROR(given.Add("op", "random-mix"));
    if (!given.Has("mix-percent")) IOBENCH_RETURN_IF_ERROR(given.Add("mix-percent", "70"));
    if (!given.Has("record")) IOBENCH_RETURN_IF_ERROR(given.Add("record", "8k"));
  }
  for (const auto& [name, value] : {std::pair("lanes", "16"), std::pair("time", "6"),
                                    std::pair("warmup", "1"), std::pair("repeat", "3")}) {
    if (!given.Has(name)) IOBENCH_RETURN_IF_ERROR(given.Add(name, value));
  }
  return absl::OkStatus();
}

}  // namespace iobench
