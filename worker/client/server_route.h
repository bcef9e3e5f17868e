// Finds the network interface that leads to a target's server. The speed of its link limits the target's traffic.
#ifndef WORKER_CLIENT_SERVER_ROUTE_H_
#define WORKER_CLIENT_SERVER_ROUTE_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "worker/storage/mounts.h"

namespace iobench {

// Returns the server's address from the mount options ("addr=10.0.0.1", as for NFS and SMB). For GlusterFS, it is that
// of the first server in the source ("server1,server2:/volume"), which AddressOf() may have to resolve. Empty: none.
std::string ServerAddressOf(const Mount& mount);

// Returns the interface of the kernel's route to a numeric IPv4 or IPv6 address (also "fe80::1%eth0"). nullopt: no
// route, not an address, or unknown to the kernel.
std::optional<std::string> InterfaceTo(const std::string& address);

// Returns the address of a host name, resolved once per process. May block as long as the resolver does. Empty:
// unknown.
std::string AddressOf(const std::string& host);

// Returns the interface and all interfaces that it is stacked on (slaves of a bond, the base of a VLAN).
std::set<std::string> WithThoseBelow(const std::string& interface);

}  // namespace iobench

#endif  // WORKER_CLIENT_SERVER_ROUTE_H_
