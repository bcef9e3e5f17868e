#include "coordinator/translate/our_line.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/text/units.h"

namespace iobench {
namespace {

// Options that users know by their letters, which they share with many tools.
constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
    {"record", "-r"},          {"size", "-s"},   {"lanes", "-t"}, {"close-in-timing", "-c"},
    {"fsync-in-timing", "-e"}, {"direct", "-I"}, {"sync", "-o"},  {"keep", "-w"}};

std::string Typed(const std::string& name) {
  const auto* const letter = std::find_if(std::begin(kLetters), std::end(kLetters),
                                          [&name](const auto& each) { return each.first == name; });
  return letter == std::end(kLetters) ? absl::StrCat("--", name) : std::string(letter->second);
}

}  // namespace

void OurLine::Add(std::string_view name, std::string value) {
  for (auto& [other, old] : options_) {
    if (other != name) continue;
    old = std::move(value);
    return;
  }
  AddAgain(name, std::move(value));
}

void OurLine::AddAgain(std::string_view name, std::string value) {
  options_.emplace_back(std::string(name), std::move(value));
}

void OurLine::AddBytes(std::string_view name, uint64_t bytes) {
  Add(name, ShortSize(bytes));
}

void OurLine::Remove(std::string_view name) {
  std::erase_if(options_, [name](const auto& option) { return option.first == name; });
}

bool OurLine::Has(std::string_view name) const {
  return std::any_of(options_.begin(), options_.end(),
                     [name](const auto& option) { return option.first == name; });
}

std::string OurLine::Text(std::string_view name) const {
  for (const auto& [other, value] : options_) {
    if (other == name) return value;
  }
  return "";
}

std::vector<std::string> OurLine::Words() const {
  return WordsWithout({});
}

std::vector<std::string> OurLine::WordsWithout(const std::vector<std::string_view>& names) const {
  std::vector<std::string> words;
  for (const auto& [name, value] : options_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (!name.empty()) words.push_back(Typed(name));
    if (!value.empty()) words.push_back(value);
  }
  return words;
}

absl::Status AddDirectory(const std::string& directory, OurLine& ours) {
  if (absl::StartsWith(directory, "/dev/") && !absl::StartsWith(directory, "/dev/shm")) {
    return absl::InvalidArgumentError(absl::StrCat(
        directory,
        " is a device: cluster-iobench works on files; make a file system on it, and name a directory there"));
  }
  if (directory.empty() || absl::StartsWith(directory, "s3://") || absl::StartsWith(directory, "hdfs://")) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", directory, "\" is no directory of a file system, which is what cluster-iobench tests"));
  }
  ours.Add("path", directory);
  return absl::OkStatus();
}

absl::Status AddDirectoryOf(const std::string& file, OurLine& ours) {
  if (absl::StartsWith(file, "/dev/") && !absl::StartsWith(file, "/dev/shm")) return AddDirectory(file, ours);
  const size_t slash = file.rfind('/');
  return AddDirectory(slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash), ours);
}

uint64_t WholeRecords(uint64_t bytes, uint64_t record_bytes) {
  return std::max<uint64_t>(bytes / record_bytes, 1) * record_bytes;
}

absl::Status AddRecords(const std::vector<RecordShare>& shares, OurLine& ours) {
  std::vector<RecordShare> sums;
  for (const RecordShare& share : shares) {
    if (share.record_bytes == 0) return absl::InvalidArgumentError("a record size of 0");
    if (share.percent == 0) continue;
    const auto same = std::find_if(sums.begin(), sums.end(), [&share](const RecordShare& sum) {
      return sum.record_bytes == share.record_bytes;
    });
    if (same == sums.end()) {
      sums.push_back(share);
    } else {
      same->percent += share.percent;
    }
  }
  if (sums.empty()) return absl::InvalidArgumentError("an empty list of record sizes");
  if (sums.size() > kMaxRecordSizes) {
    return absl::InvalidArgumentError(
        absl::StrCat(sums.size(), " record sizes in one job: -r takes ", kMaxRecordSizes));
  }
  if (sums.size() == 1) {
    ours.AddBytes("record", sums[0].record_bytes);
  } else {
    ours.Add("record", RecordShareOption(sums));
  }
  return absl::OkStatus();
}

uint64_t LargestRecord(const std::vector<RecordShare>& shares) {
  uint64_t largest_bytes = 1;
  for (const RecordShare& share : shares) largest_bytes = std::max(largest_bytes, share.record_bytes);
  return largest_bytes;
}

double MeanRecord(const std::vector<RecordShare>& shares) {
  double bytes = 0, percents = 0;
  for (const RecordShare& share : shares) {
    bytes += share.percent * static_cast<double>(share.record_bytes);
    percents += share.percent;
  }
  return percents > 0 ? std::max(1.0, bytes / percents) : 1;
}

std::vector<RecordShare> RecordsFromTo(uint64_t least, uint64_t most, uint64_t step) {
  std::vector<RecordShare> shares;
  if (least == 0 || step == 0 || most < least) return shares;
  const bool doubles = (most - least) / step >= kMaxRecordSizes;
  for (uint64_t bytes = least; bytes <= most; bytes = doubles ? 2 * bytes : bytes + step) {
    shares.push_back({bytes, 0});
    if (bytes > most / 2 && doubles) break;
  }
  for (RecordShare& share : shares) share.percent = 100.0 / static_cast<double>(shares.size());
  return shares;
}

std::string ShortNumber(double number) {
  return absl::StrCat(number);
}

}  // namespace iobench
