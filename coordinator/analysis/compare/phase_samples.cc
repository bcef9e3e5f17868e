#include "coordinator/analysis/compare/phase_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/across/measured_window.h"
#include "coordinator/analysis/across/until_steady.h"

namespace iobench {
namespace {

// A flush happens once: slices of the ops before it do not tell how much it varies.
constexpr double kMaxFlushShare = 0.1;

// Of the first assignment, as the phase's record_bytes.
std::string RecordSharesIn(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
  if (planned == nullptr || planned->assignments().empty()) return "";
  return RecordShareOption(RecordSharesOf(planned->assignments(0).operation()));
}

v1::PhaseKey KeyOf(const v1::RunReport& report, const v1::PhaseReport& phase) {
  v1::PhaseKey key;
  key.set_name(phase.name());
  key.set_operation(phase.operation());
  key.set_engine(phase.engine());
  key.set_record_bytes(phase.record_bytes());
  key.set_record_shares(RecordSharesIn(report, phase));
  // Metadata operations do not use it.
  if (!phase.metadata()) key.set_bytes_per_lane(phase.bytes_per_lane());
  key.set_lane_count(PlannedLanes(report.run(), phase));
  key.set_stride_records(phase.stride_records());
  key.set_target(phase.target());
  return key;
}

std::vector<std::string> CodesOf(const v1::PhaseReport& phase) {
  std::vector<std::string> codes;
  const auto add = [&codes](const auto& marks) {
    for (const v1::Mark& mark : marks) {
      if (std::find(codes.begin(), codes.end(), mark.code()) == codes.end()) codes.push_back(mark.code());
    }
  };
  add(phase.marks());
  for (const v1::ClientPhaseReport& client : phase.clients()) add(client.marks());
  return codes;
}

Measurement MeasurementOf(const v1::PhaseReport& phase) {
  Measurement made{.repetition = phase.repetition(), .marks = CodesOf(phase)};
  made.rate = phase.metadata() ? phase.headline().ops_per_s() : phase.headline().bytes_per_s();
  const v1::Latency& latency = phase.latency_us();
  made.p99_us = latency.count() > 0 ? latency.p99() : std::numeric_limits<double>::quiet_NaN();
  made.p99_unsure =
      std::find(latency.unsure().begin(), latency.unsure().end(), "p99") != latency.unsure().end();
  made.counts = phase.not_whole().empty() && std::isfinite(made.rate) && made.rate > 0;
  return made;
}

void AddSlicesOf(const v1::RunReport& report, const v1::PhaseReport& phase, PhaseSamples& samples) {
  const v1::PhaseCharts& charts = phase.charts();
  const auto& rates = phase.metadata() ? charts.ops_per_s() : charts.bytes_per_s();
  if (rates.empty() || !(charts.slice_s() > 0)) {
    samples.slices_why = "it was too short to be divided into time slices";
    return;
  }
  const double window_s = HeadlineSeconds(phase);
  const std::string& region = phase.headline().region();
  const v1::RegionSeconds& regions = phase.regions_max_s();
  const double flush_s = (region.find("fsync") != std::string::npos ? regions.fsync() : 0) +
                         (region.find("close") != std::string::npos ? regions.close() : 0);
  if (flush_s > kMaxFlushShare * window_s) {
    samples.slices_why = absl::StrFormat("the flush took %.0f %% of the measured time, and it happened once",
                                         100 * flush_s / window_s);
    return;
  }
  samples.slices = MeasuredSlices(report.run().plan(), phase, rates);
}

}  // namespace

std::vector<double> PhaseSamples::Rates() const {
  std::vector<double> rates;
  for (const Measurement& made : measurements) {
    if (made.counts) rates.push_back(made.rate);
  }
  return rates;
}

std::vector<double> PhaseSamples::P99s() const {
  std::vector<double> values;
  for (const Measurement& made : measurements) {
    if (made.counts) values.push_back(made.p99_us);
  }
  return values;
}

bool PhaseSamples::p99_unsure() const {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const Measurement& made) { return made.counts && made.p99_unsure; });
}

std::string TextOf(const v1::PhaseKey& key) {
  return key.SerializeAsString();
}

std::vector<PhaseSamples> SamplesOf(const v1::RunReport& report) {
  std::vector<PhaseSamples> all;
  std::vector<const v1::PhaseReport*> counted;  // the last counted measurement of each key
  std::map<std::string, size_t> place_of;
  std::map<std::pair<uint32_t, std::string>, uint32_t> seen;  // by repetition and key
  for (const v1::PhaseReport& phase : report.phases()) {
    if (!IsInSteadyWindow(report, phase.repetition())) continue;
    v1::PhaseKey key = KeyOf(report, phase);
    key.set_occurrence(++seen[{phase.repetition(), TextOf(key)}]);
    const auto [place, is_new] = place_of.try_emplace(TextOf(key), all.size());
    if (is_new) {
      all.emplace_back().key = key;
      all.back().metadata = phase.metadata();
      counted.push_back(nullptr);
    }
    Measurement made = MeasurementOf(phase);
    if (made.counts) counted[place->second] = &phase;
    all[place->second].measurements.push_back(std::move(made));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (counted[i] == nullptr || all[i].Rates().size() != 1) continue;
    AddSlicesOf(report, *counted[i], all[i]);
    all[i].latency = counted[i]->charts().latency();
    const auto& percentiles = counted[i]->charts().percentiles();
    all[i].percentiles.assign(percentiles.begin(), percentiles.end());
  }
  return all;
}

v1::PhaseSample SummaryOf(const PhaseSamples& samples) {
  const auto mean = [](const std::vector<double>& values) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  v1::PhaseSample summary;
  const std::vector<double> rates = samples.Rates();
  summary.set_rate(mean(rates));
  summary.set_p99_us(mean(samples.P99s()));
  summary.set_p99_unsure(samples.p99_unsure());
  summary.set_count(static_cast<uint32_t>(rates.size()));
  summary.set_left_out_count(static_cast<uint32_t>(samples.measurements.size() - rates.size()));
  for (const Measurement& made : samples.measurements) {
    for (const std::string& code : made.marks) {
      if (std::find(summary.marks().begin(), summary.marks().end(), code) == summary.marks().end())
        summary.add_marks(code);
    }
  }
  for (const v1::PercentilePoint& point : samples.percentiles) *summary.add_percentiles() = point;
  return summary;
}

}  // namespace iobench
