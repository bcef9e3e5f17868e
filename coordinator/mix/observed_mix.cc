#include "coordinator/mix/observed_mix.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/mix/mix.h"
#include "coordinator/yaml/message_yaml.h"

namespace iobench {
namespace {

constexpr double kLeastShare = 0.001;  // of the replayed requests; rarer ones have no part
constexpr double kLeastPerS = 0.001;
// The ops of a cycle of file-mix, three of which open a file: read, append, remove, create.
constexpr double kFileMixOps = 4, kFileMixOpens = 3;
constexpr std::string_view kReads = "random-read", kWrites = "random-write";

// Which operation stands for a request, in the names of NFSv3 and NFSv4 (/proc/self/mountstats). Others are either the
// protocol's own (CLOSE, COMMIT, RENEW …) or can be done only once per item (RENAME, LINK, MKDIR …).
struct Replay {
  std::string_view request, operation;
};
constexpr Replay kReplays[] = {
    {"READ", kReads},       {"READ_PLUS", kReads},      {"WRITE", kWrites},
    {"GETATTR", "stat"},    {"LOOKUP", "stat"},         {"ACCESS", "stat"},
    {"READLINK", "stat"},   {"OPEN", "open-close"},     {"OPEN_NOATTR", "open-close"},
    {"READDIR", "readdir"}, {"READDIRPLUS", "readdir"}, {"SETATTR", "chmod"},
    {"REMOVE", "file-mix"},
};

std::string_view OperationFor(const std::string& request) {
  for (const Replay& replay : kReplays) {
    if (replay.request == request) return replay.operation;
  }
  return "";
}

// Rounds to a multiple of 4 KiB, or of 512 bytes below that: sizes that O_DIRECT accepts, close enough to keep the
// bytes.
uint64_t RecordFor(double mean_bytes) {
  const uint64_t unit = mean_bytes >= 4_KiB ? 4_KiB : 512;
  const auto units = static_cast<uint64_t>(std::llround(mean_bytes / static_cast<double>(unit)));
  return std::max<uint64_t>(1, units) * unit;
}

// Directories of 50 entries need one READDIR each, like most directories of people.
void SetTree(const std::string& operation, v1::MixPart& part) {
  if (operation != "readdir") return;
  part.mutable_tree()->set_items_per_lane(1000);
  part.mutable_tree()->set_depth(1);
  part.mutable_tree()->set_branching(20);
}

// What the requests of one operation add up to.
struct Load {
  double per_s = 0;
  double in_flight = 0;
};

std::map<std::string, Load> LoadsOf(const v1::Observation& observed) {
  std::map<std::string, Load> loads;
  for (const v1::ObservedRequest& request : observed.requests()) {
    const std::string operation(OperationFor(request.name()));
    if (operation.empty()) continue;
    loads[operation].per_s += request.per_s();
    loads[operation].in_flight += request.in_flight();
  }
  // A removal is one of four ops of file-mix, which also opens files.
  const auto removed = loads.find("file-mix");
  if (removed != loads.end()) {
    if (const auto opened = loads.find("open-close"); opened != loads.end()) {
      opened->second.per_s = std::max(0.0, opened->second.per_s - kFileMixOpens * removed->second.per_s);
    }
    removed->second.per_s *= kFileMixOps;
  }
  double all_per_s = 0;
  for (const auto& [operation, load] : loads) all_per_s += load.per_s;
  std::erase_if(loads, [all_per_s](const auto& each) {
    return each.second.per_s < std::max(kLeastPerS, kLeastShare * all_per_s);
  });
  return loads;
}

// Rounds to six digits, three more than the counters justify.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

void AddUnique(const std::string& text, google::protobuf::RepeatedPtrField<std::string>& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) *texts.Add() = text;
}

constexpr const char* kCannotTell[] = {
    "the counters do not distinguish sequential from random access: reads and writes are replayed at random offsets",
    "the counters show neither file sizes nor the spread of request sizes: every record has the mean size",
    "requests that clients served from memory never reached the server and are neither counted nor replayed",
    "the counters do not show which process sent a request, what clients share, or bursts within an interval",
    "rtt and execute times refer to requests, not to what applications waited for",
    "creates, renames, links and directories have no part; removals are replayed as file-mix, which creates as many files",
};

}  // namespace

