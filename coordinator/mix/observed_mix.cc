#include "coordinator/mix/observed_mix.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/mix/mix.h"
#include "coordinator/mix/replay_rates.h"
#include "coordinator/yaml/message_yaml.h"

namespace iobench {
namespace {

constexpr double kLeastShare = 0.001;  // of the replayed requests; rarer ones have no part
constexpr double kLeastPerS = 0.001;
// Means of intervals of two kinds differ by this factor at least, those of one kind by less than the other.
constexpr double kOtherKind = 4, kSameKind = 1.5;
constexpr double kLeastOfKind = 0.1;   // of the requests
constexpr double kReproduced = 0.05;   // how far a rate may be off
constexpr double kContributes = 0.02;  // an operation that makes less of a request does not stand for it
constexpr std::string_view kReads = "random-read", kWrites = "random-write";

// Rounds to a multiple of 4 KiB, or of 512 bytes below that: sizes that O_DIRECT accepts, close enough to keep the
// bytes.
uint64_t RecordFor(double mean_bytes) {
  const uint64_t unit = mean_bytes >= 4_KiB ? 4_KiB : 512;
  const auto units = static_cast<uint64_t>(std::llround(mean_bytes / static_cast<double>(unit)));
  return std::max<uint64_t>(1, units) * unit;
}

// Rounds to six digits, three more than the counters justify.
double Rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

// A client lists a directory that has not changed from memory, so each is listed once.
constexpr uint32_t kDirectoriesToList = 500;

void SetTree(const ReplayedOperation& replayed, uint64_t write_bytes, v1::MixPart& part) {
  if (replayed.operation == "readdir") {
    part.mutable_tree()->set_items_per_lane(2 * kDirectoriesToList);
    part.mutable_tree()->set_depth(1);
    part.mutable_tree()->set_branching(kDirectoriesToList);
  } else if (const auto spec = FindOperation(replayed.operation);
             spec.ok() && (*spec)->is_metadata() && EffectOf(**spec).replaces_files) {
    part.mutable_tree()->set_file_bytes(replayed.requests_per_s.contains("WRITE") ? write_bytes : 0);
  }
}

using Rates = std::map<std::string, double>;  // by class of requests

// A sum over the requests of each class.
template <typename Figure>
Rates ByClass(const v1::Observation& observed, const Figure& figure) {
  Rates sums;
  for (const v1::ObservedRequest& request : observed.requests())
    sums[RequestClassOf(request.name())] += figure(request);
  return sums;
}

double RateOf(const Rates& rates, const std::string& name) {
  const auto found = rates.find(name);
  return found == rates.end() ? 0 : found->second;
}

std::vector<ReplayedOperation> ReplayOf(const Rates& per_s, NfsProtocol protocol) {
  std::vector<ReplayedOperation> replayed = RatesThatMake(per_s, protocol);
  double all_per_s = 0;
  for (const ReplayedOperation& each : replayed) all_per_s += each.ops_per_s;
  std::erase_if(replayed, [all_per_s](const ReplayedOperation& each) {
    return each.ops_per_s < std::max(kLeastPerS, kLeastShare * all_per_s);
  });
  std::stable_sort(replayed.begin(), replayed.end(),
                   [](const auto& a, const auto& b) { return a.ops_per_s > b.ops_per_s; });
  return replayed;
}

// Why the requests of a class are replayed at another rate; empty: they are not.
std::string WhyNotReplayed(const std::string& name, double observed_per_s, double made_per_s) {
  if (std::fabs(made_per_s - observed_per_s) <= kReproduced * observed_per_s) return "";
  if (const std::string_view why = WhyNoOperationMakes(name); !why.empty()) return std::string(why);
  if (made_per_s > observed_per_s) return "the operations that replay other requests make more of it";
  if (name == "CREATE")
    return "more files were made than removed or replaced, and a replay leaves as many as it found";
  if (name == "REMOVE" || name == "RENAME") return "more names were removed or renamed than files were made";
  if (name == "CLOSE") return "a client may close files that it opened earlier";
  return "too rare for a part of its own, which needs a worker";
}

// Says of each request by which operations and at which rate it is replayed. Requests of a class keep their shares.
void TellReplay(const Rates& per_s, const std::vector<ReplayedOperation>& replay, v1::Observation& observed) {
  for (v1::ObservedRequest& request : *observed.mutable_requests()) {
    const std::string name = RequestClassOf(request.name());
    double made_per_s = 0;
    for (const ReplayedOperation& each : replay) made_per_s += RateOf(each.requests_per_s, name);
    std::vector<std::string> operations;
    for (const ReplayedOperation& each : replay) {
      if (RateOf(each.requests_per_s, name) > kContributes * made_per_s)
        operations.emplace_back(each.operation);
    }
    request.set_replayed_as(absl::StrJoin(operations, ", "));
    const double class_per_s = RateOf(per_s, name);
    if (class_per_s <= 0) continue;
    request.set_replayed_per_s(Rounded(request.per_s() * made_per_s / class_per_s));
    request.set_not_replayed(WhyNotReplayed(name, class_per_s, made_per_s));
  }
}

void AddUnique(const std::string& text, google::protobuf::RepeatedPtrField<std::string>& texts) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) *texts.Add() = text;
}

