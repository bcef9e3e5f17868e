#include "coordinator/analysis/client_differences.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace iobench {
namespace {

// Clients lab1, lab2 … with the same mount.
v1::RunReport Alike(int clients) {
  v1::RunReport report;
  for (int i = 1; i <= clients; ++i) {
    v1::ClientReport& client = *report.add_clients();
    client.set_host("lab" + std::to_string(i));
    client.set_kernel("Linux 6.1");
    client.set_processors(8);
    client.set_memory_bytes(1 << 30);
    (*client.mutable_settings())["sunrpc.tcp_slot_table_entries"] = "2";
    v1::TargetReport& target = *client.add_targets();
    target.set_path("/mnt/nfs");
    target.set_filesystem("nfs4");
    target.set_mount_source("server:/export");
    target.set_mount_options("rw,vers=4.2,rsize=1048576,hard,addr=10.0.0.9,clientaddr=10.0.0." +
                             std::to_string(i));
    (*target.mutable_settings())["read_ahead_kb"] = "15360";
    (*target.mutable_settings())["nic"] = "eth" + std::to_string(i);
  }
  return report;
}

std::vector<std::string> Texts(v1::RunReport report) {
  FillDifferences(report);
  std::vector<std::string> texts;
  for (const v1::ClientDifference& difference : report.differences()) {
    std::string text = difference.what() + ": " + difference.value() + " on";
    for (const std::string& client : difference.clients()) text += " " + client;
    texts.push_back(text + ", " + difference.usual() + " on " + std::to_string(difference.usual_clients()));
  }
  return texts;
}

using Lines = std::vector<std::string>;

TEST_CASE("clients that are alike but for their addresses do not differ") {
  CHECK(Texts(Alike(3)).empty());
  CHECK(Texts(Alike(1)).empty());
  CHECK(Texts(v1::RunReport()).empty());
}

TEST_CASE("differences: mounts come first, then settings, then hardware; the majority is usual") {
  v1::RunReport report = Alike(3);
  report.mutable_clients(2)->set_processors(4);
  (*report.mutable_clients(1)->mutable_settings())["sunrpc.tcp_slot_table_entries"] = "128";
  (*report.mutable_clients(0)->mutable_targets(0)->mutable_settings())["read_ahead_kb"] = "128";
  CHECK(Texts(report) == Lines{"/mnt/nfs: read_ahead_kb: 128 on lab1, 15360 on 2",
                               "sunrpc.tcp_slot_table_entries: 128 on lab2, 2 on 2",
                               "processors: 4 on lab3, 8 on 2"});
}

TEST_CASE("differences: an option or setting that only some have is not available on the others") {
  v1::RunReport report = Alike(4);
  report.mutable_clients(3)->mutable_targets(0)->set_mount_options("rw,vers=4.2,rsize=1048576,soft");
  report.mutable_clients(1)->mutable_settings()->clear();
  CHECK(Texts(report) == Lines{"/mnt/nfs: hard: not available on lab4, yes on 3",
                               "/mnt/nfs: soft: yes on lab4, not available on 3",
                               "sunrpc.tcp_slot_table_entries: not available on lab2, 2 on 3"});
}

TEST_CASE(
    "differences: of equally frequent values, the first client's is usual; clients with one value share a line") {
  v1::RunReport report = Alike(5);
  for (const int n : {0, 1}) report.mutable_clients(n)->set_kernel("Linux 5.14");
  report.mutable_clients(4)->set_kernel("Linux 6.8");
  CHECK(Texts(report) == Lines{"kernel: Linux 6.1 on lab3 lab4, Linux 5.14 on 2",
                               "kernel: Linux 6.8 on lab5, Linux 5.14 on 2"});
}

TEST_CASE("differences: a path is compared among the clients that use it") {
  v1::RunReport report = Alike(4);
  for (const int n : {0, 1}) report.mutable_clients(n)->mutable_targets(0)->set_path("/mnt/other");
  CHECK(Texts(report).empty());
  report.mutable_clients(1)->mutable_targets(0)->set_filesystem("nfs");
  report.mutable_clients(3)->mutable_targets(0)->clear_mount_source();
  CHECK(Texts(report) == Lines{"/mnt/nfs: source: not available on lab4, server:/export on 1",
                               "/mnt/other: file system: nfs on lab2, nfs4 on 1"});
}

TEST_CASE("differences: an option that is given twice has its last value") {
  v1::RunReport report = Alike(3);
  report.mutable_clients(1)->mutable_targets(0)->set_mount_options("rw,vers=4.1,vers=4.2,rsize=1048576,hard");
  CHECK(Texts(report).empty());
  report.mutable_clients(1)->mutable_targets(0)->set_mount_options("rw,vers=4.2,vers=4.1,rsize=1048576,hard");
  CHECK(Texts(report) == Lines{"/mnt/nfs: vers: 4.1 on lab2, 4.2 on 2"});
}

}  // namespace
}  // namespace iobench
