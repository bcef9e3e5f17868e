// Which workers share a client, and what clients are called.
#include "common/roster/roster.h"

#include <catch2/catch.hpp>
#include <deque>

namespace iobench {
namespace {

struct Joined {
  std::deque<v1::WorkerFacts> facts;

  v1::WorkerFacts& Worker(const std::string& host, const std::string& boot_id) {
    v1::WorkerFacts& worker = facts.emplace_back();
    worker.set_host(host);
    worker.set_boot_id(boot_id);
    return worker;
  }
  Roster Listed() const {
    std::vector<const v1::WorkerFacts*> all;
    for (const v1::WorkerFacts& worker : facts) all.push_back(&worker);
    return RosterOf(all);
  }
};

TEST_CASE("workers with one boot id share a client, whatever their host names") {
  Joined joined;
  joined.Worker("pod1", "boot x");
  joined.Worker("node2", "boot y");
  joined.Worker("pod2", "boot x");
  const Roster roster = joined.Listed();
  CHECK(ClientsOf(roster) == std::vector<uint32_t>{0, 1, 0});
  CHECK(ClientNamesOf(roster) == std::vector<std::string>{"pod1", "node2", "pod1"});
  CHECK(roster.clients[0].workers == std::vector<uint32_t>{0, 2});
  CHECK(roster.client_count == 2);
}

TEST_CASE("clients with equal host names have names of their own") {
  Joined joined;
  joined.Worker("vm", "boot 0");
  joined.Worker("vm", "boot 1");
  joined.Worker("c02", "boot 2");
  joined.Worker("vm", "boot 0");
  CHECK(ClientNamesOf(joined.Listed()) == std::vector<std::string>{"vm", "vm (2)", "c02", "vm"});
}

TEST_CASE("a clone is a client of its own") {
  Joined joined;
  joined.Worker("node1", "boot x");
  joined.Worker("node1", "boot x").set_clone(1);
  joined.Worker("node1", "boot x").set_clone(1);
  const Roster roster = joined.Listed();
  CHECK(ClientsOf(roster) == std::vector<uint32_t>{0, 1, 1});
  CHECK(IsOnHost(joined.facts[0], "boot x"));
  CHECK_FALSE(IsOnHost(joined.facts[1], "boot x"));
}

TEST_CASE("a server that is a client too counts as both") {
  Joined joined;
  joined.Worker("filer", "boot f");
  joined.Worker("node1", "boot x");
  joined.Worker("filer", "boot f").set_server(true);
  const Roster roster = joined.Listed();
  CHECK(ClientsOf(roster) == std::vector<uint32_t>{0, 1, 2});
  CHECK(roster.client_count == 2);
  CHECK(roster.client_workers == 2);
  CHECK(roster.host_count() == 3);
  CHECK(roster.clients[2].server);
  CHECK(roster.clients[2].name == "filer (2)");
}

TEST_CASE("without a boot id, the host name decides") {
  Joined joined;
  joined.Worker("node1", "");
  joined.Worker("node2", "");
  joined.Worker("node1", "");
  CHECK(ClientsOf(joined.Listed()) == std::vector<uint32_t>{0, 1, 0});
}

TEST_CASE("limits of control groups count once for each group, and a client has no more than its host") {
  Joined joined;
  for (const uint64_t group : {7, 7, 8}) {
    v1::WorkerFacts& worker = joined.Worker("node1", "boot x");
    worker.set_memory_group(group);
    worker.set_memory_bytes(100);
    worker.set_host_memory_bytes(1000);
  }
  CHECK(joined.Listed().clients[0].memory_bytes == 200);
  for (v1::WorkerFacts& worker : joined.facts) worker.set_host_memory_bytes(150);
  CHECK(joined.Listed().clients[0].memory_bytes == 150);
}

}  // namespace
}  // namespace iobench
