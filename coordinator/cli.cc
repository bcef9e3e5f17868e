#include "coordinator/cli.h"

#include <algorithm>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/utf8.h"
#include "common/version.h"
#include "coordinator/iozone_letters.h"

namespace iobench {
namespace {

constexpr char kWhat[] = "What to do";
constexpr char kTimed[] = "How it is timed";
constexpr char kCaches[] = "Caches";
constexpr char kWhere[] = "Where";

// One option of the run command, added and remembered, so that `--plan` can say which others it excludes.
class Adder {
 public:
  Adder(CLI::App& app, const char* group) : app_(app), group_(group) {}
  template <typename T>
  CLI::Option* Value(const char* names, T& value, const char* help, const char* type) {
    return app_.add_option(names, value, help)->group(group_)->type_name(type)->allow_extra_args(false);
  }
  CLI::Option* Flag(const char* names, bool& value, const char* help) {
    return app_.add_flag(names, value, help)->group(group_);
  }

 private:
  CLI::App& app_;
  const char* group_;
};

void AddWork(CLI::App& app, WorkOptions& work) {
  Adder what(app, kWhat);
  what.Value("-i,--op", work.operations,
             "IOzone's number (0 write/rewrite, 1 read/reread, 2 random-read/random-write, 3 backward-read, "
             "4 record-rewrite, 5 stride-read, 8 random-mix, 9 pwrite, 10 pread) or a name; repeatable, done "
             "in this order",
             "NUMBER|NAME");
  what.Value("-r,--record", work.record, "record size: 64k, 1m; a bare number is KiB (default 64k)", "SIZE");
  what.Value("-s,--size", work.size, "size per lane (default 64m)", "SIZE");
  what.Value("-t,--lanes", work.lanes,
             "lanes (I/O threads with a file each) per worker (default: processors, at most 4; with more "
             "workers 1)",
             "N")
      ->check(CLI::Range(1u, 4096u));
  what.Value("--files-per-lane", work.files_per_lane, "split a lane's size over N files", "N")
      ->check(CLI::Range(1u, 1000000u));
  what.Value("--path", work.paths,
             "existing directory to test in; repeatable, workers are spread over them (default: .)", "DIR");
  what.Flag("--shared-file", work.shared_file, "one file for all lanes, an extent each (IOzone: -+V)");
  what.Value("-j,--stride", work.stride_records, "stride in records for stride-read", "N")
      ->check(CLI::Range(1u, 1u << 30));
  what.Value("--mix-percent", work.mix_percent, "random-mix: percentage of reads (IOzone: -+p; default 50)",
             "P")
      ->check(CLI::Range(1u, 100u));
  what.Flag("--mix-by-lane", work.mix_by_lane, "random-mix: whole lanes read or write");
  what.Flag("--no-retest", work.no_retest, "leave out rewrite, reread … of -i pairs (IOzone: -+n)");
  what.Value("--engine", work.engine, "posix, or null (moves nothing: measures the tool)", "NAME");
  what.Value("--seed", work.seed, "of random orders and data", "N");
  what.Value("--plan", work.plan_file, "do what this YAML plan says (--print-plan shows one)", "FILE");

  Adder timed(app, kTimed);
  timed.Flag("-c,--close-in-timing", work.close_in_timing, "close() is part of the timed region");
  timed.Flag("-e,--fsync-in-timing", work.fsync_in_timing, "fsync() is part of the timed region of writes");
  timed.Flag("--open-in-timing", work.open_in_timing, "open() is part of the timed region");
  timed.Flag("-I,--direct", work.direct, "O_DIRECT");
  timed.Flag("-o,--sync", work.sync, "O_SYNC");
  timed.Flag("--dsync", work.dsync, "O_DSYNC (IOzone: -+D)");
  CLI::Option* none = timed.Flag("-x,--no-stonewall", work.no_stonewall,
                                 "headline over the whole phase, stragglers included");
  timed
      .Flag("--stop-at-stonewall", work.stop_at_stonewall,
            "lanes stop when the first one has finished: saves time")
      ->excludes(none);
  timed.Value("--time", work.time_s, "lanes loop over their records for S seconds", "S");
  timed.Value("--warmup", work.warmup_s, "leave the first S seconds out of every figure", "S");
  timed.Value("--deadline", work.deadline_s, "end a phase after S seconds, without looping", "S");
  timed.Flag("--wear-out", work.wear_out,
             "after the deadline every lane does as much as the fastest had done");
  timed.Value("--repeat", work.repetitions, "run everything N times; median and interval are reported", "N")
      ->check(CLI::Range(1u, 10000u));

  Adder caches(app, kCaches);
  caches.Flag("--rotate-clients", work.rotate_clients, "read what a worker of the next client wrote");
  caches.Flag("--drop-caches", work.drop_caches,
              "before read phases: posix_fadvise always, drop_caches where root");
}

void AddPlace(CLI::App& app, PlaceOptions& place) {
  Adder where(app, kWhere);
  where
      .Value("--transport", place.transport,
             "auto: MPI under mpirun, grpc with --listen or --spawn, else in this process",
             "auto|local|mpi|grpc")
      ->check(CLI::IsMember({"auto", "local", "mpi", "grpc"}));
  where.Value("--spawn", place.spawn, "start N worker processes on this host", "N")
      ->check(CLI::Range(1u, 1024u));
  where.Value("--listen", place.listen, "wait here for workers: :9400, [::1]:9400, unix:/path", "ADDR");
  where.Value("--workers", place.workers, "how many workers join (with --listen)", "N")
      ->check(CLI::Range(1u, 100000u));
  where.Value("--join-timeout", place.join_timeout_s, "give up when they have not joined after S seconds",
              "S");
  where.Flag("--insecure", place.insecure, "listen on a network address without TLS");
  where.Flag("--progress", place.progress, "show progress even when stderr is not a terminal");
}

void AddResults(CLI::App& app, PlaceOptions& place, WorkOptions& work) {
  Adder where(app, kWhere);
  where.Flag("-w,--keep", work.keep, "keep the data for a later run");
  where.Value("--out", place.out, "directory of the results (default: cluster-iobench.out/TIME)", "DIR");
  where.Flag("--force", place.force,
             "go on although space is short, data of a crashed run or results are in the way");
}

// What `--plan` already says may not be said again.
absl::Status CheckPlanAlone(const CLI::App& app, const WorkOptions& work) {
  if (work.plan_file.empty()) return absl::OkStatus();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const std::string group = option->get_group();
    const std::string name = option->get_lnames().empty() ? "" : option->get_lnames()[0];
    if (name == "plan" || name == "path" || name == "keep" ||
        (group != kWhat && group != kTimed && group != kCaches))
      continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, " cannot go with --plan: write it into the plan instead"));
  }
  return absl::OkStatus();
}

