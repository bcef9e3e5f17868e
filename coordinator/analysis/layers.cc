#include "coordinator/analysis/layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_traits.h"
#include "common/not_a_number.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/marks/mark_table.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/spread.h"

namespace iobench {
namespace {

constexpr std::string_view kDisk = "disk", kNetwork = "network", kClients = "clients";

// As for the marks "cached" and "absorbed": with a smaller share, the bytes did not come from the disks, or reach them.
constexpr double kReadFromDisks = 0.95, kWrittenToDisks = 0.9;
// An interface that carried less of the phase's bytes is not the one that the traffic took.
constexpr double kCarried = 0.5;

v1::LayersReport* LayersOf(const std::string& phase, v1::RunReport& report) {
  for (v1::LayersReport& each : *report.mutable_layers()) {
    if (each.phase() == phase) return &each;
  }
  return nullptr;
}

v1::LayerRow& Row(std::string_view layer, v1::LayersReport& report) {
  for (v1::LayerRow& row : *report.mutable_rows()) {
    if (row.layer() == layer) return row;
  }
  v1::LayerRow& row = *report.add_rows();
  row.set_layer(std::string(layer));
  row.set_rate(kNaN);
  row.set_disk_bytes_per_s(kNaN);
  return row;
}

struct Directions {
  bool reads = false, writes = false;
};

Directions DirectionsOf(const v1::PhaseReport& phase) {
  const auto moves = [&](const char* kind) {
    const auto found = phase.by_kind().find(kind);
    return found != phase.by_kind().end() && found->second.bytes() > 0;
  };
  return {.reads = moves("read"), .writes = moves("write")};
}

// What all disks of all servers moved in the phase's directions, by the servers' own counters.
struct DiskTraffic {
  double bytes_per_s = 0, bytes = 0;
};

// NaN: a server was not sampled for the whole phase, or the phase moves no bytes.
DiskTraffic DiskTrafficOf(const v1::PhaseReport& phase) {
  const Directions directions = DirectionsOf(phase);
  DiskTraffic traffic;
  if (phase.servers().empty() || !(directions.reads || directions.writes)) return {kNaN, kNaN};
  for (const v1::ServerReport& server : phase.servers()) {
    if (!server.problem().empty() || server.sampled_s() <= 0) return {kNaN, kNaN};
    double rate = 0;
    for (const v1::ServerDisk& disk : server.disks()) {
      if (directions.reads) rate += disk.read_bytes_per_s();
      if (directions.writes) rate += disk.write_bytes_per_s();
    }
    traffic.bytes_per_s += rate;
    traffic.bytes += rate * server.sampled_s();
  }
  return traffic;
}

// What was moved while samplers looked. Lanes that end before they have written their whole files finish them
// afterwards, which no kind counts. Nor does any count the warm-up, whose rate is taken to be that of the rest.
double TimedBytes(const v1::PhaseReport& phase, double warmup_s) {
  if (!DirectionsOf(phase).writes) return static_cast<double>(phase.bytes());
  double bytes = 0;
  for (const auto& [name, kind] : phase.by_kind()) bytes += static_cast<double>(kind.bytes());
  const double ops_s = phase.regions_s().ops();
  return ops_s > warmup_s ? bytes * ops_s / (ops_s - warmup_s) : bytes;  // false for NaN
}

// Why the disks did not determine the phase's rate; empty: they did, or it is unknown.
std::string PastDisks(const v1::PhaseReport& phase, double timed_bytes, const std::string& whose) {
  const Directions directions = DirectionsOf(phase);
  // What servers returned is divided by their whole records; rates lose what lies at the edges of a short phase.
  const v1::ReadSources& sources = phase.read_sources();
  const bool is_split = directions.reads && sources.has_server_disk_bytes() && sources.server_bytes() > 0;
  const double share = is_split ? static_cast<double>(sources.server_disk_bytes()) /
                                      static_cast<double>(sources.server_bytes())
                                : DiskTrafficOf(phase).bytes / timed_bytes;
  if (phase.headline_in_ops() || timed_bytes == 0 || directions.reads == directions.writes) return "";
  if (!(share < (directions.reads ? kReadFromDisks : kWrittenToDisks))) return "";  // NaN too
  return absl::StrFormat("of what %s, %.0f %% %s by the servers' counters", whose, 100 * share,
                         directions.reads ? "came from the servers' disks" : "arrived at the servers' disks");
}

// Why the rate is that of memory; empty: no mark says so. A directory in memory has rows of its own.
std::string MemoryIn(const v1::PhaseReport& phase, const std::string& whose) {
  for (const v1::Mark& mark : phase.marks()) {
    if (MeaningOf(mark.code()) != MarkMeans::kClientMemory || mark.code() == mark_code::kMemoryFs) continue;
    if (mark.code() == mark_code::kUnflushed || mark.code() == mark_code::kAbsorbed)
      return absl::StrCat(mark.code(), ": written into ", whose, " memory, of which not all arrived");
    return absl::StrFormat("%s: %.0f %% of it came from %s memory", mark.code(), mark.value(), whose);
  }
  return "";
}

// The combined speed of the links of one side. NaN: the speed of one is unknown, or the traffic did not take it.
double LinksOfServers(const v1::PhaseReport& phase, double timed_bytes) {
  double links = 0;
  if (phase.servers().empty()) return kNaN;
  double carried = 0;
  for (const v1::ServerReport& server : phase.servers()) {
    if (server.nics().empty() || !server.nics(0).has_link_bytes_per_s()) return kNaN;
    const v1::ServerNic& nic = server.nics(0);
    links += static_cast<double>(nic.link_bytes_per_s());
    carried += std::max(nic.receive_bytes_per_s(), nic.send_bytes_per_s()) * server.sampled_s();
  }
  return links > 0 && carried >= kCarried * timed_bytes ? links : kNaN;
}

double LinksOfClients(const v1::PhaseReport& phase, double timed_bytes) {
  const auto most = [](const v1::NicDelta& nic) { return std::max(nic.rx_bytes(), nic.tx_bytes()); };
  double links = 0, carried = 0;
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    const auto& nics = client.host_delta().nics();
    const auto nic =
        std::max_element(nics.begin(), nics.end(),
                         [&](const v1::NicDelta& a, const v1::NicDelta& b) { return most(a) < most(b); });
    if (nic == nics.end() || nic->link_bytes_per_s() == 0) return kNaN;
    links += static_cast<double>(nic->link_bytes_per_s());
    carried += static_cast<double>(most(*nic));
  }
  return links > 0 && carried >= kCarried * timed_bytes ? links : kNaN;
}

void UpdateNetwork(const v1::PhaseReport& phase, double timed_bytes, v1::LayerRow& row) {
  const Directions directions = DirectionsOf(phase);
  if (phase.headline_in_ops() || directions.reads == directions.writes) {
    row.set_remark(phase.headline_in_ops()
                       ? "a link has no ops/s"
                       : "not known: what is read and what is written take different directions");
    return;
  }
  const double servers = LinksOfServers(phase, timed_bytes), clients = LinksOfClients(phase, timed_bytes);
  const double rate = std::fmin(servers, clients);  // the known one, if the other is not
  if (!std::isfinite(rate)) {
    row.set_remark("not known: no driver tells the speed of a link that the traffic took");
    return;
  }
  row.set_rate(MeanWith(row.rate(), row.count(), rate));
  row.set_count(row.count() + 1);
  row.set_remark(absl::StrCat("link speed of the ", rate == servers ? "servers" : "clients",
                              std::isfinite(servers) && std::isfinite(clients) ? ""
                              : rate == servers ? "; that of the clients is not known"
                                                : "; that of the servers is not known"));
}

void UpdateRate(const v1::PhaseReport& phase, v1::LayerRow& row) {
  row.set_rate(MeanWith(row.rate(), row.count(), HeadlineRate(phase)));
  row.set_disk_bytes_per_s(MeanWith(row.disk_bytes_per_s(), row.count(), DiskTrafficOf(phase).bytes_per_s));
  row.set_count(row.count() + 1);
}

// One repetition that cannot be compared decides for all.
void RecordFirst(std::string problem, v1::LayerRow& row) {
  if (row.problem().empty()) row.set_problem(std::move(problem));
}

void UpdateServersPhase(const v1::PhaseReport& phase, double timed_bytes, v1::LayersReport& report) {
  v1::LayerRow& disk = Row(kDisk, report);
  UpdateRate(phase, disk);
  if (disk.problem() == report.past_disks()) disk.clear_problem();  // its own problem comes first
  const bool in_memory = HasMark(phase, mark_code::kMemoryFs);
  const uint32_t lanes = phase.lane_count();
  disk.set_remark(absl::StrCat("the servers by themselves, ", lanes, lanes == 1 ? " lane" : " lanes",
                               in_memory ? ", in a directory in memory" : ""));
  RecordFirst(MemoryIn(phase, "the servers'"), disk);
  if (in_memory) report.set_in_memory(true);
  if (!in_memory) RecordFirst(PastDisks(phase, timed_bytes, "the servers did"), disk);
}

void UpdateClientsPhase(const v1::PhaseReport& phase, double timed_bytes, v1::LayersReport& report) {
  v1::LayerRow& clients = Row(kClients, report);
  UpdateRate(phase, clients);
  const uint32_t lanes = phase.lane_count();
  const int hosts = phase.clients_size();
  clients.set_remark(
      absl::StrCat(hosts, hosts == 1 ? " client, " : " clients, ", lanes, lanes == 1 ? " lane" : " lanes"));
  RecordFirst(MemoryIn(phase, "the clients'"), clients);
  UpdateNetwork(phase, timed_bytes, Row(kNetwork, report));
  if (report.past_disks().empty()) report.set_past_disks(PastDisks(phase, timed_bytes, "the clients did"));
}

// Whether the server's directory has a disk at all may be known only after the clients' phase.
void UpdatePastDisks(const v1::LayersReport& report, v1::LayerRow& disk) {
  if (!report.in_memory()) return RecordFirst(report.past_disks(), disk);
  if (disk.problem() == report.past_disks()) disk.clear_problem();
}

bool Comparable(const v1::LayerRow& row) {
  return row.problem().empty() && std::isfinite(row.rate()) && row.rate() > 0;
}

std::string ReachedText(const v1::LayerRow& row) {
  return absl::StrFormat("%.0f %% of the %s", 100 * row.reached(), row.layer());
}

}  // namespace

