#include "coordinator/command_line/cli.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "common/version.h"
#include "coordinator/command_line/capacity_flags.h"
#include "coordinator/command_line/cluster_flags.h"
#include "coordinator/command_line/command_help.h"
#include "coordinator/command_line/observe_flags.h"
#include "coordinator/command_line/option_adder.h"
#include "coordinator/command_line/saved_run_flags.h"
#include "coordinator/command_line/table_options.h"
#include "coordinator/command_line/typed_words.h"
#include "coordinator/command_line/usage.h"
#include "coordinator/command_line/validate_flags.h"
#include "coordinator/command_line/worker_flags.h"
#include "coordinator/option/iozone_letters.h"
#include "coordinator/option/shipped_files.h"
#include "coordinator/option/suite_files.h"

namespace iobench {
namespace {

constexpr std::string_view kCommands[] = {"run",    "preflight", "validate", "capacity", "observe", "worker",
                                          "report", "compare",   "history",  "selftest", "clean"};
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

// Handles a word after --help, which is first or follows a command: a command to describe; any other word is unknown.
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
    "`--help iozone` lists IOzone's letters. docs/definitions.md defines the results. Exit codes: 0 ok, 1 bad usage "
    "or plan, 2 I/O or verification failed, 3 a worker was lost, 4 a criterion was not met, 130 interrupted.\n"
    "Example: mpirun -np 32 cluster-iobench --path /mnt/nfs -i 0 -i 1 -i 2 -c -e -r 1m -s 4g";

// The default command is `run`. InvalidArgument: the first word is similar to another command.
absl::Status AddDefaultCommand(std::vector<std::string>& arguments) {
  static constexpr std::string_view kOwn[] = {"-h", "--help", "-v", "--version"};
  const bool own = std::find(std::begin(kOwn), std::end(kOwn), arguments[0]) != std::end(kOwn);
  if (own || IsCommand(arguments[0])) return absl::OkStatus();
  IOBENCH_RETURN_IF_ERROR(CheckFirstWord(arguments[0], kCommands));
  arguments.insert(arguments.begin(), "run");
  return absl::OkStatus();
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
  // `command`: the only one that will be parsed or described; empty: any. Commands with the options of `run`, which
  // CLI11 compares with each other, get them only if they may be asked for.
  explicit CommandParser(std::string_view command = "") : command_(command) {
    app_.require_subcommand(1);
    app_.formatter(HelpFormatter());
    app_.set_version_flag("-v,--version", VersionText());
    app_.footer(
        "`run` is the default: `cluster-iobench --path /mnt/nfs -i 0 -i 1` works. `cluster-iobench run --help` "
        "lists its options.");
    AddRun();
    AddPreflight();
    validate_ = AddValidateCommand(app_, line_.validate, line_.cluster, words_);
    capacity_ = AddCapacityCommand(app_);
    if (MayParse("capacity")) {
      AddCapacityOptions(*capacity_, line_.capacity, line_.cluster, line_.dry_run, capacity_table_, words_);
    }
    worker_ = AddWorkerCommand(app_, line_);
    report_ = AddReportCommand(app_, line_.report);
    compare_ = AddCompareCommand(app_, line_.compare);
    history_ = AddHistoryCommand(app_, line_.compare);
    observe_ = AddObserveCommand(app_, line_.observe, words_);
    AddSelftest();
    AddClean();
    for (CLI::App* const each : app_.get_subcommands({})) each->group("Commands");
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
    if (app_.got_subcommand(run_)) IOBENCH_RETURN_IF_ERROR(TakeRun(Command::kRun, table_, typed));
    if (app_.got_subcommand(preflight_)) {
      IOBENCH_RETURN_IF_ERROR(TakeRun(Command::kPreflight, preflight_table_, typed));
    }
    if (app_.got_subcommand(capacity_)) IOBENCH_RETURN_IF_ERROR(TakeCapacity(typed));
    if (app_.got_subcommand(validate_)) IOBENCH_RETURN_IF_ERROR(TakeValidate(typed));
    if (app_.got_subcommand(worker_)) IOBENCH_RETURN_IF_ERROR(TakeWorker(line_));
    if (app_.got_subcommand(report_)) IOBENCH_RETURN_IF_ERROR(TakeReport(line_));
    if (app_.got_subcommand(compare_)) line_.command = Command::kCompare;
    if (app_.got_subcommand(history_)) line_.command = Command::kHistory;
    if (app_.got_subcommand(observe_)) {
      line_.command = Command::kObserve;
      IOBENCH_RETURN_IF_ERROR(TakeObserve(words_, typed, line_.observe));
    }
    if (app_.got_subcommand(clean_)) IOBENCH_RETURN_IF_ERROR(TakeClean());
    if (app_.got_subcommand(selftest_)) {
      IOBENCH_RETURN_IF_ERROR(TakeSelftest());
    }
    return std::move(line_);
  }

 private:
  bool MayParse(std::string_view command) const { return command_.empty() || command_ == command; }

  void AddRun() {
    run_ = app_.add_subcommand("run", "measure (the default)");
    if (!MayParse("run")) return;
    table_.AddTo(*run_);
    Adder what(*run_, std::string(TitleOf(OptionGroup::kWhat)));
    what.Flag("--print-plan", line_.print_plan, "print the plan as YAML with all defaults, and stop");
    what.Flag("--dry-run", line_.dry_run, "check everything, print which worker would do what, and stop");
    AddClusterOptions(*run_, line_.cluster);
    AddPreflightOptions(*run_, line_.cluster);
    AddResultOptions(*run_, line_.cluster);
    run_->footer(kFooter);
    run_->add_option("DIR", words_, "directory to test in, same as --path")->type_name("");
  }

  // Takes the options of a run, because it checks what that run would need; its help shows its own.
  void AddPreflight() {
    preflight_ = app_.add_subcommand(
        "preflight",
        "check all clients of a run at once: joined, mounts, same storage, space, limits, clocks");
    if (!MayParse("preflight")) return;
    preflight_table_.AddTo(*preflight_);
    for (CLI::Option* const option : preflight_->get_options()) {
      const std::vector<std::string>& names = option->get_lnames();
      const bool shown = std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name == "path" || name == "help";
      });
      if (!shown) option->group("");
    }
    AddClusterOptions(*preflight_, line_.cluster);
    for (const char* const of_phases : {"--net-test", "--phase-timeout", "--on-lost", "--progress",
                                        "--samplers", "--sampler-hosts", "--sample-interval"}) {
      preflight_->remove_option(preflight_->get_option(of_phases));
    }
    AddPreflightOptions(*preflight_, line_.cluster);
    Adder where(*preflight_, WhereGroup());
    where.Flag("--force", line_.cluster.force,
               "only warn if space is short or clients see different file systems");
    const std::vector<std::string> formats = {"text", "json"};
    where.Value("--format", line_.preflight_format, "output format (default: text)", "text|json")
        ->check(CLI::IsMember(formats).description(""));
    preflight_->footer(
        "The options of `run` that say what to measure are accepted: preflight checks what that run would need, and "
        "leaves nothing behind. Exit codes: 0 no fault, 1 faults or bad usage, 130 interrupted.");
    preflight_->add_option("DIR", words_, "directory to test in, same as --path")->type_name("");
  }

