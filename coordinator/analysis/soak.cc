#include "coordinator/analysis/soak.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/time/time.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "common/time.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/statistics/trend.h"

namespace iobench {
namespace {

// Kinds of ops that move a file's bytes (KindReport.bytes).
bool ReadsBytes(std::string_view kind) {
  return kind == "read" || kind == "update" || kind == "open-close";
}
bool WritesBytes(std::string_view kind) {
  return kind == "write" || kind == "update" || kind == "create" || kind == "append";
}

constexpr double kLevelPercent = 95;
constexpr double kMarginPercent = 5;  // a trend whose interval is within this is none
constexpr size_t kMinRounds = 10;     // fewer show no trend

void AddTo(const google::protobuf::RepeatedPtrField<v1::FailedOps>& from,
           google::protobuf::RepeatedPtrField<v1::FailedOps>& sums) {
  for (const v1::FailedOps& failed : from) {
    const auto same = std::find_if(sums.begin(), sums.end(), [&failed](const v1::FailedOps& sum) {
      return sum.operation() == failed.operation() && sum.errno_value() == failed.errno_value();
    });
    if (same == sums.end()) {
      *sums.Add() = failed;
      continue;
    }
    same->set_count(same->count() + failed.count());
    same->set_lanes(std::max(same->lanes(), failed.lanes()));
  }
}

// The time of day `seconds` after another one; empty if that one is not known.
std::string LaterThan(const std::string& iso8601, double seconds) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, iso8601, &time, &error)) return {};
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time + absl::Seconds(seconds), absl::UTCTimeZone());
}

double StartOf(const v1::PhaseReport& phase, const v1::SoakReport& soak) {
  if (phase.start_coord_ns() == 0) return soak.elapsed_s();  // it did not start
  return SecondsFrom(phase.start_coord_ns() - soak.begin_coord_ns());
}

uint64_t ShortReadsOf(const v1::PhaseReport& phase) {
  uint64_t count = 0;
  for (const v1::FailedOps& failed : phase.failed_ops()) {
    const bool reads = failed.operation() == "read" || failed.operation() == "update";
    if (reads && failed.errno_value() == 0) count += failed.count();
  }
  return count;
}

void AddLoss(const v1::PhaseReport& phase, v1::SoakLoss& loss) {
  loss.set_short_reads(loss.short_reads() + ShortReadsOf(phase));
  const v1::VerifyResult& verify = phase.verify();
  loss.set_verified_sectors(loss.verified_sectors() + verify.sectors());
  loss.set_undetermined(loss.undetermined() + verify.undetermined());
  loss.set_missing_bytes(loss.missing_bytes() + verify.missing_bytes());
  for (const auto& [kind, count] : verify.counts()) {
    if (kind == "zeros") {
      loss.set_lost(loss.lost() + count);
    } else if (kind == "stale") {
      loss.set_stale(loss.stale() + count);
    } else if (kind == "torn") {
      loss.set_torn(loss.torn() + count);
    } else {
      loss.set_wrong(loss.wrong() + count);
    }
  }
  if (loss.has_first() || verify.first().empty()) return;
  *loss.mutable_first() = verify.first(0);
  loss.set_first_phase(phase.name());
  loss.set_first_round(phase.repetition() + 1);
  for (const v1::ErrorReport& error : phase.errors()) {
    if (error.file() != loss.first().file() || error.offset() != loss.first().offset()) continue;
    loss.set_first_client(error.client());
    break;
  }
}

