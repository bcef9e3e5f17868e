#include "coordinator/validate/checks/file_calls.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/status_util.h"
#include "coordinator/preflight/cause.h"

namespace iobench {
namespace {

constexpr size_t kMaxActions = 64;  // in one request
// Time for the request to reach all workers before they begin together.
constexpr int64_t kLeadNs = 20'000'000;
constexpr int64_t kTimestampStepNs = 10'000'000, kTimestampPatienceNs = 5 * kNanosPerSecond;
constexpr uint32_t kClockFile = 1'000'000;  // no check has so many files where it waits for a timestamp
// A file system that hangs must not hold back the report.
constexpr int64_t kRemoveNs = 30 * kNanosPerSecond, kRemoveAfterInterruptNs = 10 * kNanosPerSecond;
// A worker gets half of the time that is left, but at least this: its mount may hang, and another's may not.
constexpr int64_t kMinRemoveNs = 3 * kNanosPerSecond;
// The beginning of a worker's message that the directory of a check is gone (worker/check/check_tree.cc).
constexpr char kOpenDirectory[] = "open directory ";

// A check needs few, and some calls are made thousands of times.
constexpr size_t kMaxCauses = 20;

// Whether the errno is a cause there, and not an answer that the check has asked for.
bool IsCauseIn(const v1::FileAction& action, int error) {
  using Action = v1::FileAction;
  if (CauseOf(error) == nullptr) return false;
  const Action::What what = action.what();
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return action.offset() == 0;  // large offsets may fail so
    case EACCES:
    case EPERM:
      // A lock that another holds may be refused with EACCES; EPERM is what file systems without links answer; groups
      // are tried as another user.
      return what != Action::TRY_GROUPS && what != Action::LOCK && what != Action::LINK &&
             what != Action::TRY_WRITE;
    case EIO:
      // Linux answers it for an open file whose lock or state is lost.
      return what != Action::LOCK && what != Action::UNLOCK && what != Action::COUNT_UP &&
             what != Action::READ_HELD && what != Action::WRITE_HELD && what != Action::CLOSE_HELD;
    default:
      return true;
  }
}

Cluster::Patience PatienceFor() {
  return {.stall_after_ns = 0, .work = "check the file system"};
}

}  // namespace

absl::Status WaitFor(Cluster& cluster, int64_t ns, const std::function<bool()>& done) {
  const absl::Status waited = cluster.WaitUntil(done, {.deadline = cluster.Now() + ns});
  return absl::IsDeadlineExceeded(waited) ? absl::OkStatus() : waited;
}

v1::FileAction& CallList::Add(v1::FileAction::What what, uint32_t file) {
  v1::FileAction& action = actions_.emplace_back();
  action.set_what(what);
  action.set_directory(directory_);
  action.set_lane(lane_);
  action.set_file(file);
  return action;
}

v1::FileAction& CallList::Write(uint32_t file, std::string_view contents) {
  v1::FileAction& action = Add(v1::FileAction::WRITE, file);
  action.set_contents(std::string(contents));
  action.mutable_how()->set_create(true);
  action.mutable_how()->set_truncate(true);
  return action;
}

v1::FileAction& CallList::Append(uint32_t file, std::string_view contents) {
  v1::FileAction& action = Add(v1::FileAction::WRITE, file);
  action.set_contents(std::string(contents));
  action.mutable_how()->set_append(true);
  return action;
}

v1::FileAction& CallList::Open(uint32_t file, uint32_t held, bool write) {
  v1::FileAction& action = Add(v1::FileAction::OPEN, file);
  action.set_held(held);
  action.mutable_how()->set_write(write);
  return action;
}

v1::FileAction& CallList::Await(v1::FileAction::Awaited awaited, uint32_t file, double timeout_s) {
  v1::FileAction& action = Add(v1::FileAction::AWAIT, file);
  action.set_awaited(awaited);
  action.set_timeout_ms(static_cast<uint32_t>(timeout_s * 1000));
  return action;
}

