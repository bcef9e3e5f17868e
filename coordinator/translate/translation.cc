#include "coordinator/translate/translation.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "coordinator/options/option.h"
#include "coordinator/translate/job_words.h"

namespace iobench {
namespace {

constexpr std::string_view kLaunchers[] = {"mpirun", "mpiexec", "mpiexec.hydra", "orterun",
                                           "srun",   "aprun",   "jsrun"};

bool IsLauncher(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);
  return std::find(std::begin(kLaunchers), std::end(kLaunchers), word) != std::end(kLaunchers);
}

// What stands before the program's name and starts it on several hosts. sudo, time, variables and the like are left out.
std::vector<std::string> LauncherIn(std::span<const std::string> before) {
  const auto launcher = std::find_if(before.begin(), before.end(), IsLauncher);
  return {launcher, before.end()};
}

// InvalidArgument: an option without which the line would be another one.
absl::Status CheckNoneRefused(const ForeignLine& line) {
  for (const ForeignGiven& given : line.given()) {
    if (given.option == nullptr || given.option->becomes != Becomes::kRefused || !IsOn(given.value)) continue;
    return absl::InvalidArgumentError(absl::StrCat(given.typed, ": ", std::string(given.option->note)));
  }
  return absl::OkStatus();
}

std::string ToolNames() {
  const auto name = [](std::string* out, const ForeignTool& tool) { out->append(tool.name); };
  return absl::StrJoin(ForeignTools(), ", ", name);
}

}  // namespace

