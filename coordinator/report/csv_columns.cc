// `--help csv` lists the columns. Names are stable; new columns are added at the end.
#include "coordinator/report/csv_columns.h"

#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

using Of = CsvFigure::Of;

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

// The percentiles with fewer than 100 ops beyond them: "p99.9 p99.99".
std::string Unsure(const v1::Latency& latency) {
  return absl::StrJoin(latency.unsure(), " ");
}

uint32_t LaneCount(const v1::ClientPhaseReport& client) {
  int lanes = 0;
  for (const v1::WorkerPhaseReport& worker : client.workers()) lanes += worker.lanes_size();
  return static_cast<uint32_t>(lanes);
}

// "write EIO 3;read short 1"
std::string FailedOpsOf(const v1::ClientPhaseReport& client) {
  std::string text;
  for (const v1::FailedOps& ops : client.failed_ops())
    absl::StrAppend(&text, text.empty() ? "" : ";", ops.operation(), " ", ops.error(), " ", ops.count());
  return CsvText(text);
}

std::string State(const CsvRow& row) {
  if (row.worker->lost()) return "lost";
  if (row.lane == nullptr) return "";
  if (row.lane->failed()) return "failed";
  if (row.lane->sat_out()) return "sat_out";
  return row.lane->stopped() ? "stopped" : "done";
}

std::string OperationDone(const CsvRow& row) {
  const bool has_own = row.lane != nullptr && !row.lane->operation().empty();
  return CsvText(has_own ? row.lane->operation() : row.phase.operation());
}

std::string TargetOf(const CsvRow& row) {
  const bool has_own = row.lane != nullptr && !row.lane->path().empty();
  return CsvText(has_own ? row.lane->path() : row.phase.target());
}

// The score of a suite is in the row of the last phase that it needs: a file that grows has no other place for it.
bool EndsScore(const CsvRow& row) {
  if (!row.report.has_score() || row.phase.repetition() > 0) return false;
  const v1::Plan& plan = row.report.run().plan();
  int last = plan.phases_size() - 1;
  while (last >= 0 && plan.phases(last).score() == v1::SCORE_NONE) --last;
  return row.phase.index() == static_cast<uint32_t>(last);
}

// A figure of each path of a phase on several, in the order of `paths`.
std::string OfPaths(const CsvRow& row, double (v1::PartReport::*figure)() const) {
  std::string text;
  for (const v1::PartReport& path : row.phase.paths())
    absl::StrAppend(&text, text.empty() ? "" : ";", Number((path.*figure)()));
  return text;
}

std::string PathsOf(const CsvRow& row) {
  std::string text;
  for (const v1::PartReport& path : row.phase.paths())
    absl::StrAppend(&text, text.empty() ? "" : ";", path.path());
  return CsvText(text);
}

// Metadata operations have no data rate, unless they write files.
std::string OfData(const CsvRow& row, std::string cell) {
  if (row.phase.metadata() && row.phase.bytes() == 0) return "";
  return cell;
}

constexpr CsvColumn::Holds kTexts = CsvColumn::Holds::kTexts;

// A cell of the lane, empty if the row has none.
#define LANE_CELL(expression) \
  Of::kLane, [](const CsvRow& row) { return row.lane == nullptr ? std::string() : expression; }
// A latency of the row's client, empty if none was measured.
#define CLIENT_LATENCY(field)                                              \
  Of::kLane, [](const CsvRow& row) {                                       \
    const v1::Latency& latency = row.client->latency_us();                 \
    return latency.count() == 0 ? std::string() : Number(latency.field()); \
  }
// A cell of the row's client or worker.
#define OWNER_CELL(expression) Of::kLane, [](const CsvRow& row) { return expression; }
#define CELL(expression) Of::kPhase, [](const CsvRow& row) { return expression; }
// A figure of an optional part of the phase: empty if unknown, never 0.
#define PART_CELL(part, field)                                                        \
  Of::kPhase, [](const CsvRow& row) {                                                 \
    return row.phase.has_##part() ? Number(row.phase.part().field()) : std::string(); \
  }
