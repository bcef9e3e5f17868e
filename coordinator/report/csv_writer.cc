// result.csv: one row per phase, client and lane, with the phase's figures repeated in each row, so that pandas and R
// read it without options. phases.csv: one row per phase with only the phase's own figures, so that they can be summed.
// docs/reports.md describes the columns. Names are stable; new columns are added at the end.
#include <cmath>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/report_format.h"
#include "coordinator/report/text/csv_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

struct RowSource {
  const v1::RunReport& report;
  const v1::PhaseReport& phase;
  const v1::ClientPhaseReport* client = nullptr;  // null, as is worker, for rows of phases.csv
  const v1::WorkerPhaseReport* worker = nullptr;
  const v1::LanePhaseReport* lane = nullptr;  // null: a lost worker that sent nothing about its lanes
};

std::string Number(uint64_t value) {
  return std::to_string(value);
}

// Empty if there is no number.
std::string Number(double value) {
  std::string text;
  if (std::isfinite(value)) AppendShortest(value, text);
  return text;
}

std::string Codes(const google::protobuf::RepeatedPtrField<v1::Mark>& marks) {
  std::vector<std::string_view> seen;
  std::string result;
  for (const v1::Mark& mark : marks) {
    bool is_new = true;
    for (const auto code : seen) is_new = is_new && code != mark.code();
    if (!is_new) continue;
    seen.push_back(mark.code());
    if (!result.empty()) result += ' ';
    result += mark.code();
  }
  return CsvText(result);
}

std::string State(const RowSource& row) {
  if (row.worker->lost()) return "lost";
  if (row.lane == nullptr) return "";
  if (row.lane->failed()) return "failed";
  if (row.lane->sat_out()) return "sat_out";
  return row.lane->stopped() ? "stopped" : "done";
}

std::string OperationDone(const RowSource& row) {
  const bool has_own = row.lane != nullptr && !row.lane->operation().empty();
  return CsvText(has_own ? row.lane->operation() : row.phase.operation());
}

// The score of a suite is in the row of the last phase that it needs: a file that grows has no other place for it.
bool EndsScore(const RowSource& row) {
  if (!row.report.has_score() || row.phase.repetition() > 0) return false;
  const v1::Plan& plan = row.report.run().plan();
  int last = plan.phases_size() - 1;
  while (last >= 0 && plan.phases(last).score() == v1::SCORE_NONE) --last;
  return row.phase.index() == static_cast<uint32_t>(last);
}

// A figure of each path of a phase on several, in the order of `paths`.
std::string OfPaths(const RowSource& row, double (v1::PartReport::*figure)() const) {
  std::string text;
  for (const v1::PartReport& path : row.phase.paths())
    absl::StrAppend(&text, text.empty() ? "" : ";", Number((path.*figure)()));
  return text;
}

std::string PathsOf(const RowSource& row) {
  std::string text;
  for (const v1::PartReport& path : row.phase.paths()) absl::StrAppend(&text, text.empty() ? "" : ";", path.path());
  return CsvText(text);
}

// Metadata operations have no data rate, unless they write files.
std::string OfData(const RowSource& row, std::string cell) {
  if (row.phase.metadata() && row.phase.bytes() == 0) return "";
  return cell;
}

// kPhase: the same in all rows of a phase. kBoth: the lane's in result.csv, the phase's in phases.csv.
enum class Of { kPhase, kLane, kBoth };

struct Column {
  std::string_view name;
  Of of;
  std::string (*value)(const RowSource&);
};

// A cell of the lane, empty if the row has none.
#define LANE_CELL(expression) \
  Of::kLane, [](const RowSource& row) { return row.lane == nullptr ? std::string() : expression; }
// A cell of the row's client or worker.
#define OWNER_CELL(expression) Of::kLane, [](const RowSource& row) { return expression; }
#define CELL(expression) Of::kPhase, [](const RowSource& row) { return expression; }
// A figure of an optional part of the phase: empty if unknown, never 0.
#define PART_CELL(part, field)                                                        \
  Of::kPhase, [](const RowSource& row) {                                              \
    return row.phase.has_##part() ? Number(row.phase.part().field()) : std::string(); \
  }
// A count of such a part, which may itself be unknown.
#define OPTIONAL_CELL(part, field)                                              \
  Of::kPhase, [](const RowSource& row) {                                        \
    const auto& part = row.phase.part();                                        \
    return part.has_##field() ? Number(uint64_t{part.field()}) : std::string(); \
  }