  void AddSelftest() {
    selftest_ = app_.add_subcommand(
        "selftest", "measure the tool itself: clocks, start skew, fixed cost of a phase, cost per op");
    AddClusterOptions(*selftest_, line_.cluster);
    for (const char* const of_runs : {"--net-test", "--samplers", "--sampler-hosts", "--sample-interval"}) {
      selftest_->remove_option(selftest_->get_option(of_runs));
    }
    selftest_
        ->add_option("--simulate", line_.simulate,
                     "measure the coordinator with N simulated clients on this host, over gRPC and TLS")
        ->type_name("N")
        ->group(WhereGroup())
        ->transform(WholeInRange(1, 100000));
    selftest_->add_option("--phases", line_.selftest_phases, "number of empty phases to run (default 20)")
        ->type_name("N")
        ->transform(WholeInRange(1, 10000));
    selftest_->add_option("-t,--lanes", line_.selftest_lanes, "lanes per worker (default 1)")
        ->type_name("N")
        ->transform(WholeInRange(1, 4096));
  }

  void AddClean() {
    clean_ = app_.add_subcommand(
        "clean", "remove what a crashed run, preflight or validate left in DIR, and nothing else");
    clean_->add_option("DIR", line_.clean_directories, "the run's --path");
    clean_
        ->add_option(
            "--hosts", line_.cluster.hosts,
            "clean on these hosts over ssh, all at the same time: c[01-32],user@node7:2222, or @FILE")
        ->type_name("LIST")
        ->allow_extra_args(false);
    clean_
        ->add_option(
            "--launcher", line_.cluster.launcher,
            "with --hosts: remote shell with {host}, {user}, {port}, {command}; missing {host} and {command} are "
            "added (default: $RSH, or ssh)")
        ->type_name("CMD")
        ->allow_extra_args(false);
    AddFlag(
        *clean_, "--copies", line_.clean_copies,
        "with --hosts: also remove the copies of the program that --copy-binary has shipped there");
    Adder(*clean_, clean_->get_option("--hosts")->get_group())
        .Seconds("--timeout", line_.clean_timeout_s, 1,
                 "with --hosts: give up on a host after S seconds (default: never)");
    AddFlag(*clean_, "--force", line_.cluster.force,
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
      const std::vector<CLI::App*> chosen = app_.get_subcommands();
      return absl::InvalidArgumentError(MessageOf(error, chosen.empty() ? "run" : chosen[0]->get_name()));
    }
    return std::string();
  }

