// The inputs of validate's checks, and how a check reports what it has found.
#ifndef COORDINATOR_VALIDATE_CHECKS_CHECK_CONTEXT_H_
#define COORDINATOR_VALIDATE_CHECKS_CHECK_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/preflight/preflight.h"
#include "coordinator/validate/checks/file_calls.h"
#include "coordinator/validate/checks/network_reading.h"
#include "iobench/v1/result.pb.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

struct Fault;         // coordinator/validate/checks/fault.h
struct Features;      // coordinator/validate/checks/features.h
struct Expectations;  // coordinator/validate/performance/expectations.h
struct Performance;   // coordinator/validate/performance/performance.h
struct NetworkLimits;
struct MeasuredNetwork;

// What the user has set. The defaults are those of the command line.
struct ValidateLimits {
  double visible_within_s = 65;   // acdirmax of Linux plus a margin
  double clock_difference_s = 1;  // between clients, and from the file system's clock
  double recall_within_s = 10;    // a conflicting open that recalls a delegation
  double stall_within_s = 90;     // a write while the server is away
  double fault_timeout_s = 300;   // of a hook, and then for the file system to come back
  // How soon a lock must be free after its holder's power is cut; 0: not given, then as the server's lease allows.
  double lock_free_within_s = 0;
  double shrink_s = 60;        // to find a short script that still fails (--consistency)
  double outlier_share = 0.5;  // of the median of the others, below which a client's rate fails
};

// In CheckContext::causes: the check of mounts has found locks that do not reach the server.
inline constexpr char kLocalLocks[] = "mounts: local locks";

// What to do about a fault, by the file system at the path.
struct AdviceByFilesystem {
  const char* nfs;
  const char* gluster;
  const char* others;
};

std::string CountText(uint64_t count);  // "2,000"

// What all checks are given. The index of spans is the worker number.
struct CheckContext {
  FileCalls& files;
  // The workers that take part, one for each client that can; with a single client, all of its workers. Empty: none
  // can, which only checks without a minimum of peers may meet.
  std::vector<uint32_t> peers;
  // Clients that cannot take part: their path is missing, other storage, or not writable. The checks of mounts and
  // storage say so.
  uint32_t left_out = 0;
  std::vector<uint32_t> one_of_each;  // a worker of each client, including those
  // The names of the workers' clients, by worker: those that measurements give to them (ClientNamesOf).
  std::vector<std::string> client_names;
  uint32_t client_count = 1;
  bool whole = false;  // --whole: more rounds
  ValidateLimits limits;
  uint32_t name_count = 0;  // of the listings; 0: as the set has it
  std::string fault_hook;   // empty: none
  std::string client_hook;  // cuts the power of a client; empty: none
  std::string own_boot_id;  // of the coordinator's host, which must keep its power
  std::string path;
  std::span<const v1::WorkerTargets> targets;
  std::span<const Finding> findings;  // of preflight
  std::mt19937_64 random;
  uint32_t seed = 0;                                   // of `random`
  double consistency_s = 0;                            // --consistency; 0: not given
  std::shared_ptr<const Fault> fault = nullptr;        // set once one of the checks has made it
  std::shared_ptr<const Features> features = nullptr;  // set once one of the checks has asked
  // Measures performance, at most once. Null: not requested.
  std::function<absl::StatusOr<Performance>()> measure = nullptr;
  // Measures what TCP carries between each client and the coordinator's host (NetworkLimits.to and from), by client;
  // clients on that host are left out. Null: as `measure`. Unavailable: a worker was lost; Cancelled: interrupted.
  std::function<absl::StatusOr<std::map<std::string, NetworkLimits>>()> measure_network = nullptr;
  std::shared_ptr<const MeasuredNetwork> network = nullptr;  // set by the first measure_network
  uint64_t over_quota_bytes = 0;                             // --over-quota; 0: not given
  std::shared_ptr<const Performance> measured = nullptr;     // set by the first measure
  NetworkReadings network_begin = {};                        // set by the check of the network, as it began
  const Expectations* expected = nullptr;                    // --expect; null: not given
  // The checks so far whose failure explains that others fail too: "mounts" that of storage, "identity" that of
  // groups, "client-identity" those of all that use open files, "locks" and kLocalLocks those of all that use locks.
  std::set<std::string> causes = {};

  const std::string& HostOf(uint32_t worker) const { return files.cluster().members()[worker].facts.host(); }
  // "c01", or "c01 (2)" if another client has the same host name.
  const std::string& ClientOf(uint32_t worker) const { return client_names[worker]; }
  // The same, or "worker 3 on c01" if the client has several.
  std::string NameOf(uint32_t worker) const;
  // Returns the facts of the path as the worker sees it.
  const v1::TargetFacts& SeenBy(uint32_t worker) const;
  // The path is on a network file system of the NFS client.
  bool IsNfs() const;
  bool IsGluster() const;
  // Each client has a file system of its own there. False also where nobody can tell: FUSE, unknown types.
  bool IsLocal() const;
  std::string Advice(const AdviceByFilesystem& advice) const;
  // What to do if clients see old data: `on_nfs`, or what helps on other file systems.
  std::string CacheAdvice(const char* on_nfs) const;
  // The check whose failure explains why locks do not work; empty: as far as is known, they do.
  std::string CauseOfLocks() const;
  // The check that answers for a finding of preflight which makes clients unfit to take part; empty: it does not.
  std::string CheckOf(const Finding& finding) const;
  // Contents that no other call of this run writes.
  std::string NewContents(size_t bytes);
};

// Collects what a check finds. The last verdict counts, but a failure stays a failure.
class Outcome {
 public:
  explicit Outcome(v1::ValidateCheck& check) : check_(check) {}

  void Pass(std::string found);
  void Fail(std::string found, std::string advice);
  void Warn(std::string found, std::string advice);
  void Skip(std::string why);
  // The name of the errno that explains the verdict; empty: none.
  void Cause(const std::string& name) { check_.set_cause(name); }
  // Replaces the verdict, even a failure, and keeps the evidence: what failed has a cause for which another check answers.
  // `cause`: the errno's name; empty: none. Waivers do not apply to such a verdict.
  void Follow(const std::string& check, const std::string& cause, std::string found);
  // Replaces all that was found, because it says nothing about what was to be checked. Waivers do not apply to such a
  // verdict.
  void NotReached(const char* verdict, std::string why, std::string advice);
  bool reached() const { return reached_; }
  // Adds a line of evidence: who did what. Equal lines become one, with their count. Only the first 20 different lines
  // are kept; a last line counts the others.
  void Evidence(const std::string& line);
  void Figure(const char* name, double value, const char* unit = "");
  bool failed() const { return check_.verdict() == "fail"; }
  size_t evidence_count() const { return times_.size(); }  // of different lines

 private:
  void Set(const char* verdict, std::string found, std::string advice);

  v1::ValidateCheck& check_;
  bool reached_ = true;
  std::map<std::string, std::pair<int, uint64_t>> times_;  // line -> its index, count
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_CHECK_CONTEXT_H_
