// The workers of a run and the communication with them: sends requests and passes on each answer as it arrives.
#ifndef COORDINATOR_CLUSTER_CLUSTER_H_
#define COORDINATOR_CLUSTER_CLUSTER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/clock.h"
#include "common/process/cgroup_limits.h"
#include "common/roster/roster.h"
#include "common/time.h"
#include "common/transport/transport.h"
#include "coordinator/cluster/heartbeat.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/cluster/silence_watch.h"
#include "coordinator/cluster/stall_watch.h"
#include "coordinator/cluster/worker_news.h"
#include "coordinator/launch/join_watch.h"
#include "coordinator/options/patience.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// A worker of the run. It stays a member after it is lost, so that numbers keep their meaning.
struct Member {
  uint32_t number = 0;  // within the run; files and lanes are numbered by it
  WorkerId id = 0;      // of its connection
  v1::WorkerFacts facts;  // what the worker reported about itself when it joined, and its clone (SeparateClones)
  uint32_t client = 0;    // index of its client in the roster
  bool lost = false;
  bool absent = false;  // lost before it could join: the run goes on without its client (AddAbsent)
  std::string lost_reason;
  uint32_t reconnects = 0;  // how often its connection broke and was restored

  std::string Name() const;  // "worker 3 on node07"
};

// Returns the problem that a worker's answer reports, annotated with the worker's name. OK: there is none. Of several
// workers' problems, the first to arrive is reported: collect them with absl::Status::Update.
absl::Status ProblemOf(const Member& member, const ReceivedEvent& answer);

// The coordinator's clock: CLOCK_MONOTONIC, or a test clock.
using CoordClock = std::function<CoordTime()>;

// How long the cluster waits for workers that do not answer, or whose work makes no progress.
struct ClusterPatience {
  int64_t lost_after_ns = NanosFrom(kUsualPatienceS);  // silence after which a worker is lost
  // Silence after which a worker leaves, at least lost_after_ns; longer for very many workers.
  int64_t lease_ns = NanosFrom(kUsualPatienceS);
  int64_t stall_after_ns =
      300 * kNanosPerSecond;   // time without progress after which it is dropped; 0: never
  bool abort_on_lost = false;  // waiting calls return Aborted as soon as a worker is lost
  std::shared_ptr<Heartbeat> heartbeat;  // of this process; null: nothing says when it stood still
};

// Only the thread that owns the transport may use it. The transport and the interrupt must outlive it. Call Gather
// first (gathering.cc). While it waits, it checks the interrupt, the deadline and silent workers every 20 ms.
class Cluster {
 public:
  using MakeRequest =
      std::function<std::optional<v1::WorkerRequest>(const Member&)>;  // nullopt: skip this member
  using OnReply = std::function<void(const Member&, const ReceivedEvent&)>;
  using OnEvent = std::function<void(const Member&, const ReceivedEvent&)>;

  // A silent worker, or one whose work makes no progress, is reported on stderr after some time and then counts as
  // lost.
  Cluster(Transport& transport, uint64_t run_id, const Interrupt& interrupt, ClusterPatience patience = {},
          CoordClock clock = CoordNow)
      : transport_(transport),
        run_id_(run_id),
        interrupt_(interrupt),
        patience_(patience),
        clock_(std::move(clock)) {}

