#include "coordinator/option/typed_words.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/model/operation.h"
#include "common/net/nfs_url.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

// Names that other programs use for our options.
constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
    {"block", "record"},      {"block-size", "record"},     {"blocksize", "record"}, {"bs", "record"},
    {"dir", "path"},          {"directory", "path"},        {"duration", "time"},    {"filesize", "size"},
    {"hosts", "client-list"}, {"hostsfile", "client-list"}, {"iodepth", "depth"},    {"ioengine", "engine"},
    {"jobs", "lanes"},        {"numjobs", "lanes"},         {"runtime", "time"},     {"rw", "op"},
    {"target", "path"},       {"timelimit", "time"},
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

}  // namespace

absl::Status CheckLongNames(const std::vector<std::string>& arguments, const LongNames& names) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (absl::Status status = CheckDashes(argument, names); !status.ok()) return status;
    const bool is_long = absl::StartsWith(argument, "--");
    if (!is_long && !absl::StartsWith(argument, "-")) continue;
    const std::string name = argument.substr(is_long ? 2 : 1, argument.find('=') - (is_long ? 2 : 1));
    if (is_long && !Has(names.known, name)) {
      return absl::InvalidArgumentError(absl::StrCat("unknown option \"--", name, "\"", Hint(name, names)));
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
  const auto at = std::find(arguments.begin(), arguments.end(), word);
  if (at != arguments.begin() && at != arguments.end() && absl::StartsWith(*std::prev(at), "-")) {
    absl::StrAppend(&why, " (", *std::prev(at), " takes no argument)");
  }
  const char* const option =
      FindOperation(word).ok() ? "--op before it to run it" : "--path before it to test in it";
  return absl::InvalidArgumentError(absl::StrCat("\"", word, "\" ", why, "; write ", option));
}

}  // namespace iobench
