#include "coordinator/analysis/client_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/op.h"
#include "common/not_a_number.h"
#include "coordinator/analysis/iozone_bands.h"
#include "coordinator/analysis/lane_summaries.h"
#include "coordinator/analysis/marks/verify_summary.h"
#include "coordinator/analysis/pauses.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/analysis/phase/latency.h"
#include "coordinator/analysis/phase/nfs_rpcs.h"

namespace iobench {
namespace {

uint64_t Whole(double amount) {
  return amount > 0 ? static_cast<uint64_t>(std::llround(amount)) : 0;
}

void SetNoRegions(v1::RegionSeconds& regions) {
  for (const auto set :
       {&v1::RegionSeconds::set_open, &v1::RegionSeconds::set_ops, &v1::RegionSeconds::set_fsync,
        &v1::RegionSeconds::set_close, &v1::RegionSeconds::set_settle}) {
    (regions.*set)(kNaN);
  }
}

// Iterates over the record once, client by client.
class TableBuilder {
 public:
  TableBuilder(const PhaseView& view, v1::PhaseReport& report) : view_(view), report_(report) {
    for (const AlignedWorker& worker : view.aligned.workers) worker_of_number_[worker.number] = &worker;
    for (size_t i = 0; i < view.aligned.lanes.size(); ++i) {
      index_of_result_[view.aligned.lanes[i].result] = i;
    }
  }

  void Build() {
    for (size_t client = 0; client < view_.roster.client_count(); ++client) AddClient(client);
    SetShares();
    for (int kind = 0; kind < kOpKindCount; ++kind) {
      if (!has_kind_[kind]) continue;
      v1::KindReport& kind_report = (*report_.mutable_by_kind())[NameOf(static_cast<OpKind>(kind))];
      kind_report.set_bytes(kind_bytes_[kind]);
      kind_report.set_ops(kind_ops_[kind]);
      kind_report.set_bytes_per_s(Rate(kind_measured_bytes_[kind], view_.figures.headline_seconds));
      kind_report.set_ops_per_s(Rate(kind_measured_ops_[kind], view_.figures.headline_seconds));
      *kind_report.mutable_latency_us() = LatencyOf(*kind_latency_[kind]);
    }
    for (const auto& [name, latency] : call_latency_) {
      v1::KindReport& call_report = (*report_.mutable_by_kind())[name];
      call_report.set_ops(latency->count());
      call_report.set_bytes_per_s(kNaN);
      call_report.set_ops_per_s(kNaN);  // there is no timeline of calls, so no window has a number of them
      *call_report.mutable_latency_us() = LatencyOf(*latency);
    }
    *report_.mutable_latency_us() = LatencyOf(*all_latency_);
  }

 private:
  struct ClientTotals {
    uint64_t bytes = 0, ops = 0;
    uint64_t region_ops = 0;  // by the end of the timed regions, which the counters cover
    double measured_bytes = 0, measured_ops = 0;
    bool any_lane = false;  // any lane that counts
  };

  // Clients without counted lanes have no rate and are excluded from the mean.
  void SetShares() {
    const auto rate_of = [this](const v1::ClientPhaseReport& client) {
      return view_.traits.headline_in_ops ? client.ops_per_s() : client.bytes_per_s();
    };
    double sum = 0;
    int count = 0;
    for (const v1::ClientPhaseReport& client : report_.clients()) {
      if (!std::isfinite(rate_of(client))) continue;
      sum += rate_of(client);
      ++count;
    }
    for (v1::ClientPhaseReport& client : *report_.mutable_clients()) {
      client.set_share_of_mean(sum > 0 ? rate_of(client) * count / sum : kNaN);
    }
  }

