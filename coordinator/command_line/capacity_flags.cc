#include "coordinator/command_line/capacity_flags.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

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

// Options that shape a list of phases, or say how fast ops come, which capacity does itself.
constexpr std::string_view kOwnMatter[] = {"background",        "background-clients",
                                           "server-path",       "each-path",
                                           "per-client",        "auto",
                                           "auto-read-write",   "min-lanes",
                                           "max-lanes",         "lane-rate",
                                           "ops-per-second",    "think",
                                           "burst",             "rest",
                                           "deadline",          "require",
                                           "stop-at-stonewall", "write-trace",
                                           "read-trace",        "max-ops",
                                           "wear-out",          "soak"};

absl::Status CheckUsers(const CapacityOptions& options) {
  if ((options.users > 0) == (options.user_per_s > 0)) return absl::OkStatus();
  return absl::InvalidArgumentError("--users N and --user-rate OPS belong together: give both, or none");
}

// The options of `run` whose defaults or meaning differ here.
constexpr std::pair<const char*, const char*> kOwnHelp[] = {
    {"--path",
     "existing directory to test in (with --engine libnfs: nfs://HOST/PATH); repeatable: workers are "
     "distributed over them"},
    {"--op",
     "operation: IOzone's number or a name (`--help iozone` lists both); default: random-mix, 70 % reads"},
    {"--record", "record size, such as 64k or 1m; a bare number is KiB (default 8k; 64k with --op)"},
    {"--size",
     "data per lane (default 64m); 2xram or 200%: each client gets at least twice the smallest client's "
     "memory, even in the phase with the fewest lanes"},
    {"--lanes",
     "max lanes (I/O threads, each with its own file) per worker; fewer are measured too (default 16)"},
    {"--mix-percent", "mixes: percentage of reads (default 70; 50 with --op) (IOzone: -+p)"},
    {"--mix",
     "several operations at once: \"70r:30w@8k + stat 10%\", a YAML file, or the name of a built-in mix (`--mix "
     "list`); needs a worker per part on every client"},
    {"--mix-factor", "with a --mix that has rates: start at X times its load (default 1)"},
    {"--rate", "with a --mix of shares: starting load in ops/s over all lanes"},
    {"--time", "length of each phase, with its warm-up (default 6)"},
    {"--warmup", "exclude the first S seconds of each phase (default 1)"},
    {"--repeat", "measure each level and each point of the load curve N times (default 3)"},
};

void AddQuestions(CLI::App& app, CapacityOptions& options, ClusterOptions& cluster, bool& dry_run) {
  Adder what(app, "Questions");
  what.Value("--slo", options.slo,
             "find the highest load that meets this limit on response time: p99<=10ms, mean<5ms …", "SLO");
  what.Value("--load", options.load_per_s, "today's load in ops/s: report its headroom and response time",
             "OPS")
      ->check(InRange(1e-3, 1e12));
  what.Value("--need", options.need, "report how many clients reach this rate: 5GiB/s, or a number of ops/s",
             "RATE");
  what.Value("--users", options.users,
             "report whether the storage sustains this many users, with --user-rate", "N")
      ->check(InRange(1.0, 1e12));
  what.Value("--user-rate", options.user_per_s, "ops/s per user", "OPS")->check(InRange(1e-6, 1e9));
  Adder how(app, "Measurement");
  how.Value("--points", options.points, "points on the load curve (default 10)", "N")
      ->transform(WholeInRange(1, 100));
  how.Seconds("--max-duration", cluster.max_duration_s, 1,
              "take about S seconds at most, with fewer repetitions, fewer points and shorter phases");
  how.Flag("--dry-run", dry_run, "check everything, print the planned phases and their duration, and stop");
}

