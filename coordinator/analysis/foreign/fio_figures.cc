#include "coordinator/analysis/foreign/fio_figures.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <iterator>
#include <memory>

#include "common/histogram.h"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/across/measured_window.h"

namespace iobench {
namespace {

// fio's --percentile_list, if none is given.
constexpr double kFioPercents[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                   80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};
// A band holds what is below its edge, once the latency is a whole number of its unit.
constexpr uint64_t kFioEdges[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000};
constexpr uint64_t kFioLastEdgeMs = 2000;

double Finite(double value) { return std::isfinite(value) ? value : 0; }

FioSamples SamplesOf(std::vector<double> values, double rate) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) values.push_back(rate);
  FioSamples samples{.count = values.size(),
                     .min = *std::min_element(values.begin(), values.end()),
                     .max = *std::max_element(values.begin(), values.end())};
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  samples.mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - samples.mean) * (value - samples.mean);
  if (values.size() > 1) samples.stddev = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return samples;
}

std::vector<FioPercentile> PercentilesOf(const Histogram& histogram) {
  std::vector<FioPercentile> percentiles;
  if (histogram.count() == 0) return percentiles;
  for (const double percent : kFioPercents)
    percentiles.push_back({percent, histogram.PercentileNs(percent / 100)});
  return percentiles;
}

// Those that are known of one of two directions.
std::vector<FioPercentile> PercentilesOf(const v1::Latency& latency) {
  std::vector<FioPercentile> percentiles;
  if (latency.count() == 0) return percentiles;
  for (const auto& [percent, us] : {std::pair(50.0, latency.p50()), std::pair(90.0, latency.p90()),
                                    std::pair(95.0, latency.p95()), std::pair(99.0, latency.p99()),
                                    std::pair(99.9, latency.p99_9()), std::pair(99.99, latency.p99_99())}) {
    if (std::isfinite(us)) percentiles.push_back({percent, us * 1e3});
  }
  return percentiles;
}

// Both have values.
v1::Latency Joined(const v1::Latency& one, const v1::Latency& other) {
  const auto a = static_cast<double>(one.count()), b = static_cast<double>(other.count());
  const auto squares = [](const v1::Latency& latency) {
    return latency.stddev() * latency.stddev() + latency.mean() * latency.mean();
  };
  v1::Latency joined;
  joined.set_count(one.count() + other.count());
  joined.set_min(std::min(one.min(), other.min()));
  joined.set_max(std::max(one.max(), other.max()));
  joined.set_mean((a * one.mean() + b * other.mean()) / (a + b));
  const double variance = (a * squares(one) + b * squares(other)) / (a + b) - joined.mean() * joined.mean();
  joined.set_stddev(std::sqrt(std::max(0.0, variance)));
  return joined;
}

using Latencies = google::protobuf::RepeatedPtrField<v1::KindLatencies>;

// Adds the latencies of the kind; false: they are not known, or not all.
bool AddAllOf(const std::string& kind, uint64_t count, const Latencies& all, Histogram& into) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&kind](const v1::KindLatencies& of_kind) { return of_kind.name() == kind; });
  return found != all.end() && found->histogram().count() == count && into.AddProto(found->histogram()).ok();
}

// Joins kinds of a phase that fio does not tell apart; `all` has the histogram of each. Nothing of them over time.
FioDirection JointOf(const v1::PhaseReport& phase, OpKinds kinds, const Latencies& all) {
  FioDirection joint;
  FioLatencies& latencies = joint.latencies;
  int count = 0;
  const auto joined = std::make_unique<Histogram>();
  bool known = true;
  for (int i = 0; i < kOpKindCount; ++i) {
    if (!kinds.Has(static_cast<OpKind>(i))) continue;
    const auto found = phase.by_kind().find(NameOf(static_cast<OpKind>(i)));
    if (found == phase.by_kind().end()) continue;
    const v1::KindReport& kind = found->second;
    joint.bytes += kind.bytes();
    joint.ops += kind.ops();
    joint.bytes_per_s += Finite(kind.bytes_per_s());
    joint.ops_per_s += Finite(kind.ops_per_s());
    const v1::Latency& of_kind = kind.latency_us();
    if (of_kind.count() == 0) continue;
    latencies.spread_us = ++count == 1 ? of_kind : Joined(latencies.spread_us, of_kind);
    latencies.percentiles = count == 1 ? PercentilesOf(of_kind) : std::vector<FioPercentile>();
    known &= AddAllOf(found->first, of_kind.count(), all, *joined);
  }
  if (known && count > 0) latencies.percentiles = PercentilesOf(*joined);
  return joint;
}

