// Identifies this host, its current boot, and a process on it.
#ifndef COMMON_HOST_IDENTITY_H_
#define COMMON_HOST_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iobench {

// Returns the name that the kernel reports, at most 255 bytes, which may be short or fully qualified. It is for
// display; names need not be unique, so BootId() identifies a host.
std::string HostName();

// Returns the kernel's boot id: equal for all processes of a host, different after each boot. Empty if unknown.
std::string BootId();

// Identifies a process that another process may look for later, perhaps from another host.
struct ProcessIdentity {
  std::string place;  // boot and PID namespace (that of a container), since a pid is meaningful only there
  int64_t pid = 0;
  uint64_t start_ticks = 0;
};
// Returns the identity of this process; nullopt if the system does not show it.
std::optional<ProcessIdentity> OwnIdentity();

// kOutOfSight: the process belongs to another host, boot or container, or the system does not show it. After a reboot
// it cannot be running, but another boot cannot be told from another host, so this is kOutOfSight, too.
enum class ProcessState { kAlive, kGone, kOutOfSight };
ProcessState StateOf(const ProcessIdentity& process);

// Convert to and from one line of text without a line break. nullopt: the line was not made by ToLine.
std::string ToLine(const ProcessIdentity& process);
std::optional<ProcessIdentity> ProcessFromLine(std::string_view line);

}  // namespace iobench

#endif  // COMMON_HOST_IDENTITY_H_
