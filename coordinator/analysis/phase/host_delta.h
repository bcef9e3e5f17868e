// Combines one client's counters from the readings of its workers. Workers of one client share counters, so each is
// counted once. A counter that does not exist stays absent and is never 0.
#ifndef COORDINATOR_ANALYSIS_PHASE_HOST_DELTA_H_
#define COORDINATOR_ANALYSIS_PHASE_HOST_DELTA_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Identifies the process of a worker among those of its client. Containers may have the host's name and equal pids, but
// then have different pid namespaces. A worker without a pid is a process of its own. REQUIRES: worker <
// run.workers_size().
using ProcessKey = std::tuple<std::string, uint64_t, int64_t>;
ProcessKey ProcessKeyOf(const v1::RunRecord& run, uint32_t worker);

// Returns the host's counters from the worker whose lanes ended last; all workers started counting before the common
// start. A mount's counters come from the last of the workers with a target on it, and are those of all its targets.
// disk_read_bytes and disk_write_bytes belong to a process, so they are summed over processes (one may contain several
// workers); they are absent unless every worker has them. Of the workers' control groups, the most limited one counts, for
// each kind of limit. REQUIRES: the workers' numbers are below run.workers_size().
v1::HostDelta ClientDelta(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers);

// Returns how much of the phase quotas of control groups stopped the client's processes, in percent; at most 100, even
// if several processors were stopped. NaN: there is no quota, or it is not known.
double ThrottledPercent(const v1::HostDelta& host);
// Returns what was used of a limit on block I/O, in percent of what it allows in this time. NaN: unknown.
double IoLimitPercent(const v1::HostDelta& host, const v1::IoLimitDelta& limit);
// Returns the limit of which most was used; null: there is none.
const v1::IoLimitDelta* FullestIoLimit(const v1::HostDelta& host);

// Returns the share of its lanes' time in which they were ready to run, but had no processor. NaN: unknown. From
// kWaitedShare on, processors may have held them up.
double WaitedShare(const v1::ClientPhaseReport& client);
inline constexpr double kWaitedShare = 0.1;

// Percentages of the whole host, with all processors = 100; NaN if unknown. Waiting for I/O counts as idle. CpuPercent
// covers user and system time, StealPercent the time that the hypervisor gave to others.
double CpuPercent(const v1::HostDelta& host);
double StealPercent(const v1::HostDelta& host);

// Returns the CPU usage of the client's worker processes on the same scale, at most CpuPercent, since the host's
// counters are coarser than a process's. A process may contain several workers and counts once.
double OwnCpuPercent(const v1::RunRecord& run, std::span<const v1::WorkerPhaseResult* const> workers,
                     const v1::HostDelta& host);

// Returns the utilisation of an interface's busier direction relative to its link speed; NaN if that is unknown.
double NetworkPercent(const v1::HostDelta& host, const v1::NicDelta& nic);

// The network, by what TCP had to send again (transport.cc).
//
// Segments that TCP sends again mean that packets were lost. A connection that takes a loss for congestion (Reno, and
// CUBIC at the round-trip times of a data centre) carries at most 1.22 x segment / (round trip x sqrt(share lost)) (Mathis
// 1997): with 1448 bytes and 0.5 ms that is 110 MB/s at 0.1 %, and 35 MB/s at 1 %. A sound network of this kind loses
// less than 0.01 %.
inline constexpr double kLossyShare = 0.001;
inline constexpr double kBrokenShare = 0.01;
// Fewer say nothing of a share of 0.1 %; and a server that pauses, or one lost acknowledgement, costs some.
inline constexpr uint64_t kEnoughSegments = 1000;
inline constexpr uint64_t kEnoughRetransmissions = 5;

// Returns what the counters of a client say: of the connections to the servers of its targets if they are known,
// otherwise of the whole host. nullopt: its targets have no server, or its kernel shows no counters.
std::optional<v1::TransportReport> TransportOf(const v1::HostDelta& host);

// Sets the share from the counts.
void SetShare(v1::TransportReport& transport);

// True if at least this share of at least kEnoughSegments was sent again. Whatever asks whether a network loses packets
// asks this.
bool Loses(const v1::TransportReport& transport, double share = kLossyShare);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_HOST_DELTA_H_
