#include "coordinator/iozone_letters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

struct Letter {
  char letter;
  const char* option;
  bool takes_argument;
};

constexpr std::array<Letter, 4> kLetters = {{
    {'D', "--dsync", false},
    {'V', "--shared-file", false},
    {'n', "--no-retest", false},
    {'p', "--mix-percent", true},
}};

// The other `-+` letters of IOzone 3.471.
constexpr std::string_view kIozoneOnly = "aAbBcCdEFhHiJkKlLmNOPqrsStTuUwWxXyzZ";

}  // namespace

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
    const char letter = argument.size() > 2 ? argument[2] : '\0';
    const auto known = std::find_if(kLetters.begin(), kLetters.end(),
                                    [letter](const Letter& entry) { return entry.letter == letter; });
    if (known == kLetters.end()) {
      if (letter != '\0' && kIozoneOnly.find(letter) != std::string_view::npos) {
        return absl::InvalidArgumentError(
            absl::StrCat("IOzone's option ", argument.substr(0, 3), " is not available in this version"));
      }
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", argument));
    }
    if (!known->takes_argument) {
      if (argument.size() > 3) {
        return absl::InvalidArgumentError(
            absl::StrCat(argument.substr(0, 3), " takes no argument, but \"", argument, "\" was given"));
      }
      result.push_back(known->option);
      continue;
    }
    std::string value = argument.substr(3);
    if (value.empty()) {
      if (i + 1 == arguments.size())
        return absl::InvalidArgumentError(absl::StrCat(argument, " needs an argument"));
      value = arguments[++i];
    }
    result.push_back(absl::StrCat(known->option, "=", value));
  }
  return result;
}

}  // namespace iobench
