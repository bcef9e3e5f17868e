#include "coordinator/analysis/layers.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

namespace iobench {
namespace {

constexpr double kMiB = 1 << 20;

// A phase "write" of the clients, and the servers' phase, which is the plan's second.
v1::RunReport LayersBegun(const std::string& operation = "write") {
  v1::RunReport report;
  v1::Plan& plan = *report.mutable_run()->mutable_plan();
  v1::Phase& phase = *plan.add_phases();
  phase.set_name(operation);
  phase.add_assignments()->mutable_operation()->set_name(operation);
  v1::Phase& local = *plan.add_phases();
  local = phase;
  local.set_name(operation + " on the server");
  local.mutable_on_servers()->set_phase(operation);
  local.mutable_on_servers()->set_servers(1);
  BeginLayers(report);
  return report;
}

// A phase of one second; `by_disk` is the share of its bytes that passed the server's disk.
v1::PhaseReport Measured(uint32_t index, double mib_per_s, const char* kind, double by_disk) {
  v1::PhaseReport phase;
  phase.set_index(index);
  phase.set_lane_count(4);
  phase.mutable_headline()->set_bytes_per_s(mib_per_s * kMiB);
  const auto bytes = static_cast<uint64_t>(mib_per_s * kMiB);
  phase.set_bytes(bytes);
  (*phase.mutable_by_kind())[kind].set_bytes(bytes);
  v1::ServerReport& server = *phase.add_servers();
  server.set_sampled_s(1);
  v1::ServerDisk& disk = *server.add_disks();
  const double moved = by_disk * mib_per_s * kMiB;
  std::string(kind) == "read" ? disk.set_read_bytes_per_s(moved) : disk.set_write_bytes_per_s(moved);
  return phase;
}

v1::PhaseReport ByServer(double mib_per_s, const char* kind = "write", double by_disk = 1) {
  return Measured(1, mib_per_s, kind, by_disk);
}

// Two clients with links of `client_link` each, and a server with one link; 0: the driver reports none.
v1::PhaseReport ByClients(double mib_per_s, double server_link, double client_link,
                          const char* kind = "write", double by_disk = 1) {
  v1::PhaseReport phase = Measured(0, mib_per_s, kind, by_disk);
  v1::ServerNic& nic = *phase.mutable_servers(0)->add_nics();
  nic.set_receive_bytes_per_s(mib_per_s * kMiB);
  if (server_link > 0) nic.set_link_bytes_per_s(static_cast<uint64_t>(server_link * kMiB));
  for (int i = 0; i < 2; ++i) {
    v1::NicDelta& own = *phase.add_clients()->mutable_host_delta()->add_nics();
    own.set_tx_bytes(phase.bytes() / 2);
    if (client_link > 0) own.set_link_bytes_per_s(static_cast<uint64_t>(client_link * kMiB));
  }
  return phase;
}

void MarkPhase(const char* code, double value, v1::PhaseReport& phase) {
  phase.add_marks()->set_code(code);
  phase.mutable_marks(phase.marks_size() - 1)->set_value(value);
}

const v1::LayersReport& LayersIn(const v1::RunReport& report) {
  REQUIRE(report.layers_size() == 1);
  REQUIRE(report.layers(0).rows_size() == 3);
  return report.layers(0);
}

TEST_CASE("before anything is measured, each layer has a row without a rate") {
  const v1::RunReport report = LayersBegun();
  const v1::LayersReport& write = LayersIn(report);
  CHECK(write.phase() == "write");
  CHECK(write.rows(0).layer() == "disk");
  CHECK(write.rows(1).layer() == "network");
  CHECK(write.rows(2).layer() == "clients");
  for (const v1::LayerRow& row : write.rows()) CHECK(std::isnan(row.rate()));
  CHECK(write.narrowest().empty());
}

TEST_CASE("the clients' share of each layer, and each layer's of the one below") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByClients(90, 400, 100), report);
  UpdateLayers(ByServer(100), report);
  const v1::LayersReport& write = LayersIn(report);
  CHECK(write.rows(0).rate() == 100 * kMiB);
  CHECK(write.rows(1).rate() == 200 * kMiB);  // two clients of 100 carry less than the server's 400
  CHECK(write.rows(2).rate() == 90 * kMiB);
  CHECK(write.rows(0).reached() == Approx(0.9));
  CHECK(write.rows(1).reached() == Approx(0.45));
  CHECK(write.rows(1).of_below() == Approx(2));
  CHECK(write.rows(2).of_below() == Approx(0.45));
  CHECK(write.rows(2).disk_bytes_per_s() == Approx(90 * kMiB));
  CHECK(write.narrowest() == "disk");
  CHECK(write.narrowest_text() == "disk: the clients reached 90 % of the disk, 45 % of the network");
}

