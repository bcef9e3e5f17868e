#include "coordinator/command_line/table_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/engine.h"
#include "common/status_util.h"
#include "coordinator/option/option_rules.h"
#include "coordinator/option/suite_files.h"

namespace iobench {
namespace {

constexpr int kMaxArguments = 1 << 20;

// Replaces -A by the options that it stands for.
absl::Status Expand(GivenOptions& given) {
  if (!given.Has("auto-read-write")) return absl::OkStatus();
  if (given.Has("op")) return CheckOptions(given);  // refused: -A names the operations itself
  given.Remove("auto-read-write");
  GivenOptions meant;
  for (const auto& [name, text] : {std::pair{"auto", ""}, {"all-records", ""}, {"op", "0"}, {"op", "1"}}) {
    IOBENCH_RETURN_IF_ERROR(meant.Add(name, text));
  }
  given.AddMissing(meant);
  return absl::OkStatus();
}

// Parses the words of a suite that is a list of options.
absl::StatusOr<GivenOptions> ParseWords(const std::vector<std::string>& words) {
  IOBENCH_ASSIGN_OR_RETURN(std::vector<std::string> arguments, WithLongOptions(words));
  CLI::App app;
  TableOptions table;
  table.AddTo(app);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(error.what());
  }
  return table.Given();
}

}  // namespace

void TableOptions::AddTo(CLI::App& app) {
  for (const OptionSpec& option : RunOptions()) {
    std::string names = absl::StrCat("--", std::string(option.name));
    if (option.letter.size() == 1) names = absl::StrCat("-", std::string(option.letter), ",", names);
    // const, because CLI11 would otherwise store the argument in a variable that it may change.
    const std::string help = absl::StrCat(
        std::string(option.help),
        option.letter.size() == 2 ? absl::StrCat(" (IOzone: -", std::string(option.letter), ")") : "");
    CLI::Option* const added = option.is_flag() ? app.add_flag(names, help) : app.add_option(names, help);
    added->group(std::string(TitleOf(option.group)));
    if (option.is_flag()) {
      rows_.push_back({&option, added});
      continue;
    }
    added->type_name(std::string(option.argument));
    if (option.name == "engine") {
      std::vector<std::string> names_of_engines;
      for (const EngineSpec& engine : Engines()) names_of_engines.emplace_back(engine.name);
      added->description(absl::StrCat(help, "; one of ", absl::StrJoin(names_of_engines, ", ")));
    }
    // IOzone's -F takes one name per child; other options must not consume a second word.
    const bool takes_several = option.name == "files";
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->expected(1, takes_several ? kMaxArguments : 1);
    added->allow_extra_args(takes_several);
    rows_.push_back({&option, added});
  }
  for (const RefusedLetter& letter : RefusedLetters()) {
    if (letter.letter.size() > 1) continue;  // refused before CLI11 sees it
    const std::string name = absl::StrCat("-", std::string(letter.letter));
    CLI::Option* const added = letter.takes_argument ? app.add_option(name) : app.add_flag(name);
    refused_.push_back({&letter, added->group("")});
  }
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
