#include "coordinator/plan/sweep.h"

#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr uint64_t kDefaultRecordBytes = 64_KiB;
constexpr uint64_t kDefaultBytesPerLane = 64_MiB;
// IOzone's automatic mode.
constexpr uint64_t kMinBytes = 64_KiB, kMaxBytes = 512_MiB;
constexpr uint64_t kMinRecordBytes = 4_KiB, kMaxRecordBytes = 16_MiB;
constexpr uint64_t kCrossoverBytes = 16_MiB, kMinRecordAbove = 64_KiB;

std::string Size(uint64_t bytes) {
  return FormatBytes(static_cast<double>(bytes));
}

// Returns least, least x m, … up to most.
std::vector<uint64_t> Progression(uint64_t least, uint64_t most, uint64_t multiplier) {
  std::vector<uint64_t> values;
  for (uint64_t value = least; value <= most; value *= multiplier) {
    values.push_back(value);
    if (value > most / multiplier) break;
  }
  return values;
}

std::vector<uint64_t> Ascending(const std::vector<uint64_t>& values) {
  const std::set<uint64_t> sorted(values.begin(), values.end());
  return {sorted.begin(), sorted.end()};
}

absl::StatusOr<std::vector<uint64_t>> Limits(const GivenOptions& given, OptionName min_name,
                                             OptionName max_name, uint64_t default_least,
                                             uint64_t default_most) {
  const uint64_t least = given.Number(min_name, default_least), most = given.Number(max_name, default_most);
  if (least == 0) {
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(OptionNamed(min_name)), " is 0"));
  }
  if (least > most) {
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(OptionNamed(min_name)), " of ", Size(least),
                                                   " is larger than ", BothNamesOf(OptionNamed(max_name)),
                                                   " of ", Size(most)));
  }
  return Progression(least, most, given.Number("multiplier", 2));
}

absl::StatusOr<std::vector<uint32_t>> LanesOf(const GivenOptions& given, uint32_t default_lanes) {
  std::vector<uint32_t> lanes;
  if (given.Has("max-lanes")) {
    const uint64_t least = given.Number("min-lanes", 1), most = given.Number("max-lanes", 1);
    if (least > most) {
      return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(OptionNamed("min-lanes")), " of ", least,
                                                     " is larger than ",
                                                     BothNamesOf(OptionNamed("max-lanes")), " of ", most));
    }
    for (uint64_t n = least; n <= most; ++n) lanes.push_back(static_cast<uint32_t>(n));
    return lanes;
  }
  for (const uint64_t n : given.Numbers("lanes")) {
    if (std::find(lanes.begin(), lanes.end(), n) == lanes.end()) lanes.push_back(static_cast<uint32_t>(n));
  }
  if (lanes.empty()) lanes.push_back(default_lanes);
  return lanes;
}

// Sizes, and the records for each size.
struct Grid {
  std::vector<uint64_t> sizes, records;
  bool crossover = false;

  bool Takes(uint64_t bytes, uint64_t record_bytes, uint64_t files) const {
    if (record_bytes > bytes / files) return false;
    return !crossover || bytes <= kCrossoverBytes || record_bytes >= kMinRecordAbove;
  }
};

absl::StatusOr<Grid> GridOf(const GivenOptions& given, const std::vector<RecordShare>& shares, uint64_t files) {
  Grid grid{.sizes = Ascending(given.Numbers("size")), .records = Ascending(given.Numbers("record"))};
  if (!shares.empty()) grid.records = {grid.records.back()};
  if (!given.Has("auto")) {
    if (grid.sizes.empty()) grid.sizes = {kDefaultBytesPerLane};
    return grid;
  }
  grid.crossover = !given.Has("all-records") && grid.sizes.empty() && grid.records.empty() &&
                   !given.Has("min-record") && !given.Has("max-record");
  if (grid.sizes.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(grid.sizes, Limits(given, "min-size", "max-size", kMinBytes, kMaxBytes));
  }
  if (grid.records.empty()) {
    IOBENCH_ASSIGN_OR_RETURN(grid.records,
                             Limits(given, "min-record", "max-record", kMinRecordBytes, kMaxRecordBytes));
  }
  if (grid.records.front() > grid.sizes.front() / files) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the smallest record of ", Size(grid.records.front()), " is larger than the smallest file of ",
        Size(grid.sizes.front() / files), ": use a smaller -y or a larger -n"));
  }
  return grid;
}

}  // namespace

absl::StatusOr<std::vector<RecordShare>> RecordSharesOf(const GivenOptions& given) {
  std::vector<RecordShare> shares;
  const std::vector<uint64_t> sizes = given.Numbers("record");
  const std::vector<std::string> percents = given.LastParts("record");
  for (size_t i = 0; i < sizes.size(); ++i) {
    double percent = 0;
    if (absl::SimpleAtod(percents[i], &percent)) shares.push_back({sizes[i], percent});
  }
  if (shares.empty() || shares.size() == sizes.size()) return shares;
  return absl::InvalidArgumentError(absl::StrCat(
      BothNamesOf(OptionNamed("record")), ": ", shares.size(), " of ", sizes.size(),
      " sizes have a share: give all of them one (4k:60,64k:40: each op has one of the sizes), or none (a phase for each)"));
}

uint32_t Sweep::max_lanes() const {
  uint32_t most = 0;
  for (const SweepCell& cell : cells) most = std::max(most, cell.lanes);
  return most;
}

absl::StatusOr<Sweep> SweepOf(const GivenOptions& given, uint32_t default_lanes) {
  const uint64_t files = std::max<uint64_t>(1, given.Number("files-per-lane", 1));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<uint32_t> lanes, LanesOf(given, default_lanes));
  Sweep sweep;
  IOBENCH_ASSIGN_OR_RETURN(sweep.shares, RecordSharesOf(given));
  IOBENCH_ASSIGN_OR_RETURN(const Grid grid, GridOf(given, sweep.shares, files));

  std::set<uint64_t> used_records;
  for (const uint32_t lane_count : lanes) {
    for (const uint64_t bytes : grid.sizes) {
      // The default record size is reduced for a small file; a given one is not.
      const uint64_t default_record = std::min(kDefaultRecordBytes, std::max<uint64_t>(1, bytes / files));
      std::vector<uint64_t> records =
          grid.records.empty() ? std::vector<uint64_t>{default_record} : grid.records;
      // A single record is left to the plan check, which reports what is wrong with it.
      if (records.size() > 1)
        std::erase_if(records,
                      [&](uint64_t record) { return record > 0 && !grid.Takes(bytes, record, files); });
      if (records.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("every record (-r) is larger than a file of ",
                                                       Size(bytes / files),
                                                       ": use a smaller -r or a larger -s"));
      }
      for (const uint64_t record : records) {
        sweep.cells.push_back({lane_count, bytes, record});
        used_records.insert(record);
      }
    }
  }
  for (const uint64_t record : grid.records) {
    if (given.Has("record") && !used_records.contains(record)) {
      return absl::InvalidArgumentError(absl::StrCat("a record of ", Size(record),
                                                     " is larger than every file: use a "
                                                     "smaller -r or a larger -s"));
    }
  }
  sweep.several_lanes = lanes.size() > 1;
  sweep.several_sizes = grid.sizes.size() > 1;
  sweep.several_records = used_records.size() > 1;
  return sweep;
}

}  // namespace iobench
