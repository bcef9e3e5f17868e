#include "coordinator/cluster/cluster.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "spdlog/spdlog.h"

namespace iobench {
namespace {

// Interval for checking signals while no event arrives. mpirun kills one second after its Ctrl-C.
constexpr int64_t kSliceNs = 20'000'000;
// Work that usually finishes at once is reported after this many times the silence that is reported.
constexpr int64_t kHangs = 2;
// An interrupted run usually ends at once.
constexpr int64_t kWarnInterruptAfterNs = kNanosPerSecond;

// If no worker joins for this time, missing workers are reported, and then again.
constexpr int64_t kWarnMissingAfterNs = 3 * kNanosPerSecond;
constexpr int64_t kWarnAgainAfterNs = 30 * kNanosPerSecond;
constexpr size_t kMaxNamed = 8;

// Sorts "node9" before "node10": digits compare as numbers.
bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (isdigit(static_cast<unsigned char>(a[i])) && isdigit(static_cast<unsigned char>(b[j]))) {
      size_t i_end = i, j_end = j;
      while (i_end < a.size() && isdigit(static_cast<unsigned char>(a[i_end]))) ++i_end;
      while (j_end < b.size() && isdigit(static_cast<unsigned char>(b[j_end]))) ++j_end;
      while (i + 1 < i_end && a[i] == '0') ++i;
      while (j + 1 < j_end && b[j] == '0') ++j;
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      if (const int order = a.compare(i, i_end - i, b, j, j_end - j); order != 0) return order < 0;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

// Returns "2 of 4 workers have joined (node01, 2 on node02); missing: …".
std::string WhoIsMissing(const std::vector<Member>& joined, uint32_t count, const JoinWatch& watch) {
  std::map<std::string, size_t> hosts;
  std::vector<v1::WorkerFacts> facts;
  for (const Member& member : joined) {
    ++hosts[member.facts.host()];
    facts.push_back(member.facts);
  }
  std::vector<std::string> names;
  for (const auto& [host, workers] : hosts) {
    if (names.size() == kMaxNamed) {
      names.push_back(absl::StrCat("and ", hosts.size() - kMaxNamed, " more hosts"));
      break;
    }
    names.push_back(workers == 1 ? host : absl::StrCat(workers, " on ", host));
  }
  return absl::StrCat(joined.size(), " of ", count, " workers have joined",
                      names.empty() ? "" : absl::StrCat(" (", absl::StrJoin(names, ", "), ")"),
                      watch.missing ? absl::StrCat("; missing: ", watch.missing(facts)) : "");
}

}  // namespace

std::string Member::Name() const {
  return absl::StrCat("worker ", number, " on ", facts.host());
}

absl::Status ProblemOf(const Member& member, const ReceivedEvent& answer) {
  return Annotate(ToStatus(answer.event.problem()), member.Name());
}

absl::Status Cluster::Gather(uint32_t count, CoordTime deadline, const std::string& version,
                             const std::function<void(uint32_t)>& on_joined, const JoinWatch& watch) {
  std::vector<Member> joined;
  const Patience patience{.deadline = deadline};
  CoordTime warn_at = Now() + kWarnMissingAfterNs;
  while (joined.size() < count) {
    auto next = Next(patience);
    if (!next.ok()) {
      if (absl::IsDeadlineExceeded(next.status())) {
        return absl::DeadlineExceededError(
            absl::StrCat(WhoIsMissing(joined, count, watch), "; raise --join-timeout to wait longer"));
      }
      return next.status();
    }
    if (!next->has_value()) {
      if (absl::Status status = watch.check ? watch.check() : absl::OkStatus(); !status.ok()) return status;
      if (Now() < warn_at) continue;
      spdlog::warn("{}", Printable(WhoIsMissing(joined, count, watch)));
      warn_at = Now() + kWarnAgainAfterNs;
      continue;
    }
    const ReceivedEvent& received = **next;
    if (received.event.has_lost()) {
      std::erase_if(joined, [&](const Member& member) { return member.id == received.worker; });
      on_joined(static_cast<uint32_t>(joined.size()));
      continue;
    }
    if (!received.event.has_joined()) continue;
    const v1::WorkerFacts& facts = received.event.joined();
    if (facts.program_version() != version) {
      const std::string reason = absl::StrCat(
          "worker on ", facts.host(), " is version ", facts.program_version(), ", the coordinator is ",
          version,
          " (after the + comes a fingerprint of the sources): install the same cluster-iobench on both");
      DismissOne(received.worker, reason);
      return absl::FailedPreconditionError(reason);
    }
    Member member;
    member.id = received.worker;
    member.facts = facts;
    joined.push_back(std::move(member));
    warn_at = std::max(warn_at, Now() + kWarnMissingAfterNs);
    on_joined(static_cast<uint32_t>(joined.size()));
  }
  std::stable_sort(joined.begin(), joined.end(), [this](const Member& a, const Member& b) {
    if (a.facts.client_list_position() != b.facts.client_list_position())
      return a.facts.client_list_position() < b.facts.client_list_position();
    if (!transport_.ordered() && a.facts.host() != b.facts.host()) {
      return NaturalLess(a.facts.host(), b.facts.host());
    }
    return a.id < b.id;
  });
  for (uint32_t number = 0; number < joined.size(); ++number) {
    joined[number].number = number;
    number_of_[joined[number].id] = number;
  }
  members_ = std::move(joined);
  NumberClients();
  silence_.emplace(count, lost_after_ns_, Now());
  return absl::OkStatus();
}

void Cluster::NumberClients() {
  std::map<std::string, uint32_t> client_of_boot_id;
  for (Member& member : members_) {
    member.client = client_of_boot_id.emplace(member.facts.boot_id(), client_of_boot_id.size()).first->second;
  }
  client_count_ = static_cast<uint32_t>(client_of_boot_id.size());
}

void Cluster::SeparateClones(const std::vector<uint32_t>& clone_of_worker) {
  for (Member& member : members_) {
    member.clone = clone_of_worker[member.number];
    if (member.clone == 0) continue;
    member.facts.set_boot_id(absl::StrCat(member.facts.boot_id(), " clone ", member.clone));
  }
  NumberClients();
}

uint32_t Cluster::live_count() const {
  return static_cast<uint32_t>(
      std::count_if(members_.begin(), members_.end(), [](const Member& member) { return !member.lost; }));
}

absl::Status Cluster::Call(const MakeRequest& make, const OnReply& on_reply, const Patience& patience) {
  // One call id is used for the whole round: a worker answers once, or in chunks of which the last is marked.
  const uint64_t call_id = next_call_id_++;
  std::unordered_set<uint32_t> waiting;
  for (Member& member : members_) {
    if (member.lost) continue;
    std::optional<v1::WorkerRequest> request = make(member);
    if (!request) continue;
    request->set_run_id(run_id_);
    request->set_call_id(call_id);
    if (transport_.Post(member.id, *request).ok()) waiting.insert(member.number);
  }
  const CoordTime warn_interrupt_at = Now() + kWarnInterruptAfterNs;
  CoordTime warn_at{INT64_MAX};
  if (patience.quick_work != nullptr) warn_at = Now() + kHangs * silence_->told_after_ns();
  while (!waiting.empty()) {
    if (Now() >= warn_at) {
      warn_at.ns = INT64_MAX;
      WarnAboutWaiting(waiting, patience.quick_work);
    }
    if (!patience.interruptible && interrupt_.raised() && Now() >= warn_interrupt_at) {
      WarnAboutInterrupt(waiting);
    }
    auto next = Next(patience);
    if (!next.ok()) {
      if (absl::IsDeadlineExceeded(next.status())) {
        return absl::DeadlineExceededError(
            absl::StrCat("no answer from ", members_[*waiting.begin()].Name(),
                         waiting.size() > 1 ? absl::StrCat(" and ", waiting.size() - 1, " more") : ""));
      }
      return next.status();
    }
    if (!next->has_value()) continue;
    const ReceivedEvent& received = **next;
    Member* member = FindMember(received.worker);
    if (member == nullptr) continue;
    if (received.event.has_lost()) {
      waiting.erase(member->number);
    } else if (received.event.call_id() == call_id) {
      on_reply(*member, received);
      if (!received.event.has_chunk() || received.event.chunk().last()) waiting.erase(member->number);
      continue;
    }
    if (on_event_) on_event_(*member, received);
  }
  return absl::OkStatus();
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
    transport_.Post(member.id, *request).IgnoreError();  // if it is lost, an event reports that
  }
}

void Cluster::Dismiss(const std::string& reason) {
  Tell([&reason](const Member&) {
    v1::WorkerRequest request;
    request.mutable_leave()->set_reason(reason);
    return request;
  });
}

// The worker need not be a member.
void Cluster::DismissOne(WorkerId id, const std::string& reason) {
  v1::WorkerRequest request;
  request.set_run_id(run_id_);
  request.set_call_id(next_call_id_++);
  request.mutable_leave()->set_reason(reason);
  transport_.Post(id, request).IgnoreError();
}

uint64_t Cluster::Ask(const Member& member, v1::WorkerRequest request) {
  const uint64_t call_id = next_call_id_++;
  request.set_run_id(run_id_);
  request.set_call_id(call_id);
  transport_.Post(member.id, request).IgnoreError();
  return call_id;
}

absl::Status Cluster::WaitUntil(const std::function<bool()>& done, const Patience& patience) {
  while (!done()) {
    auto next = Next(patience);
    if (!next.ok()) return next.status();
    if (!next->has_value()) continue;
    if (Member* member = FindMember((*next)->worker); member != nullptr && on_event_)
      on_event_(*member, **next);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<ReceivedEvent>> Cluster::Next(const Patience& patience) {
  if (patience.interruptible && interrupt_.raised()) return absl::CancelledError("interrupted");
  const CoordTime now = Now();
  if (now >= patience.deadline) return absl::DeadlineExceededError("no answer in time");
  LookForSilence(now);
  if (!given_up_.empty()) {
    ReceivedEvent lost = std::move(given_up_.front());
    given_up_.pop_front();
    return std::optional<ReceivedEvent>(std::move(lost));
  }
  auto received = transport_.WaitEvent(std::min(patience.deadline, now + kSliceNs));
  if (!received.ok()) {
    if (absl::IsDeadlineExceeded(received.status())) return std::optional<ReceivedEvent>();
    return received.status();
  }
  Member* member = FindMember(received->worker);
  if (member != nullptr && member->lost)
    return std::optional<ReceivedEvent>();  // it was given up and has reappeared
  if (member != nullptr && silence_->Heard(member->number, Now()) && !received->event.has_lost()) {
    spdlog::warn("{} answers again", Printable(member->Name()));
  }
  if (member != nullptr && received->event.has_lost()) MarkLost(*member, received->event.lost().reason());
  if (member == nullptr && !members_.empty() && received->event.has_joined()) {
    // Too late for this run: dismisses the worker instead of letting it wait.
    DismissOne(received->worker, "the run has already started with all its workers");
  }
  return std::optional<ReceivedEvent>(*std::move(received));
}

Member* Cluster::FindMember(WorkerId id) {
  const auto found = number_of_.find(id);
  return found == number_of_.end() ? nullptr : &members_[found->second];
}

void Cluster::WarnAboutInterrupt(const std::unordered_set<uint32_t>& waiting) {
  if (std::exchange(told_of_interrupt_, true)) return;
  const Member& first = members_[*std::min_element(waiting.begin(), waiting.end())];
  spdlog::warn(
      "interrupted: {}{} still has to end its lanes and clean up its data; press Ctrl-C again to stop waiting",
      Printable(first.Name()),
      waiting.size() > 1 ? absl::StrCat(" (and ", waiting.size() - 1, " more)") : "");
}

// They answer pings, so the workers themselves are not stuck.
void Cluster::WarnAboutWaiting(const std::unordered_set<uint32_t>& waiting, const char* quick_work) const {
  const Member& first = members_[*std::min_element(waiting.begin(), waiting.end())];
  spdlog::warn("{}{} still has to {} after {}: check whether a file system hangs there",
               Printable(first.Name()),
               waiting.size() > 1 ? absl::StrCat(" (and ", waiting.size() - 1, " more)") : "", quick_work,
               FormatSeconds(SecondsFrom(kHangs * silence_->told_after_ns())));
}

void Cluster::LookForSilence(CoordTime now) {
  if (!silence_.has_value()) return;
  const SilenceWatch::Findings findings = silence_->Look(now);
  for (const uint32_t number : findings.to_ask) {
    v1::WorkerRequest ping;
    ping.mutable_ping();
    Ask(members_[number], std::move(ping));
  }
  for (const uint32_t number : findings.to_tell) {
    const Member& member = members_[number];
    spdlog::warn(
        "{} (process {}) has not answered for {}: check the process and its host; it is dropped after {}",
        Printable(member.Name()), member.facts.pid(), FormatSeconds(SecondsFrom(silence_->told_after_ns())),
        FormatSeconds(SecondsFrom(lost_after_ns_)));
  }
  for (const uint32_t number : findings.to_give_up) GiveUp(members_[number]);
}

void Cluster::GiveUp(Member& member) {
  const std::string reason =
      absl::StrCat("it has not answered for ", FormatSeconds(SecondsFrom(lost_after_ns_)));
  // In case it reappears.
  DismissOne(member.id, absl::StrCat("the coordinator dropped this worker: ", reason));
  MarkLost(member, reason);
  ReceivedEvent lost{.worker = member.id, .event = {}, .received_at = Now()};
  lost.event.mutable_lost()->set_reason(reason);
  given_up_.push_back(std::move(lost));
}

void Cluster::MarkLost(Member& member, const std::string& reason) {
  if (member.lost) return;
  member.lost = true;
  member.lost_reason = reason;
  if (silence_.has_value()) silence_->Forget(member.number);
  spdlog::warn("{} is lost: {}", Printable(member.Name()), Printable(reason));
}

}  // namespace iobench