void BeginLayers(v1::RunReport& report) {
  report.clear_layers();
  for (const v1::Phase& phase : report.run().plan().phases()) {
    if (!phase.has_on_servers() || LayersOf(phase.on_servers().phase(), report) != nullptr) continue;
    v1::LayersReport& entry = *report.add_layers();
    entry.set_phase(phase.on_servers().phase());
    entry.set_servers(phase.on_servers().servers());
    entry.set_in_ops(HeadlineInOps(phase));
    for (const std::string_view layer : {kDisk, kNetwork, kClients}) Row(layer, entry);
    JudgeLayers(entry);
  }
}

void UpdateLayers(const v1::PhaseReport& phase, v1::RunReport& report) {
  const v1::Plan& plan = report.run().plan();
  if (report.layers().empty() || plan.phases().empty()) return;
  const v1::Phase& planned = *PlannedPhase(plan, phase);
  const bool local = planned.has_on_servers();
  v1::LayersReport* const entry = LayersOf(local ? planned.on_servers().phase() : planned.name(), report);
  if (entry == nullptr || !phase.not_whole().empty()) return;
  if (!std::isfinite(HeadlineRate(phase))) return;
  const double timed_bytes = TimedBytes(phase, planned.stop().warmup_s());
  local ? UpdateServersPhase(phase, timed_bytes, *entry) : UpdateClientsPhase(phase, timed_bytes, *entry);
  JudgeLayers(*entry);
}

