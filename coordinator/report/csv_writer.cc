// result.csv: one row per phase, client and lane, with the phase's figures repeated in each row, so that pandas and R
// read it without options. phases.csv: one row per phase with only the phase's own figures, so that they can be summed.
// `--help csv` lists the columns. Names are stable; new columns are added at the end.
#include "coordinator/report/csv_writer.h"

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
  CsvColumn about;
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
    {{"run_id", "", "id of the run; the same on every row"},
     CELL(CsvText(row.report.run().id()))},
    {{"started_at", "", "when the phase began, ISO 8601 in UTC"},
     CELL(CsvText(row.phase.started_at()))},
    {{"phase_index", "", "index of the phase within the run, from 0"},
     CELL(Number(uint64_t{row.phase.index()}))},
    {{"repetition", "", "repetition of the list of phases, from 0"},
     CELL(Number(uint64_t{row.phase.repetition()}))},
    {{"phase", "", "its name; the operation's unless the plan gives another"},
     CELL(CsvText(row.phase.name()))},
    {{"operation", "", "what the lane did"},
     Of::kBoth, OperationDone},
    {{"engine", "", "posix, stdio, mmap, uring, posix-aio, null ..."},
     CELL(CsvText(row.phase.engine()))},
    {{"record_bytes", "bytes", "record size; an op of a vector (pwritev, preadv) has up to 16"},
     CELL(Number(row.phase.record_bytes()))},
    {{"host", "", "the client"},
     OWNER_CELL(CsvText(row.client->host()))},
    {{"worker", "", "number of the worker within the run"},
     OWNER_CELL(Number(uint64_t{row.worker->worker()}))},
    {{"lane", "", "number of the lane within the run; empty: not known, of a lost worker"},
     LANE_CELL(Number(uint64_t{row.lane->lane()}))},
    {{"file_owner", "", "the lane whose files were used (--rotate-clients: another)"},
     LANE_CELL(Number(uint64_t{row.lane->file_owner()}))},
    {{"file", "", "the lane's first file"},
     LANE_CELL(CsvText(row.lane->file()))},
    {{"state", "", "done, stopped (told to stop at the stonewall), failed, sat_out, lost"},
     OWNER_CELL(State(row))},
    {{"bytes", "bytes", "all bytes that the lane moved, including an unmeasured tail"},
     LANE_CELL(Number(row.lane->bytes()))},
    {{"measured_bytes", "bytes", "those that the headline counts"},
     LANE_CELL(Number(row.lane->measured_bytes()))},
    {{"ops", "", "ops that the lane did"},
     LANE_CELL(Number(row.lane->ops()))},
    {{"bytes_per_s", "bytes/s", "rate of the lane over its own time"},
     LANE_CELL(OfData(row, Number(row.lane->bytes_per_s())))},
    {{"start_us", "us", "start of its first op, relative to the first op of all lanes"},
     LANE_CELL(Number(row.lane->start_us()))},
    {{"end_s", "s", "end of its timed region, on the same axis"},
     LANE_CELL(Number(row.lane->end_s()))},
    {{"open_s", "s", "time the lane spent in open"},
     LANE_CELL(Number(row.lane->regions_s().open()))},
    {{"ops_s", "s", "time in ops"},
     LANE_CELL(Number(row.lane->regions_s().ops()))},
    {{"fsync_s", "s", "time in fsync"},
     LANE_CELL(Number(row.lane->regions_s().fsync()))},
    {{"close_s", "s", "time in close"},
     LANE_CELL(Number(row.lane->regions_s().close()))},
    {{"settle_s", "s", "time in settle, afterwards, untimed"},
     LANE_CELL(Number(row.lane->regions_s().settle()))},
    {{"p50_us", "us", "latency of its ops, median; with a rate, response times"},
     LANE_CELL(Number(row.lane->p50_us()))},
    {{"p99_us", "us", "99th percentile"},
     LANE_CELL(Number(row.lane->p99_us()))},
    {{"max_us", "us", "max"},
     LANE_CELL(Number(row.lane->max_us()))},
    {{"cpu_user_s", "s", "user CPU time of the lane's thread over its timed region"},
     LANE_CELL(Number(row.lane->cpu_user_s()))},
    {{"cpu_system_s", "s", "system CPU time, likewise"},
     LANE_CELL(Number(row.lane->cpu_system_s()))},
    {{"client_bytes_per_s", "bytes/s", "rate of the lane's client over the headline's window"},
     OWNER_CELL(OfData(row, Number(row.client->bytes_per_s())))},
    {{"client_share_of_mean", "", "that rate as a share of the mean of all clients; 1 is the mean"},
     OWNER_CELL(Number(row.client->share_of_mean()))},
    {{"client_cpu_percent", "%", "CPU of the whole host; 100 is all processors"},
     OWNER_CELL(Number(row.client->cpu_percent()))},
    {{"client_clock_error_us", "us", "half the width of the interval that contains its clock offset"},
     OWNER_CELL(Number(row.client->clock_error_us()))},
    {{"client_marks", "", "codes of the client's marks, separated by spaces"},
     OWNER_CELL(Codes(row.client->marks()))},
    {{"headline_name", "", "stonewalled or full"},
     CELL(CsvText(row.phase.headline().name()))},
    {{"headline_region", "", "the headline's timed region, for example ops+fsync+close"},
     CELL(CsvText(row.phase.headline().region()))},
    {{"headline_bytes_per_s", "bytes/s", "the headline"},
     DATA_CELL(headline, bytes_per_s)},
    {{"headline_ops_per_s", "ops/s", "the same in ops"},
     PART_CELL(headline, ops_per_s)},
    {{"phase_bytes", "bytes", "all bytes that the phase moved"},
     CELL(Number(row.phase.bytes()))},
    {{"phase_measured_bytes", "bytes", "those that its headline counts"},
     CELL(Number(row.phase.measured_bytes()))},
    {{"phase_duration_s", "s", "from the first op to the end of the last timed region"},
     CELL(Number(row.phase.duration_s()))},
    {{"full_bytes_per_s", "bytes/s", "figure \"full\"; empty if lanes were told to stop"},
     DATA_CELL(throughput_bytes_per_s, full)},
    {{"stonewalled_bytes_per_s", "bytes/s", "figure \"stonewalled\""},
     DATA_CELL(throughput_bytes_per_s, stonewalled)},
    {{"all_active_bytes_per_s", "bytes/s", "figure \"all-active\""},
     DATA_CELL(throughput_bytes_per_s, all_active)},
    {{"children_bytes_per_s", "bytes/s", "figure \"children\""},
     DATA_CELL(throughput_bytes_per_s, children)},
    {{"parent_bytes_per_s", "bytes/s", "figure \"parent\""},
     DATA_CELL(throughput_bytes_per_s, parent)},
    {{"stonewall_kind", "", "retroactive, flushed, closed, stop, none"},
     CELL(CsvText(row.phase.stonewall().kind()))},
    {{"stonewall_at_s", "s", "time of the stonewall after the first op"},
     PART_CELL(stonewall, at_s)},
    {{"stonewall_bytes_low", "bytes", "lower bound of the bytes at the stonewall"},
     PART_CELL(stonewall, bytes_low)},
    {{"stonewall_bytes_high", "bytes", "upper bound"},
     PART_CELL(stonewall, bytes_high)},
    {{"straggler_cost", "", "1 - full / stonewalled"},
     CELL(Number(row.phase.straggler_cost()))},
    {{"skew_us", "us", "last lane's first op relative to the first lane's, estimate"},
     PART_CELL(start, skew_us)},
    {{"skew_low_us", "us", "lower bound"},
     PART_CELL(start, skew_low_us)},
    {{"skew_high_us", "us", "upper bound"},
     PART_CELL(start, skew_high_us)},
    {{"phase_p50_us", "us", "latency over all lanes, median; with a rate, response times"},
     PART_CELL(latency_us, p50)},
    {{"phase_p99_us", "us", "99th percentile"},
     PART_CELL(latency_us, p99)},
    {{"phase_max_us", "us", "max"},
     PART_CELL(latency_us, max)},
    {{"marks", "", "codes of the phase's marks, including those of its clients, separated by spaces"},
     CELL(Codes(row.phase.marks()))},
    {{"bytes_per_lane", "bytes", "size per lane in this phase (-s; sweeps change it from phase to phase)"},
     CELL(row.phase.metadata() ? std::string() : Number(row.phase.bytes_per_lane()))},
    {{"phase_lane_count", "", "lanes that took part in the phase"},
     CELL(Number(uint64_t{row.phase.lane_count()}))},
    {{"ops_per_s", "ops/s", "rate of the lane over its own time"},
     LANE_CELL(Number(row.lane->ops_per_s()))},
    {{"client_ops_per_s", "ops/s", "the client's part of the headline"},
     OWNER_CELL(Number(row.client->ops_per_s()))},
    {{"phase_ops", "", "all ops of the phase, including an unmeasured tail"},
     CELL(Number(row.phase.ops()))},
    {{"phase_measured_ops", "", "those that the headline counts"},
     CELL(Number(row.phase.measured_ops()))},
    {{"full_ops_per_s", "ops/s", "all ops until the last lane ended"},
     PART_CELL(throughput_ops_per_s, full)},
    {{"stonewalled_ops_per_s", "ops/s", "ops until the first lane ended"},
     PART_CELL(throughput_ops_per_s, stonewalled)},
    {{"metadata", "", "1: the phase ran metadata operations, and little or no data is moved"},
     CELL(Number(uint64_t{row.phase.metadata()}))},
    {{"items_per_lane", "", "items in the tree that a metadata phase worked on"},
     PART_CELL(tree, items_per_lane)},
    {{"phase_between_s", "s", "time between ops, mean over lanes"},
     CELL(Number(row.phase.between_s()))},
    {{"phase_pause_s", "s", "of that, pauses that the lanes' own rates (children) exclude"},
     CELL(Number(row.phase.pause_s()))},
    {{"phase_data_s", "s", "of that, generating and checking data"},
     CELL(Number(row.phase.data_s()))},
    {{"verify_sectors", "", "sectors checked in the phase; empty: none"},
     PART_CELL(verify, sectors)},
    {{"verify_mismatched", "", "of these, wrong sectors"},
     PART_CELL(verify, mismatched)},
    {{"verify_undetermined", "", "of these, sectors for which two generations are possible"},
     PART_CELL(verify, undetermined)},
    {{"found_items", "", "find: items of the lane that matched; empty for other operations"},
     LANE_CELL(row.lane->has_found_items() ? Number(row.lane->found_items()) : std::string())},
    {{"phase_found_items", "", "the same over all lanes"},
    
     CELL(row.phase.has_found_items() ? Number(row.phase.found_items()) : std::string())},
};