TEST_CASE("a link below the disk's rate is the narrowest layer") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByClients(110, 120, 1000), report);
  UpdateLayers(ByServer(400), report);
  CHECK(LayersIn(report).narrowest() == "network");
  CHECK(LayersIn(report).rows(1).rate() == 120 * kMiB);
}

TEST_CASE("clients that reach little of all layers below are held up by none of these") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByClients(30, 120, 120), report);
  UpdateLayers(ByServer(100), report);
  CHECK(LayersIn(report).narrowest() == "clients");
  CHECK(LayersIn(report).narrowest_text().find("none of these: the clients reached 30 % of the disk") == 0);
}

TEST_CASE("a link whose speed no driver tells is not known, and the disk is compared alone") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByClients(90, 0, 0), report);
  UpdateLayers(ByServer(100), report);
  CHECK(std::isnan(LayersIn(report).rows(1).rate()));
  CHECK(LayersIn(report).rows(1).remark().find("not known") == 0);
  CHECK(LayersIn(report).rows(2).of_below() == Approx(0.9));
  CHECK(LayersIn(report).narrowest() == "disk");
}

TEST_CASE("a link that carried hardly anything is not the one that the traffic took") {
  v1::RunReport report = LayersBegun();
  v1::PhaseReport phase = ByClients(90, 1000, 0);
  phase.mutable_servers(0)->mutable_nics(0)->set_receive_bytes_per_s(1000);
  UpdateLayers(phase, report);
  CHECK(std::isnan(LayersIn(report).rows(1).rate()));
}

TEST_CASE("what a server reads from its own memory is no speed of its disk") {
  v1::RunReport report = LayersBegun("read");
  UpdateLayers(ByClients(90, 0, 0, "read"), report);
  v1::PhaseReport local = ByServer(5000, "read", 0.1);
  MarkPhase("cached", 90, local);
  UpdateLayers(local, report);
  const v1::LayersReport& read = LayersIn(report);
  CHECK(read.rows(0).rate() == 5000 * kMiB);
  CHECK(read.rows(0).problem() == "cached: 90 % of it came from the servers' memory");
  CHECK(std::isnan(read.rows(0).reached()));
  CHECK(read.narrowest().empty());
}

TEST_CASE("without a mark, the disks' own counters tell what came from memory") {
  v1::RunReport report = LayersBegun("read");
  UpdateLayers(ByClients(90, 0, 0, "read"), report);
  UpdateLayers(ByServer(5000, "read", 0.1), report);
  CHECK(LayersIn(report).rows(0).problem() ==
        "of what the servers did, 10 % came from the servers' disks by the servers' counters");
}

TEST_CASE("what lanes wrote after they were told to stop has not passed the disk while samplers looked") {
  v1::RunReport report = LayersBegun();
  v1::PhaseReport clients = ByClients(90, 0, 0, "write", 0.5);
  clients.mutable_stonewall()->set_kind("flushed");
  clients.set_measured_bytes(clients.bytes() / 2);
  (*clients.mutable_by_kind())["write"].set_bytes(clients.bytes() / 2);
  UpdateLayers(clients, report);
  UpdateLayers(ByServer(100), report);
  CHECK(LayersIn(report).rows(0).problem().empty());
  CHECK(LayersIn(report).rows(0).reached() == Approx(0.9));
}

TEST_CASE("what lanes write after their time to finish new files has not passed the disk in it") {
  for (const char* const kind : {"retroactive", "stop", "none"}) {
    v1::RunReport report = LayersBegun();
    v1::PhaseReport clients = ByClients(90, 100, 0);
    clients.mutable_stonewall()->set_kind(kind);
    clients.set_bytes(7 * clients.bytes());
    UpdateLayers(clients, report);
    UpdateLayers(ByServer(100), report);
    CHECK(LayersIn(report).rows(0).problem().empty());
    CHECK(LayersIn(report).rows(0).reached() == Approx(0.9));
    CHECK(LayersIn(report).rows(1).rate() == 100 * kMiB);
  }
}