  // Waits until `count` workers of clients, and the samplers and workers of servers of `watch`, have joined, and
  // numbers them, those of clients first: by position in the client list if there is one, then in the transport's own
  // order if it has one, otherwise by host name and then by order of joining, so that a later run with the same hosts
  // numbers them alike. Calls on_joined with the number of workers so far, for display. If workers are missing for some
  // seconds, prints on stderr which have joined and which have not. A worker that cannot take part (CheckFacts: above
  // all, another version) is sent away and reported on stderr, and the wait goes on; only if this program started it
  // (watch.started_here, or a transport with an order of its own) does the error of CheckFacts end the wait.
  // DeadlineExceeded: too few workers by `deadline`. Cancelled: interrupted. An error of watch.check is returned as it
  // is. Workers that join later are sent away. With `faults`, a wait that would end with an error because workers are
  // missing or cannot take part is OK if any has joined: the run can do without the others, which `faults` then names.
  // Called again before anything uses numbers, it waits for workers in place of lost ones: the others keep their seats,
  // all are numbered anew, and if it fails, the members stay as they were.
  absl::Status Gather(uint32_t count, CoordTime deadline, const std::string& version,
                      const std::function<void(uint32_t joined)>& on_joined, const JoinWatch& watch = {},
                      std::vector<JoinFault>* faults = nullptr);
  // From now on, workers that join although all seats are taken wait for Gather to be called again, or are sent away by
  // SendNewcomersAway. Otherwise they are sent away at once.
  void HoldNewcomers() { newcomers_.emplace(); }
  void SendNewcomersAway();
  // The workers without lanes (WorkerFacts.sampler), in the order of their host names; the index is Member::number.
  // They are no members: none of the calls for members reaches them, and one that is lost costs only what it would have
  // sampled. REQUIRES: Gather succeeded.
  const std::vector<Member>& samplers() const { return samplers_; }
  // Like Call, for all samplers. Those that have not answered within `within_ns` are sent away and count as lost, which
  // stderr says. Cancelled: interrupted, and `interruptible`.
  absl::Status CallSamplers(const MakeRequest& make, const OnReply& on_reply, int64_t within_ns,
                            bool interruptible = true);
  // Sends these workers away for the reason; they are no longer members, and the others are renumbered without gaps.
  // Call it before anything uses numbers. REQUIRES: Gather succeeded; at least one worker is left.
  void Exclude(const std::set<uint32_t>& workers, const std::string& reason);

  // Adds workers that take no part: lost from the beginning, for this reason, with these numbers and facts. The workers
  // that have joined keep their order and get the other numbers. Call it before anything uses numbers. REQUIRES: Gather
  // succeeded; no gaps are left.
  void AddAbsent(const std::map<uint32_t, v1::WorkerFacts>& absent, const std::string& reason);
  uint32_t absent_count() const;

  // The index is the worker's number. Empty before Gather has succeeded.
  const std::vector<Member>& members() const { return members_; }
  // Which clients and servers the members are on.
  const Roster& roster() const { return roster_; }
  // Distinguishes cloned machines, which have equal boot ids: sets WorkerFacts.clone. The index is the worker number.
  // Changes the roster, so call it before anything uses clients.
  void SeparateClones(const std::vector<uint32_t>& clone_of_worker);
  // All deadlines, and the times of received events, are on this clock.
  CoordTime Now() const { return clock_(); }
  // The first members, this many, are workers of clients; the others are workers of servers.
  uint32_t client_workers() const { return roster_.client_workers; }
  uint32_t client_count() const { return roster_.client_count; }
  // Clients and servers (WorkerFacts.server).
  uint32_t host_count() const { return roster_.host_count(); }
  uint32_t live_count() const { return static_cast<uint32_t>(members_.size()) - lost_count_; }
  // How often a worker was reported as silent on stderr.
  uint32_t silence_count() const { return silence_count_; }
  Transport& transport() { return transport_; }
  std::string transport_name() const { return transport_.name(); }
  uint64_t run_id() const { return run_id_; }

  // How long a call waits. The default is for requests that a worker answers at once, whatever its lanes do: a worker
  // that has not answered after twice lost_after_ns, although it is not silent, is dropped as lost. Quick work on files
  // gets twice stall_after_ns, whatever progress the worker reports.
  struct Patience {
    CoordTime deadline{INT64_MAX};  // DeadlineExceeded if answers are still missing
    // Return Cancelled when the user interrupts. If false, stderr says what an interrupted run is still waiting for.
    bool interruptible = true;
    // A name such as "look at its paths" for work that takes long only if a file system hangs, which is then reported
    // on stderr.
    const char* quick_work = nullptr;
    // Work on files: workers that have not answered are polled, and dropped as lost if their work makes no progress for
    // this time; 0: the cluster's. nullopt: they are not polled. `work` is for the message: "prepare the phase".
    std::optional<int64_t> stall_after_ns = std::nullopt;
    const char* work = "answer";
    // Not empty: at the deadline, workers that have not answered are dropped as lost for this reason, and the call
    // goes on without them.
    std::string drop_late = {};
    // For requests that are pings too: at most this many are in flight at a time, so that none waits long behind
    // others. A worker that does not answer holds up the others only for a moment. 0: all at once.
    uint32_t at_a_time = 0;
  };
  // True once a call has returned although a worker had not answered: that worker may hang in its work, and answers no
  // other request on files until the work ends.
  bool left_unanswered() const { return left_unanswered_; }
  bool interrupted() const { return interrupt_.raised(); }

