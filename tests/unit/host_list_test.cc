#include "coordinator/launch/host_list.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

// "user@host:port*slots" of each entry, with blanks between them.
std::string ListOf(const std::string& text) {
  const auto hosts = ParseHostList(text, "--hosts", /*is_file=*/false);
  INFO(hosts.status().message());
  REQUIRE(hosts.ok());
  return absl::StrJoin(*hosts, " ", [](std::string* out, const HostEntry& host) {
    absl::StrAppend(out, host.ToText(), host.slots > 1 ? absl::StrCat("*", host.slots) : "");
  });
}

std::vector<std::string> FaultsOf(const std::string& text, bool is_file = false) {
  const auto hosts = ParseHostList(text, is_file ? "host list h" : "--hosts", is_file);
  REQUIRE(absl::IsInvalidArgument(hosts.status()));
  return absl::StrSplit(hosts.status().message(), '\n');
}

TEST_CASE("ranges count with the digits of their first number, and the last range varies fastest") {
  CHECK(ListOf("c[08-11]") == "c08 c09 c10 c11");
  CHECK(ListOf("c[8-11]") == "c8 c9 c10 c11");
  CHECK(ListOf("c[1-3,7]") == "c1 c2 c3 c7");
  CHECK(ListOf("c[098-101].example.org") ==
        "c098.example.org c099.example.org c100.example.org c101.example.org");
  CHECK(ListOf("rack[1-2]n[01-02]") == "rack1n01 rack1n02 rack2n01 rack2n02");
  CHECK(ListOf("[1-2]node") == "1node 2node");
  CHECK(ListOf("c[5]") == "c5");
}

TEST_CASE("an entry may have a user, a port and slots, and they hold for each host of a range") {
  CHECK(ListOf("a,root@b , c:2222\n d*4") == "a root@b c:2222 d*4");
  CHECK(ListOf("me@c[1-2]:22*3") == "me@c1:22*3 me@c2:22*3");
  CHECK(ListOf("user@domain@host") == "user@domain@host");
  const auto hosts = ParseHostList("me@c[1-2]:22*3,d", "--hosts", false);
  REQUIRE(hosts.ok());
  CHECK((*hosts)[1] == HostEntry{.host = "c2", .user = "me", .port = 22, .slots = 3});
  CHECK(WorkersOn(*hosts) == 7);
}

TEST_CASE("IPv6 addresses stand in brackets") {
  CHECK(ListOf("[::1]") == "[::1]");
  CHECK(ListOf("root@[fd00::1]:2222*2") == "root@[fd00::1]:2222*2");
  CHECK(ListOf("[fe80::1%eth0]") == "[fe80::1%eth0]");
  CHECK(ParseHostList("[::1]:22", "--hosts", false)->front().host == "::1");
  CHECK_THAT(FaultsOf("fd00::1").front(), Catch::Contains("brackets"));
  CHECK_THAT(FaultsOf("[fd00::x]").front(), Catch::Contains("\"fd00::x\" is not an IPv6 address"));
  CHECK_THAT(FaultsOf(std::string("[::\0.]:22", 9)).front(), Catch::Contains("is not an IPv6 address"));
  CHECK_THAT(FaultsOf("[::1]x").front(), Catch::Contains("\"x\" follows the address"));
}

TEST_CASE("a file has comments, and its faults have line numbers") {
  const auto hosts = ParseHostList("# all\nc[1-2]  # two\n\nd, e\r\n", "host list h", true);
  REQUIRE(hosts.ok());
  CHECK(hosts->size() == 4);
  CHECK(hosts->back().host == "e");
  const std::vector<std::string> faults = FaultsOf("a\n# c[\nc[\nd*0\n", true);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0] == "host list h, line 3, \"c[\": a bracket [ is not closed: add ]");
  CHECK(faults[1] ==
        "host list h, line 4, \"d*0\": \"0\" is not a number of workers: write a number from 1 to 1024 "
        "after *");
}

// "host*slots" of each entry of a file.
std::string FileOf(const std::string& text) {
  const auto hosts = ParseHostList(text, "host list h", /*is_file=*/true);
  INFO(hosts.status().message());
  REQUIRE(hosts.ok());
  return absl::StrJoin(*hosts, " ", [](std::string* out, const HostEntry& host) {
    absl::StrAppend(out, host.ToText(), "*", host.slots);
  });
}