// A figure of the ops that had a rate: empty in a closed loop.
#define OPEN_LOOP_CELL(part, field)                                                                       \
  Of::kPhase, [](const RowSource& row) {                                                                  \
    return row.phase.has_open_loop() ? Number(row.phase.open_loop().part().field()) : std::string();      \
  }
// The same for data rates.
#define DATA_CELL(part, field)                                                                     \
  Of::kPhase, [](const RowSource& row) {                                                           \
    return OfData(row, row.phase.has_##part() ? Number(row.phase.part().field()) : std::string()); \
  }

constexpr Column kColumns[] = {
    {"run_id", CELL(CsvText(row.report.run().id()))},
    {"started_at", CELL(CsvText(row.phase.started_at()))},
    {"phase_index", CELL(Number(uint64_t{row.phase.index()}))},
    {"repetition", CELL(Number(uint64_t{row.phase.repetition()}))},
    {"phase", CELL(CsvText(row.phase.name()))},
    {"operation", Of::kBoth, OperationDone},
    {"engine", CELL(CsvText(row.phase.engine()))},
    {"record_bytes", CELL(Number(row.phase.record_bytes()))},
    {"host", OWNER_CELL(CsvText(row.client->host()))},
    {"worker", OWNER_CELL(Number(uint64_t{row.worker->worker()}))},
    {"lane", LANE_CELL(Number(uint64_t{row.lane->lane()}))},
    {"file_owner", LANE_CELL(Number(uint64_t{row.lane->file_owner()}))},
    {"file", LANE_CELL(CsvText(row.lane->file()))},
    {"state", OWNER_CELL(State(row))},
    {"bytes", LANE_CELL(Number(row.lane->bytes()))},
    {"measured_bytes", LANE_CELL(Number(row.lane->measured_bytes()))},
    {"ops", LANE_CELL(Number(row.lane->ops()))},
    {"bytes_per_s", LANE_CELL(OfData(row, Number(row.lane->bytes_per_s())))},
    {"start_us", LANE_CELL(Number(row.lane->start_us()))},
    {"end_s", LANE_CELL(Number(row.lane->end_s()))},
    {"open_s", LANE_CELL(Number(row.lane->regions_s().open()))},
    {"ops_s", LANE_CELL(Number(row.lane->regions_s().ops()))},
    {"fsync_s", LANE_CELL(Number(row.lane->regions_s().fsync()))},
    {"close_s", LANE_CELL(Number(row.lane->regions_s().close()))},
    {"settle_s", LANE_CELL(Number(row.lane->regions_s().settle()))},
    {"p50_us", LANE_CELL(Number(row.lane->p50_us()))},
    {"p99_us", LANE_CELL(Number(row.lane->p99_us()))},
    {"max_us", LANE_CELL(Number(row.lane->max_us()))},
    {"cpu_user_s", LANE_CELL(Number(row.lane->cpu_user_s()))},
    {"cpu_system_s", LANE_CELL(Number(row.lane->cpu_system_s()))},
    {"client_bytes_per_s", OWNER_CELL(OfData(row, Number(row.client->bytes_per_s())))},
    {"client_share_of_mean", OWNER_CELL(Number(row.client->share_of_mean()))},
    {"client_cpu_percent", OWNER_CELL(Number(row.client->cpu_percent()))},
    {"client_clock_error_us", OWNER_CELL(Number(row.client->clock_error_us()))},
    {"client_marks", OWNER_CELL(Codes(row.client->marks()))},
    {"headline_name", CELL(CsvText(row.phase.headline().name()))},
    {"headline_region", CELL(CsvText(row.phase.headline().region()))},
    {"headline_bytes_per_s", DATA_CELL(headline, bytes_per_s)},
    {"headline_ops_per_s", PART_CELL(headline, ops_per_s)},
    {"phase_bytes", CELL(Number(row.phase.bytes()))},
    {"phase_measured_bytes", CELL(Number(row.phase.measured_bytes()))},
    {"phase_duration_s", CELL(Number(row.phase.duration_s()))},
    {"full_bytes_per_s", DATA_CELL(throughput_bytes_per_s, full)},
    {"stonewalled_bytes_per_s", DATA_CELL(throughput_bytes_per_s, stonewalled)},
    {"all_active_bytes_per_s", DATA_CELL(throughput_bytes_per_s, all_active)},
    {"children_bytes_per_s", DATA_CELL(throughput_bytes_per_s, children)},
    {"parent_bytes_per_s", DATA_CELL(throughput_bytes_per_s, parent)},
    {"stonewall_kind", CELL(CsvText(row.phase.stonewall().kind()))},
    {"stonewall_at_s", PART_CELL(stonewall, at_s)},
    {"stonewall_bytes_low", PART_CELL(stonewall, bytes_low)},
    {"stonewall_bytes_high", PART_CELL(stonewall, bytes_high)},
    {"straggler_cost", CELL(Number(row.phase.straggler_cost()))},
    {"skew_us", PART_CELL(start, skew_us)},
    {"skew_low_us", PART_CELL(start, skew_low_us)},
    {"skew_high_us", PART_CELL(start, skew_high_us)},
    {"phase_p50_us", PART_CELL(latency_us, p50)},
    {"phase_p99_us", PART_CELL(latency_us, p99)},
    {"phase_max_us", PART_CELL(latency_us, max)},
    {"marks", CELL(Codes(row.phase.marks()))},
    {"bytes_per_lane", CELL(row.phase.metadata() ? std::string() : Number(row.phase.bytes_per_lane()))},
    {"phase_lane_count", CELL(Number(uint64_t{row.phase.lane_count()}))},
    {"ops_per_s", LANE_CELL(Number(row.lane->ops_per_s()))},
    {"client_ops_per_s", OWNER_CELL(Number(row.client->ops_per_s()))},
    {"phase_ops", CELL(Number(row.phase.ops()))},
    {"phase_measured_ops", CELL(Number(row.phase.measured_ops()))},
    {"full_ops_per_s", PART_CELL(throughput_ops_per_s, full)},
    {"stonewalled_ops_per_s", PART_CELL(throughput_ops_per_s, stonewalled)},
    {"metadata", CELL(Number(uint64_t{row.phase.metadata()}))},
    {"items_per_lane", PART_CELL(tree, items_per_lane)},
    {"phase_between_s", CELL(Number(row.phase.between_s()))},
    {"phase_pause_s", CELL(Number(row.phase.pause_s()))},
    {"phase_data_s", CELL(Number(row.phase.data_s()))},
    {"verify_sectors", PART_CELL(verify, sectors)},
    {"verify_mismatched", PART_CELL(verify, mismatched)},
    {"verify_undetermined", PART_CELL(verify, undetermined)},
    {"found_items", LANE_CELL(row.lane->has_found_items() ? Number(row.lane->found_items()) : std::string())},
    {"phase_found_items",
     CELL(row.phase.has_found_items() ? Number(row.phase.found_items()) : std::string())},
};

// The columns of phases.csv after those that it shares with result.csv.
constexpr Column kPhaseColumns[] = {
    {"clients", CELL(Number(uint64_t(row.phase.clients_size())))},
    {"workers", CELL(Number(uint64_t{WorkerCount(row.phase)}))},
    {"lanes_failed", CELL(Number(uint64_t{row.phase.lanes_failed()}))},
    {"workers_lost", CELL(Number(uint64_t{row.phase.workers_lost()}))},
    {"interrupted", CELL(Number(uint64_t{row.phase.interrupted()}))},
    {"mean_open_s", PART_CELL(regions_s, open)},
    {"mean_ops_s", PART_CELL(regions_s, ops)},
    {"mean_fsync_s", PART_CELL(regions_s, fsync)},
    {"mean_close_s", PART_CELL(regions_s, close)},
    {"mean_settle_s", PART_CELL(regions_s, settle)},
    {"lane_min_bytes_per_s", DATA_CELL(lanes_bytes_per_s, min)},
    {"lane_max_bytes_per_s", DATA_CELL(lanes_bytes_per_s, max)},
    {"lane_min_ops_per_s", PART_CELL(lanes_ops_per_s, min)},
    {"lane_max_ops_per_s", PART_CELL(lanes_ops_per_s, max)},
    {"phase_p90_us", PART_CELL(latency_us, p90)},
    {"phase_p99_9_us", PART_CELL(latency_us, p99_9)},
    {"nfs_rpcs", PART_CELL(nfs_rpc, rpcs)},
    {"nfs_queue_ms", PART_CELL(nfs_rpc, queue_ms)},
    {"nfs_round_trip_ms", PART_CELL(nfs_rpc, round_trip_ms)},
    {"nfs_retransmissions", PART_CELL(nfs_rpc, retransmissions)},
    {"nfs_all_rpcs", PART_CELL(nfs_rpc, all_rpcs)},
    {"nfs_rpcs_per_op", PART_CELL(nfs_rpc, rpcs_per_op)},
    {"nfs_read_bytes_per_rpc", PART_CELL(nfs_rpc, read_bytes_per_rpc)},
    {"nfs_write_bytes_per_rpc", PART_CELL(nfs_rpc, write_bytes_per_rpc)},
    {"nfs_commits_per_write", PART_CELL(nfs_rpc, commits_per_write)},
    {"nfs_in_flight", PART_CELL(nfs_rpc, in_flight)},
    {"nfs_backlog", PART_CELL(nfs_rpc, backlog)},
    {"nfs_errors", OPTIONAL_CELL(nfs_rpc, errors)},
    {"nfs_delays", OPTIONAL_CELL(nfs_rpc, delays)},
    {"nfs_reconnects", OPTIONAL_CELL(nfs_rpc, reconnects)},
    {"read_server_bytes", PART_CELL(read_sources, server_bytes)},
    {"read_disk_bytes", PART_CELL(read_sources, disk_bytes)},
    {"read_cache_bytes", PART_CELL(read_sources, cache_bytes)},
    {"read_unknown_bytes", PART_CELL(read_sources, unknown_bytes)},
    {"read_server_memory_bytes", OPTIONAL_CELL(read_sources, server_memory_bytes)},
    {"read_server_disk_bytes", OPTIONAL_CELL(read_sources, server_disk_bytes)},
    {"read_hole_bytes", PART_CELL(read_sources, hole_bytes)},
    {"files_to_memory", PART_CELL(read_sources, files_to_memory)},
    {"written_bytes",
     CELL(row.phase.has_written_bytes() ? Number(row.phase.written_bytes()) : std::string())},
    {"reached_bytes",
     CELL(row.phase.has_reached_bytes() ? Number(row.phase.reached_bytes()) : std::string())},
    {"first_pass_bytes_per_s", PART_CELL(first_pass, bytes_per_s)},
    {"first_pass_s", PART_CELL(first_pass, seconds)},
    {"overwritten_percent", PART_CELL(first_pass, overwritten_percent)},
};

// The last columns of both.
constexpr Column kLastColumns[] = {
    {"label", CELL(CsvText(row.report.run().label()))},
    {"target", CELL(CsvText(row.lane != nullptr && !row.lane->path().empty() ? row.lane->path() : row.phase.target()))},
};

// Columns of phases.csv that are newer than those.
constexpr Column kNewerPhaseColumns[] = {
    {"service_p50_us", OPEN_LOOP_CELL(service_us, p50)},
    {"service_p99_us", OPEN_LOOP_CELL(service_us, p99)},
    {"service_max_us", OPEN_LOOP_CELL(service_us, max)},
    {"lag_p50_us", OPEN_LOOP_CELL(lag_us, p50)},
    {"lag_p99_us", OPEN_LOOP_CELL(lag_us, p99)},
    {"lag_max_us", OPEN_LOOP_CELL(lag_us, max)},
    {"not_whole", CELL(CsvText(row.phase.not_whole()))},
    {"score", CELL(EndsScore(row) ? Number(row.report.score().value()) : std::string())},
    {"score_valid", CELL(EndsScore(row) ? Number(uint64_t{row.report.score().valid()}) : std::string())},
    {"paths", CELL(PathsOf(row))},
    {"paths_bytes_per_s", CELL(OfData(row, OfPaths(row, &v1::PartReport::bytes_per_s)))},
    {"paths_ops_per_s", CELL(OfPaths(row, &v1::PartReport::ops_per_s))},
};

#undef CELL
#undef OWNER_CELL
#undef PART_CELL
#undef OPTIONAL_CELL
#undef OPEN_LOOP_CELL
#undef DATA_CELL
#undef LANE_CELL

using Columns = std::vector<const Column*>;

Columns LaneColumns() {
  Columns columns;
  for (const Column& column : kColumns) columns.push_back(&column);
  for (const Column& column : kLastColumns) columns.push_back(&column);
  return columns;
}

Columns PhaseColumns() {
  Columns columns;
  for (const Column& column : kColumns) {
    if (column.of != Of::kLane) columns.push_back(&column);
  }
  for (const Column& column : kPhaseColumns) columns.push_back(&column);
  for (const Column& column : kLastColumns) columns.push_back(&column);
  for (const Column& column : kNewerPhaseColumns) columns.push_back(&column);
  return columns;
}

void WriteTitles(const Columns& columns, std::ostream& out) {
  for (const Column* column : columns) out << (column == columns.front() ? "" : ",") << column->name;
  out << '\n';
}

// The cells of a phase are the same in all of its rows. Rendered once: with a mark for each of thousands of clients,
// the time for the cell of its marks would grow with the square of the lanes.
class RowWriter {
 public:
  RowWriter(Columns columns, const v1::RunReport& report, const v1::PhaseReport& phase)
      : columns_(std::move(columns)) {
    for (const Column* column : columns_) {
      of_phase_.push_back(column->of == Of::kPhase ? column->value({report, phase}) : std::string());
    }
  }

  void Write(const RowSource& row, std::ostream& out) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out << ',';
      if (columns_[i]->of == Of::kPhase) {
        out << of_phase_[i];
      } else {
        out << columns_[i]->value(row);
      }
    }
    out << '\n';
  }

 private:
  const Columns columns_;
  std::vector<std::string> of_phase_;  // index = column; empty for a lane's
};