void AddClient(const v1::ClientPhaseReport& from, const v1::PhaseReport& phase, double start_s,
               v1::SoakClient& client) {
  AddTo(from.failed_ops(), *client.mutable_failed_ops());
  client.set_wrong_sectors(client.wrong_sectors() + from.wrong_sectors());
  bool lost = false, failed = false;
  for (const v1::WorkerPhaseReport& worker : from.workers()) {
    lost |= worker.lost();
    for (const v1::LanePhaseReport& lane : worker.lanes()) failed |= lane.failed();
  }
  client.set_phases_lost(client.phases_lost() + (lost ? 1 : 0));
  client.set_phases_failed(client.phases_failed() + (failed ? 1 : 0));
  client.set_stalls(client.stalls() + from.pauses().stalls());
  client.set_stalled_s(client.stalled_s() + from.pauses().stalled_s());
  if (!from.has_pauses() || from.pauses().longest_s() <= client.longest().seconds()) return;
  v1::SoakPause& pause = *client.mutable_longest();
  pause.set_seconds(from.pauses().longest_s());
  pause.set_at_s(start_s + from.pauses().longest_begin_s());
  pause.set_at(LaterThan(phase.started_at(), from.pauses().longest_begin_s()));
  pause.set_round(phase.repetition() + 1);
  pause.set_phase(phase.name());
  pause.set_part(from.pauses().part());
}

void AddClients(const v1::PhaseReport& phase, double start_s, v1::SoakReport& soak) {
  std::unordered_map<std::string, int> index_of;
  for (const v1::SoakClient& client : soak.clients()) {
    index_of.emplace(client.host(), static_cast<int>(index_of.size()));
  }
  for (const v1::ClientPhaseReport& from : phase.clients()) {
    const auto [found, is_new] = index_of.emplace(from.host(), soak.clients_size());
    if (is_new) soak.add_clients()->set_host(from.host());
    AddClient(from, phase, start_s, *soak.mutable_clients(found->second));
  }
}

v1::SoakRound& RoundOf(const v1::PhaseReport& phase, double start_s, int phases, v1::SoakReport& soak) {
  const uint32_t number = phase.repetition() + 1;
  if (!soak.rounds().empty() && soak.rounds().rbegin()->round() == number)
    return *soak.mutable_rounds(soak.rounds_size() - 1);
  v1::SoakRound& round = *soak.add_rounds();
  round.set_round(number);
  round.set_begin_s(start_s);
  round.mutable_rates()->Resize(phases, kNaN);
  return round;
}

double RateOf(const v1::PhaseReport& phase) {
  if (!phase.not_whole().empty()) return kNaN;
  return HeadlineRate(phase);
}

void AddToRound(const v1::PhaseReport& phase, int number, v1::SoakRound& round) {
  round.set_phases(round.phases() + 1);
  round.set_bytes(round.bytes() + phase.bytes());
  for (const v1::FailedOps& failed : phase.failed_ops())
    round.set_failed_ops(round.failed_ops() + failed.count());
  round.set_wrong_sectors(round.wrong_sectors() + phase.verify().mismatched());
  round.set_short_reads(round.short_reads() + ShortReadsOf(phase));
  round.set_interrupted(round.interrupted() || phase.interrupted());
  round.set_workers_lost(std::max(round.workers_lost(), phase.workers_lost()));
  round.set_lanes_failed(std::max(round.lanes_failed(), phase.lanes_failed()));
  round.set_rates(number, RateOf(phase));
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (client.pauses().longest_s() <= round.longest_pause_s()) continue;
    round.set_longest_pause_s(client.pauses().longest_s());
    round.set_longest_pause_client(client.host());
  }
}

void AddFullness(const v1::PhaseReport& phase, v1::SoakReport& soak) {
  std::unordered_map<std::string, int> index_of;
  for (const v1::SoakFullness& known : soak.fullness()) {
    index_of.emplace(known.path(), static_cast<int>(index_of.size()));
  }
  for (const v1::FullnessReport& seen : phase.fullness()) {
    const auto [found, is_new] = index_of.emplace(seen.path(), soak.fullness_size());
    v1::SoakFullness& entry = is_new ? *soak.add_fullness() : *soak.mutable_fullness(found->second);
    if (is_new) {
      entry.set_path(seen.path());
      entry.set_first_percent(seen.percent());
    }
    entry.set_last_percent(seen.percent());
    entry.set_max_percent(std::max(entry.max_percent(), seen.percent()));
  }
}

struct Series {
  std::vector<double> begin_s, rates;
};

