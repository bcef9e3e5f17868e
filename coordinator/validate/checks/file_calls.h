// Has workers call the file system on the check files of validate, and returns the calls' results.
#ifndef COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_
#define COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/cluster/clock_sync.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/validate/checks/side_by_side.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Calls in one directory of validate. Those of one lane are made in their order, those of different lanes side by side:
// to a distant server, calls that do not need each other take the time of one. Numbers are names: file 3 is "f3".
class CallList {
 public:
  explicit CallList(uint32_t directory) : directory_(directory) {}

  // The lane of the calls that are added from now on; 0 before the first call of this one.
  void InLane(uint32_t lane) { lane_ = lane; }
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
  uint32_t lane_ = 0;
  std::vector<v1::FileAction> actions_;
};

// Index: the call in its list.
using CallResults = std::vector<v1::FileActionResult>;
// By worker number.
using ResultsOfWorkers = std::map<uint32_t, CallResults>;

// A call that failed for a cause of its own.
struct CauseMet {
  int error = 0;
  uint32_t worker = 0;
  std::string told;            // "c01: write f1: …"
  bool of_directory = false;   // the directory of validate could not be opened
  bool only_by_fault = false;  // only a fault makes it a cause; without one, the check has to judge it
};

// Waits on the cluster's thread until `done`, or until the time has passed. OK in both cases; Cancelled: interrupted.
absl::Status WaitFor(Cluster& cluster, int64_t ns, const std::function<bool()>& done);

// Use it while no worker is in a phase, on the cluster's thread, or in works of side_by_side(). What it borrows must
// outlive it. Errors of all calls:
// Unavailable: a worker was lost (the message names it); Cancelled: interrupted; otherwise what Cluster::Call returns,
// or why a worker refused the request as a whole. What a call on the file system returned is in its result.
class FileCalls {
 public:
  FileCalls(Cluster& cluster, const ClockSync& clocks, v1::Target target)
      : cluster_(cluster), side_by_side_(cluster), clocks_(clocks), target_(std::move(target)) {}

  // Runs checks that do not need each other; their calls come here.
  SideBySide& side_by_side() { return side_by_side_; }

  absl::StatusOr<CallResults> Do(uint32_t worker, const CallList& calls);
  // Sends all calls at the same time. kTogether: no worker begins before all have their calls, within the error of
  // their clocks.
  enum class Start { kAtOnce, kTogether };
  absl::StatusOr<ResultsOfWorkers> DoAll(const std::map<uint32_t, CallList>& calls,
                                         Start start = Start::kAtOnce);

  // As DoAll, but for lists that one request holds, and for calls that may never end: workers that have not answered
  // within `seconds` are in `late` instead of the results. They perform no other calls until they are done with these. Not
  // for works of side_by_side().
  absl::StatusOr<ResultsOfWorkers> DoWithin(const std::map<uint32_t, CallList>& calls, double seconds,
                                            std::vector<uint32_t>& late);

  // Returns after this time. Cancelled: interrupted.
  absl::Status Wait(int64_t ns);
  // Waits until the file system stamps a change with a later time than all changes so far: servers stamp with the tick
  // of their kernel (10 ms), some with whole seconds, and two changes of equal size within one tick look the same to an
  // NFSv3 client, wherever it is. This worker writes a file of its own in the directory until its time has moved on;
  // after 5 s the caller has to do without. A file that cannot be written is left to the caller's own calls.
  absl::Status AwaitNextTimestamp(uint32_t worker, uint32_t directory);
  // The smallest step of the time that was seen, in seconds; 0: none was awaited, or all were shorter than a call.
  double timestamp_step_s() const { return timestamp_step_s_; }

  // Whether each call takes so long, because the server is far away, that the quick set has to do with fewer. False until
  // a directory was made.
  bool server_is_distant() const { return directory_s_ > kDistantS; }
  // Makes a new directory, by this worker, and returns its number.
  absl::StatusOr<uint32_t> NewDirectory(uint32_t worker);
  // Removes all directories, by the first of these workers that can, also after an interrupt. Does nothing if none was
  // made. The error names what is left.
  absl::Status RemoveAll(std::span<const uint32_t> workers);

  // Returns which calls of this work (of side_by_side(), or outside) since the last call of this one have failed for a cause that says nothing about what is checked
  // (coordinator/preflight/cause.h), the first ones: the mount, the export, rights or space, or somebody has removed or
  // replaced a directory of validate. Not among them is what a check may ask for itself: a lock or a link that is refused,
  // an offset too large.
  std::vector<CauseMet> TakeCauses();
  // Whether some have, other than by a fault.
  bool has_met_cause() const;

  // The request that Do sends, for callers that wait for the answer in another way.
  v1::WorkerRequest RequestFor(const CallList& calls) const;
  CoordTime OnCoordinator(uint32_t worker, int64_t worker_ns) const {
    return clocks_.MapOf(worker).ToCoordinator(WorkerTime{worker_ns});
  }
  Cluster& cluster() { return cluster_; }

 private:
  // To make a directory, which takes some round trips: those of a server at 15 ms or more are above.
  static constexpr double kDistantS = 0.05;

  void FindCauses(const Member& member, const std::vector<v1::FileAction>& actions, size_t first,
                  const CallResults& results);
  bool IsMine(const void* work) const;
  absl::Status RemoveBy(uint32_t worker, CoordTime deadline);
  absl::Status RemoveListed(uint32_t worker, const CallList& calls, CoordTime deadline);
  absl::Status Send(const std::map<uint32_t, CallList>& calls, size_t first, Start start,
                    ResultsOfWorkers& results);

  Cluster& cluster_;
  SideBySide side_by_side_;
  const ClockSync& clocks_;
  const v1::Target target_;
  uint32_t last_directory_ = 0;
  uint32_t clock_writes_ = 0;
  double timestamp_step_s_ = 0;
  double directory_s_ = 0;  // the shortest time in which one was made; 0: none was
  std::map<const void*, std::vector<CauseMet>> causes_;  // by work
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FILE_CALLS_H_
