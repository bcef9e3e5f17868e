// Identifies this host and its current boot.
#ifndef COMMON_HOST_IDENTITY_H_
#define COMMON_HOST_IDENTITY_H_

#include <string>

namespace iobench {

// Returns the name that the kernel reports, at most 255 bytes, which may be short or fully qualified. It is for
// display; names need not be unique, so BootId() identifies a host.
std::string HostName();

// Returns the kernel's boot id: equal for all processes of a host, different after each boot. Empty if unknown.
std::string BootId();

}  // namespace iobench

#endif  // COMMON_HOST_IDENTITY_H_