TEST_CASE("files of Open MPI and of batch systems work as they are") {
  CHECK(FileOf("# from mpirun\nnode1 slots=4 max_slots=8  # rack 1\nnode2\tSLOTS=2\r\nnode3 max-slots=2\n") ==
        "node1*4 node2*2 node3*1");
  CHECK(FileOf("n[1-2] slots=3") == "n1*3 n2*3");
  CHECK(FileOf("node1\nnode1\nnode2\nnode1\n") == "node1*3 node2*1");
  CHECK(FileOf("\xEF\xBB\xBFnode1\r\nnode2\r\n") == "node1*1 node2*1");
  CHECK(FileOf("\xEF\xBB\xBF# hosts\nnode1") == "node1*1");
  CHECK_THAT(FaultsOf("node1 slots=0\n", true).front(),
             Catch::Contains("\"slots=0\": \"0\" is not a number of workers"));
  CHECK_THAT(FaultsOf("node1*2 slots=2\n", true).front(),
             Catch::Contains("node1 has a number of workers already"));
  CHECK_THAT(FaultsOf("node1\nslots=2\n", true).front(),
             Catch::Contains("line 2") && Catch::Contains("follows no host"));
  CHECK_THAT(FaultsOf("n[1-2]\nn1\n", true).front(), Catch::Contains("n1 named before, in line 1"));
  CHECK_THAT(FaultsOf("n1,n1").front(), Catch::Contains("named before"));
}

TEST_CASE("all faults of a list are reported, each with its entry and what to do") {
  const std::vector<std::string> faults = FaultsOf("ok,c[3-1],c[1-x],c[1-,d,e[2-1]");
  REQUIRE(faults.size() == 4);
  CHECK(faults[0] == "--hosts, entry 2, \"c[3-1]\": the range 3-1 runs downward: write 1-3");
  CHECK(faults[1] ==
        "--hosts, entry 3, \"c[1-x]\": \"1-x\" is not a range: write numbers, as in [01-32] or [1-3,7]");
  CHECK(faults[2] == "--hosts, entry 4, \"c[1-\": a bracket [ is not closed: add ]");
  CHECK_THAT(faults[3], Catch::StartsWith("--hosts, entry 6, "));
  const std::vector<std::string> more =
      FaultsOf("d:0 d:70000 -x @a -u@a a/b [1-010]z e*9999 c[1-2][1-2] c11 c[11-12] c[1-200000] :22");
  REQUIRE(more.size() == 12);
  CHECK_THAT(more[0], Catch::Contains("entry 1") && Catch::Contains("\"0\" is not a port"));
  CHECK_THAT(more[1], Catch::Contains("\"70000\" is not a port: write a number from 1 to 65535 after :"));
  CHECK_THAT(more[2], Catch::Contains("cannot begin with -"));
  CHECK_THAT(more[3], Catch::Contains("the user's name before @ is missing"));
  CHECK_THAT(more[4], Catch::Contains("\"-u\" is not a user's name"));
  CHECK_THAT(more[5], Catch::Contains("letters, digits, dots and hyphens"));
  CHECK_THAT(more[6], Catch::Contains("differ in length: write both with 3 digits"));
  CHECK_THAT(more[7], Catch::Contains("\"9999\" is not a number of workers"));
  CHECK_THAT(more[8],
             Catch::Contains("entry 10, \"c11\": c11 named before, in entry 9: remove one, or write c11*2"));
  CHECK_THAT(more[9], Catch::Contains("c11, c12 named before, in entry 9"));
  CHECK_THAT(more[10], Catch::Contains("has more than 100000 numbers"));
  CHECK_THAT(more[11], Catch::Contains("the host's name is missing"));
  CHECK_THAT(FaultsOf("a\xff").front(), Catch::Contains("UTF-8"));
  CHECK_THAT(FaultsOf("a[1-9999]n[1-9999]").front(), Catch::Contains("more than 100000 hosts"));
  CHECK_THAT(FaultsOf("a[1-1000]*1000").front(), Catch::Contains("asks for 1000000 workers"));
  CHECK_THAT(FaultsOf(" , ").front(), Catch::Contains("names no host"));
}

TEST_CASE("a long repetition is shortened, and the same name with another port is another host") {
  CHECK_THAT(FaultsOf("c[1-9],c[1-9]").front(),
             Catch::Contains("c1, c2, c3 and 6 more named before, in entry 1") && !Catch::Contains("c4"));
  CHECK_THAT(FaultsOf("c[1,1]").front(), Catch::Contains("c1 named twice"));
  CHECK(ListOf("c:22,c:23") == "c:22 c:23");
}

TEST_CASE("@ names a file, and one that cannot be read is an error") {
  const TempDir directory;
  const std::string file = directory / "hosts";
  std::ofstream(file) << "c[1-2]\nd\n";
  CHECK(HostsOf("@" + file)->size() == 3);
  CHECK(HostsOf("c[1-2]")->size() == 2);
  CHECK(absl::IsNotFound(HostsOf("@" + file + "x").status()));
}

}  // namespace
}  // namespace iobench