  absl::Status TakeValidate(const std::vector<std::string>& typed) {
    line_.command = Command::kValidate;
    if (line_.validate.list) return absl::OkStatus();
    IOBENCH_ASSIGN_OR_RETURN(line_.given, WhereToValidate(line_.validate, words_, typed));
    return CheckClusterOptions(line_.cluster);
  }

  absl::Status TakeCapacity(const std::vector<std::string>& typed) {
    if (line_.capacity.saved.empty()) return TakeRun(Command::kCapacity, capacity_table_, typed);
    line_.command = Command::kCapacity;
    IOBENCH_ASSIGN_OR_RETURN(const GivenOptions given, capacity_table_.Given());
    return CheckSavedCapacity(*capacity_, line_.capacity, given.size() > 0 || !words_.empty());
  }

  absl::Status TakeSelftest() {
    line_.command = Command::kSelftest;
    IOBENCH_RETURN_IF_ERROR(CheckClusterOptions(line_.cluster));
    const ClusterOptions& place = line_.cluster;
    const bool has_workers = place.spawn > 0 || !place.listen.empty() || !place.hosts.empty() ||
                             !place.client_list.empty() ||
                             (place.transport != "auto" && place.transport != "grpc");
    if (line_.simulate == 0 || !has_workers) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "--simulate starts its own clients on this host, over gRPC: it cannot be combined with --spawn, --listen, "
        "--hosts, -+m or another --transport");
  }

  absl::Status TakeClean() {
    line_.command = Command::kClean;
    if (line_.clean_directories.empty() && !line_.clean_copies) {
      return absl::InvalidArgumentError(
          "clean needs the directory of the run's --path, or with --hosts also --copies");
    }
    if (!line_.cluster.hosts.empty()) return absl::OkStatus();
    for (const auto& [given, name] :
         {std::pair{line_.clean_copies, "--copies"}, std::pair{!line_.cluster.launcher.empty(), "--launcher"},
          std::pair{line_.clean_timeout_s > 0, "--timeout"}}) {
      if (given)
        return absl::InvalidArgumentError(absl::StrCat(name, " is about other hosts: it needs --hosts LIST"));
    }
    return absl::OkStatus();
  }

  // Everything that the plan says comes from the saved run.
  absl::Status TakeResume(const GivenOptions& given) {
    const std::string other = given.size() > 0   ? BothNamesOf(*given.options().front())
                              : !words_.empty()  ? absl::StrCat("the word \"", words_.front(), "\"")
                              : line_.print_plan ? "--print-plan"
                              : line_.dry_run    ? "--dry-run"
                                                 : "";
    if (other.empty()) return CheckClusterOptions(line_.cluster);
    return absl::InvalidArgumentError(
        absl::StrCat("--resume goes on with the plan of the saved run: it cannot be combined with ", other));
  }

  absl::Status TakeRun(Command command, const TableOptions& table, const std::vector<std::string>& typed) {
    line_.command = command;
    IOBENCH_ASSIGN_OR_RETURN(GivenOptions given, table.Given());
    if (!line_.cluster.resume.empty()) return TakeResume(given);
    for (const std::string& word : words_) {
      if (!NamesDirectory(word)) return RefusalOfWord(word, typed);
      IOBENCH_RETURN_IF_ERROR(given.Add("path", word));
    }
    if (command == Command::kCapacity) {
      const bool own_paths = !line_.cluster.client_list.empty();
      IOBENCH_RETURN_IF_ERROR(CompleteCapacity(line_.capacity, own_paths, given));
    }
    if (given.Text("suite") == "list") {
      line_.command = Command::kText;
      IOBENCH_ASSIGN_OR_RETURN(line_.text, SuiteList());
      return absl::OkStatus();
    }
    if (given.Text("mix") == "list") {
      line_.command = Command::kText;
      IOBENCH_ASSIGN_OR_RETURN(line_.text, ShippedList(kMixFiles, "Mixes: files"));
      return absl::OkStatus();
    }
    IOBENCH_ASSIGN_OR_RETURN(line_.given, Complete(std::move(given)));
    IOBENCH_RETURN_IF_ERROR(CheckClusterOptions(line_.cluster));
    if (line_.cluster.net_test && line_.dry_run) {
      return absl::InvalidArgumentError(
          "--dry-run shows the phases of a run: it cannot be combined with -+t (--net-test), which has none");
    }
    return CheckNetTest(line_.cluster, line_.given);
  }

  const std::string command_;
  CLI::App app_{"cluster-iobench: measure what a shared file system can do, from many clients at once",
                "cluster-iobench"};
  CLI::App* run_ = nullptr;  // these belong to app_
  CLI::App* preflight_ = nullptr;
  CLI::App* validate_ = nullptr;
  CLI::App* capacity_ = nullptr;
  CLI::App* worker_ = nullptr;
  CLI::App* report_ = nullptr;
  CLI::App* compare_ = nullptr;
  CLI::App* history_ = nullptr;
  CLI::App* observe_ = nullptr;
  CLI::App* selftest_ = nullptr;
  CLI::App* clean_ = nullptr;
  TableOptions table_;
  TableOptions preflight_table_;
  TableOptions capacity_table_;
  std::vector<std::string> words_;  // of commands that take a directory: those that belong to no option
  CommandLine line_;
};

// `--generate WHAT`: for the build, and for packagers.
absl::StatusOr<CommandLine> GeneratedText(const std::vector<std::string>& arguments) {
  const CommandParser parser;
  IOBENCH_ASSIGN_OR_RETURN(std::string text,
                           Generated(arguments.size() == 2 ? arguments[1] : "", CommandsOf(parser.app())));
  return TextLine(Command::kText, std::move(text));
}

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
  if (arguments[0] == "--generate") return GeneratedText(arguments);
  IOBENCH_RETURN_IF_ERROR(TakeTopicOfHelp(arguments));
  IOBENCH_RETURN_IF_ERROR(AddDefaultCommand(arguments));
  IOBENCH_RETURN_IF_ERROR(CheckAllOptions(arguments));
  CommandParser parser(arguments[0]);
  const LongNames names = NamesOf(parser.app(), arguments[0]);
  arguments = WithOurNames(std::move(arguments), names);
  IOBENCH_RETURN_IF_ERROR(CheckLongNames(arguments, names, arguments[0]));
  return parser.Parse(std::move(arguments), typed);
}

}  // namespace iobench
