#include "coordinator/option/cli.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"
#include "common/text/utf8.h"
#include "common/version.h"
#include "coordinator/option/iozone_letters.h"
#include "coordinator/option/suite_files.h"
#include "coordinator/option/table_options.h"
#include "coordinator/option/transport_names.h"
#include "coordinator/option/typed_words.h"
#include "coordinator/option/usage.h"

namespace iobench {
namespace {

constexpr double kMaxTimeoutSeconds = 1e7;

const std::string& WhereGroup() {
  static const std::string group(TitleOf(OptionGroup::kWhere));
  return group;
}

// Omits CLI11's own text from the help ("UINT in [1 - 1024]").
template <typename T>
CLI::Validator InRange(T least, T most) {
  return CLI::Range(least, most).description("");
}

std::vector<std::string> TransportChoices() {
  std::vector<std::string> choices = {"auto"};
  choices.insert(choices.end(), std::begin(kTransportNames), std::end(kTransportNames));
  return choices;
}

// Adds options to a section of the help.
class Adder {
 public:
  Adder(CLI::App& app, std::string group) : app_(app), group_(std::move(group)) {}
  template <typename T>
  CLI::Option* Value(const char* names, T& value, const char* help, const char* type) {
    return app_.add_option(names, value, help)->group(group_)->type_name(type)->allow_extra_args(false);
  }
  // Parses 5, 5s, 500ms, 2min.
  CLI::Option* Seconds(const char* name, double& value, double least, const char* help) {
    const auto take = [&value, name, least](const std::string& text) {
      const absl::StatusOr<double> seconds = ParseSeconds(text, 1);
      if (!seconds.ok()) throw CLI::ValidationError(name, std::string(seconds.status().message()));
      if (*seconds < least || *seconds > kMaxTimeoutSeconds) {
        throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" is not a time from ", least, " to ",
                                                      kMaxTimeoutSeconds, " seconds"));
      }
      value = *seconds;
    };
    return app_.add_option_function<std::string>(name, take, help)
        ->group(group_)
        ->type_name("S")
        ->allow_extra_args(false);
  }
  CLI::Option* Flag(const char* names, bool& value, const char* help) {
    return app_.add_flag(names, value, help)->group(group_);
  }

 private:
  CLI::App& app_;
  std::string group_;
};

void AddClusterOptions(CLI::App& app, ClusterOptions& place) {
  Adder where(app, WhereGroup());
  where
      .Value("--transport", place.transport,
             "auto: mpi under mpirun, grpc with --listen or --spawn, otherwise local (in this process)",
             absl::StrJoin(TransportChoices(), "|").c_str())
      ->check(CLI::IsMember(TransportChoices()).description(""));
  where.Value("--spawn", place.spawn, "start N worker processes on this host", "N")
      ->check(InRange(1u, 1024u));
  where.Value("--listen", place.listen, "wait for workers at this address: :9400, [::1]:9400, unix:/path", "ADDR");
  where.Value("--workers", place.workers, "number of workers to wait for (with --listen)", "N")
      ->check(InRange(1u, 100000u));
  where.Value(
      "--client-list", place.client_list,
      "start a worker for each line \"client directory program [path]\" of FILE (IOzone: -+m), using $RSH (default "
      "ssh); -t N: use the first N lines, one lane each",
      "FILE");
  where.Value("--coordinator-host", place.coordinator_host,
              "with --client-list or --net-test: address at which clients reach this host (IOzone: -+h)", "HOST");
  where.Flag("--net-test", place.net_test,
             "test the network instead, without files: between each client and this host in both directions, then "
             "all at once (IOzone: -+t; -r: record size, --time: seconds per part)");
  where
      .Seconds("--join-timeout", place.join_timeout_s, 0,
               "give up if workers have not joined after S seconds (default 600)")
      ->each([&place](const std::string&) { place.join_timeout_given = true; });
  where.Seconds("--lost-after", place.lost_after_s, 1,
                "warn about an unresponsive worker, drop it as lost after S seconds (default 60)");
  where.Flag("--insecure", place.insecure, "listen on a network address without TLS");
  where.Flag("--progress", place.progress, "show progress even when stderr is not a terminal");
}

void AddResults(CLI::App& app, ClusterOptions& place) {
  Adder where(app, WhereGroup());
  where.Value("--out", place.out, "directory for the results (default: ./cluster-iobench.out/TIME)", "DIR");
  where.Flag("--force", place.force,
             "continue even if space is short or clients see different file systems; replace existing results and "
             "data of a crashed run");
}

