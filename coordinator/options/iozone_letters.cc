#include "coordinator/options/iozone_letters.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/model/operation.h"
#include "common/text/terminal_width.h"
#include "coordinator/options/option.h"

namespace iobench {
namespace {

// clang-format off
constexpr RefusedLetter kRefused[] = {
    {"d",  true,  "delay between the children's starts",
     "all lanes start at the same instant, which is what is measured"},
    {"+a", true,  "placeholder", "it has no effect in IOzone either"},
    {"+c", true,  "internal: client of a master", "workers join with `cluster-iobench worker --join ADDR`"},
    {"+H", true,  "time server host", "clocks are measured, no time server is needed"},
    {"+i", true,  "internal: the master's port", "workers join with `cluster-iobench worker --join ADDR`"},
    {"+P", true,  "time server port", "clocks are measured, no time server is needed"},
    {"+s", false, "internal: silent", "only IOzone itself uses it"},
    {"+U", false, "unbuffered Windows calls", "it is for Windows only"},
    {"+X", false, "constant data 0xBB", "use --data pattern:187, which gives valid results"},
    {"+Z", false, "old data, 0xA5 and zeros", "use --data pattern:165, which writes that byte everywhere"},
};
constexpr LaunchLetter kLaunchLetters[] = {
    {"b", "workbook", true, "also write the report to FILE as a workbook for spreadsheet programs (.xlsx)"},
    {"+h", "coordinator-host", true, "with -+m: address at which clients reach this host"},
    {"+m", "client-list", true,
     "start a worker for each line \"client directory program [path]\" of FILE, using $RSH (default ssh)"},
    {"+t", "net-test", false,
     "test the network between clients and this host in both directions, each client alone and all at once"},
    {"h", "help", false, "this help; `--help iozone` for the letters"},
    {"v", "version", false, "print the version"},
};
// clang-format on

const OptionSpec* OptionOf(std::string_view letter) {
  const auto found = std::find_if(kPlanOptions.begin(), kPlanOptions.end(),
                                  [letter](const OptionSpec& option) { return option.letter == letter; });
  return found == kPlanOptions.end() ? nullptr : &*found;
}

// One line of the help. Letters are in alphabetical order, capitals after lower case, `-+` last.
struct Line {
  std::string letter, ours, text;
};

std::tuple<bool, int, bool> OrderOf(const Line& line) {
  const unsigned char last = static_cast<unsigned char>(line.letter.back());
  return {line.letter.size() > 1, std::tolower(last), std::isupper(last) != 0};
}

}  // namespace

std::span<const RefusedLetter> RefusedLetters() {
  return kRefused;
}

std::span<const LaunchLetter> LaunchLetters() {
  return kLaunchLetters;
}

absl::Status RefusalOf(const RefusedLetter& letter) {
  return absl::InvalidArgumentError(absl::StrCat("IOzone's option -", std::string(letter.letter), " (",
                                                 std::string(letter.meaning),
                                                 "): ", std::string(letter.why)));
}

absl::StatusOr<std::vector<std::string>> WithLongOptions(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      result.insert(result.end(), arguments.begin() + static_cast<ptrdiff_t>(i), arguments.end());
      break;
    }
    if (!absl::StartsWith(argument, "-+")) {
      result.push_back(argument);
      continue;
    }
    const std::string letter = argument.substr(1, 2);  // "+n"
    for (const RefusedLetter& refused : kRefused) {
      if (refused.letter == letter) return RefusalOf(refused);
    }
    std::string name;
    bool takes_argument = false;
    if (const OptionSpec* option = OptionOf(letter); option != nullptr) {
      name = std::string(option->name);
      takes_argument = !option->is_flag();
    }
    for (const LaunchLetter& place : kLaunchLetters) {
      if (place.letter != letter) continue;
      name = std::string(place.name);
      takes_argument = place.takes_argument;
    }
    if (name.empty() || letter.size() < 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("unknown option ", argument, "; `cluster-iobench --help iozone` lists all letters"));
    }
    if (!takes_argument) {
      if (argument.size() > 3) {
        return absl::InvalidArgumentError(
            absl::StrCat(argument.substr(0, 3), " takes no argument, but \"", argument, "\" was given"));
      }
      result.push_back(absl::StrCat("--", name));
      continue;
    }
    std::string value = argument.substr(3);
    if (value.empty()) {
      if (i + 1 == arguments.size())
        return absl::InvalidArgumentError(absl::StrCat(argument, " needs an argument"));
      value = arguments[++i];
    }
    result.push_back(absl::StrCat("--", name, "=", value));
  }
  return result;
}

std::string IozoneHelp(size_t columns) {
  std::vector<Line> lines;
  for (const OptionSpec& option : kPlanOptions) {
    if (option.letter.empty()) continue;
    lines.push_back({std::string(option.letter),
                     absl::StrCat("--", std::string(option.name), option.argument.empty() ? "" : " ",
                                  std::string(option.argument)),
                     std::string(option.help)});
  }
  for (const LaunchLetter& place : kLaunchLetters) {
    lines.push_back(
        {std::string(place.letter), absl::StrCat("--", std::string(place.name)), std::string(place.help)});
  }
  for (const RefusedLetter& refused : kRefused) {
    lines.push_back({std::string(refused.letter), "not supported",
                     absl::StrCat(std::string(refused.meaning), ": ", std::string(refused.why))});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return OrderOf(a) < OrderOf(b); });

  std::string text = Hanging("", 0,
                             "IOzone's letters and what each one does here. Letters may be joined (-Raz); an argument may "
                             "follow directly (-i0), also after a -+ letter. docs/iozone.md lists the differences and the "
                             "reasons.",
                             columns);
  text += '\n';
  constexpr size_t kIndent = 36;
  for (const Line& line : lines) {
    absl::StrAppend(&text, Hanging(absl::StrFormat("  -%-4s%s", line.letter, line.ours), kIndent, line.text, columns));
  }
  text += "\nTests (-i), any number of them in any order:\n";
  std::map<int, std::vector<std::string>> names_of;
  std::vector<std::string> unnumbered;
  for (const OperationSpec& operation : Operations()) {
    const bool numbered = operation.iozone_number != kNotIozone;
    (numbered ? names_of[operation.iozone_number] : unnumbered).emplace_back(operation.name);
  }
  for (const auto& [number, names] : names_of) {
    absl::StrAppend(&text, Hanging(absl::StrFormat("  -i %-3d", number), 9, absl::StrJoin(names, ", "), columns));
  }
  absl::StrAppend(&text, "\nBy name only (--op):\n", Hanging("", 2, absl::StrJoin(unnumbered, ", "), columns));
  return text;
}

}  // namespace iobench