// The columns of phases.csv after those that it shares with result.csv.
constexpr Column kPhaseColumns[] = {
    {{"clients", "", "hosts that took part"},
     CELL(Number(uint64_t(row.phase.clients_size())))},
    {{"workers", "", "their workers, including lost ones"},
     CELL(Number(uint64_t{WorkerCount(row.phase)}))},
    {{"lanes_failed", "", "lanes that failed; the figures exclude them"},
     CELL(Number(uint64_t{row.phase.lanes_failed()}))},
    {{"workers_lost", "", "workers that were lost; the figures exclude them"},
     CELL(Number(uint64_t{row.phase.workers_lost()}))},
    {{"interrupted", "", "1: the figures cover what was done until an interrupt"},
     CELL(Number(uint64_t{row.phase.interrupted()}))},
    {{"mean_open_s", "s", "time in open, mean over the lanes"},
     PART_CELL(regions_s, open)},
    {{"mean_ops_s", "s", "time in ops"},
     PART_CELL(regions_s, ops)},
    {{"mean_fsync_s", "s", "time in fsync"},
     PART_CELL(regions_s, fsync)},
    {{"mean_close_s", "s", "time in close"},
     PART_CELL(regions_s, close)},
    {{"mean_settle_s", "s", "time in settle, untimed"},
     PART_CELL(regions_s, settle)},
    {{"lane_min_bytes_per_s", "bytes/s", "the slowest lane over its own time"},
     DATA_CELL(lanes_bytes_per_s, min)},
    {{"lane_max_bytes_per_s", "bytes/s", "the fastest"},
     DATA_CELL(lanes_bytes_per_s, max)},
    {{"lane_min_ops_per_s", "ops/s", "the slowest lane over its own time"},
     PART_CELL(lanes_ops_per_s, min)},
    {{"lane_max_ops_per_s", "ops/s", "the fastest"},
     PART_CELL(lanes_ops_per_s, max)},
    {{"phase_p90_us", "us", "latency over all lanes, 90th percentile"},
     PART_CELL(latency_us, p90)},
    {{"phase_p99_9_us", "us", "99.9th percentile"},
     PART_CELL(latency_us, p99_9)},
    {{"nfs_rpcs", "", "READ, WRITE and COMMIT requests of all clients; empty: not on NFS, or not known"},
     PART_CELL(nfs_rpc, rpcs)},
    {{"nfs_queue_ms", "ms", "mean wait of a request in its client's queue"},
     PART_CELL(nfs_rpc, queue_ms)},
    {{"nfs_round_trip_ms", "ms", "mean time from sending a request to its answer"},
     PART_CELL(nfs_rpc, round_trip_ms)},
    {{"nfs_retransmissions", "", "requests sent again"},
     PART_CELL(nfs_rpc, retransmissions)},
    {{"nfs_all_rpcs", "", "requests of every kind"},
     PART_CELL(nfs_rpc, all_rpcs)},
    {{"nfs_rpcs_per_op", "", "nfs_all_rpcs per op of the lanes"},
     PART_CELL(nfs_rpc, rpcs_per_op)},
    {{"nfs_read_bytes_per_rpc", "bytes", "payload of a READ"},
     PART_CELL(nfs_rpc, read_bytes_per_rpc)},
    {{"nfs_write_bytes_per_rpc", "bytes", "payload of a WRITE"},
     PART_CELL(nfs_rpc, write_bytes_per_rpc)},
    {{"nfs_commits_per_write", "", "COMMIT requests per WRITE"},
     PART_CELL(nfs_rpc, commits_per_write)},
    {{"nfs_in_flight", "", "mean number of requests in flight when one is sent"},
     PART_CELL(nfs_rpc, in_flight)},
    {{"nfs_backlog", "", "mean number of requests that waited for a slot then"},
     PART_CELL(nfs_rpc, backlog)},
    {{"nfs_errors", "", "requests that failed; empty: not known"},
     OPTIONAL_CELL(nfs_rpc, errors)},
    {{"nfs_delays", "", "replies that asked to try again later"},
     OPTIONAL_CELL(nfs_rpc, delays)},
    {{"nfs_reconnects", "", "new connections"},
     OPTIONAL_CELL(nfs_rpc, reconnects)},
    {{"read_server_bytes", "bytes", "read from NFS servers; empty: the phase read no files"},
     PART_CELL(read_sources, server_bytes)},
    {{"read_disk_bytes", "bytes", "read from disks"},
     PART_CELL(read_sources, disk_bytes)},
    {{"read_cache_bytes", "bytes", "read from the clients' own memory"},
     PART_CELL(read_sources, cache_bytes)},
    {{"read_unknown_bytes", "bytes", "read, and no counter shows from where"},
     PART_CELL(read_sources, unknown_bytes)},
    {{"read_server_memory_bytes", "bytes", "of these servers: from memory, by samplers; empty: not known"},
     OPTIONAL_CELL(read_sources, server_memory_bytes)},
    {{"read_server_disk_bytes", "bytes", "likewise, from their disks"},
     OPTIONAL_CELL(read_sources, server_disk_bytes)},
    {{"read_hole_bytes", "bytes", "holes, and extents that are only allocated; empty: not known"},
     PART_CELL(read_sources, hole_bytes)},
    {{"files_to_memory", "", "size of a client's files / its memory, the smallest of the clients"},
     PART_CELL(read_sources, files_to_memory)},
    {{"written_bytes", "bytes", "buffered writes; empty: none, or not known how much arrived"},
    
     CELL(row.phase.has_written_bytes() ? Number(row.phase.written_bytes()) : std::string())},
    {{"reached_bytes", "bytes", "of these, what arrived at the server or device"},
    
     CELL(row.phase.has_reached_bytes() ? Number(row.phase.reached_bytes()) : std::string())},
    {{"first_pass_bytes_per_s", "bytes/s", "of the first pass; empty: there is none"},
     PART_CELL(first_pass, bytes_per_s)},
    {{"first_pass_s", "s", "its window"},
     PART_CELL(first_pass, seconds)},
    {{"overwritten_percent", "%", "share of the headline's bytes that overwrote an earlier pass"},
     PART_CELL(first_pass, overwritten_percent)},
};

