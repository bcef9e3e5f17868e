// Tables that each phase adds to.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/op.h"
#include "common/text/units.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/report/tables/fill_tables.h"
#include "coordinator/report/text/console_words.h"

namespace iobench {
namespace {

using Unit = TableUnit;

constexpr size_t kMaxSubjects = 10;

Table TableOfPhase(const v1::RunReport& report, const v1::PhaseReport& phase, std::vector<TableColumn> columns) {
  return {.columns = std::move(columns),
          .parts = {{.name = PhaseTitle(report, phase), .rows = {}}},
          .parts_are = "phase",
          .joined = true};
}

// Of a number that is 0 where there is none.
TableCell UnlessZero(uint64_t value) {
  return CellIf(value > 0, value);
}

TableCell RecordCell(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (const std::vector<RecordShare> shares = RecordSharesOf(report, phase); !shares.empty())
    return RecordShareText(shares);
  return UnlessZero(phase.metadata() ? 0 : phase.record_bytes());
}

std::string SubjectsText(const std::vector<std::string>& subjects) {
  std::string text = absl::StrJoin(subjects.begin(), subjects.begin() + std::min(subjects.size(), kMaxSubjects), ", ");
  if (subjects.size() > kMaxSubjects) absl::StrAppend(&text, " and ", subjects.size() - kMaxSubjects, " more");
  return text;
}

}  // namespace

Table FiguresTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Latency& latency = phase.latency_us();
  const v1::Headline& headline = phase.headline();
  const bool in_ops = phase.headline_in_ops();
  Table table = TableOfPhase(
      report, phase,
      {{.id = "index", .title = "index", .unit = Unit::kCount, .readers = Readers::kMachines},
       {.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
       ColumnOf("throughput", "throughput", Unit::kRate), LeftColumn("window", "window"), LeftColumn("region", "region"),
       ColumnOf("ops_per_s", "ops/s", Unit::kOpsPerSecond), ColumnOf("record_bytes", "record", Unit::kBytes),
       ColumnOf("bytes_per_lane", "per lane", Unit::kBytes), ColumnOf("lanes", "lanes", Unit::kCount),
       ColumnOf("bytes", "moved", Unit::kBytes), ColumnOf("duration_s", "duration", Unit::kSeconds),
       ColumnOf("p50_us", "p50", Unit::kMicroseconds), ColumnOf("p95_us", "p95", Unit::kMicroseconds),
       ColumnOf("p99_us", "p99", Unit::kMicroseconds), ColumnOf("max_us", "max", Unit::kMicroseconds),
       ColumnOf("jain", "Jain", Unit::kNumber), LeftColumn("limited_by", "limited by"), LeftColumn("marks", "marks"),
       {.id = "operation", .title = "operation", .readers = Readers::kMachines},
       {.id = "clients", .title = "clients", .unit = Unit::kCount, .readers = Readers::kMachines},
       {.id = "mean_us", .title = "mean", .unit = Unit::kMicroseconds, .readers = Readers::kMachines},
       {.id = "started_at", .title = "started", .unit = Unit::kTime, .readers = Readers::kMachines}});
  std::vector<std::string> codes;
  for (const GroupedMark& mark : MarksOf(phase)) {
    if (std::find(codes.begin(), codes.end(), mark.code) == codes.end()) codes.push_back(mark.code);
  }
  table.parts[0].rows.push_back(
      {phase.index(), RateUnit(in_ops),
       Rate(in_ops ? headline.ops_per_s() : headline.bytes_per_s(), in_ops).Strong(), headline.name(),
       headline.region(), headline.ops_per_s(), RecordCell(report, phase),
       UnlessZero(phase.metadata() ? 0 : FileBytesPerLane(phase)), phase.lane_count(), UnlessZero(phase.bytes()),
       phase.duration_s(), Percentile(latency, "p50", latency.p50()), Percentile(latency, "p95", latency.p95()),
       Percentile(latency, "p99", latency.p99()),
       latency.count() == 0 ? std::nan("") : latency.max(),
       in_ops ? phase.lanes_ops_per_s().jain() : phase.lanes_bytes_per_s().jain(), phase.limited_by(),
       absl::StrJoin(codes, " "), phase.operation(), phase.clients_size(),
       latency.count() == 0 ? std::nan("") : latency.mean(), phase.started_at()});
  return table;
}

// Phases that loop over new files overwrite them.
Table FirstPassTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (!phase.has_first_pass()) return {};
  const v1::FirstPassReport& pass = phase.first_pass();
  const bool in_ops = phase.headline_in_ops();
  Table table = TableOfPhase(report, phase,
                             {{.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
                              ColumnOf("first_pass", "first pass", Unit::kRate), ColumnOf("seconds", "window", Unit::kSeconds),
                              LeftColumn("kind", "kind"),
                              ColumnOf("overwritten_percent", "of the headline, overwriting", Unit::kPercent)});
  table.parts[0].rows.push_back({RateUnit(in_ops), Rate(in_ops ? pass.ops_per_s() : pass.bytes_per_s(), in_ops),
                                 pass.seconds(), pass.kind(), pass.overwritten_percent()});
  return table;
}

Table RateChangesTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.changes().empty()) return {};
  const bool in_ops = phase.headline_in_ops();
  Table table = TableOfPhase(
      report, phase,
      {{.id = "unit", .title = "unit", .unit = Unit::kRateUnit, .readers = Readers::kMachines},
       ColumnOf("at_s", "at", Unit::kSeconds), ColumnOf("low_s", "earliest", Unit::kSeconds),
       ColumnOf("high_s", "latest", Unit::kSeconds), ColumnOf("bytes_until", "moved by then", Unit::kBytes),
       ColumnOf("ops_until", "ops by then", Unit::kCount), ColumnOf("before", "before", Unit::kRate),
       ColumnOf("after", "after", Unit::kRate), LeftColumn("cause", "cause")});
  for (const v1::RateChange& change : phase.changes()) {
    table.parts[0].rows.push_back({RateUnit(in_ops), change.at_s(), change.low_s(), change.high_s(),
                                   UnlessZero(change.bytes_until()), change.ops_until(),
                                   Rate(change.before_per_s(), in_ops), Rate(change.after_per_s(), in_ops).Strong(),
                                   change.cause().empty() ? "unknown" : change.cause()});
  }
  return table;
}

