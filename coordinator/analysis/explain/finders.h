// The conditions of the rules in limit_rules.cc, each a FindLimit; the rules say what they mean.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_

#include "coordinator/analysis/explain/limit_rules.h"

namespace iobench {

// client_finders.cc: what the clients and the run itself limit.
std::optional<FoundLimit> FindCpuQuota(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindIoLimit(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindPace(const v1::PhaseReport&, const ExplainFacts&, double);
std::optional<FoundLimit> FindClientCpu(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindOneProcessor(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindStolenCpu(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindMemoryCopy(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindClientNetwork(const v1::PhaseReport&, const ExplainFacts&, double share);
// The clients' memory stood in for the storage: M >= share x R + 0.5 x W, with a strength of 0.85 x M / (R + W).
//   R: bytes read (read_sources.asked_bytes); W: bytes written, also past the memory (ExplainFacts.written_bytes)
//   M: bytes read from the memory (read_sources.cache_bytes) + bytes written that stayed in it (written_bytes -
//      reached_bytes)
// So the reads and writes of a mix count by their shares of its bytes, and a phase that only reads or only writes has a
// threshold of its own. Bytes that no counter covers are in R and W but not in M, which is a lower bound: the evidence
// then says "at least".
std::optional<FoundLimit> FindCache(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindDataWork(const v1::PhaseReport&, const ExplainFacts&, double share);

// load_finders.cc: what the plan, the kernel's caches and others make of the load.
std::optional<FoundLimit> FindThinkTime(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindReadAhead(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindDirtyLimit(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindOtherLoad(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindSlowClient(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindSlowTarget(const v1::PhaseReport&, const ExplainFacts&, double share);

// delay_finders.cc: where ops spend their time if nothing is full.
std::optional<FoundLimit> FindStalls(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindServerDelay(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindNetworkDelay(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindLanes(const v1::PhaseReport&, const ExplainFacts&, double share);

// change_finders.cc: what made the rate change its level.
std::optional<FoundLimit> FindBurstCredits(const v1::PhaseReport&, const ExplainFacts&, double scatter);
std::optional<FoundLimit> FindWriteCache(const v1::PhaseReport&, const ExplainFacts&, double scatter);
std::optional<FoundLimit> FindHeat(const v1::PhaseReport&, const ExplainFacts&, double);

// server_finders.cc: what samplers on servers saw.
std::optional<FoundLimit> FindServerDisk(const v1::PhaseReport&, const ExplainFacts&, double busy);
std::optional<FoundLimit> FindServerCpu(const v1::PhaseReport&, const ExplainFacts&, double busy);
std::optional<FoundLimit> FindServerNetwork(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindNfsdThreads(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindOneDirectory(const v1::PhaseReport&, const ExplainFacts&, double share);

// nfs_finders.cc: what the clients' NFS counters say, and flushes.
std::optional<FoundLimit> FindLoss(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindSlots(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindNetwork(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindOneConnection(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindTransferSize(const v1::PhaseReport&, const ExplainFacts&, double bytes);
std::optional<FoundLimit> FindCommit(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindSyncWrites(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindFlush(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<FoundLimit> FindLocks(const v1::PhaseReport&, const ExplainFacts&, double share);

// Whether samplers saw servers, and none of their processors, disks or links was over 70 % busy. Also false if there
// are no servers, or one was not seen for the whole phase. nfsd threads count only if `threads_too`, because they also
// wait for locks.
bool ServersHaveRoom(const v1::PhaseReport& report, bool threads_too);
// Whether no client's processors or known links were over 70 % busy, and no mark says that they limited it. Also false
// if a client's processors are unknown.
bool ClientsHaveRoom(const v1::PhaseReport& report);
// Whether a client's processors were over 95 % busy, or a mark says that it was full. Includes clients whose phase was too
// short for a mark.
bool AnyClientFull(const v1::PhaseReport& report);
// Whether all lanes stood still together for 5 % of the phase or more: then rates and latencies are not those of a steady
// load.
bool StoodStill(const ExplainFacts& facts);
// Whether several lanes changed names in one directory tree.
bool SharesDirectory(const v1::PhaseReport& report);
// The lanes' time after the warm-up, which latencies and rates are of.
double CountedLanesSeconds(const v1::PhaseReport& report, const ExplainFacts& facts);
// The mean number of ops that lanes had in flight, by Little's law: rate x latency. NaN: no latency.
double OpsUnderWay(const v1::PhaseReport& report, const ExplainFacts& facts);
// The lanes' time in ops, fsync and close, as a share of what depth and time allow; near 1, something is always in
// flight.
double BlockedShare(const v1::PhaseReport& report, const ExplainFacts& facts);
// The shortest time that an op took, in us: after the warm-up, or as a lane's first one, which found no queue of its own
// run's ops. Infinite: unknown.
double FastestOpUs(const v1::PhaseReport& report, const ExplainFacts& facts);
// The shortest time in ms that TCP saw for a way to the servers and back, which has no queue in it; mean of the clients.
// NaN: unknown for one of them.
double PathRoundTripMs(const v1::PhaseReport& report);
// The mean time in ms from sending an NFS request to its reply. NaN: unknown.
double RequestMs(const v1::PhaseReport& report);
// The nfsd threads of all sampled servers. nullopt: there is no server, or one whose busy threads are unknown.
struct ServerThreads {
  double busy = 0;  // ran or waited for a disk, mean
  double requests_per_s = 0;
};
std::optional<ServerThreads> ThreadsOf(const v1::PhaseReport& report);
// The busy ones of these threads that did not run on a processor: they waited for a disk. NaN: unknown, or a server's
// processors had no room. short_waits: threads that only waited for a processor (the sampler itself needs one) are not
// negligible, so one thread is subtracted for each processor, and the result is NaN unless the counters of some disk
// show it busy.
double WaitingThreads(const v1::PhaseReport& report, const ExplainFacts& facts, bool short_waits);
// Whether all clients, or all sampled servers, report the speed of a link.
bool ClientLinksAreKnown(const v1::PhaseReport& report);
bool ServerLinksAreKnown(const v1::PhaseReport& report);

// The mean number of NFS requests of all clients in flight during the phase, by Little's law: rate x time. nullopt: the
// kernel has no NFS counters, or there were too few requests.
struct RequestsUnderWay {
  double unsent = 0;      // waited in a client: for a slot, or for its connection
  double unanswered = 0;  // sent; on the network or at a server
  double all() const { return unsent + unanswered; }
};
std::optional<RequestsUnderWay> RequestsOf(const v1::PhaseReport& report);
// The share of the sent, unanswered requests for which no server thread was running or waiting for a disk: they were on
// the network, or waited in a server's sockets. NaN: requests or threads are unknown, or the sampled servers got fewer
// requests than the clients sent, so there are other servers.
double ShareOutsideServers(const v1::PhaseReport& report);

// The seconds between the two readings of the clients' counters, on average.
double MeanSeconds(const v1::PhaseReport& report);

// "98 %" of 0.98.
std::string PercentText(double share);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_