bool IsOurCsv(std::string_view head) {
  return head.starts_with("run_id,started_at,phase_index,");
}

absl::Status WriteLanesTitles(std::ostream& out) {
  WriteTitles(LaneColumns(), out);
  return Flush(out, "CSV");
}

absl::Status WriteLanesOfPhase(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList,
                               std::ostream& out) {
  const RowWriter rows(LaneColumns(), report, phase);
  for (const auto& client : phase.clients()) {
    for (const auto& worker : client.workers()) {
      for (const auto& lane : worker.lanes()) {
        rows.Write({report, phase, &client, &worker, &lane}, out);
      }
      if (worker.lanes().empty()) rows.Write({report, phase, &client, &worker, nullptr}, out);
    }
  }
  return Flush(out, "CSV");
}

absl::Status WritePhasesTitles(std::ostream& out) {
  WriteTitles(PhaseColumns(), out);
  return Flush(out, "CSV");
}

absl::Status WritePhaseRow(const v1::RunReport& report, const v1::PhaseReport& phase, PlaceInList,
                           std::ostream& out) {
  RowWriter(PhaseColumns(), report, phase).Write({report, phase}, out);
  return Flush(out, "CSV");
}

// Nothing else is known of the phase.
absl::Status WriteMissing(const Columns& columns, const v1::RunReport& report, const v1::MissingPhase& missing,
                          std::ostream& out) {
  for (const Column* column : columns) {
    if (column != columns.front()) out << ',';
    if (column->name == "run_id") out << CsvText(report.run().id());
    if (column->name == "phase_index") out << missing.index();
    if (column->name == "repetition") out << missing.repetition();
    if (column->name == "phase") out << CsvText(missing.name());
    if (column->name == "state") out << "missing";
    if (column->name == "not_whole") out << CsvText(missing.problem());
  }
  out << '\n';
  return Flush(out, "CSV");
}

absl::Status WriteMissingLanes(const v1::RunReport& report, const v1::MissingPhase& missing, std::ostream& out) {
  return WriteMissing(LaneColumns(), report, missing, out);
}

absl::Status WriteMissingPhase(const v1::RunReport& report, const v1::MissingPhase& missing, std::ostream& out) {
  return WriteMissing(PhaseColumns(), report, missing, out);
}

}  // namespace

const ReportFormat kLanesCsvFormat = {.is_ours = IsOurCsv,
                                      .write_titles = WriteLanesTitles,
                                      .write_phase = WriteLanesOfPhase,
                                      .write_around = nullptr,
                                      .write_missing = WriteMissingLanes};
const ReportFormat kPhasesCsvFormat = {.is_ours = IsOurCsv,
                                       .write_titles = WritePhasesTitles,
                                       .write_phase = WritePhaseRow,
                                       .write_around = nullptr,
                                       .write_missing = WriteMissingPhase};

}  // namespace iobench
