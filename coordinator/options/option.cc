#include "coordinator/options/option.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/status_util.h"
#include "common/text/record_share_text.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr double kMillisecond = 1e-3;

// Formats whole numbers without an exponent, up to the largest 64-bit one.
std::string EndOfRange(double end) {
  if (end >= 0x1p64) return absl::StrCat(UINT64_MAX);
  return end == std::floor(end) ? absl::StrCat(static_cast<uint64_t>(end)) : absl::StrCat(end);
}

std::string RangeOf(const OptionSpec& option) {
  const char* unit = option.value == OptionValue::kSeconds        ? " seconds"
                     : option.value == OptionValue::kMilliseconds ? " milliseconds"
                                                                  : "";
  return absl::StrCat(option.value == OptionValue::kWhole ? "a whole number" : "a number", " from ",
                      EndOfRange(option.min), " to ", EndOfRange(option.max), unit);
}

absl::StatusOr<std::string> ReadNumber(const OptionSpec& option, const std::string& text) {
  double number = NAN;
  bool good = absl::SimpleAtod(text, &number) && number >= option.min && number <= option.max;
  if (option.value == OptionValue::kWhole) {
    uint64_t whole = 0;  // as doubles, 2^64 and the number before it are equal
    good =
        good && text.find_first_not_of("0123456789") == std::string::npos && absl::SimpleAtoi(text, &whole);
  }
  if (!good) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), ": \"", text, "\" is not ", RangeOf(option)));
  }
  return text;
}

// Converts to units of `unit_s`, as for a bare number.
absl::StatusOr<std::string> ReadTime(const OptionSpec& option, const std::string& text, double unit_s) {
  const absl::StatusOr<double> seconds = ParseSeconds(text, unit_s);
  if (!seconds.ok()) return Annotate(seconds.status(), BothNamesOf(option));
  const double number = *seconds / unit_s;
  if (number < option.min || number > option.max) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), ": \"", text, "\" is not ", RangeOf(option)));
  }
  const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
  return bare ? text : absl::StrFormat("%.15g", number);
}

absl::StatusOr<std::string> ReadSize(const OptionSpec& option, const std::string& text,
                                     uint64_t bare_unit_bytes) {
  const absl::StatusOr<uint64_t> bytes = ParseBytes(text, bare_unit_bytes);
  if (!bytes.ok()) return Annotate(bytes.status(), BothNamesOf(option));
  if (static_cast<double>(*bytes) < option.min) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), ": \"", text, "\" is less than ", option.min, " bytes"));
  }
  return absl::StrCat(*bytes);
}

absl::StatusOr<std::vector<std::string>> ReadRecordSize(const OptionSpec& option, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    IOBENCH_ASSIGN_OR_RETURN(const std::string bytes, ReadSize(option, text, 1_KiB));
    return std::vector<std::string>{bytes, ""};
  }
  const absl::StatusOr<RecordShare> share = ParseRecordShare(text);
  if (!share.ok()) return Annotate(share.status(), BothNamesOf(option));
  return std::vector<std::string>{absl::StrCat(share->record_bytes), text.substr(colon + 1)};
}

// "2xram" and "200%" have no size before the workers have joined; kSizeByMemory stands for it until then.
absl::StatusOr<std::vector<std::string>> ReadFileSize(const OptionSpec& option, const std::string& text) {
  constexpr absl::string_view kTimesMemory = "xram";
  const std::string lower = absl::AsciiStrToLower(text);
  const bool is_multiple = absl::EndsWith(lower, kTimesMemory), is_percentage = absl::EndsWith(lower, "%");
  if (!is_multiple && !is_percentage) {
    IOBENCH_ASSIGN_OR_RETURN(const std::string bytes, ReadSize(option, text, 1_KiB));
    return std::vector<std::string>{bytes, "0"};
  }
  double number = 0;
  const size_t suffix_bytes = is_multiple ? kTimesMemory.size() : 1;
  const bool ok = absl::SimpleAtod(lower.substr(0, lower.size() - suffix_bytes), &number);
  const double percent = is_multiple ? 100 * number : number;
  if (!ok || !(percent >= 1 && percent <= kMaxMemoryPercent)) {
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), ": \"", text,
                                                   "\" is not a share of memory from 1% to ",
                                                   kMaxMemoryPercent, "%, such as 2xram or 200%"));
  }
  return std::vector<std::string>{absl::StrCat(kSizeByMemory), absl::StrCat(std::llround(percent))};
}