void FillBands(const Histogram& histogram, FioJob& job) {
  std::vector<FioBand>* const bands[] = {&job.bands_ns, &job.bands_us, &job.bands_ms};
  if (histogram.count() == 0) return;
  for (std::vector<FioBand>* of_unit : bands) {
    for (const uint64_t edge : kFioEdges) of_unit->push_back({std::to_string(edge), 0});
  }
  job.bands_ms.push_back({std::to_string(kFioLastEdgeMs), 0});
  job.bands_ms.push_back({">=" + std::to_string(kFioLastEdgeMs), 0});
  const double percent_of_one = 100 / static_cast<double>(histogram.count());
  const auto count = [&](uint64_t ns, uint64_t ops) {
    size_t unit = 0;
    uint64_t value = ns;
    for (; unit + 1 < std::size(bands) && value >= 1000; ++unit) value /= 1000;
    const auto edge = std::upper_bound(std::begin(kFioEdges), std::end(kFioEdges), value) - std::begin(kFioEdges);
    size_t band = static_cast<size_t>(edge);
    if (band == std::size(kFioEdges) && value >= kFioLastEdgeMs) ++band;  // only of ms
    (*bands[unit])[band].percent += static_cast<double>(ops) * percent_of_one;
  };
  const v1::Histogram sparse = histogram.ToProto();
  uint32_t index = 0;
  for (int i = 0; i < sparse.counts_size(); ++i) {
    index += sparse.index_gaps(i);
    count(std::min(Histogram::UpperEdge(index), histogram.max_ns()), sparse.counts(i));
  }
  if (histogram.overflow_count() > 0) count(histogram.max_ns(), histogram.overflow_count());
}

constexpr OpKinds kReads = OpKind::kRead;
// fio has no operation that changes what it has read; its ops end with a write.
constexpr OpKinds kWrites = {OpKind::kWrite, OpKind::kUpdate};
constexpr OpKinds kSyncs = {OpKind::kFsync, OpKind::kFdatasync, OpKind::kSyncFileRange, OpKind::kCommit};

// The kinds of ops of a phase, without its flush calls.
OpKinds OpsOf(const v1::PhaseReport& phase) {
  OpKinds ops;
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (!kFlushCalls.Has(kind) && phase.by_kind().contains(NameOf(kind))) ops = ops | kind;
  }
  return ops;
}

// The phase has ops of no other kind, so that all that is known of it is the direction's.
void FillFromPhase(const v1::Plan& plan, const v1::PhaseReport& phase, const Histogram& latencies,
                   FioDirection& direction) {
  direction.bytes = phase.measured_bytes();
  direction.ops = phase.measured_ops();
  if (latencies.count() > 0) direction.latencies.percentiles = PercentilesOf(latencies);
  direction.has_samples = true;
  const v1::PhaseCharts& charts = phase.charts();
  direction.bytes_samples = SamplesOf(MeasuredSlices(plan, phase, charts.bytes_per_s()), direction.bytes_per_s);
  direction.ops_samples = SamplesOf(MeasuredSlices(plan, phase, charts.ops_per_s()), direction.ops_per_s);
}

