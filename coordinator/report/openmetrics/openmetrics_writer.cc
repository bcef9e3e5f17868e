#include "coordinator/report/openmetrics/openmetrics_writer.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/op.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/openmetrics/metric_text.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Metadata operations have no data rate, unless they write files.
double IfData(const v1::PhaseReport& phase, double bytes_per_s) {
  return phase.metadata() && phase.bytes() == 0 ? kUnknown : bytes_per_s;
}

struct PhaseMetric {
  Metric metric;
  double (*value)(const v1::PhaseReport& phase);
};
struct ClientMetric {
  Metric metric;
  double (*value)(const v1::PhaseReport& phase, const v1::ClientPhaseReport& client);
};

// Division keeps the digits of the message, which multiplication by 1e-6 does not.
const PhaseMetric kPhaseMetrics[] = {
    {kPhaseBytesPerSecond,
     [](const v1::PhaseReport& phase) { return IfData(phase, phase.headline().bytes_per_s()); }},
    {kPhaseOpsPerSecond, [](const v1::PhaseReport& phase) { return phase.headline().ops_per_s(); }},
    {{"iobench_phase_duration_seconds", "gauge", "seconds",
      "From the first op to the end of the last timed region"},
     [](const v1::PhaseReport& phase) { return phase.duration_s(); }},
    {{"iobench_phase_moved_bytes", "gauge", "bytes", "Bytes moved, including an unmeasured rest"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.bytes()); }},
    {{"iobench_phase_measured_bytes", "gauge", "bytes", "Bytes that the headline counts"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.measured_bytes()); }},
    {{"iobench_phase_measured_ops", "gauge", "ops", "Ops that the headline counts"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.measured_ops()); }},
    {{"iobench_phase_lanes", "gauge", "", "Lanes that took part"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.lane_count()); }},
    {{"iobench_phase_failed_lanes", "gauge", "", "Lanes that failed; no figure includes them"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.lanes_failed()); }},
    {{"iobench_phase_lost_workers", "gauge", "", "Workers that were lost; no figure includes them"},
     [](const v1::PhaseReport& phase) { return static_cast<double>(phase.workers_lost()); }},
    {{"iobench_phase_start_skew_seconds", "gauge", "seconds",
      "From the first op of the first lane to that of the last"},
     [](const v1::PhaseReport& phase) {
       return phase.has_start() ? phase.start().skew_us() / 1e6 : kUnknown;
     }},
    {{"iobench_phase_straggler_cost_ratio", "gauge", "ratio", "1 - full / stonewalled"},
     [](const v1::PhaseReport& phase) { return phase.straggler_cost(); }},
};
const ClientMetric kClientMetrics[] = {
    {kClientBytesPerSecond,
     [](const v1::PhaseReport& phase, const v1::ClientPhaseReport& client) {
       return IfData(phase, client.bytes_per_s());
     }},
    {kClientOpsPerSecond,
     [](const v1::PhaseReport&, const v1::ClientPhaseReport& client) { return client.ops_per_s(); }},
    {{"iobench_client_share_of_mean_ratio", "gauge", "ratio",
      "Rate of the client relative to the mean of all clients"},
     [](const v1::PhaseReport&, const v1::ClientPhaseReport& client) { return client.share_of_mean(); }},
    {{"iobench_client_cpu_ratio", "gauge", "ratio", "CPU of the whole host; 1 is all processors"},
     [](const v1::PhaseReport&, const v1::ClientPhaseReport& client) { return client.cpu_percent() / 100; }},
    {{"iobench_client_clock_error_seconds", "gauge", "seconds",
      "Half the width of the interval of the clock offset"},
     [](const v1::PhaseReport&, const v1::ClientPhaseReport& client) {
       return client.clock_error_us() / 1e6;
     }},
    {{"iobench_client_nfs_retransmissions", "gauge", "", "NFS requests that were sent again"},
     [](const v1::PhaseReport&, const v1::ClientPhaseReport& client) {
       return client.has_nfs_rpc() ? static_cast<double>(client.nfs_rpc().retransmissions()) : kUnknown;
     }},
};
constexpr Metric kRunExitCode = {"iobench_run_exit_code", "gauge", "", "Exit code of the run"};
constexpr Metric kPhaseMark = {"iobench_phase_mark", "gauge", "",
                               "1 for each mark on the phase, its clients and lanes: a reason for doubt"};

