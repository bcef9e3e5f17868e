#include "coordinator/option/cli.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/status_util.h"
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
  where.Value("--listen", place.listen, "wait for workers at this address: :9400, [::1]:9400, unix:/path",
              "ADDR");
  where.Value("--workers", place.workers, "number of workers to wait for (with --listen)", "N")
      ->check(InRange(1u, 100000u));
  where.Value(
      "--client-list", place.client_list,
      "start a worker for each line \"client directory program [path]\" of FILE (IOzone: -+m), using $RSH (default "
      "ssh); -t N: use the first N lines, one lane each",
      "FILE");
  where.Value("--coordinator-host", place.coordinator_host,
              "with --client-list or --net-test: address at which clients reach this host (IOzone: -+h)",
              "HOST");
  where.Flag(
      "--net-test", place.net_test,
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
  where.Flag(
      "--force", place.force,
      "continue even if space is short or clients see different file systems; replace existing results and "
      "data of a crashed run");
}

// CLI11 would ignore what follows --.
absl::Status CheckAllOptions(const std::vector<std::string>& arguments) {
  if (arguments[0] == "report" || arguments[0] == "clean")
    return absl::OkStatus();  // a directory may have any name
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", *(dashes + 1), "\" follows --, but `", arguments[0],
                                                 "` takes nothing after --: put options before it"));
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

// Reports cannot show other names.
absl::Status CheckUtf8(const std::vector<std::string>& typed) {
  for (const std::string& argument : typed) {
    if (IsUtf8(argument)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", AsUtf8(argument), "\" is not UTF-8, so reports cannot show it: use another name"));
  }
  return absl::OkStatus();
}

// The default command is `run`. InvalidArgument: the first word is similar to another command.
absl::Status AddDefaultCommand(std::vector<std::string>& arguments) {
  static constexpr std::string_view kOwn[] = {"-h", "--help", "-v", "--version"};
  const bool own = std::find(std::begin(kOwn), std::end(kOwn), arguments[0]) != std::end(kOwn);
  if (own || IsCommand(arguments[0])) return absl::OkStatus();
  IOBENCH_RETURN_IF_ERROR(CheckFirstWord(arguments[0], kCommands));
  arguments.insert(arguments.begin(), "run");
  return absl::OkStatus();
}