  // Times in which workers made no progress, and in which this process itself stood still, since the last call. They
  // are for the record of the phase.
  std::vector<StallWatch::Still> TakeStills() { return stalls_->TakeStills(); }
  std::vector<v1::Standstill> TakeStandstills() { return std::exchange(standstills_, {}); }
  // How long this process has stood still altogether.
  int64_t stood_still_ns() const { return stood_still_ns_; }

  // ---- work that no call waits for: the lanes of a phase
  // Note that the worker's lanes run from now on, or have ended. In between, the caller polls the worker often
  // (PollFor), and it is dropped as lost if its lanes make no progress.
  void BeginLanes(uint32_t worker) { stalls_->Begin(worker); }
  void EndLanes(uint32_t worker) { stalls_->End(worker, Now()); }
  v1::WorkerRequest PollFor(uint32_t worker) const;
  // How often workers are polled to see whether they make progress: 1 s, or less with a short patience, or 1 ms per
  // worker.
  int64_t watch_interval_ns() const;
  // Gives a worker up: tells it to leave, and counts it as lost. Its Lost event follows. Does nothing if it is lost.
  void Drop(uint32_t worker, const std::string& reason);
  // The same for one that has sent what no worker sends; `what` says so.
  void DropFaulty(uint32_t worker, absl::string_view what);
  // Drops the live workers that do not answer a ping within this time, although others do. `reason` as in Drop.
  void DropDead(int64_t within_ns, const std::string& reason);
  bool found_dead() const { return found_dead_; }

  // Sends make(member) to every live member and passes on the answers, several per request if they come in chunks. A
  // member that is lost meanwhile gives no answer; see members(). Events that workers send on their own go to
  // on_event(). Returns when every request is answered or its member is lost. An error that an answer reports is left
  // to on_reply(); the status is Cancelled, DeadlineExceeded or the transport's, and answers that arrive later are
  // dropped or go to on_event(). A worker whose answer is none (CheckAnswer) is dropped as lost. Both callbacks run on
  // this thread. They may use Tell and Ask, but not Call or WaitUntil, which would take the answers that the outer call
  // waits for.
  absl::Status Call(const MakeRequest& make, const OnReply& on_reply, const Patience& patience);

  // Like Call, for these workers alone.
  absl::Status CallSome(std::span<const uint32_t> workers, const MakeRequest& make, const OnReply& on_reply,
                        const Patience& patience);

  // Like Call, and returns the first problem (ProblemOf) that an answer reports, once all answers have arrived. They go
  // to on_reply() all the same.
  absl::Status CallAndCheck(const MakeRequest& make, const OnReply& on_reply, const Patience& patience);

  // Sends requests without waiting for answers. Cannot fail: if a worker is gone, its Lost event says so.
  void Tell(const MakeRequest& make);
  // Sends all workers away. `reason` is shown to their users; empty: the run has ended as it should.
  void Dismiss(const std::string& reason = "");

  // Passes on events that workers send on their own until done() or the deadline. done() is asked first and after each
  // event, and every 20 ms otherwise. Answers to Tell and Ask go to on_event() too. `patience.work` and stall_after_ns are of
  // what runs between BeginLanes and EndLanes, if that is no phase. DeadlineExceeded: the deadline has passed. Cancelled:
  // interrupted.
  absl::Status WaitUntil(const std::function<bool()>& done, const Patience& patience);
  // For work of this thread that takes long without any call to workers: call it every few seconds. Sends the pings
  // that are due, takes the events that have arrived, and returns after about a millisecond without any, or after
  // 100 ms.
  void Attend();
  // Sends a request whose answer goes to on_event(). Returns the call id that the answer will have.
  uint64_t Ask(const Member& member, v1::WorkerRequest request);

