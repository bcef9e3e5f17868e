#include "coordinator/cluster/cluster.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/host_identity.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/log.h"
#include "common/text/units.h"
#include "coordinator/cluster/answer_check.h"

namespace iobench {
namespace {

// Interval for checking signals while no event arrives. mpirun kills one second after its Ctrl-C.
constexpr int64_t kSliceNs = 20'000'000;
// Work that usually finishes at once is reported after this many times the reported silence (told_after_ns).
constexpr int64_t kHangs = 2;
// An interrupted run usually ends at once.
constexpr int64_t kWarnInterruptAfterNs = kNanosPerSecond;

// A poll costs about as much as a ping.
constexpr int64_t kPollNsPerWorker = 1'000'000;
// How long those that do not answer hold up the requests to others (Patience::at_a_time).
constexpr int64_t kHoldUpNs = 100'000'000;

// What has arrived meanwhile is read within this time after this process stood still, before any worker is late.
constexpr int64_t kCatchUpNs = 2 * kNanosPerSecond;

// The words of another host.
std::string ReasonOfWorker(const v1::Left& left) {
  constexpr size_t kMaxBytes = 300;
  return absl::StrCat("it left: ", Printable(left.reason().substr(0, kMaxBytes)));
}

}  // namespace

std::string Member::Name() const {
  return WorkerOnHost(number, facts.host());
}

absl::Status ProblemOf(const Member& member, const ReceivedEvent& answer) {
  return Annotate(ToStatus(answer.event.problem()), member.Name());
}

absl::Status Cluster::Call(const MakeRequest& make, const OnReply& on_reply, const Patience& patience) {
  std::vector<uint32_t> all(members_.size());
  std::iota(all.begin(), all.end(), 0);
  return CallSome(all, make, on_reply, patience);
}

// The requests of a call: one to each worker, and the workers that have not answered yet. One call id is used for all:
// a worker answers once, or in chunks of which the last is marked.
class Cluster::Round {
 public:
  Round(Cluster& cluster, std::span<const uint32_t> workers, const MakeRequest& make, uint32_t at_a_time)
      : cluster_(cluster),
        workers_(workers),
        make_(make),
        at_a_time_(at_a_time == 0 ? workers.size() : at_a_time),
        call_id_(cluster.next_call_id_++) {}

  // Sends as many as may be in flight. Call it again when workers have answered.
  void Send() {
    if (sent_all()) return;
    unresponsive_ = std::min(unresponsive_, waiting.size());
    const CoordTime now = cluster_.Now();
    if (waiting.size() - unresponsive_ >= at_a_time_) {
      if (now < held_up_until_) return;
      unresponsive_ = waiting.size();
    }
    held_up_until_ = now + kHoldUpNs;
    for (; !sent_all() && waiting.size() - unresponsive_ < at_a_time_; ++next_) SendTo(workers_[next_]);
  }
  bool sent_all() const { return next_ == workers_.size(); }
  bool is_over() const { return sent_all() && waiting.empty(); }
  bool IsAnswer(const ReceivedEvent& received, uint32_t worker) const {
    return received.event.call_id() == call_id_ && waiting.contains(worker);
  }
  // REQUIRES: the worker was asked, and has not answered before.
  absl::Status Check(uint32_t worker, const v1::WorkerEvent& answer) const {
    return CheckAnswer(expected_.at(worker), answer);
  }
  static bool IsLast(const v1::WorkerEvent& answer) { return !answer.has_chunk() || answer.chunk().last(); }

  std::unordered_set<uint32_t> waiting;  // for the answers of these

 private:
  void SendTo(uint32_t number) {
    const Member& member = cluster_.members_[number];
    if (member.lost) return;
    std::optional<v1::WorkerRequest> request = make_(member);
    if (!request) return;
    request->set_run_id(cluster_.run_id_);
    request->set_call_id(call_id_);
    expected_[number] = AnswerTo(*request);
    if (request->has_ping()) request->mutable_ping()->set_lease_ms(cluster_.lease_ms());
    if (cluster_.Post(member, *request)) waiting.insert(number);
  }

