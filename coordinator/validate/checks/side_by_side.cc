#include "coordinator/validate/checks/side_by_side.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "common/process/thread.h"
#include "coordinator/cluster/answer_check.h"

namespace iobench {

struct SideBySide::Work {
  const std::function<absl::Status()>& run;
  Work* const whole;  // that it is a part of; nullptr: of none
  std::thread thread = {};
  absl::Status result = absl::OkStatus();
  bool ended = false;
  // What it waits for: answers to a call, a time, its parts, or nothing but its turn. `status`: how the wait ended.
  std::span<const uint32_t> workers = {};
  const Cluster::MakeRequest* make = nullptr;  // set: the call has yet to be sent
  const Cluster::OnReply* on_reply = nullptr;
  struct Request {
    uint32_t worker = 0;
    ExpectedAnswer answer;
  };
  std::unordered_map<uint64_t, Request> unanswered = {};  // by call id
  std::optional<CoordTime> until = std::nullopt;
  size_t parts = 0;
  absl::Status status = absl::OkStatus();

  bool CanGoOn(CoordTime now) const {
    return !ended && parts == 0 && unanswered.empty() && (!until || *until <= now);
  }
};

SideBySide::SideBySide(Cluster& cluster) : cluster_(cluster) {}
SideBySide::~SideBySide() = default;

const void* SideBySide::current() const {
  const Work* work = running_;
  while (work != nullptr && work->whole != nullptr) work = work->whole;
  return work;
}

// -------------------------------------------------------------------------------------------- turns

void SideBySide::RunOn(Work& work) {
  mutex_.Lock();
  turned_.Wait(mutex_, [&] { return running_ == &work; });
  mutex_.Unlock();
  work.result = work.run();
  const MutexLock lock(mutex_);
  work.ended = true;
  running_ = nullptr;
  turned_.NotifyAll();
}

void SideBySide::Resume(Work& work) {
  const MutexLock lock(mutex_);
  running_ = &work;
  turned_.NotifyAll();
  turned_.Wait(mutex_, [&] { return running_ == nullptr; });
}

void SideBySide::Yield(Work& work) {
  const MutexLock lock(mutex_);
  running_ = nullptr;
  turned_.NotifyAll();
  turned_.Wait(mutex_, [&] { return running_ == &work; });
}

// -------------------------------------------------------------------------------------------- on a work's thread

absl::Status SideBySide::Call(std::span<const uint32_t> workers, const Cluster::MakeRequest& make,
                              const Cluster::OnReply& on_reply) {
  Work& work = *running_;
  work.workers = workers;
  work.make = &make;
  work.on_reply = &on_reply;
  Yield(work);
  return std::exchange(work.status, absl::OkStatus());
}

absl::Status SideBySide::Wait(int64_t ns) {
  Work& work = *running_;
  work.until = cluster_.Now() + ns;
  Yield(work);
  return std::exchange(work.status, absl::OkStatus());
}

// -------------------------------------------------------------------------------------------- on either

absl::Status SideBySide::Run(std::span<const std::function<absl::Status()>> works) {
  Work* const whole = running_;
  std::vector<const Work*> begun;
  for (const std::function<absl::Status()>& run : works) {
    auto work = std::make_unique<Work>(Work{.run = run, .whole = whole});
    absl::StatusOr<std::thread> thread = StartThread([this, &work = *work] { RunOn(work); });
    if (thread.ok()) {
      work->thread = *std::move(thread);
      begun.push_back(work.get());
      works_.push_back(std::move(work));
    } else {
      begun.push_back(nullptr);
    }
  }
  if (whole != nullptr) {
    whole->parts = static_cast<size_t>(
        std::count_if(begun.begin(), begun.end(), [](const Work* work) { return work != nullptr; }));
    Yield(*whole);
    whole->status = absl::OkStatus();  // that of its parts counts
  } else {
    polls_.clear();  // answers to those of an earlier call went nowhere
    cluster_.set_on_event(
        [this](const Member& member, const ReceivedEvent& received) { Note(member, received); });
    RunUntilEnded();
    cluster_.set_on_event(nullptr);
  }
  absl::Status first;
  for (size_t i = 0; i < works.size(); ++i) first.Update(begun[i] != nullptr ? begun[i]->result : works[i]());
  std::erase_if(works_, [&](const std::unique_ptr<Work>& work) {
    const bool is_mine = std::find(begun.begin(), begun.end(), work.get()) != begun.end();
    if (is_mine) work->thread.join();
    return is_mine;
  });
  return first;
}

// -------------------------------------------------------------------------------------------- on the cluster's thread

void SideBySide::RunUntilEnded() {
  while (true) {
    bool all_ended = true;
    for (size_t i = 0; i < works_.size(); ++i) {  // a work may add parts behind it, and remove them
      Work& work = *works_[i];
      if (work.CanGoOn(cluster_.Now())) {
        work.until.reset();
        Resume(work);
        if (work.make != nullptr) Post(work);
        if (work.ended && work.whole != nullptr) --work.whole->parts;
      }
      all_ended &= work.ended;
    }
    if (all_ended) return;
    if (const absl::Status waited = WaitForOne(); !waited.ok()) EndWaits(waited);
  }
}

void SideBySide::Post(Work& work) {
  const Cluster::MakeRequest& make = *std::exchange(work.make, nullptr);
  for (const uint32_t worker : work.workers) {
    const Member& member = cluster_.members()[worker];
    if (member.lost) continue;
    std::optional<v1::WorkerRequest> request = make(member);
    if (!request.has_value()) continue;
    const ExpectedAnswer answer = AnswerTo(*request);
    work.unanswered[cluster_.Ask(member, *std::move(request))] = {worker, answer};
    if (++asked_[worker] == 1) cluster_.BeginLanes(worker);
  }
}

void SideBySide::Answered(Work& work, uint32_t worker) {
  std::erase_if(work.unanswered, [worker](const auto& each) { return each.second.worker == worker; });
  if (--asked_[worker] == 0) cluster_.EndLanes(worker);
}

void SideBySide::Note(const Member& member, const ReceivedEvent& received) {
  const uint64_t call_id = received.event.call_id();
  if (const auto poll = polls_.find(member.number); poll != polls_.end() && poll->second == call_id)
    polls_.erase(poll);
  for (const std::unique_ptr<Work>& work : works_) {
    const auto waits_for = [&](const auto& each) { return each.second.worker == member.number; };
    if (received.event.has_lost()) {
      if (std::any_of(work->unanswered.begin(), work->unanswered.end(), waits_for))
        Answered(*work, member.number);
      continue;
    }
    const auto request = work->unanswered.find(call_id);
    if (request == work->unanswered.end() || request->second.worker != member.number) continue;
    if (const absl::Status possible = CheckAnswer(request->second.answer, received.event); !possible.ok()) {
      cluster_.DropFaulty(member.number, possible.message());  // its Lost event follows
      return;
    }
    (*work->on_reply)(member, received);
    Answered(*work, member.number);
    return;
  }
}

// One that has not answered its last poll is not polled again: its silence is watched.
void SideBySide::PollWorkers() {
  if (cluster_.Now() < next_poll_) return;
  next_poll_ = cluster_.Now() + cluster_.watch_interval_ns();
  for (const auto& [worker, count] : asked_) {
    if (count == 0 || polls_.contains(worker) || cluster_.members()[worker].lost) continue;
    polls_[worker] = cluster_.Ask(cluster_.members()[worker], cluster_.PollFor(worker));
  }
}

// Until a work can go on. Cancelled: interrupted; otherwise an error of the transport.
absl::Status SideBySide::WaitForOne() {
  Cluster::Patience patience = {.stall_after_ns = 0, .work = "check the file system"};
  for (const std::unique_ptr<Work>& work : works_) {
    if (!work->ended && work->until) patience.deadline = std::min(patience.deadline, *work->until);
  }
  const auto one_is_ready = [this] {
    PollWorkers();
    return std::any_of(works_.begin(), works_.end(),
                       [this](const std::unique_ptr<Work>& work) { return work->CanGoOn(cluster_.Now()); });
  };
  const absl::Status waited = cluster_.WaitUntil(one_is_ready, patience);
  return absl::IsDeadlineExceeded(waited) ? absl::OkStatus() : waited;
}

// Answers that come later are dropped.
void SideBySide::EndWaits(const absl::Status& status) {
  for (const std::unique_ptr<Work>& work : works_) {
    if (work->ended) continue;
    work->status = status;
    work->until.reset();
    while (!work->unanswered.empty()) Answered(*work, work->unanswered.begin()->second.worker);
  }
}

}  // namespace iobench