constexpr const char* kCannotTell[] = {
    "the counters do not distinguish sequential from random access: reads and writes are replayed at random offsets",
    "the counters show neither file sizes nor the spread of request sizes: records have the mean size, or two sizes if "
    "the means of the intervals are of two kinds",
    "requests that clients served from memory never reached the server and are neither counted nor replayed",
    "the counters do not show which process sent a request, what clients share, or bursts within an interval",
    "rtt and execute times refer to requests, not to what applications waited for",
    "a replay leaves its files as they were: files that stayed, links, directories and locks have no part (not_replayed)",
};

}  // namespace

void ObservedLoad::Add(double at_s, double seconds, const v1::NfsDelta& delta) {
  Interval interval{.at_s = at_s,
                    .seconds = seconds,
                    .ops = {},
                    .read_bytes = delta.server_read_bytes(),
                    .write_bytes = delta.server_write_bytes()};
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

uint64_t ObservedLoad::Interval::OpsOf(std::string_view request_class) const {
  uint64_t count = 0;
  for (const auto& [name, number] : ops) {
    if (RequestClassOf(name) == request_class) count += number;
  }
  return count;
}

// The byte counters do not distinguish READ from READ_PLUS.
uint64_t ObservedLoad::Interval::BytesOf(std::string_view request_class) const {
  return request_class == "READ" ? read_bytes : request_class == "WRITE" ? write_bytes : 0;
}

uint64_t ObservedLoad::MeanBytesOf(std::string_view request_class) const {
  uint64_t ops = 0, bytes = 0;
  for (const Interval& interval : intervals_) {
    ops += interval.OpsOf(request_class);
    bytes += interval.BytesOf(request_class);
  }
  return ops == 0 ? 0 : (bytes + ops / 2) / ops;
}

std::vector<ObservedLoad::SizedShare> ObservedLoad::SizesOf(std::string_view request_class) const {
  struct Part {
    double ops, bytes;
    double mean() const { return bytes / ops; }
  };
  std::vector<Part> parts;
  Part all{};
  for (const Interval& interval : intervals_) {
    const auto ops = static_cast<double>(interval.OpsOf(request_class));
    if (ops == 0) continue;
    parts.push_back({ops, static_cast<double>(interval.BytesOf(request_class))});
    all.ops += ops;
    all.bytes += parts.back().bytes;
  }
  if (all.ops == 0) return {};
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.mean() < b.mean(); });
  Part small{};
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    small.ops += parts[i].ops;
    small.bytes += parts[i].bytes;
    const Part large{all.ops - small.ops, all.bytes - small.bytes};
    const bool two_kinds = parts[i + 1].mean() >= kOtherKind * parts[i].mean() &&
                           parts[i].mean() <= kSameKind * parts.front().mean() &&
                           parts.back().mean() <= kSameKind * parts[i + 1].mean();
    if (!two_kinds || std::min(small.ops, large.ops) < kLeastOfKind * all.ops) continue;
    return {{small.ops / all.ops, small.mean()}, {large.ops / all.ops, large.mean()}};
  }
  return {{1, all.mean()}};
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
    request.set_mean_bytes(MeanBytesOf(RequestClassOf(name)));
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
  const Rates per_s = ByClass(observed, [](const v1::ObservedRequest& request) { return request.per_s(); });
  const Rates in_flight =
      ByClass(observed, [](const v1::ObservedRequest& request) { return request.in_flight(); });
  const std::vector<ReplayedOperation> replay =
      ReplayOf(per_s, mount.filesystem == "nfs" ? NfsProtocol::k3 : NfsProtocol::k4);
  TellReplay(per_s, replay, observed);
  for (const ReplayedOperation& each : replay) {
    const std::string_view data = each.operation == kReads    ? "READ"
                                  : each.operation == kWrites ? "WRITE"
                                                              : "";
    double lanes = 0;  // its share of what was in flight of each class
    for (const auto& [name, made_per_s] : each.requests_per_s) {
      if (const double all_per_s = RateOf(per_s, name); all_per_s > 0)
        lanes += RateOf(in_flight, name) * made_per_s / all_per_s;
    }
    std::vector<SizedShare> sizes = data.empty() ? std::vector<SizedShare>() : SizesOf(data);
    if (sizes.empty()) sizes = {{1, 0}};
    for (const SizedShare& size : sizes) {
      v1::MixPart& part = *group.add_parts();
      part.set_operation(std::string(each.operation));
      part.set_ops_per_s(Rounded(each.ops_per_s * size.share));
      if (const double of_size = Rounded(lanes * size.share); of_size > 0) part.set_lanes(of_size);
      if (!data.empty()) part.set_record_bytes(RecordFor(size.mean_bytes));
      SetTree(each, MeanBytesOf("WRITE"), part);
    }
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
  // Only parts with records have a use for -I, and run refuses an option that nothing uses.
  const bool has_records =
      std::any_of(mix.groups().begin(), mix.groups().end(), [](const v1::MixGroup& group) {
        return std::any_of(group.parts().begin(), group.parts().end(),
                           [](const v1::MixPart& part) { return part.record_bytes() > 0; });
      });
  absl::StrAppend(
      &text, "#\n# Replay it with `cluster-iobench run --mix FILE --mix-factor 1",
      has_records
          ? " -I`, with a worker per part on each client; -I lets\n# every read and write reach the server."
          : "`, with a worker per part on each client.",
      " docs/observe.md explains how it was made, docs/mixes.md what can be changed.\n");
  return absl::StrCat(text, MessageToYaml(mix, YamlStyle::kReadable));
}

}  // namespace iobench