v1::WorkerRequest FileCalls::RequestFor(const CallList& calls) const {
  v1::WorkerRequest request;
  v1::FileActions& actions = *request.mutable_file_actions();
  *actions.mutable_target() = target_;
  for (const v1::FileAction& action : calls.actions()) *actions.add_actions() = action;
  return request;
}

absl::StatusOr<CallResults> FileCalls::Do(uint32_t worker, const CallList& calls) {
  IOBENCH_ASSIGN_OR_RETURN(ResultsOfWorkers results, DoAll({{worker, calls}}));
  return std::move(results[worker]);
}

absl::StatusOr<ResultsOfWorkers> FileCalls::DoAll(const std::map<uint32_t, CallList>& calls, Start start) {
  ResultsOfWorkers results;
  size_t longest = 0;
  for (const auto& [worker, list] : calls) longest = std::max(longest, list.actions().size());
  for (size_t first = 0; first < longest; first += kMaxActions) {
    IOBENCH_RETURN_IF_ERROR(Send(calls, first, start, results));
  }
  return results;
}

absl::StatusOr<ResultsOfWorkers> FileCalls::DoWithin(const std::map<uint32_t, CallList>& calls,
                                                     double seconds, std::vector<uint32_t>& late) {
  Cluster::Patience patience = PatienceFor();
  patience.stall_after_ns = std::nullopt;
  patience.deadline = cluster_.Now() + NanosFrom(seconds);
  std::vector<uint32_t> workers;
  for (const auto& [worker, list] : calls) workers.push_back(worker);
  ResultsOfWorkers results;
  absl::Status refused;
  const absl::Status called = cluster_.CallSome(
      workers, [&](const Member& member) { return std::optional(RequestFor(calls.at(member.number))); },
      [&](const Member& member, const ReceivedEvent& received) {
        refused.Update(ProblemOf(member, received));
        const v1::FileActionsDone& done = received.event.file_actions_done();
        results[member.number].assign(done.results().begin(), done.results().end());
      },
      patience);
  if (!called.ok() && !absl::IsDeadlineExceeded(called)) return called;
  IOBENCH_RETURN_IF_ERROR(refused);
  for (const auto& [worker, list] : calls) {
    const Member& member = cluster_.members()[worker];
    if (member.lost)
      return absl::UnavailableError(absl::StrCat(member.Name(), " was lost: ", member.lost_reason));
    const auto found = results.find(worker);
    if (found == results.end()) {
      late.push_back(worker);
      continue;
    }
    FindCauses(member, list.actions(), 0, found->second);
    if (found->second.size() != list.actions().size())
      return absl::UnavailableError(absl::StrCat(member.Name(), " did not answer all of a request"));
  }
  return results;
}

// The actions from number `first`, as many as one request holds.
absl::Status FileCalls::Send(const std::map<uint32_t, CallList>& calls, size_t first, Start start,
                             ResultsOfWorkers& results) {
  const CoordTime begin = cluster_.Now() + kLeadNs + clocks_.longest_round_trip_ns();
  std::vector<uint32_t> workers;
  for (const auto& [worker, list] : calls) {
    if (cluster_.members()[worker].lost) {
      return absl::UnavailableError(absl::StrCat(cluster_.members()[worker].Name(),
                                                 " was lost: ", cluster_.members()[worker].lost_reason));
    }
    if (first < list.actions().size()) workers.push_back(worker);
  }
  absl::Status refused;
  const bool is_beside = side_by_side_.current() != nullptr;  // requests are made on the cluster's thread
  const Cluster::MakeRequest make = [&](const Member& member) -> std::optional<v1::WorkerRequest> {
    const std::vector<v1::FileAction>& all = calls.at(member.number).actions();
    CallList part(calls.at(member.number).directory());
    v1::WorkerRequest request = RequestFor(part);
    const size_t end = std::min(all.size(), first + kMaxActions);
    for (size_t i = first; i < end; ++i) {
      v1::FileAction& action = *request.mutable_file_actions()->add_actions();
      action = all[i];
      // Lane 0 would wait for what the other checks are doing.
      if (is_beside) action.set_lane(action.lane() + 1);
    }
    if (start == Start::kTogether) {
      request.mutable_file_actions()->set_start_worker_ns(clocks_.MapOf(member.number).ToWorker(begin).ns);
    }
    return request;
  };
  const Cluster::OnReply on_reply = [&](const Member& member, const ReceivedEvent& received) {
    refused.Update(ProblemOf(member, received));
    const v1::FileActionsDone& done = received.event.file_actions_done();
    CallResults& mine = results[member.number];
    mine.insert(mine.end(), done.results().begin(), done.results().end());
  };
  IOBENCH_RETURN_IF_ERROR(is_beside ? side_by_side_.Call(workers, make, on_reply)
                                    : cluster_.CallSome(workers, make, on_reply, PatienceFor()));
  IOBENCH_RETURN_IF_ERROR(refused);
  for (const uint32_t worker : workers) {
    const Member& member = cluster_.members()[worker];
    const size_t due = std::min(calls.at(worker).actions().size(), first + kMaxActions);
    FindCauses(member, calls.at(worker).actions(), first, results[worker]);
    if (results[worker].size() == due) continue;
    return absl::UnavailableError(member.lost
                                      ? absl::StrCat(member.Name(), " was lost: ", member.lost_reason)
                                      : absl::StrCat(member.Name(), " did not answer all of a request"));
  }
  return absl::OkStatus();
}