// The last columns of both.
constexpr Column kLastColumns[] = {
    {{"label", "", "the text of --label"},
     CELL(CsvText(row.report.run().label()))},
    {{"target", "", "with --each-path, the phase's path; in result.csv, of a phase on several paths, the lane's"},
     CELL(CsvText(row.lane != nullptr && !row.lane->path().empty() ? row.lane->path() : row.phase.target()))},
};

// Columns of phases.csv that are newer than those.
constexpr Column kNewerPhaseColumns[] = {
    {{"service_p50_us", "us", "with a rate: the time that the ops took from their begin, median"},
     OPEN_LOOP_CELL(service_us, p50)},
    {{"service_p99_us", "us", "99th percentile"},
     OPEN_LOOP_CELL(service_us, p99)},
    {{"service_max_us", "us", "max"},
     OPEN_LOOP_CELL(service_us, max)},
    {{"lag_p50_us", "us", "with a rate: how long after they were due the ops began, median"},
     OPEN_LOOP_CELL(lag_us, p50)},
    {{"lag_p99_us", "us", "99th percentile"},
     OPEN_LOOP_CELL(lag_us, p99)},
    {{"lag_max_us", "us", "max"},
     OPEN_LOOP_CELL(lag_us, max)},
    {{"not_whole", "", "why the phase is not whole, or is missing"},
     CELL(CsvText(row.phase.not_whole()))},
    {{"score", "", "of a suite that has one, in the row of the last phase that it needs"},
     CELL(EndsScore(row) ? Number(row.report.score().value()) : std::string())},
    {{"score_valid", "", "1: it is valid, 0: it is not"},
     CELL(EndsScore(row) ? Number(uint64_t{row.report.score().valid()}) : std::string())},
    {{"paths", "", "of a phase on several paths at once: these, with ; between them"},
     CELL(PathsOf(row))},
    {{"paths_bytes_per_s", "bytes/s", "what the lanes on each of them did, in the same order"},
     CELL(OfData(row, OfPaths(row, &v1::PartReport::bytes_per_s)))},
    {{"paths_ops_per_s", "ops/s", "the same"},
     CELL(OfPaths(row, &v1::PartReport::ops_per_s))},
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

std::vector<CsvColumn> Described(const Columns& columns) {
  std::vector<CsvColumn> described;
  for (const Column* column : columns) described.push_back(column->about);
  return described;
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
  out << CsvTitles(LanesCsvColumns());
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
  out << CsvTitles(PhasesCsvColumns());
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
    if (column->about.name == "run_id") out << CsvText(report.run().id());
    if (column->about.name == "phase_index") out << missing.index();
    if (column->about.name == "repetition") out << missing.repetition();
    if (column->about.name == "phase") out << CsvText(missing.name());
    if (column->about.name == "state") out << "missing";
    if (column->about.name == "not_whole") out << CsvText(missing.problem());
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

std::vector<CsvColumn> LanesCsvColumns() {
  return Described(LaneColumns());
}

std::vector<CsvColumn> PhasesCsvColumns() {
  return Described(PhaseColumns());
}

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