  Cluster& cluster_;
  const std::span<const uint32_t> workers_;
  const MakeRequest& make_;
  const size_t at_a_time_;
  const uint64_t call_id_;
  std::unordered_map<uint32_t, ExpectedAnswer> expected_;  // by worker
  size_t next_ = 0;          // index in workers_
  size_t unresponsive_ = 0;  // of those in `waiting`: the others do not wait for them any longer
  CoordTime held_up_until_;
};

absl::Status Cluster::CallSome(std::span<const uint32_t> workers, const MakeRequest& make,
                               const OnReply& on_reply, const Patience& patience) {
  Round round(*this, workers, make, patience.at_a_time);
  round.Send();
  Patience waits = patience;
  if (patience.deadline.ns == INT64_MAX && !patience.stall_after_ns.has_value() &&
      patience.drop_late.empty()) {
    waits.deadline = Now() + 2 * patience_.lost_after_ns;
    waits.drop_late = "it left a request unanswered, although it answered others";
  } else if (patience.deadline.ns == INT64_MAX && patience.quick_work != nullptr &&
             patience_.stall_after_ns > 0) {
    waits.deadline = Now() + 2 * patience_.stall_after_ns;
    waits.drop_late =
        absl::StrCat("it did not ", patience.quick_work, ", although it seemed to make progress");
  }
  const bool watches = patience.stall_after_ns.has_value() && silence_.has_value();
  if (watches) {
    for (const uint32_t number : round.waiting) stalls_->Begin(number);
    watched_call_ = &patience;
  }
  const absl::Status status = WaitForAnswers(round, on_reply, std::move(waits));
  if (watches) {
    for (const uint32_t number : round.waiting) stalls_->End(number, Now());
    watched_call_ = nullptr;
  }
  left_unanswered_ |= !round.waiting.empty();
  return status;
}

absl::Status Cluster::WaitForAnswers(Round& round, const OnReply& on_reply, Patience patience) {
  CoordTime poll_at{INT64_MAX};
  if (patience.stall_after_ns.has_value()) poll_at = Now() + watch_interval_ns();
  const CoordTime begin = Now();
  const CoordTime warn_interrupt_at = begin + kWarnInterruptAfterNs;
  CoordTime warn_at{INT64_MAX};
  if (patience.quick_work != nullptr) warn_at = begin + kHangs * silence_->told_after_ns();
  for (; !round.is_over(); round.Send()) {
    if (Now() >= warn_at) {
      warn_at.ns = INT64_MAX;
      WarnAboutWaiting(round.waiting, patience.quick_work);
    }
    if (!patience.interruptible && interrupt_.raised() && Now() >= warn_interrupt_at) {
      WarnAboutInterrupt(round.waiting);
    }
    if (Now() >= poll_at) {
      PollWork(round.waiting);
      poll_at = Now() + watch_interval_ns();
    }
    auto next = Next({.deadline = patience.deadline, .interruptible = patience.interruptible});
    if (!next.ok()) {
      if (absl::IsDeadlineExceeded(next.status()) && !patience.drop_late.empty()) {
        for (const uint32_t number : round.waiting) Drop(number, patience.drop_late);
        patience.deadline = round.sent_all() ? CoordTime{INT64_MAX} : Now() + (patience.deadline - begin);
        continue;
      }
      if (absl::IsDeadlineExceeded(next.status()) && !round.waiting.empty()) {
        return absl::DeadlineExceededError(absl::StrCat(
            "no answer from ", members_[*round.waiting.begin()].Name(),
            round.waiting.size() > 1 ? absl::StrCat(" and ", round.waiting.size() - 1, " more") : ""));
      }
      return next.status();
    }
    if (next->has_value()) HandleAnswer(round, **next, on_reply, patience);
  }
  return absl::OkStatus();
}

void Cluster::HandleAnswer(Round& round, const ReceivedEvent& received, const OnReply& on_reply,
                         const Patience& patience) {
  Member* member = FindMember(received.worker);
  if (member == nullptr) return;
  if (received.event.has_lost()) {
    round.waiting.erase(member->number);
  } else if (round.IsAnswer(received, member->number)) {
    if (const absl::Status possible = round.Check(member->number, received.event); !possible.ok()) {
      DropFaulty(member->number, possible.message());  // its Lost event ends the wait for it
      return;
    }
    on_reply(*member, received);
    if (!round.IsLast(received.event)) return;
    round.waiting.erase(member->number);
    if (patience.stall_after_ns.has_value()) stalls_->End(member->number, Now());
    return;
  }
  if (on_event_) on_event_(*member, received);
}

absl::Status Cluster::CallAndCheck(const MakeRequest& make, const OnReply& on_reply,
                                   const Patience& patience) {
  absl::Status first_problem;
  IOBENCH_RETURN_IF_ERROR(Call(
      make,
      [&](const Member& member, const ReceivedEvent& received) {
        first_problem.Update(ProblemOf(member, received));
        on_reply(member, received);
      },
      patience));
  return first_problem;
}

void Cluster::Tell(const MakeRequest& make) {
  const uint64_t call_id = next_call_id_++;
  for (const Member& member : members_) {
    if (member.lost) continue;
    std::optional<v1::WorkerRequest> request = make(member);
    if (!request) continue;
    request->set_run_id(run_id_);
    request->set_call_id(call_id);
    Post(member, *request);  // if it is lost, an event reports that
  }
}

void Cluster::Dismiss(const std::string& reason) {
  SayNews(INT64_MAX);
  Tell([&reason](const Member&) {
    v1::WorkerRequest request;
    request.mutable_leave()->set_reason(reason);
    return request;
  });
  for (const Member& sampler : samplers_) {
    if (!sampler.lost) DismissOne(sampler.id, reason);
  }
}

// The worker need not be a member.
void Cluster::DismissOne(WorkerId id, const std::string& reason) {
  v1::WorkerRequest request;
  request.set_run_id(run_id_);
  request.set_call_id(next_call_id_++);
  request.mutable_leave()->set_reason(reason);
  transport_.Post(id, request).IgnoreError();
}

absl::Status Cluster::CallSamplers(const MakeRequest& make, const OnReply& on_reply, int64_t within_ns,
                                   bool interruptible) {
  sampler_call_ = {.call_id = next_call_id_++, .waiting = {}, .on_reply = &on_reply};
  for (Member& sampler : samplers_) {
    if (sampler.lost) continue;
    std::optional<v1::WorkerRequest> request = make(sampler);
    if (!request) continue;
    request->set_run_id(run_id_);
    request->set_call_id(sampler_call_->call_id);
    if (transport_.Post(sampler.id, *request).ok()) sampler_call_->waiting.insert(sampler.number);
  }
  absl::Status status = WaitUntil([this] { return sampler_call_->waiting.empty(); },
                                  {.deadline = Now() + within_ns, .interruptible = interruptible});
  if (absl::IsDeadlineExceeded(status)) {
    for (const uint32_t number : sampler_call_->waiting) {
      DismissOne(samplers_[number].id, "it did not answer in time");
      LoseSampler(samplers_[number], "it did not answer in time");
    }
    status = absl::OkStatus();
  }
  sampler_call_.reset();
  return status;
}

bool Cluster::HandleSamplerEvent(const ReceivedEvent& received) {
  const auto found = std::find_if(samplers_.begin(), samplers_.end(),
                                  [&](const Member& sampler) { return sampler.id == received.worker; });
  if (found == samplers_.end() || gathers_) return false;
  if (found->lost) return true;
  if (received.event.has_lost()) {
    LoseSampler(*found, received.event.lost().reason());
    if (sampler_call_) sampler_call_->waiting.erase(found->number);
  } else if (sampler_call_ && received.event.call_id() == sampler_call_->call_id &&
             sampler_call_->waiting.erase(found->number) > 0) {
    (*sampler_call_->on_reply)(*found, received);
  }
  return true;
}

void Cluster::LoseSampler(Member& sampler, const std::string& reason) {
  sampler.lost = true;
  sampler.lost_reason = reason;
  LogWarning(absl::StrCat("the sampler on ", sampler.facts.host(), " is lost: ", reason,
                          "; the run goes on without it"));
}

uint64_t Cluster::Ask(const Member& member, v1::WorkerRequest request) {
  const uint64_t call_id = next_call_id_++;
  request.set_run_id(run_id_);
  request.set_call_id(call_id);
  Post(member, request);
  return call_id;
}

absl::Status Cluster::WaitUntil(const std::function<bool()>& done, const Patience& patience) {
  if (patience.stall_after_ns.has_value()) watched_call_ = &patience;
  absl::Status status;
  while (status.ok() && !done()) {
    auto next = Next(patience);
    status = next.status();
    if (!next.ok() || !next->has_value()) continue;
    if (Member* member = FindMember((*next)->worker); member != nullptr && on_event_)
      on_event_(*member, **next);
  }
  if (patience.stall_after_ns.has_value()) watched_call_ = nullptr;
  return status;
}

void Cluster::Attend() {
  constexpr int64_t kQuietNs = 1'000'000;
  constexpr int64_t kLongestNs = 100'000'000;  // a worker may send without a pause
  // Not left to Next, which does nothing if this thread had to wait for a processor until its deadline.
  CheckForSilence(Now());
  const CoordTime last = Now() + kLongestNs;
  CoordTime until = Now() + kQuietNs;
  while (true) {
    // An error of the transport is left to the next call.
    auto next = Next({.deadline = until, .interruptible = false});
    if (!next.ok()) return;
    if (!next->has_value()) continue;
    until = std::min(Now() + kQuietNs, last);
    if (Member* member = FindMember((*next)->worker); member != nullptr && on_event_)
      on_event_(*member, **next);
  }
}

absl::StatusOr<std::optional<ReceivedEvent>> Cluster::Next(const Patience& patience) {
  if (patience.interruptible && interrupt_.raised()) return absl::CancelledError("interrupted");
  if (patience.interruptible && patience_.abort_on_lost && given_up_.empty() && lost_count_ > 0) {
    return absl::AbortedError("a worker is lost, and --on-lost abort ends the run");
  }
  const CoordTime now = Now();
  NoteStandstills(now);
  // One that passed while this process stood still would blame workers whose answers have not been read yet.
  const CoordTime deadline = patience.deadline <= woke_at_ ? woke_at_ + kCatchUpNs : patience.deadline;
  if (now >= deadline) return absl::DeadlineExceededError("no answer in time");
  CheckForSilence(now);
  if (!given_up_.empty()) {
    ReceivedEvent lost = std::move(given_up_.front());
    given_up_.pop_front();
    return std::optional<ReceivedEvent>(std::move(lost));
  }
  auto received = transport_.WaitEvent(std::min(deadline, now + kSliceNs));
  if (!received.ok()) {
    if (absl::IsDeadlineExceeded(received.status())) return std::optional<ReceivedEvent>();
    return received.status();
  }
  if (HandleSamplerEvent(*received)) return std::optional<ReceivedEvent>();
  Member* member = FindMember(received->worker);
  if (member != nullptr && member->lost)
    return std::optional<ReceivedEvent>();  // it was given up and has reappeared
  if (member != nullptr && silence_->Heard(member->number, Now()) && !received->event.has_lost()) {
    AddNews(WorkerNews::Kind::kAnswers, *member, " answers again");
  }
  if (member != nullptr && received->event.has_reconnected()) {
    ++member->reconnects;
    AddNews(WorkerNews::Kind::kReconnected, *member, " has reconnected: its connection broke, and nothing was lost");
    return std::optional<ReceivedEvent>();
  }
  if (member != nullptr && received->event.has_progress()) {
    const auto poll = work_polls_.find(member->number);
    if (poll != work_polls_.end() && poll->second == received->event.call_id()) work_polls_.erase(poll);
    CheckWork(*member, received->event.progress());
  }
  if (member != nullptr && received->event.has_left() && !received->event.left().reason().empty()) {
    // It waits for this answer, if it can hear it.
    DismissOne(member->id, "");
    const std::string reason = ReasonOfWorker(received->event.left());
    received->event.mutable_lost()->set_reason(reason);
  }
  if (member != nullptr && received->event.has_lost())
    MarkLost(*member, WithEnding(*member, received->event.lost().reason()));
  if (member == nullptr && !gathers_) HandleNewcomer(*received);
  return std::optional<ReceivedEvent>(*std::move(received));
}

Member* Cluster::FindMember(WorkerId id) {
  const auto found = number_of_.find(id);
  return found == number_of_.end() ? nullptr : &members_[found->second];
}

void Cluster::WarnAboutInterrupt(const std::unordered_set<uint32_t>& waiting) {
  if (std::exchange(told_of_interrupt_, true)) return;
  const Member& first = members_[*std::min_element(waiting.begin(), waiting.end())];
  LogWarning(
      absl::StrCat("interrupted: ", first.Name(),
                   waiting.size() > 1 ? absl::StrCat(" (and ", waiting.size() - 1, " more)") : "",
                   " still has to end its lanes and clean up its data; press Ctrl-C again to stop waiting"));
}

// The workers answer pings, so they themselves are not stuck.
void Cluster::WarnAboutWaiting(const std::unordered_set<uint32_t>& waiting, const char* quick_work) const {
  const Member& first = members_[*std::min_element(waiting.begin(), waiting.end())];
  LogWarning(absl::StrCat(
      first.Name(), waiting.size() > 1 ? absl::StrCat(" (and ", waiting.size() - 1, " more)") : "",
      " still has to ", quick_work, " after ", FormatSeconds(SecondsFrom(kHangs * silence_->told_after_ns())),
      ": check whether a file system hangs there"));
}

void Cluster::SayNews(int64_t now_ns) {
  for (const std::string& line : news_.Take(now_ns)) LogWarning(line);
}

void Cluster::AddNews(WorkerNews::Kind kind, const Member& member, const std::string& text) {
  news_.Add(kind, member.Name(), absl::StrCat(member.Name(), text), Now().ns);
  SayNews(Now().ns);
}

void Cluster::NoteStandstills(CoordTime now) {
  if (patience_.heartbeat == nullptr || !silence_.has_value() || now < next_beat_) return;
  next_beat_ = now + StandstillWatch::kBeatNs;
  for (v1::Standstill& standstill : patience_.heartbeat->Take()) {
    const bool suspended = standstill.suspended_s() > standstill.seconds() / 2;
    const double lease_s = lease_ms() / 1e3;
    const bool left_alone = standstill.seconds() >= lease_s;
    LogWarning(absl::StrCat(
        suspended ? "this coordinator's host was suspended for " : "this coordinator stood still for ",
        FormatSeconds(standstill.seconds()),
        suspended ? "" : " (its process was stopped, or its host paused or overloaded)",
        ": no worker is blamed for that time",
        left_alone ? absl::StrCat(", but those whose lanes ran have left after ", FormatSeconds(lease_s), " (--lease)")
                   : ""));
    stood_still_ns_ += NanosFrom(standstill.seconds());
    woke_at_ = now;
    if (left_alone) left_alone_until_ = now + kCatchUpNs + NanosFrom(lease_s);
    standstills_.push_back(std::move(standstill));
  }
}

void Cluster::CheckForSilence(CoordTime now) {
  SayNews(now.ns);
  if (!silence_.has_value()) return;
  const SilenceWatch::Findings findings = silence_->Look(now);
  for (const uint32_t number : findings.to_ask) {
    v1::WorkerRequest ping;
    ping.mutable_ping()->set_lease_ms(lease_ms());
    Ask(members_[number], std::move(ping));
  }
  for (const uint32_t number : findings.to_tell) {
    ++silence_count_;
    const Member& member = members_[number];
    AddNews(WorkerNews::Kind::kSilent, member,
            absl::StrCat(" (process ", member.facts.pid(), ") has not answered for ",
                         FormatSeconds(SecondsFrom(silence_->told_after_ns())),
                         ": check the process and its host; it is dropped after ",
                         FormatSeconds(SecondsFrom(patience_.lost_after_ns))));
  }
  for (const uint32_t number : findings.to_give_up) {
    if (transport_.MayComeBack(members_[number].id)) continue;  // it has its lease
    Drop(number,
         absl::StrCat("it has not answered for ", FormatSeconds(SecondsFrom(patience_.lost_after_ns))));
  }
}

uint32_t Cluster::lease_ms() const {
  const int64_t lease_ns = GrantedLeaseNs(static_cast<uint32_t>(members_.size()), patience_.lease_ns);
  return static_cast<uint32_t>(std::max<int64_t>(1, lease_ns / 1'000'000));
}

int64_t Cluster::watch_interval_ns() const {
  const int64_t stall_ns = watched_call_ != nullptr && *watched_call_->stall_after_ns > 0
                               ? *watched_call_->stall_after_ns
                               : patience_.stall_after_ns;
  const int64_t usual_ns = std::clamp<int64_t>(stall_ns / 8, kNanosPerSecond / 20, kNanosPerSecond);
  return std::max(stall_ns > 0 ? usual_ns : kNanosPerSecond,
                  static_cast<int64_t>(members_.size()) * kPollNsPerWorker);
}

v1::WorkerRequest Cluster::PollFor(uint32_t worker) const {
  v1::WorkerRequest request;
  request.mutable_poll()->set_closely(stalls_->looks_closely(worker));
  return request;
}

// A worker that has not answered its last poll is not polled again: its silence is watched.
void Cluster::PollWork(const std::unordered_set<uint32_t>& waiting) {
  for (const uint32_t number : waiting) {
    if (work_polls_.contains(number)) continue;
    v1::WorkerRequest request;
    request.mutable_poll()->set_closely(true);
    work_polls_[number] = Ask(members_[number], std::move(request));
  }
}

void Cluster::CheckWork(const Member& member, const v1::Progress& progress) {
  if (!stalls_->watches(member.number)) return;
  std::optional<int64_t> stall_ns;
  if (watched_call_ != nullptr && *watched_call_->stall_after_ns > 0)
    stall_ns = watched_call_->stall_after_ns;
  const StallWatch::Finding finding = stalls_->Note(member.number, progress, Now(), stall_ns);
  if (finding == StallWatch::Finding::kNone) return;
  const std::string work = WorkText(progress);
  const std::string where = work.empty() ? "" : absl::StrCat(" (", work, ")");
  const std::string still = FormatSeconds(SecondsFrom(stalls_->still_ns(member.number)));
  const std::string what =
      watched_call_ != nullptr ? absl::StrCat("it still has to ", watched_call_->work) : "its lanes run";
  if (finding == StallWatch::Finding::kStalled) {
    Drop(member.number, absl::StrCat("no progress for ", still, " while ", what, where));
    return;
  }
  AddNews(WorkerNews::Kind::kStandsStill, member,
          absl::StrCat(": no progress for ", still, " while ", what, where,
                       ": check whether a file system hangs there; it is dropped after ",
                       FormatSeconds(SecondsFrom(stall_ns.value_or(stalls_->stall_after_ns())))));
}

bool Cluster::Post(const Member& member, const v1::WorkerRequest& request) {
  if (silence_.has_value()) silence_->Sent(member.number, Now());
  return transport_.Post(member.id, request).ok();
}

void Cluster::DropDead(int64_t within_ns, const std::string& reason) {
  std::set<uint32_t> asked, answered;
  Call(
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        asked.insert(member.number);
        v1::WorkerRequest request;
        request.mutable_ping();
        return request;
      },
      [&](const Member& member, const ReceivedEvent&) { answered.insert(member.number); },
      {.deadline = Now() + within_ns, .interruptible = false})
      .IgnoreError();
  if (answered.empty()) return;
  for (const uint32_t number : asked) {
    if (answered.contains(number)) continue;
    Drop(number, reason);
    found_dead_ = true;
  }
}

