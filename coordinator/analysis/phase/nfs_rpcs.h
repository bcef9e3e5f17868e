// What NFS requests cost a client, from its mountstats.
#ifndef COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_
#define COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iobench/v1/result.pb.h"

namespace iobench {

// The mount that a target is on. Targets on the same mount read the same counters, which count once.
struct NfsTarget {
  std::string mount;  // identifies it; empty: the target has its own
  std::optional<uint64_t> rsize_bytes = {};
  std::optional<uint64_t> wsize_bytes = {};
};

// Returns the mount of each target that a client's workers have seen, by the target's number.
std::map<uint32_t, NfsTarget> NfsTargetsOf(const v1::RunRecord& run, std::span<const uint32_t> workers);

// Returns the number that a mount option sets, as in "rsize=1048576"; nullopt: there is none.
std::optional<uint64_t> NumberOfOption(std::string_view options, std::string_view name);

// Returns the requests of one client over all its mounts; docs/definitions.md defines each figure. `app_ops`: the ops
// of its lanes, to which all requests are related. nullopt: no target is on NFS, or the kernel does not provide the
// counters. Means are NaN if nothing of the kind was sent.
std::optional<v1::NfsRpcReport> NfsRpcsOf(const v1::HostDelta& host,
                                          const std::map<uint32_t, NfsTarget>& targets, uint64_t app_ops);

// Adds two clients' reports; means are weighted by the number of requests. A count that one of them does not know is
// unknown.
v1::NfsRpcReport Sum(const v1::NfsRpcReport& a, const v1::NfsRpcReport& b);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_PHASE_NFS_RPCS_H_
