#include "coordinator/analysis/storage_targets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/histogram.h"
#include "coordinator/analysis/explain/limit_rules.h"
#include "coordinator/analysis/explain/over_time.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/statistics/median.h"

namespace iobench {
namespace {

constexpr double kMinLaneOps = 20;        // mean over lanes: with fewer, rates differ by chance
constexpr double kMinAtWorkSeconds = 1;   // with all lanes at work
constexpr double kMinLanes = 2;           // of a target, and of others: what differs with one may be the lane
constexpr double kMaxSkewPercent = 10;    // of the phase: a larger skew may make lanes look slower
// Of the rate at which a target would be as busy as the others. A target that is as fast as they are has 1 or more,
// however many lanes share it, and one at half of their speed 0.5 to 0.75, if lanes wait half of their time elsewhere.
constexpr double kMaxShareOfBusy = 0.75;
// Most lanes of a slow target are below this share of the others' rate: a single slow lane is no slow target. Their mean
// must be lower, but that of a single lane varies.
constexpr double kMaxShareOfLane = 0.75;
// That all clients of one target are the slow ones by chance.
constexpr double kChanceOfClients = 0.05;

// The server of an NFS mount; nullopt: none, or the mount's data servers hold the data (pNFS).
std::optional<std::string> NfsServerOf(const v1::TargetFacts* target) {
  if (target == nullptr || !IsNfs(*target)) return std::nullopt;
  const auto pnfs = target->settings().find("pnfs");
  if (pnfs != target->settings().end() && pnfs->second != "not configured") return std::nullopt;
  const size_t end = target->mount_source().find(":/");
  if (end == std::string::npos || end == 0) return std::nullopt;
  return target->mount_source().substr(0, end);
}

std::set<std::string> TargetsOf(const PhaseView& view, const AlignedLane& lane) {
  std::set<std::string> targets;
  for (const v1::FilePlace& place : lane.result->places())
    targets.insert(place.storage_targets().begin(), place.storage_targets().end());
  if (!targets.empty()) return targets;
  if (const std::optional<std::string> server = NfsServerOf(view.TargetOf(lane))) targets.insert(*server);
  return targets;
}

// The lanes with files on a target, as indices into AlignedPhase::lanes.
struct LanesOfTarget {
  std::vector<size_t> all, only;