absl::Status CheckClientList(const ClusterOptions& place) {
  for (const auto& [given, name] :
       {std::pair{place.spawn > 0, "--spawn"}, std::pair{place.workers > 0, "--workers"},
        std::pair{place.transport == "local", "--transport local"},
        std::pair{place.transport == "mpi", "--transport mpi"}}) {
    if (!given) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "-+m (--client-list) lists the workers and starts them: it cannot go with ", name));
  }
  return absl::OkStatus();
}

absl::Status CheckClusterOptions(const ClusterOptions& place) {
  if (!place.client_list.empty()) return CheckClientList(place);
  if (!place.coordinator_host.empty() && !place.net_test) {
    return absl::InvalidArgumentError(
        "-+h (--coordinator-host) is the address given to clients: it needs -+m (--client-list) or -+t (--net-test)");
  }
  if (place.listen.empty() != (place.workers == 0)) {
    return absl::InvalidArgumentError(place.listen.empty()
                                          ? "--workers N needs --listen ADDR, where they join"
                                          : "--listen ADDR needs --workers N, the number of workers to wait for");
  }
  if (place.spawn > 0 && !place.listen.empty()) {
    return absl::InvalidArgumentError("--spawn starts workers, --listen waits for them: use only one of the two");
  }
  const bool wants_grpc = place.spawn > 0 || !place.listen.empty();
  if (wants_grpc && (place.transport == "local" || place.transport == "mpi")) {
    return absl::InvalidArgumentError(absl::StrCat(place.spawn > 0 ? "--spawn" : "--listen",
                                                   " cannot go with --transport ", place.transport));
  }
  if (!wants_grpc && place.transport == "grpc") {
    return absl::InvalidArgumentError(
        "--transport grpc needs --listen ADDR --workers N, --spawn N or --client-list FILE");
  }
  return absl::OkStatus();
}

// CLI11 would ignore what follows --.
absl::Status CheckAllOptions(const std::vector<std::string>& arguments) {
  if (arguments[0] == "report" || arguments[0] == "clean")
    return absl::OkStatus();  // a directory may have any name
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", *(dashes + 1), "\" follows --, but `",
                                                 arguments[0],
                                                 "` takes nothing after --: put options before it"));
}

// The network test uses no files, so few options of a run apply to it.
absl::Status CheckNetTest(const ClusterOptions& place, const GivenOptions& given) {
  if (!place.net_test) return absl::OkStatus();
  constexpr std::string_view kUsed[] = {"record", "time", "lanes", "path"};
  for (const OptionSpec* option : given.options()) {
    const bool used = std::find(std::begin(kUsed), std::end(kUsed), option->name) != std::end(kUsed);
    const bool once = !used || option->name == "path" || given.Texts(option->name).size() == 1;
    if (used && once) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(*option), " cannot go with -+t (--net-test), which uses no files and ",
        used ? "takes one value for it" : "ignores it: use -r for the record size and --time for the duration"));
  }
  return absl::OkStatus();
}

// CLI11 does not quote names, but only quoted values are shortened when printed.
std::string WithLongWordsQuoted(const std::string& message) {
  constexpr size_t kLongBytes = 80;
  std::vector<std::string> words = absl::StrSplit(message, ' ');
  for (std::string& word : words) {
    if (word.size() > kLongBytes && word.find('"') == std::string::npos)
      word = absl::StrCat("\"", word, "\"");
  }
  return absl::StrJoin(words, " ");
}

// CLI11 treats an empty argument as missing.
absl::Status CheckNoneEmpty(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->nonpositional()) continue;
    const std::vector<std::string>& values = option->results();
    if (std::none_of(values.begin(), values.end(), [](const std::string& value) { return value.empty(); }))
      continue;
    return absl::InvalidArgumentError(
        absl::StrCat(option->get_name(), " needs an argument, but an empty one was given"));
  }
  return absl::OkStatus();
}

constexpr std::string_view kCommands[] = {"run", "worker", "report", "selftest", "clean"};
bool IsCommand(const std::string& word) {
  return std::find(std::begin(kCommands), std::end(kCommands), word) != std::end(kCommands);
}

// The names of a command's options, or of those without a command.
LongNames NamesOf(const CLI::App& app, const std::string& command) {
  LongNames names;
  const CLI::App& named = IsCommand(command) ? *app.get_subcommand(command) : app;
  for (const CLI::Option* option : named.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.known.push_back(name);
      if (!option->get_group().empty()) names.shown.push_back(name);
    }
  }
  return names;
}

