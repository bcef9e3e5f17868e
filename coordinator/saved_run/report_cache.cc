#include "coordinator/saved_run/report_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"

namespace iobench {
namespace {

// A cache is a head and one entry per phase. All numbers have 64 bits, in the machine's byte order: the key names the
// program's build, so a machine with another byte order finds no cache.
//   head:  "IOBCACHE" | key | 1 if phases have their charts, else 0
//   entry: index | XXH3 of its raw file | for the phase and for its charts: length, XXH3 | phase | charts
// The charts are a part of their own, so that formats without charts need not read them. The phase then has an empty
// message in their place, if it has any.
constexpr std::string_view kMagic = "IOBCACHE";
constexpr uint64_t kFormat = 1;
using Head = std::array<uint64_t, 2>;
using EntryHead = std::array<uint64_t, 6>;
constexpr uint64_t kHeadBytes = kMagic.size() + sizeof(Head);

template <typename Numbers>
std::string_view BytesOf(const Numbers& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), sizeof(numbers)};
}

bool ReadAt(const files::HeldFile& file, uint64_t offset, char* into, uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t count = files::ReadAt(file, into, bytes, offset);
    if (count <= 0) return false;
    into += count;
    offset += static_cast<uint64_t>(count);
    bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

template <typename Numbers>
bool ReadNumbers(const files::HeldFile& file, uint64_t offset, Numbers& numbers) {
  return ReadAt(file, offset, reinterpret_cast<char*>(numbers.data()), sizeof(numbers));
}

// The checksum binds a part to its phase and raw file, so that an entry with damaged numbers is not taken for another.
uint64_t ChecksumOf(std::string_view part, uint64_t index, uint64_t raw_xxh3) {
  return Xxh3Of(part, raw_xxh3 + index);
}

void LeaveOutCharts(v1::FinishedPhase& phase) {
  phase.mutable_report()->clear_charts();
  for (uint32_t left = phase.chart_errors(); left > 0 && !phase.report().errors().empty(); --left)
    phase.mutable_report()->mutable_errors()->RemoveLast();
  phase.clear_chart_errors();
}

}  // namespace

uint64_t ReportCacheKey(uint64_t program_xxh3, const std::string& run_sha256) {
  const std::array<uint64_t, 2> numbers = {kFormat, program_xxh3};
  return Xxh3Of(run_sha256, Xxh3Of(BytesOf(numbers)));
}

std::optional<ReportCache> ReportCache::Open(const std::string& path, uint64_t key, Charts charts) {
  files::HeldFile file = files::Open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (!file.valid()) return std::nullopt;
  const std::optional<struct stat> facts = files::Stat(path);
  if (!facts.has_value() || !S_ISREG(facts->st_mode)) return std::nullopt;
  std::string magic(kMagic.size(), '\0');
  Head head;
  if (!ReadAt(file, 0, magic.data(), magic.size()) || magic != kMagic ||
      !ReadNumbers(file, kMagic.size(), head)) {
    return std::nullopt;
  }
  if (head[0] != key || (charts == Charts::kFilledIn && head[1] != 1)) return std::nullopt;
  ReportCache cache(std::move(file), charts);
  if (!cache.FindPlaces(kHeadBytes, static_cast<uint64_t>(facts->st_size))) return std::nullopt;
  return cache;
}

bool ReportCache::FindPlaces(uint64_t begin, uint64_t end) {
  while (begin < end) {
    EntryHead head;
    if (end - begin < sizeof(head) || !ReadNumbers(file_, begin, head)) return false;
    begin += sizeof(head);
    const auto [index, raw_xxh3, phase_bytes, phase_xxh3, charts_bytes, charts_xxh3] = head;
    if (index > UINT32_MAX || phase_bytes > end - begin || charts_bytes > end - begin - phase_bytes)
      return false;
    places_[static_cast<uint32_t>(index)] = {.offset = begin,
                                             .raw_xxh3 = raw_xxh3,
                                             .phase_bytes = phase_bytes,
                                             .phase_xxh3 = phase_xxh3,
                                             .charts_bytes = charts_bytes,
                                             .charts_xxh3 = charts_xxh3};
    begin += phase_bytes + charts_bytes;
  }
  return true;
}

std::optional<v1::FinishedPhase> ReportCache::Find(uint32_t index, uint64_t raw_xxh3) const {
  const auto found = places_.find(index);
  if (found == places_.end() || found->second.raw_xxh3 != raw_xxh3) return std::nullopt;
  const Place& place = found->second;
  const auto read = [&](uint64_t offset, uint64_t bytes, uint64_t xxh3, google::protobuf::Message& into) {
    std::string part(bytes, '\0');
    return ReadAt(file_, offset, part.data(), bytes) && ChecksumOf(part, index, raw_xxh3) == xxh3 &&
           into.ParseFromString(part);
  };
  v1::FinishedPhase phase;
  if (!read(place.offset, place.phase_bytes, place.phase_xxh3, phase)) return std::nullopt;
  if (charts_ == Charts::kLeftOut) {
    LeaveOutCharts(phase);
  } else if (phase.report().has_charts() &&
             !read(place.offset + place.phase_bytes, place.charts_bytes, place.charts_xxh3,
                   *phase.mutable_report()->mutable_charts())) {
    return std::nullopt;
  }
  return phase;
}

ReportCacheWriter::ReportCacheWriter(const std::string& path, uint64_t key, Charts charts) : path_(path) {
  const std::string partial = path_ + kPartialSuffix;
  files::Remove(partial);  // left by a crash
  absl::StatusOr<AppendFile> file = AppendFile::Create(partial);
  if (!file.ok()) return;
  file_ = *std::move(file);
  const Head head = {key, charts == Charts::kFilledIn ? uint64_t{1} : 0};
  Add(absl::StrCat(std::string(kMagic), std::string(BytesOf(head))));
}

ReportCacheWriter::~ReportCacheWriter() {
  if (file_.has_value()) files::Remove(path_ + kPartialSuffix);
}

std::string ReportCacheWriter::Entry(uint32_t index, uint64_t raw_xxh3, const v1::FinishedPhase& phase) {
  v1::FinishedPhase without_charts = phase;
  std::string charts, rest;
  if (phase.report().has_charts()) {
    charts = phase.report().charts().SerializeAsString();
    without_charts.mutable_report()->mutable_charts()->Clear();
  }
  if (!without_charts.SerializeToString(&rest)) return "";  // over 2 GiB
  const EntryHead head = {index,         raw_xxh3,
                          rest.size(),   ChecksumOf(rest, index, raw_xxh3),
                          charts.size(), ChecksumOf(charts, index, raw_xxh3)};
  return absl::StrCat(std::string(BytesOf(head)), rest, charts);
}

void ReportCacheWriter::Add(const std::string& entry) {
  if (!file_.has_value()) return;
  const absl::Status added = file_->Append([&entry](std::ostream& out) {
    out << entry;
    return absl::OkStatus();
  });
  if (added.ok()) return;
  files::Remove(path_ + kPartialSuffix);
  file_.reset();
}

void ReportCacheWriter::Finish() {
  if (!file_.has_value()) return;
  const std::string partial = path_ + kPartialSuffix;
  if (files::Rename(partial, path_) != 0) files::Remove(partial);
  file_.reset();
}

}  // namespace iobench