void SetTrend(const Series& series, v1::SoakTrend& trend) {
  const size_t count = series.rates.size(), quarter = (count + 3) / 4;
  const std::span<const double> rates(series.rates);
  trend.set_rounds(static_cast<uint32_t>(count));
  trend.set_median(MedianOfSeries(rates));
  trend.set_first_quarter(MedianOfSeries(rates.first(quarter)));
  trend.set_last_quarter(MedianOfSeries(rates.last(quarter)));
  trend.set_observed_s(count > 0 ? series.begin_s.back() - series.begin_s.front() : 0);
  trend.set_percent(kNaN);
  trend.set_low_percent(kNaN);
  trend.set_high_percent(kNaN);
  trend.set_correlation(kNaN);
  trend.set_level_percent(kLevelPercent);
  trend.set_margin_percent(kMarginPercent);
  trend.set_verdict("too few rounds");
  if (count < kMinRounds || !(trend.median() > 0)) return;
  const SeriesTrend found = TrendOf(series.begin_s, series.rates, kLevelPercent / 100);
  const double percent = 100 * trend.observed_s() / trend.median();  // over the time that was observed, no other
  trend.set_percent(found.slope * percent);
  trend.set_low_percent(found.low * percent);
  trend.set_high_percent(found.high * percent);
  trend.set_correlation(found.correlation);
  const bool is_steady = trend.low_percent() >= -kMarginPercent && trend.high_percent() <= kMarginPercent;
  trend.set_verdict(trend.low_percent() > 0    ? "rises"
                    : trend.high_percent() < 0 ? "falls"
                    : is_steady                ? "steady"
                                               : "not shown");
}

}  // namespace

void BeginSoak(v1::RunReport& report) {
  report.clear_soak();
  const v1::Plan& plan = report.run().plan();
  if (!(plan.soak_s() > 0)) return;
  v1::SoakReport& soak = *report.mutable_soak();
  soak.set_asked_s(plan.soak_s());
  soak.mutable_loss();
  for (const v1::Phase& phase : plan.phases()) {
    v1::SoakTrend& trend = *soak.add_trends();
    trend.set_phase(phase.name());
    trend.set_in_ops(!phase.assignments().empty() && IsMetadata(phase));
  }
  UpdateSoakTrends(report);
}

void UpdateSoak(const v1::PhaseReport& phase, v1::RunReport& report) {
  const int phases = report.run().plan().phases_size();
  if (!report.has_soak() || phases == 0) return;
  v1::SoakReport& soak = *report.mutable_soak();
  if (soak.begin_coord_ns() == 0) soak.set_begin_coord_ns(phase.start_coord_ns());
  const int number = static_cast<int>(phase.index() % static_cast<uint32_t>(phases));
  const double start_s = StartOf(phase, soak);
  soak.set_elapsed_s(std::max(soak.elapsed_s(), start_s + std::max(0.0, phase.duration_s())));
  for (const auto& [kind, moved] : phase.by_kind()) {
    if (ReadsBytes(kind)) soak.set_read_bytes(soak.read_bytes() + moved.bytes());
    if (WritesBytes(kind)) soak.set_written_bytes(soak.written_bytes() + moved.bytes());
  }
  AddLoss(phase, *soak.mutable_loss());
  AddTo(phase.failed_ops(), *soak.mutable_failed_ops());
  AddClients(phase, start_s, soak);
  AddFullness(phase, soak);
  v1::SoakRound& round = RoundOf(phase, start_s, phases, soak);
  AddToRound(phase, number, round);
  round.set_end_s(soak.elapsed_s());
  soak.mutable_trends(number)->set_in_ops(phase.headline_in_ops());
  if (number == phases - 1 && !phase.interrupted()) soak.set_complete_rounds(soak.complete_rounds() + 1);
}

void UpdateSoakTrends(v1::RunReport& report) {
  if (!report.has_soak()) return;
  v1::SoakReport& soak = *report.mutable_soak();
  for (int i = 0; i < soak.trends_size(); ++i) {
    Series series;
    for (const v1::SoakRound& round : soak.rounds()) {
      if (i >= round.rates_size() || !std::isfinite(round.rates(i))) continue;
      series.begin_s.push_back(round.begin_s());
      series.rates.push_back(round.rates(i));
    }
    SetTrend(series, *soak.mutable_trends(i));
  }
}

}  // namespace iobench