// Returns CLI11's message in our words, on one line.
std::string MessageOf(const CLI::ParseError& error) {
  std::string message = error.what();
  if (const size_t at = message.find(": At Most 1 required"); at != std::string::npos) {
    message = absl::StrCat(message.substr(0, at), " was given twice");
  }
  if (const size_t at = message.find(": 1 required "); at != std::string::npos) {
    message = absl::StrCat(message.substr(0, at), " needs an argument");
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return absl::StrCat(WithLongWordsQuoted(message),
                      "; `cluster-iobench --help` lists commands, `cluster-iobench run --help` options");
}

std::string VersionText() {
  return absl::StrCat("cluster-iobench ", kProgramVersion);
}

CommandLine TextLine(Command command, std::string text) {
  CommandLine line;
  line.command = command;
  line.text = std::move(text);
  return line;
}

// All commands with their options. CLI11 stores what it parses in this object, so it cannot be moved.
class CommandParser {
 public:
  CommandParser() {
    app_.require_subcommand(1);
    app_.set_version_flag("-v,--version", VersionText());
    app_.footer(
        "`run` is the default: `cluster-iobench --path /mnt/nfs -i 0 -i 1` works. `cluster-iobench run --help` "
        "lists its options.");
    AddRun();
    AddWorker();
    AddReport();
    AddSelftest();
    AddClean();
  }
  CommandParser(const CommandParser&) = delete;
  CommandParser& operator=(const CommandParser&) = delete;

  const CLI::App& app() const { return app_; }

  // Parses arguments that begin with a command, or with an option for help or the version. `typed`: the same as the
  // user wrote them, for messages. Call it once.
  absl::StatusOr<CommandLine> Parse(std::vector<std::string> arguments,
                                    const std::vector<std::string>& typed) {
    IOBENCH_ASSIGN_OR_RETURN(std::string text, TextOrEmpty(std::move(arguments)));
    if (!text.empty()) return TextLine(Command::kText, std::move(text));
    for (const CLI::App* const chosen : app_.get_subcommands()) {
      IOBENCH_RETURN_IF_ERROR(CheckNoneEmpty(*chosen));
    }
    if (app_.got_subcommand(run_)) IOBENCH_RETURN_IF_ERROR(TakeRun(typed));
    if (app_.got_subcommand(worker_)) line_.command = Command::kWorker;
    if (app_.got_subcommand(report_)) line_.command = Command::kReport;
    if (app_.got_subcommand(clean_)) line_.command = Command::kClean;
    if (app_.got_subcommand(selftest_)) {
      line_.command = Command::kSelftest;
      IOBENCH_RETURN_IF_ERROR(CheckClusterOptions(line_.cluster));
    }
    return std::move(line_);
  }

 private:
  void AddRun() {
    run_ = app_.add_subcommand("run", "measure (the default)");
    table_.AddTo(*run_);
    Adder what(*run_, std::string(TitleOf(OptionGroup::kWhat)));
    what.Flag("--print-plan", line_.print_plan, "print the plan as YAML with all defaults, and stop");
    what.Flag("--dry-run", line_.dry_run, "check everything, print which worker would do what, and stop");
    AddClusterOptions(*run_, line_.cluster);
    AddResults(*run_, line_.cluster);
    run_->footer(kFooter);
    run_->add_option("DIR", words_, "directory to test in, same as --path")->type_name("");
  }

  void AddWorker() {
    worker_ = app_.add_subcommand("worker", "join a run as a worker of a coordinator");
    worker_->add_option("--join", line_.join, "the coordinator's address: host:9400, unix:/path")
        ->required()
        ->type_name("ADDR");
    Adder(*worker_, worker_->get_option("--join")->get_group())
        .Seconds("--join-timeout", line_.cluster.join_timeout_s, 0,
                 "give up if the coordinator cannot be reached for S seconds (default 600)");
    worker_->add_option("--simulate", line_.simulate, "act as N workers, each with its own connection")
        ->type_name("N")
        ->check(InRange(1u, 10000u));
    worker_
        ->add_option(
            "--path", line_.worker_path,
            "where this worker tests, instead of the plan's --path: a directory, a file in it, or nfs://HOST/PATH")
        ->type_name("DIR");
    worker_->add_option("--place", line_.client_list_position, "its place in a client list, from 1")
        ->type_name("N")
        ->group("");
    worker_->add_flag("--spawned", line_.spawned, "")->group("");
  }

  void AddReport() {
    report_ =
        app_.add_subcommand("report", "print the report of a saved run again, recomputed from its raw data");
    report_->add_option("DIR", line_.report_directory, "directory with the run's results")->required();
  }

  void AddSelftest() {
    selftest_ = app_.add_subcommand(
        "selftest", "measure the tool itself: clocks, start skew, fixed cost of a phase, cost per op");
    AddClusterOptions(*selftest_, line_.cluster);
    selftest_->add_option("--simulate", line_.simulate, "use N simulated workers over gRPC")
        ->type_name("N")
        ->group(WhereGroup())
        ->check(InRange(1u, 10000u));
    selftest_->add_option("--phases", line_.selftest_phases, "number of empty phases to run")
        ->type_name("N")
        ->check(InRange(1u, 10000u));
    selftest_->add_option("-t,--lanes", line_.selftest_lanes, "lanes per worker")
        ->type_name("N")
        ->check(InRange(1u, 4096u));
  }

  void AddClean() {
    clean_ =
        app_.add_subcommand("clean", "remove the data that a crashed run left below DIR, and nothing else");
    clean_->add_option("DIR", line_.clean_directory, "the run's --path")->required();
    clean_->add_flag("--force", line_.cluster.force,
                     "remove the data even if this host cannot check whether the run is still alive");
  }

  // Returns the help or the version if that is what the arguments ask for.
  absl::StatusOr<std::string> TextOrEmpty(std::vector<std::string> arguments) {
    std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
    try {
      app_.parse(arguments);
    } catch (const CLI::CallForVersion&) {
      return absl::StrCat(VersionText(), "\n");
    } catch (const CLI::CallForHelp&) {
      const std::vector<CLI::App*> chosen = app_.get_subcommands();
      return chosen.empty() ? app_.help() : chosen[0]->help();
    } catch (const CLI::ParseError& error) {
      return absl::InvalidArgumentError(MessageOf(error));
    }
    return std::string();
  }

  absl::Status TakeRun(const std::vector<std::string>& typed) {
    line_.command = Command::kRun;
    IOBENCH_ASSIGN_OR_RETURN(GivenOptions given, table_.Given());
    for (const std::string& word : words_) {
      if (!NamesDirectory(word)) return RefusalOfWord(word, typed);
      IOBENCH_RETURN_IF_ERROR(given.Add("path", word));
    }
    if (given.Text("suite") == "list") {
      line_.command = Command::kText;
      IOBENCH_ASSIGN_OR_RETURN(line_.text, SuiteList());
      return absl::OkStatus();
    }
    IOBENCH_ASSIGN_OR_RETURN(line_.given, Complete(std::move(given)));
    IOBENCH_RETURN_IF_ERROR(CheckClusterOptions(line_.cluster));
    return CheckNetTest(line_.cluster, line_.given);
  }

  CLI::App app_{"cluster-iobench: measure what a shared file system can do, from many clients at once",
                "cluster-iobench"};
  CLI::App* run_ = nullptr;  // these belong to app_
  CLI::App* worker_ = nullptr;
  CLI::App* report_ = nullptr;
  CLI::App* selftest_ = nullptr;
  CLI::App* clean_ = nullptr;
  TableOptions table_;
  std::vector<std::string> words_;  // of `run`: those that belong to no option
  CommandLine line_;
};

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& typed) {
  IOBENCH_RETURN_IF_ERROR(CheckUtf8(typed));
  IOBENCH_ASSIGN_OR_RETURN(std::vector<std::string> arguments, WithLongOptions(typed));
  if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
  if (arguments.empty() ||
      arguments == std::vector<std::string>{"run"}) {  // neither says what to do nor where
    return TextLine(Command::kUsage, ShortUsage());
  }
  if (AsksForLetters(arguments)) return TextLine(Command::kText, IozoneHelp());
  IOBENCH_RETURN_IF_ERROR(TakeTopicOfHelp(arguments));
  IOBENCH_RETURN_IF_ERROR(AddDefaultCommand(arguments));
  IOBENCH_RETURN_IF_ERROR(CheckAllOptions(arguments));
  CommandParser parser;
  IOBENCH_RETURN_IF_ERROR(CheckLongNames(arguments, NamesOf(parser.app(), arguments[0])));
  return parser.Parse(std::move(arguments), typed);
}

}  // namespace iobench