std::vector<std::string> TranslatedCommand::Words() const {
  std::vector<std::string> words = launcher;
  words.emplace_back("cluster-iobench");
  if (!command.empty()) words.push_back(command);
  const std::vector<std::string> rest = options.Words();
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

void Translation::Say(std::string option, std::string text) {
  for (const Difference& said : differences) {
    if (said.option == option && said.text == text) return;
  }
  differences.push_back({std::move(option), std::move(text)});
}

absl::Status AddByTable(const ForeignLine& line, OurLine& ours, Translation& into) {
  IOBENCH_RETURN_IF_ERROR(CheckNoneRefused(line));
  for (const ForeignGiven& given : line.given()) {
    if (given.option == nullptr) {
      into.Say(given.typed,
               absl::StrCat("not known here as an option of ", std::string(line.tool().name), ": left out"));
      continue;
    }
    const ForeignOption& row = *given.option;
    const std::string note(row.note);
    const bool off = row.value == ForeignValue::kYesNo && !IsOn(given.value);
    if (off || row.becomes == Becomes::kNothing) continue;
    const bool once = given.value == "1" && (row.ours == "repeat" || row.ours == "files-per-lane");
    if (once) continue;  // the default
    if (!note.empty()) into.Say(given.typed, note);
    if (row.becomes != Becomes::kOption) continue;
    const std::string name(row.ours.substr(0, row.ours.find('=')));
    std::string value =
        name.size() < row.ours.size() ? std::string(row.ours.substr(name.size() + 1)) : given.value;
    const bool is_flag = row.value == ForeignValue::kFlag || row.value == ForeignValue::kYesNo;
    if (is_flag && name.size() == row.ours.size()) value.clear();
    if (row.value == ForeignValue::kSeconds) {
      IOBENCH_ASSIGN_OR_RETURN(const double seconds,
                               line.Seconds(row.names.substr(0, row.names.find(' ')), 0));
      value = ShortNumber(seconds);
    }
    if (row.value == ForeignValue::kSize) {
      IOBENCH_ASSIGN_OR_RETURN(const uint64_t bytes,
                               line.Bytes(row.names.substr(0, row.names.find(' ')), 1, 0));
      ours.AddBytes(name, bytes);
      continue;
    }
    ours.Add(name, std::move(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<Translation> TranslateWords(std::vector<std::string> words) {
  if (words.size() == 1) words = ShellWords(words.front());
  for (size_t at = 0; at < words.size(); ++at) {
    const ForeignTool* const tool = FindForeignTool(words[at]);
    if (tool == nullptr) continue;
    if (tool->translate == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(tool->name), " is translated from its parameter file: name the file"));
    }
    Translation translation{.tool = tool, .commands = {}, .differences = {}};
    IOBENCH_ASSIGN_OR_RETURN(ForeignLine line, ForeignLine::Parse(*tool, std::span(words).subspan(at + 1)));
    line.set_launcher(LauncherIn(std::span(words).first(at)));
    IOBENCH_RETURN_IF_ERROR(Annotate(CheckNoneRefused(line), std::string(tool->name)));
    IOBENCH_RETURN_IF_ERROR(Annotate(tool->translate(line, translation), std::string(tool->name)));
    return translation;
  }
  return absl::NotFoundError(absl::StrCat("translate needs a command line of ", ToolNames(),
                                          ", such as 'fio --rw=read …', or a job file"));
}

absl::StatusOr<Translation> TranslateJobFile(const std::string& text) {
  const bool has_sections = !JobSections(text).empty();
  const ForeignTool* const tool = has_sections ? &kFioTool : &kVdbenchTool;
  Translation translation{.tool = FindForeignTool(tool->called), .commands = {}, .differences = {}};
  const absl::Status done = tool->translate_file(text, translation);
  if (done.ok() && translation.commands.empty()) {
    return absl::NotFoundError(
        "it has neither [sections] of fio nor definitions of vdbench (sd=, wd=, rd= …)");
  }
  IOBENCH_RETURN_IF_ERROR(Annotate(done, std::string(tool->name)));
  return translation;
}

std::string JobFileIn(const std::vector<std::string>& words) {
  const std::vector<std::string> split = words.size() == 1 ? ShellWords(words.front()) : words;
  for (size_t at = 0; at < split.size(); ++at) {
    const ForeignTool* const tool = FindForeignTool(split[at]);
    if (tool == nullptr) continue;
    if (tool->translate == nullptr) {
      for (size_t i = at + 1; i < split.size(); ++i) {
        if (split[i] == "-f" && i + 1 < split.size()) return split[i + 1];
        if (split[i].starts_with("-f") && split[i].size() > 2) return split[i].substr(2);
      }
      return split.size() > at + 1 && !split[at + 1].starts_with('-') ? split[at + 1] : "";
    }
    if (tool->called != kFioTool.called) return "";
    const auto line = ForeignLine::Parse(*tool, std::span(split).subspan(at + 1));
    return line.ok() && line->words().size() == 1 && !line->Has("name") ? line->words().front() : "";
  }
  return split.size() == 1 ? split.front() : "";
}

const ForeignTool* ToolWith(std::span<const std::string> unknown_names) {
  const ForeignTool* best = nullptr;
  size_t most = 0;
  for (const ForeignTool& tool : ForeignTools()) {
    const auto known = static_cast<size_t>(
        std::count_if(unknown_names.begin(), unknown_names.end(), [&tool](const std::string& name) {
          return tool.dashes != ForeignDashes::kOne && FindForeignOption(tool, name) != nullptr;
        }));
    if (known > most) {
      best = &tool;
      most = known;
    }
  }
  return best;
}

namespace {

std::optional<std::vector<std::string>> TranslatedLine(const ForeignTool& tool, const ForeignLine& line) {
  Translation translation{.tool = &tool, .commands = {}, .differences = {}};
  if (tool.translate == nullptr || !tool.translate(line, translation).ok()) return std::nullopt;
  if (translation.commands.size() != 1 || translation.commands[0].needs_plan()) return std::nullopt;
  return translation.commands[0].Words();
}

// The option of ours that a word gives; null: it is none of a plan.
const OptionSpec* OurOption(const std::string& word) {
  for (const OptionSpec& option : kPlanOptions) {
    if (word.substr(0, word.find('=')) == absl::StrCat("--", std::string(option.name))) return &option;
    if (option.letter.size() == 1 && word.starts_with(absl::StrCat("-", std::string(option.letter))))
      return &option;
  }
  return nullptr;
}

}  // namespace

std::optional<std::vector<std::string>> TranslateMixedWords(const ForeignTool& tool,
                                                            std::span<const std::string> words) {
  const auto whole = ForeignLine::Parse(tool, words);
  const bool all =
      whole.ok() && std::all_of(whole->given().begin(), whole->given().end(),
                                [](const ForeignGiven& given) { return given.option != nullptr; });
  if (all && (whole->words().empty() || tool.typical != nullptr)) return TranslatedLine(tool, *whole);
  // Long options that the tool knows are the tool's, everything else is ours.
  std::vector<std::string> theirs, ours;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    const std::string name = word.starts_with("--") ? word.substr(2, word.find('=') - 2) : "";
    const ForeignOption* const option = name.empty() ? nullptr : FindForeignOption(tool, name);
    std::vector<std::string>& to = option != nullptr ? theirs : ours;
    to.push_back(word);
    const bool takes =
        option != nullptr && option->value != ForeignValue::kFlag && option->value != ForeignValue::kYesNo;
    if (takes && word.find('=') == std::string::npos && at + 1 < words.size()) to.push_back(words[++at]);
  }
  const auto line = ForeignLine::Parse(tool, theirs);
  Translation translation{.tool = &tool, .commands = {}, .differences = {}};
  if (!line.ok() || tool.translate == nullptr || !tool.translate(*line, translation).ok())
    return std::nullopt;
  if (translation.commands.size() != 1 || translation.commands[0].needs_plan()) return std::nullopt;
  TranslatedCommand command = translation.commands[0];
  for (const std::string& word : ours) {
    if (const OptionSpec* const option = word.starts_with('-') ? OurOption(word) : nullptr; option != nullptr)
      command.options.Remove(option->name);
    if (absl::StrContains(word, "/") && !word.starts_with('-')) command.options.Remove("path");
  }
  std::vector<std::string> result = command.Words();
  result.insert(result.end(), ours.begin(), ours.end());
  return result;
}

std::optional<MeantLine> LineOfLetters(std::span<const std::string> words) {
  for (const ForeignTool& tool : ForeignTools()) {
    if (tool.typical == nullptr) continue;
    const auto line = ForeignLine::Parse(tool, words);
    if (!line.ok() || line->given().size() < 2 || !tool.typical(*line)) continue;
    const bool all = std::all_of(line->given().begin(), line->given().end(),
                                 [](const ForeignGiven& given) { return given.option != nullptr; });
    if (!all) continue;
    Translation translation{.tool = &tool, .commands = {}, .differences = {}};
    if (!tool.translate(*line, translation).ok() || translation.commands.empty()) continue;
    if (translation.commands.size() > 1 || translation.commands[0].needs_plan()) return MeantLine{&tool, {}};
    return MeantLine{&tool, translation.commands[0].Words()};
  }
  return std::nullopt;
}

}  // namespace iobench
