#include "coordinator/command_line/table_options.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/engine.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/options/option_rules.h"
#include "coordinator/options/suite_files.h"

namespace iobench {
namespace {

constexpr int kMaxArguments = 1 << 20;

// In place of CLI11's Range, which accepts "nan" and prints 1e12 as 1000000000000.000000. Adds no text to the help.
CLI::Validator InRange(double min, double max) {
  const auto check = [min, max](std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min && value <= max) return std::string();
    return absl::StrCat("\"", text, "\" is not a number from ", min, " to ", max);
  };
  return CLI::Validator(check, "");
}

// For whole numbers, with transform(): CLI11 reads "010" as 8, and refuses "08".
CLI::Validator WholeInRange(uint32_t min, uint32_t max) {
  const auto take = [min, max](std::string& text) {
    uint32_t value = 0;
    if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
      return absl::StrCat("\"", text, "\" is not a number from ", min, " to ", max);
    }
    text = absl::StrCat(value);
    return std::string();
  };
  return CLI::Validator(take, "");
}

// A flag that accepts the values of FlagValue, and no others. CLI11 alone would take many more for true: 7, on, +.
CLI::Validator FlagText() {
  const auto take = [](std::string& text) {
    const absl::StatusOr<bool> on = FlagValue(text);
    if (!on.ok()) return std::string(on.status().message());
    text = *on ? "true" : "false";
    return std::string();
  };
  return CLI::Validator(take, "");
}

// Parses 5, 5s, 500ms, 2min.
CLI::Option* AddSeconds(CLI::App& app, const OptionSpec& option, const std::string& name, double& value,
                        const std::string& help) {
  const auto take = [&value, &option, name](const std::string& text) {
    const absl::StatusOr<double> seconds = ParseSeconds(text, 1);
    if (!seconds.ok()) throw CLI::ValidationError(name, std::string(seconds.status().message()));
    if (*seconds < option.min || *seconds > option.max) {
      throw CLI::ValidationError(
          name, absl::StrCat("\"", text, "\" is not a time from ", option.min, " to ", option.max, " seconds"));
    }
    value = *seconds;
  };
  return app.add_option_function<std::string>(name, take, help);
}

std::string NamesOf(const OptionSpec& option) {
  if (option.positional) return std::string(option.name);
  const std::string name = absl::StrCat("--", std::string(option.name));
  return option.letter.size() == 1 ? absl::StrCat("-", std::string(option.letter), ",", name) : name;
}

// Replaces -A by the options that it stands for.
absl::Status Expand(GivenOptions& given) {
  if (!given.Has("auto-read-write")) return absl::OkStatus();
  if (given.Has("op")) return CheckOptions(given);  // refused: -A names the operations itself
  given.Remove("auto-read-write");
  GivenOptions meant;
  for (const OptionName flag : {OptionName("auto"), OptionName("all-records")}) IOBENCH_RETURN_IF_ERROR(meant.Add(flag));
  for (const char* const operation : {"0", "1"}) IOBENCH_RETURN_IF_ERROR(meant.Add("op", operation));
  given.AddMissing(meant);
  return absl::OkStatus();
}

// Parses the words of a suite that is a list of options.
absl::StatusOr<GivenOptions> ParseWords(const std::vector<std::string>& words) {
  IOBENCH_ASSIGN_OR_RETURN(std::vector<std::string> arguments, WithLongOptions(words));
  CLI::App app;
  TableOptions table;
  table.AddPlanOptions(app, kForRun);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return table.Given();
}

}  // namespace

