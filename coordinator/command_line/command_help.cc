#include "coordinator/command_line/command_help.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/model/engine.h"
#include "common/model/operation.h"
#include "common/text/display_text.h"
#include "common/text/terminal_width.h"
#include "coordinator/command_line/examples.h"
#include "coordinator/command_line/most_used.h"
#include "coordinator/options/iozone_letters.h"
#include "coordinator/options/option.h"
#include "coordinator/options/shipped_files.h"
#include "coordinator/translate/foreign_help.h"

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

// The names of files that come with the program; empty: the option takes none, or they are not installed.
std::vector<std::string> ShippedValuesOf(const std::string& name) {
  static constexpr std::pair<std::string_view, const ShippedKind*> kOptions[] = {
      {"suite", &kSuiteFiles}, {"mix", &kMixFiles}, {"expect", &kExpectationFiles}};
  for (const auto& [option, kind] : kOptions) {
    if (option != name) continue;
    std::vector<std::string> names = ShippedNames(*kind).value_or(std::vector<std::string>());
    if (!names.empty()) names.emplace_back("list");
    return names;
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
  return values.empty() ? ShippedValuesOf(name) : values;
}

bool IsChoice(const std::string& argument) {
  return argument.find('|') != std::string::npos &&
         std::none_of(argument.begin(), argument.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

OptionHelp HelpOf(const CLI::Option& option, bool of_run) {
  constexpr std::string_view kPaths[] = {"DIR", "FILE", "FILE...", "FILE|NAME", "MIX"};
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
    if (help.choices.empty()) help.choices = of_run ? KnownValuesOf(name) : ShippedValuesOf(name);
  }
  if (option.get_items_expected_max() > 0 && !help.positional) help.argument = option.get_type_name();
  if (IsChoice(help.argument)) help.choices = absl::StrSplit(help.argument, '|');
  const std::string& of = help.positional ? help.names.front() : help.argument;
  help.takes_path = std::find(std::begin(kPaths), std::end(kPaths), of) != std::end(kPaths);
  return help;
}

// Breaks each line of `text`.
std::string Fitted(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    for (std::string& part : Wrapped({line.data(), line.size()}, columns)) lines.push_back(std::move(part));
  }
  return absl::StrJoin(lines, "\n");
}

// CLI11's own formatter writes "DIR TEXT ... REQUIRED" where its usage says "DIR...", and "--only NAMES ..." for an
// option that takes one word each time that it is given. It breaks no lines.
class OneForm final : public CLI::Formatter {
 public:
  OneForm(size_t columns, HelpLength length) : columns_(columns), length_(length) {
    label("SUBCOMMAND", "COMMAND");
    label("REQUIRED", "(required)");
  }
  std::string make_description(const CLI::App* app) const override {
    return Fitted(CLI::Formatter::make_description(app), columns_);
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string command = app->get_parent() == nullptr ? std::string() : app->get_name();
    const std::string usage = CLI::Formatter::make_usage(
        app, command.empty() ? name : absl::StrCat(app->get_parent()->get_name(), " ", name));
    const std::string examples = ExamplesText(command.empty() ? "run" : command, columns_);
    return absl::StrCat(usage, examples.empty() ? "" : "\n", examples);
  }
  std::string make_group(std::string group, bool is_positional, std::vector<const CLI::Option*> options) const override {
    if (length_ == HelpLength::kMostUsed && IsShortened(group)) std::erase_if(options, IsLessUsed);
    return options.empty() ? "" : CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
  // CLI11 puts an empty line between sections, whether they have text or not.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    while (absl::StrReplaceAll({{"\n\n\n", "\n\n"}}, &text) > 0) continue;
    return text;
  }
  std::string make_footer(const CLI::App* app) const override {
    std::string footer = app->get_footer();
    const size_t left_out = length_ == HelpLength::kMostUsed ? LessUsedOf(*app) : 0;
    if (left_out > 0) {
      footer = absl::StrCat(left_out, " more options: `cluster-iobench ", app->get_name(), " --help all`.\n", footer);
    }
    return footer.empty() ? "" : Fitted(footer, columns_) + "\n";
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return Hanging(absl::StrCat("  ", command->get_display_name(true)), 14, command->get_description(), columns_);
  }
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const bool several = is_positional && option->get_expected_max() > 1;
    return absl::StrCat(CLI::Formatter::make_option_name(option, is_positional), several ? "..." : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return Fitted(option->get_description(), columns_ - column_width_);
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true);
    return option->get_required() ? name : absl::StrCat("[", name, "]");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->nonpositional() || option->get_type_size() == 0) return "";
    const std::string argument = WithBreaks(option->get_type_name(), make_option_name(option, false).size());
    return absl::StrCat(argument.empty() ? "" : " ", argument,
                        option->get_required() ? absl::StrCat(" ", get_label("REQUIRED")) : "");
  }

 private:
  // Breaks a list of choices, "json|csv|…", that begins behind a name of this many columns and is too long for a line.
  std::string WithBreaks(const std::string& choices, size_t name_columns) const {
    constexpr size_t kIndent = 6;
    std::string text;
    size_t used = 2 + name_columns + 1;
    for (const std::string& choice : std::vector<std::string>(absl::StrSplit(choices, '|'))) {
      if (!text.empty()) {
        absl::StrAppend(&text, "|");
        ++used;
      }
      if (!text.empty() && used + choice.size() + 1 > columns_) {
        absl::StrAppend(&text, "\n", std::string(kIndent, ' '));
        used = kIndent;
      }
      absl::StrAppend(&text, choice);
      used += choice.size();
    }
    return text;
  }
  static bool IsLessUsed(const CLI::Option* option) {
    const std::span<const std::string_view> used = MostUsedOptions();
    const std::vector<std::string>& names = option->get_lnames();
    return !option->get_required() && std::none_of(names.begin(), names.end(), [used](const std::string& name) {
      return std::find(used.begin(), used.end(), name) != used.end();
    });
  }
  static size_t LessUsedOf(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return IsShortened(option->get_group()) && IsLessUsed(option); })
        .size();
  }

  const size_t columns_;
  const HelpLength length_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> HelpFormatter(size_t columns, HelpLength length) {
  return std::make_shared<OneForm>(columns, length);
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
  if (what == "coming-from") return ComingFromDocument();
  return absl::InvalidArgumentError(absl::StrCat(
      "--generate writes man, bash, zsh, fish or coming-from, and \"", what, "\" is none of them"));
}

}  // namespace iobench