constexpr Metric kPhaseReads = {"iobench_phase_read_bytes", "gauge", "bytes",
                                "Bytes that the phase read, by where they came from, as far as counters show"};

constexpr Metric kPhaseMissing = {"iobench_phase_missing", "gauge", "",
                                  "1 for each phase of the run whose saved data are missing or damaged"};

constexpr Metric kPhaseLatency = {"iobench_phase_latency_seconds", "summary", "seconds",
                                  "Latency of the ops of all lanes"};
constexpr Metric kClientLatency = {"iobench_client_latency_seconds", "summary", "seconds",
                                   "Latency of the ops of one client"};
constexpr Metric kPhaseCall = {"iobench_phase_flush_call_seconds", "summary", "seconds",
                               "How long each call took that made data durable, and each close, of all lanes; they are no ops"};
constexpr Metric kClientCall = {"iobench_client_flush_call_seconds", "summary", "seconds", "The same of one client"};
constexpr Metric kPhaseService = {"iobench_phase_service_seconds", "summary", "seconds",
                                  "Time that the ops with a rate took; the latency also counts from when they were due"};
constexpr Metric kPhaseLag = {"iobench_phase_lag_seconds", "summary", "seconds",
                              "How long after they were due ops with a rate began"};

// Quantile 1 is the max.
constexpr std::pair<const char*, double (v1::Latency::*)() const> kQuantiles[] = {
    {"0.5", &v1::Latency::p50},       {"0.9", &v1::Latency::p90},     {"0.95", &v1::Latency::p95},
    {"0.99", &v1::Latency::p99},      {"0.999", &v1::Latency::p99_9}, {"0.9999", &v1::Latency::p99_99},
    {"1", &v1::Latency::max},
};

std::string LabelsOf(const v1::RunReport& report, const v1::PhaseReport& phase) {
  std::string labels = RunLabels(report.run());
  // The index makes them unique: a sweep and repetitions have phases of one name.
  for (const auto& [name, value] :
       {std::pair("phase_index", std::to_string(phase.index())),
        std::pair("repetition", std::to_string(phase.repetition())), std::pair("phase", phase.name()),
        std::pair("operation", phase.operation()),
        std::pair("record_bytes", std::to_string(phase.record_bytes()))}) {
    labels = JoinLabels(labels, MetricLabel(name, value));
  }
  return labels;
}

// Most runs have none of these. So it is with the times of WriteOpenLoops and WriteFlushCalls.
void WriteMissing(const v1::RunReport& report, MetricWriter& writer) {
  if (report.run().missing_phases().empty()) return;
  writer.Begin(kPhaseMissing);
  for (const v1::MissingPhase& missing : report.run().missing_phases()) {
    std::string labels = RunLabels(report.run());
    for (const auto& [name, value] :
         {std::pair("phase_index", std::to_string(missing.index())),
          std::pair("repetition", std::to_string(missing.repetition())), std::pair("phase", missing.name()),
          std::pair("problem", missing.problem())}) {
      labels = JoinLabels(labels, MetricLabel(name, value));
    }
    writer.Add(labels, 1);
  }
}

void AddLatency(const std::string& labels, const v1::Latency& latency, MetricWriter& writer) {
  if (latency.count() == 0) return;
  for (const auto& [quantile, value] : kQuantiles) {
    writer.Add(JoinLabels(labels, MetricLabel("quantile", quantile)), (latency.*value)() / 1e6);
  }
  writer.Add(labels, static_cast<double>(latency.count()), "_count");
}

void WriteRun(const v1::RunReport& report, MetricWriter& writer) {
  const v1::RunInfo& run = report.run();
  WriteRunInfo(run, writer);
  if (!run.has_exit_code()) return;
  writer.Begin(kRunExitCode);
  writer.Add(RunLabels(run), run.exit_code());
}

void WriteMarks(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  writer.Begin(kPhaseMark);
  for (int i = 0; i < report.phases_size(); ++i) {
    const v1::PhaseReport& phase = report.phases(i);
    std::set<std::pair<std::string, std::string>> seen;  // code and subject; one code may occur twice
    const auto add = [&](const v1::Mark& mark, const std::string& subject) {
      if (!seen.emplace(mark.code(), subject).second) return;
      writer.Add(JoinLabels(labels[static_cast<size_t>(i)],
                            JoinLabels(MetricLabel("code", mark.code()), MetricLabel("subject", subject))),
                 1);
    };
    for (const v1::Mark& mark : phase.marks()) add(mark, mark.subject());
    for (const v1::ClientPhaseReport& client : phase.clients()) {
      for (const v1::Mark& mark : client.marks())
        add(mark, mark.subject().empty() ? client.host() : mark.subject());
    }
  }
}