  void AddClient(size_t client) {
    v1::ClientPhaseReport table;
    client_latency_->Clear();
    client_calls_.clear();
    ClientTotals totals;
    std::vector<const v1::WorkerPhaseResult*> results;
    std::vector<const AlignedWorker*> workers;
    int64_t error_ns = 0;
    for (const uint32_t number : view_.roster.WorkersOf(client)) {
      const auto found = worker_of_number_.find(number);
      if (found == worker_of_number_.end()) continue;
      const AlignedWorker& worker = *found->second;
      // A worker without an assignment is not listed.
      if (worker.result->lanes().empty() && worker.missing_reason.empty()) continue;
      results.push_back(worker.result);
      workers.push_back(&worker);
      if (worker.clock != nullptr) error_ns = std::max(error_ns, view_.WorstErrorNs(*worker.clock));
      AddWorker(worker, table, totals);
    }
    if (results.empty()) return;
    AddLaneTimes(workers, table);
    table.set_host(view_.roster.NameOf(client));
    table.set_bytes(totals.bytes);
    table.set_measured_bytes(Whole(totals.measured_bytes));
    table.set_bytes_per_s(totals.any_lane ? Rate(totals.measured_bytes, view_.figures.headline_seconds)
                                          : kNaN);
    table.set_ops(totals.ops);
    table.set_measured_ops(Whole(totals.measured_ops));
    table.set_ops_per_s(totals.any_lane ? Rate(totals.measured_ops, view_.figures.headline_seconds) : kNaN);
    *table.mutable_latency_us() = LatencyOf(*client_latency_);
    all_latency_->Merge(*client_latency_);
    for (const auto& [name, latency] : client_calls_) {
      (*table.mutable_call_latency_us())[name] = LatencyOf(*latency);
      HistogramIn(call_latency_, name).Merge(*latency);
    }
    table.set_clock_error_us(static_cast<double>(error_ns) / 1e3);
    *table.mutable_host_delta() = ClientDelta(view_.run, results);
    table.set_cpu_percent(CpuPercent(table.host_delta()));
    if (std::optional<v1::TransportReport> transport = TransportOf(table.host_delta()); transport.has_value())
      *table.mutable_transport() = *std::move(transport);
    table.set_own_cpu_percent(OwnCpuPercent(view_.run, results, table.host_delta()));
    AddNfsRpcs(view_.roster.WorkersOf(client), totals.region_ops, table);
    AddTroubles(workers, table);
    *report_.add_clients() = std::move(table);
  }

  // Of lanes that count. The wait for a processor is unknown if that of one lane is.
  void AddLaneTimes(const std::vector<const AlignedWorker*>& workers, v1::ClientPhaseReport& client) {
    double wall_s = 0, cpu_s = 0, run_delay_s = 0;
    bool knows_delay = true, any = false;
    for (const AlignedWorker* const worker : workers) {
      for (const v1::LaneResult& lane : worker->result->lanes()) {
        const auto found = index_of_result_.find(&lane);
        if (found == index_of_result_.end() || !view_.aligned.lanes[found->second].started) continue;
        any = true;
        const AlignedLane& aligned = view_.aligned.lanes[found->second];
        wall_s += SecondsFrom(aligned.region_end - aligned.first_op);
        cpu_s += lane.cpu_user_s() + lane.cpu_system_s();
        run_delay_s += lane.run_delay_s();
        knows_delay &= lane.has_run_delay_s();
      }
    }
    client.set_lanes_wall_s(wall_s);
    client.set_lanes_cpu_s(cpu_s);
    if (!any || !knows_delay) return;
    client.set_lanes_run_delay_s(run_delay_s);
  }

  // Includes failed lanes.
  void AddTroubles(const std::vector<const AlignedWorker*>& workers, v1::ClientPhaseReport& client) {
    for (const AlignedWorker* const worker : workers) {
      for (const v1::LaneResult& lane : worker->result->lanes()) {
        AddCounts(lane.errors(), *client.mutable_failed_ops());
        client.set_wrong_sectors(client.wrong_sectors() + lane.verify().mismatched());
      }
    }
    if (std::optional<v1::PauseReport> pauses = PausesOf(view_.phase, workers, view_.figures.duration_s); pauses.has_value())
      *client.mutable_pauses() = *std::move(pauses);
  }

  void AddNfsRpcs(std::span<const uint32_t> workers, uint64_t app_ops, v1::ClientPhaseReport& client) {
    const std::optional<v1::NfsRpcReport> rpcs =
        NfsRpcsOf(client.host_delta(), NfsTargetsOf(view_.run, workers), app_ops);
    if (!rpcs.has_value()) return;
    *client.mutable_nfs_rpc() = *rpcs;
    *report_.mutable_nfs_rpc() = report_.has_nfs_rpc() ? Sum(report_.nfs_rpc(), *rpcs) : *rpcs;
  }

