#include "coordinator/command_line/typed_words.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/model/operation.h"
#include "common/net/nfs_url.h"
#include "common/text/near_names.h"
#include "common/text/utf8.h"
#include "coordinator/options/option.h"

namespace iobench {
namespace {

// Names that other programs use for our options.
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"block", "record"},  {"block-size", "record"}, {"blocksize", "record"},
    {"bs", "record"},     {"csvfile", "format"},    {"dir", "path"},
    {"directory", "path"}, {"dropcache", "drop-caches"}, {"duration", "time"},
    {"filesize", "size"}, {"hostsfile", "hosts"},   {"iodepth", "depth"},
    {"ioengine", "engine"}, {"iterations", "repeat"}, {"jobs", "lanes"},
    {"jsonfile", "format"}, {"numjobs", "lanes"},   {"rand", "op"},
    {"read", "op"},       {"resfile", "out"},       {"runtime", "time"},
    {"rw", "op"},         {"rwmixpct", "mix-percent"}, {"rwmixread", "mix-percent"},
    {"target", "path"},   {"timelimit", "time"},    {"write", "op"},
};

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

// Returns "; did you mean --lanes?" or an empty string.
std::string Hint(std::string_view name, const LongNames& names) {
  for (const auto& [other, ours] : kOthers) {
    if (other == name && Has(names.shown, ours))
      return absl::StrCat("; the name here is --", std::string(ours));
  }
  const std::vector<std::string_view> shown(names.shown.begin(), names.shown.end());
  return DidYouMean(name, shown, "--");
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

std::vector<std::string> WithOurNames(std::vector<std::string> arguments, const LongNames& names) {
  static constexpr std::string_view kTheirs = "--threads", kOurs = "lanes";
  if (!Has(names.known, kOurs)) return arguments;
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const bool same = argument == kTheirs || absl::StartsWith(argument, absl::StrCat(std::string(kTheirs), "="));
    if (same) argument.replace(2, kTheirs.size() - 2, kOurs);
  }
  return arguments;
}

bool NamesDirectory(std::string_view word) {
  return word == "." || word == ".." || IsNfsUrl(std::string(word)) ||
         word.find('/') != std::string_view::npos;
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
  static constexpr std::string_view kOfDirectories[] = {"report", "compare", "history", "clean"};
  if (std::find(std::begin(kOfDirectories), std::end(kOfDirectories), arguments[0]) !=
      std::end(kOfDirectories))
    return absl::OkStatus();  // a directory may have any name
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("\"", *(dashes + 1), "\" follows --, but `", arguments[0],
                                                 "` takes nothing after --: put options before it"));
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