Table PartsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.parts().empty()) return {};
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("part", "part"), ColumnOf("workers", "workers", Unit::kCount),
       {.id = "asked_ops_per_s", .title = "asked ops/s", .console_title = "asked",
        .unit = Unit::kOpsPerSecond, .if_room = true},
       ColumnOf("ops_per_s", "ops/s", Unit::kOpsPerSecond), ColumnOf("bytes_per_s", "bytes/s", Unit::kBytesPerSecond),
       ColumnOf("p50_us", phase.has_open_loop() ? "response p50" : "p50", Unit::kMicroseconds),
       ColumnOf("p99_us", "p99", Unit::kMicroseconds)});
  for (const v1::PartReport& part : phase.parts()) {
    const v1::Latency& latency = part.latency_us();
    table.parts[0].rows.push_back({part.name(), part.worker_count(),
                                   CellIf(part.has_open_loop(), part.open_loop().asked_ops_per_s()), part.ops_per_s(),
                                   CellIf(part.bytes() > 0, part.bytes_per_s()),
                                   Percentile(latency, "p50", latency.p50()),
                                   Percentile(latency, "p99", latency.p99())});
  }
  return table;
}

Table OpenLoopTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (!phase.has_open_loop()) return {};
  const v1::OpenLoopReport& loop = phase.open_loop();
  Table table = TableOfPhase(
      report, phase,
      {ColumnOf("asked_ops_per_s", "asked ops/s", Unit::kOpsPerSecond), ColumnOf("done_percent", "done", Unit::kPercent),
       ColumnOf("response_p50_us", "response p50", Unit::kMicroseconds),
       ColumnOf("response_p99_us", "p99", Unit::kMicroseconds),
       ColumnOf("service_p50_us", "service p50", Unit::kMicroseconds), ColumnOf("service_p99_us", "p99", Unit::kMicroseconds),
       ColumnOf("lag_p50_us", "lag p50", Unit::kMicroseconds), ColumnOf("lag_p99_us", "p99", Unit::kMicroseconds)});
  TableRow& row = table.parts[0].rows.emplace_back(TableRow{loop.asked_ops_per_s(), loop.done_percent()});
  for (const v1::Latency* const times : {&loop.response_us(), &loop.service_us(), &loop.lag_us()}) {
    row.push_back(Percentile(*times, "p50", times->p50()));
    row.push_back(Percentile(*times, "p99", times->p99()));
  }
  return table;
}