// Handles a word after a leading --help, or after the command: a command to describe; otherwise it is unknown.
absl::Status TakeTopicOfHelp(std::vector<std::string>& arguments) {
  const size_t at = !arguments.empty() && IsCommand(arguments[0]) ? 1 : 0;
  if (arguments.size() < at + 2 || (arguments[at] != "--help" && arguments[at] != "-h"))
    return absl::OkStatus();
  const std::string topic = arguments[at + 1];
  if (topic.starts_with('-')) return absl::OkStatus();
  if (at == 1 || !IsCommand(topic)) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no help for \"", topic,
                     "\": use --help with a command (run --help, worker --help …) or for ",
                     "IOzone's letters (--help iozone)"));
  }
  arguments = {topic, "--help"};
  return absl::OkStatus();
}

// True for `--help iozone`, after `run` or alone.
bool AsksForLetters(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments.back() != "iozone") return false;
  const std::string& before = arguments[arguments.size() - 2];
  return before == "--help" || before == "-h";
}

constexpr char kFooter[] =
    "`--help iozone` lists IOzone's letters. docs/measurement.md defines the results. Exit codes: 0 ok, 1 bad usage "
    "or plan, 2 I/O failed, 3 a worker was lost, 130 interrupted.\n"
    "Example: mpirun -np 32 cluster-iobench --path /mnt/nfs -i 0 -i 1 -i 2 -c -e -r 1m -s 4g";

}  // namespace