  const std::vector<size_t>& counted() const { return only.empty() ? all : only; }
};

struct Lanes {
  std::map<std::string, LanesOfTarget> of_target;
  std::vector<size_t> target_counts;  // by lane; 0: unknown
};

Lanes LanesByTarget(const PhaseView& view) {
  Lanes lanes;
  for (size_t i = 0; i < view.aligned.lanes.size(); ++i) {
    const std::set<std::string> targets = TargetsOf(view, view.aligned.lanes[i]);
    lanes.target_counts.push_back(targets.size());
    for (const std::string& target : targets) {
      lanes.of_target[target].all.push_back(i);
      if (targets.size() == 1) lanes.of_target[target].only.push_back(i);
    }
  }
  return lanes;
}

v1::StorageTargetReport FiguresOfTarget(const PhaseView& view, const std::string& name, const LanesOfTarget& lanes) {
  v1::StorageTargetReport report;
  report.set_name(name);
  report.set_lanes(static_cast<uint32_t>(lanes.all.size()));
  report.set_only_lanes(static_cast<uint32_t>(lanes.only.size()));
  double bytes = 0, ops = 0, own_seconds = 0;
  const auto latency = std::make_unique<Histogram>();  // too large for the stack
  for (const size_t i : lanes.counted()) {
    bytes += view.figures.lanes[i].measured.bytes.value;
    ops += view.figures.lanes[i].measured.ops.value;
    // Their own time: in a window that ends with the last lane, all lanes may do the same.
    own_seconds += view.figures.lanes[i].own_seconds;
    AddLatencies(*view.aligned.lanes[i].result, *latency).IgnoreError();  // damaged ones are named with the clients' tables
  }
  report.set_bytes_per_s(Rate(bytes, own_seconds));
  report.set_ops_per_s(Rate(ops, own_seconds));
  *report.mutable_latency_us() = LatencyOf(*latency);
  return report;
}

// Lanes that can be compared, and what they did while all lanes had work.
struct Compared {
  struct Lane {
    size_t client = 0, target_count = 0;
    std::vector<size_t> groups = {};
    double rate = 0;
    std::vector<double> rates = {};  // in slices
    double crowd = 0;           // on its targets: what all lanes do there, in lanes like those that are compared
  };
  std::vector<Lane> lanes;
  std::vector<std::vector<std::string>> groups;  // targets that hold the same of these lanes' files
};

bool MayCompare(const PhaseView& view, const v1::PhaseReport& report) {
  return report.start().skew_percent() <= kMaxSkewPercent && report.not_whole().empty() &&
         view.phase.phase().assignments_size() == 1 &&
         static_cast<double>(report.measured_ops()) >= kMinLaneOps * report.lane_count();
}

// Lanes on several targets show less of each, so they count only where no two targets have lanes of their own.
bool OnlyLanesOnOne(const Lanes& lanes) {
  return std::count_if(lanes.of_target.begin(), lanes.of_target.end(),
                       [](const auto& target) { return !target.second.only.empty(); }) >= 2;
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Compared ComparedLanes(const PhaseView& view, const v1::PhaseReport& report, const Lanes& lanes) {
  if (!MayCompare(view, report)) return {};
  const size_t lane_count = lanes.target_counts.size();
  std::vector<std::vector<GroupShare>> shares;
  for (size_t lane = 0; lane < lane_count; ++lane) shares.push_back({{lane}});
  GroupRates over_time = GroupRatesOf(view, lane_count, shares);
  if (!(over_time.seconds >= kMinAtWorkSeconds) || over_time.rates.empty()) return {};

  Compared compared;
  const bool only_on_one = OnlyLanesOnOne(lanes);
  std::vector<std::optional<size_t>> place(lane_count);  // in compared.lanes
  for (size_t lane = 0; lane < lane_count; ++lane) {
    const size_t target_count = lanes.target_counts[lane];
    if (only_on_one ? target_count != 1 : target_count == 0) continue;
    place[lane] = compared.lanes.size();
    compared.lanes.push_back({.client = view.roster.ClientOf(view.aligned.lanes[lane].worker),
                              .target_count = target_count,
                              .rate = MeanOf(over_time.rates[lane]),
                              .rates = over_time.rates[lane]});
  }
  std::map<std::vector<size_t>, size_t> group_of;
  for (const auto& [name, of_target] : lanes.of_target) {
    std::vector<size_t> members;
    double of_all = 0, of_members = 0;
    for (const size_t lane : of_target.all) {
      // A lane's ops are taken to be spread evenly over its targets.
      of_all += MeanOf(over_time.rates[lane]) / static_cast<double>(lanes.target_counts[lane]);
      if (!place[lane]) continue;
      members.push_back(*place[lane]);
      of_members += compared.lanes[*place[lane]].rate;
    }
    if (members.empty()) continue;
    const auto [found, is_new] = group_of.emplace(members, compared.groups.size());
    if (is_new) compared.groups.emplace_back();
    compared.groups[found->second].push_back(name);
    const double crowd = of_members > 0 ? of_all / of_members * static_cast<double>(members.size()) : 0;
    for (const size_t member : members) {
      Compared::Lane& lane = compared.lanes[member];
      if (is_new) lane.groups.push_back(found->second);
      lane.crowd += crowd / static_cast<double>(lane.target_count);
    }
  }
  return compared;
}

// Lanes of one client with files on the same number of targets: those on the targets of a group, and others.
struct OnAndOff {
  std::vector<const Compared::Lane*> on, off;

  double on_count() const { return static_cast<double>(on.size()); }
  double off_rate() const {
    double sum = 0;
    for (const Compared::Lane* lane : off) sum += lane->rate;
    return sum / static_cast<double>(off.size());
  }
};

bool IsOn(const Compared::Lane& lane, size_t group) {
  return std::find(lane.groups.begin(), lane.groups.end(), group) != lane.groups.end();
}

// Where both exist, among lanes that are on none of the groups `without`. If they never do, and all lanes have files on one
// number of targets, clients are compared: `between` is set, and the lanes of all are in one place.
std::vector<OnAndOff> LanesOnAndOff(const Compared& compared, size_t group, const std::vector<size_t>& without, bool& between) {
  std::map<std::pair<size_t, size_t>, OnAndOff> places;  // by client and number of targets
  std::map<size_t, OnAndOff> all;                        // by number of targets
  for (const Compared::Lane& lane : compared.lanes) {
    if (std::any_of(without.begin(), without.end(), [&lane](size_t other) { return IsOn(lane, other); })) continue;
    for (OnAndOff* place : {&places[{lane.client, lane.target_count}], &all[lane.target_count]})
      (IsOn(lane, group) ? place->on : place->off).push_back(&lane);
  }
  std::vector<OnAndOff> both;
  for (const auto& [key, place] : places) {
    if (!place.on.empty() && !place.off.empty()) both.push_back(place);
  }
  between = both.empty();
  if (between && all.size() == 1 && !all.begin()->second.on.empty() && !all.begin()->second.off.empty())
    both.push_back(all.begin()->second);
  return both;
}

// The rate of a group's lanes relative to those of other groups of the same clients: the median over these groups, so that
// one fast target makes no other slow. NaN: there are none.
double ShareOfOthers(const std::vector<OnAndOff>& places, size_t group_count) {
  std::vector<double> reached(group_count), expected(group_count);
  for (const OnAndOff& place : places) {
    double reached_here = 0;
    for (const Compared::Lane* lane : place.on) reached_here += lane->rate;
    std::map<size_t, std::pair<double, double>> others;  // by group: rate, lanes
    for (const Compared::Lane* lane : place.off) {
      for (const size_t group : lane->groups) {
        others[group].first += lane->rate;
        ++others[group].second;
      }
    }
    for (const auto& [group, other] : others) {
      reached[group] += reached_here;
      expected[group] += place.on_count() * other.first / other.second;
    }
  }
  std::vector<double> shares;
  for (size_t group = 0; group < group_count; ++group) shares.push_back(reached[group] / expected[group]);
  return MedianOf(shares);  // 0 / 0 is NaN
}

bool MostLanesAreSlow(const std::vector<OnAndOff>& places) {
  double slow = 0, on = 0, off = 0;
  for (const OnAndOff& place : places) {
    const double off_rate = place.off_rate();
    for (const Compared::Lane* lane : place.on) slow += lane->rate < kMaxShareOfLane * off_rate;
    on += place.on_count();
    off += static_cast<double>(place.off.size());
  }
  return on >= kMinLanes && off >= kMinLanes && slow > on / 2;
}

// Where each client has files on one target only, slow clients look like a slow target: whether all of this one's clients
// are slower than all others, and so many that this is not by chance.
bool AreClientsSlow(const OnAndOff& all) {
  const auto by_client = [](const std::vector<const Compared::Lane*>& lanes) {
    std::map<size_t, std::pair<double, double>> sums;
    for (const Compared::Lane* lane : lanes) {
      sums[lane->client].first += lane->rate;
      ++sums[lane->client].second;
    }
    std::vector<double> rates;
    for (const auto& [client, sum] : sums) rates.push_back(sum.first / sum.second);
    return rates;
  };
  const std::vector<double> on = by_client(all.on), off = by_client(all.off);
  double ways = 1;  // to choose as many of the clients
  for (size_t i = 1; i <= on.size(); ++i) ways *= static_cast<double>(off.size() + i) / static_cast<double>(i);
  const double fastest = *std::max_element(on.begin(), on.end()), slowest = *std::min_element(off.begin(), off.end());
  return ways * kChanceOfClients >= 1 && fastest < kSlowTargetShare * all.off_rate() && fastest < slowest;
}

bool IsSlowOverTime(const std::vector<OnAndOff>& places, size_t group_count) {
  const size_t slices = places[0].on[0]->rates.size();
  std::vector<double> reached(slices), expected(slices), if_as_busy(slices);
  const auto add = [slices](const Compared::Lane& lane, double weight, std::vector<double>& sum) {
    for (size_t slice = 0; slice < slices; ++slice) sum[slice] += weight * lane.rates[slice];
  };
  for (const OnAndOff& place : places) {
    double crowd = 0;
    for (const Compared::Lane* lane : place.on) {
      add(*lane, 1, reached);
      crowd += lane->crowd / place.on_count();
    }
    const double weight = place.on_count() / static_cast<double>(place.off.size());
    for (const Compared::Lane* lane : place.off) {
      add(*lane, weight, expected);
      // More lanes on a target do more together, and less each.
      add(*lane, weight * std::min(1.0, lane->crowd / crowd), if_as_busy);
    }
  }
  return IsBelowThroughout(reached, expected, kSlowTargetShare, group_count) &&
         IsBelowThroughout(reached, if_as_busy, kMaxShareOfBusy, group_count);
}

std::set<std::string> SlowTargets(const PhaseView& view, const v1::PhaseReport& report, const Lanes& lanes) {
  const Compared compared = ComparedLanes(view, report, lanes);
  bool between = false;
  std::vector<std::pair<double, size_t>> suspects;  // the slowest first
  for (size_t group = 0; group < compared.groups.size(); ++group) {
    const double share = ShareOfOthers(LanesOnAndOff(compared, group, {}, between), compared.groups.size());
    if (share < kSlowTargetShare) suspects.emplace_back(share, group);
  }
  std::sort(suspects.begin(), suspects.end());
  std::set<std::string> names;
  std::vector<size_t> slow;
  for (const auto& [share, group] : suspects) {
    // A lane that also has files on a slower target shows nothing of this one.
    const std::vector<OnAndOff> places = LanesOnAndOff(compared, group, slow, between);
    if (places.empty() || !(ShareOfOthers(places, compared.groups.size()) < kSlowTargetShare) || !MostLanesAreSlow(places) ||
        (between && !AreClientsSlow(places[0])) || !IsSlowOverTime(places, compared.groups.size()))
      continue;
    slow.push_back(group);
    names.insert(compared.groups[group].begin(), compared.groups[group].end());
  }
  return names;
}

}  // namespace

void FillStorageTargets(const PhaseView& view, v1::PhaseReport& report) {
  const Lanes lanes = LanesByTarget(view);
  if (lanes.of_target.size() < 2) return;
  const std::set<std::string> slow = SlowTargets(view, report, lanes);
  std::vector<v1::StorageTargetReport> targets;
  std::vector<double> rates;
  const auto rate_of = [&view](const v1::StorageTargetReport& target) {
    return view.traits.headline_in_ops ? target.ops_per_s() : target.bytes_per_s();
  };
  for (const auto& [name, of_target] : lanes.of_target) {
    v1::StorageTargetReport& target = targets.emplace_back(FiguresOfTarget(view, name, of_target));
    target.set_slow(slow.contains(name));
    rates.push_back(rate_of(target));
  }
  const double median = MedianOf(rates);
  for (v1::StorageTargetReport& target : targets) target.set_share_of_median(rate_of(target) / median);
  // NaN last: nothing is known of it.
  std::stable_sort(targets.begin(), targets.end(), [&](const auto& a, const auto& b) {
    return std::isnan(rate_of(b)) ? !std::isnan(rate_of(a)) : rate_of(a) < rate_of(b);
  });
  report.mutable_storage_targets()->Assign(targets.begin(), targets.end());
}

}  // namespace iobench