Table PathsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.paths().empty()) return {};
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("path", "path"), {.id = "workers", .title = "workers", .unit = Unit::kCount, .readers = Readers::kNotConsole},
       ColumnOf("lanes", "lanes", Unit::kCount), ColumnOf("ops_per_s", "ops/s", Unit::kOpsPerSecond),
       ColumnOf("bytes_per_s", "bytes/s", Unit::kBytesPerSecond), ColumnOf("p50_us", "p50", Unit::kMicroseconds),
       ColumnOf("p99_us", "p99", Unit::kMicroseconds)});
  for (const auto& path : phase.paths()) {
    const v1::Latency& latency = path.latency_us();
    table.parts[0].rows.push_back({path.path(), path.worker_count(), path.lane_count(), path.ops_per_s(),
                                   CellIf(path.bytes() > 0, path.bytes_per_s()),
                                   Percentile(latency, "p50", latency.p50()),
                                   Percentile(latency, "p99", latency.p99())});
  }
  return table;
}

Table StorageTargetsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.storage_targets().empty()) return {};
  Table table = TableOfPhase(
      report, phase,
      {{.id = "target", .title = "storage target", .left = true, .cut_middle = true},
       ColumnOf("lanes", "lanes", Unit::kCount),
       {.id = "only_lanes", .title = "lanes on it alone", .unit = Unit::kCount, .readers = Readers::kNotConsole},
       {.id = "ops_per_s", .title = "ops/s per lane", .console_title = "lane ops/s", .unit = Unit::kOpsPerSecond, .if_room = true},
       {.id = "bytes_per_s", .title = "bytes/s per lane", .console_title = "lane bytes/s", .unit = Unit::kBytesPerSecond},
       {.id = "share_of_median", .title = "of median", .unit = Unit::kShare, .whole = true},
       ColumnOf("p50_us", "p50", Unit::kMicroseconds), ColumnOf("p99_us", "p99", Unit::kMicroseconds),
       LeftColumn("slow", "slow")});
  table.slowest_by = 5;
  for (const v1::StorageTargetReport& target : phase.storage_targets()) {
    const v1::Latency& latency = target.latency_us();
    table.parts[0].rows.push_back({target.name(), target.lanes(), target.only_lanes(), target.ops_per_s(),
                                   CellIf(!phase.metadata(), target.bytes_per_s()),
                                   TableCell(target.share_of_median()).Strong(target.slow()),
                                   Percentile(latency, "p50", latency.p50()), Percentile(latency, "p99", latency.p99()),
                                   CellIf(target.slow(), "slow")});
  }
  return table;
}

Table MpiIoTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (!phase.has_mpi_io()) return {};
  const v1::MpiIoFacts& facts = phase.mpi_io();
  Table table = TableOfPhase(report, phase,
                             {LeftColumn("library", "library"), LeftColumn("use", "use"),
                              LeftColumn("aggregator_workers", "aggregators"), LeftColumn("hints", "hints")});
  table.parts[0].rows.push_back({facts.library(), MpiIoText(facts), absl::StrJoin(facts.aggregator_workers(), " "),
                                 absl::StrJoin(facts.hints(), " ")});
  return table;
}

Table ServersTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.servers().empty()) return {};
  const auto rate = [](const char* id, const char* title) { return ColumnOf(id, title, Unit::kBytesPerSecond); };
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("server", "server"), ColumnOf("cpu_busy", "CPU", Unit::kShare), LeftColumn("disk", "disk"),
       ColumnOf("disk_busy", "busy", Unit::kShare), rate("disk_read_bytes_per_s", "read"),
       rate("disk_write_bytes_per_s", "written"), LeftColumn("network", "network"), rate("receive_bytes_per_s", "in"),
       rate("send_bytes_per_s", "out"),
       {.id = "nfsd_text", .title = "nfsd threads busy", .readers = Readers::kPeople},
       {.id = "nfsd_busy_threads", .title = "nfsd threads busy", .unit = Unit::kNumber, .readers = Readers::kMachines},
       {.id = "nfsd_threads", .title = "nfsd threads", .unit = Unit::kCount, .readers = Readers::kMachines},
       ColumnOf("rpcs_per_s", "RPCs/s", Unit::kNumber)});
  for (const v1::ServerReport& server : phase.servers()) {
    const bool has_disk = !server.disks().empty(), has_nic = !server.nics().empty();
    const v1::ServerDisk& disk = has_disk ? server.disks(0) : v1::ServerDisk::default_instance();
    const v1::ServerNic& nic = has_nic ? server.nics(0) : v1::ServerNic::default_instance();
    const v1::ServerNfsd& nfsd = server.nfsd();
    const bool has_threads = nfsd.has_busy_threads();
    table.parts[0].rows.push_back(
        {server.host(), server.has_cpu_busy() ? TableCell(server.cpu_busy()) : TableCell(server.problem()),
         disk.name(), CellIf(has_disk, disk.busy()), CellIf(has_disk, disk.read_bytes_per_s()),
         CellIf(has_disk, disk.write_bytes_per_s()), nic.name(), CellIf(has_nic, nic.receive_bytes_per_s()),
         CellIf(has_nic, nic.send_bytes_per_s()),
         CellIf(has_threads, absl::StrCat(FormatCount(nfsd.busy_threads()), " of ", nfsd.threads())),
         CellIf(has_threads, nfsd.busy_threads()), CellIf(server.has_nfsd(), nfsd.threads()),
         CellIf(server.has_nfsd(), nfsd.rpcs_per_s())});
  }
  return table;
}

