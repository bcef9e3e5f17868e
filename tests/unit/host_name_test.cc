#include "common/text/host_name.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/net/nfs_url.h"
#include "common/transport/grpc_address.h"
#include "coordinator/cluster/join_check.h"
#include "coordinator/launch/client_list.h"
#include "coordinator/launch/host_list.h"
#include "coordinator/options/cluster_options.h"

namespace iobench {
namespace {

// Each way in which the program is given the name of a host. OK: it is believed.
struct NameSource {
  const char* what;
  std::function<absl::Status(const std::string& name)> give;
  bool takes_path = false;  // what follows a slash is another part
};

const NameSource kNameSources[] = {
    {"--hosts, --sampler-hosts, clean --hosts",
     [](const std::string& name) { return ParseHostList(name, "--hosts", /*is_file=*/false).status(); }},
    {"a user's host in a list",
     [](const std::string& name) { return ParseHostList("me@" + name, "--hosts", /*is_file=*/false).status(); }},
    {"a file of hosts",
     [](const std::string& name) { return ParseHostList(name + "\n", "list", /*is_file=*/true).status(); }},
    {"a client list",
     [](const std::string& name) { return ParseClientList(name + " /mnt /usr/bin/x\n", "clients").status(); }},
    {"a user's client in a list",
     [](const std::string& name) { return ParseClientList("me@" + name + " /mnt /x\n", "clients").status(); }},
    {"what a worker says of itself",
     [](const std::string& name) {
       v1::WorkerFacts facts;
       facts.set_program_version("1");
       facts.set_host(name);
       return CheckFacts(facts, "1", 1);
     }},
    {"--join, --listen, --live-metrics",
     [](const std::string& name) { return ParseGrpcAddress(name + ":9400").status(); }},
    {"-+h",
     [](const std::string& name) {
       ClusterOptions place;
       place.hosts = "c1";
       place.coordinator_host = name;
       return CheckClusterOptions(place);
     }},
    {"nfs://",
     [](const std::string& name) { return ParseNfsUrl(absl::StrCat("nfs://", name, "/export")).status(); },
     /*takes_path=*/true},
};

TEST_CASE("a name that is an option or a path is no host's, whoever gives it") {
  const std::string too_long(256, 'h'), zero("a\0b", 3);
  for (const NameSource& source : kNameSources) {
    INFO(source.what);
    for (const std::string& name : {std::string(".."), std::string("."), std::string("-oProxyCommand=x"),
                                    std::string("../etc"), std::string("a/b"), std::string("a\x1b[2J"), zero,
                                    std::string("a\xff"), too_long}) {
      INFO(name);
      if (source.takes_path && name == "a/b") continue;
      CHECK(absl::IsInvalidArgument(source.give(name)));
    }
    for (const char* name : {"node07", "node-7.example.org", "10.0.0.7", "a..b", "x_1"}) {
      INFO(name);
      CHECK(source.give(name).ok());
    }
  }
}

TEST_CASE("what is wrong with a name is said without the name") {
  for (const std::string& name : {std::string("-evil"), std::string("ev/il"), std::string("evil\n"), std::string("evil\xff")}) {
    const absl::Status status = CheckHostName(name);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(std::string(status.message()).find("vil") == std::string::npos);
  }
  CHECK(absl::IsInvalidArgument(CheckHostName("")));
  CHECK(CheckHostName(std::string(255, 'h')).ok());
}

}  // namespace
}  // namespace iobench
