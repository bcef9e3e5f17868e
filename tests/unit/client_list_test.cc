#include "coordinator/launch/client_list.h"

#include <catch2/catch.hpp>

#include "coordinator/launch/launcher.h"
#include "coordinator/plan/phase_list.h"

namespace iobench {
namespace {

std::string ProblemWith(const std::string& text) {
  const auto clients = ParseClientList(text, "clients");
  REQUIRE(!clients.ok());
  CHECK(absl::IsInvalidArgument(clients.status()));
  return std::string(clients.status().message());
}

TEST_CASE("a client list has three or four fields a line, and comments") {
  const auto clients = ParseClientList(
      "# our clients\n"
      "node1 /mnt/nfs /usr/bin/cluster-iobench\n"
      "node2\t/tmp   /opt/bin  /mnt/nfs/file2\r\n"
      "node1 /mnt/nfs /usr/bin/cluster-iobench",
      "clients");
  REQUIRE(clients.ok());
  REQUIRE(clients->size() == 3);
  CHECK((*clients)[0].client == "node1");
  CHECK((*clients)[0].directory == "/mnt/nfs");
  CHECK((*clients)[0].program == "/usr/bin/cluster-iobench");
  CHECK((*clients)[0].path.empty());
  CHECK((*clients)[0].tested_path() == "/mnt/nfs");
  CHECK((*clients)[1].program == "/opt/bin");
  CHECK((*clients)[1].tested_path() == "/mnt/nfs/file2");
  CHECK((*clients)[2].client == "node1");
}

TEST_CASE("a client list may begin with a byte order mark, and have comments after blanks and fields") {
  const auto clients = ParseClientList(
      "\xEF\xBB\xBF# ours\n  # indented\nnode1 /mnt/nfs /opt/bin # rack 1\nnode2 /mnt/nfs#2 /opt/bin\n",
      "clients");
  REQUIRE(clients.ok());
  REQUIRE(clients->size() == 2);
  CHECK((*clients)[0].path.empty());
  CHECK((*clients)[1].directory == "/mnt/nfs#2");
}

TEST_CASE("what is wrong with a client list is told with its line") {
  CHECK(ProblemWith("a /x /y\n\nb /x /y\n") ==
        "client list clients:2: blank line: remove it, or make it a comment with #");
  CHECK(ProblemWith("#\na /x\n") ==
        "client list clients:2: a line needs 3 or 4 fields (client, directory, program, and what to test), "
        "but this one has 2");
  CHECK_THAT(ProblemWith("a b c d e\n"), Catch::Contains("clients:1: ") && Catch::Contains("has 5"));
  CHECK_THAT(ProblemWith("-oProxyCommand=x /x /y\n"), Catch::Contains("clients:1: "));
  CHECK(
      ProblemWith("a /x\n\nb /x /y\n-x /x /y\n") ==
      "client list clients:1: a line needs 3 or 4 fields (client, directory, program, and what to test), but this "
      "one has 2\n"
      "client list clients:2: blank line: remove it, or make it a comment with #\n"
      "client list clients:4: the client's name \"-x\" cannot begin with -: a remote shell would read it as an option");
  CHECK_THAT(ProblemWith("# nobody\n"), Catch::Contains("names no client"));
  CHECK_THAT(ProblemWith(""), Catch::Contains("names no client"));
  CHECK_THAT(ProblemWith("a /\xff /y\n"), Catch::Contains("clients:1: ") && Catch::Contains("UTF-8"));
  for (const std::string& name : {std::string("a\0b", 3), std::string("a\x1b[0m"), std::string("a\x7f")}) {
    CHECK_THAT(ProblemWith(name + " /x /y\n"), Catch::Contains("clients:1: the line has control characters"));
    CHECK_THAT(ProblemWith("a /x /y" + name + "\n"), Catch::Contains("control characters"));
  }
  CHECK(absl::IsNotFound(LoadClientList("/nonexistent/clients").status()));
}

TEST_CASE("-t takes the first lines of a client list, and no more than there are") {
  const auto clients = ParseClientList("a /x /y\nb /x /y\nc /x /y\n", "clients");
  REQUIRE(clients.ok());
  const auto two = FirstClients(*clients, 2, "clients");
  REQUIRE(two.ok());
  REQUIRE(two->size() == 2);
  CHECK((*two)[1].client == "b");
  CHECK(FirstClients(*clients, 0, "clients")->size() == 3);
  CHECK_THAT(std::string(FirstClients(*clients, 4, "clients").status().message()),
             Catch::StartsWith("-t 4 asks for 4 workers, but the client list clients has 3 lines"));
}

TEST_CASE(
    "with a client list lanes become workers, and a sweep's smaller phases are done by the first ones") {
  v1::Plan plan;
  plan.set_lanes_per_worker(3);
  for (const uint32_t lanes : {1u, 3u, 0u}) {
    v1::Phase& phase = *plan.add_phases();
    phase.add_assignments();
    phase.set_lanes_per_worker(lanes);
  }
  LanesBecomeWorkers(3, plan);
  CHECK(plan.lanes_per_worker() == 1);
  REQUIRE(plan.phases(0).assignments(0).who().workers_size() == 1);
  CHECK(plan.phases(0).assignments(0).who().workers(0) == 0);
  CHECK(plan.phases(1).assignments(0).who().workers().empty());
  CHECK(plan.phases(2).assignments(0).who().workers().empty());
  CHECK(plan.phases(0).lanes_per_worker() == 0);
}

TEST_CASE("where a run has more workers than a sweep takes, its largest phases say which they are") {
  v1::Plan plan;
  plan.set_lanes_per_worker(2);
  plan.add_phases()->add_assignments();
  v1::Plan unknown = plan;
  LanesBecomeWorkers(4, plan);
  REQUIRE(plan.phases(0).assignments(0).who().workers_size() == 2);
  CHECK(plan.phases(0).assignments(0).who().workers(1) == 1);
  LanesBecomeWorkers(0, unknown);
  CHECK(unknown.phases(0).assignments(0).who().workers_size() == 2);
}

TEST_CASE("a remote shell gets the client's directory, program and path, quoted") {
  const ClientEntry entry{.client = "n", .directory = "/my dir", .program = "/it's/prog", .path = ""};
  const WorkerArguments options{
      .join_address = "head:9400", .join_timeout_s = 30, .credentials_piped = false};
  CHECK(WorkerCommand(entry, 7, options) ==
        "cd '/my dir' && if test -d '/it'\\''s/prog'; then exec '/it'\\''s/prog'/cluster-iobench worker "
        "--join head:9400 --join-timeout 30 --place 7 --path .; else exec '/it'\\''s/prog' worker "
        "--join head:9400 --join-timeout 30 --place 7 --path .; fi");
  WorkerArguments plan_says = options;
  plan_says.own_paths = false;
  CHECK(WorkerCommand(entry, 7, plan_says).find("--path") == std::string::npos);
}

TEST_CASE("a client list's remote shells get -n, as IOzone's do, unless the worker reads its credentials") {
  const std::vector<ClientEntry> clients = {{"a", "/d", "/p", ""}, {"b", "/d", "/p", ""}};
  WorkerArguments words{.join_address = "head:9400", .credentials_piped = false};
  const std::vector<RemoteStart> starts = StartsOfList(clients, "rsh -x", words);
  REQUIRE(starts.size() == 2);
  CHECK_THAT(starts[1].command, Catch::StartsWith("rsh -x b -n 'cd /d && ") && Catch::Contains("--place 2 "));
  CHECK(starts[1].name == "client b (worker 1)");
  CHECK(starts[1].first_place == 2);
  words.credentials_piped = true;
  CHECK_THAT(StartsOfList(clients, "rsh", words)[0].command,
             Catch::StartsWith("rsh a 'cd /d && ") && Catch::Contains(" --token-file - "));
}

TEST_CASE("a launcher of a client list that places the command gets host and -n before it") {
  const std::vector<ClientEntry> clients = {{"a", "/d", "/p", ""}};
  const WorkerArguments words{.join_address = "head:9400", .credentials_piped = false};
  CHECK_THAT(StartsOfList(clients, "rsh -l me {command}", words)[0].command,
             Catch::StartsWith("rsh -l me a -n 'cd /d && ") && Catch::EndsWith("'"));
  CHECK_THAT(StartsOfList(clients, "srun", words)[0].command,
             Catch::StartsWith("srun -N 1 -n 1 -w a sh -c 'cd /d && "));  // its -n is a number
}

TEST_CASE("a client of a list may have a user, as in a list of hosts") {
  const std::vector<ClientEntry> clients = {{"me@there@a", "/d", "/p", ""}, {"@b", "/d", "/p", ""}};
  CHECK(HostOfClient(clients[0]) == HostEntry{.host = "a", .user = "me@there"});
  CHECK(HostOfClient(clients[1]) == HostEntry{.host = "@b", .user = ""});
  const WorkerArguments words{.join_address = "head:9400"};
  const std::vector<RemoteStart> starts = StartsOfList(clients, "rsh", words);
  CHECK_THAT(starts[0].command, Catch::StartsWith("rsh me@there@a 'cd /d && "));
  CHECK(starts[0].name == "client me@there@a (worker 0)");
  CHECK_THAT(starts[1].command, Catch::StartsWith("rsh @b 'cd /d && "));
  CHECK_THAT(StartsOfList(clients, "rsh -l {user} {host}", words)[0].command,
             Catch::StartsWith("rsh -l me@there a 'cd /d && "));
}

TEST_CASE("clients are told an address that they can reach") {
  CHECK(AddressForClients("10.0.0.1:4000", "").value() == "10.0.0.1:4000");
  CHECK(AddressForClients("[::]:4000", "head.example").value() == "head.example:4000");
  CHECK(AddressForClients(":4000", "fd00::1").value() == "[fd00::1]:4000");
  CHECK(AddressForClients(":4000", "[fd00::1]").value() == "[fd00::1]:4000");
  const std::string own = AddressForClients(":4000", "").value();
  CHECK(own.size() > 5);  // this host's name
  CHECK(own.substr(own.size() - 5) == ":4000");
  CHECK(own != "localhost:4000");
  CHECK(absl::IsInvalidArgument(AddressForClients("unix:/x", "").status()));
}

TEST_CASE("a list of this host alone is served on the loopback interface") {
  const std::vector<std::string> here = {"localhost", "127.0.0.2", "::1"};
  const std::vector<std::string> elsewhere = {"localhost", "node7"};
  CHECK(ListenAddressFor(here, "") == "127.0.0.1:0");
  CHECK(ListenAddressFor(elsewhere, "") == ":0");
}

TEST_CASE("a coordinator listens where its clients are told to find it") {
  const std::vector<std::string> here = {"localhost", "127.0.0.1"};
  const std::vector<std::string> elsewhere = {"localhost", "node7"};
  CHECK(ListenAddressFor(here, "head.example") == ":0");
  CHECK(ListenAddressFor(here, "10.0.0.1") == ":0");
  CHECK(ListenAddressFor(here, "localhost") == "127.0.0.1:0");
  CHECK(ListenAddressFor(here, "127.0.0.2") == "127.0.0.2:0");
  CHECK(ListenAddressFor(here, "::1") == "[::1]:0");
  CHECK(ListenAddressFor(here, "[::1]") == "[::1]:0");
  CHECK(ListenAddressFor(elsewhere, "127.0.0.1") == ":0");
}

}  // namespace
}  // namespace iobench