Table ReadsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (!phase.has_read_sources()) return {};
  const v1::ReadSources& sources = phase.read_sources();
  Table table = TableOfPhase(report, phase,
                             {ColumnOf("asked_bytes", "read", Unit::kBytes),
                              {.id = "sources", .title = "from", .left = true, .readers = Readers::kPeople}});
  TableRow& row = table.parts[0].rows.emplace_back(TableRow{sources.asked_bytes(), ReadPartsText(sources)});
  const auto add = [&](const char* id, const char* title, bool is_known, uint64_t bytes) {
    table.columns.push_back({.id = id, .title = title, .unit = Unit::kBytes, .readers = Readers::kMachines});
    row.push_back(CellIf(is_known, bytes));
  };
  add("server_bytes", "server", true, sources.server_bytes());
  add("server_memory_bytes", "servers' memory", sources.has_server_memory_bytes(), sources.server_memory_bytes());
  add("server_disk_bytes", "servers' disks", sources.has_server_disk_bytes(), sources.server_disk_bytes());
  add("disk_bytes", "disk", true, sources.disk_bytes());
  add("cache_bytes", "clients' memory", true, sources.cache_bytes());
  add("hole_bytes", "holes", true, sources.hole_bytes());
  add("unknown_bytes", "not known", true, sources.unknown_bytes());
  return table;
}

Table FlushCallsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("call", "call"), LeftColumn("client", "client"), ColumnOf("calls", "calls", Unit::kCount),
       ColumnOf("mean_us", "mean", Unit::kMicroseconds), ColumnOf("p50_us", "p50", Unit::kMicroseconds),
       ColumnOf("p90_us", "p90", Unit::kMicroseconds), ColumnOf("p95_us", "p95", Unit::kMicroseconds),
       ColumnOf("p99_us", "p99", Unit::kMicroseconds), ColumnOf("p99_9_us", "p99.9", Unit::kMicroseconds),
       ColumnOf("p99_99_us", "p99.99", Unit::kMicroseconds), ColumnOf("max_us", "max", Unit::kMicroseconds),
       ColumnOf("queue_us", "queue", Unit::kMicroseconds), ColumnOf("round_trip_us", "round trip", Unit::kMicroseconds)});
  const auto add = [&table](const std::string& call, const std::string& client, const v1::Latency& latency) {
    table.parts[0].rows.push_back(
        {call, client, latency.count(), latency.mean(), Percentile(latency, "p50", latency.p50()),
         Percentile(latency, "p90", latency.p90()), Percentile(latency, "p95", latency.p95()),
         Percentile(latency, "p99", latency.p99()), Percentile(latency, "p99_9", latency.p99_9()),
         Percentile(latency, "p99_99", latency.p99_99()), latency.max(), {}, {}});
  };
  const auto add_commits = [&table](const std::string& client, const v1::NfsRpcReport& rpc) {
    const v1::NfsKindReport* const commits = CommitsIn(rpc);
    if (commits == nullptr) return;
    TableRow row(table.columns.size());
    row[0] = kKernelCommit;
    row[1] = client;
    row[2] = commits->rpcs();
    row[3] = commits->execute_ms() * 1e3;
    row[row.size() - 2] = commits->queue_ms() * 1e3;
    row[row.size() - 1] = commits->round_trip_ms() * 1e3;
    table.parts[0].rows.push_back(std::move(row));
  };
  for (int i = 0; i < kOpKindCount; ++i) {
    const auto call = static_cast<OpKind>(i);
    const auto found = phase.by_kind().find(NameOf(call));
    if (!kFlushCalls.Has(call) || found == phase.by_kind().end()) continue;
    add(found->first, "all", found->second.latency_us());
    for (const v1::ClientPhaseReport& client : phase.clients()) {
      const auto of_client = client.call_latency_us().find(found->first);
      if (phase.clients_size() > 1 && of_client != client.call_latency_us().end())
        add(found->first, client.host(), of_client->second);
    }
  }
  if (table.parts[0].rows.empty()) return {};
  add_commits("all", phase.nfs_rpc());
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (phase.clients_size() > 1) add_commits(client.host(), client.nfs_rpc());
  }
  return table;
}

