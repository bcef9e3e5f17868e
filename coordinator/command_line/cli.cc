#include "coordinator/command_line/cli.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/version.h"
#include "coordinator/command_line/check_command.h"
#include "coordinator/command_line/command_help.h"
#include "coordinator/command_line/table_options.h"
#include "coordinator/command_line/typed_words.h"
#include "coordinator/command_line/usage.h"
#include "coordinator/options/command_table.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/translate/foreign_help.h"

namespace iobench {
namespace {

bool IsCommand(const std::string& word) {
  const std::span<const CommandSpec> commands = Commands();
  return std::any_of(commands.begin(), commands.end(),
                     [&word](const CommandSpec& command) { return command.name == word; });
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
absl::Status ReadTopicOfHelp(std::vector<std::string>& arguments) {
  const size_t at = !arguments.empty() && IsCommand(arguments[0]) ? 1 : 0;
  if (arguments.size() < at + 2 || (arguments[at] != "--help" && arguments[at] != "-h"))
    return absl::OkStatus();
  const std::string topic = arguments[at + 1];
  if (topic.starts_with('-')) return absl::OkStatus();
  if (at == 1 || !IsCommand(topic)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there is no help for \"", topic, "\": use --help with a command (run --help, worker --help …), for every ",
        "option (--help all), for IOzone's letters (--help iozone), for the options of another tool (--help fio), ",
        "or for the columns of CSV files (--help csv)"));
  }
  arguments = {topic, "--help"};
  return absl::OkStatus();
}

// True for `--help TOPIC`, after a command or alone.
bool AsksFor(std::string_view topic, const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments.back() != topic) return false;
  const std::string& before = arguments[arguments.size() - 2];
  return before == "--help" || before == "-h";
}

// The tool after --help, alone or after a command; null: none that has a table.
const ForeignTool* ToolAskedFor(const std::vector<std::string>& arguments) {
  const ForeignTool* const tool = arguments.empty() ? nullptr : FindForeignTool(arguments.back());
  return tool != nullptr && !tool->options.empty() && AsksFor(arguments.back(), arguments) ? tool : nullptr;
}

// `translate` with the words after it, which are another tool's: none of them is an option of ours.
bool TranslatesWords(const std::vector<std::string>& typed) {
  return typed.size() > 1 && typed[0] == "translate" && typed[1] != "--help" && typed[1] != "-h";
}

// The default command is `run`. InvalidArgument: the first word is similar to another command.
absl::Status AddDefaultCommand(std::vector<std::string>& arguments) {
  static constexpr std::string_view kOwn[] = {"-h", "--help", "-v", "--version"};
  const bool own = std::find(std::begin(kOwn), std::end(kOwn), arguments[0]) != std::end(kOwn);
  if (own || IsCommand(arguments[0])) return absl::OkStatus();
  std::vector<std::string_view> names;
  for (const CommandSpec& command : Commands()) names.push_back(command.name);
  IOBENCH_RETURN_IF_ERROR(CheckFirstWord(arguments[0], names));
  arguments.insert(arguments.begin(), "run");
  return absl::OkStatus();
}

std::string VersionText() {
  return absl::StrCat("cluster-iobench ", kProgramVersion);
}

// A command of CLI11's app, with its options and what they store into.
class Subcommand {
 public:
  virtual ~Subcommand() = default;
  // Returns the command, checked. REQUIRES: the app has parsed; called once.
  virtual absl::StatusOr<Command> Take(const std::vector<std::string>& typed, const ProgramStart& start) = 0;
};

template <typename Options>
class SubcommandWith final : public Subcommand {
 public:
  SubcommandWith(CLI::App& app, const CommandSpec& spec) : app_(app) {
    Bind(options_);
    table_.Bind(words_);
    constexpr bool has_workload = ((kForRun | kForPreflight | kForCapacity) & Options::kCommand) != 0;
    if (has_workload) table_.AddPlanOptions(app, spec.command);
    table_.AddCommandOptions(app, spec);
    if (!spec.footer.empty()) app.footer(std::string(spec.footer));  // otherwise the program's
  }

  absl::StatusOr<Command> Take(const std::vector<std::string>& typed, const ProgramStart& start) override {
    IOBENCH_RETURN_IF_ERROR(CheckNoneEmpty(app_));
    IOBENCH_ASSIGN_OR_RETURN(const GivenOptions given, table_.Given());
    return Checked(std::move(options_), Typed{app_, given, words_.words, typed, start});
  }

 private:
  // Binds the struct and those that are part of it.
  void Bind(Options& options) {
    table_.Bind(options);
    if constexpr (std::is_base_of_v<JobOptions, Options>) {
      table_.Bind(options.cluster);
      table_.Bind(static_cast<ProtectionOptions&>(options.cluster));
    }
    if constexpr (std::is_base_of_v<ProtectionOptions, Options>)
      table_.Bind(static_cast<ProtectionOptions&>(options));
    if constexpr (std::is_same_v<ValidateCommand, Options>) table_.Bind(options.validate);
    if constexpr (std::is_same_v<CapacityCommand, Options>) table_.Bind(options.capacity);
    if constexpr (std::is_same_v<HistoryCommand, Options>) table_.Bind(static_cast<CompareCommand&>(options));
  }

  CLI::App& app_;
  Options options_;
  PlainWords words_;
  TableOptions table_;
};

