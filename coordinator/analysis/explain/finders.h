// The conditions of the rules in limit_rules.cc, each a FindLimit; the rules say what they mean.
#ifndef COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_
#define COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_

#include "coordinator/analysis/explain/limit_rules.h"

namespace iobench {

// client_finders.cc: what the clients and the run itself limit.
std::optional<Finding> FindPace(const v1::PhaseReport&, const ExplainFacts&, double);
std::optional<Finding> FindClientCpu(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindOneProcessor(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindStolenCpu(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindClientNetwork(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindCache(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindDataWork(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindSlowClient(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindLanes(const v1::PhaseReport&, const ExplainFacts&, double share);

// server_finders.cc: what samplers on servers saw.
std::optional<Finding> FindServerDisk(const v1::PhaseReport&, const ExplainFacts&, double busy);
std::optional<Finding> FindServerCpu(const v1::PhaseReport&, const ExplainFacts&, double busy);
std::optional<Finding> FindServerNetwork(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindNfsdThreads(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindOneDirectory(const v1::PhaseReport&, const ExplainFacts&, double share);

// nfs_finders.cc: what the clients' NFS counters say, and flushes.
std::optional<Finding> FindLoss(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindSlots(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindOneConnection(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindTransferSize(const v1::PhaseReport&, const ExplainFacts&, double bytes);
std::optional<Finding> FindCommit(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindFlush(const v1::PhaseReport&, const ExplainFacts&, double share);
std::optional<Finding> FindLocks(const v1::PhaseReport&, const ExplainFacts&, double share);

// Whether samplers saw servers of which no processor, disk or link was over 70 % busy. False also if there are none, or
// one was not seen for the whole phase. nfsd threads count only if `threads_too`: they also wait for locks.
bool ServersHaveRoom(const v1::PhaseReport& report, bool threads_too);
// Whether no client's processors or known links were over 70 % busy, and no mark says that they limited it. False also
// if a client's processors are unknown.
bool ClientsHaveRoom(const v1::PhaseReport& report);
// Whether several lanes changed names in one directory tree.
bool SharesDirectory(const v1::PhaseReport& report);

// "98 %" of 0.98.
std::string PercentText(double share);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_EXPLAIN_FINDERS_H_
