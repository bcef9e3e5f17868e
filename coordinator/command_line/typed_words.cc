#include "coordinator/command_line/typed_words.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/operation.h"
#include "common/net/nfs_url.h"
#include "common/text/near_names.h"
#include "common/text/shell_word.h"
#include "common/text/utf8.h"
#include "coordinator/files/files.h"
#include "coordinator/options/command_table.h"
#include "coordinator/options/option.h"
#include "coordinator/translate/foreign_help.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

// Words for our options that are no option of a tool in coordinator/translate.
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"block-size", "record"}, {"block", "record"},    {"dir", "path"},        {"directory", "path"},
    {"duration", "time"},     {"file-size", "size"},  {"hostsfile", "hosts"}, {"jobs", "lanes"},
    {"mount", "path"},        {"mountpoint", "path"}, {"output-dir", "out"},  {"queue-depth", "depth"},
    {"runtime", "time"},      {"target", "path"},
};

// What other tools call lanes, which we accept.
constexpr std::string_view kTheirLanes = "threads";

// Unicode hyphens and dashes that keyboards, web pages and word processors use in place of "-".
constexpr std::string_view kDashes[] = {"\u2010", "\u2011", "\u2012", "\u2013", "\u2014", "\u2015", "\u2212"};

size_t BytesOfDash(std::string_view text) {
  for (const std::string_view dash : kDashes) {
    if (text.starts_with(dash)) return dash.size();
  }
  return 0;
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A typo rarely changes how a word begins: --mount is not --remount, --nolive not --live. Its first two letters may be
// swapped, or one of them missing.
bool BeginsAlike(std::string_view typed, std::string_view name) {
  return !typed.empty() && !name.empty() &&
         (typed[0] == name[0] || (typed.size() > 1 && typed[1] == name[0] && typed.size() == name.size()) ||
          (name.size() > 1 && typed[0] == name[1] && typed.size() + 1 == name.size()));
}

// Returns "; did you mean --lanes?" or an empty string.
std::string Hint(std::string_view name, const LongNames& names) {
  for (const auto& [other, ours] : kOthers) {
    if (other == name && Has(names.shown, ours))
      return absl::StrCat("; the name here is --", std::string(ours));
  }
  std::vector<std::string_view> shown(names.shown.begin(), names.shown.end());
  std::erase_if(shown, [name](std::string_view other) { return !BeginsAlike(name, other); });
  return DidYouMean(name, shown, "--");
}

// What a row says, up to the first condition: "--op read, write" of "--op read, write; others".
std::string ShortWords(const ForeignOption& option) {
  if (option.becomes == Becomes::kOption || option.becomes == Becomes::kTogether) {
    const std::string ours = OursOf(option);
    return absl::StrCat("here it is ", ours.substr(0, ours.find(';')));
  }
  return absl::StrCat(
      "here ", option.becomes == Becomes::kNothing ? "it is not needed: " : "there is nothing like it: ",
      std::string(option.note));
}

// "--rw, --bs and --numjobs"
std::string Enumerated(const std::vector<std::string>& names) {
  if (names.size() < 2) return absl::StrJoin(names, "");
  return absl::StrCat(absl::StrJoin(names.begin(), names.end() - 1, ", "), " and ", names.back());
}

// One answer for all options of a line that only another tool has. Empty: no tool has any of them.
std::string AnswerOfTool(const std::vector<std::string>& unknown, const std::vector<std::string>& arguments) {
  const ForeignTool* const tool = ToolWith(unknown);
  if (tool == nullptr) return "";
  std::vector<std::string> typed;
  std::vector<const ForeignOption*> rows;
  for (const std::string& name : unknown) {
    const ForeignOption* const row = FindForeignOption(*tool, name);
    if (row == nullptr) continue;
    typed.push_back(absl::StrCat("--", name));
    rows.push_back(row);
  }
  const std::string of(tool->name);
  std::string help = absl::StrCat("; `--help ", std::string(tool->called.substr(0, tool->called.find(' '))),
                                  "` lists them all");
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const auto line = words.size() > 1 ? TranslateMixedWords(*tool, words) : std::nullopt;
  std::string text =
      rows.size() == 1
          ? absl::StrCat("unknown option \"", typed[0], "\": it is ", of, "'s; ", ShortWords(*rows[0]))
          : absl::StrCat("unknown options ", Enumerated(typed), ": they are ", of, "'s");
  if (rows.size() > 1 && line.has_value()) return absl::StrCat(text, "; here: ", ShellCommand(*line), help);
  for (size_t i = 0; rows.size() > 1 && i < rows.size(); ++i)
    absl::StrAppend(&text, "; ", typed[i], ": ", ShortWords(*rows[i]));
  return absl::StrCat(text, help);
}

// The long names that the command does not have, in the order of the line.
std::vector<std::string> UnknownNames(const std::vector<std::string>& arguments, const LongNames& names) {
  std::vector<std::string> unknown;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name =
        absl::StartsWith(argument, "--") ? argument.substr(2, argument.find('=') - 2) : "";
    if (!name.empty() && name != kTheirLanes && !Has(names.known, name)) unknown.push_back(name);
  }
  return unknown;
}