absl::Status CheckUsesOf(const ClusterOptions& place, const std::string& transport) {
  const bool listens = !place.listen.empty() || !place.client_list.empty();
  if (place.insecure && !listens && transport != "mpi") {
    return absl::InvalidArgumentError(
        "--insecure only affects workers that join over the network: it needs --listen ADDR or -+m (--client-list)");
  }
  if (place.join_timeout_given && transport == "local") {
    return absl::InvalidArgumentError(
        "--join-timeout only affects workers that join: it needs --listen ADDR, --spawn N, -+m (--client-list) or "
        "mpirun");
  }
  return absl::OkStatus();
}

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& typed) {
  for (const std::string& argument : typed) {
    if (IsUtf8(argument)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", AsUtf8(argument), "\" is not UTF-8, so reports cannot show it: use another name"));
  }
  auto with_long_options = WithLongOptions(typed);
  if (!with_long_options.ok()) return with_long_options.status();
  std::vector<std::string> arguments = *std::move(with_long_options);

  CommandLine line;
  if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
  if (arguments.empty() || arguments == std::vector<std::string>{"run"}) {  // neither says what to do nor where
    line.command = Command::kUsage;
    line.text = ShortUsage();
    return line;
  }
  if (AsksForLetters(arguments)) {
    line.command = Command::kText;
    line.text = IozoneHelp();
    return line;
  }
  if (absl::Status status = TakeTopicOfHelp(arguments); !status.ok()) return status;
  CLI::App app("cluster-iobench: measure what a shared file system can do, from many clients at once",
               "cluster-iobench");
  app.require_subcommand(1);
  app.set_version_flag("-v,--version", absl::StrCat("cluster-iobench ", kProgramVersion));
  app.footer(
      "`run` is the default: `cluster-iobench --path /mnt/nfs -i 0 -i 1` works. `cluster-iobench run --help` "
      "lists its options.");

  CLI::App& run = *app.add_subcommand("run", "measure (the default)");
  TableOptions table;
  table.AddTo(run);
  Adder what(run, std::string(TitleOf(OptionGroup::kWhat)));
  what.Flag("--print-plan", line.print_plan, "print the plan as YAML with all defaults, and stop");
  what.Flag("--dry-run", line.dry_run, "check everything, print which worker would do what, and stop");
  AddClusterOptions(run, line.cluster);
  AddResults(run, line.cluster);
  run.footer(kFooter);
  std::vector<std::string> words;
  run.add_option("DIR", words, "directory to test in, same as --path")->type_name("");

  CLI::App& worker = *app.add_subcommand("worker", "join a run as a worker of a coordinator");
  worker.add_option("--join", line.join, "the coordinator's address: host:9400, unix:/path")
      ->required()
      ->type_name("ADDR");
  Adder(worker, worker.get_option("--join")->get_group())
      .Seconds("--join-timeout", line.cluster.join_timeout_s, 0,
               "give up if the coordinator cannot be reached for S seconds (default 600)");
  worker.add_option("--simulate", line.simulate, "act as N workers, each with its own connection")
      ->type_name("N")
      ->check(InRange(1u, 10000u));
  worker
      .add_option(
          "--path", line.worker_path,
          "where this worker tests, instead of the plan's --path: a directory, a file in it, or nfs://HOST/PATH")
      ->type_name("DIR");
  worker.add_option("--place", line.client_list_position, "its place in a client list, from 1")
      ->type_name("N")
      ->group("");
  worker.add_flag("--spawned", line.spawned, "")->group("");

  CLI::App& report =
      *app.add_subcommand("report", "print the report of a saved run again, recomputed from its raw data");
  report.add_option("DIR", line.report_directory, "directory with the run's results")->required();

  CLI::App& selftest = *app.add_subcommand(
      "selftest", "measure the tool itself: clocks, start skew, fixed cost of a phase, cost per op");
  AddClusterOptions(selftest, line.cluster);
  selftest.add_option("--simulate", line.simulate, "use N simulated workers over gRPC")
      ->type_name("N")
      ->group(WhereGroup())
      ->check(InRange(1u, 10000u));
  selftest.add_option("--phases", line.selftest_phases, "number of empty phases to run")
      ->type_name("N")
      ->check(InRange(1u, 10000u));
  selftest.add_option("-t,--lanes", line.selftest_lanes, "lanes per worker")
      ->type_name("N")
      ->check(InRange(1u, 4096u));

  CLI::App& clean =
      *app.add_subcommand("clean", "remove the data that a crashed run left below DIR, and nothing else");
  clean.add_option("DIR", line.clean_directory, "the run's --path")->required();
  clean.add_flag("--force", line.cluster.force,
                 "remove the data even if this host cannot check whether the run is still alive");

  // The default command is `run`.
  static constexpr std::string_view kOwn[] = {"-h", "--help", "-v", "--version"};
  const bool own = std::find(std::begin(kOwn), std::end(kOwn), arguments[0]) != std::end(kOwn);
  if (!own && !IsCommand(arguments[0])) {
    if (absl::Status status = CheckFirstWord(arguments[0], kCommands); !status.ok()) return status;
    arguments.insert(arguments.begin(), "run");
  }
  if (absl::Status status = CheckAllOptions(arguments); !status.ok()) return status;
  if (absl::Status status = CheckLongNames(arguments, NamesOf(app, arguments[0]));
      !status.ok()) {
    return status;
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
    if (const size_t at = message.find(": At Most 1 required"); at != std::string::npos) {
      message = absl::StrCat(message.substr(0, at), " was given twice");
    }
    if (const size_t at = message.find(": 1 required "); at != std::string::npos) {
      message = absl::StrCat(message.substr(0, at), " needs an argument");
    }
    std::replace(message.begin(), message.end(), '\n', ' ');
    return absl::InvalidArgumentError(
        absl::StrCat(WithLongWordsQuoted(message),
                     "; `cluster-iobench --help` lists commands, `cluster-iobench run --help` options"));
  }
  if (!line.text.empty()) {
    line.command = Command::kText;
    return line;
  }
  for (const CLI::App* const chosen : app.get_subcommands()) {
    if (absl::Status status = CheckNoneEmpty(*chosen); !status.ok()) return status;
  }
  if (app.got_subcommand(&run)) {
    line.command = Command::kRun;
    auto given = table.Given();
    if (!given.ok()) return given.status();
    for (const std::string& word : words) {
      if (!NamesDirectory(word)) return RefusalOfWord(word, typed);
      if (absl::Status status = given->Add("path", word); !status.ok()) return status;
    }
    if (given->Text("suite") == "list") {
      auto list = SuiteList();
      if (!list.ok()) return list.status();
      line.command = Command::kText;
      line.text = *std::move(list);
      return line;
    }
    given = Complete(*std::move(given));
    if (!given.ok()) return given.status();
    line.given = *std::move(given);
    if (absl::Status status = CheckClusterOptions(line.cluster); !status.ok()) return status;
    if (absl::Status status = CheckNetTest(line.cluster, line.given); !status.ok()) return status;
  } else if (app.got_subcommand(&worker)) {
    line.command = Command::kWorker;
  } else if (app.got_subcommand(&report)) {
    line.command = Command::kReport;
  } else if (app.got_subcommand(&selftest)) {
    line.command = Command::kSelftest;
    if (absl::Status status = CheckClusterOptions(line.cluster); !status.ok()) return status;
  } else {
    line.command = Command::kClean;
  }
  return line;
}

}  // namespace iobench