absl::Status CheckPlace(const PlaceOptions& place) {
  if (place.listen.empty() != (place.workers == 0)) {
    return absl::InvalidArgumentError(place.listen.empty()
                                          ? "--workers N needs --listen ADDR, where they join"
                                          : "--listen ADDR needs --workers N: how many to wait for");
  }
  if (place.spawn > 0 && !place.listen.empty()) {
    return absl::InvalidArgumentError("--spawn starts workers, --listen waits for them: give one of the two");
  }
  const bool wants_grpc = place.spawn > 0 || !place.listen.empty();
  if (wants_grpc && (place.transport == "local" || place.transport == "mpi")) {
    return absl::InvalidArgumentError(absl::StrCat(place.spawn > 0 ? "--spawn" : "--listen",
                                                   " cannot go with --transport ", place.transport));
  }
  if (!wants_grpc && place.transport == "grpc") {
    return absl::InvalidArgumentError("--transport grpc needs --listen ADDR --workers N, or --spawn N");
  }
  return absl::OkStatus();
}

constexpr char kFooter[] =
    "Results are defined in docs/measurement.md. Exit codes: 0 ok, 1 bad usage or plan, 2 I/O failed, 3 a "
    "worker was lost, "
    "130 interrupted.\nExample: mpirun -np 32 cluster-iobench --path /mnt/nfs -i 0 -i 1 -i 2 -c -e -r 1m -s "
    "4g";

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& typed) {
  for (const std::string& argument : typed) {
    if (IsUtf8(argument)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", AsUtf8(argument), "\" is not UTF-8, so no report could name it: use another name"));
  }
  auto with_long_options = WithLongOptions(typed);
  if (!with_long_options.ok()) return with_long_options.status();
  std::vector<std::string> arguments = *std::move(with_long_options);

  CommandLine line;
  CLI::App app("cluster-iobench: what can this shared file system do, measured on many clients at once",
               "cluster-iobench");
  app.require_subcommand(1);
  app.set_version_flag("--version", absl::StrCat("cluster-iobench ", kProgramVersion));
  app.footer(
      "`run` is the default: `cluster-iobench --path /mnt/nfs -i 0 -i 1` works. `cluster-iobench run --help` "
      "lists its options.");

  CLI::App& run = *app.add_subcommand("run", "measure (the default)");
  AddWork(run, line.work);
  run.add_flag("--print-plan", line.print_plan, "print the plan as YAML, every default written out, and stop")
      ->group(kWhat);
  run.add_flag("--dry-run", line.dry_run, "check everything, say who would do what, and stop")->group(kWhat);
  AddPlace(run, line.place);
  AddResults(run, line.place, line.work);
  run.footer(kFooter);

  CLI::App& worker = *app.add_subcommand("worker", "take part in a run that a coordinator leads");
  worker.add_option("--join", line.join, "the coordinator's address: host:9400, unix:/path")
      ->required()
      ->type_name("ADDR");
  worker
      .add_option("--join-timeout", line.place.join_timeout_s,
                  "give up when it cannot be reached for S seconds")
      ->type_name("S");
  worker.add_option("--simulate", line.simulate, "take part as N workers, each with a connection of its own")
      ->type_name("N")
      ->check(CLI::Range(1u, 10000u));
  worker.add_flag("--spawned", line.spawned, "")->group("");

  CLI::App& report =
      *app.add_subcommand("report", "print a saved run again, worked out anew from its raw data");
  report.add_option("DIR", line.report_directory, "the run's results")->required();

  CLI::App& selftest = *app.add_subcommand(
      "selftest", "measure the tool itself: clocks, start skew, fixed cost of a phase, cost per op");
  AddPlace(selftest, line.place);
  selftest.add_option("--simulate", line.simulate, "with so many simulated workers over gRPC")
      ->type_name("N")
      ->group(kWhere)
      ->check(CLI::Range(1u, 10000u));
  selftest.add_option("--phases", line.selftest_phases, "empty phases to run")
      ->type_name("N")
      ->check(CLI::Range(1u, 10000u));
  selftest.add_option("-t,--lanes", line.work.lanes, "lanes per worker")
      ->type_name("N")
      ->check(CLI::Range(1u, 4096u));

  CLI::App& clean =
      *app.add_subcommand("clean", "remove the data that a crashed run left below DIR, nothing else");
  clean.add_option("DIR", line.clean_directory, "the run's --path")->required();

  // Without a command it is `run`.
  static constexpr const char* kOwn[] = {"run",   "worker", "report", "selftest",
                                         "clean", "-h",     "--help", "--version"};
  if (arguments.empty() || std::none_of(std::begin(kOwn), std::end(kOwn),
                                        [&](const char* word) { return arguments[0] == word; })) {
    arguments.insert(arguments.begin(), "run");
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForVersion&) {
    line.text = absl::StrCat("cluster-iobench ", kProgramVersion, "\n");
  } catch (const CLI::CallForHelp&) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    line.text = chosen.empty() ? app.help() : chosen[0]->help();
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    return absl::InvalidArgumentError(absl::StrCat(
        message, "; `cluster-iobench --help` lists commands, `cluster-iobench run --help` options"));
  }
  if (!line.text.empty()) {
    line.command = Command::kText;
    return line;
  }
  if (app.got_subcommand(&run)) {
    line.command = Command::kRun;
    if (absl::Status status = CheckPlanAlone(run, line.work); !status.ok()) return status;
    if (absl::Status status = CheckPlace(line.place); !status.ok()) return status;
  } else if (app.got_subcommand(&worker)) {
    line.command = Command::kWorker;
  } else if (app.got_subcommand(&report)) {
    line.command = Command::kReport;
  } else if (app.got_subcommand(&selftest)) {
    line.command = Command::kSelftest;
    if (absl::Status status = CheckPlace(line.place); !status.ok()) return status;
  } else {
    line.command = Command::kClean;
  }
  return line;
}

}  // namespace iobench