void WriteReads(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  writer.Begin(kPhaseReads);
  for (int i = 0; i < report.phases_size(); ++i) {
    if (!report.phases(i).has_read_sources()) continue;
    for (const ReadPart& part : ReadPartsOf(report.phases(i).read_sources())) {
      writer.Add(JoinLabels(labels[static_cast<size_t>(i)], MetricLabel("source", std::string(part.source))),
                 static_cast<double>(part.bytes));
    }
  }
}

// All samples of a family come together, so that each family iterates over all phases.
void WritePhases(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  for (const PhaseMetric& metric : kPhaseMetrics) {
    writer.Begin(metric.metric);
    for (int i = 0; i < report.phases_size(); ++i)
      writer.Add(labels[static_cast<size_t>(i)], metric.value(report.phases(i)));
  }
  writer.Begin(kPhaseLatency);
  for (int i = 0; i < report.phases_size(); ++i)
    AddLatency(labels[static_cast<size_t>(i)], report.phases(i).latency_us(), writer);
}

void WriteOpenLoops(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  if (std::none_of(report.phases().begin(), report.phases().end(),
                   [](const v1::PhaseReport& phase) { return phase.has_open_loop(); }))
    return;
  for (const auto& [metric, part] : {std::pair(kPhaseService, &v1::OpenLoopReport::service_us),
                                     std::pair(kPhaseLag, &v1::OpenLoopReport::lag_us)}) {
    writer.Begin(metric);
    for (int i = 0; i < report.phases_size(); ++i) {
      const v1::PhaseReport& phase = report.phases(i);
      if (phase.has_open_loop()) AddLatency(labels[static_cast<size_t>(i)], (phase.open_loop().*part)(), writer);
    }
  }
}

void WriteClients(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  const auto for_each_client = [&](auto&& write) {
    for (int i = 0; i < report.phases_size(); ++i) {
      const v1::PhaseReport& phase = report.phases(i);
      for (const v1::ClientPhaseReport& client : phase.clients()) {
        write(JoinLabels(labels[static_cast<size_t>(i)], MetricLabel("client", client.host())), phase,
              client);
      }
    }
  };
  for (const ClientMetric& metric : kClientMetrics) {
    writer.Begin(metric.metric);
    for_each_client(
        [&](const std::string& of_client, const v1::PhaseReport& phase, const v1::ClientPhaseReport& client) {
          writer.Add(of_client, metric.value(phase, client));
        });
  }
  writer.Begin(kClientLatency);
  for_each_client(
      [&](const std::string& of_client, const v1::PhaseReport&, const v1::ClientPhaseReport& client) {
        AddLatency(of_client, client.latency_us(), writer);
      });
}

// Calls `write` with each flush call of a phase or client, by the name in `latencies`.
template <typename Latencies, typename Write>
void ForEachCall(const Latencies& latencies, Write&& write) {
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    const auto found = latencies.find(NameOf(call));
    if (kFlushCalls.Has(call) && found != latencies.end()) write(MetricLabel("call", found->first), found->second);
  }
}

void WriteFlushCalls(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  bool any = false;
  for (const v1::PhaseReport& phase : report.phases())
    ForEachCall(phase.by_kind(), [&any](const std::string&, const v1::KindReport&) { any = true; });
  if (!any) return;
  writer.Begin(kPhaseCall);
  for (int i = 0; i < report.phases_size(); ++i) {
    ForEachCall(report.phases(i).by_kind(), [&](const std::string& of_call, const v1::KindReport& call) {
      AddLatency(JoinLabels(labels[static_cast<size_t>(i)], of_call), call.latency_us(), writer);
    });
  }
  writer.Begin(kClientCall);
  for (int i = 0; i < report.phases_size(); ++i) {
    for (const v1::ClientPhaseReport& client : report.phases(i).clients()) {
      ForEachCall(client.call_latency_us(), [&](const std::string& of_call, const v1::Latency& latency) {
        const std::string of_client = JoinLabels(labels[static_cast<size_t>(i)], MetricLabel("client", client.host()));
        AddLatency(JoinLabels(of_client, of_call), latency, writer);
      });
    }
  }
}