Table NfsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.nfs_rpc().kinds().empty()) return {};
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("request", "request"), ColumnOf("rpcs", "count", Unit::kCount),
       ColumnOf("rpcs_per_op", "per op", Unit::kNumber),
       ColumnOf("queue_ms", "queue", Unit::kMilliseconds), ColumnOf("round_trip_ms", "round trip", Unit::kMilliseconds),
       ColumnOf("execute_ms", "execute", Unit::kMilliseconds), ColumnOf("own_op_us", "our op, mean", Unit::kMicroseconds),
       ColumnOf("retransmissions", "sent again", Unit::kCount), ColumnOf("major_timeouts", "timeouts", Unit::kCount),
       ColumnOf("errors", "errors", Unit::kCount)});
  std::vector<std::pair<std::string, const v1::NfsKindReport*>> kinds;
  for (const auto& [name, kind] : phase.nfs_rpc().kinds()) kinds.emplace_back(name, &kind);
  std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second->rpcs() != b.second->rpcs() ? a.second->rpcs() > b.second->rpcs() : a.first < b.first;
  });
  for (const auto& [name, kind] : kinds) {
    const auto own = phase.by_kind().find(name == "READ" ? "read" : name == "WRITE" ? "write" : "");
    table.parts[0].rows.push_back(
        {name, kind->rpcs(), kind->rpcs_per_op(), kind->queue_ms(), kind->round_trip_ms(), kind->execute_ms(),
         CellIf(own != phase.by_kind().end(), own != phase.by_kind().end() ? own->second.latency_us().mean() : 0),
         kind->retransmissions(), kind->major_timeouts(), CellIf(kind->has_errors(), kind->errors())});
  }
  return table;
}

Table TransportTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (std::none_of(phase.clients().begin(), phase.clients().end(),
                   [](const v1::ClientPhaseReport& client) { return client.has_transport(); })) {
    return {};
  }
  Table table = TableOfPhase(
      report, phase,
      {LeftColumn("client", "client"), LeftColumn("of", "of"), ColumnOf("sent_segments", "segments", Unit::kCount),
       ColumnOf("retransmitted_segments", "sent again", Unit::kCount),
       ColumnOf("retransmitted_share", "share", Unit::kShare), ColumnOf("interface_errors", "errors", Unit::kCount),
       ColumnOf("interface_drops", "drops", Unit::kCount), ColumnOf("smallest_path_mtu_bytes", "path MTU", Unit::kCount),
       ColumnOf("round_trip_ms", "round trip", Unit::kMilliseconds)});
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    if (!client.has_transport()) continue;
    const v1::TransportReport& transport = client.transport();
    table.parts[0].rows.push_back(
        {client.host(), transport.of_servers() ? "servers" : "whole client", transport.sent_segments(),
         transport.retransmitted_segments(), transport.retransmitted_share(),
         CellIf(transport.has_interface_errors(), transport.interface_errors()),
         CellIf(transport.has_interface_drops(), transport.interface_drops()),
         CellIf(transport.has_smallest_path_mtu(), transport.smallest_path_mtu()),
         CellIf(transport.has_round_trip_ms(), transport.round_trip_ms())});
  }
  return table;
}

Table MarksTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  Table table = TableOfPhase(report, phase, {LeftColumn("mark", "mark"), LeftColumn("on", "on"),
                                             LeftColumn("text", "what was seen, and what to do")});
  for (const GroupedMark& mark : MarksOf(phase)) {
    table.parts[0].rows.push_back({TableCell(mark.code).Strong(),
                                   mark.subjects.empty() ? "the phase" : SubjectsText(mark.subjects), mark.text});
  }
  return table.parts[0].rows.empty() ? Table() : table;
}

Table ErrorsTable(const v1::RunReport& report, const v1::PhaseReport& phase) {
  if (phase.errors().empty()) return {};
  Table table = TableOfPhase(report, phase, {LeftColumn("client", "client"), LeftColumn("where", "where"),
                                             LeftColumn("operation", "operation"), LeftColumn("file", "file"),
                                             LeftColumn("message", "message")});
  for (const v1::ErrorReport& error : phase.errors()) {
    table.parts[0].rows.push_back({error.client(), LaneName("", error.worker(), error.lane()), error.operation(),
                                   error.file(), error.message()});
  }
  return table;
}

}  // namespace iobench