void TableOptions::AddPlanOptions(CLI::App& app, OptionCommand command) {
  for (const OptionSpec& option : kPlanOptions) {
    if ((option.commands & command) == 0) continue;
    // const, because CLI11 would otherwise store the argument in a variable that it may change.
    const std::string help = absl::StrCat(
        std::string(option.help),
        option.letter.size() == 2 ? absl::StrCat(" (IOzone: -", std::string(option.letter), ")") : "");
    CLI::Option* const added =
        option.is_flag() ? app.add_flag(NamesOf(option), help) : app.add_option(NamesOf(option), help);
    rows_.push_back({&option, added});
    const OptionGroup group = (option.hidden_by & command) != 0 ? OptionGroup::kHidden : option.group;
    added->group(std::string(TitleOf(group)));
    if (!option.is_flag()) {
      added->type_name(std::string(option.argument));
      // IOzone's -F takes one name per child; other options must not consume a second word.
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->expected(1, option.several_words ? kMaxArguments : 1);
      added->allow_extra_args(option.several_words);
    }
    if (option.name == OptionName("engine").text()) {
      const auto append = [](std::string* out, const EngineSpec& engine) { out->append(engine.name); };
      added->description(absl::StrCat(help, "; one of ", absl::StrJoin(Engines(), ", ", append)));
    }
    if (command == kForCapacity && !option.capacity_help.empty())
      added->description(std::string(option.capacity_help));
  }
  for (const RefusedLetter& letter : RefusedLetters()) {
    if (letter.letter.size() > 1) continue;  // refused before CLI11 sees it
    const std::string name = absl::StrCat("-", std::string(letter.letter));
    CLI::Option* const added = letter.takes_argument ? app.add_option(name) : app.add_flag(name);
    refused_.push_back({&letter, added->group("")});
  }
}

void TableOptions::AddCommandOptions(CLI::App& app, const CommandSpec& command) {
  for (const OptionSpec& option : CommandOptions()) {
    if ((option.commands & command.command) == 0) continue;
    const bool other_help = command.command == kForCapacity && !option.capacity_help.empty();
    CLI::Option* const added = Add(app, option, std::string(other_help ? option.capacity_help : option.help));
    if (command.has_sections || option.group == OptionGroup::kHidden) {
      added->group(std::string(TitleOf(option.group)));
    }
    if (option.required) added->required();
    if (option.given.of == nullptr) continue;
    bool* const given = std::get<Accessor<bool>>(option.given.access)(ObjectOf(option.given));
    added->each([given](const std::string&) { *given = true; });
  }
}

void* TableOptions::ObjectOf(const OptionField& field) const {
  const auto found = std::find_if(objects_.begin(), objects_.end(),
                                  [&field](const auto& object) { return object.first == field.of; });
  assert(found != objects_.end());
  return found->second;
}

CLI::Option* TableOptions::Add(CLI::App& app, const OptionSpec& option, const std::string& help) const {
  const std::string names = NamesOf(option);
  return std::visit(
      [&](const auto accessor) -> CLI::Option* {
        auto& value = *accessor(ObjectOf(option.field));
        using Value = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return app.add_flag(names, value, help)->transform(FlagText());
        } else {
          CLI::Option* added = nullptr;
          if constexpr (std::is_same_v<Value, double>) {
            if (option.value == OptionValue::kSeconds) added = AddSeconds(app, option, names, value, help);
          }
          if (added == nullptr) added = app.add_option(names, value, help);
          added->type_name(std::string(option.argument));
          if (!option.positional && !option.several_words) added->allow_extra_args(false);
          if (option.value == OptionValue::kDecimal) added->check(InRange(option.min, option.max));
          if (option.value == OptionValue::kWhole) {
            added->transform(
                WholeInRange(static_cast<uint32_t>(option.min), static_cast<uint32_t>(option.max)));
          }
          if (!option.choices.empty()) {
            const std::vector<std::string> choices(option.choices.begin(), option.choices.end());
            added->type_name(absl::StrJoin(choices, "|"))->check(CLI::IsMember(choices).description(""));
          }
          return added;
        }
      },
      option.field.access);
}

absl::StatusOr<GivenOptions> TableOptions::Given() const {
  for (const auto& [letter, option] : refused_) {
    if (option->count() > 0) return RefusalOf(*letter);
  }
  GivenOptions given;
  for (const auto& [spec, option] : rows_) {
    if (option->count() == 0) continue;
    for (const std::string& text : option->results()) {
      if (absl::Status status = given.Add(*spec, text); !status.ok()) return status;
    }
  }
  return given;
}

absl::StatusOr<GivenOptions> Complete(GivenOptions given) {
  if (given.Has("suite") && !given.Has("plan")) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> words, SuiteOptions(given.Text("suite")));
    if (!words.empty()) {
      auto suite_options = ParseWords(words);
      if (!suite_options.ok())
        return Annotate(suite_options.status(), absl::StrCat("suite ", given.Text("suite")));
      given.Remove("suite");
      given.AddMissing(*suite_options);
    }
  }
  IOBENCH_RETURN_IF_ERROR(Expand(given));
  IOBENCH_RETURN_IF_ERROR(CheckOptions(given));  // includes the options that -A stands for
  return given;
}

}  // namespace iobench
