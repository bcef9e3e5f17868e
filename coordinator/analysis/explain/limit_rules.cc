#include "coordinator/analysis/explain/limit_rules.h"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "coordinator/analysis/explain/finders.h"

namespace iobench {
namespace {

// Where two may be equally strong, the cause comes before its effect: a full disk keeps nfsd threads busy.
constexpr LimitRule kLimitRules[] = {
    {"pace", "every operation has a pace or a rate, and no lane missed it", 0,
     "the load was as requested; it does not show the maximum", "leave out -+O or --rate to find the maximum",
     "plan of the run", FindPace},
    {"server-disk", "a server disk was busy for 90 % of the time or more, with at least 1.5 requests waiting",
     0.90, "requests wait for the disk",
     "more or faster disks; for SSDs and arrays compare with their own maximum, since busy does not mean full there",
     "iostat(1): %util, aqu-sz", FindServerDisk},
    {"server-network", "a link of a server carried 93 % of its speed or more in one direction", 0.93,
     "the server's link is full", "a faster or second link for the server", "ethtool(8), /proc/net/dev",
     FindServerNetwork},
    {"server-cpu", "the processors of a server were busy for 90 % of the time or more", 0.90,
     "the server's processors are always busy",
     "more or faster processors for the server, or less work for it: larger requests, no encryption",
     "mpstat(1); USE method (Gregg)", FindServerCpu},
    {"nfsd-threads",
     "80 % or more of a server's nfsd threads were busy, with more requests in flight than threads, while its disks and processors were less than half busy",
     0.80, "requests wait for a thread", "more nfsd threads: rpc.nfsd N, or threads= in /etc/nfs.conf",
     "rpc.nfsd(8)", FindNfsdThreads},
    {"cpu-quota",
     "mark cpu_quota, on at least half of the clients, whose lanes waited for a processor for 10 % of their time or more",
     0.10, "a CPU quota of the clients' control groups stops the lanes",
     "raise cpu.max (systemd: CPUQuota=, Kubernetes: limits.cpu), or use more clients",
     "Linux Documentation/admin-guide/cgroup-v2: cpu.stat; /proc/PID/schedstat", FindCpuQuota},
    {"io-limit", "mark io_limited, on at least half of the clients: 90 % of a limit on block I/O or more", 0.90,
     "a limit of the clients' control groups on block I/O is reached",
     "raise io.max (v1: blkio.throttle; systemd: IOReadBandwidthMax=, IOWriteBandwidthMax=)",
     "Linux Documentation/admin-guide/cgroup-v2: io.max, io.stat", FindIoLimit},
    {"memory-copy",
     "lanes spent 70 % of their time or more in ops, with a busy processor for each or with full clients, and records of 64 KiB or more came from the clients' memory or stayed there",
     0.70,
     "the kernel copies data between memory and the lanes' buffers, as fast as processors and memory can",
     "more lanes while processors are idle; larger files, --cold or -I to measure the storage",
     "getrusage(2); docs/marks.md#cached, docs/marks.md#memory_fs", FindMemoryCopy},
    {"client-cpu", "mark cpu_bound for the whole host, on at least half of the clients: over 95 % busy", 0.95,
     "the clients' processors are always busy",
     "fewer lanes or larger records on each client, or more clients", "docs/marks.md#cpu_bound; mpstat(1)",
     FindClientCpu},
    {"one-processor", "mark cpu_bound for lanes, on at least half of the clients: over 95 % of one processor",
     0.95, "a lane is one thread, and its processor is full", "more lanes, larger records or more clients",
     "docs/marks.md#cpu_bound", FindOneProcessor},
    {"stolen-cpu", "mark cpu_bound for stolen time, on at least half of the clients: over 5 %", 0.05,
     "the hypervisor gives the clients' processors to others", "clients with processors of their own",
     "docs/marks.md#cpu_bound; proc(5): steal", FindStolenCpu},
    {"client-network",
     "mark network_bound, on at least half of the clients: 95 % of the link's speed or more", 0.95,
     "the clients' links are full", "more clients or faster links", "docs/marks.md#network_bound",
     FindClientNetwork},
    {"packet-loss", "1 % of READ, WRITE and COMMIT or more were retransmitted", 0.01,
     "lanes wait for requests that are lost or answered too late",
     "check cables, switches, MTU and the server's load", "nfsstat(8): retrans; nfs(5): timeo", FindLoss},
    {"slots", "requests waited to be sent for at least 30 % of their time, with all slots in use, 16 at most",
     0.30, "the client cannot have more requests in flight",
     "raise sunrpc.tcp_slot_table_entries, tcp_max_slot_table_entries or nfs.max_session_slots, and the server's session slots",
     "nfsiostat(8): queue, rpc bklog", FindSlots},
    {"network",
     "no thread of a sampled server was working on 80 % or more of the unanswered requests, while lanes waited and requests queued; clients and servers had room",
     0.80, "requests and replies wait on the path: a link, a switch or a connection is full",
     "measure the path with --net-test; a faster link, or nconnect=4 if the link has room",
     "mountstats: queue, RTT; /proc/PID/stat of nfsd; Little 1961", FindNetwork},
    {"one-connection",
     "each client has one connection, and requests waited to be sent for at least 30 % of their time and 20 ms each, none of them for a slot; clients, sampled servers and all their links, of known speed, had room",
     0.30, "a single TCP connection is at its maximum", "mount with nconnect=4 or more", "nfs(5): nconnect",
     FindOneConnection},
    {"transfer-size",
     "READ or WRITE requests were full (90 % of rsize or wsize), of 64 KiB or less, and the records larger; each took less than 10 ms",
     64 << 10, "each request moves little, so the cost per request dominates",
     "mount with rsize=1048576,wsize=1048576; check the server's max_block_size", "nfs(5): rsize, wsize",
     FindTransferSize},
    {"commit", "COMMIT took 30 % of all request time or more, with at least one per ten WRITEs", 0.30,
     "writes wait until the server has data on stable storage",
     "flush less often, or a server with a faster log device or protected memory",
     "RFC 8881, section 18.3; nfs(5)", FindCommit},
    {"sync-writes",
     "all writes were synchronous (O_SYNC, O_DSYNC, O_DIRECT), and for 50 % of the requests in flight or more a thread of a sampled server was waiting for a disk, with room on its processors",
     0.50, "each write waits until the server has it on stable storage",
     "flush after several writes instead of after each, use more lanes, or a server with a faster log device or protected memory",
     "open(2): O_SYNC; RFC 8881, section 18.32", FindSyncWrites},
    {"flush", "fsync and close took 50 % of the lanes' time or more, not on NFS", 0.50,
     "data reach the storage in fsync and close", "flush less often, or faster storage below the file system",
     "docs/definitions.md#order-of-a-lane-and-the-timed-region", FindFlush},
    {"locks", "LOCK, LOCKT and LOCKU took 30 % of all request time or more", 0.30, "lanes wait for locks",
     "lock larger ranges less often, or leave out -W and -+l", "RFC 8881, section 18.10", FindLocks},
    {"one-directory",
     "several lanes changed names in one directory tree and waited for 70 % of their time or more, either before a request was in flight or while a server thread held it; clients and sampled servers had room",
     0.70, "a directory accepts one change at a time", "a directory for each lane or client",
     "Linux Documentation/filesystems/directory-locking", FindOneDirectory},
    {"cache",
     "bytes read from the clients' memory and bytes written that had not left it were together at least 95 % of the bytes read plus 50 % of the bytes written",
     0.95, "the clients' memory was measured, not the storage",
     "larger files, --cold or -I for reads; -e, -o or -I for writes", "docs/marks.md#cached, docs/marks.md#absorbed",
     FindCache},
    {"data-work", "lanes generated or checked data for 30 % of their time or more", 0.30,
     "the lanes were not doing I/O", "leave out verification or use cheaper data",
     "docs/marks.md#data_time", FindDataWork},
    {"slow-client", "one client had less than 50 % of the others' mean rate per lane", 0.50,
     "the slow client holds up the phase or does too little of it",
     "compare its mount, link, kernel and load with those of the others", "docs/definitions.md#clients-workers-lanes",
     FindSlowClient},
    {"lanes",
     "lanes waited for ops for 90 % of their time or more (Little's law), with a single op in flight, or with no queue and with room on clients and sampled servers",
     0.90, "nothing is full: the response time limits the rate",
     "more lanes, a deeper queue (--depth) or more clients",
     "Little 1961: ops in flight = rate x response time", FindLanes},
};

}  // namespace

std::span<const LimitRule> LimitRules() {
  return kLimitRules;
}

std::optional<FoundLimit> FindByRule(std::string_view name, const v1::PhaseReport& report,
                                     const ExplainFacts& facts) {
  const LimitRule* const rule = std::find_if(std::begin(kLimitRules), std::end(kLimitRules),
                                             [name](const LimitRule& each) { return name == each.name; });
  assert(rule != std::end(kLimitRules));
  return rule->find(report, facts, rule->threshold);
}

}  // namespace iobench