// A count of such a part, which may itself be unknown.
#define OPTIONAL_CELL(part, field)                                              \
  Of::kPhase, [](const CsvRow& row) {                                           \
    const auto& part = row.phase.part();                                        \
    return part.has_##field() ? Number(uint64_t{part.field()}) : std::string(); \
  }
// A figure of the ops that had a rate: empty in a closed loop.
#define OPEN_LOOP_CELL(part, field)                                                                  \
  Of::kPhase, [](const CsvRow& row) {                                                                \
    return row.phase.has_open_loop() ? Number(row.phase.open_loop().part().field()) : std::string(); \
  }
// The same for data rates.
#define DATA_CELL(part, field)                                                                     \
  Of::kPhase, [](const CsvRow& row) {                                                              \
    return OfData(row, row.phase.has_##part() ? Number(row.phase.part().field()) : std::string()); \
  }

constexpr CsvFigure kColumns[] = {
    {{"run_id", "", "id of the run; the same on every row", kTexts}, CELL(CsvText(row.report.run().id()))},
    {{"started_at", "", "when the phase began, ISO 8601 in UTC", kTexts},
     CELL(CsvText(row.phase.started_at()))},
    {{"phase_index", "", "index of the phase within the run, from 0"},
     CELL(Number(uint64_t{row.phase.index()}))},
    {{"repetition", "", "repetition of the list of phases, from 0"},
     CELL(Number(uint64_t{row.phase.repetition()}))},
    {{"phase", "", "its name; the operation's unless the plan gives another", kTexts},
     CELL(CsvText(row.phase.name()))},
    {{"operation", "", "what the lane did", kTexts}, Of::kBoth, OperationDone},
    {{"engine", "", "posix, stdio, mmap, uring, posix-aio, null ...", kTexts},
     CELL(CsvText(row.phase.engine()))},
    {{"record_bytes", "bytes", "record size, the largest of several; an op of a vector (pwritev, preadv) has up to 16"},
     CELL(Number(row.phase.record_bytes()))},
    {{"client", "", "the client, by its host name", kTexts}, OWNER_CELL(CsvText(row.client->host()))},
    {{"worker", "", "number of the worker within the run"},
     OWNER_CELL(Number(uint64_t{row.worker->worker()}))},
    {{"lane", "", "number of the lane within the run; empty: not known, of a lost worker"},
     LANE_CELL(Number(uint64_t{row.lane->lane()}))},
    {{"file_owner", "", "the lane whose files were used (--rotate-clients: another)"},
     LANE_CELL(Number(uint64_t{row.lane->file_owner()}))},
    {{"file", "", "the lane's first file", kTexts}, LANE_CELL(CsvText(row.lane->file()))},
    {{"state", "", "done, stopped (told to stop at the stonewall), failed, sat_out, lost", kTexts},
     OWNER_CELL(State(row))},
    {{"bytes", "bytes", "all bytes that the lane moved, including an unmeasured tail"},
     LANE_CELL(Number(row.lane->bytes()))},
    {{"measured_bytes", "bytes", "those that the headline counts"},
     LANE_CELL(Number(row.lane->measured_bytes()))},
    {{"ops", "", "ops that the lane did"}, LANE_CELL(Number(row.lane->ops()))},
    {{"bytes_per_s", "bytes/s", "rate of the lane over its own time"},
     LANE_CELL(OfData(row, Number(row.lane->bytes_per_s())))},
    {{"start_us", "us", "start of its first op, relative to the first op of all lanes"},
     LANE_CELL(Number(row.lane->start_us()))},
    {{"end_s", "s", "end of its timed region, on the same axis"}, LANE_CELL(Number(row.lane->end_s()))},
    {{"open_s", "s", "time the lane spent in open"}, LANE_CELL(Number(row.lane->regions_s().open()))},
    {{"ops_s", "s", "time in ops"}, LANE_CELL(Number(row.lane->regions_s().ops()))},
    {{"fsync_s", "s", "time in fsync"}, LANE_CELL(Number(row.lane->regions_s().fsync()))},
    {{"close_s", "s", "time in close"}, LANE_CELL(Number(row.lane->regions_s().close()))},
    {{"settle_s", "s", "time in settle, afterwards, untimed"},
     LANE_CELL(Number(row.lane->regions_s().settle()))},
    {{"p50_us", "us", "latency of its ops, median; with a rate, response times"},
     LANE_CELL(Number(row.lane->p50_us()))},
    {{"p99_us", "us", "99th percentile"}, LANE_CELL(Number(row.lane->p99_us()))},
    {{"max_us", "us", "max"}, LANE_CELL(Number(row.lane->max_us()))},
    {{"cpu_user_s", "s", "user CPU time of the lane's thread over its timed region"},
     LANE_CELL(Number(row.lane->cpu_user_s()))},
    {{"cpu_system_s", "s", "system CPU time, likewise"}, LANE_CELL(Number(row.lane->cpu_system_s()))},
    {{"client_bytes_per_s", "bytes/s", "rate of the lane's client over the headline's window"},
     OWNER_CELL(OfData(row, Number(row.client->bytes_per_s())))},
    {{"client_share_of_mean", "", "that rate as a share of the mean of all clients; 1 is the mean"},
     OWNER_CELL(Number(row.client->share_of_mean()))},
    {{"client_cpu_percent", "%", "CPU of the whole host; 100 is all processors"},
     OWNER_CELL(Number(row.client->cpu_percent()))},
    {{"client_clock_error_us", "us", "half the width of the interval that contains its clock offset"},
     OWNER_CELL(Number(row.client->clock_error_us()))},
    {{"client_marks", "", "codes of the client's marks, separated by spaces", kTexts},
     OWNER_CELL(Codes(row.client->marks()))},
    {{"headline_name", "", "stonewalled or full", kTexts}, CELL(CsvText(row.phase.headline().name()))},
    {{"headline_region", "", "the headline's timed region, for example ops+fsync+close", kTexts},
     CELL(CsvText(row.phase.headline().region()))},
    {{"headline_bytes_per_s", "bytes/s", "the headline"}, DATA_CELL(headline, bytes_per_s)},
    {{"headline_ops_per_s", "ops/s", "the same in ops"}, PART_CELL(headline, ops_per_s)},
    {{"phase_bytes", "bytes", "all bytes that the phase moved"}, CELL(Number(row.phase.bytes()))},
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
    {{"children_bytes_per_s", "bytes/s", "figure \"children\""}, DATA_CELL(throughput_bytes_per_s, children)},
    {{"parent_bytes_per_s", "bytes/s", "figure \"parent\""}, DATA_CELL(throughput_bytes_per_s, parent)},
    {{"stonewall_kind", "", "retroactive, flushed, closed, stop, none", kTexts},
     CELL(CsvText(row.phase.stonewall().kind()))},
    {{"stonewall_at_s", "s", "time of the stonewall after the first op"}, PART_CELL(stonewall, at_s)},
    {{"stonewall_bytes_low", "bytes", "lower bound of the bytes at the stonewall"},
     PART_CELL(stonewall, bytes_low)},
    {{"stonewall_bytes_high", "bytes", "upper bound"}, PART_CELL(stonewall, bytes_high)},
    {{"straggler_cost", "", "1 - full / stonewalled"}, CELL(Number(row.phase.straggler_cost()))},
    {{"skew_us", "us", "last lane's first op relative to the first lane's, estimate"},
     PART_CELL(start, skew_us)},
    {{"skew_low_us", "us", "lower bound"}, PART_CELL(start, skew_low_us)},
    {{"skew_high_us", "us", "upper bound"}, PART_CELL(start, skew_high_us)},
    {{"phase_p50_us", "us", "latency over all lanes, median; with a rate, response times"},
     PART_CELL(latency_us, p50)},
    {{"phase_p99_us", "us", "99th percentile"}, PART_CELL(latency_us, p99)},
    {{"phase_max_us", "us", "max"}, PART_CELL(latency_us, max)},
    {{"marks", "", "codes of the phase's marks, including those of its clients, separated by spaces", kTexts},
     CELL(Codes(row.phase.marks()))},
    {{"bytes_per_lane", "bytes", "size per lane in this phase (-s; sweeps change it from phase to phase; of files that grow, the mean over the lanes)"},
     CELL(row.phase.metadata() ? std::string() : Number(FileBytesPerLane(row.phase)))},
    {{"phase_lane_count", "", "lanes that took part in the phase"},
     CELL(Number(uint64_t{row.phase.lane_count()}))},
    {{"ops_per_s", "ops/s", "rate of the lane over its own time"}, LANE_CELL(Number(row.lane->ops_per_s()))},
    {{"client_ops_per_s", "ops/s", "the client's part of the headline"},
     OWNER_CELL(Number(row.client->ops_per_s()))},
    {{"phase_ops", "", "all ops of the phase, including an unmeasured tail"}, CELL(Number(row.phase.ops()))},
    {{"phase_measured_ops", "", "those that the headline counts"}, CELL(Number(row.phase.measured_ops()))},
    {{"full_ops_per_s", "ops/s", "all ops until the last lane ended"}, PART_CELL(throughput_ops_per_s, full)},
    {{"stonewalled_ops_per_s", "ops/s", "ops until the first lane ended"},
     PART_CELL(throughput_ops_per_s, stonewalled)},
    {{"metadata", "", "1: the phase ran metadata operations, and little or no data is moved"},
     CELL(Number(uint64_t{row.phase.metadata()}))},
    {{"items_per_lane", "", "items in the tree that a metadata phase worked on; of lock, turns"},
     PART_CELL(tree, items_per_lane)},
    {{"phase_between_s", "s", "time between ops, mean over lanes"}, CELL(Number(row.phase.between_s()))},
    {{"phase_pause_s", "s", "of that, pauses that the lanes' own rates (children) exclude"},
     CELL(Number(row.phase.pause_s()))},
    {{"phase_data_s", "s", "of that, generating and checking data"}, CELL(Number(row.phase.data_s()))},
    {{"verify_sectors", "", "sectors checked in the phase; empty: none"}, PART_CELL(verify, sectors)},
    {{"verify_mismatched", "", "of these, wrong sectors"}, PART_CELL(verify, mismatched)},
    {{"verify_undetermined", "", "of these, sectors for which two generations are possible"},
     PART_CELL(verify, undetermined)},
    {{"found_items", "", "find: items of the lane that matched; empty for other operations"},
     LANE_CELL(row.lane->has_found_items() ? Number(row.lane->found_items()) : std::string())},
    {{"phase_found_items", "", "the same over all lanes"},
     CELL(row.phase.has_found_items() ? Number(row.phase.found_items()) : std::string())},
};

// The columns of phases.csv after those that it shares with result.csv.
constexpr CsvFigure kPhaseColumns[] = {
    {{"clients", "", "hosts that took part"}, CELL(Number(uint64_t(row.phase.clients_size())))},
    {{"workers", "", "their workers, including lost ones"}, CELL(Number(uint64_t{WorkerCount(row.phase)}))},
    {{"lanes_failed", "", "lanes that failed; the figures exclude them"},
     CELL(Number(uint64_t{row.phase.lanes_failed()}))},
    {{"workers_lost", "", "workers that were lost; the figures exclude them"},
     CELL(Number(uint64_t{row.phase.workers_lost()}))},
    {{"interrupted", "", "1: the figures cover what was done until an interrupt"},
     CELL(Number(uint64_t{row.phase.interrupted()}))},
    {{"mean_open_s", "s", "time in open, mean over the lanes"}, PART_CELL(regions_s, open)},
    {{"mean_ops_s", "s", "time in ops"}, PART_CELL(regions_s, ops)},
    {{"mean_fsync_s", "s", "time in fsync"}, PART_CELL(regions_s, fsync)},
    {{"mean_close_s", "s", "time in close"}, PART_CELL(regions_s, close)},
    {{"mean_settle_s", "s", "time in settle, untimed"}, PART_CELL(regions_s, settle)},
    {{"lane_min_bytes_per_s", "bytes/s", "the slowest lane over its own time"},
     DATA_CELL(lanes_bytes_per_s, min)},
    {{"lane_max_bytes_per_s", "bytes/s", "the fastest"}, DATA_CELL(lanes_bytes_per_s, max)},
    {{"lane_min_ops_per_s", "ops/s", "the slowest lane over its own time"}, PART_CELL(lanes_ops_per_s, min)},
    {{"lane_max_ops_per_s", "ops/s", "the fastest"}, PART_CELL(lanes_ops_per_s, max)},
    {{"phase_p90_us", "us", "latency over all lanes, 90th percentile"}, PART_CELL(latency_us, p90)},
    {{"phase_p99_9_us", "us", "99.9th percentile"}, PART_CELL(latency_us, p99_9)},
    {{"nfs_rpcs", "", "READ, WRITE and COMMIT requests of all clients; empty: not on NFS, or not known"},
     PART_CELL(nfs_rpc, rpcs)},
    {{"nfs_queue_ms", "ms", "mean wait of a request in its client's queue"}, PART_CELL(nfs_rpc, queue_ms)},
    {{"nfs_round_trip_ms", "ms", "mean time from sending a request to its answer"},
     PART_CELL(nfs_rpc, round_trip_ms)},
    {{"nfs_retransmissions", "", "requests sent again"}, PART_CELL(nfs_rpc, retransmissions)},
    {{"nfs_all_rpcs", "", "requests of every kind"}, PART_CELL(nfs_rpc, all_rpcs)},
    {{"nfs_rpcs_per_op", "", "nfs_all_rpcs per op of the lanes"}, PART_CELL(nfs_rpc, rpcs_per_op)},
    {{"nfs_read_bytes_per_rpc", "bytes", "payload of a READ"}, PART_CELL(nfs_rpc, read_bytes_per_rpc)},
    {{"nfs_write_bytes_per_rpc", "bytes", "payload of a WRITE"}, PART_CELL(nfs_rpc, write_bytes_per_rpc)},
    {{"nfs_commits_per_write", "", "COMMIT requests per WRITE"}, PART_CELL(nfs_rpc, commits_per_write)},
    {{"nfs_in_flight", "", "mean number of requests in flight when one is sent"},
     PART_CELL(nfs_rpc, in_flight)},
    {{"nfs_backlog", "", "mean number of requests that waited for a slot then"}, PART_CELL(nfs_rpc, backlog)},
    {{"nfs_errors", "", "requests that failed; empty: not known"}, OPTIONAL_CELL(nfs_rpc, errors)},
    {{"nfs_delays", "", "replies that asked to try again later"}, OPTIONAL_CELL(nfs_rpc, delays)},
    {{"nfs_reconnects", "", "new connections"}, OPTIONAL_CELL(nfs_rpc, reconnects)},
    {{"read_server_bytes", "bytes", "read from NFS servers; empty: the phase read no files"},
     PART_CELL(read_sources, server_bytes)},
    {{"read_disk_bytes", "bytes", "read from disks"}, PART_CELL(read_sources, disk_bytes)},
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
    {{"first_pass_s", "s", "its window"}, PART_CELL(first_pass, seconds)},
    {{"overwritten_percent", "%", "share of the headline's bytes that overwrote an earlier pass"},
     PART_CELL(first_pass, overwritten_percent)},
};

// The last columns of both.
constexpr CsvFigure kLastColumns[] = {
    {{"label", "", "the text of --label", kTexts}, CELL(CsvText(row.report.run().label()))},
    {{"target", "",
      "with --each-path, the phase's path; in result.csv, of a phase on several paths, the lane's", kTexts},
     Of::kBoth,
     TargetOf},
};

// CsvFigures of phases.csv that are newer than those.
constexpr CsvFigure kNewerPhaseColumns[] = {
    {{"service_p50_us", "us", "with a rate: the time that the ops took from their begin, median"},
     OPEN_LOOP_CELL(service_us, p50)},
    {{"service_p99_us", "us", "99th percentile"}, OPEN_LOOP_CELL(service_us, p99)},
    {{"service_max_us", "us", "max"}, OPEN_LOOP_CELL(service_us, max)},
    {{"lag_p50_us", "us", "with a rate: how long after they were due the ops began, median"},
     OPEN_LOOP_CELL(lag_us, p50)},
    {{"lag_p99_us", "us", "99th percentile"}, OPEN_LOOP_CELL(lag_us, p99)},
    {{"lag_max_us", "us", "max"}, OPEN_LOOP_CELL(lag_us, max)},
    {{"not_whole", "", "why the phase is not whole, or is missing", kTexts},
     CELL(CsvText(row.phase.not_whole()))},
    {{"score", "", "of a suite that has one, in the row of the last phase that it needs"},
     CELL(EndsScore(row) ? Number(row.report.score().value()) : std::string())},
    {{"score_valid", "", "1: it is valid, 0: it is not"},
     CELL(EndsScore(row) ? Number(uint64_t{row.report.score().valid()}) : std::string())},
    {{"paths", "", "of a phase on several paths at once: these, with ; between them", kTexts},
     CELL(PathsOf(row))},
    {{"paths_bytes_per_s", "bytes/s", "what the lanes on each of them did, in the same order", kTexts},
     CELL(OfData(row, OfPaths(row, &v1::PartReport::bytes_per_s)))},
    {{"paths_ops_per_s", "ops/s", "the same", kTexts}, CELL(OfPaths(row, &v1::PartReport::ops_per_s))},
    {{"response_mean_us", "us", "with a rate: from when the ops were due to their end, mean"},
     OPEN_LOOP_CELL(response_us, mean)},
    {{"response_p50_us", "us", "median"}, OPEN_LOOP_CELL(response_us, p50)},
    {{"response_p99_us", "us", "99th percentile"}, OPEN_LOOP_CELL(response_us, p99)},
    {{"response_max_us", "us", "max"}, OPEN_LOOP_CELL(response_us, max)},
    {{"service_mean_us", "us", "with a rate: the time that the ops took from their begin, mean"},
     OPEN_LOOP_CELL(service_us, mean)},
    {{"lag_mean_us", "us", "with a rate: how long after they were due the ops began, mean"},
     OPEN_LOOP_CELL(lag_us, mean)},
};

// The newest columns of result.csv and phases.csv.
constexpr CsvFigure kNewestColumns[] = {
    {{"phase_mean_us", "us", "latency over all lanes, mean; with a rate, response times"},
     PART_CELL(latency_us, mean)},
    {{"phase_unsure", "", "percentiles of the phase with fewer than 100 ops beyond them, separated by spaces",
      kTexts},
     CELL(Unsure(row.phase.latency_us()))},
    {{"phase_p95_us", "us", "95th percentile of that latency"}, PART_CELL(latency_us, p95)},
};

// The columns of clients.csv after those that describe the phase.
constexpr CsvFigure kClientColumns[] = {
    {{"client", "", "the client, by its host name", kTexts}, OWNER_CELL(CsvText(row.client->host()))},
    {{"workers", "", "its workers, including lost ones"},
     OWNER_CELL(Number(uint64_t(row.client->workers_size())))},
    {{"lanes", "", "their lanes"}, OWNER_CELL(Number(uint64_t{LaneCount(*row.client)}))},
    {{"bytes_per_s", "bytes/s", "its part of the headline"},
     OWNER_CELL(OfData(row, Number(row.client->bytes_per_s())))},
    {{"ops_per_s", "ops/s", "the same in ops"}, OWNER_CELL(Number(row.client->ops_per_s()))},
    {{"share_of_mean", "", "its rate as a share of the mean of all clients; 1 is the mean"},
     OWNER_CELL(Number(row.client->share_of_mean()))},
    {{"bytes", "bytes", "all bytes that it moved, including an unmeasured tail"},
     OWNER_CELL(Number(row.client->bytes()))},
    {{"measured_bytes", "bytes", "those that the headline counts"},
     OWNER_CELL(Number(row.client->measured_bytes()))},
    {{"ops", "", "all ops that it did"}, OWNER_CELL(Number(row.client->ops()))},
    {{"measured_ops", "", "those that the headline counts"}, OWNER_CELL(Number(row.client->measured_ops()))},
    {{"mean_us", "us", "latency of its ops, mean; with a rate, response times"}, CLIENT_LATENCY(mean)},
    {{"p50_us", "us", "median"}, CLIENT_LATENCY(p50)},
    {{"p90_us", "us", "90th percentile"}, CLIENT_LATENCY(p90)},
    {{"p95_us", "us", "95th percentile"}, CLIENT_LATENCY(p95)},
    {{"p99_us", "us", "99th percentile"}, CLIENT_LATENCY(p99)},
    {{"p99_9_us", "us", "99.9th percentile"}, CLIENT_LATENCY(p99_9)},
    {{"max_us", "us", "max"}, CLIENT_LATENCY(max)},
    {{"unsure", "", "of these percentiles, those with fewer than 100 ops beyond them, separated by spaces",
      kTexts},
     OWNER_CELL(Unsure(row.client->latency_us()))},
    {{"marks", "", "codes of its marks, separated by spaces", kTexts},
     OWNER_CELL(Codes(row.client->marks()))},
    {{"ops_failed", "", "ops that failed: kind, error and number, with ; between them", kTexts},
     OWNER_CELL(FailedOpsOf(*row.client))},
    {{"wrong_sectors", "", "sectors that its lanes read and that were wrong"},
     OWNER_CELL(Number(row.client->wrong_sectors()))},
    {{"longest_pause_s", "s", "the longest time in which a lane completed no op; empty: no lane began"},
     OWNER_CELL(row.client->has_pauses() ? Number(row.client->pauses().longest_s()) : std::string())},
    {{"cpu_percent", "%", "CPU of the whole host; 100 is all processors"},
     OWNER_CELL(Number(row.client->cpu_percent()))},
    {{"own_cpu_percent", "%", "the part of the run's own processes"},
     OWNER_CELL(Number(row.client->own_cpu_percent()))},
    {{"clock_error_us", "us", "half the width of the interval that contains its clock offset"},
     OWNER_CELL(Number(row.client->clock_error_us()))},
    {{"not_whole", "", "why the phase is not whole, or is missing", kTexts},
     CELL(CsvText(row.phase.not_whole()))},
};

// How many of kColumns, the first ones, describe the phase.
constexpr size_t kDescribingColumns = 8;
static_assert(kColumns[kDescribingColumns].about.name == "client");

#undef CELL
#undef CLIENT_LATENCY
#undef OWNER_CELL
#undef PART_CELL
#undef OPTIONAL_CELL
#undef OPEN_LOOP_CELL
#undef DATA_CELL
#undef LANE_CELL

std::vector<CsvColumn> Described(const CsvFigures& columns) {
  std::vector<CsvColumn> described;
  for (const CsvFigure* column : columns) described.push_back(column->about);
  return described;
}

}  // namespace

