// Trials of the network to the server: what the client's kernel has counted of it, and whether much data passes at once.
// The numbers are totals since boot, or since a connection was made: only differences mean something.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/unique_fd.h"
#include "worker/check/trial/trial.h"
#include "worker/client/host_counters.h"
#include "worker/client/server_route.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

struct Network {
  HostCounters counters;
  std::set<std::string> carriers;  // interfaces that lead to the server
};

Network ReadNetwork(const TrialPlace& place) {
  const std::optional<Mount> mount = MountOf(place.directory_fd, place.path);
  if (!mount) return {.counters = ReadHostCounters({}), .carriers = {}};
  std::map<uint32_t, std::string> nfs;
  if (IsNfs(mount->filesystem)) nfs[0] = mount->mount_point;
  const std::string server = IsNetworkFilesystem(mount->filesystem) ? ServerAddressOf(*mount) : "";
  if (server.empty()) return {.counters = ReadHostCounters(nfs), .carriers = {}};
  Network network{.counters = ReadHostCounters(nfs, false, {server}), .carriers = {}};
  if (const std::optional<std::string> interface = InterfaceTo(server))
    network.carriers = WithThoseBelow(*interface);
  return network;
}

// Sets the sum over the connections, which the detail names; without any, `of_host`, if that is known.
template <typename OfConnection>
absl::Status Count(const TrialPlace& place, v1::TrialResult& result, OfConnection of_connection,
                   std::optional<uint64_t> (*of_host)(const TcpSegments&)) {
  const HostCounters counters = ReadNetwork(place).counters;
  std::vector<std::string> names;
  uint64_t sum = 0;
  for (const auto& [name, connection] : counters.server_connections) {
    names.push_back(name);
    sum += of_connection(connection);
  }
  if (!names.empty()) {
    result.set_answer("servers");
    result.set_detail(absl::StrJoin(names, ", "));
    result.set_number(sum);
    return absl::OkStatus();
  }
  const std::optional<uint64_t> number = counters.tcp ? of_host(*counters.tcp) : std::nullopt;
  result.set_answer(number ? "host" : "unknown");
  if (number) result.set_number(*number);
  return absl::OkStatus();
}

std::optional<uint64_t> Unknown(const TcpSegments&) {
  return std::nullopt;
}

absl::Status CountSent(const TrialPlace& place, v1::TrialResult& result) {
  return Count(
      place, result, [](const TcpConnection& each) { return each.sent_segments; },
      [](const TcpSegments& host) { return std::optional(host.sent + host.retransmitted); });
}

absl::Status CountRetransmitted(const TrialPlace& place, v1::TrialResult& result) {
  return Count(
      place, result, [](const TcpConnection& each) { return each.retransmitted_segments; },
      [](const TcpSegments& host) { return std::optional(host.retransmitted); });
}

absl::Status CountReceived(const TrialPlace& place, v1::TrialResult& result) {
  return Count(
      place, result, [](const TcpConnection& each) { return each.received_segments; }, Unknown);
}

absl::Status CountOutOfOrder(const TrialPlace& place, v1::TrialResult& result) {
  return Count(
      place, result, [](const TcpConnection& each) { return each.out_of_order_segments; }, Unknown);
}

absl::Status TellPathMtu(const TrialPlace& place, v1::TrialResult& result) {
  result.set_answer("unknown");
  for (const auto& [name, connection] : ReadNetwork(place).counters.server_connections) {
    if (connection.path_mtu == 0 || (result.has_number() && result.number() <= connection.path_mtu)) continue;
    result.set_answer("servers");
    result.set_number(connection.path_mtu);
  }
  return absl::OkStatus();
}

absl::Status TellRoundTrip(const TrialPlace& place, v1::TrialResult& result) {
  const TcpConnections connections = ReadNetwork(place).counters.server_connections;
  result.set_answer(connections.empty() ? "unknown" : "servers");
  double sum_ms = 0;
  for (const auto& [name, connection] : connections) sum_ms += connection.round_trip_ms;
  if (!connections.empty()) result.set_number(static_cast<uint64_t>(1000 * sum_ms) / connections.size());
  return absl::OkStatus();
}

// A bond counts what the interfaces below it count, too: the largest of these.
absl::Status CountOfInterfaces(const TrialPlace& place, v1::TrialResult& result,
                               uint64_t NicBytes::*counter) {
  const Network network = ReadNetwork(place);
  result.set_answer("unknown");
  for (const std::string& carrier : network.carriers) {
    const auto found = network.counters.nics.find(carrier);
    if (found == network.counters.nics.end()) continue;
    result.set_answer("interface");
    result.set_number(std::max(result.number(), found->second.*counter));
  }
  result.set_detail(absl::StrJoin(network.carriers, ", "));
  return absl::OkStatus();
}

absl::Status CountErrors(const TrialPlace& place, v1::TrialResult& result) {
  return CountOfInterfaces(place, result, &NicBytes::errors);
}

absl::Status CountDrops(const TrialPlace& place, v1::TrialResult& result) {
  return CountOfInterfaces(place, result, &NicBytes::drops);
}

// Writes 4 MiB, waits until the server has them, and reads them from there: both in transfers as large as the mount
// allows, so that segments of the largest size go both ways.
absl::Status TransferMuch(const TrialPlace& place, v1::TrialResult& result) {
  constexpr size_t kBytes = size_t{4} << 20;
  const std::string name = place.Name("large");
  const UniqueFd fd(::openat(place.directory_fd, name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const auto failed = [&](const char* call) {
    const int error = errno;
    result.set_failed_call(call);
    return ErrnoStatus(absl::StrCat(call, " ", place.PathOf(name)), error);
  };
  if (!fd.valid()) return failed("create");
  std::vector<char> data(kBytes, 'n');
  for (size_t done = 0; done < kBytes;) {
    const ssize_t bytes = ::write(fd.get(), data.data() + done, kBytes - done);
    if (bytes <= 0) return failed("write");
    done += static_cast<size_t>(bytes);
  }
  if (::fsync(fd.get()) != 0) return failed("fsync");
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  uint64_t read = 0;
  while (true) {
    const ssize_t bytes = ::pread(fd.get(), data.data(), data.size(), static_cast<off_t>(read));
    if (bytes < 0) return failed("read");
    if (bytes == 0) break;
    read += static_cast<uint64_t>(bytes);
  }
  ::unlinkat(place.directory_fd, name.c_str(), 0);
  result.set_answer(read == kBytes ? "yes" : "no");
  result.set_number(read);
  return absl::OkStatus();
}

constexpr Trial kNetworkTrials[] = {
    {"sent-segments", "segments with data that TCP has sent, also those sent again", CountSent},
    {"retransmitted-segments", "those that it had to send again", CountRetransmitted},
    {"received-segments", "segments with data that it has received", CountReceived},
    {"out-of-order-segments", "those of them that came before an earlier one", CountOutOfOrder},
    {"path-mtu", "the smallest of the connections, in bytes", TellPathMtu},
    {"round-trip", "mean of the connections, in microseconds", TellRoundTrip},
    {"interface-errors", "of the interfaces to the server", CountErrors},
    {"interface-drops", "of the interfaces to the server", CountDrops},
    {"large-transfer", "4 MiB to the server and back; the number: bytes read", TransferMuch},
};

}  // namespace

std::span<const Trial> NetworkTrials() {
  return kNetworkTrials;
}

}  // namespace iobench