absl::StatusOr<std::vector<std::string>> ReadSizeAndMs(const OptionSpec& option, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(option), ": \"", text, "\" is not a size and a pause in milliseconds such as 4m,20"));
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string ms, ReadTime(option, parts[1], kMillisecond));
  const absl::StatusOr<uint64_t> bytes = ParseBytes(parts[0], 1_KiB);
  if (!bytes.ok()) return Annotate(bytes.status(), BothNamesOf(option));
  if (*bytes == 0)
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), ": the burst size is 0"));
  return std::vector<std::string>{absl::StrCat(*bytes), ms};
}

absl::StatusOr<std::vector<std::string>> ReadDataContents(const OptionSpec& option, const std::string& text) {
  if (text == "zero" || text == "same" || text == "incompressible") return std::vector<std::string>{text, "0"};
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  uint32_t byte = 0;
  if (parts.first == "pattern" && absl::SimpleAtoi(parts.second, &byte) && byte <= 255) {
    return std::vector<std::string>{"pattern", absl::StrCat(byte)};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(BothNamesOf(option), ": \"", text,
                   "\" is not zero, same, incompressible or pattern:N with a byte N from 0 to 255"));
}

absl::StatusOr<std::vector<std::string>> ReadBinding(const OptionSpec& option, const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  uint32_t first = 0;
  if (text == "numa") return std::vector<std::string>{"numa_nodes", "0"};
  if (text == "cores" || (parts.first == "cores" && absl::SimpleAtoi(parts.second, &first))) {
    return std::vector<std::string>{"cores", absl::StrCat(first)};
  }
  return absl::InvalidArgumentError(
      absl::StrCat(BothNamesOf(option), ": \"", text, "\" is not cores, cores:FIRST or numa"));
}

absl::StatusOr<std::vector<std::string>> ReadStripe(const OptionSpec& option, const std::string& text) {
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  int32_t count = 0;
  if (!absl::SimpleAtoi(parts.first, &count) || (parts.second.empty() && text.ends_with(':'))) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), ": \"", text,
                     "\" is not a stripe count, optionally with a size, such as 4:1m (-1: all OSTs)"));
  }
  if (parts.second.empty()) return std::vector<std::string>{absl::StrCat(count), ""};
  const absl::StatusOr<std::string> bytes = ReadSize(option, parts.second, 1);
  if (!bytes.ok()) return bytes.status();
  return std::vector<std::string>{absl::StrCat(count), *bytes};
}

absl::StatusOr<std::vector<std::string>> ReadEngine(const OptionSpec& option, const std::string& text) {
  if (text.empty())
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), " needs an argument"));
  const std::pair<std::string, std::string> sides = absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (sides.first != "sim") return std::vector<std::string>{text, ""};
  return std::vector<std::string>{sides.first, sides.second};
}

// "50MiB/s", as bytes per second.
absl::StatusOr<std::string> ReadByteRate(const OptionSpec& option, const std::string& text) {
  const absl::StatusOr<uint64_t> bytes = ParseBytes(std::string(absl::StripSuffix(text, "/s")), 1);
  if (!bytes.ok() || *bytes == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(option), ": \"", text, "\" is no rate: write ops per second, or bytes such as 50MiB/s"));
  }
  return absl::StrCat(*bytes);
}

absl::StatusOr<std::vector<std::string>> ReadRate(const OptionSpec& option, const std::string& text) {
  const std::pair<std::string, std::string> ends = absl::StrSplit(text, absl::MaxSplits("..", 1));
  const bool is_ramp = absl::StrContains(text, "..");
  if (absl::EndsWith(text, "/s")) {
    IOBENCH_ASSIGN_OR_RETURN(const std::string first, ReadByteRate(option, ends.first));
    if (!is_ramp) return std::vector<std::string>{first, "", std::string(kInBytes)};
    IOBENCH_ASSIGN_OR_RETURN(const std::string last, ReadByteRate(option, ends.second));
    return std::vector<std::string>{first, last, std::string(kInBytes)};
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string begin, ReadNumber(option, ends.first));
  if (!is_ramp) return std::vector<std::string>{begin, ""};
  IOBENCH_ASSIGN_OR_RETURN(const std::string end, ReadNumber(option, ends.second));
  return std::vector<std::string>{begin, end};
}