void FileCalls::FindCauses(const Member& member, const std::vector<v1::FileAction>& actions, size_t first,
                           const CallResults& results) {
  std::vector<CauseMet>& causes = causes_[side_by_side_.current()];
  const auto note = [&](const v1::FileAction& action, const v1::Problem& problem) {
    const int error = problem.errno_value();
    if (error == 0 || causes.size() >= kMaxCauses) return;
    const bool of_directory = problem.message().starts_with(kOpenDirectory);
    if (!of_directory && !IsCauseIn(action, error)) return;
    causes.push_back({.error = error,
                      .worker = member.number,
                      .told = absl::StrCat(member.facts.host(), ": ", problem.message()),
                      .of_directory = of_directory,
                      .only_by_fault = !of_directory && (error == ESTALE || error == ENOENT)});
  };
  for (size_t i = first; i < std::min(actions.size(), results.size()); ++i) {
    note(actions[i], results[i].problem());
    // What another user is refused is for the check to judge, and so are EPERM and EIO, which file systems answer to calls
    // that they do not have. The other problems of trials are of calls that they are not about.
    if (actions[i].has_as_user()) continue;
    for (const v1::TrialResult& trial : results[i].trials()) {
      const int error = trial.problem().errno_value();
      if (error != EPERM && error != EIO) note(actions[i], trial.problem());
    }
  }
}

// Outside of works, what is left is of works that were parts of the caller's own.
bool FileCalls::IsMine(const void* work) const {
  return side_by_side_.current() == nullptr || side_by_side_.current() == work;
}

std::vector<CauseMet> FileCalls::TakeCauses() {
  std::vector<CauseMet> mine;
  for (auto& [work, causes] : causes_) {
    if (!IsMine(work)) continue;
    mine.insert(mine.end(), causes.begin(), causes.end());
    causes.clear();
  }
  return mine;
}

bool FileCalls::has_met_cause() const {
  return std::any_of(causes_.begin(), causes_.end(), [this](const auto& of_work) {
    return IsMine(of_work.first) && std::any_of(of_work.second.begin(), of_work.second.end(),
                                                [](const CauseMet& met) { return !met.only_by_fault; });
  });
}

absl::Status FileCalls::Wait(int64_t ns) {
  if (side_by_side_.current() != nullptr) return side_by_side_.Wait(ns);
  return WaitFor(cluster_, ns, [] { return false; });
}

