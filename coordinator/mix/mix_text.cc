#include "coordinator/mix/mix_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/model/operation.h"
#include "common/status_util.h"
#include "common/text/record_share_text.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr char kSyntax[] = "parts such as \"70r:30w@8k\", \"100r@1m seq 60%\" or \"stat 10%\", joined by +";

absl::Status WrongPart(const std::string& part, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("mix \"", part, "\": ", what, "; a mix consists of ", kSyntax));
}

// "70r": a whole percentage and its letter. nullopt: something else.
std::optional<uint32_t> PercentOf(absl::string_view text, absl::string_view letter) {
  uint32_t percent = 0;
  if (!absl::ConsumeSuffix(&text, letter) || text.empty() || !absl::ascii_isdigit(text[0]))
    return std::nullopt;
  if (!absl::SimpleAtoi(text, &percent) || percent > 100) return std::nullopt;
  return percent;
}

// "70r:30w", "100r", "30w:70r": the percentage of reads. nullopt: something else.
std::optional<absl::StatusOr<uint32_t>> ReadPercentOf(const std::string& word, const std::string& part) {
  std::optional<uint32_t> reads, writes;
  for (const absl::string_view side : absl::StrSplit(word, ':')) {
    std::optional<uint32_t>& slot = absl::EndsWith(side, "r") ? reads : writes;
    const std::optional<uint32_t> percent = PercentOf(side, absl::EndsWith(side, "r") ? "r" : "w");
    if (!percent.has_value() || slot.has_value()) return std::nullopt;
    slot = percent;
  }
  const uint32_t sum = reads.value_or(0) + writes.value_or(0);
  if (sum == 100) return reads.value_or(0);
  return WrongPart(part, absl::StrCat("reads and writes add up to ", sum, ", not to 100"));
}

// A part as it is typed: words, and a percentage if it has one.
struct TypedPart {
  std::string text = {};  // for messages
  std::string what = {};  // "70r:30w", "stat"
  std::optional<uint64_t> record_bytes = {};
  std::vector<RecordShare> records = {};  // if it has several sizes, of which record_bytes is the largest
  bool sequential = false;
  std::optional<double> percent = {};
};

absl::StatusOr<TypedPart> TypedPartOf(const std::string& text) {
  TypedPart part{.text = text};
  std::vector<std::string> words = absl::StrSplit(text, absl::ByAnyChar(" \t"), absl::SkipEmpty());
  if (words.size() > 1 && words.back() == "%") {  // "10 %"
    words.pop_back();
    words.back() += "%";
  }
  if (words.empty()) return WrongPart(text, "there is nothing between two +");
  if (words.size() > 1 && absl::EndsWith(words.back(), "%")) {
    double percent = 0;
    const bool ok = absl::SimpleAtod(absl::StripSuffix(words.back(), "%"), &percent);
    if (!ok || !(percent > 0 && percent <= 100)) {
      return WrongPart(text, absl::StrCat("\"", words.back(), "\" is not a percentage over 0 and up to 100"));
    }
    part.percent = percent;
    words.pop_back();
  }
  if (words.size() > 1 && words.back() == "seq") {
    part.sequential = true;
    words.pop_back();
  }
  if (words.size() > 1) return WrongPart(text, absl::StrCat("\"", words[1], "\" is not known here"));
  const std::vector<std::string> sides = absl::StrSplit(words[0], absl::MaxSplits('@', 1));
  part.what = sides[0];
  if (sides.size() == 2 && absl::StrContains(sides[1], ':')) {
    for (const absl::string_view each : absl::StrSplit(sides[1], ',')) {
      const absl::StatusOr<RecordShare> share = ParseRecordShare(std::string(each));
      if (!share.ok()) return WrongPart(text, std::string(share.status().message()));
      part.records.push_back(*share);
      part.record_bytes = std::max(part.record_bytes.value_or(0), share->record_bytes);
    }
  } else if (sides.size() == 2) {
    const absl::StatusOr<uint64_t> bytes = ParseBytes(sides[1], 1_KiB);
    if (!bytes.ok()) return WrongPart(text, std::string(bytes.status().message()));
    part.record_bytes = *bytes;
  }
  return part;
}

void AddPart(const std::string& operation, const TypedPart& typed, double share, v1::Mix& mix) {
  v1::MixPart& part = *mix.add_parts();
  part.set_operation(operation);
  part.set_record_bytes(typed.record_bytes.value_or(0));
  for (const RecordShare& size : typed.records) {
    v1::RecordShare& added = *part.add_records();
    added.set_record_bytes(size.record_bytes);
    added.set_percent(size.percent);
  }
  part.set_percent(share * typed.percent.value_or(0));
}

absl::Status AddParts(const TypedPart& typed, v1::Mix& mix) {
  const std::optional<absl::StatusOr<uint32_t>> reads = ReadPercentOf(typed.what, typed.text);
  if (!reads.has_value()) {
    const std::string name = typed.what == "metadata" ? "stat" : typed.what;
    const auto spec = FindOperation(name);
    if (!spec.ok()) return WrongPart(typed.text, absl::StrCat("\"", typed.what, "\" is no operation"));
    if (typed.sequential) return WrongPart(typed.text, "\"seq\" is for reads and writes such as 100r@1m");
    AddPart(name, typed, 1, mix);
    return absl::OkStatus();
  }
  if (!reads->ok()) return reads->status();
  const uint32_t percent = **reads;
  if (!typed.record_bytes.has_value()) return WrongPart(typed.text, "its record size is missing (@8k)");
  if (!typed.sequential) {
    AddPart(percent == 100 ? "random-read" : percent == 0 ? "random-write" : "random-mix", typed, 1, mix);
    if (percent % 100 != 0) mix.mutable_parts()->rbegin()->set_read_percent(percent);
    return absl::OkStatus();
  }
  if (percent > 0) AddPart("read", typed, percent / 100.0, mix);
  if (percent < 100) AddPart("write", typed, (100 - percent) / 100.0, mix);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Mix> ParseMixText(const std::string& text) {
  std::vector<TypedPart> parts;
  TypedPart* rest = nullptr;
  double sum = 0;
  for (const absl::string_view piece : absl::StrSplit(text, '+')) {
    IOBENCH_ASSIGN_OR_RETURN(TypedPart part, TypedPartOf(std::string(absl::StripAsciiWhitespace(piece))));
    sum += part.percent.value_or(0);
    parts.push_back(std::move(part));
  }
  for (TypedPart& part : parts) {
    if (part.percent.has_value()) continue;
    if (rest != nullptr) return WrongPart(text, "only one part may have no percentage, which is the rest");
    rest = &part;
  }
  if (rest != nullptr && sum < 100) rest->percent = 100 - sum;
  if (rest != nullptr && sum >= 100) {
    return WrongPart(text, absl::StrCat("the percentages add up to ", sum, ", which leaves nothing for \"",
                                        rest->text, "\""));
  }
  v1::Mix mix;
  mix.set_name(text);
  for (const TypedPart& part : parts) IOBENCH_RETURN_IF_ERROR(AddParts(part, mix));
  return mix;
}

}  // namespace iobench