// Converts IOzone's numbers; the plan check handles words.
std::string ReadMapAdvice(const std::string& text) {
  static constexpr const char* kWords[] = {"normal", "random", "sequential", "dontneed", "willneed"};
  uint32_t number = 0;
  return absl::SimpleAtoi(text, &number) && number < std::size(kWords) ? kWords[number] : text;
}

absl::StatusOr<std::vector<std::string>> PartsOf(const OptionSpec& option, const std::string& text) {
  absl::StatusOr<std::string> part = text;
  switch (option.value) {
    case OptionValue::kFlag:
      break;  // GivenOptions::Add
    case OptionValue::kWord:
      if (text.empty())
        return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), " needs an argument"));
      break;
    case OptionValue::kWhole:
    case OptionValue::kDecimal:
      part = ReadNumber(option, text);
      break;
    case OptionValue::kSeconds:
      part = ReadTime(option, text, 1);
      break;
    case OptionValue::kMilliseconds:
      part = ReadTime(option, text, kMillisecond);
      break;
    case OptionValue::kSizeKib:
      part = ReadSize(option, text, 1_KiB);
      break;
    case OptionValue::kRecordSize:
      return ReadRecordSize(option, text);
    case OptionValue::kFileSize:
      return ReadFileSize(option, text);
    case OptionValue::kSizeBytes:
      part = ReadSize(option, text, 1);
      break;
    case OptionValue::kMapAdvice:
      part = ReadMapAdvice(text);
      break;
    case OptionValue::kSizeAndMs:
      return ReadSizeAndMs(option, text);
    case OptionValue::kBinding:
      return ReadBinding(option, text);
    case OptionValue::kStripe:
      return ReadStripe(option, text);
    case OptionValue::kDataContents:
      return ReadDataContents(option, text);
    case OptionValue::kEngine:
      return ReadEngine(option, text);
    case OptionValue::kRate:
      return ReadRate(option, text);
  }
  if (!part.ok()) return part.status();
  return std::vector<std::string>{*part};
}

// What a user of other tools means by -r 4096 is not what IOzone means.
void NoteBareKib(const OptionSpec& option, const std::string& text, std::vector<std::string>& notes) {
  constexpr uint64_t kMostMeant = 1024;
  const bool in_kib = option.value == OptionValue::kSizeKib || option.value == OptionValue::kRecordSize ||
                      option.value == OptionValue::kFileSize;
  uint64_t number = 0;
  if (!in_kib || text.find_first_not_of("0123456789") != std::string::npos) return;
  if (!absl::SimpleAtoi(text, &number) || number <= kMostMeant || number > UINT64_MAX / 1_KiB) return;
  notes.push_back(absl::StrCat(ShortNameOf(option), " ", text, " is ", FormatBytes(static_cast<double>(number * 1_KiB)),
                               ": IOzone counts in KiB; for bytes write ", text, "b"));
}

}  // namespace

std::string_view TitleOf(OptionGroup group) {
  switch (group) {
    case OptionGroup::kWhat:
      return "What to do";
    case OptionGroup::kAuto:
      return "Sweeps over sizes and lanes";
    case OptionGroup::kTimed:
      return "Timing";
    case OptionGroup::kEngine:
      return "Engines and buffers";
    case OptionGroup::kBetween:
      return "Between operations";
    case OptionGroup::kData:
      return "Data and verification";
    case OptionGroup::kMetadata:
      return "Metadata operations";
    case OptionGroup::kCaches:
      return "Caches and pauses between phases";
    case OptionGroup::kWhere:
      return "Workers and results";
    case OptionGroup::kIozone:
      return "IOzone's report formats, and what is always on";
    case OptionGroup::kPlain:
      return "Options";
    case OptionGroup::kChecks:
      return "What is checked";
    case OptionGroup::kLimits:
      return "Limits";
    case OptionGroup::kReport:
      return "Report";
    case OptionGroup::kQuestions:
      return "Questions";
    case OptionGroup::kMeasurement:
      return "Measurement";
    case OptionGroup::kObservation:
      return "Observation";
    case OptionGroup::kResult:
      return "Result";
    case OptionGroup::kHidden:
      break;
  }
  return "";
}