template <typename... Options>
std::unique_ptr<Subcommand> MakeOneOf(std::type_identity<std::variant<TextAnswer, Options...>>, CLI::App& app,
                                      const CommandSpec& spec) {
  std::unique_ptr<Subcommand> made;
  const auto make = [&](auto of) {
    using Type = typename decltype(of)::type;
    if (Type::kCommand == spec.command) made = std::make_unique<SubcommandWith<Type>>(app, spec);
  };
  (make(std::type_identity<Options>()), ...);
  return made;
}

// All commands with their options. CLI11 stores what it parses in this object, so it cannot be moved.
class CommandParser {
 public:
  // `only`: the command that will be parsed or described; the others get no options, which CLI11 would compare with each
  // other. Empty: all get theirs. A word that is no command: none does.
  explicit CommandParser(std::string_view only = "", size_t help_columns = kPipedColumns,
                         HelpLength length = HelpLength::kMostUsed) {
    app_.require_subcommand(1);
    app_.formatter(HelpFormatter(help_columns, length));
    app_.set_version_flag("-v,--version", VersionText());
    app_.footer(
        "`run` is the default: `cluster-iobench --path /mnt/nfs -i 0 -i 1` works. `cluster-iobench run --help` "
        "lists its most used options, `cluster-iobench run --help all` every one.");
    for (const CommandSpec& spec : Commands()) {
      CLI::App& command = *app_.add_subcommand(std::string(spec.name), std::string(spec.help));
      command.group("Commands");
      if (!only.empty() && only != spec.name) continue;
      subcommands_.push_back(MakeOneOf(std::type_identity<Command>(), command, spec));
    }
  }
  CommandParser(const CommandParser&) = delete;
  CommandParser& operator=(const CommandParser&) = delete;

  const CLI::App& app() const { return app_; }

  // Parses arguments that begin with `only`, or with an option for help or the version. `typed`: the same as the user
  // wrote them, for messages. Call it once.
  absl::StatusOr<Command> Parse(std::vector<std::string> arguments, const std::vector<std::string>& typed,
                                const ProgramStart& start) {
    IOBENCH_ASSIGN_OR_RETURN(std::string text, TextOrEmpty(std::move(arguments)));
    if (!text.empty()) return Command(TextAnswer{std::move(text)});
    assert(subcommands_.size() == 1);  // CLI11 demands a command, and only one has options
    return subcommands_.front()->Take(typed, start);
  }

 private:
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

  CLI::App app_{"cluster-iobench: measure what a shared file system can do, from many clients at once",
                "cluster-iobench"};
  std::vector<std::unique_ptr<Subcommand>> subcommands_;
};

// `--generate WHAT`: for the build, and for packagers.
absl::StatusOr<Command> GeneratedText(const std::vector<std::string>& arguments) {
  const CommandParser parser;
  IOBENCH_ASSIGN_OR_RETURN(std::string text,
                           Generated(arguments.size() == 2 ? arguments[1] : "", CommandsOf(parser.app())));
  return Command(TextAnswer{std::move(text)});
}

}  // namespace

absl::StatusOr<Command> ParseCommandLine(const std::vector<std::string>& typed, size_t help_columns,
                                         const ProgramStart& start) {
  IOBENCH_RETURN_IF_ERROR(CheckUtf8(typed));
  if (TranslatesWords(typed)) return Command(TranslateCommand{{typed.begin() + 1, typed.end()}});
  IOBENCH_ASSIGN_OR_RETURN(std::vector<std::string> arguments, WithLongOptions(typed));
  if (!arguments.empty() && arguments[0] == "help") arguments[0] = "--help";
  if (arguments.empty() ||
      arguments == std::vector<std::string>{"run"}) {  // neither says what to do nor where
    return Command(TextAnswer{ShortUsage(help_columns), /*misuse=*/true});
  }
  if (AsksFor("iozone", arguments)) return Command(TextAnswer{IozoneHelp(help_columns)});
  if (const ForeignTool* const tool = ToolAskedFor(arguments); tool != nullptr)
    return Command(TextAnswer{ForeignHelp(*tool)});
  if (AsksFor("csv", arguments)) return Command(TextAnswer{.text = {}, .lists_csv_columns = true});
  if (arguments[0] == "--generate") return GeneratedText(arguments);
  const HelpLength length = AsksFor("all", arguments) ? HelpLength::kAll : HelpLength::kMostUsed;
  if (length == HelpLength::kAll) {
    arguments.pop_back();
    if (arguments.size() == 1) arguments.insert(arguments.begin(), "run");  // the default command
  }
  IOBENCH_RETURN_IF_ERROR(ReadTopicOfHelp(arguments));
  IOBENCH_RETURN_IF_ERROR(AddDefaultCommand(arguments));
  IOBENCH_RETURN_IF_ERROR(CheckAllOptions(arguments));
  CommandParser parser(arguments[0], help_columns, length);
  const LongNames names = NamesOf(parser.app(), arguments[0]);
  IOBENCH_RETURN_IF_ERROR(CheckNoForeignNames(arguments, names));
  arguments = WithOurNames(std::move(arguments), names);
  IOBENCH_RETURN_IF_ERROR(CheckLongNames(arguments, names, arguments[0]));
  absl::StatusOr<Command> command = parser.Parse(std::move(arguments), typed, start);
  return command.ok() ? command : absl::StatusOr<Command>(WithMeantLine(command.status(), typed));
}

}  // namespace iobench