  void AddWorker(const AlignedWorker& worker, v1::ClientPhaseReport& client, ClientTotals& totals) {
    v1::WorkerPhaseReport& table = *client.add_workers();
    table.set_worker(worker.number);
    table.set_cpu_user_s(worker.result->process_cpu_user_s());
    table.set_cpu_system_s(worker.result->process_cpu_system_s());
    table.set_reconnects(worker.result->reconnects());
    if (!worker.missing_reason.empty()) {
      table.set_lost(true);
      table.set_lost_reason(worker.missing_reason);
    }
    double measured_bytes = 0, measured_ops = 0;
    uint64_t bytes = 0, ops = 0;
    for (const v1::LaneResult& lane : worker.result->lanes()) {
      const auto found = index_of_result_.find(&lane);
      if (found == index_of_result_.end()) {
        AddUncounted(lane, !worker.missing_reason.empty(), table);
        continue;
      }
      AddLane(lane, found->second, table);
      measured_bytes += view_.figures.lanes[found->second].measured.bytes.value;
      measured_ops += view_.figures.lanes[found->second].measured.ops.value;
      bytes += lane.bytes();
      ops += lane.ops();
      totals.region_ops += lane.region_ops();
      totals.any_lane = true;
    }
    // Of a lost worker, only its last progress is known; it is shown here but counted nowhere.
    table.set_bytes(worker.result->lost() ? worker.result->last_known_bytes() : bytes);
    table.set_bytes_per_s(worker.missing_reason.empty() ? Rate(measured_bytes, view_.figures.headline_seconds)
                                                        : kNaN);
    table.set_ops(ops);
    table.set_ops_per_s(worker.missing_reason.empty() ? Rate(measured_ops, view_.figures.headline_seconds)
                                                      : kNaN);
    totals.bytes += bytes;
    totals.measured_bytes += measured_bytes;
    totals.ops += ops;
    totals.measured_ops += measured_ops;
  }

  v1::LanePhaseReport& AddCommon(const v1::LaneResult& lane, v1::WorkerPhaseReport& worker) {
    v1::LanePhaseReport& table = *worker.add_lanes();
    table.set_lane(lane.lane());
    table.set_file_owner(lane.file_owner());
    table.set_operation(lane.operation());
    table.set_file(lane.file());
    table.set_bytes(lane.bytes());
    table.set_ops(lane.ops());
    if (view_.traits.finds) table.set_found_items(lane.found_items());
    table.set_cpu_user_s(lane.cpu_user_s());
    table.set_cpu_system_s(lane.cpu_system_s());
    if (lane.has_run_delay_s()) table.set_run_delay_s(lane.run_delay_s());
    table.set_stopped(lane.stopped());
    table.set_sat_out(lane.sat_out());
    for (const v1::ErrorCount& error : lane.errors())
      table.set_failed_ops(table.failed_ops() + error.count());
    return table;
  }

  // Adds a lane that failed, sat out, or belongs to a lost worker: what it did is shown, without rates.
  void AddUncounted(const v1::LaneResult& lane, bool of_lost_worker, v1::WorkerPhaseReport& worker) {
    v1::LanePhaseReport& table = AddCommon(lane, worker);
    table.set_failed(of_lost_worker || lane.problem().code() != 0);
    SetNoRegions(*table.mutable_regions_s());
    for (const auto set : {&v1::LanePhaseReport::set_bytes_per_s, &v1::LanePhaseReport::set_ops_per_s,
                           &v1::LanePhaseReport::set_start_us, &v1::LanePhaseReport::set_end_s,
                           &v1::LanePhaseReport::set_p50_us, &v1::LanePhaseReport::set_p99_us,
                           &v1::LanePhaseReport::set_max_us}) {
      (table.*set)(kNaN);
    }
  }

