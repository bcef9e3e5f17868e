// Which network interface leads to the server of a target: that one's link is what the target's traffic can fill.
#ifndef WORKER_SERVER_ROUTE_H_
#define WORKER_SERVER_ROUTE_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "worker/mounts.h"

namespace iobench {

// The server's address where the mount says it ("addr=10.0.0.1", as NFS and SMB have it); empty: it does not.
std::string ServerAddressOf(const Mount& mount);

// The interface of the kernel's route to a numeric IPv4 or IPv6 address ("fe80::1%eth0" too); nullopt: no route, no
// address, or the kernel does not tell.
std::optional<std::string> InterfaceTo(const std::string& address);

// The address of a host name, asked for once per process. Blocks as long as the resolver does. Empty: not known.
std::string AddressOf(const std::string& host);

// The interface and all that it stands on (the slaves of a bond, what a VLAN is on).
std::set<std::string> WithThoseBelow(const std::string& interface);

}  // namespace iobench

#endif  // WORKER_SERVER_ROUTE_H_
