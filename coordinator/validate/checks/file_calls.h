// Has workers call the file system on the check files of validate, and returns the calls' results.
#ifndef COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_
#define COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Calls in one directory of validate, in their order. Numbers are names: file 3 is "f3".
class CallList {
 public:
  explicit CallList(uint32_t directory) : directory_(directory) {}

  // Returns the new action, for its other fields to be set.
  v1::FileAction& Add(v1::FileAction::What what, uint32_t file = 0);
  // The common ones.
  v1::FileAction& Write(uint32_t file, std::string_view contents);  // creates it, and replaces what it holds
  v1::FileAction& Append(uint32_t file, std::string_view contents);
  v1::FileAction& Open(uint32_t file, uint32_t held, bool write);
  v1::FileAction& Await(v1::FileAction::Awaited awaited, uint32_t file, double timeout_s);

  uint32_t directory() const { return directory_; }
  const std::vector<v1::FileAction>& actions() const { return actions_; }

 private:
  const uint32_t directory_;
  std::vector<v1::FileAction> actions_;
};

// Index: the call in its list.
using CallResults = std::vector<v1::FileActionResult>;
// By worker number.
using ResultsOfWorkers = std::map<uint32_t, CallResults>;

// Waits on the cluster's thread until `done`, or until the time has passed. OK in both cases; Cancelled: interrupted.
absl::Status WaitFor(Cluster& cluster, int64_t ns, const std::function<bool()>& done);

// Use it on the cluster's thread, while no worker is in a phase. What it borrows must outlive it. Errors of all calls:
// Unavailable: a worker was lost (the message names it); Cancelled: interrupted; otherwise what Cluster::Call returns,
// or why a worker refused the request as a whole. What a call on the file system returned is in its result.
class FileCalls {
 public:
  FileCalls(Cluster& cluster, const ClockSync& clocks, v1::Target target)
      : cluster_(cluster), clocks_(clocks), target_(std::move(target)) {}

  absl::StatusOr<CallResults> Do(uint32_t worker, const CallList& calls);
  // Sends all calls at the same time. kTogether: no worker begins before all have their calls, within the error of
  // their clocks.
  enum class Start { kAtOnce, kTogether };
  absl::StatusOr<ResultsOfWorkers> DoAll(const std::map<uint32_t, CallList>& calls,
                                         Start start = Start::kAtOnce);

  // Waits until the file system stamps a change with a later time than all changes so far: servers stamp with the tick
  // of their kernel (10 ms), some with whole seconds, and two changes of equal size within one tick look the same to an
  // NFSv3 client, wherever it is. This worker writes a file of its own in the directory until its time has moved on;
  // after 5 s the caller has to do without. A file that cannot be written is left to the caller's own calls.
  absl::Status AwaitNextTimestamp(uint32_t worker, uint32_t directory);
  // The smallest step of the time that was seen, in seconds; 0: none was awaited or seen.
  double timestamp_step_s() const { return timestamp_step_s_; }

  // Makes a new directory, by this worker, and returns its number.
  absl::StatusOr<uint32_t> NewDirectory(uint32_t worker);
  // Removes all directories, by the first of these workers that can, also after an interrupt. Does nothing if none was
  // made. The error names what is left.
  absl::Status RemoveAll(std::span<const uint32_t> workers);

  // Why calls fail for a reason that says nothing about what is checked; empty: they do not. There is no space or quota
  // (ENOSPC, EDQUOT; not at large offsets, which may fail so), or somebody has removed or replaced a directory of
  // validate.
  const std::string& obstacle() const { return obstacle_; }

  // The request that Do sends, for callers that wait for the answer in another way.
  v1::WorkerRequest RequestFor(const CallList& calls) const;
  CoordTime OnCoordinator(uint32_t worker, int64_t worker_ns) const {
    return clocks_.MapOf(worker).ToCoordinator(WorkerTime{worker_ns});
  }
  Cluster& cluster() { return cluster_; }

 private:
  void FindObstacle(const Member& member, const std::vector<v1::FileAction>& actions,
                       const CallResults& results);
  absl::Status RemoveBy(uint32_t worker, CoordTime deadline);
  absl::Status Send(const std::map<uint32_t, CallList>& calls, size_t first, Start start,
                    ResultsOfWorkers& results);

  Cluster& cluster_;
  const ClockSync& clocks_;
  const v1::Target target_;
  uint32_t last_directory_ = 0;
  uint32_t clock_writes_ = 0;
  double timestamp_step_s_ = 0;
  std::string obstacle_;
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_