absl::Status FileCalls::AwaitNextTimestamp(uint32_t worker, uint32_t directory) {
  const CoordTime deadline = cluster_.Now() + kTimestampPatienceNs;
  int64_t first_ns = 0;
  bool stood_still = false;  // otherwise the time between two calls may be longer than a step
  while (cluster_.Now() < deadline) {
    CallList write(directory);
    write.Write(kClockFile, absl::StrCat(++clock_writes_));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults written, Do(worker, write));
    const int64_t stamp_ns = written[0].facts().modified_ns();
    if (written[0].problem().code() != 0 || stamp_ns == 0) break;
    stood_still |= stamp_ns == first_ns;
    if (first_ns == 0) first_ns = stamp_ns;
    if (stamp_ns > first_ns && !stood_still) break;
    if (stamp_ns > first_ns) {
      const double step_s = SecondsFrom(stamp_ns - first_ns);
      timestamp_step_s_ = timestamp_step_s_ > 0 ? std::min(timestamp_step_s_, step_s) : step_s;
      break;
    }
    IOBENCH_RETURN_IF_ERROR(Wait(kTimestampStepNs));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FileCalls::NewDirectory(uint32_t worker) {
  const uint32_t directory = ++last_directory_;
  CallList calls(directory);
  v1::FileAction& make = calls.Add(v1::FileAction::MAKE_DIRECTORY);
  if (const std::optional<ProcessIdentity> self = OwnIdentity()) make.set_contents(ToLine(*self));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults results, Do(worker, calls));
  IOBENCH_RETURN_IF_ERROR(ToStatus(results[0].problem()));
  const double made_s = SecondsFrom(results[0].end_worker_ns() - results[0].begin_worker_ns());
  directory_s_ = directory_s_ > 0 ? std::min(directory_s_, made_s) : made_s;
  return directory;
}

absl::Status FileCalls::RemoveAll(std::span<const uint32_t> workers) {
  if (last_directory_ == 0) return absl::OkStatus();
  const CoordTime deadline = cluster_.Now() + (cluster_.interrupted() ? kRemoveAfterInterruptNs : kRemoveNs);
  absl::Status removed = absl::UnavailableError("no worker is left to do it");
  for (size_t i = 0; i < workers.size(); ++i) {
    if (cluster_.members()[workers[i]].lost) continue;
    const int64_t left_ns = deadline - cluster_.Now();
    if (left_ns <= 0) break;
    const int64_t share_ns = i + 1 < workers.size() ? left_ns / 2 : left_ns;
    removed = RemoveBy(workers[i], cluster_.Now() + std::max(share_ns, kMinRemoveNs));
    if (removed.ok()) return removed;
  }
  return Annotate(removed,
                  absl::StrCat("cluster-iobench.validate-", absl::Hex(cluster_.run_id(), absl::kZeroPad16),
                               " is left in ", target_.path(), "; remove it by hand"));
}

// The directories first, side by side: together they may have thousands of names, each a round trip to the server.
absl::Status FileCalls::RemoveBy(uint32_t worker, CoordTime deadline) {
  absl::Status removed;
  for (uint32_t first = 1; first <= last_directory_; first += kMaxActions) {
    CallList some(0);
    for (uint32_t directory = first; directory < first + kMaxActions && directory <= last_directory_;
         ++directory) {
      some.InLane(directory);
      some.Add(v1::FileAction::REMOVE_DIRECTORY).set_directory(directory);
    }
    removed.Update(RemoveListed(worker, some, deadline));
  }
  CallList tree(0);
  tree.Add(v1::FileAction::REMOVE_DIRECTORY);
  const absl::Status rest = RemoveListed(worker, tree, deadline);
  return rest.ok() || removed.ok() ? rest : removed;
}

absl::Status FileCalls::RemoveListed(uint32_t worker, const CallList& calls, CoordTime deadline) {
  Cluster::Patience patience = PatienceFor();
  patience.interruptible = false;
  patience.deadline = deadline;
  absl::Status removed = absl::UnavailableError(absl::StrCat(cluster_.members()[worker].Name(), " was lost"));
  const uint32_t workers[] = {worker};
  const absl::Status called = cluster_.CallSome(
      workers, [&](const Member&) { return std::optional(RequestFor(calls)); },
      [&](const Member& member, const ReceivedEvent& received) {
        removed = ProblemOf(member, received);
        for (const v1::FileActionResult& result : received.event.file_actions_done().results()) {
          removed.Update(ToStatus(result.problem()));
        }
      },
      patience);
  return called.ok() ? removed : called;
}

}  // namespace iobench