bool IsAmong(const OptionSpec& option, std::span<const OptionName> names) {
  return std::any_of(names.begin(), names.end(), [&option](OptionName name) { return &name.spec() == &option; });
}

std::string ShortNameOf(const OptionSpec& option) {
  return option.letter.empty() ? absl::StrCat("--", std::string(option.name))
                               : absl::StrCat("-", std::string(option.letter));
}

std::string BothNamesOf(const OptionSpec& option) {
  if (option.letter.empty()) return ShortNameOf(option);
  return absl::StrCat(ShortNameOf(option), " (--", std::string(option.name), ")");
}

absl::StatusOr<bool> FlagValue(const std::string& text) {
  const std::string lower = absl::AsciiStrToLower(text);
  if (lower.empty() || lower == "1" || lower == "true" || lower == "yes") return true;
  if (lower == "0" || lower == "false" || lower == "no") return false;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is neither 1, true or yes nor 0, false or no"));
}

absl::Status GivenOptions::Add(const OptionSpec& option, const std::string& text) {
  if (option.is_flag()) {
    const absl::StatusOr<bool> on = FlagValue(text);
    if (!on.ok()) return Annotate(on.status(), BothNamesOf(option));
    given_.erase(&option);
    turned_off_.erase(&option);
    if (!*on) turned_off_.insert(&option);
    if (*on) given_[&option] = {{"true"}};
    return absl::OkStatus();
  }
  for (const absl::string_view each : absl::StrSplit(text, ',')) NoteBareKib(option, std::string(each), notes_);
  auto& parts = given_[&option];
  if (!parts.empty() && !option.repeatable) {
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(option), " was given twice"));
  }
  if (!option.commas) {
    IOBENCH_ASSIGN_OR_RETURN(parts.emplace_back(), PartsOf(option, text));
    return absl::OkStatus();
  }
  for (const absl::string_view each : absl::StrSplit(text, ',')) {
    IOBENCH_ASSIGN_OR_RETURN(parts.emplace_back(), PartsOf(option, std::string(each)));
  }
  return absl::OkStatus();
}

void GivenOptions::AddMissing(const GivenOptions& other) {
  for (const auto& [option, parts] : other.given_) {
    if (!turned_off_.contains(option)) given_.emplace(option, parts);
  }
}

std::vector<const OptionSpec*> GivenOptions::options() const {
  std::vector<const OptionSpec*> result;
  result.reserve(given_.size());
  for (const auto& [option, parts] : given_) result.push_back(option);
  return result;  // the map is sorted by addresses, which is the table's order
}

std::vector<std::string> GivenOptions::Texts(OptionName name) const {
  std::vector<std::string> texts;
  const auto found = given_.find(&name.spec());
  if (found == given_.end()) return texts;
  for (const std::vector<std::string>& parts : found->second) texts.push_back(parts.front());
  return texts;
}

std::string GivenOptions::Text(OptionName name) const {
  const std::vector<std::string> texts = Texts(name);
  return texts.empty() ? std::string() : texts.back();
}

std::vector<uint64_t> GivenOptions::Numbers(OptionName name) const {
  std::vector<uint64_t> numbers;
  for (const std::string& text : Texts(name)) {
    uint64_t number = 0;
    [[maybe_unused]] const bool is_number = absl::SimpleAtoi(text, &number);
    assert(is_number);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::string> GivenOptions::LastParts(OptionName name) const {
  std::vector<std::string> parts;
  const auto found = given_.find(&name.spec());
  if (found == given_.end()) return parts;
  for (const std::vector<std::string>& value : found->second) parts.push_back(value.back());
  return parts;
}

uint64_t GivenOptions::Number(OptionName name, uint64_t otherwise) const {
  const std::vector<uint64_t> numbers = Numbers(name);
  return numbers.empty() ? otherwise : numbers.back();
}

double GivenOptions::Decimal(OptionName name, double otherwise) const {
  double number = otherwise;
  // Read as the option was read: other parsers refuse numbers that are too small to be exact.
  [[maybe_unused]] const bool is_number = !Has(name) || absl::SimpleAtod(Text(name), &number);
  assert(is_number);
  return number;
}

}  // namespace iobench