// The phase's operations. Empty: they are not known, or not all.
std::vector<const OperationSpec*> SpecsOf(const v1::Plan& plan, const v1::PhaseReport& phase) {
  if (const auto only = FindOperation(phase.operation()); only.ok()) return {*only};
  const v1::Phase* const planned = PlannedPhase(plan, phase);
  std::vector<const OperationSpec*> specs;
  if (planned == nullptr) return specs;
  for (const v1::Assignment& assignment : planned->assignments()) {
    specs.push_back(SpecOf(assignment.operation()));
    if (specs.back() == nullptr) return {};
  }
  return specs;
}

// What a phase is to do, whether or not any of it was measured.
struct FioTask {
  bool reads = false, writes = false, random = false;  // of records
  OpKinds kinds;                                       // of all ops
};

FioTask TaskOf(const v1::Plan& plan, const v1::PhaseReport& phase) {
  FioTask task;
  const std::vector<const OperationSpec*> specs = SpecsOf(plan, phase);
  for (const OperationSpec* const spec : specs) {
    task.kinds = task.kinds | spec->kinds;
    if (spec->is_metadata()) continue;
    task.reads |= spec->reads();
    task.writes |= spec->writes();
    task.random |= spec->is_random();
  }
  if (!specs.empty()) return task;
  task.kinds = OpsOf(phase);
  task.reads = task.kinds.HasAny(kReads);
  task.writes = task.kinds.HasAny(kWrites);
  return task;
}

int ErrorOf(const v1::PhaseReport& phase) {
  if (phase.errors().empty() && phase.failed_ops().empty()) return 0;
  for (const v1::ErrorReport& error : phase.errors()) {
    if (error.errno_value() != 0) return error.errno_value();
  }
  for (const v1::FailedOps& failed : phase.failed_ops()) {
    if (failed.errno_value() != 0) return failed.errno_value();
  }
  return EIO;  // no call failed: a worker was lost, or a call moved too little
}

}  // namespace

bool IsFioJob(const v1::Plan& plan, const v1::PhaseReport& phase) {
  const FioTask task = TaskOf(plan, phase);
  return !phase.metadata() && (task.reads || task.writes);
}

const v1::Operation& RecordOperationOf(const v1::Plan& plan, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(plan, phase);
  if (planned != nullptr) {
    for (const v1::Assignment& assignment : planned->assignments()) {
      if (!IsMetadata(assignment.operation())) return assignment.operation();
    }
  }
  return v1::Operation::default_instance();
}

FioJob FioJobOf(const v1::Plan& plan, const v1::PhaseReport& phase) {
  FioJob job;
  const FioTask task = TaskOf(plan, phase);
  job.reads = task.reads;
  job.writes = task.writes;
  job.random = task.random;
  job.error = ErrorOf(phase);
  if (const v1::Phase* const planned = PlannedPhase(plan, phase)) {
    job.ramp_s = planned->stop().warmup_s();
    job.time_based = planned->stop().time_s() > 0;
    job.runtime_s = std::max(0.0, planned->stop().time_s() - job.ramp_s);
  }
  job.window_s = Finite(HeadlineSeconds(phase));
  if (phase.lanes_wall_s() > 0) {
    job.cpu_user_percent = 100 * phase.lanes_cpu_user_s() / phase.lanes_wall_s();
    job.cpu_system_percent = 100 * phase.lanes_cpu_system_s() / phase.lanes_wall_s();
  }
  const auto all = std::make_unique<Histogram>();
  if (!all->AddProto(phase.charts().latency_histogram()).ok()) all->Clear();
  FillBands(*all, job);
  job.syncs = JointOf(phase, kSyncs, phase.charts().calls()).latencies;
  job.read = JointOf(phase, kReads, phase.charts().kinds());
  job.write = JointOf(phase, kWrites, phase.charts().kinds());
  const OpKinds measured = OpsOf(phase);
  const OpKinds ops = measured.empty() ? task.kinds : measured;
  if (ops == kReads) FillFromPhase(plan, phase, *all, job.read);
  if (!ops.empty() && ops.IsWithin(kWrites)) FillFromPhase(plan, phase, *all, job.write);
  return job;
}

}  // namespace iobench