CsvFigures LaneFigures() {
  CsvFigures columns;
  for (const CsvFigure& column : kColumns) columns.push_back(&column);
  for (const CsvFigure& column : kLastColumns) columns.push_back(&column);
  for (const CsvFigure& column : kNewestColumns) columns.push_back(&column);
  return columns;
}

CsvFigures ClientFigures() {
  CsvFigures columns;
  for (size_t i = 0; i < kDescribingColumns; ++i) columns.push_back(&kColumns[i]);
  for (const CsvFigure& column : kClientColumns) columns.push_back(&column);
  for (const CsvFigure& column : kLastColumns) columns.push_back(&column);
  return columns;
}

CsvFigures PhaseFigures() {
  CsvFigures columns;
  for (const CsvFigure& column : kColumns) {
    if (column.of != Of::kLane) columns.push_back(&column);
  }
  for (const CsvFigure& column : kPhaseColumns) columns.push_back(&column);
  for (const CsvFigure& column : kLastColumns) columns.push_back(&column);
  for (const CsvFigure& column : kNewerPhaseColumns) columns.push_back(&column);
  for (const CsvFigure& column : kNewestColumns) columns.push_back(&column);
  return columns;
}

std::vector<CsvColumn> LanesCsvColumns() {
  return Described(LaneFigures());
}

std::vector<CsvColumn> ClientsCsvColumns() {
  return Described(ClientFigures());
}

std::vector<CsvColumn> PhasesCsvColumns() {
  return Described(PhaseFigures());
}

}  // namespace iobench
