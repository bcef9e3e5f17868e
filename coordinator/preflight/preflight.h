// Preflight: decides from what all workers have reported which clients cannot take part in a run, and why. Finds all
// faults, not only the first. Pure: no I/O, no clock.
#ifndef COORDINATOR_PREFLIGHT_PREFLIGHT_H_
#define COORDINATOR_PREFLIGHT_PREFLIGHT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/plan/layout.h"
#include "coordinator/preflight/file_clocks.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// In the order in which findings are listed.
enum class PreflightCheck {
  kJoin,     // reachable, of this version, still there
  kPath,     // exists, is a directory
  kNeeds,    // engines, traces, mounts, processors that the plan needs
  kStorage,  // all workers of a target see the same one
  kWrite,    // a file can be created and removed
  kSpace,    // free space against what the plan needs
  kLimits,   // descriptors, size of a file, lanes
  kMemory,   // against what the lanes need, and what is free
  kClock,    // how exactly it is known
  kMount,    // type and mount options equal on all clients
  kData,     // data that are there already
};
const char* NameOf(PreflightCheck check);

enum class Severity {
  kFault,   // the run would fail, or its totals would mean nothing
  kWarning  // the run is possible all the same
};

struct Finding {
  Severity severity = Severity::kFault;
  PreflightCheck check = PreflightCheck::kJoin;
  std::string client;          // for display; empty: of no client in particular
  std::set<uint32_t> workers;  // of this client that have it; empty: none that has joined
  std::string problem;         // what is wrong
  std::string advice;          // what to do; empty: the problem says it
  int error = 0;               // errno of the call that failed; 0: none did
  // Leaving the client out cures it. False for what all clients share, such as a full file system.
  bool of_client = true;
  // It sees the same storage as the others, where its user may not use what theirs have made: no run can use it, but
  // validate examines it.
  bool of_users = false;
  // How a run is refused if it has only this fault; OK: with client, problem and advice.
  absl::Status alone;
};

// What check files showed about one target (coordinator/preflight/storage_check.h). Nothing: they were not used.
struct StorageSights {
  // By worker: the storage that it sees there, 0 for the one that most see. Without those that were not asked, or failed:
  // there may be as many targets as workers.
  std::map<uint32_t, int> storage_of_worker;
  // Workers that see the same storage, but may not read, or not write, what another one has made.
  std::set<uint32_t> cannot_read, cannot_write_others;
  std::map<uint32_t, absl::Status> cannot_write;  // by worker
  std::map<uint32_t, ClockSight> clocks;          // by worker that has created a file
  // Workers whose view goes one way only. Each of them counts as seeing a storage of its own.
  enum class OneWay {
    kUnseen,  // it sees what others write, and they do not see what it writes
    kBlind    // the others see what it writes, and it does not see what they write
  };
  std::map<uint32_t, OneWay> one_way;
  double waited_s = 0;                            // for the file to appear where it did not

  bool SeesUsual(uint32_t worker) const { return StorageOf(worker) == 0; }
  bool SeesOther(uint32_t worker) const { return StorageOf(worker) > 0; }

 private:
  int StorageOf(uint32_t worker) const {
    const auto found = storage_of_worker.find(worker);
    return found == storage_of_worker.end() ? -1 : found->second;
  }
};

// The space and the inodes that lanes need on one file system. What is free is unknown on file systems that do not tell.
struct SpaceNeed {
  std::set<uint32_t> workers;  // that need it
  std::string path;
  uint64_t bytes = 0;       // in all
  uint64_t fill_bytes = 0;  // of it, to fill the file system (--fill)
  std::optional<uint64_t> free_bytes = {};
  uint64_t items = 0;  // files, names and the directories of the lanes, at least
  std::optional<uint64_t> free_items = {};
  v1::Space space = {};
  std::string smaller = "a smaller -s";  // what makes them need less

  bool HasTooFewBytes() const { return free_bytes.has_value() && bytes > *free_bytes; }
  bool HasTooFewItems() const { return free_items.has_value() && items > *free_items; }
};
// Returns " need 2 GiB, but only 1 GiB are free: use a smaller -s or fewer lanes, or --force to try anyway", split at the
// ": ". Empty: there is enough of both, or nobody knows.
struct Shortage {
  std::string problem, advice;
};
std::optional<Shortage> ShortageOf(const SpaceNeed& need);

// Returns ", 30 GiB of it for --fill", or nothing.
std::string OfItForFilling(const SpaceNeed& need);

// The facts from which the checks decide. Spans are indexed by worker number; empty: not known.
struct PreflightFacts {
  const v1::Plan& plan;
  const Layout& layout;
  std::span<const Member> members;
  std::span<const v1::WorkerTargets> targets;
  std::span<const v1::WorkerLimits> limits;
  std::span<const std::vector<absl::Status>> unmet;  // demands; each may begin with the client
  std::span<const int64_t> clock_error_ns;           // 0: the coordinator's clock
  std::span<const StorageSights> storage;            // by target
  std::span<const SpaceNeed> space;
  std::span<const JoinFault> join_faults;
  bool force = false;  // different storage and too little space are only worth a warning
};

// Returns all findings, sorted by severity, worker (those without workers first) and check; equal ones of several
// workers of a client are one.
std::vector<Finding> Judge(const PreflightFacts& facts);

// What --fill writes to a file system.
struct FillEstimate {
  std::string path;
  uint32_t percent = 0;
  uint64_t bytes = 0;  // 0: this much is in use already
  v1::Space space;     // before
};
// Returns what the plan's fullest Fill step writes, for each file system; empty: it has none.
std::vector<FillEstimate> FillEstimates(const v1::Plan& plan, std::span<const SpaceNeed> space);

// What preflight found out about a run's clients.
struct PreflightReport {
  uint32_t client_count = 0;
  uint32_t worker_count = 0;
  std::vector<Finding> findings;
  std::vector<FillEstimate> fills;
  std::vector<std::string> not_checked;  // "same storage: there is only one worker"
};
size_t FaultCount(const PreflightReport& report);

// Returns the numbers of the workers that have joined from the fault's client although others have not. If several
// machines have its boot id (clones), those with its host name are meant, or all if none has it. Workers of servers do
// not count.
std::set<uint32_t> JoinedThere(const JoinFault& fault, std::span<const Member> members);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_PREFLIGHT_H_