TEST_CASE("a warm-up passes the disk while samplers look and is taken to be as fast as the rest") {
  v1::RunReport report = LayersBegun();
  report.mutable_run()->mutable_plan()->mutable_phases(0)->mutable_stop()->set_warmup_s(1);
  v1::PhaseReport clients = ByClients(80, 0, 0, "write", 0.8);
  clients.mutable_regions_s()->set_ops(4);
  (*clients.mutable_by_kind())["write"].set_bytes(clients.bytes() / 4 * 3);
  UpdateLayers(clients, report);
  UpdateLayers(ByServer(100), report);
  CHECK(LayersIn(report).rows(0).problem().find("of what the clients did, 80 %") == 0);
}

TEST_CASE("if both say why the disk cannot be compared, the server's own phase counts") {
  v1::RunReport report = LayersBegun("read");
  UpdateLayers(ByClients(90, 0, 0, "read", 0.2), report);
  v1::PhaseReport local = ByServer(5000, "read", 0.1);
  MarkPhase("cached", 90, local);
  UpdateLayers(local, report);
  CHECK(LayersIn(report).rows(0).problem() == "cached: 90 % of it came from the servers' memory");
}

TEST_CASE("clients that read from the server's memory cannot be compared with its disk") {
  v1::RunReport report = LayersBegun("read");
  UpdateLayers(ByClients(90, 100, 0, "read", 0.2), report);
  UpdateLayers(ByServer(40, "read"), report);
  const v1::LayersReport& read = LayersIn(report);
  CHECK(read.rows(0).problem().find("of what the clients did, 20 %") == 0);
  CHECK(std::isnan(read.rows(0).reached()));
  CHECK(read.rows(1).reached() == Approx(0.9));  // it came over the network all the same
  CHECK(read.narrowest() == "network");
}

TEST_CASE("for reads over NFS, what is known of the servers' disks in full counts more than their rates") {
  v1::RunReport report = LayersBegun("read");
  v1::PhaseReport clients = ByClients(90, 100, 0, "read", 0.94);  // by rates: edges of intervals are lost
  clients.mutable_read_sources()->set_server_bytes(1000);
  clients.mutable_read_sources()->set_server_disk_bytes(990);
  UpdateLayers(clients, report);
  UpdateLayers(ByServer(40, "read"), report);
  CHECK(LayersIn(report).rows(0).problem().empty());
}

TEST_CASE("clients that read from their own memory cannot be compared with anything") {
  v1::RunReport report = LayersBegun("read");
  v1::PhaseReport clients = ByClients(900, 100, 100, "read");
  MarkPhase("cached", 80, clients);
  UpdateLayers(clients, report);
  UpdateLayers(ByServer(40, "read"), report);
  CHECK(LayersIn(report).rows(2).problem() == "cached: 80 % of it came from the clients' memory");
  CHECK(std::isnan(LayersIn(report).rows(0).reached()));
  CHECK(std::isnan(LayersIn(report).rows(1).reached()));
  CHECK(LayersIn(report).narrowest().empty());
}

TEST_CASE("a directory in memory has no disk that could be missed") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByClients(50, 0, 0, "write", 0), report);
  v1::PhaseReport local = ByServer(100, "write", 0);
  MarkPhase("memory_fs", 0, local);
  UpdateLayers(local, report);
  CHECK(LayersIn(report).rows(0).problem().empty());
  CHECK(LayersIn(report).rows(0).remark().find("in memory") != std::string::npos);
  CHECK(LayersIn(report).rows(0).reached() == Approx(0.5));
}

TEST_CASE("the rates of repetitions are means, and a phase that lost a worker says nothing") {
  v1::RunReport report = LayersBegun();
  UpdateLayers(ByServer(100), report);
  v1::PhaseReport second = ByServer(200);
  second.set_index(3);  // the plan has two phases
  UpdateLayers(second, report);
  v1::PhaseReport lost = ByServer(1);
  lost.set_not_whole("1 lane sat out");
  UpdateLayers(lost, report);
  CHECK(LayersIn(report).rows(0).rate() == 150 * kMiB);
  CHECK(LayersIn(report).rows(0).count() == 2);
}

TEST_CASE("operations on names have ops/s, and a link has none") {
  v1::RunReport report = LayersBegun("create");
  for (const uint32_t index : {0u, 1u}) {
    v1::PhaseReport phase;
    phase.set_index(index);
    phase.set_headline_in_ops(true);
    phase.mutable_headline()->set_ops_per_s(index == 0 ? 500 : 1000);
    UpdateLayers(phase, report);
  }
  CHECK(LayersIn(report).in_ops());
  CHECK(LayersIn(report).rows(0).reached() == Approx(0.5));
  CHECK(std::isnan(LayersIn(report).rows(1).rate()));
  CHECK(std::isnan(LayersIn(report).rows(0).disk_bytes_per_s()));
}

}  // namespace
}  // namespace iobench