void ObservedLoad::Add(double at_s, double seconds, const v1::NfsDelta& delta) {
  Interval interval{.at_s = at_s, .seconds = seconds, .ops = {}};
  for (const auto& [name, op] : delta.ops()) {
    if (op.ops() == 0) continue;
    interval.ops[name] = op.ops();
    Sums& sums = sums_[name];
    sums.ops += op.ops();
    sums.rtt_ms += op.rtt_ms();
    sums.execute_ms += op.execute_ms();
    retransmissions_ += op.transmissions() - std::min(op.transmissions(), op.ops());
  }
  read_bytes_ += delta.server_read_bytes();
  write_bytes_ += delta.server_write_bytes();
  seconds_ += seconds;
  intervals_.push_back(std::move(interval));
}

// The byte counters do not distinguish READ from READ_PLUS.
uint64_t ObservedLoad::MeanBytesOf(std::string_view operation) const {
  const uint64_t bytes = operation == kReads ? read_bytes_ : operation == kWrites ? write_bytes_ : 0;
  uint64_t ops = 0;
  for (const auto& [name, sums] : sums_) {
    if (OperationFor(name) == operation) ops += sums.ops;
  }
  return ops == 0 ? 0 : (bytes + ops / 2) / ops;
}

double ObservedLoad::MedianSeconds() const {
  std::vector<double> seconds;
  for (const Interval& interval : intervals_) seconds.push_back(interval.seconds);
  const auto middle = seconds.begin() + (std::ssize(seconds) - 1) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

v1::Observation ObservedLoad::ObservationOf(const ObservedMount& mount) const {
  v1::Observation observed;
  observed.set_client(mount.client);
  observed.set_mount_point(mount.mount_point);
  observed.set_source(mount.source);
  observed.set_filesystem(mount.filesystem);
  observed.set_started_at(mount.started_at);
  observed.set_seconds(Rounded(seconds_));
  observed.set_lost_intervals(lost_intervals_);
  if (seconds_ <= 0) return observed;
  const double least_seconds = MedianSeconds() / 2;
  std::vector<std::pair<std::string, Sums>> by_number(sums_.begin(), sums_.end());
  std::stable_sort(by_number.begin(), by_number.end(),
                   [](const auto& a, const auto& b) { return a.second.ops > b.second.ops; });
  for (const auto& [name, sums] : by_number) {
    const auto ops = static_cast<double>(sums.ops);
    v1::ObservedRequest& request = *observed.add_requests();
    request.set_name(name);
    request.set_per_s(Rounded(ops / seconds_));
    request.set_rtt_ms(Rounded(static_cast<double>(sums.rtt_ms) / ops));
    request.set_execute_ms(Rounded(static_cast<double>(sums.execute_ms) / ops));
    request.set_in_flight(Rounded(static_cast<double>(sums.execute_ms) / 1e3 / seconds_));
    request.set_mean_bytes(MeanBytesOf(OperationFor(name)));
    double most = ops / seconds_;
    for (const Interval& interval : intervals_) {
      if (interval.seconds < least_seconds) continue;
      const auto found = interval.ops.find(name);
      if (found != interval.ops.end()) {
        most = std::max(most, static_cast<double>(found->second) / interval.seconds);
      }
    }
    request.set_max_per_s(Rounded(most));
  }
  for (const Interval& interval : intervals_) {
    v1::ObservedInterval& written = *observed.add_intervals();
    written.set_at_s(Rounded(interval.at_s));
    written.set_seconds(Rounded(interval.seconds));
    for (const auto& [name, sums] : by_number) {
      const auto found = interval.ops.find(name);
      const double count = found == interval.ops.end() ? 0 : static_cast<double>(found->second);
      written.add_per_s(Rounded(count / interval.seconds));
    }
  }
  observed.set_read_bytes_per_s(Rounded(static_cast<double>(read_bytes_) / seconds_));
  observed.set_write_bytes_per_s(Rounded(static_cast<double>(write_bytes_) / seconds_));
  observed.set_retransmissions_per_s(Rounded(static_cast<double>(retransmissions_) / seconds_));
  return observed;
}

v1::MixGroup ObservedLoad::Group(const ObservedMount& mount) const {
  v1::MixGroup group;
  group.set_name(mount.client);
  group.set_clients(1);
  v1::Observation& observed = *group.mutable_observed();
  observed = ObservationOf(mount);
  const std::map<std::string, Load> loads = LoadsOf(observed);
  std::vector<std::pair<std::string, Load>> by_rate(loads.begin(), loads.end());
  std::stable_sort(by_rate.begin(), by_rate.end(),
                   [](const auto& a, const auto& b) { return a.second.per_s > b.second.per_s; });
  for (const auto& [operation, load] : by_rate) {
    v1::MixPart& part = *group.add_parts();
    part.set_operation(operation);
    part.set_ops_per_s(Rounded(load.per_s));
    if (const double lanes = Rounded(load.in_flight); lanes > 0) part.set_lanes(lanes);
    if (operation == kReads || operation == kWrites) {
      part.set_record_bytes(RecordFor(static_cast<double>(MeanBytesOf(operation))));
    }
    SetTree(operation, part);
  }
  for (v1::ObservedRequest& request : *observed.mutable_requests()) {
    const std::string operation(OperationFor(request.name()));
    if (loads.contains(operation)) request.set_replayed_as(operation);
  }
  return group;
}

v1::Mix MixOfObservation(v1::MixGroup group) {
  v1::Mix mix;
  // Without names, because it goes into the plans and reports of replays, which others may read.
  mix.set_description(absl::StrCat("observed on one client for ", FormatSeconds(group.observed().seconds()),
                                   " from ", group.observed().started_at()));
  for (const char* const note : kCannotTell) mix.add_notes(note);
  *mix.add_groups() = std::move(group);
  return mix;
}

absl::StatusOr<v1::Mix> MergeMixes(std::span<const v1::Mix> mixes) {
  v1::Mix merged;
  std::map<std::string, int> times;
  for (const v1::Mix& mix : mixes) {
    for (const std::string& note : mix.notes()) AddUnique(note, *merged.mutable_notes());
    std::vector<v1::MixGroup> groups(mix.groups().begin(), mix.groups().end());
    if (groups.empty()) {
      groups.emplace_back();
      *groups.back().mutable_parts() = mix.parts();
    }
    for (v1::MixGroup& group : groups) {
      if (group.name().empty() && !mix.name().empty()) group.set_name(mix.name());
      if (const int nth = ++times[group.name()]; nth > 1) {
        group.set_name(absl::StrCat(group.name(), " (", nth, ")"));
      }
      *merged.add_groups() = std::move(group);
    }
  }
  merged.set_description(absl::StrCat("merged from ", mixes.size(), " mixes"));
  v1::Mix complete = merged;
  const absl::Status status = CompleteMix(complete);
  if (!status.ok()) return status;
  return merged;
}

std::string MixFileText(const v1::Mix& mix) {
  std::string text = absl::StrCat("# ", mix.description(), "\n");
  for (const v1::MixGroup& group : mix.groups()) {
    if (!group.has_observed()) continue;
    absl::StrAppend(&text, "#   ", Printable(group.observed().client()), ": ",
                    Printable(group.observed().source()), " at ", Printable(group.observed().mount_point()),
                    "\n");
  }
  return absl::StrCat(
      text, "#\n",
      "# Replay it with `cluster-iobench run --mix FILE --mix-factor 1 -I`, with a worker per part on each client; -I lets\n",
      "# every read and write reach the server. docs/observe.md explains how it was made, docs/mixes.md what can be changed.\n",
      MessageToYaml(mix, YamlStyle::kReadable));
}

}  // namespace iobench