  // Set it for the duration of a phase; nullptr ends it. It also receives Lost events, once per worker and after
  // members() shows the loss. Without it, events that no call waits for are dropped.
  void set_on_event(OnEvent on_event) { on_event_ = std::move(on_event); }

 private:
  // Returns one event, or nullopt after a short time, so that interrupts are noticed promptly.
  absl::StatusOr<std::optional<ReceivedEvent>> Next(const Patience& patience);
  // Says that this process stood still, if it did.
  void NoteStandstills(CoordTime now);
  // Probes workers that have been silent for long; reports them or gives them up.
  void CheckForSilence(CoordTime now);
  // `text` follows the worker's name.
  void AddNews(WorkerNews::Kind kind, const Member& member, const std::string& text);
  void SayNews(int64_t now_ns);
  // Notes the answer to a poll of a worker whose work is watched.
  void CheckWork(const Member& member, const v1::Progress& progress);
  void PollWork(const std::unordered_set<uint32_t>& waiting);
  class Round;
  // Sends the requests of the round and passes on the answers.
  absl::Status WaitForAnswers(Round& round, const OnReply& on_reply, Patience patience);
  // Takes an event that arrives meanwhile.
  void HandleAnswer(Round& round, const ReceivedEvent& received, const OnReply& on_reply,
                  const Patience& patience);
  bool Post(const Member& member, const v1::WorkerRequest& request);
  uint32_t lease_ms() const;
  // The same for Gather, which takes the newcomers first.
  absl::StatusOr<std::optional<ReceivedEvent>> NextWhileGathering(const Patience& patience);
  void HandleNewcomer(const ReceivedEvent& received);
  void DismissOne(WorkerId id, const std::string& reason);
  void WarnAboutInterrupt(const std::unordered_set<uint32_t>& waiting);
  void WarnAboutWaiting(const std::unordered_set<uint32_t>& waiting, const char* quick_work) const;
  Member* FindMember(WorkerId id);
  // Takes an event of a sampler; false: it is from another worker.
  bool HandleSamplerEvent(const ReceivedEvent& received);
  void LoseSampler(Member& sampler, const std::string& reason);
  void NumberMembers();
  void NumberClients();
  void MarkLost(Member& member, const std::string& reason);
  std::string WithEnding(const Member& member, const std::string& reason) const;

  Transport& transport_;
  const uint64_t run_id_;
  const Interrupt& interrupt_;
  const ClusterPatience patience_;
  const CoordClock clock_;
  std::vector<Member> members_;
  Roster roster_;
  std::vector<Member> samplers_;
  // The call to samplers in progress.
  struct SamplerCall {
    uint64_t call_id = 0;
    std::set<uint32_t> waiting;
    const OnReply* on_reply = nullptr;
  };
  std::optional<SamplerCall> sampler_call_;
  std::optional<SilenceWatch> silence_;  // set once all workers have joined, like stalls_
  std::optional<StallWatch> stalls_;
  // Of the call in progress; nullptr: none, or it does not watch the work.
  const Patience* watched_call_ = nullptr;
  bool left_unanswered_ = false;
  bool found_dead_ = false;
  bool gathers_ = false;
  // Those that have joined since HoldNewcomers; nullopt: they are sent away at once.
  std::optional<std::deque<ReceivedEvent>> newcomers_;
  std::deque<ReceivedEvent>
      given_up_;  // a Lost event for each worker that was given up, like those of a transport
  std::unordered_map<WorkerId, uint32_t> number_of_;
  std::unordered_map<uint32_t, uint64_t> work_polls_;  // worker number -> call id of its unanswered poll
  uint32_t lost_count_ = 0;  // of members_
  uint32_t silence_count_ = 0;
  std::vector<v1::Standstill> standstills_;
  int64_t stood_still_ns_ = 0;
  CoordTime left_alone_until_;  // until then, a worker may be lost because of a standstill
  CoordTime next_beat_;         // when this thread beats again
  CoordTime woke_at_;           // the end of the latest standstill
  uint64_t next_call_id_ = 1;
  bool told_of_interrupt_ = false;
  OomWatch oom_watch_;
  std::function<std::string(const v1::WorkerFacts&)> ending_of_;  // JoinWatch.ending
  WorkerNews news_;
  OnEvent on_event_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_CLUSTER_H_
