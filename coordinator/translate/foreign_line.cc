#include "coordinator/translate/foreign_line.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text/units.h"

namespace iobench {
namespace {

bool NeedsArgument(const ForeignOption& option) {
  return option.value != ForeignValue::kFlag && option.value != ForeignValue::kYesNo;
}

// True if the word can only be the value of this option, which may stand alone: --direct 1, or --same-dir N.
bool IsYesOrNoOf(const ForeignOption& option, const std::string& word) {
  if (option.value != ForeignValue::kYesNo) return false;
  const std::string lower = absl::AsciiStrToLower(word);
  return word == "0" || word == "1" || (option.argument == "Y|N" && (lower == "y" || lower == "n"));
}

// Reads the words one after the other.
class WordReader {
 public:
  WordReader(const ForeignTool& tool, std::span<const std::string> words) : line_(tool), words_(words) {}

  absl::StatusOr<ForeignLine> Read() {
    for (; at_ < words_.size(); ++at_) {
      const std::string& word = words_[at_];
      const size_t dashes = word.starts_with("--") ? 2 : word.starts_with('-') ? 1 : 0;
      absl::Status taken = absl::OkStatus();
      if (dashes == 0 || word.size() == dashes || line_.tool().dashes == ForeignDashes::kNone) {
        line_.AddWord(word);
      } else if (dashes == 2 || line_.tool().dashes == ForeignDashes::kLong) {
        taken = TakeLong(word, dashes);
      } else {
        taken = TakeLetters(word);
      }
      if (!taken.ok()) return taken;
    }
    return std::move(line_);
  }

 private:
  absl::Status TakeLong(const std::string& word, size_t dashes) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(dashes, equals - dashes);
    const ForeignOption* const option = FindForeignOption(line_.tool(), name);
    const std::string typed = word.substr(0, equals);
    if (equals != std::string::npos) {
      line_.Add({option, typed, word.substr(equals + 1)});
      return absl::OkStatus();
    }
    return TakeValue(option, typed);
  }

  // -w -b4k -b 4k -b=4k -vvv
  absl::Status TakeLetters(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const ForeignOption* const option = FindForeignOption(line_.tool(), word.substr(i, 1));
      const std::string typed = absl::StrCat("-", word.substr(i, 1));
      if (option == nullptr || !NeedsArgument(*option)) {
        line_.Add({option, typed, ""});
        if (option == nullptr) return absl::OkStatus();  // whether the rest is its argument is not known
        continue;
      }
      std::string rest = word.substr(i + 1);
      if (rest.starts_with('=')) rest.erase(0, 1);
      if (rest.empty()) return TakeValue(option, typed);
      line_.Add({option, typed, rest});
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  // The value is the next word, if there is one.
  absl::Status TakeValue(const ForeignOption* option, const std::string& typed) {
    const bool has_next = at_ + 1 < words_.size();
    const bool takes =
        option != nullptr && (NeedsArgument(*option) || (has_next && IsYesOrNoOf(*option, words_[at_ + 1])));
    if (takes && !has_next) return absl::InvalidArgumentError(absl::StrCat(typed, " lacks its argument"));
    line_.Add({option, typed, takes ? words_[++at_] : ""});
    return absl::OkStatus();
  }

  ForeignLine line_;
  std::span<const std::string> words_;
  size_t at_ = 0;
};

}  // namespace

absl::StatusOr<ForeignLine> ForeignLine::Parse(const ForeignTool& tool, std::span<const std::string> words) {
  return WordReader(tool, words).Read();
}

const ForeignGiven* ForeignLine::Find(std::string_view name) const {
  const ForeignOption* const option = FindForeignOption(*tool_, name);
  const auto found = std::find_if(given_.rbegin(), given_.rend(), [option](const ForeignGiven& each) {
    return option != nullptr && each.option == option;
  });
  return found == given_.rend() ? nullptr : &*found;
}

bool ForeignLine::Has(std::string_view name) const {
  const ForeignGiven* const given = Find(name);
  return given != nullptr && IsOn(given->value);
}

std::string ForeignLine::Text(std::string_view name) const {
  const ForeignGiven* const given = Find(name);
  return given == nullptr ? "" : given->value;
}

std::vector<std::string> ForeignLine::Texts(std::string_view name) const {
  const ForeignOption* const option = FindForeignOption(*tool_, name);
  std::vector<std::string> texts;
  for (const ForeignGiven& each : given_) {
    if (option != nullptr && each.option == option) texts.push_back(each.value);
  }
  return texts;
}

absl::StatusOr<uint64_t> ForeignLine::Bytes(std::string_view name, uint64_t unit, uint64_t otherwise) const {
  const ForeignGiven* const given = Find(name);
  if (given == nullptr) return otherwise;
  const absl::StatusOr<uint64_t> bytes = ForeignBytes(given->value, unit);
  if (bytes.ok()) return bytes;
  return absl::InvalidArgumentError(absl::StrCat(given->typed, ": \"", given->value, "\" is no size"));
}

absl::StatusOr<uint64_t> ForeignLine::Number(std::string_view name, uint64_t otherwise) const {
  const ForeignGiven* const given = Find(name);
  if (given == nullptr) return otherwise;
  const absl::StatusOr<uint64_t> number = ForeignBytes(given->value, 1);  // 10k seeks, and 1m items
  if (number.ok()) return number;
  return absl::InvalidArgumentError(absl::StrCat(given->typed, ": \"", given->value, "\" is no number"));
}

absl::StatusOr<double> ForeignLine::Seconds(std::string_view name, double otherwise) const {
  const ForeignGiven* const given = Find(name);
  if (given == nullptr) return otherwise;
  const absl::StatusOr<double> seconds = ParseSeconds(absl::AsciiStrToLower(given->value), 1);
  if (seconds.ok()) return seconds;
  return absl::InvalidArgumentError(absl::StrCat(given->typed, ": \"", given->value, "\" is no time"));
}

absl::StatusOr<uint64_t> ForeignBytes(std::string_view text, uint64_t unit) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  std::string suffix = absl::AsciiStrToLower(std::string(text.substr(digits)));
  if (suffix.size() > 1 && suffix.ends_with('b')) suffix.pop_back();
  if (suffix.size() > 1 && suffix.ends_with('i')) suffix.pop_back();
  constexpr std::string_view kPowers = "kmgtp";
  const size_t power = suffix.empty() ? 0 : kPowers.find(suffix);
  if (digits == 0 || !absl::SimpleAtod(std::string(text.substr(0, digits)), &number) ||
      (power == std::string_view::npos && suffix != "b")) {
    return absl::InvalidArgumentError(absl::StrCat("\"", std::string(text), "\" is no size"));
  }
  const double bytes = number * (suffix.empty()  ? static_cast<double>(unit)
                                 : suffix == "b" ? 1
                                                 : std::pow(1024.0, static_cast<double>(power + 1)));
  constexpr double kMax = 9e18;
  if (bytes >= kMax)
    return absl::InvalidArgumentError(absl::StrCat("\"", std::string(text), "\" is too large"));
  return static_cast<uint64_t>(bytes);
}

bool IsOn(std::string_view value) {
  const std::string lower = absl::AsciiStrToLower(std::string(value));
  return lower != "0" && lower != "n" && lower != "no" && lower != "false" && lower != "off";
}

}  // namespace iobench