void AddCapacityReport(CLI::App& app, CapacityOptions& options, ClusterOptions& cluster) {
  Adder report(app, "Report");
  const std::vector<std::string> formats(std::begin(kCapacityFormatNames), std::end(kCapacityFormatNames));
  report
      .Value("--format", options.format, "output format (default: text)", absl::StrJoin(formats, "|").c_str())
      ->check(CLI::IsMember(formats).description(""));
  report.Value("--output", options.output, "write the report to FILE instead of standard output", "FILE");
  report.Value(
      "--saved", options.saved,
      "show a saved capacity run instead of measuring; repeatable: runs are overlaid. --load, --need and "
      "--users can be asked again",
      "DIR");
  report.Value("--out", cluster.out, "directory for results (default: a new one in cluster-iobench.out)",
               "DIR");
  report.Value("--label", cluster.label, "name of this run in reports", "TEXT");
  report.Flag("--force", cluster.force, "replace FILE and an earlier result in --out");
  report.Flag("--progress", cluster.progress, "print each phase to stderr, even without a terminal");
}

}  // namespace

CLI::App* AddCapacityCommand(CLI::App& app) {
  return app.add_subcommand(
      "capacity",
      "find how much load storage sustains: scaling, load curve, highest load under an SLO, headroom");
}

void AddCapacityOptions(CLI::App& capacity, CapacityOptions& options, ClusterOptions& cluster, bool& dry_run,
                        TableOptions& table, std::vector<std::string>& words) {
  table.AddTo(capacity);
  for (CLI::Option* const option : capacity.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    const bool shown = std::any_of(names.begin(), names.end(), [](const std::string& name) {
      return std::find(std::begin(kShownOptions), std::end(kShownOptions), name) != std::end(kShownOptions);
    });
    if (!shown) option->group("");
  }
  for (const auto& [name, help] : kOwnHelp) capacity.get_option(name)->description(help);
  AddClusterOptions(capacity, cluster);
  capacity.get_option("--client-list")
      ->description(
          "start a worker for each line \"client directory program [path]\" of FILE (IOzone: -+m), using $RSH "
          "(default ssh); -t N: up to N lanes on each");
  for (const char* const of_runs : {"--net-test", "--progress"}) {
    capacity.remove_option(capacity.get_option(of_runs));
  }
  AddPreflightOptions(capacity, cluster);
  AddQuestions(capacity, options, cluster, dry_run);
  AddCapacityReport(capacity, options, cluster);
  capacity.footer(
      "All options of `run` that describe one phase are accepted (`cluster-iobench run --help`). "
      "docs/capacity.md explains the report. Exit codes: 0 ok, 1 bad usage, 2 I/O failed, 3 a worker was lost, "
      "4 the SLO cannot be met or the load (--load, the mix) is too high, 130 interrupted.\n"
      "Example: cluster-iobench capacity --hosts c[01-04] --path /mnt/nfs --slo 'p99<=10ms' --load 20000");
  capacity.add_option("DIR", words, "directory to test in, same as --path")->type_name("");
}

absl::Status CheckSavedCapacity(const CLI::App& app, const CapacityOptions& options, bool has_workload) {
  if (has_workload) {
    return absl::InvalidArgumentError(
        "--saved shows saved runs: it cannot be combined with options of a workload");
  }
  constexpr std::string_view kUseful[] = {"saved", "format", "output", "force",
                                          "load",  "need",   "users",  "user-rate"};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string& name = option->get_lnames().front();
    if (std::find(std::begin(kUseful), std::end(kUseful), name) != std::end(kUseful)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--saved measures nothing: it cannot be combined with --", name));
  }
  return CheckUsers(options);
}

absl::Status CompleteCapacity(const CapacityOptions& options, bool own_paths, GivenOptions& given) {
  for (const std::string_view name : kOwnMatter) {
    if (!given.Has(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(OptionNamed(name)),
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
  for (const auto& [name, value] : {std::pair("lanes", "16"), std::pair("time", "6"),
                                    std::pair("warmup", "1"), std::pair("repeat", "3")}) {
    if (!given.Has(name)) IOBENCH_RETURN_IF_ERROR(given.Add(name, value));
  }
  return absl::OkStatus();
}

}  // namespace iobench