absl::Status CheckDashes(const std::string& argument, const LongNames& names) {
  std::string_view rest = argument;
  bool foreign = false;
  while (!rest.empty()) {
    const size_t dash = BytesOfDash(rest);
    if (dash == 0 && rest[0] != '-') break;
    foreign |= dash > 0;
    rest.remove_prefix(std::max<size_t>(dash, 1));
  }
  if (!foreign) return absl::OkStatus();
  const std::string_view name = rest.substr(0, rest.find('='));
  std::string meant =
      Has(names.known, name) ? absl::StrCat("; did you mean --", std::string(name), "?") : Hint(name, names);
  if (name.size() == 1) meant = absl::StrCat("; did you mean -", std::string(name), "?");
  if (meant.empty()) return absl::OkStatus();  // possibly a value
  return absl::InvalidArgumentError(
      absl::StrCat("\"", argument, "\" begins with a Unicode dash; options need a plain -", meant));
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

// True if words that belong to no option mean something to the command, so that they may follow --.
bool TakesWords(const std::string& command) {
  const std::span<const CommandSpec> commands = Commands();
  const auto named = std::find_if(commands.begin(), commands.end(),
                                  [&command](const CommandSpec& each) { return each.name == command; });
  const std::span<const OptionSpec> options = CommandOptions();
  return named != commands.end() && std::any_of(options.begin(), options.end(), [&named](const OptionSpec& option) {
           return option.positional && (option.commands & named->command) != 0;
         });
}

// Where to find help. Without a command, `command` is `run`, although the user may have meant another one.
std::string HelpHint(const std::string& command) {
  return command == "run" ? "; `cluster-iobench --help` lists commands, `cluster-iobench run --help` options"
                          : absl::StrCat("; `cluster-iobench ", command, " --help` lists its options");
}

}  // namespace

absl::Status CheckLongNames(const std::vector<std::string>& arguments, const LongNames& names,
                            const std::string& command) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (absl::Status status = CheckDashes(argument, names); !status.ok()) return status;
    const bool is_long = absl::StartsWith(argument, "--");
    if (!is_long && !absl::StartsWith(argument, "-")) continue;
    const std::string name = argument.substr(is_long ? 2 : 1, argument.find('=') - (is_long ? 2 : 1));
    if (is_long && !Has(names.known, name)) {
      const std::string hint = Hint(name, names);
      return absl::InvalidArgumentError(
          absl::StrCat("unknown option \"--", name, "\"", hint.empty() ? HelpHint(command) : hint));
    }
    if (is_long && absl::EndsWith(argument, "=")) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, " needs an argument, but an empty one was given"));
    }
    if (is_long && (name == "help" || name == "version") && argument.size() > name.size() + 2) {
      return absl::InvalidArgumentError(absl::StrCat("--", name, " takes no value: \"", argument, "\""));
    }
    // Letters may be joined, so only a complete name is unambiguous.
    constexpr size_t kShortest = 4;
    if (!is_long && name.size() >= kShortest && Has(names.shown, name)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"-", name, "\" is read as letters; did you mean --", name, "?"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNoForeignNames(const std::vector<std::string>& arguments, const LongNames& names) {
  if (!Has(names.known, "op")) return absl::OkStatus();  // the command has no workload
  const std::string answer = AnswerOfTool(UnknownNames(arguments, names), arguments);
  return answer.empty() ? absl::OkStatus() : absl::InvalidArgumentError(answer);
}

absl::Status WithMeantLine(const absl::Status& status, const std::vector<std::string>& typed) {
  const std::optional<MeantLine> meant = LineOfLetters(typed);
  if (!meant.has_value() || status.code() != absl::StatusCode::kInvalidArgument) return status;
  const std::string tool(meant->tool->name);
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(status.message()), "; if this line is ", tool, "'s",
      meant->words.empty()
          ? absl::StrCat(": cluster-iobench translate ",
                         std::string(meant->tool->called.substr(0, meant->tool->called.find(' '))), " …")
          : absl::StrCat(", here it is: ", ShellCommand(meant->words))));
}

