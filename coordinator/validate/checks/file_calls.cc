#include "coordinator/validate/checks/file_calls.h"

#include <algorithm>
#include <cerrno>
#include <optional>

#include "absl/strings/str_cat.h"
#include "common/host_identity.h"
#include "common/status_util.h"

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
  const absl::Status called = cluster_.CallSome(
      workers,
      [&](const Member& member) -> std::optional<v1::WorkerRequest> {
        const std::vector<v1::FileAction>& all = calls.at(member.number).actions();
        CallList part(calls.at(member.number).directory());
        v1::WorkerRequest request = RequestFor(part);
        const size_t end = std::min(all.size(), first + kMaxActions);
        for (size_t i = first; i < end; ++i) *request.mutable_file_actions()->add_actions() = all[i];
        if (start == Start::kTogether) {
          request.mutable_file_actions()->set_start_worker_ns(
              clocks_.MapOf(member.number).ToWorker(begin).ns);
        }
        return request;
      },
      [&](const Member& member, const ReceivedEvent& received) {
        refused.Update(ProblemOf(member, received));
        const v1::FileActionsDone& done = received.event.file_actions_done();
        CallResults& mine = results[member.number];
        mine.insert(mine.end(), done.results().begin(), done.results().end());
      },
      PatienceFor());
  IOBENCH_RETURN_IF_ERROR(called);
  IOBENCH_RETURN_IF_ERROR(refused);
  for (const uint32_t worker : workers) {
    const Member& member = cluster_.members()[worker];
    const size_t due = std::min(calls.at(worker).actions().size(), first + kMaxActions);
    FindObstacle(member, calls.at(worker).actions(), results[worker]);
    if (results[worker].size() == due) continue;
    return absl::UnavailableError(member.lost
                                      ? absl::StrCat(member.Name(), " was lost: ", member.lost_reason)
                                      : absl::StrCat(member.Name(), " did not answer all of a request"));
  }
  return absl::OkStatus();
}

void FileCalls::FindObstacle(const Member& member, const std::vector<v1::FileAction>& actions,
                                const CallResults& results) {
  for (size_t i = 0; i < std::min(actions.size(), results.size()) && obstacle_.empty(); ++i) {
    const v1::Problem& problem = results[i].problem();
    const int error = problem.errno_value();
    const std::string who = absl::StrCat(member.facts.host(), ": ", problem.message());
    if ((error == ENOSPC || error == EDQUOT) && actions[i].offset() == 0) {
      obstacle_ = absl::StrCat("there is no space: ", who);
    } else if (error != 0 && problem.message().starts_with(kOpenDirectory)) {
      obstacle_ = absl::StrCat("the directory of validate cannot be opened any more: ", who);
    }
  }
}

absl::Status FileCalls::AwaitNextTimestamp(uint32_t worker, uint32_t directory) {
  const CoordTime deadline = cluster_.Now() + kTimestampPatienceNs;
  int64_t first_ns = 0;
  while (cluster_.Now() < deadline) {
    CallList write(directory);
    write.Write(kClockFile, absl::StrCat(++clock_writes_));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults written, Do(worker, write));
    const int64_t stamp_ns = written[0].facts().modified_ns();
    if (written[0].problem().code() != 0 || stamp_ns == 0) break;
    if (first_ns == 0) first_ns = stamp_ns;
    if (stamp_ns > first_ns) {
      const double step_s = SecondsFrom(stamp_ns - first_ns);
      timestamp_step_s_ = timestamp_step_s_ > 0 ? std::min(timestamp_step_s_, step_s) : step_s;
      break;
    }
    IOBENCH_RETURN_IF_ERROR(WaitFor(cluster_, kTimestampStepNs, [] { return false; }));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FileCalls::NewDirectory(uint32_t worker) {
  CallList calls(++last_directory_);
  v1::FileAction& make = calls.Add(v1::FileAction::MAKE_DIRECTORY);
  if (const std::optional<ProcessIdentity> self = OwnIdentity()) make.set_contents(ToLine(*self));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults results, Do(worker, calls));
  IOBENCH_RETURN_IF_ERROR(ToStatus(results[0].problem()));
  return last_directory_;
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

absl::Status FileCalls::RemoveBy(uint32_t worker, CoordTime deadline) {
  CallList calls(0);
  calls.Add(v1::FileAction::REMOVE_DIRECTORY);
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