// Only of phases on several paths at once.
void WritePaths(const v1::RunReport& report, const std::vector<std::string>& labels, MetricWriter& writer) {
  const bool any = std::any_of(report.phases().begin(), report.phases().end(),
                               [](const v1::PhaseReport& phase) { return !phase.paths().empty(); });
  if (!any) return;
  const auto for_each_path = [&](auto&& write) {
    for (int i = 0; i < report.phases_size(); ++i) {
      for (const v1::PartReport& path : report.phases(i).paths())
        write(JoinLabels(labels[static_cast<size_t>(i)], MetricLabel("path", path.path())), report.phases(i), path);
    }
  };
  using Labels = const std::string&;
  writer.Begin({"iobench_path_bytes_per_second", "gauge", "bytes_per_second", "Throughput on one path"});
  for_each_path([&](Labels of_path, const v1::PhaseReport& phase, const v1::PartReport& path) {
    writer.Add(of_path, IfData(phase, path.bytes_per_s()));
  });
  writer.Begin({"iobench_path_ops_per_second", "gauge", "ops_per_second", "Ops on one path"});
  for_each_path([&](Labels of_path, const v1::PhaseReport&, const v1::PartReport& path) {
    writer.Add(of_path, path.ops_per_s());
  });
  writer.Begin({"iobench_path_latency_seconds", "summary", "seconds", "Latency of the ops on one path"});
  for_each_path([&](Labels of_path, const v1::PhaseReport&, const v1::PartReport& path) {
    AddLatency(of_path, path.latency_us(), writer);
  });
}

// What the run as a whole has: the score of a suite, scaling over workers, paths side by side. Rates of a sweep are those of
// its phases.
void WriteAcross(const v1::RunReport& report, MetricWriter& writer) {
  const std::string run = RunLabels(report.run());
  const auto labelled = [&run](std::initializer_list<std::pair<const char*, std::string>> labels) {
    std::string all = run;
    for (const auto& [name, value] : labels) all = JoinLabels(all, MetricLabel(name, value));
    return all;
  };
  if (report.has_score()) {
    writer.Begin({"iobench_run_score", "gauge", "", "Score of the suite"});
    writer.Add(run, report.score().value());
    writer.Begin({"iobench_run_score_valid", "gauge", "", "1: the score is valid"});
    writer.Add(run, report.score().valid() ? 1 : 0);
  }
  if (!report.worker_scaling().empty()) {
    writer.Begin({"iobench_scaling_ratio", "gauge", "ratio", "Rate per worker / that of the fewest workers"});
    for (const v1::WorkerScalingReport& scaling : report.worker_scaling()) {
      for (const v1::WorkerScalingPoint& point : scaling.points()) {
        writer.Add(labelled({{"operation", scaling.operation()},
                             {"path", scaling.target()},
                             {"bytes_per_lane", std::to_string(scaling.bytes_per_lane())},
                             {"record_bytes", std::to_string(scaling.record_bytes())},
                             {"workers", std::to_string(point.worker_count())}}),
                   point.scaling());
      }
    }
  }
  if (report.has_each_path()) {
    writer.Begin({"iobench_each_path_ratio", "gauge", "ratio", "Rate on a path / rate on the first path"});
    for (int row = 0; row < report.each_path().rows_size(); ++row) {
      const v1::EachPathRow& phase = report.each_path().rows(row);
      for (int i = 0; i < phase.cells_size(); ++i) {  // the row makes them unique: equal phases have one name
        writer.Add(labelled({{"row", std::to_string(row)},
                             {"phase", phase.phase()},
                             {"path", report.each_path().paths(i)}}),
                   phase.cells(i).of_first());
      }
    }
  }
}

}  // namespace

absl::Status WriteOpenMetrics(const v1::RunReport& report, std::ostream& out) {
  std::vector<std::string> labels;
  for (const v1::PhaseReport& phase : report.phases()) labels.push_back(LabelsOf(report, phase));
  MetricWriter writer(out);
  WriteRun(report, writer);
  WriteMissing(report, writer);
  WritePhases(report, labels, writer);
  WriteReads(report, labels, writer);
  WriteOpenLoops(report, labels, writer);
  WriteMarks(report, labels, writer);
  WriteClients(report, labels, writer);
  WriteFlushCalls(report, labels, writer);
  WritePaths(report, labels, writer);
  WriteAcross(report, writer);
  writer.End();
  return Flush(out, "OpenMetrics");
}

}  // namespace iobench
