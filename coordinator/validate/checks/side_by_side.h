// Lets checks that do not need each other wait for workers at the same time: to a distant server, they take the time of
// the slowest one and not of all.
#ifndef COORDINATOR_VALIDATE_CHECKS_SIDE_BY_SIDE_H_
#define COORDINATOR_VALIDATE_CHECKS_SIDE_BY_SIDE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "common/mutex.h"
#include "coordinator/cluster/cluster.h"

namespace iobench {

// Each work has a thread, but only one of all, or the cluster's thread, runs at any time: it goes on until it waits in
// Run, Call or Wait. So works share what they borrow without locks, and only the cluster's thread uses the cluster's
// transport. `cluster` must outlive this object.
class SideBySide {
 public:
  explicit SideBySide(Cluster& cluster);
  ~SideBySide();

  // Runs the works, and returns the first error, in their order, when all have ended. A work for which the system refuses a
  // thread runs after the others, on this one. Call it on the cluster's thread, with no phase in progress, since it sets
  // the cluster's on_event, or in a work, whose parts the new ones then are.
  absl::Status Run(std::span<const std::function<absl::Status()>> works);

  // ---- for works, while they run
  // As Cluster::CallSome, for requests on files: workers whose work stands still are dropped as lost.
  absl::Status Call(std::span<const uint32_t> workers, const Cluster::MakeRequest& make,
                    const Cluster::OnReply& on_reply);
  // Returns after this time. Cancelled: interrupted.
  absl::Status Wait(int64_t ns);
  // Tells works apart, but not the parts of one; nullptr: none runs.
  const void* current() const;

 private:
  struct Work;

  void RunUntilEnded();
  void RunOn(Work& work);
  void Resume(Work& work);
  void Yield(Work& work);
  void Post(Work& work);
  void Note(const Member& member, const ReceivedEvent& received);
  void Answered(Work& work, uint32_t worker);
  void PollWorkers();
  absl::Status WaitForOne();
  void EndWaits(const absl::Status& status);

  Cluster& cluster_;
  std::vector<std::unique_ptr<Work>> works_;
  std::unordered_map<uint32_t, uint32_t> asked_;  // worker -> works that wait for it
  std::unordered_map<uint32_t, uint64_t> polls_;  // worker -> call id of its unanswered poll
  CoordTime next_poll_;
  Mutex mutex_;
  CondVar turned_;
  Work* running_ = nullptr;  // whose turn it is, under the mutex; nullptr: the cluster's thread
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_SIDE_BY_SIDE_H_
