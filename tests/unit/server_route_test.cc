#include "worker/client/server_route.h"

#include <net/if.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace iobench {
namespace {

// The interface of the default route, by /proc/net/route; empty: there is none.
std::string DefaultInterface() {
  std::ifstream file("/proc/net/route");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string interface, destination;
    words >> interface >> destination;
    if (destination == "00000000") return interface;
  }
  return "";
}

TEST_CASE("the kernel says which interface leads to an address") {
  CHECK(InterfaceTo("127.0.0.1") == "lo");
  CHECK(InterfaceTo("fe80::1%eth7") == "eth7");
  CHECK_FALSE(InterfaceTo("").has_value());
  CHECK_FALSE(InterfaceTo("server").has_value());
  if (const std::string interface = DefaultInterface(); !interface.empty()) {
    CHECK(InterfaceTo("192.0.2.1") == interface);  // TEST-NET-1, which no host has a separate route to
  }
}

TEST_CASE("a mount says where its server is") {
  Mount mount;
  mount.options = "rw,rw,vers=4.2,clientaddr=10.0.0.9,addr=10.0.0.1";
  CHECK(ServerAddressOf(mount) == "10.0.0.1");
  mount.options = "rw,addr=fd00::1,timeo=600";
  CHECK(ServerAddressOf(mount) == "fd00::1");
  mount.options = "rw,mountaddr=10.0.0.1";
  CHECK(ServerAddressOf(mount).empty());
}

TEST_CASE("GlusterFS names its servers in the source alone") {
  Mount mount;
  mount.filesystem = "fuse.glusterfs";
  mount.options = "rw,user_id=0,max_read=131072";
  for (const char* const source : {"10.0.0.1:/volume", "10.0.0.1:volume", "10.0.0.1,10.0.0.2:/volume"}) {
    mount.source = source;
    CHECK(ServerAddressOf(mount) == "10.0.0.1");
  }
  mount.source = "[fd00::1]:/volume";
  CHECK(ServerAddressOf(mount) == "fd00::1");
  mount.source = "/etc/glusterfs/volume.vol";
  CHECK(ServerAddressOf(mount).empty());
  mount.filesystem = "fuse.sshfs";
  mount.source = "10.0.0.1:/home";
  CHECK(ServerAddressOf(mount).empty());
}

TEST_CASE("addresses need no resolver") {
  CHECK(AddressOf("10.0.0.1") == "10.0.0.1");
  CHECK(AddressOf("[fd00::1]") == "fd00::1");
  CHECK(InterfaceTo(AddressOf("localhost")) == "lo");
}

TEST_CASE("an interface that stands on none is alone") {
  CHECK(WithThoseBelow("lo") == std::set<std::string>{"lo"});
}

}  // namespace
}  // namespace iobench