void JudgeLayers(v1::LayersReport& report) {
  v1::LayerRow& disk = Row(kDisk, report);
  v1::LayerRow& network = Row(kNetwork, report);
  v1::LayerRow& clients = Row(kClients, report);
  for (v1::LayerRow& row : *report.mutable_rows()) {
    row.set_of_below(kNaN);
    row.set_reached(kNaN);
  }
  UpdatePastDisks(report, disk);
  report.clear_narrowest();
  if (Comparable(disk) && Comparable(network)) network.set_of_below(network.rate() / disk.rate());
  if (!Comparable(clients)) {
    report.set_narrowest_text(std::isfinite(clients.rate())
                                  ? "not known: the clients' rate is one of their memory"
                                  : "not known: the clients' phase was not measured");
    return;
  }
  const v1::LayerRow* lowest = nullptr;
  std::string reached;
  for (v1::LayerRow* const row : std::array{&disk, &network}) {
    if (!Comparable(*row)) continue;
    row->set_reached(clients.rate() / row->rate());
    clients.set_of_below(row->reached());
    absl::StrAppend(&reached, reached.empty() ? "" : ", ", ReachedText(*row));
    if (lowest == nullptr || row->rate() < lowest->rate()) lowest = row;
  }
  if (lowest == nullptr) {
    report.set_narrowest_text("not known: no layer below the clients can be compared with them");
    return;
  }
  const bool at_limit = lowest->reached() >= kReachesLayer;
  report.set_narrowest(at_limit ? lowest->layer() : std::string(kClients));
  report.set_narrowest_text(
      at_limit ? absl::StrCat(lowest->layer(), ": the clients reached ", reached)
               : absl::StrCat(
                     "none of these: the clients reached ", reached,
                     "; what holds them up lies between: NFS, the servers' processors and threads, or the "
                     "clients themselves"));
}

}  // namespace iobench
