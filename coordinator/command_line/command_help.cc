#include "coordinator/command_line/command_help.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/options/option.h"

namespace iobench {
namespace {

// Returns "-+p" for "mix-percent"; empty: IOzone has no letter with + for it.
std::string PlusLetterOf(const std::string& name) {
  for (const OptionSpec& option : kPlanOptions) {
    if (option.name == name && option.letter.size() > 1) return absl::StrCat("-", std::string(option.letter));
  }
  for (const LaunchLetter& letter : LaunchLetters()) {
    if (letter.name == name && letter.letter.size() > 1) return absl::StrCat("-", std::string(letter.letter));
  }
  return {};
}

// The values of options whose help does not list them as "a|b".
std::vector<std::string> KnownValuesOf(const std::string& name) {
  std::vector<std::string> values;
  if (name == "engine") {
    for (const EngineSpec& engine : Engines()) values.emplace_back(engine.name);
  } else if (name == "op") {
    for (const OperationSpec& operation : Operations()) values.emplace_back(operation.name);
  }
  return values;
}

bool IsChoice(const std::string& argument) {
  return argument.find('|') != std::string::npos &&
         std::none_of(argument.begin(), argument.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

OptionHelp HelpOf(const CLI::Option& option, bool of_run) {
  constexpr std::string_view kPaths[] = {"DIR", "FILE", "FILE..."};
  OptionHelp help;
  help.positional = !option.nonpositional();
  help.help = option.get_description();
  help.group = option.get_group();
  if (help.positional) help.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) help.names.push_back(absl::StrCat("-", name));
  for (const std::string& name : option.get_lnames()) {
    const std::string letter = of_run ? PlusLetterOf(name) : "";
    if (!letter.empty()) help.names.push_back(letter);
    help.names.push_back(absl::StrCat("--", name));
    if (help.choices.empty() && of_run) help.choices = KnownValuesOf(name);
  }
  if (option.get_items_expected_max() > 0 && !help.positional) help.argument = option.get_type_name();
  if (IsChoice(help.argument)) help.choices = absl::StrSplit(help.argument, '|');
  const std::string& of = help.positional ? help.names.front() : help.argument;
  help.takes_path = std::find(std::begin(kPaths), std::end(kPaths), of) != std::end(kPaths);
  return help;
}

// CLI11's own formatter writes "DIR TEXT ... REQUIRED" where its usage says "DIR...", and "--only NAMES ..." for an
// option that takes one word each time that it is given.
class OneForm final : public CLI::Formatter {
 public:
  OneForm() {
    label("SUBCOMMAND", "COMMAND");
    label("REQUIRED", "(required)");
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return CLI::Formatter::make_usage(
        app, app->get_parent() == nullptr ? name : absl::StrCat(app->get_parent()->get_name(), " ", name));
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const bool several = is_positional && option->get_expected_max() > 1;
    return absl::StrCat(CLI::Formatter::make_option_name(option, is_positional), several ? "..." : "");
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true);
    return option->get_required() ? name : absl::StrCat("[", name, "]");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->nonpositional() || option->get_type_size() == 0) return "";
    const std::string& argument = option->get_type_name();
    return absl::StrCat(argument.empty() ? "" : " ", argument,
                        option->get_required() ? absl::StrCat(" ", get_label("REQUIRED")) : "");
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> HelpFormatter() {
  return std::make_shared<OneForm>();
}

std::vector<CommandHelp> CommandsOf(const CLI::App& app) {
  std::vector<CommandHelp> commands;
  for (const CLI::App* const each : app.get_subcommands({})) {
    CommandHelp command{each->get_name(), each->get_description(), {}};
    for (const CLI::Option* const option : each->get_options()) {
      if (!option->get_group().empty()) command.options.push_back(HelpOf(*option, command.name == "run"));
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

absl::StatusOr<std::string> Generated(const std::string& what, const std::vector<CommandHelp>& commands) {
  if (what == "man") return ManPage(commands);
  if (what == "bash") return BashCompletion(commands);
  if (what == "zsh") return ZshCompletion(commands);
  if (what == "fish") return FishCompletion(commands);
  return absl::InvalidArgumentError(
      absl::StrCat("--generate writes man, bash, zsh or fish, and \"", what, "\" is none of them"));
}

}  // namespace iobench
