// The NFS client's statistics per mount (/proc/self/mountstats). Works on text; no I/O.
#ifndef WORKER_CLIENT_MOUNTSTATS_H_
#define WORKER_CLIENT_MOUNTSTATS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

// One line of the per-op statistics. All are totals since the mount; times are sums over all calls.
struct NfsOpCounters {
  uint64_t ops = 0;
  uint64_t transmissions = 0;  // >= ops
  uint64_t major_timeouts = 0;
  uint64_t sent_bytes = 0;  // with RPC headers
  uint64_t received_bytes = 0;
  // Time in the queue before sending, from sending to the reply, and from the start of the call to its end.
  uint64_t queue_ms = 0;
  uint64_t rtt_ms = 0;
  uint64_t execute_ms = 0;
  std::optional<uint64_t> errors;  // not available in kernels before 5.3
};

// One xprt line: a connection. With nconnect=4, a mount has four.
struct NfsConnectionCounters {
  std::string protocol;  // "tcp", "udp", "rdma"
  // The port of this client, by which connections to one server differ; 0: unknown, or RDMA.
  uint64_t source_port = 0;
  std::optional<uint64_t> connects;
  uint64_t sends = 0;
  uint64_t receives = 0;
  uint64_t bad_xids = 0;
  // Sums of two queue lengths, each taken at every send: requests in flight, and requests that waited for a slot.
  uint64_t in_flight_sum = 0;
  uint64_t backlog_sum = 0;
  std::optional<uint64_t> max_slots;  // not a total: the most in use since the mount
};

// The part of the line "events:" that is reported.
struct NfsEventCounters {
  uint64_t short_reads = 0;
  uint64_t short_writes = 0;
  uint64_t delays = 0;  // JUKEBOX, DELAY
  // Requests to data servers; not available in kernels before 3.0.
  std::optional<uint64_t> pnfs_reads;
  std::optional<uint64_t> pnfs_writes;
};

// Values that could not be read are absent.
struct NfsMountCounters {
  std::string source;
  std::string mount_point;
  std::string filesystem;
  std::optional<uint64_t> age_s;
  std::optional<uint64_t> app_read_bytes;  // normal and direct reads
  std::optional<uint64_t> app_write_bytes;
  // Bytes that READ and WRITE calls transferred, as opposed to those that programs asked for.
  std::optional<uint64_t> server_read_bytes;
  std::optional<uint64_t> server_write_bytes;
  std::map<std::string, NfsOpCounters> ops;  // by the kernel's names: "READ", "WRITE", "COMMIT", "GETATTR" …
  std::vector<NfsConnectionCounters>
      connections;  // in the kernel's order; a line of an unknown protocol is left out
  std::optional<NfsEventCounters> events;
  std::string
      pnfs;  // the layout type: "LAYOUT_NFSV4_1_FILES", "not configured"; empty: not NFSv4.1, or unknown
  std::optional<uint64_t> lease_s;  // of the server, for the state of its clients; NFSv4, Linux 5.3 and later
};

// Returns the mounts with statistics. Accepts more or fewer columns and skips unknown lines (there is one xprt line per
// connection, and kernels add others). A line that is too short counts as missing.
std::vector<NfsMountCounters> ParseMountstats(std::string_view text);

// Returns the mount at `mount_point`; if there are several, the last, which hides the others. nullptr: none.
const NfsMountCounters* FindNfsMount(const std::vector<NfsMountCounters>& mounts,
                                     std::string_view mount_point);

// Returns the names of a mount's connections, "tcp 10.0.0.1 815": protocol, address of the server (the option addr=) and
// port of this client. Mounts of one server that share a connection, as Linux makes them do however many of them nconnect
// asks for, have its name in common. Empty: unknown.
std::vector<std::string> ConnectionNames(const NfsMountCounters& mount, std::string_view mount_options);

// Returns the differences between two readings of one mount, with only the ops that occurred. nullopt: it was remounted
// in between (it is younger, has another source, or a counter decreased). Without connections if their number changed.
std::optional<v1::NfsDelta> NfsDeltaBetween(const NfsMountCounters& before, const NfsMountCounters& after);

}  // namespace iobench

#endif  // WORKER_CLIENT_MOUNTSTATS_H_