  void AddLane(const v1::LaneResult& lane, size_t index, v1::WorkerPhaseReport& worker) {
    const AlignedLane& aligned = view_.aligned.lanes[index];
    const LaneFigures& figures = view_.figures.lanes[index];
    v1::LanePhaseReport& table = AddCommon(lane, worker);
    if (uint32_t target = 0; several_paths_ && view_.TargetOf(aligned, &target) != nullptr)
      table.set_path(view_.run.plan().targets(static_cast<int>(target)).path());
    table.set_measured_bytes(Whole(figures.measured.bytes.value));
    table.set_bytes_per_s(figures.bytes_per_s());
    table.set_measured_ops(Whole(figures.measured.ops.value));
    table.set_ops_per_s(figures.ops_per_s());
    table.set_start_us(aligned.started ? 1e6 * SecondsFrom(aligned.first_op - view_.figures.first_op) : kNaN);
    table.set_end_s(aligned.started ? SecondsFrom(aligned.region_end - view_.figures.first_op) : kNaN);
    *table.mutable_regions_s() = RegionsOf(lane, view_.phase.phase().region());
    if (const std::optional<Pace> pace = PaceOf(view_, aligned)) {
      table.set_asked_ops_per_s(pace->asked_ops_per_s);
      table.set_paced_ops_per_s(pace->kept_ops_per_s);
    }

    lane_latency_->Clear();
    absl::Status status = AddLatencies(lane, *lane_latency_);
    table.set_p50_us(lane_latency_->PercentileNs(0.5) / 1e3);
    table.set_p99_us(lane_latency_->PercentileNs(0.99) / 1e3);
    table.set_max_us(lane_latency_->count() > 0 ? static_cast<double>(lane_latency_->max_ns()) / 1e3 : kNaN);
    if (view_.run.iozone().histograms()) {
      for (const uint64_t count : CountsInIozoneBands(*lane_latency_)) table.add_iozone_bands(count);
    }
    AddLatencies(lane, *client_latency_).IgnoreError();  // the same problem again
    AddKinds(lane, figures);
    for (const v1::KindResult& call : lane.calls()) {
      if (call.ops() == 0 || !kFlushCalls.Has(static_cast<OpKind>(call.kind()))) continue;
      Histogram& latencies = HistogramIn(client_calls_, NameOf(static_cast<OpKind>(call.kind())));
      const absl::Status added = latencies.AddProto(call.latency());
      if (status.ok()) status = added;
    }
    if (!status.ok()) {
      v1::ErrorReport& error = *report_.add_errors();
      error.set_client(view_.roster.NameOf(view_.roster.ClientOf(aligned.worker)));
      error.set_worker(static_cast<int32_t>(aligned.worker));
      error.set_lane(static_cast<int32_t>(lane.lane()));
      error.set_operation(lane.operation());
      error.set_message(absl::StrCat("its latencies are left out: ", std::string(status.message())));
    }
  }

  using Histograms = std::map<std::string, std::unique_ptr<Histogram>>;  // by the name of a flush call
  static Histogram& HistogramIn(Histograms& all, const std::string& name) {
    std::unique_ptr<Histogram>& histogram = all[name];
    if (histogram == nullptr) histogram = std::make_unique<Histogram>();
    return *histogram;
  }

  // There is no timeline per kind: a lane's part of the headline is divided like its ops after the warm-up.
  void AddKinds(const v1::LaneResult& lane, const LaneFigures& figures) {
    double bytes = 0, ops = 0;
    for (const v1::KindResult& kind : lane.kinds()) {
      bytes += static_cast<double>(kind.bytes());
      ops += static_cast<double>(kind.ops());
    }
    for (const v1::KindResult& kind : lane.kinds()) {
      const int k = kind.kind();
      if (kind.ops() == 0 || k < 0 || k >= kOpKindCount) continue;
      if (kind_latency_[k] == nullptr) kind_latency_[k] = std::make_unique<Histogram>();
      has_kind_[k] = true;
      kind_bytes_[k] += kind.bytes();
      kind_ops_[k] += kind.ops();
      if (bytes > 0)
        kind_measured_bytes_[k] += figures.measured.bytes.value * static_cast<double>(kind.bytes()) / bytes;
      kind_measured_ops_[k] += figures.measured.ops.value * static_cast<double>(kind.ops()) / ops;
      AddLatenciesOfKind(lane, kind, *kind_latency_[k]).IgnoreError();  // reported by AddLane
    }
  }

  const PhaseView& view_;
  const bool several_paths_ = view_.run.plan().targets_size() > 1 && view_.phase.phase().only_target() == 0;
  v1::PhaseReport& report_;
  std::unordered_map<uint32_t, const AlignedWorker*> worker_of_number_;
  std::unordered_map<const v1::LaneResult*, size_t> index_of_result_;
  // A histogram is 37 KB, too large for the stack.
  std::unique_ptr<Histogram> lane_latency_ = std::make_unique<Histogram>();
  std::unique_ptr<Histogram> client_latency_ = std::make_unique<Histogram>();
  std::unique_ptr<Histogram> all_latency_ = std::make_unique<Histogram>();
  std::unique_ptr<Histogram> kind_latency_[kOpKindCount];
  Histograms call_latency_, client_calls_;
  bool has_kind_[kOpKindCount] = {};
  uint64_t kind_bytes_[kOpKindCount] = {};
  uint64_t kind_ops_[kOpKindCount] = {};
  double kind_measured_bytes_[kOpKindCount] = {};
  double kind_measured_ops_[kOpKindCount] = {};
};

}  // namespace

void FillClientTables(const PhaseView& view, v1::PhaseReport& report) {
  TableBuilder(view, report).Build();
}

}  // namespace iobench
