// Who takes part, and the conversation with them: one request to each, every answer handed over as it comes.
#ifndef COORDINATOR_CLUSTER_H_
#define COORDINATOR_CLUSTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/time.h"
#include "common/transport/transport.h"
#include "coordinator/interrupt.h"
#include "coordinator/join_watch.h"
#include "coordinator/silence_watch.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

struct Member {
  uint32_t number = 0;  // within the run; files and lanes are numbered by it
  WorkerId id = 0;      // of its connection
  v1::WorkerFacts facts;
  uint32_t client = 0;  // index of its client (equal boot ids), in order of worker numbers
  uint32_t clone = 0;   // 0, or which of several machines of one boot id it runs on
  bool lost = false;
  std::string lost_reason;

  std::string Name() const;  // "worker 3 on node07"
};

// The coordinator's clock: CLOCK_MONOTONIC, or a test's.
using CoordClock = std::function<CoordTime()>;

// One thread, the one that owns the transport. The transport and the interrupt must outlive it.
class Cluster {
 public:
  // A worker that does not answer is told of on stderr after some seconds, and counts as lost after `lost_after_ns`.
  Cluster(Transport& transport, uint64_t run_id, const Interrupt& interrupt,
          int64_t lost_after_ns = kUsualLostAfterNs, CoordClock clock = CoordNow)
      : transport_(transport),
        run_id_(run_id),
        interrupt_(interrupt),
        lost_after_ns_(lost_after_ns),
        clock_(std::move(clock)) {}
  static constexpr int64_t kUsualLostAfterNs = 60 * kNanosPerSecond;

  // Waits until `count` workers have joined and numbers them: in the transport's own order where it has one, else by
  // their places in the client list, else by host name and then by order of joining, so that a later run with the
  // same hosts numbers them alike. FailedPrecondition: a worker of another version (it is sent away; the message
  // names both). DeadlineExceeded: too few by `deadline`. Cancelled: interrupted. `on_joined` is told how many are
  // there, for the display. While some are missing for seconds, who has joined and who has not is said on stderr.
  absl::Status Gather(uint32_t count, CoordTime deadline, const std::string& version,
                      const std::function<void(uint32_t joined)>& on_joined, const JoinWatch& watch = {});

  const std::vector<Member>& members() const { return members_; }
  // Boot ids are equal where machines were cloned: members with a number here count as clients of their own, one for
  // each number and boot id. By worker number; 0 leaves a member as it is.
  void TellClonesApart(const std::vector<uint32_t>& clone_of_worker);
  CoordTime Now() const { return clock_(); }
  uint32_t client_count() const { return client_count_; }
  uint32_t live_count() const;
  Transport& transport() { return transport_; }
  uint64_t run_id() const { return run_id_; }

  using MakeRequest =
      std::function<std::optional<v1::WorkerRequest>(const Member&)>;  // nullopt: not this one
  using OnReply = std::function<void(const Member&, const ReceivedEvent&)>;
  using OnEvent = std::function<void(const Member&, const ReceivedEvent&)>;

  struct Patience {
    CoordTime deadline{INT64_MAX};  // DeadlineExceeded when answers are missing then
    // Cancelled when the user interrupts. False: what an interrupted run still waits for is said on stderr.
    bool interruptible = true;
    // "look at its paths": what workers do at once unless their file system hangs, which is then said on stderr.
    const char* quick_work = nullptr;
  };

  // Sends make(member) to every live member and hands over the answers, several for one request where they come in
  // chunks. A member that is lost meanwhile has no answer; see members(). Events that workers send by themselves go to
  // on_event() meanwhile. Returns when every request is answered or its member lost.
  absl::Status Call(const MakeRequest& make, const OnReply& on_reply, const Patience& patience);

  // Sends without looking at the answers.
  void Tell(const MakeRequest& make);

  // Hands over what workers send by themselves until done() or the deadline. Answers to Tell are dropped; answers to
  // Ask arrive at on_event too.
  absl::Status WaitUntil(const std::function<bool()>& done, const Patience& patience);
  // A request whose answer is handed to on_event(). Returns the call id that the answer will have.
  uint64_t Ask(const Member& member, v1::WorkerRequest request);

  // Set for the length of a phase; also told of Lost.
  void set_on_event(OnEvent on_event) { on_event_ = std::move(on_event); }

 private:
  // One event, or none within a slice of time that keeps the interrupt prompt.
  absl::StatusOr<std::optional<ReceivedEvent>> Next(const Patience& patience);
  // Asks workers that are silent for long, and says so or gives them up.
  void LookForSilence(CoordTime now);
  void GiveUp(Member& member);
  void TellOfInterrupt(const std::unordered_set<uint32_t>& waiting);
  void TellOfWaiting(const std::unordered_set<uint32_t>& waiting, const char* quick_work) const;
  Member* FindMember(WorkerId id);
  void NumberClients();
  void MarkLost(Member& member, const std::string& reason);

  Transport& transport_;
  const uint64_t run_id_;
  const Interrupt& interrupt_;
  const int64_t lost_after_ns_;
  const CoordClock clock_;
  std::vector<Member> members_;
  std::optional<SilenceWatch> silence_;  // from when all have joined
  std::deque<ReceivedEvent> given_up_;   // a Lost of each that was given up, as a transport makes them
  std::unordered_map<WorkerId, uint32_t> number_of_;
  uint32_t client_count_ = 0;
  uint64_t next_call_id_ = 1;
  bool told_of_interrupt_ = false;
  OnEvent on_event_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_H_
