// Identifies this host and its current boot.
#ifndef COMMON_HOST_IDENTITY_H_
#define COMMON_HOST_IDENTITY_H_

#include <string>

namespace iobench {

std::string HostName();

// Returns the kernel's boot id: equal for all processes of a host, different after each boot. Empty if unknown.
std::string BootId();

}  // namespace iobench

#endif  // COMMON_HOST_IDENTITY_H_
