// The workers of a run and the communication with them: sends requests and passes on each answer as it arrives.
#ifndef COORDINATOR_CLUSTER_CLUSTER_H_
#define COORDINATOR_CLUSTER_CLUSTER_H_

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
#include "coordinator/cluster/interrupt.h"
#include "coordinator/cluster/silence_watch.h"
#include "coordinator/launch/join_watch.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// A worker of the run. It stays a member after it is lost, so that numbers keep their meaning.
struct Member {
  uint32_t number = 0;  // within the run; files and lanes are numbered by it
  WorkerId id = 0;      // of its connection
  // What the worker said of itself when it joined, except that SeparateClones extends the boot ids of clones.
  v1::WorkerFacts facts;
  uint32_t client = 0;  // index of its client (equal boot ids), in the order of worker numbers
  uint32_t clone = 0;   // 0, or the number of its machine among clones with the same boot id
  bool lost = false;
  std::string lost_reason;

  std::string Name() const;  // "worker 3 on node07"
};

// Returns the problem that a worker's answer reports, annotated with the worker's name. OK: there is none. Of several
// workers' problems, the first to arrive is reported: collect them with absl::Status::Update.
absl::Status ProblemOf(const Member& member, const ReceivedEvent& answer);

// The coordinator's clock: CLOCK_MONOTONIC, or a test clock.
using CoordClock = std::function<CoordTime()>;

// Only the thread that owns the transport may use it. The transport and the interrupt must outlive it. Call Gather
// first. It never blocks for long without looking at the interrupt, the deadline and silent workers: every 20 ms.
class Cluster {
 public:
  // A silent worker is reported on stderr after some seconds, and counts as lost after `lost_after_ns`.
  Cluster(Transport& transport, uint64_t run_id, const Interrupt& interrupt,
          int64_t lost_after_ns = kDefaultLostAfterNs, CoordClock clock = CoordNow)
      : transport_(transport),
        run_id_(run_id),
        interrupt_(interrupt),
        lost_after_ns_(lost_after_ns),
        clock_(std::move(clock)) {}
  static constexpr int64_t kDefaultLostAfterNs = 60 * kNanosPerSecond;

  // Waits until `count` workers have joined and numbers them: by position in the client list if there is one, then in
  // the transport's own order if it has one, otherwise by host name and then by order of joining, so that a later run
  // with the same hosts numbers them alike. Calls on_joined with the number of workers so far, for display. If workers
  // are missing for some seconds, prints on stderr who has joined and who has not. FailedPrecondition: a worker has
  // another version (it is dismissed; the message has both versions). DeadlineExceeded: too few workers by `deadline`.
  // Cancelled: interrupted. An error of watch.check is returned as it is. Workers that join later are sent away.
  absl::Status Gather(uint32_t count, CoordTime deadline, const std::string& version,
                      const std::function<void(uint32_t joined)>& on_joined, const JoinWatch& watch = {});

  // The index is the worker's number. Empty before Gather has succeeded.
  const std::vector<Member>& members() const { return members_; }
  // Distinguishes cloned machines, which have equal boot ids: members with a number other than 0 count as separate
  // clients, one for each number and boot id. The index is the worker number. Changes Member::client of others too, so
  // call it before anything uses clients.
  void SeparateClones(const std::vector<uint32_t>& clone_of_worker);
  // All deadlines, and the times of received events, are on this clock.
  CoordTime Now() const { return clock_(); }
  uint32_t client_count() const { return client_count_; }
  uint32_t live_count() const;
  Transport& transport() { return transport_; }
  uint64_t run_id() const { return run_id_; }

  using MakeRequest =
      std::function<std::optional<v1::WorkerRequest>(const Member&)>;  // nullopt: skip this member
  using OnReply = std::function<void(const Member&, const ReceivedEvent&)>;
  using OnEvent = std::function<void(const Member&, const ReceivedEvent&)>;

  // How long a call waits. The default is to wait until the user interrupts.
  struct Patience {
    CoordTime deadline{INT64_MAX};  // DeadlineExceeded if answers are still missing
    // Return Cancelled when the user interrupts. If false, stderr says what an interrupted run is still waiting for.
    bool interruptible = true;
    // A name such as "look at its paths" for work that takes long only if a file system hangs, which is then reported
    // on stderr.
    const char* quick_work = nullptr;
  };

  // Sends make(member) to every live member and passes on the answers, several per request if they come in chunks. A
  // member that is lost meanwhile gives no answer; see members(). Events that workers send on their own go to
  // on_event(). Returns when every request is answered or its member is lost. An error an answer reports is left to
  // on_reply(); the status is Cancelled, DeadlineExceeded or the transport's, and answers that arrive later are
  // dropped or go to on_event(). Both callbacks run on this thread. They may use Tell and Ask, but not Call or
  // WaitUntil, which would take the answers that the outer call waits for.
  absl::Status Call(const MakeRequest& make, const OnReply& on_reply, const Patience& patience);

  // Like Call, and returns the first problem (ProblemOf) that an answer reports, once all answers have arrived. They go
  // to on_reply() all the same.
  absl::Status CallAndCheck(const MakeRequest& make, const OnReply& on_reply, const Patience& patience);

  // Sends requests without waiting for answers. Cannot fail: if a worker is gone, its Lost event says so.
  void Tell(const MakeRequest& make);
  // Sends all workers away. `reason` is what their users read; empty: the run has ended as it should.
  void Dismiss(const std::string& reason = "");

  // Passes on events that workers send on their own until done() or the deadline. done() is asked first and after each
  // event, and every 20 ms otherwise. Answers to Tell and Ask go to on_event() too. DeadlineExceeded: the deadline has
  // passed. Cancelled: interrupted.
  absl::Status WaitUntil(const std::function<bool()>& done, const Patience& patience);
  // Sends a request whose answer goes to on_event(). Returns the call id that the answer will have.
  uint64_t Ask(const Member& member, v1::WorkerRequest request);

  // Set it for the duration of a phase; nullptr ends it. It also receives Lost events, once per worker and after
  // members() shows the loss. Without it, events that no call waits for are dropped.
  void set_on_event(OnEvent on_event) { on_event_ = std::move(on_event); }

 private:
  // Returns one event, or nullopt after a short time, so that interrupts are noticed promptly.
  absl::StatusOr<std::optional<ReceivedEvent>> Next(const Patience& patience);
  // Probes workers that have been silent for long; reports them or gives them up.
  void LookForSilence(CoordTime now);
  void GiveUp(Member& member);
  void DismissOne(WorkerId id, const std::string& reason);
  void WarnAboutInterrupt(const std::unordered_set<uint32_t>& waiting);
  void WarnAboutWaiting(const std::unordered_set<uint32_t>& waiting, const char* quick_work) const;
  Member* FindMember(WorkerId id);
  void NumberClients();
  void MarkLost(Member& member, const std::string& reason);

  Transport& transport_;
  const uint64_t run_id_;
  const Interrupt& interrupt_;
  const int64_t lost_after_ns_;
  const CoordClock clock_;
  std::vector<Member> members_;
  std::optional<SilenceWatch> silence_;  // set once all workers have joined
  std::deque<ReceivedEvent>
      given_up_;  // a Lost event for each worker that was given up, like those of a transport
  std::unordered_map<WorkerId, uint32_t> number_of_;
  uint32_t client_count_ = 0;
  uint64_t next_call_id_ = 1;
  bool told_of_interrupt_ = false;
  OnEvent on_event_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_CLUSTER_H_