void Cluster::Drop(uint32_t worker, const std::string& reason) {
  Member& member = members_[worker];
  if (member.lost) return;
  // In case it reappears.
  DismissOne(member.id, absl::StrCat("the coordinator dropped this worker: ", reason));
  transport_.GiveUp(member.id);
  MarkLost(member, reason);
  ReceivedEvent lost{.worker = member.id, .event = {}, .received_at = Now()};
  lost.event.mutable_lost()->set_reason(reason);
  given_up_.push_back(std::move(lost));
}

void Cluster::DropFaulty(uint32_t worker, absl::string_view what) {
  Drop(worker, absl::StrCat(what, ": start it again, or leave its host out if it cannot be trusted"));
}

std::string Cluster::WithEnding(const Member& member, const std::string& reason) const {
  const std::string ending = ending_of_ ? ending_of_(member.facts) : "";
  return ending.empty() ? reason : absl::StrCat(reason, "; ", ending);
}

void Cluster::MarkLost(Member& member, const std::string& reason) {
  if (member.lost) return;
  member.lost = true;
  ++lost_count_;
  // A worker on this host is often in the group of this process.
  member.lost_reason = IsOnHost(member.facts, BootId()) ? absl::StrCat(reason, oom_watch_.ReasonText()) : reason;
  // Its own reason may have been lost with its connection.
  if (Now() < left_alone_until_)
    absl::StrAppend(&member.lost_reason, "; before, this coordinator had stood still for longer than --lease");
  if (silence_.has_value()) {
    silence_->Forget(member.number);
    stalls_->End(member.number, Now());
  }
  work_polls_.erase(member.number);
  AddNews(WorkerNews::Kind::kLost, member, absl::StrCat(" is lost: ", member.lost_reason));
}

}  // namespace iobench