std::vector<std::string> WithOurNames(std::vector<std::string> arguments, const LongNames& names) {
  static constexpr std::string_view kOurs = "lanes";
  const std::string theirs = absl::StrCat("--", std::string(kTheirLanes));
  if (!Has(names.known, kOurs)) return arguments;
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const bool same = argument == theirs || absl::StartsWith(argument, absl::StrCat(theirs, "="));
    if (same) argument.replace(2, kTheirLanes.size(), kOurs);
  }
  return arguments;
}

bool NamesDirectory(const std::string& word) {
  return word == "." || word == ".." || IsNfsUrl(word) || absl::StrContains(word, "/") ||
         (!FindOperation(word).ok() && files::IsDirectory(word));
}

absl::Status CheckFirstWord(const std::string& word, std::span<const std::string_view> commands) {
  if (absl::StartsWith(word, "-") || BytesOfDash(word) > 0 || NamesDirectory(word)) return absl::OkStatus();
  const std::string hint = DidYouMean(word, commands);
  if (hint.empty() || FindOperation(word).ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("unknown command \"", word, "\"", hint));
}

absl::Status RefusalOfWord(const std::string& word, const std::vector<std::string>& arguments) {
  std::string why = "belongs to no option";
  // The last one: an earlier one may be the value of another option, as in -i 0 --direct 0.
  const auto at = std::find(arguments.rbegin(), arguments.rend(), word);
  if (at != arguments.rend() && std::next(at) != arguments.rend() && absl::StartsWith(*std::next(at), "-")) {
    const std::string& flag = *std::next(at);
    const bool is_value = FlagValue(word).ok() && absl::StartsWith(flag, "--");
    absl::StrAppend(&why, " (", flag, " takes no argument",
                    is_value ? absl::StrCat("; as a value: ", flag, "=", word) : "", ")");
  }
  const char* const option =
      FindOperation(word).ok() ? "--op before it to run it" : "--path before it to test in it";
  return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" ", why, "; write ", option));
}

absl::Status CheckAllOptions(const std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return absl::OkStatus();
  const auto refused = !TakesWords(arguments[0]) ? dashes + 1
                                                 : std::find_if(dashes + 1, arguments.end(), [](const std::string& word) {
                                                     return absl::StartsWith(word, "-") && !files::Exists(word);
                                                   });
  if (refused == arguments.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", *refused, "\" follows --, and is no option there: put options before it"));
}

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

absl::Status CheckUtf8(const std::vector<std::string>& typed) {
  for (const std::string& argument : typed) {
    if (IsUtf8(argument)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", AsUtf8(argument), "\" is not UTF-8, so reports cannot show it: use another name"));
  }
  return absl::OkStatus();
}

std::string MessageOf(const CLI::ParseError& error, const std::string& command) {
  std::string message = error.what();
  if (const size_t at = message.find(": At Most 1 required"); at != std::string::npos) {
    message = absl::StrCat(message.substr(0, at), " was given twice");
  }
  if (const size_t at = message.find(": 1 required "); at != std::string::npos) {
    message = absl::StrCat(message.substr(0, at), " needs an argument");
  }
  std::replace(message.begin(), message.end(), '\n', ' ');
  return absl::StrCat(WithLongWordsQuoted(message), HelpHint(command));
}

}  // namespace iobench
